//! What happened, line by line: a step is written down before it begins and after it is over.

use super::{CandidateChange, SeenServer};
use crate::effect::{Comparison, Effect};
use crate::named::named;
use serde::{Deserialize, Serialize};

/// A line of `steps.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AutotuneLine {
    /// A step begins.
    Began(StepBegan),
    /// It is over.
    Ended(Box<StepEnded>),
}

named! {
    /// What a step is for.
    StepKind {
        /// The server is loaded as it is, to see what stops it.
        Look "look";
        /// All candidates of a round, against the server as it is by now.
        Race "race";
        /// The best of them once more, in trials of which nothing was chosen.
        Proof "proof";
        /// Each kept change is left out once.
        Ablation "ablation";
        /// All that was kept against the server as it was found.
        Outcome "outcome";
    }
}

/// A step that begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepBegan {
    /// Its number, from 1.
    pub step: u32,
    /// The round of suggestions, from 1.
    pub round: u32,
    /// What it is for.
    pub kind: StepKind,
    /// What is compared with the first variant, in the order of the variants after it.
    pub candidates: Vec<CandidateChange>,
    /// Changes that are in force in the first variant.
    pub kept: Vec<CandidateChange>,
    /// The folder of its experiment, below `steps`. Untrusted.
    pub folder: String,
}

/// A step that is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepEnded {
    /// Its number.
    pub step: u32,
    /// What the first variant did, by the metric that decides: its median over the trials; `None`: there is none.
    pub baseline: Option<f64>,
    /// What came of each candidate, in their order.
    pub arms: Vec<StepArm>,
    /// The server, as the last trial of the first variant saw it; `None`: nothing was seen.
    pub seen: Option<SeenServer>,
    /// How long it took. Unit: nanoseconds.
    pub elapsed_ns: u64,
}

/// What came of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepArm {
    /// The metric with it ÷ without it; `None`: it could not be measured.
    pub effect: Option<Effect>,
    /// The word.
    pub word: Comparison,
    /// Probability of such an effect where there is none; `None`: it was not computed.
    pub p: Option<f64>,
    /// The same in a sentence. Untrusted text.
    pub sentence: String,
    /// Metrics that got worse by themselves, such as failures. Untrusted text.
    pub worse: Vec<String>,
}
