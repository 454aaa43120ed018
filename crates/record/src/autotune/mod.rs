//! The way from a server as it is to one that does more: what was seen, suggested, tried, kept, and taken back.
//!
//! Source: the format is `docs/reference/formats/autotune.md`. Every step is an experiment in its own folder; this records only
//! which steps there were, what followed from them, and what is in force at the end.

mod conclusion;
mod line;
mod plan;
mod seen;

pub use conclusion::{AUTOTUNE_RESULT_SCHEMA, AutotuneConclusion, AutotuneEnding, TriedChange, TriedWord};
pub use line::{AutotuneLine, StepArm, StepBegan, StepEnded, StepKind};
pub use plan::{AUTOTUNE_SCHEMA, Allowance, AutotunePlan};
pub use seen::{CandidateChange, SeenFinding, SeenServer, SeenSetting};
