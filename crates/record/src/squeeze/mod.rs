//! Squeezes: a little of one resource is taken away, and what is lost tells how much the resource matters.
//!
//! A squeeze is a tryout with many comparisons. `plan.json` says what is loaded, and how deep resources are squeezed. After
//! the pilot, a line of `experiment.jsonl` says which resources were found and what each variant takes; the trials and pairs
//! are those of a tryout. `squeeze.json` is the conclusion, which follows from these. Format:
//! `docs/reference/formats/squeeze.md`.

mod action;
mod bite;
mod conclusion;
mod plan;
mod threshold;

pub use action::{BurnKind, BurnSpec, Contrast, SqueezeAction};
pub use bite::{BiteCounter, SqueezeBite};
pub use conclusion::{
    Elasticity, ElasticitySum, RowWord, SQUEEZE_SCHEMA, SqueezeConclusion, SqueezeRow, SumWord,
    may_be_in_list,
};
pub use plan::{LeftOutResource, ResourceKind, SqueezePlan, SqueezedResource, SqueezedResources};
pub use threshold::{ResourceThreshold, ThresholdKind};
