//! Intervals for proportions: error ratios and pass counts.
//!
//! E. Wilson (1927) for what is shown, since it behaves well for the small counts that errors have; C. Clopper and E.
//! Pearson (1934) where a guarantee is needed. Limit: trials must be independent; errors in a row are not, and the
//! true interval is then wider.

use crate::distribution::{beta_quantile, normal_quantile};
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

/// The exact interval of Clopper and Pearson, which never has less than the stated confidence.
///
/// `None`: as [`wilson`].
pub fn clopper_pearson(successes: u64, count: u64, level: f64) -> Option<Estimate> {
    if count == 0 || successes > count || !is_level(level) {
        return None;
    }
    let half_alpha = (1.0 - level) / 2.0;
    let (hits, misses) = (successes as f64, (count - successes) as f64);
    let low = if successes == 0 { 0.0 } else { beta_quantile(half_alpha, [hits, misses + 1.0]) };
    let high = if successes == count { 1.0 } else { beta_quantile(1.0 - half_alpha, [hits + 1.0, misses]) };
    Some(Estimate { point: hits / count as f64, low, high, level })
}

/// The upper 95 % bound of a ratio of which nothing was seen in `count` trials: 3 ÷ n.
///
/// `None`: no trial.
pub fn rule_of_three(count: u64) -> Option<f64> {
    (count > 0).then(|| (3.0 / count as f64).min(1.0))
}

/// The lower bound of the probability to pass after `passes` of as many trials were passed: (1 − level)^(1/n).
///
/// `None`: no trial, or a level that is not strictly between 0 and 1.
pub fn all_passed_low(passes: u64, level: f64) -> Option<f64> {
    (passes > 0 && is_level(level)).then(|| (1.0 - level).powf(1.0 / passes as f64))
}

/// Successes among trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    /// Trials that succeeded, or failed: what is counted.
    pub successes: u64,
    /// All trials.
    pub count: u64,
}

/// Fisher's exact two-sided p that two tallies have the same ratio: the probability, with all margins given, of the
/// tables that are no more probable than the one seen (R. Fisher 1935).
///
/// Cost: linear in the smaller margin.
/// `None`: a tally without trials or with more successes than trials.
pub fn fisher_exact_p(first: Tally, second: Tally) -> Option<f64> {
    let is_sound = |tally: Tally| tally.count > 0 && tally.successes <= tally.count;
    if !is_sound(first) || !is_sound(second) {
        return None;
    }
    let successes = first.successes + second.successes;
    let lowest = successes.saturating_sub(second.count);
    let highest = successes.min(first.count);
    // Logarithms of the probabilities up to a common term, each from its neighbour; no factorial is needed.
    let mut logs = vec![0.0_f64];
    for number in lowest..highest {
        let more = ((first.count - number) as f64).ln() + ((successes - number) as f64).ln();
        let fewer = ((number + 1) as f64).ln() + ((second.count + number + 1 - successes) as f64).ln();
        logs.push(logs[logs.len() - 1] + more - fewer);
    }
    let seen = logs[(first.successes - lowest) as usize];
    let greatest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = logs.iter().map(|log| (log - greatest).exp()).sum();
    // Equally probable tables may differ by rounding.
    let extreme: f64 = logs.iter().filter(|log| **log <= seen + 1e-7).map(|log| (log - greatest).exp()).sum();
    Some((extreme / total).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_stay_within_zero_and_one() {
        for interval in [wilson, clopper_pearson] {
            let none = interval(0, 20, 0.95).expect("trials");
            let all = interval(20, 20, 0.95).expect("trials");
            assert_eq!((none.point, none.low, all.point, all.high), (0.0, 0.0, 1.0, 1.0));
            assert!((none.high + all.low - 1.0).abs() < 1e-12, "mirror images");
            assert_eq!(interval(2, 1, 0.95), None);
            assert_eq!(interval(0, 0, 0.95), None);
        }
    }

    #[test]
    fn a_lady_tastes_tea() {
        let p = fisher_exact_p(Tally { successes: 3, count: 4 }, Tally { successes: 1, count: 4 })
            .expect("trials");
        assert!((p - 34.0 / 70.0).abs() < 1e-12);
        assert_eq!(
            fisher_exact_p(Tally { successes: 0, count: 5 }, Tally { successes: 0, count: 9 }),
            Some(1.0)
        );
    }

    #[test]
    fn nothing_seen_in_three_thousand_is_less_than_one_in_a_thousand() {
        assert_eq!(rule_of_three(3000), Some(0.001));
        assert_eq!((rule_of_three(0), rule_of_three(1)), (None, Some(1.0)));
    }
}
