//! From what was seen of a server to changes that are worth a try, and from trials to changes that are kept.
//!
//! Nothing here measures or changes anything: [`propose`] suggests, [`AutotuneCourse`] says which step comes next, [`conclude`]
//! says what came of all. [`remedies`] is the knowledge, as a table.

mod arms;
#[cfg(test)]
mod calibration;
mod conclude;
mod course;
mod propose;
mod remedy;
mod seen;
mod sentence;
mod step;
mod table;
#[cfg(test)]
mod tests;

pub use arms::{ArmTrial, arms};
pub use conclude::{AutotuneEnd, conclude};
pub use course::AutotuneCourse;
pub use propose::{identity, is_allowed, propose};
pub use remedy::{Remedy, RemedyChange, ValueStep};
pub use seen::seen;
pub use sentence::{bare_effect, step_sentence};
pub use step::{arms_count, step_plan};
pub use table::remedies;
