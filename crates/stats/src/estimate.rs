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

/// Which end of a quantity is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoundSide {
    /// It is not less.
    AtLeast,
    /// It is not more.
    AtMost,
}

/// The end of an interval whose other end is not known. Unit: that of the estimated quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneSidedBound {
    /// Where the interval ends.
    pub value: f64,
    /// Which end that is.
    pub side: BoundSide,
    /// Confidence level of the interval as a ratio.
    pub level: f64,
}

impl OneSidedBound {
    /// The bound of the negated quantity.
    pub fn negated(&self) -> OneSidedBound {
        let side = match self.side {
            BoundSide::AtLeast => BoundSide::AtMost,
            BoundSide::AtMost => BoundSide::AtLeast,
        };
        OneSidedBound { value: -self.value, side, level: self.level }
    }
}

/// What is known of a quantity: both ends of its interval, or one where measured values are themselves only bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BoundedEstimate {
    /// Both ends are known.
    Interval(Estimate),
    /// One end is.
    Bound(OneSidedBound),
}

impl BoundedEstimate {
    /// What these ends say; `None`: neither is known.
    pub(crate) fn of(point: f64, ends: [Option<f64>; 2], level: f64) -> Option<BoundedEstimate> {
        let bound = |value, side| BoundedEstimate::Bound(OneSidedBound { value, side, level });
        match ends {
            [Some(low), Some(high)] => Some(BoundedEstimate::Interval(Estimate { point, low, high, level })),
            [Some(low), None] => Some(bound(low, BoundSide::AtLeast)),
            [None, Some(high)] => Some(bound(high, BoundSide::AtMost)),
            [None, None] => None,
        }
    }

    /// The estimate with its interval; `None`: only one end is known.
    pub fn interval(&self) -> Option<Estimate> {
        match self {
            BoundedEstimate::Interval(estimate) => Some(*estimate),
            BoundedEstimate::Bound(_) => None,
        }
    }

    /// Whether the quantity may be `value`.
    pub fn contains(&self, value: f64) -> bool {
        !self.is_above(value) && !self.is_below(value)
    }

    /// Whether the quantity is surely greater than `value`.
    pub fn is_above(&self, value: f64) -> bool {
        match self {
            BoundedEstimate::Interval(estimate) => estimate.low > value,
            BoundedEstimate::Bound(bound) => bound.side == BoundSide::AtLeast && bound.value > value,
        }
    }

    /// Whether the quantity is surely less than `value`.
    pub fn is_below(&self, value: f64) -> bool {
        self.negated().is_above(-value)
    }

    /// The same of the negated quantity.
    pub fn negated(&self) -> BoundedEstimate {
        match self {
            BoundedEstimate::Interval(estimate) => BoundedEstimate::Interval(estimate.negated()),
            BoundedEstimate::Bound(bound) => BoundedEstimate::Bound(bound.negated()),
        }
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
    fn a_bound_is_above_what_it_excludes_and_its_negation_below() {
        let bound = BoundedEstimate::of(9.0, [Some(2.0), None], 0.95).expect("one end");
        assert!(
            bound.is_above(1.0)
                && !bound.is_below(100.0)
                && bound.contains(100.0)
                && bound.interval().is_none()
        );
        assert!(bound.negated().is_below(-1.0) && bound.negated().contains(-100.0));
        assert_eq!(BoundedEstimate::of(9.0, [None, None], 0.95), None);
        let both = BoundedEstimate::of(3.0, [Some(2.0), Some(4.0)], 0.95).expect("both ends");
        assert_eq!(both.interval().map(|found| found.point), Some(3.0));
    }

    #[test]
    fn a_negated_estimate_mirrors_its_interval() {
        let estimate = Estimate { point: 2.0, low: 1.0, high: 5.0, level: 0.95 };
        let mirrored = estimate.negated();
        assert_eq!((mirrored.point, mirrored.low, mirrored.high), (-2.0, -5.0, -1.0));
        assert_eq!(mirrored.width(), estimate.width());
        assert!(mirrored.contains(-5.0) && !mirrored.contains(1.0));
    }
}
