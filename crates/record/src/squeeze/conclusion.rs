//! The result of a squeeze, as in `squeeze.json`. It follows from the plan and the lines alone.

use super::{ResourceKind, SqueezeBite};
use crate::effect::Effect;
use crate::tryout::{Diagnostic, Metric, Pair, StopCause};
use serde::{Deserialize, Serialize};

/// Schema of the conclusion.
pub const SQUEEZE_SCHEMA: &str = "sysdyno.squeeze/1";

/// The result of a squeeze.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SqueezeConclusion {
    /// [`SQUEEZE_SCHEMA`].
    pub schema: String,
    /// The result in one sentence, as terminal and report print it first.
    pub headline: String,
    /// What a squeeze is judged by.
    pub metric: Metric,
    /// Median of the metric over the trials without a squeeze; `None`: none was measured. Unit: the metric's.
    pub baseline: Option<f64>,
    /// The resources, the one that matters most first; then placebo, generator, and what cannot be told.
    pub rows: Vec<SqueezeRow>,
    /// The sum of the elasticities of all rates; `None`: too few of them were measured.
    pub sum: Option<ElasticitySum>,
    /// Why the whole run says nothing of the server; empty: it does.
    pub void: Vec<String>,
    /// Signs of trouble with the method.
    pub diagnostics: Vec<Diagnostic>,
    /// All pairs in the order of time, dropped ones too.
    pub pairs: Vec<Pair>,
    /// How long it took. Unit: nanoseconds.
    pub elapsed_ns: u64,
}

/// Whether one of the resources may be what limits the server, for all that is known: its interval is too wide, and the sum does not
/// say that something else does.
pub fn may_be_in_list(rows: &[SqueezeRow], sum: Option<&ElasticitySum>) -> bool {
    let is_missing = sum.is_some_and(|sum| sum.word == SumWord::Missing);
    !is_missing && rows.iter().any(|row| row.kind.is_ranked() && row.word == RowWord::CannotTell)
}

/// What was found of a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SqueezeRow {
    /// What it is called: `php-fpm CPU`. Untrusted text.
    pub name: String,
    /// What it is.
    pub kind: ResourceKind,
    /// How much of it there was. Unit: CPUs; of a link megabits per second; of a disk 1; of connections their count.
    /// `None`: not known.
    pub available: Option<f64>,
    /// How much of it was used in the pilot. Unit: as above. `None`: not known.
    pub used: Option<f64>,
    /// How much the metric depends on it, at each depth that was measured, the deepest first; empty: it was not measured.
    pub elasticities: Vec<Elasticity>,
    /// The word for it.
    pub word: RowWord,
    /// The same in a sentence, with what is needed to judge it.
    pub sentence: String,
    /// 10% more of it helps by at most this, as far as capacity is concave; `None`: nothing can be said. Unit: ratio.
    pub gain_at_most_ratio: Option<f64>,
}

/// What one depth of a squeeze cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Elasticity {
    /// How much was taken away. Unit: ratio.
    pub depth_ratio: f64,
    /// ln(B ÷ A) ÷ ln(1 − depth): 1 where the metric falls as the resource does, 0 where it does not; `None`: too few pairs,
    /// or nothing was taken.
    pub point: Option<f64>,
    /// Both ends of its 95% interval; `None`: too few pairs.
    pub interval: Option<[f64; 2]>,
    /// B ÷ A itself; `None`: too few pairs.
    pub effect: Option<Effect>,
    /// Pairs that count.
    pub counted: u32,
    /// Pairs that were dropped.
    pub dropped: u32,
    /// Why it ended; `None`: it did not come to its end.
    pub stop: Option<StopCause>,
    /// How far counters moved in the trials with the squeeze, summed up.
    pub bites: Vec<SqueezeBite>,
    /// Why it says nothing; `None`: it does.
    pub void: Option<String>,
}

/// The word for a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowWord {
    /// Taking it away costs about as much as was taken: it is the bottleneck.
    Limits,
    /// It costs something.
    Matters,
    /// It costs next to nothing.
    Spare,
    /// The interval is too wide to say.
    CannotTell,
    /// The squeeze did not bite, or nothing could be measured.
    Void,
}

/// The sum of elasticities.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ElasticitySum {
    /// The sum.
    pub point: f64,
    /// Both ends of its 95% interval.
    pub interval: [f64; 2],
    /// How many rates are in it.
    pub rates_count: u32,
    /// What it says.
    pub word: SumWord,
    /// The same in a sentence.
    pub sentence: String,
}

/// What the sum says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SumWord {
    /// About 1: what limits the server is in the list.
    Complete,
    /// Less: a resource is missing from the list.
    Missing,
    /// More: several resources bind at once.
    Several,
    /// The interval is too wide to say.
    CannotTell,
}
