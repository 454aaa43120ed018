//! The effect of B against A, and its verdict; shared by tryouts and comparisons of runs.
//!
//! The verdict is about B: better, worse, the same, or can't tell. Values are in the metric's own direction (B ÷ A, or
//! B − A); [`Better`] says whether that is an improvement.

use serde::{Deserialize, Serialize};
pub use sysdyno_stats::estimate::BoundSide;
pub use sysdyno_stats::verdict::{Comparison, Qualifier};

/// How B is put against A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectScale {
    /// B ÷ A; 1 is no effect.
    Ratio,
    /// B − A, in the metric's unit; 0 is no effect. For metrics that may be zero.
    Difference,
}

/// Which way a metric gets better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Such as a rate.
    Higher,
    /// Such as a cost or a latency.
    Lower,
}

/// From this ratio or its inverse on a change is told as a factor: of changes in per cent nobody sees that one is ten
/// times another.
pub const FACTOR_MIN: f64 = 10.0;

/// How many times as much, or as little, B is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    /// `×` where B is as many times as much as A, `÷` where it is as many times less.
    pub sign: char,
    /// The best single value.
    pub point: f64,
    /// Lower end of the interval; below 1 an end says the opposite.
    pub low: f64,
    /// Upper end of the interval; infinite where the ratio may be 0.
    pub high: f64,
}

/// The effect of B against A with its interval, in the metric's own direction.
///
/// Unit: that of the scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Effect {
    /// What the numbers are.
    pub scale: EffectScale,
    /// The best single value: the Hodges–Lehmann estimate where there are pairs.
    pub point: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Confidence of the interval as a ratio: 0.95.
    pub confidence_ratio: f64,
    /// Both ends of the 90% interval, which decides whether it is the same; `None`: not known.
    #[serde(default)]
    pub narrow: Option<[f64; 2]>,
    /// Independent pairs that it rests on; for runs that were not interleaved, repetitions of the smaller side.
    pub pairs_count: u32,
}

impl Effect {
    /// What no effect is on this scale.
    pub fn none(&self) -> f64 {
        match self.scale {
            EffectScale::Ratio => 1.0,
            EffectScale::Difference => 0.0,
        }
    }

    /// The effect as a factor; `None` if it is shown as a change, because it is smaller, no ratio, or a ratio of 0.
    pub fn factor(&self) -> Option<Factor> {
        let Effect { point, low, high, .. } = *self;
        let factor = match self.scale {
            EffectScale::Difference => return None,
            EffectScale::Ratio if point >= 1.0 => Factor { sign: '×', point, low, high },
            EffectScale::Ratio => Factor { sign: '÷', point: 1.0 / point, low: 1.0 / high, high: 1.0 / low },
        };
        (FACTOR_MIN..f64::INFINITY).contains(&factor.point).then_some(factor)
    }
}

/// A verdict on B against A.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComparisonVerdict {
    /// The word.
    pub word: Comparison,
    /// What is known besides it; `None`: nothing is to be added.
    #[serde(default)]
    pub qualifier: Option<Qualifier>,
    /// Whether Student's t would have said another word: a few trials decide it.
    #[serde(default)]
    pub is_outlier_sensitive: bool,
    /// Why less may be claimed than the interval alone would say; empty: it is as it is. A word "better" or "worse" with
    /// such a reason says that the two differ, not that the one thing is better than the other.
    #[serde(default)]
    pub capped_by: Vec<String>,
}

impl ComparisonVerdict {
    /// Nothing can be told, and why.
    pub fn cannot_tell(reason: impl Into<String>) -> ComparisonVerdict {
        ComparisonVerdict {
            word: Comparison::CannotTell,
            qualifier: None,
            is_outlier_sensitive: false,
            capped_by: vec![reason.into()],
        }
    }

    /// The word for people.
    pub fn name(&self) -> &'static str {
        word_name(self.word)
    }
}

/// The word of a comparison for people.
pub fn word_name(word: Comparison) -> &'static str {
    match word {
        Comparison::Better => "better",
        Comparison::Worse => "worse",
        Comparison::Same => "the same",
        Comparison::CannotTell => "can't tell",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_of_ten_or_more_is_a_factor() {
        let check = |scale, [low, point, high]: [f64; 3], expected: Option<(char, [f64; 3])>| {
            let found =
                Effect { scale, point, low, high, confidence_ratio: 0.95, narrow: None, pairs_count: 8 };
            let found = found.factor().map(|factor| (factor.sign, [factor.low, factor.point, factor.high]));
            assert_eq!(found, expected, "{point}");
        };
        check(EffectScale::Ratio, [8.0, 9.8, 12.0], None);
        check(EffectScale::Ratio, [8.0, 16.0, f64::INFINITY], Some(('×', [8.0, 16.0, f64::INFINITY])));
        check(EffectScale::Ratio, [0.0, 0.0625, 2.0], Some(('÷', [0.5, 16.0, f64::INFINITY])));
        check(EffectScale::Ratio, [0.0, 0.0, 0.1], None);
        check(EffectScale::Ratio, [1.0, f64::NAN, 1.0], None);
        check(EffectScale::Difference, [8.0, 16.0, 32.0], None);
    }
}
