//! Experiments: B against A, in pairs of trials in random order, and what came of it.
//!
//! An experiment is a run folder of its own. `plan.json` says what is compared by which metric and when it ends, and is
//! written before the first trial; `experiment.jsonl` has a line for what the pilot settled, for each trial and for each
//! pair; `experiment.json` is the conclusion, which follows from the two. Format: `docs/reference/formats/experiment.md`.

mod change;
mod conclusion;
mod metric;
mod plan;
mod trial;

pub use change::NoChange;
pub use conclusion::{
    CONCLUSION_SCHEMA, Calibration, ChangeShown, Diagnostic, DiagnosticKind, ExperimentConclusion,
    GuardrailOutcome, GuardrailState, Resolution, StageConclusion, StopCause,
};
pub use metric::Metric;
pub use plan::{
    Action, CommandSpec, EnvironmentLimits, ExperimentPlan, GuardrailPlan, PairCaps, RatePlan, SettingChange,
    Variant, Workload,
};
pub use trial::{
    Environment, ExperimentLine, ExperimentTrial, Pair, ReadBack, Settled, Stage, StageKind, TrialArm,
};

#[cfg(test)]
mod tests;
