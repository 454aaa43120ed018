//! How many independent values a series is worth, and an interval for its mean that allows for that.
//!
//! Autocorrelation ρ_k = Σ(x_t − m)(x_{t+k} − m) ÷ Σ(x_t − m)² (biased form); integrated time τ = 1 + 2 Σ_{k≤M} ρ_k
//! with M the first window of M ≥ 5 τ(M) (A. Sokal, *Monte Carlo Methods in Statistical Mechanics*, 1996); effective
//! number n ÷ max(τ, 1). Limit: τ is itself uncertain when the series is shorter than about 50 τ.

use crate::descriptive::{is_usable, raw_mean, raw_variance};
use crate::distribution::{chi_squared_survival, student_t_quantile};
use crate::estimate::{Estimate, is_level};

/// Sokal's window: the sum ends at the first lag that is this many times τ.
const WINDOW_TAUS: f64 = 5.0;

/// Autocorrelation at lags 1 to `lag_count`.
///
/// `None`: not more values than lags, one that is not finite, or all equal.
pub fn autocorrelations(series: &[f64], lag_count: usize) -> Option<Vec<f64>> {
    let centred = Centred::of(series)?;
    (lag_count < series.len()).then(|| (1..=lag_count).map(|lag| centred.rho(lag)).collect())
}

/// Autocorrelation at one lag.
///
/// `None`: as [`autocorrelations`].
pub fn rho(series: &[f64], lag: usize) -> Option<f64> {
    let centred = Centred::of(series)?;
    (lag < series.len()).then(|| centred.rho(lag))
}

/// A series minus its mean.
struct Centred {
    values: Vec<f64>,
    square_sum: f64,
}

impl Centred {
    fn of(series: &[f64]) -> Option<Centred> {
        if !is_usable(series, 2) {
            return None;
        }
        let mean = raw_mean(series);
        let values: Vec<f64> = series.iter().map(|value| value - mean).collect();
        let square_sum: f64 = values.iter().map(|value| value * value).sum();
        (square_sum > 0.0).then_some(Centred { values, square_sum })
    }

    fn rho(&self, lag: usize) -> f64 {
        let product: f64 = self.values.iter().zip(&self.values[lag..]).map(|(a, b)| a * b).sum();
        product / self.square_sum
    }
}

/// Integrated autocorrelation time with the window at which its sum ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntegratedTime {
    /// Values that are worth one independent value. Unit: values of the series; below 1 for an alternating series.
    pub tau: f64,
    /// Last lag of the sum.
    pub window: usize,
}

/// Integrated autocorrelation time. Cost: values × window.
///
/// `None`: fewer than two values, one that is not finite, or all equal.
pub fn integrated_time(series: &[f64]) -> Option<IntegratedTime> {
    let centred = Centred::of(series)?;
    let mut tau = 1.0;
    for lag in 1..series.len() {
        tau += 2.0 * centred.rho(lag);
        if lag as f64 >= WINDOW_TAUS * tau {
            return Some(IntegratedTime { tau, window: lag });
        }
    }
    Some(IntegratedTime { tau, window: series.len() - 1 })
}

/// [`integrated_time`] alone.
///
/// `None`: as there.
pub fn tau(series: &[f64]) -> Option<f64> {
    integrated_time(series).map(|time| time.tau)
}

/// The number of independent values that the series is worth: n ÷ max(τ, 1).
///
/// `None`: as [`integrated_time`].
pub fn effective_count(series: &[f64]) -> Option<f64> {
    Some(series.len() as f64 / tau(series)?.max(1.0))
}

/// Fewest batches of [`batch_means`] that a result is worth showing of.
pub const BATCHES_MIN: usize = 8;

/// The mean of a dependent series, from the means of `batches` equal parts (non-overlapping batch means).
#[derive(Clone, Debug, PartialEq)]
pub struct BatchMeans {
    /// Means of the batches, in order.
    pub means: Vec<f64>,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// The mean with its interval by Student's t.
    pub mean: Estimate,
}

/// The mean of a series with an interval that allows for dependence shorter than a batch (a batch should be 10 τ or
/// more).
///
/// Values after the last whole batch are not used.
/// `None`: fewer than two batches or values in one, a value that is not finite, or a level that is not one.
pub fn batch_means(series: &[f64], batches: usize, level: f64) -> Option<BatchMeans> {
    if batches < 2 || !is_level(level) || !is_usable(series, batches.checked_mul(2)?) {
        return None;
    }
    let means: Vec<f64> = series.chunks_exact(series.len() / batches).take(batches).map(raw_mean).collect();
    let standard_error = (raw_variance(&means) / batches as f64).sqrt();
    let reach = student_t_quantile(1.0 - (1.0 - level) / 2.0, batches as f64 - 1.0) * standard_error;
    let point = raw_mean(&means);
    let mean = Estimate { point, low: point - reach, high: point + reach, level };
    Some(BatchMeans { means, standard_error, mean })
}

/// Von Neumann's ratio: mean squared difference of neighbours ÷ variance; 2 for independent values, less for a
/// slowly moving series.
///
/// `None`: fewer than two values, one that is not finite, or all equal.
pub fn von_neumann_ratio(series: &[f64]) -> Option<f64> {
    let centred = Centred::of(series)?;
    let differences: f64 = series.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).sum();
    let mean_difference = differences / (series.len() - 1) as f64;
    Some(mean_difference / (centred.square_sum / (series.len() - 1) as f64))
}

/// Whether the first autocorrelations together differ from zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LjungBox {
    /// The statistic Q.
    pub q: f64,
    /// Probability of one as great for independent values, by chi-squared with as many degrees of freedom as lags.
    pub p: f64,
}

/// The test of G. Ljung and G. Box (1978): Q = n(n + 2) Σ ρ_k² ÷ (n − k).
///
/// `None`: no lag, or as [`autocorrelations`].
pub fn ljung_box(series: &[f64], lag_count: usize) -> Option<LjungBox> {
    if lag_count == 0 {
        return None;
    }
    let count = series.len() as f64;
    let rhos = autocorrelations(series, lag_count)?;
    let sum: f64 = rhos.iter().enumerate().map(|(index, rho)| rho * rho / (count - (index + 1) as f64)).sum();
    let q = count * (count + 2.0) * sum;
    Some(LjungBox { q, p: chi_squared_survival(q, lag_count as f64) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn an_alternating_series_is_worth_no_more_than_its_length() {
        let series: Vec<f64> = (0..100).map(|index| f64::from(index % 2)).collect();
        assert!(rho(&series, 1).expect("varies") < -0.9);
        assert_eq!(effective_count(&series), Some(100.0));
    }

    #[test]
    fn repeated_values_are_worth_a_fraction() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        let series: Vec<f64> = (0..500).flat_map(|_| [rng.random::<f64>(); 8]).collect();
        let worth = effective_count(&series).expect("varies");
        assert!((300.0..700.0).contains(&worth), "{worth}");
    }

    #[test]
    fn a_constant_series_has_no_correlation() {
        assert_eq!((rho(&[1.0; 9], 1), tau(&[1.0; 9]), von_neumann_ratio(&[1.0; 9])), (None, None, None));
        assert_eq!(batch_means(&[1.0, 2.0, 3.0], 2, 0.95), None);
    }
}
