//! How well a sample supports a quantile: distribution-free intervals from ranks.
//!
//! The number of values below the true quantile of ratio q is binomial(n, q), whatever the distribution, so two ranks
//! of the sample enclose the quantile with a known confidence (J.-Y. Le Boudec, *Performance Evaluation of Computer
//! and Communication Systems*, theorem 2.1):
//!
//! ```text
//! low  = max { j : P(Bin(n,q) ≤ j−1) ≤ α/2 }        high = min { k : P(Bin(n,q) ≤ k−1) ≥ 1 − α/2 }
//! ```
//!
//! Limits: the values must be independent. For those that are not, n is the effective number of
//! [`crate::dependence`]. An upper rank beyond n means that the sample has no upper bound for
//! this quantile: the answer is then `None`, never a number.

use crate::distribution::{binomial_quantile, normal_quantile};
use crate::estimate::is_level;
use crate::histogram::LatencyHistogram;

/// Up to this many values the ranks are exact binomial ones; above, the normal approximation differs by less than one
/// part in a thousand of the interval and costs nothing.
const EXACT_COUNT_MAX: u64 = 1_000_000;

/// A quantile is published when at least this many values lie above it: n(1 − q) ≥ 10.
pub const TAIL_COUNT_MIN: f64 = 10.0;

/// Two quantiles are compared when at least this many values lie above each.
pub const COMPARED_TAIL_COUNT_MIN: f64 = 100.0;

/// Ranks in a sorted sample, from 1, whose values enclose a quantile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankInterval {
    /// Rank of the lower bound.
    pub low: u64,
    /// Rank of the upper bound.
    pub high: u64,
}

/// The ranks that enclose the quantile `ratio` of `count` independent values with at least confidence `level`.
///
/// `None`: the sample is too small to bound the quantile on both sides, or an argument is not strictly between 0 and 1.
pub fn quantile_ranks(count: u64, ratio: f64, level: f64) -> Option<RankInterval> {
    if count > EXACT_COUNT_MAX {
        return quantile_ranks_normal(count, ratio, level);
    }
    if !is_level(ratio) || !is_level(level) || count == 0 {
        return None;
    }
    let half_alpha = (1.0 - level) / 2.0;
    // The least number with P(Bin ≤ number) ≥ p is the binomial quantile. All below it have less than p; the one
    // at it may have exactly p, and would then still do as a lower bound: that costs one rank and no confidence.
    let low = binomial_quantile(half_alpha, count, ratio);
    let high = binomial_quantile(1.0 - half_alpha, count, ratio) + 1;
    within(low, high, count)
}

/// The same by the normal approximation of the binomial distribution, rounded outward; meant for large samples.
///
/// `None`: as [`quantile_ranks`].
fn quantile_ranks_normal(count: u64, ratio: f64, level: f64) -> Option<RankInterval> {
    if !is_level(ratio) || !is_level(level) || count == 0 {
        return None;
    }
    let centre = count as f64 * ratio;
    let reach = normal_quantile(1.0 - (1.0 - level) / 2.0) * (centre * (1.0 - ratio)).sqrt();
    let low = (centre - reach).floor().max(0.0) as u64;
    let high = (centre + reach).ceil() as u64 + 1;
    within(low, high, count)
}

fn within(low: u64, high: u64, count: u64) -> Option<RankInterval> {
    (low >= 1 && high <= count).then_some(RankInterval { low, high })
}

/// Whether a quantile of that many values may be published: [`TAIL_COUNT_MIN`] of them lie above it.
pub fn is_quantile_supported(count: u64, ratio: f64) -> bool {
    // 1 − 0.99 is not exactly 0.01; a millionth of a value is not what the rule is about.
    (0.0..=1.0).contains(&ratio) && count as f64 * (1.0 - ratio) >= TAIL_COUNT_MIN - 1e-6
}

/// The values of the histogram that enclose its quantile `ratio` with at least confidence `level`.
///
/// Each end is the outer end of its bucket, so that the histogram's grain never makes the interval too narrow.
/// Unit: nanoseconds.
/// `None`: as [`quantile_ranks`].
pub fn quantile_interval(histogram: &LatencyHistogram, ratio: f64, level: f64) -> Option<[u64; 2]> {
    let ranks = quantile_ranks(histogram.count(), ratio, level)?;
    let low = histogram.as_hdr().lowest_equivalent(histogram.value_at_rank(ranks.low)?);
    Some([low, histogram.value_at_rank(ranks.high)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::binomial_cdf;

    #[test]
    fn the_ranks_hold_the_confidence_and_no_narrower_ones_do() {
        for (count, ratio) in [(20, 0.5), (100, 0.9), (5000, 0.99)] {
            let ranks = quantile_ranks(count, ratio, 0.95).expect("large enough");
            assert!(binomial_cdf(ranks.low - 1, count, ratio) <= 0.025);
            assert!(binomial_cdf(ranks.low, count, ratio) > 0.025);
            assert!(binomial_cdf(ranks.high - 1, count, ratio) >= 0.975);
            assert!(binomial_cdf(ranks.high - 2, count, ratio) < 0.975);
        }
    }

    #[test]
    fn a_small_sample_has_no_upper_bound_for_a_tail() {
        assert_eq!(quantile_ranks(300, 0.99, 0.95), None);
        assert!(quantile_ranks(500, 0.99, 0.95).is_some());
        assert_eq!(quantile_ranks(0, 0.5, 0.95), None);
        assert_eq!(quantile_ranks(100, 1.0, 0.95), None);
        assert_eq!(quantile_ranks(100, 0.5, f64::NAN), None);
    }

    #[test]
    fn the_approximation_is_close_where_it_takes_over() {
        for ratio in [0.5, 0.99, 0.999] {
            let exact = quantile_ranks(EXACT_COUNT_MAX, ratio, 0.95).expect("large enough");
            let approximate = quantile_ranks_normal(EXACT_COUNT_MAX, ratio, 0.95).expect("large enough");
            assert!(approximate.low.abs_diff(exact.low) <= 2 && approximate.high.abs_diff(exact.high) <= 2);
        }
    }

    #[test]
    fn p99_needs_a_thousand_values() {
        assert!(is_quantile_supported(1000, 0.99) && !is_quantile_supported(999, 0.99));
    }

    #[test]
    fn the_interval_of_a_histogram_encloses_its_quantile() {
        let mut histogram = LatencyHistogram::new();
        (1..=1000).for_each(|value| histogram.record(value));
        assert_eq!(quantile_interval(&histogram, 0.5, 0.95), Some([469, 532]));
        assert_eq!(quantile_interval(&LatencyHistogram::new(), 0.5, 0.95), None);
    }
}
