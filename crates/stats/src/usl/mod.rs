//! Universal Scalability Law: throughput X of N concurrent clients with contention σ and coherency cost κ.
//!
//! ```text
//! X(N) = λN / (1 + σ(N−1) + κN(N−1))      R(N) = N / X(N)      N_max = √((1−σ)/κ)
//! ```
//!
//! N. Gunther, *Guerrilla Capacity Planning* (2007), with the rate λ of one client. For a closed
//! process only, where N is what was set; in an open one use N = X·R. Limits: a descriptive model; outside the range
//! that was tested it predicts nothing, and it is never drawn beyond twice the greatest N.

mod fit;

pub use fit::{LOADS_MIN, PAST_PEAK_MIN, ResidualScale, UslFit, UslIntervals, fit, starting_point};

use serde::{Deserialize, Serialize};

/// The three coefficients of the law.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Usl {
    /// Rate of one client alone. Unit: requests per second.
    pub lambda_hz: f64,
    /// Contention σ: share of the work that is serial, 0 to 1.
    pub sigma: f64,
    /// Coherency cost κ per pair of clients, 0 or more.
    pub kappa: f64,
}

impl Usl {
    /// 1 + σ(N−1) + κN(N−1): how many times slower a request is than alone.
    fn slowdown(&self, clients: f64) -> f64 {
        1.0 + self.sigma * (clients - 1.0) + self.kappa * clients * (clients - 1.0)
    }

    /// Completions with this many clients. Unit: requests per second.
    pub fn throughput_hz(&self, clients: f64) -> f64 {
        self.lambda_hz * clients / self.slowdown(clients)
    }

    /// Mean response time with this many clients. Unit: seconds.
    pub fn latency_s(&self, clients: f64) -> f64 {
        self.slowdown(clients) / self.lambda_hz
    }

    /// The number of clients with the greatest throughput.
    ///
    /// `None`: κ is 0, throughput grows for ever.
    pub fn peak_clients(&self) -> Option<f64> {
        (self.kappa > 0.0).then(|| ((1.0 - self.sigma) / self.kappa).sqrt())
    }

    /// The greatest throughput: at the peak, or what it grows towards when there is none. Unit: requests per second.
    ///
    /// `None`: neither contention nor coherency cost, no bound.
    pub fn peak_throughput_hz(&self) -> Option<f64> {
        match self.peak_clients() {
            Some(clients) => Some(self.throughput_hz(clients)),
            None => self.asymptote_hz(),
        }
    }

    /// λ ÷ σ: what throughput would grow towards without coherency cost. Unit: requests per second.
    ///
    /// `None`: σ is 0.
    pub fn asymptote_hz(&self) -> Option<f64> {
        (self.sigma > 0.0).then(|| self.lambda_hz / self.sigma)
    }

    /// The number of clients at which the mean response time is `latency_s` seconds: the positive root of
    /// κN² + (σ−κ)N − (λR − 1 + σ) = 0, in the form that stays exact when κ is small.
    ///
    /// `None`: no number of clients has this response time.
    pub fn clients_at_latency(&self, latency_s: f64) -> Option<f64> {
        let linear = self.sigma - self.kappa;
        let constant = self.lambda_hz * latency_s - 1.0 + self.sigma;
        let discriminant = linear * linear + 4.0 * self.kappa * constant;
        if discriminant < 0.0 || constant <= 0.0 {
            return None;
        }
        let clients = if linear >= 0.0 {
            2.0 * constant / (linear + discriminant.sqrt())
        } else {
            (discriminant.sqrt() - linear) / (2.0 * self.kappa)
        };
        clients.is_finite().then_some(clients)
    }

    /// The throughput at which the mean response time is `latency_s` seconds: N ÷ R, so that Little's law holds.
    ///
    /// Unit: requests per second.
    /// `None`: as [`Usl::clients_at_latency`].
    pub fn throughput_at_latency_hz(&self, latency_s: f64) -> Option<f64> {
        Some(self.clients_at_latency(latency_s)? / latency_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_cost_throughput_is_linear_and_has_no_peak() {
        let ideal = Usl { lambda_hz: 100.0, sigma: 0.0, kappa: 0.0 };
        assert_eq!((ideal.throughput_hz(7.0), ideal.peak_throughput_hz()), (700.0, None));
        assert_eq!(ideal.clients_at_latency(0.01), None);
        assert_eq!(ideal.clients_at_latency(0.02), None);
    }

    #[test]
    fn with_contention_alone_it_grows_towards_the_serial_rate() {
        let serial = Usl { lambda_hz: 100.0, sigma: 0.1, kappa: 0.0 };
        assert_eq!(serial.peak_throughput_hz(), Some(1000.0));
        let clients = serial.clients_at_latency(serial.latency_s(31.0)).expect("reached");
        assert!((clients - 31.0).abs() < 1e-9);
        assert_eq!(serial.clients_at_latency(1e-6), None);
    }
}
