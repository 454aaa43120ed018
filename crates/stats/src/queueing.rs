//! Laws that hold for any system, used as consistency checks of a measurement.
//!
//! J. Little (1961): L = X · W, whatever the distributions. In a closed process without think time the mean number in
//! flight is the number of connections; a measurement for which it is not has lost requests or timed them wrongly.
//! Utilisation law (P. Denning and J. Buzen, *ACM Computing Surveys* 10, 1978): no rate exceeds 1 ÷ the greatest busy
//! time per request.

/// The mean number of requests in flight: rate × mean time in the system, in requests per second and seconds.
pub fn in_flight_mean(rate_hz: f64, mean_latency_s: f64) -> f64 {
    rate_hz * mean_latency_s
}

/// The share of the connections of a closed process that Little's law finds busy; about 1 without think time.
///
/// `None`: no connection.
pub fn busy_connections_ratio(rate_hz: f64, mean_latency_s: f64, connections: u32) -> Option<f64> {
    (connections > 0).then(|| in_flight_mean(rate_hz, mean_latency_s) / f64::from(connections))
}

/// The rate that a resource cannot exceed, from its busy seconds while it served `requests`. Unit: requests per second.
///
/// `servers` is the number of alike units, such as CPUs, whose busy times are added up.
/// `None`: it was never busy, or there was no request.
pub fn demand_bound_hz(busy_s: f64, requests: u64, servers: u32) -> Option<f64> {
    (busy_s > 0.0 && requests > 0).then(|| f64::from(servers) * requests as f64 / busy_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_cpus_that_are_half_busy_bound_the_rate_at_twice_it() {
        assert_eq!(demand_bound_hz(1.0, 1000, 2), Some(2000.0));
        assert_eq!(demand_bound_hz(0.0, 1000, 2), None);
        assert_eq!(busy_connections_ratio(1000.0, 0.01, 10), Some(1.0));
        assert_eq!(busy_connections_ratio(1000.0, 0.01, 0), None);
    }
}
