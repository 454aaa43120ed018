//! Can the numbers be trusted? Every known way in which a measurement goes wrong is one [`Check`].
//!
//! [`CHECKS`] lists all of them, in the order of the reference; checks do not register themselves. A check looks at one
//! trial and then does nothing, makes a remark ([`VerdictStatus::Valid`]), or lowers the verdict. A missing reading never
//! fires a check: data that could not be read is neither good nor bad.
//!
//! Limits: a check of one trial cannot distinguish two causes that look the same in it (too few connections, a server that
//! queues). The search compares trials to do that, in [`crate::capacity`].
//!
//! [`VerdictStatus::Valid`]: sysdyno_record::analysis::VerdictStatus::Valid

mod check;
mod cpu;
mod ending;
mod generator;
mod host;
mod outsider;
mod reached;
mod registry;
mod responses;
pub(crate) mod run;
mod spread;
mod stationary;
mod timing;
pub(crate) mod work;

#[cfg(test)]
mod tests;

pub use check::Check;
pub(crate) use check::{Concern, Culprit, Observation, verdict_of};
pub(crate) use cpu::{SERVER_SATURATED, foreign_cpus, generator_cpus, is_server_saturated, own_busy_ratio};
pub(crate) use generator::{CONCURRENCY_BOUND, CPU_BOUND, LAG, is_generator_full, throttled_share};
pub(crate) use host::{FOREIGN_LOAD, named_others};
pub use registry::{CHECKS, check_trial};
pub(crate) use registry::{is_about, is_blamed_on, is_end_of_search, is_raised_by_errors};
pub use responses::RESPONSES_FOR_P99;
pub(crate) use responses::{ACHIEVED_RATE, ANSWERED_CLASSES, CONTENT};
pub(crate) use stationary::NON_STATIONARY;
pub(crate) use timing::{arrival_fit, standstill_seconds};
