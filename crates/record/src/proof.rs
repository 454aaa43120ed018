//! What experiments showed of a run's findings.

use crate::effect::Effect;
use crate::named::named;
use crate::units::MonoNs;
use serde::{Deserialize, Serialize};

/// Schema of the document.
pub const PROOFS_SCHEMA: &str = "sysdyno.proofs/1";

/// All that was tried after a run; the content of `proofs.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingProofs {
    /// [`PROOFS_SCHEMA`].
    pub schema: String,
    /// In the order in which it was tried.
    pub proofs: Vec<FindingProof>,
}

/// One experiment about one finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingProof {
    /// The rule of the finding, e.g. `T01`.
    pub finding: String,
    /// How it was tried.
    pub means: ProofMeans,
    /// What was changed (`net.core.somaxconn=4096`) or taken away (`CPU`); empty: nothing could be tried. Untrusted text.
    pub tried: String,
    /// The folder of the experiment among the runs; `None`: it did not begin.
    pub run: Option<String>,
    /// What it says of the finding.
    pub outcome: ProofOutcome,
    /// How far the goodput moved, B ÷ A; `None`: not measured.
    pub effect: Option<Effect>,
    /// The same in a sentence.
    pub sentence: String,
    /// When it began.
    pub begin_mono_ns: MonoNs,
    /// When it ended.
    pub end_mono_ns: MonoNs,
}

named! {
    /// How a finding is tried.
    ProofMeans {
        /// By the change that answers it: if that helps, the finding is right.
        Change "change";
        /// By taking some of the resource away: if that costs goodput, the finding is right.
        Squeeze "squeeze";
        /// Not at all: nothing fits that may be done.
        Nothing "nothing";
    }
}

named! {
    /// What an experiment says of a finding.
    ProofOutcome {
        /// It is right.
        Confirmed "confirmed";
        /// It is not what limits the server.
        Refuted "refuted";
        /// The interval is too wide to say.
        Undecided "undecided";
        /// Nothing was tried.
        Untried "untried";
    }
}
