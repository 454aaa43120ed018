//! Everything that sysdyno writes down: types, units, and the run folder that holds them.
//!
//! Promise: this crate never measures and never decides. It turns values that others measured into bytes on disk and
//! back. `docs/reference/formats/run.md` specifies the format and was written first; if code and text differ, one of them has a
//! bug.
//!
//! Constraints that shape the crate:
//! - a run folder is append-only while the run lasts, and every prefix of it is readable;
//! - everything read back is hostile: sizes are capped before allocation, nothing is followed, nothing is executed;
//! - a value that was not measured is `None`, never zero;
//! - the unit is the last word of a name, or the type is the unit.

pub mod allowance;
pub mod analysis;
pub mod autotune;
pub mod change;
pub mod column;
pub mod command;
pub mod comparison;
pub mod condense;
pub mod effect;
pub mod error;
pub mod event;
pub mod experiment;
pub mod facts;
pub mod failure;
pub mod fleet;
pub mod hlog;
pub mod json;
pub mod judged;
pub mod links;
pub mod live;
pub mod load;
pub mod log;
pub mod manifest;
pub mod metrics;
mod named;
pub mod origin;
pub mod path;
pub mod place;
pub mod plan;
pub mod power;
pub mod probe;
pub mod profile;
pub mod progress;
pub mod proof;
pub mod ramp;
pub mod ranges;
pub mod remote;
pub mod route;
pub mod scoreboard;
pub mod series;
pub mod service;
pub mod session;
pub mod spread;
pub mod squeeze;
mod steps;
pub mod store;
pub mod tryout;
pub mod units;
pub mod view;
pub mod watched;
pub mod wire;
pub mod work;
pub mod workload;

pub use error::RecordError;
