//! The effect of one thing against another, and the word for it; shared by experiments and comparisons of runs.
//!
//! The word is of B, seen from A: B is better, worse, the same, or it can't be told. What is written is in the metric's
//! own direction (B ÷ A, or B − A); whether that is an improvement follows from [`Better`].

use serde::{Deserialize, Serialize};
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
    /// Both ends of the 90 % interval, which decides whether it is the same; `None`: not known.
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

    /// Whether the interval excludes that there is no effect.
    pub fn excludes_none(&self) -> bool {
        !(self.low..=self.high).contains(&self.none())
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
