//! From a record to verdict, capacity, findings.
//!
//! Promise: this crate does no input or output and never states a finding without evidence. Everything is a function of
//! what was recorded, so that the analysis of a run can be derived again at any time and by anyone.
//!
//! Constraints that shape the crate:
//! - the verdict comes before the number: what is not the server's is at best a lower bound ([`verdict`], [`analyze`]);
//! - a reading that is missing is neither 0 nor a contradiction; rules that need it are silent ([`readings`]);
//! - a limit in a rule is a [`threshold::Threshold`] with unit and source, and the reference is made from the same value;
//! - records are hostile: no number in them makes the analysis panic or print something that is not a number.

mod analysis;
pub mod autotune;
pub mod capacity;
pub mod compare;
mod curve;
mod early;
mod examined;
pub mod experiment;
pub mod facts;
pub mod fail_if;
pub mod findings;
mod format;
mod headline;
mod intervals;
pub mod judge;
mod limit;
pub mod links;
pub mod live;
mod logged;
pub mod outcome;
mod path;
pub mod probe;
pub mod profile;
pub mod proof;
mod ramp;
pub mod readings;
mod run_verdict;
pub mod search;
mod session;
pub mod squeeze;
pub mod threshold;
pub mod tryout;
pub mod verdict;
mod view;
mod watched;
pub mod work;

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod simulated;
#[cfg(test)]
mod tests;

pub use analysis::analyze;
pub use format::counted;
pub use logged::{LoggedMessage, logged_within};
pub use verdict::RESPONSES_FOR_P99;
pub use view::TrialView;
