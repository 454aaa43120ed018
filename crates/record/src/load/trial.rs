//! A trial: how it began, why it ended, and its result.

use super::counts::Counts;
use super::phase::{GeneratorSummary, LearntBody, PhaseSummary};
use crate::named::named;
use crate::plan::LoadPlan;
use crate::session::SessionOperationSummary;
use crate::spread::GeneratorShare;
use crate::units::MonoNs;
use crate::workload::OperationSummary;
use serde::{Deserialize, Serialize};

/// Why a trial ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialEnding {
    /// All phases ran.
    Complete,
    /// The user or a signal stopped it; the drain still ran.
    Interrupted,
    /// A hard stop fired; the text says which.
    HardStop(String),
}

named! {
    /// What a trial is for.
    TrialPurpose {
        /// The only trial of `load`.
        Single "single";
        /// Closed loop, to learn the order of magnitude.
        Pilot "pilot";
        /// Open loop, to enclose the capacity between a pass and a fail.
        Bracket "bracket";
        /// One cell of the replicated grid.
        Grid "grid";
        /// A fresh pass at the certified rate.
        Certify "certify";
        /// One point of the closed-loop curve.
        Sweep "sweep";
        /// One of a pair of a tryout.
        Try "experiment";
    }
}

/// The first record of a trial, written before its first connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialBegin {
    /// Number of the trial in the run, from 1.
    pub trial: u32,
    /// What it is for.
    pub purpose: TrialPurpose,
    /// When it began.
    pub begin_mono_ns: MonoNs,
    /// The load, complete.
    pub plan: LoadPlan,
}

/// The last record of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialEnd {
    /// Number of the trial in the run, from 1.
    pub trial: u32,
    /// When its drain was over.
    pub end_mono_ns: MonoNs,
    /// Why it ended.
    pub ending: TrialEnding,
    /// Its result.
    pub summary: TrialSummary,
}

/// The result of a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialSummary {
    /// The measured phases together.
    pub measured: PhaseSummary,
    /// Every phase apart, the drain included.
    pub phases: Vec<PhaseSummary>,
    /// The whole trial, warm-up included: what the server has seen.
    pub total: Counts,
    /// The generator on itself.
    pub generator: GeneratorSummary,
    /// Body checksum and length learnt from the first valid responses; `None` if none came.
    pub learnt_body: Option<LearntBody>,
    /// The operations of the plan, in its order; empty where it has one request only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<OperationSummary>,
    /// The operations of users, in the order of the plan; empty without users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub session: Vec<SessionOperationSummary>,
    /// What each of several hosts had of it, in the order of the plan; empty where this process alone sends.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub generators: Vec<GeneratorShare>,
}
