//! From options and files to a checked plan: loads, searches for the capacity, trials of changes, experiments, and work.
//!
//! Promise: this crate does no input or output beyond reading the given files and looking up the server's name, and it never
//! leaves a plan half-checked. User input is a draft ([`LoadDraft`], [`SearchDraft`], [`TryDraft`], [`SqueezeDraft`], [`ExperimentDraft`],
//! [`AutotuneDraft`],
//! [`WorkDraft`], [`ProbeDraft`]); its `finish` fills in every default, makes every check in one order, and returns the plan
//! with notes for the user. There is no other way to make a plan.
//!
//! Everything else that a plan depends on is passed in as [`PlanHost`]: seeds, CPUs, ports, labs. The same draft on the same
//! host makes the same plan.

mod autotune;
mod change;
mod command;
mod draft;
mod experiment;
pub mod fault;
mod file;
pub mod forecast;
mod host;
mod load;
pub mod options;
mod probe;
mod ramp;
mod request;
mod search;
mod session;
mod spread;
mod squeeze;
#[cfg(test)]
mod testing;
mod tryout;
mod values;
mod wire;
mod work;
mod workload;

pub use autotune::AutotuneDraft;
pub use draft::{BaseDraft, Checked};
pub use experiment::{ExperimentDraft, resolve_again, with_words};
pub use file::{MAX_FILE_BYTES, read as read_file};
pub use host::{ExperimentLab, PlanHost};
pub use load::LoadDraft;
pub use probe::{PlannedProbe, ProbeDraft};
pub use request::SAMPLING_HZ;
pub use search::{SearchDraft, SearchUse};
pub use squeeze::SqueezeDraft;
pub use tryout::{TimedCommand, TryDraft};
pub use work::WorkDraft;
