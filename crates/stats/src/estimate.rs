//! Estimates: a value never travels without its interval and the interval's level.

use serde::{Deserialize, Serialize};

/// A point estimate with its confidence interval. Unit: that of the estimated quantity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The single best value.
    pub point: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Confidence level of the interval as a ratio: 0.95 for 95%.
    pub level: f64,
}

impl Estimate {
    /// The estimate, unless a number in it is not finite.
    pub(crate) fn finite(self) -> Option<Estimate> {
        [self.point, self.low, self.high].iter().all(|end| end.is_finite()).then_some(self)
    }

    /// Length of the interval.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// Whether `value` lies in the interval, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// The estimate of a transformed quantity; `transform` must not decrease, such as `exp`.
    pub fn map(&self, transform: impl Fn(f64) -> f64) -> Estimate {
        Estimate {
            point: transform(self.point),
            low: transform(self.low),
            high: transform(self.high),
            level: self.level,
        }
    }

    /// The estimate of the negated quantity: the ends change places.
    pub fn negated(&self) -> Estimate {
        Estimate { point: -self.point, low: -self.high, high: -self.low, level: self.level }
    }
}

/// Levels nearer to 0 or 1 than this are none: their quantiles would rest on rounding.
const LEVEL_MARGIN: f64 = 1e-12;

/// Whether `level` can be the level of an interval, or a ratio: strictly between 0 and 1.
pub(crate) fn is_level(level: f64) -> bool {
    (LEVEL_MARGIN..=1.0 - LEVEL_MARGIN).contains(&level)
}

/// The probability that an interval of this level leaves out at each end. Levels such as 0.9 are not exact: one part in
/// 10^12 is theirs.
pub(crate) fn half_alpha(level: f64) -> f64 {
    (1.0 - level) / 2.0 * (1.0 + 1e-12)
}

/// The rank k at which an interval of ranks begins, and at which it ends from above: the greatest with P(statistic < k) ≤
/// `half_alpha`, for the probabilities of the statistic from 0 without an effect. 0: no finite interval has the level.
pub(crate) fn critical_rank(probabilities: &[f64], half_alpha: f64) -> usize {
    let sums = probabilities.iter().scan(0.0, |sum, probability| {
        *sum += probability;
        Some(*sum)
    });
    sums.take_while(|sum| *sum <= half_alpha).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negated_estimate_mirrors_its_interval() {
        let estimate = Estimate { point: 2.0, low: 1.0, high: 5.0, level: 0.95 };
        let mirrored = estimate.negated();
        assert_eq!((mirrored.point, mirrored.low, mirrored.high), (-2.0, -5.0, -1.0));
        assert_eq!(mirrored.width(), estimate.width());
        assert!(mirrored.contains(-5.0) && !mirrored.contains(1.0));
    }
}
