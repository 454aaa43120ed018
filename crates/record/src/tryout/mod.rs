//! Tryouts: B against A, in pairs of trials in random order, and the result.
//!
//! A tryout has its own run folder. `plan.json` says what is compared, by which metric, and when the tryout ends; it is
//! written before the first trial. `experiment.jsonl` has a line for what the pilot settled, for each trial, and for each
//! pair; `experiment.json` is the conclusion, which follows from the two. Format: `docs/reference/formats/try.md`.

mod conclusion;
mod metric;
mod plan;
mod trial;

pub use conclusion::{
    CONCLUSION_SCHEMA, Calibration, ChangeShown, Diagnostic, DiagnosticKind, GuardrailOutcome,
    GuardrailState, Resolution, StageConclusion, StopCause, TryConclusion,
};
pub use metric::Metric;
pub use plan::{Action, EnvironmentLimits, GuardrailPlan, PairCaps, RatePlan, TryPlan, TryWorkload, Variant};
pub use trial::{Environment, Pair, ReadBack, Settled, Stage, StageKind, TrialArm, TryLine, TryTrial};

#[cfg(test)]
mod tests;
