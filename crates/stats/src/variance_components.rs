//! Where the noise comes from, within a start of the server or between starts, and how often to restart.
//!
//! T. Kalibera and R. Jones, *Rigorous Benchmarking in Reasonable Time* (ISMM 2013), for two levels. With r1
//! measurements in each of r2 starts: S1² the mean variance within starts, S2² the variance of the starts' means; T1²
//! = S1², T2² = S2² − S1²/r1; the cheapest number of measurements per start is ⌈√((c2/c1)(T1²/T2²))⌉. Limit: all
//! starts have the same number of measurements.

use crate::descriptive::{is_usable, raw_mean, raw_variance};
use crate::distribution::student_t_quantile;
use crate::estimate::{Estimate, is_level};

/// The two levels of noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VarianceComponents {
    /// Mean variance within starts, S1² = T1². Unit: that of the values, squared.
    pub within: f64,
    /// Variance of the starts' means, S2².
    pub of_means: f64,
    /// Variance that is due to the start, T2², not below 0.
    pub between: f64,
    /// Measurements per start.
    pub inner_count: usize,
    /// The mean with an interval from the starts' means; treating all measurements as independent would be too narrow.
    pub mean: Estimate,
}

impl VarianceComponents {
    /// Correlation of two measurements of one start: T2² ÷ (T1² + T2²).
    ///
    /// `None`: there is no variance at all.
    pub fn intraclass_ratio(&self) -> Option<f64> {
        let total = self.within + self.between;
        (total > 0.0).then(|| self.between / total)
    }

    /// How many times more measurements are needed than if they were independent.
    ///
    /// `None`: there is no variance at all.
    pub fn design_effect(&self) -> Option<f64> {
        Some(1.0 + (self.inner_count as f64 - 1.0) * self.intraclass_ratio()?)
    }

    /// The cheapest number of measurements per start, for the costs of one measurement and of one start in the same
    /// unit.
    ///
    /// `None`: starts do not differ, so that one start with many measurements is cheapest, or a cost is not positive.
    pub fn best_inner_count(&self, measurement_cost: f64, start_cost: f64) -> Option<u64> {
        if self.between <= 0.0 || !(measurement_cost > 0.0 && start_cost > 0.0) {
            return None;
        }
        let best = (start_cost / measurement_cost * self.within / self.between).sqrt().ceil();
        Some(best.max(1.0) as u64)
    }
}

/// The noise within and between starts.
///
/// `None`: fewer than two starts or measurements, starts of different length, a value that is not finite, or a level
/// that is not one.
pub fn variance_components(starts: &[Vec<f64>], level: f64) -> Option<VarianceComponents> {
    let inner_count = starts.first()?.len();
    let is_even = starts.iter().all(|start| start.len() == inner_count && is_usable(start, 2));
    if starts.len() < 2 || !is_even || !is_level(level) {
        return None;
    }
    let within = raw_mean(&starts.iter().map(|start| raw_variance(start)).collect::<Vec<_>>());
    let means: Vec<f64> = starts.iter().map(|start| raw_mean(start)).collect();
    let of_means = raw_variance(&means);
    let count = starts.len() as f64;
    let point = raw_mean(&means);
    let reach = student_t_quantile(1.0 - (1.0 - level) / 2.0, count - 1.0) * (of_means / count).sqrt();
    let mean = Estimate { point, low: point - reach, high: point + reach, level };
    let between = (of_means - within / inner_count as f64).max(0.0);
    Some(VarianceComponents { within, of_means, between, inner_count, mean })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_that_do_not_differ_need_no_repetition() {
        let starts = vec![vec![1.0, 2.0, 3.0], vec![3.0, 1.0, 2.0]];
        let found = variance_components(&starts, 0.95).expect("usable");
        assert_eq!((found.between, found.best_inner_count(1.0, 5.0)), (0.0, None));
        assert_eq!(found.design_effect(), Some(1.0));
    }

    #[test]
    fn uneven_or_single_starts_are_refused() {
        assert_eq!(variance_components(&[vec![1.0, 2.0]], 0.95), None);
        assert_eq!(variance_components(&[vec![1.0, 2.0], vec![1.0]], 0.95), None);
        assert_eq!(variance_components(&[], 0.95), None);
    }

    #[test]
    fn noisy_measurements_in_expensive_starts_are_repeated() {
        let noise = [0.0, 10.0, 5.0, 9.0];
        let starts: Vec<Vec<f64>> =
            [0.0, 5.0, 10.0].map(|start| noise.map(|value| start + value).to_vec()).into();
        let found = variance_components(&starts, 0.95).expect("usable");
        assert!(found.best_inner_count(1.0, 400.0) > Some(10));
    }
}
