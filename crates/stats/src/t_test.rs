//! Student's t: the cross-check of the rank methods, and the means of unpaired samples.
//!
//! Formulas: Student (1908) for pairs; B. Welch (1947) with Satterthwaite's degrees of freedom. Limits: exact for normal
//! noise only; one outlying trial widens the interval much more than that of [`crate::signed_rank`].

use crate::descriptive::{is_usable, raw_mean, raw_variance};
use crate::distribution::{student_t_p_two_sided, student_t_quantile};
use crate::estimate::{Estimate, is_level};
use crate::regression::ols;

/// A mean, or a difference of means, with its t statistic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TTest {
    /// The mean or difference with its interval.
    pub mean: Estimate,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// Degrees of freedom.
    pub freedom: f64,
    /// Mean ÷ standard error.
    pub t: f64,
    /// Probability of a t at least as far from 0 without an effect.
    pub p_two_sided: f64,
}

impl TTest {
    fn new(mean: f64, standard_error: f64, freedom: f64, level: f64) -> Option<TTest> {
        if standard_error <= 0.0 || !is_level(level) {
            return None;
        }
        let reach = student_t_quantile(1.0 - (1.0 - level) / 2.0, freedom) * standard_error;
        let t = mean / standard_error;
        Some(TTest {
            mean: Estimate { point: mean, low: mean - reach, high: mean + reach, level },
            standard_error,
            freedom,
            t,
            p_two_sided: student_t_p_two_sided(t, freedom),
        })
    }
}

/// The mean of paired differences.
///
/// `None`: fewer than two differences, one that is not finite, all equal, or a level that is not one.
pub fn paired_t(differences: &[f64], level: f64) -> Option<TTest> {
    if !is_usable(differences, 2) {
        return None;
    }
    let count = differences.len() as f64;
    let standard_error = (raw_variance(differences) / count).sqrt();
    TTest::new(raw_mean(differences), standard_error, count - 1.0, level)
}

/// The difference y − x of the means of two unpaired samples with their own variances.
///
/// `None`: fewer than two values in a sample, one that is not finite, no variance, or a level that is not one.
pub fn welch(x: &[f64], y: &[f64], level: f64) -> Option<TTest> {
    if !is_usable(x, 2) || !is_usable(y, 2) {
        return None;
    }
    let share = |values: &[f64]| raw_variance(values) / values.len() as f64;
    let (x_share, y_share) = (share(x), share(y));
    let sum = x_share + y_share;
    let parts = x_share.powi(2) / (x.len() - 1) as f64 + y_share.powi(2) / (y.len() - 1) as f64;
    if parts <= 0.0 {
        return None;
    }
    TTest::new(raw_mean(y) - raw_mean(x), sum.sqrt(), sum * sum / parts, level)
}

/// What the order within a pair adds: d = effect + order · o, with o = +1 where A ran first and −1 where B did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrderEffect {
    /// The effect without the order.
    pub effect: f64,
    /// Standard error of the effect.
    pub effect_se: f64,
    /// What running first adds.
    pub order: f64,
    /// Standard error of it.
    pub order_se: f64,
    /// Order ÷ its standard error.
    pub t: f64,
    /// Probability of a t at least as far from 0 when the order does not matter.
    pub p_two_sided: f64,
}

/// Whether the order of the two trials of a pair mattered. `is_a_first` tells for each difference.
///
/// `None`: fewer than three differences, slices of different length, always the same order, or no residual.
pub fn order_effect(differences: &[f64], is_a_first: &[bool]) -> Option<OrderEffect> {
    let order: Vec<f64> = is_a_first.iter().map(|is| if *is { 1.0 } else { -1.0 }).collect();
    let line = ols(&order, differences)?;
    if line.residual_sd <= 0.0 {
        return None;
    }
    let t = line.slope / line.slope_se;
    Some(OrderEffect {
        effect: line.intercept,
        effect_se: line.intercept_se(),
        order: line.slope,
        order_se: line.slope_se,
        t,
        p_two_sided: student_t_p_two_sided(t, line.freedom()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_without_variance_have_no_interval() {
        assert_eq!(paired_t(&[1.0; 8], 0.95), None);
        assert_eq!(welch(&[1.0; 8], &[2.0; 8], 0.95), None);
        assert_eq!(paired_t(&[1.0], 0.95), None);
        assert_eq!(order_effect(&[0.1, 0.2, 0.3], &[true; 3]), None);
    }

    #[test]
    fn an_order_that_adds_a_constant_is_found() {
        let found = order_effect(&[3.1, 0.9, 2.9, 1.1, 3.0, 1.0], &[true, false, true, false, true, false]);
        let found = found.expect("varies");
        assert!(
            (found.effect - 2.0).abs() < 1e-9 && (found.order - 1.0).abs() < 1e-9 && found.p_two_sided < 1e-4
        );
    }
}
