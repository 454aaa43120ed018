//! Straight lines: least squares with inverse prediction for capacity, and the robust trend of a series.
//!
//! Capacity under an objective is an *inverse prediction*: y = ln p99 is fitted on x = ln rate, and the x is wanted
//! at which the line meets y0 = ln objective. Its interval is that of E. Fieller (1954). With u = x − x̄ it holds the
//! u with
//!
//! ```text
//! (ȳ + b·u − y0)² ≤ t² s² (1/n + u²/Sxx)
//! ```
//!
//! a quadratic whose roots are the ends, provided that the slope differs from zero at the same level (b² > t² s²/Sxx);
//! otherwise the set is unbounded and there is no interval. Limits: the points must lie near a straight line, so
//! only those around the crossing are given to it, and [`crate::isotonic`] is the cross-check.

use crate::descriptive::{is_usable, median_of_sorted, raw_mean, tie_counts};
use crate::distribution::{normal_cdf, student_t_quantile};
use crate::estimate::{Estimate, is_level};

/// A straight line fitted by least squares: y = intercept + slope · x.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FittedLine {
    /// Value at x = 0.
    pub intercept: f64,
    /// Growth of y per unit of x.
    pub slope: f64,
    /// Standard deviation of the points around the line, with n − 2.
    pub residual_sd: f64,
    /// Standard error of the slope.
    pub slope_se: f64,
    /// Mean of the x.
    pub mean_x: f64,
    /// Sum of squared distances of the x from their mean.
    pub sxx: f64,
    /// Number of points.
    pub count: usize,
}

impl FittedLine {
    /// Degrees of freedom that are left for the residuals: n − 2.
    pub fn freedom(&self) -> f64 {
        self.count as f64 - 2.0
    }

    /// Standard error of the intercept.
    pub fn intercept_se(&self) -> f64 {
        self.residual_sd * (1.0 / self.count as f64 + self.mean_x * self.mean_x / self.sxx).sqrt()
    }

    /// The line's value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.intercept + self.slope * x
    }
}

/// The least-squares line through the points.
///
/// `None`: fewer than three points, a value that is not finite, slices of different length, or all x equal.
pub fn ols(x: &[f64], y: &[f64]) -> Option<FittedLine> {
    if x.len() != y.len() || !is_usable(x, 3) || !is_usable(y, 3) {
        return None;
    }
    let (mean_x, mean_y) = (raw_mean(x), raw_mean(y));
    let sxx: f64 = x.iter().map(|x| (x - mean_x).powi(2)).sum();
    let sxy: f64 = x.iter().zip(y).map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let slope = sxy / sxx;
    if !slope.is_finite() {
        return None;
    }
    let residuals: f64 = x.iter().zip(y).map(|(x, y)| (y - mean_y - slope * (x - mean_x)).powi(2)).sum();
    let residual_sd = (residuals / (x.len() - 2) as f64).sqrt();
    let intercept = mean_y - slope * mean_x;
    Some(FittedLine {
        intercept,
        slope,
        residual_sd,
        slope_se: residual_sd / sxx.sqrt(),
        mean_x,
        sxx,
        count: x.len(),
    })
}

/// The x at which the line reaches `y0`, with Fieller's interval. Unit: that of x.
///
/// `None`: the slope does not differ from zero at this level, so that no finite interval exists, or `level` is not
/// strictly between 0 and 1.
pub fn inverse_prediction(line: &FittedLine, y0: f64, level: f64) -> Option<Estimate> {
    if !is_level(level) || !y0.is_finite() || line.count < 3 {
        return None;
    }
    let t = student_t_quantile(1.0 - (1.0 - level) / 2.0, line.freedom());
    let (b, distance) = (line.slope, line.at(line.mean_x) - y0);
    let variance = (t * line.residual_sd).powi(2);
    let quadratic = b * b - variance / line.sxx;
    if quadratic <= 0.0 {
        return None;
    }
    let constant = distance * distance - variance / line.count as f64;
    // b²d² − (b² − v/Sxx)(d² − v/n), expanded so that an exact fit does not cancel.
    let discriminant = variance * (distance * distance / line.sxx + quadratic / line.count as f64);
    let root = discriminant.sqrt();
    // The root that adds two numbers of one sign keeps its digits; the other follows from the product of the roots.
    let sum = if b * distance >= 0.0 { -(b * distance + root) } else { root - b * distance };
    let first = sum / quadratic;
    let second = if sum == 0.0 { first } else { constant / sum };
    let point = line.mean_x - distance / b;
    let low = line.mean_x + first.min(second);
    let high = line.mean_x + first.max(second);
    Estimate { point, low: low.min(point), high: high.max(point), level }.finite()
}

/// The median of the slopes between all pairs of points of an evenly spaced series (H. Theil 1950, P. Sen 1968).
///
/// Unit: that of y per step. Cost: quadratic in time and memory.
/// `None`: fewer than two values, more than [`TREND_COUNT_MAX`], or one that is not finite.
pub fn theil_sen_slope(y: &[f64]) -> Option<f64> {
    Some(median_of_sorted(&pair_slopes(y)?))
}

