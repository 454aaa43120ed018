//! Runs a plan: trial after trial through an agent, everything written down at once.
//!
//! ```text
//!   facts, processes ─► sampling on ─► { begin ─► load ─► end ─► check ─► what next? ─► rest } … ─► sampling off
//! ```
//! What comes next is `analyze`'s decision; that it is carried out and recorded is this module's.

mod change;
mod conditions;
mod experiment;
mod held;
mod journal;
mod recent;
mod server;
mod steps;
mod watched;
mod within;

pub use change::Tuning;
pub use conditions::Conditions;
pub use experiment::{ExperimentEnd, ExperimentOrder, experiment, planned_changes};
pub use held::HeldHere;
pub use journal::{RunJournal, SoFar, Watcher};
pub use steps::{AskServices, Hosts, SamplingPlan, load, run};
pub use within::{SettingGround, hold_within};

use sysdyno_record::load::TrialPurpose;
use sysdyno_record::plan::PhaseKind;

/// How far a plan is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunProgress {
    /// The trial, from 1.
    pub trial: u32,
    /// What it is for.
    pub purpose: TrialPurpose,
    /// What the load does now.
    pub phase: PhaseKind,
    /// Rate asked for; `None` in a closed process. Unit: requests per second.
    pub offered_hz: Option<f64>,
    /// Clients that send now, where their number changes.
    pub clients_count: Option<u32>,
    /// Rate of completions in the last interval. Unit: requests per second.
    pub achieved_hz: Option<f64>,
    /// 99th percentile of the last interval. Unit: nanoseconds.
    pub p99_ns: Option<u64>,
    /// Failed and timed-out requests of the trial so far.
    pub errors_count: u64,
    /// Time since the plan began. Unit: nanoseconds.
    pub elapsed_ns: u64,
    /// Time that it still takes, as far as that is known. Unit: nanoseconds.
    pub left_ns: Option<u64>,
}

#[cfg(test)]
mod tests;
