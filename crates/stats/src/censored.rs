//! Values that are only lower bounds, and which percentiles are therefore lower bounds themselves.
//!
//! A request that timed out or was given up has waited at least that long. Left out, it would make the rest look fast; kept
//! with its waiting time, it makes every percentile at or above it a lower bound, and possibly some below it: if `k` of `n`
//! values are lower bounds, the true quantile `q` lies between the recorded quantiles `q` and `q + k/n`, since at most `k`
//! values below it belong above it. Lower bounds that lie above it anyway change nothing.

use crate::histogram::LatencyHistogram;

/// Percentiles that are printed.
const PRINTED_RATIOS: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// By how much a percentile may be too low before it is called a lower bound.
const UNCERTAINTY_RATIO: f64 = 1.01;

/// How many values of a histogram are only lower bounds.
#[derive(Clone, Copy, Debug)]
pub struct LowerBounds {
    /// Their number.
    pub count: u64,
    /// The least of them. Unit: nanoseconds.
    pub min_ns: u64,
}

impl Default for LowerBounds {
    fn default() -> LowerBounds {
        LowerBounds::NONE
    }
}

impl LowerBounds {
    /// None of the values is.
    pub const NONE: LowerBounds = LowerBounds { count: 0, min_ns: u64::MAX };

    /// One value that is. Unit: nanoseconds.
    pub fn of(value_ns: u64) -> LowerBounds {
        LowerBounds { count: 1, min_ns: value_ns }
    }

    /// Adds those of another histogram.
    pub fn add(&mut self, other: LowerBounds) {
        self.count += other.count;
        self.min_ns = self.min_ns.min(other.min_ns);
    }
}

/// The least value from which a percentile is only a lower bound, by more than one per cent. Unit: nanoseconds.
///
/// `None`: no value is one.
pub fn uncertain_from_ns(histogram: &LatencyHistogram, bounds: LowerBounds) -> Option<u64> {
    if bounds.count == 0 {
        return None;
    }
    let share = bounds.count as f64 / histogram.count().max(1) as f64;
    let value = |ratio: f64| histogram.quantile(ratio).unwrap_or(0);
    let is_open = |ratio: f64| {
        ratio + share >= 1.0 || value(ratio + share) as f64 > value(ratio) as f64 * UNCERTAINTY_RATIO
    };
    let first = PRINTED_RATIOS.into_iter().find(|ratio| is_open(*ratio)).map(value);
    Some(first.or(histogram.max()).unwrap_or(0).max(bounds.min_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uncertain_from(bounds_ns: &[u64]) -> Option<u64> {
        let mut histogram = LatencyHistogram::new();
        (1..=10_000).for_each(|value| histogram.record(value * 1000));
        let mut bounds = LowerBounds::NONE;
        for value_ns in bounds_ns {
            histogram.record(*value_ns);
            bounds.add(LowerBounds::of(*value_ns));
        }
        uncertain_from_ns(&histogram, bounds)
    }

    #[test]
    fn a_few_low_bounds_leave_the_median_certain_and_many_do_not() {
        assert_eq!(uncertain_from(&[]), None);
        assert!(
            uncertain_from(&[500_000; 3]) > Some(9_900_000),
            "three in ten thousand move the far tail at most"
        );
        assert!(uncertain_from(&[500_000; 300]) <= Some(5_100_000), "three in a hundred move the median");
    }

    #[test]
    fn bounds_above_a_percentile_do_not_touch_it() {
        assert_eq!(uncertain_from(&[60_000_000; 300]), Some(60_000_000));
    }
}