/// The slopes between all pairs of points, in ascending order.
fn pair_slopes(y: &[f64]) -> Option<Vec<f64>> {
    if !is_usable(y, 2) || y.len() > TREND_COUNT_MAX {
        return None;
    }
    let mut slopes = Vec::with_capacity(y.len() * (y.len() - 1) / 2);
    for (index, value) in y.iter().enumerate() {
        let to_past = |(earlier, past): (usize, &f64)| (value - past) / (index - earlier) as f64;
        slopes.extend(y[..index].iter().enumerate().map(to_past));
    }
    slopes.sort_by(f64::total_cmp);
    Some(slopes)
}

/// Variance of Kendall's score without a trend, corrected for ties.
fn score_variance(y: &[f64]) -> f64 {
    let spread = |count: f64| count * (count - 1.0) * (2.0 * count + 5.0);
    let ties: f64 = tie_counts(y).into_iter().map(|count| spread(count as f64)).sum();
    (spread(y.len() as f64) - ties) / 18.0
}

/// The longest series that the quadratic trend functions take: over an hour of one-second values.
pub const TREND_COUNT_MAX: usize = 4_000;

/// The result of a test for a monotonic trend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MannKendall {
    /// Pairs that rise minus pairs that fall.
    pub score: i64,
    /// Variance of the score without a trend.
    pub variance: f64,
    /// The score in standard deviations, with continuity correction; positive for a rising series.
    pub z: f64,
    /// Probability of a score at least as far from 0 without a trend.
    pub p_two_sided: f64,
}

/// Whether a series of independent values has a monotonic trend (H. Mann 1945, M. Kendall 1975), with the variance
/// corrected for ties.
///
/// Cost: quadratic. Limit: with many values any drift is significant; gates use the size of [`theil_sen_slope`].
/// `None`: fewer than three values, more than [`TREND_COUNT_MAX`], or one that is not finite.
pub fn mann_kendall(y: &[f64]) -> Option<MannKendall> {
    if !is_usable(y, 3) || y.len() > TREND_COUNT_MAX {
        return None;
    }
    let mut score = 0;
    for (index, value) in y.iter().enumerate() {
        for past in &y[..index] {
            score += i64::from(value > past) - i64::from(value < past);
        }
    }
    let variance = score_variance(y);
    let z = if score == 0 { 0.0 } else { (score - score.signum()) as f64 / variance.sqrt() };
    Some(MannKendall { score, variance, z, p_two_sided: (2.0 * normal_cdf(-z.abs())).min(1.0) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_through_exact_points_has_no_residual() {
        let line = ols(&[1.0, 2.0, 3.0, 4.0], &[3.0, 5.0, 7.0, 9.0]).expect("a line");
        assert_eq!((line.intercept, line.slope, line.residual_sd), (1.0, 2.0, 0.0));
        let x = inverse_prediction(&line, 6.0, 0.95).expect("an exact slope");
        assert_eq!((x.point, x.low, x.high), (2.5, 2.5, 2.5));
    }

    #[test]
    fn a_slope_that_may_be_zero_has_no_inverse() {
        let line = ols(&[1.0, 2.0, 3.0, 4.0], &[5.0, 4.0, 6.0, 5.0]).expect("a line");
        assert_eq!(inverse_prediction(&line, 5.5, 0.95), None);
        let flat = ols(&[1.0, 2.0, 3.0], &[5.0, 5.0, 5.0]).expect("a line");
        assert_eq!(inverse_prediction(&flat, 5.0, 0.95), None);
    }

    #[test]
    fn a_falling_line_has_its_interval_in_order() {
        let line = ols(&[1.0, 2.0, 3.0, 4.0, 5.0], &[9.1, 7.0, 4.9, 3.1, 0.9]).expect("a line");
        let x = inverse_prediction(&line, 5.0, 0.95).expect("significant");
        assert!(x.low < x.point && x.point < x.high && x.contains(3.0));
    }

    #[test]
    fn unusable_points_give_no_line() {
        assert_eq!(ols(&[1.0, 1.0, 1.0], &[1.0, 2.0, 3.0]), None);
        assert_eq!(ols(&[1.0, 2.0], &[1.0, 2.0]), None);
        assert_eq!(ols(&[1.0, 2.0, f64::NAN], &[1.0, 2.0, 3.0]), None);
    }

    #[test]
    fn the_robust_slope_ignores_a_spike() {
        let slope = theil_sen_slope(&[1.0, 2.0, 3.0, 400.0, 5.0, 6.0, 7.0]).expect("enough values");
        assert!((slope - 1.0).abs() < 1e-12);
        assert_eq!(theil_sen_slope(&[1.0]), None);
    }

    #[test]
    fn a_constant_series_has_no_trend() {
        let trend = mann_kendall(&[3.0; 10]).expect("enough values");
        assert_eq!((trend.score, trend.z, trend.p_two_sided), (0, 0.0, 1.0));
    }
}
