//! What came of it, as in `autotune.json`. It follows from the plan and the lines alone.

use super::CandidateChange;
use crate::effect::Effect;
use crate::named::named;
use serde::{Deserialize, Serialize};

/// Schema of the conclusion.
pub const AUTOTUNE_RESULT_SCHEMA: &str = "sysdyno.autotune-result/1";

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AutotuneConclusion {
    /// [`AUTOTUNE_RESULT_SCHEMA`].
    pub schema: String,
    /// The result in one sentence, as terminal and report print it first.
    pub headline: String,
    /// The metric that decides, in words.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// What the server did as it was found, by trials at the end; `None`: it was not measured. Unit: the metric's.
    pub before: Option<f64>,
    /// What all that is kept makes of it; `None`: nothing is kept, or it was not measured.
    pub outcome: Option<Effect>,
    /// Whether that was proven better, by trials of which nothing was chosen.
    pub is_proven: bool,
    /// What is kept.
    pub kept: Vec<CandidateChange>,
    /// Whether what is kept is in force.
    pub is_in_force: bool,
    /// All that was tried, in this order.
    pub tried: Vec<TriedChange>,
    /// What would have been tried had it been allowed.
    pub not_allowed: Vec<CandidateChange>,
    /// What is given up by what is kept, in sentences.
    pub given_up: Vec<String>,
    /// What seemed to be the bottleneck at first and at last, in sentences; empty: nothing. Untrusted text.
    pub bottlenecks: [Option<String>; 2],
    /// Why it ended.
    pub ending: AutotuneEnding,
    /// Steps that were made.
    pub steps_count: u32,
    /// How long it took. Unit: nanoseconds.
    pub elapsed_ns: u64,
}

/// A change that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TriedChange {
    /// The change.
    pub candidate: CandidateChange,
    /// The round of suggestions, from 1.
    pub round: u32,
    /// The word for it.
    pub word: TriedWord,
    /// The last effect that was measured of it: of its proof, where there was one. `None`: it could not be measured.
    pub effect: Option<Effect>,
    /// The folders of the experiments that show it, below `steps`. Untrusted.
    pub folders: Vec<String>,
    /// All of it in a sentence. Untrusted text.
    pub sentence: String,
}

named! {
    /// The word for a change that was tried.
    TriedWord {
        /// It helps, proven by fresh trials, and is kept.
        Kept "kept";
        /// It was kept, and taken back since the others do as well without it.
        TakenBack "taken-back";
        /// It came out ahead, and fresh trials did not confirm that.
        NotProven "not-proven";
        /// It makes no difference that matters.
        NoDifference "no-difference";
        /// It is worse.
        Worse "worse";
        /// Too little was measured to tell.
        CannotTell "cannot-tell";
    }
}

named! {
    /// Why it ended.
    AutotuneEnding {
        /// Nothing is left that could help.
        Exhausted "exhausted";
        /// Only changes are left that were not allowed.
        NotAllowed "not-allowed";
        /// The budget is spent.
        Budget "budget";
        /// The most rounds that the plan allowed were made.
        Rounds "rounds";
        /// It was interrupted.
        Interrupted "interrupted";
    }
}
