//! What is tuned, how far, and what may be touched.

use crate::allowance::Allowance;
use crate::experiment::ExperimentPlan;
use crate::units::SpanNs;
use serde::{Deserialize, Serialize};

/// Schema of the plan.
pub const AUTOTUNE_SCHEMA: &str = "sysdyno.autotune/1";

/// What is tuned, before it begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AutotunePlan {
    /// [`AUTOTUNE_SCHEMA`].
    pub schema: String,
    /// The server as it is: one variant, with what a trial of it is. Every step is this with other variants.
    pub base: ExperimentPlan,
    /// What may be touched.
    pub allow: Vec<Allowance>,
    /// No step is begun that would end later, apart from the comparison at the end.
    pub budget: SpanNs,
    /// Most rounds of suggestions.
    pub rounds: u32,
    /// Most candidates of a round.
    pub candidates: u32,
    /// Most blocks in which candidates are compared with each other.
    pub race_blocks: u32,
    /// Most blocks in which the best of them is measured once more, and the end against the beginning.
    pub proof_blocks: u32,
    /// The smallest effect that is worth keeping a change for. Unit: ratio.
    pub effect_ratio: f64,
    /// Whether what was kept stays in force at the end.
    pub keeps: bool,
}
