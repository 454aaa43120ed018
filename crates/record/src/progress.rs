//! How far a run is, while it lasts.

use crate::load::TrialPurpose;
use crate::plan::PhaseKind;

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
