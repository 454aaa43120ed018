//! Student's t: the cross-check of the rank methods, equivalence, and the means of unpaired samples.
//!
//! Formulas: Student (1908) for pairs; B. Welch (1947) with Satterthwaite's degrees of freedom; D. Schuirmann (1987)
//! for equivalence by two one-sided tests; E. Fieller (1954) for the ratio of two means. Limits: exact for normal
//! noise only; one wild trial widens the interval much more than that of [`crate::signed_rank`].

use crate::descriptive::{is_usable, raw_mean, raw_variance, sum_of_squares};
use crate::distribution::{student_t_cdf, student_t_p_two_sided, student_t_quantile};
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

/// The difference y − x of the means of two unpaired samples that are taken to have the same variance.
///
/// `None`: as [`welch`].
pub fn student(x: &[f64], y: &[f64], level: f64) -> Option<TTest> {
    if !is_usable(x, 2) || !is_usable(y, 2) {
        return None;
    }
    let freedom = (x.len() + y.len() - 2) as f64;
    let variance = (sum_of_squares(x) + sum_of_squares(y)) / freedom;
    let standard_error = (variance * (1.0 / x.len() as f64 + 1.0 / y.len() as f64)).sqrt();
    TTest::new(raw_mean(y) - raw_mean(x), standard_error, freedom, level)
}

/// The result of two one-sided tests for equivalence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equivalence {
    /// p that the mean lies at or below −margin.
    pub p_low: f64,
    /// p that the mean lies at or above +margin.
    pub p_high: f64,
    /// p of non-equivalence: the greater of the two.
    pub p: f64,
    /// The mean with its interval of level 1 − 2α, which lies inside ±margin exactly when p < α.
    pub mean: Estimate,
}

/// Whether the mean of paired differences lies within ±`margin`, tested at `alpha`.
///
/// `None`: as [`paired_t`], a margin that is not positive, or an alpha that is not between 0 and 0.5.
pub fn equivalence(differences: &[f64], margin: f64, alpha: f64) -> Option<Equivalence> {
    if margin.is_nan() || margin <= 0.0 {
        return None;
    }
    let test = paired_t(differences, 1.0 - 2.0 * alpha)?;
    let mean = test.mean.point;
    let p_low = student_t_cdf(-(mean + margin) / test.standard_error, test.freedom);
    let p_high = student_t_cdf((mean - margin) / test.standard_error, test.freedom);
    Some(Equivalence { p_low, p_high, p: p_low.max(p_high), mean: test.mean })
}

/// The ratio of the means of two unpaired samples, b ÷ a, with Fieller's interval and the degrees of freedom of both.
///
/// `None`: fewer than two values in a sample, one that is not finite, or a mean of a that does not differ from zero
/// at this level, so that no finite interval exists.
pub fn ratio_of_means(a: &[f64], b: &[f64], level: f64) -> Option<Estimate> {
    if !is_usable(a, 2) || !is_usable(b, 2) || !is_level(level) {
        return None;
    }
    let (mean_a, mean_b) = (raw_mean(a), raw_mean(b));
    let t = student_t_quantile(1.0 - (1.0 - level) / 2.0, (a.len() + b.len() - 2) as f64);
    let h = |values: &[f64]| t * t * raw_variance(values) / values.len() as f64;
    let (h_a, h_b) = (h(a), h(b));
    let denominator = mean_a * mean_a - h_a;
    if denominator <= 0.0 {
        return None;
    }
    let product = mean_a * mean_b;
    // (ab)² − (a² − h_a)(b² − h_b), expanded so that it does not cancel.
    let root = (h_b * denominator + h_a * mean_b * mean_b).sqrt();
    let [low, high] = [(product - root) / denominator, (product + root) / denominator];
    Estimate { point: mean_b / mean_a, low, high, level }.finite()
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
        assert_eq!(equivalence(&[0.1, -0.1, 0.0], 0.0, 0.05), None);
        assert_eq!(order_effect(&[0.1, 0.2, 0.3], &[true; 3]), None);
    }

    #[test]
    fn a_ratio_to_a_mean_near_zero_has_no_interval() {
        assert_eq!(ratio_of_means(&[-1.0, 1.0, 0.5], &[1.0, 2.0, 3.0], 0.95), None);
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
