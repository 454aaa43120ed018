//! Runs a plan: trial after trial through an agent, recording everything at once.
//!
//! ```text
//!   facts, processes ─► sampling on ─► { begin ─► load ─► end ─► check ─► what next? ─► rest } … ─► sampling off
//! ```
//! `analyze` decides what comes next; this module carries it out and records it.

mod change;
mod conditions;
mod held;
mod journal;
mod profiled;
mod recent;
mod server;
mod steps;
mod tryout;
mod watched;
mod watching;
mod within;

pub use change::Tuning;
pub use conditions::Conditions;
pub use held::HeldHere;
pub use journal::{RunJournal, SoFar, Watcher};
pub use steps::{AskServices, Hosts, SamplingPlan, load, run};
pub use tryout::{SqueezeEnd, SqueezeOrder, TryEnd, TryOrder, planned_changes, squeeze, tryout};
pub use within::{SettingGround, hold_within};

#[cfg(test)]
mod tests;
