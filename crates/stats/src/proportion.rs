//! The interval of a proportion, such as an error ratio.
//!
//! E. Wilson's score interval (1927), since it behaves well for the small counts that errors have. Limit: trials must be
//! independent; errors in a row are not, and the true interval is then wider.

use crate::distribution::normal_quantile;
use crate::estimate::{Estimate, is_level};

/// Wilson's score interval for the ratio of successes in `count` trials.
///
/// `None`: no trial, more successes than trials, or a level that is not strictly between 0 and 1.
pub fn wilson(successes: u64, count: u64, level: f64) -> Option<Estimate> {
    if count == 0 || successes > count || !is_level(level) {
        return None;
    }
    let n = count as f64;
    let point = successes as f64 / n;
    let z_squared = normal_quantile(1.0 - (1.0 - level) / 2.0).powi(2);
    let centre = (point + z_squared / (2.0 * n)) / (1.0 + z_squared / n);
    let reach =
        (z_squared * (point * (1.0 - point) / n + z_squared / (4.0 * n * n))).sqrt() / (1.0 + z_squared / n);
    let low = if successes == 0 { 0.0 } else { (centre - reach).max(0.0) };
    let high = if successes == count { 1.0 } else { (centre + reach).min(1.0) };
    Some(Estimate { point, low, high, level })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_stay_within_zero_and_one() {
        let none = wilson(0, 20, 0.95).expect("trials");
        let all = wilson(20, 20, 0.95).expect("trials");
        assert_eq!((none.point, none.low, all.point, all.high), (0.0, 0.0, 1.0, 1.0));
        assert!((none.high + all.low - 1.0).abs() < 1e-12, "mirror images");
        assert_eq!((wilson(2, 1, 0.95), wilson(0, 0, 0.95)), (None, None));
    }
}
