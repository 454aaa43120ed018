//! What happened in one second of a load, or in several seconds of a long run.

use super::counts::Counts;
use crate::failure::Failures;
use crate::plan::PhaseKind;
use crate::units::MonoNs;
use serde::{Deserialize, Serialize};

/// One interval of one phase, all threads merged: at most one second, or several in one where a run is long.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The trial.
    pub trial: u32,
    /// Position of the phase in the trial's plan.
    pub phase_index: u32,
    /// What the phase is for.
    pub phase: PhaseKind,
    /// Begin of the interval.
    pub begin_mono_ns: MonoNs,
    /// End of the interval.
    pub end_mono_ns: MonoNs,
    /// What happened in it. `in_flight` is zero except in the last interval of a trial.
    pub counts: Counts,
    /// Failed requests by class.
    pub failures: Failures,
    /// Bytes received, heads included.
    pub received_bytes: u64,
    /// Connections that were established.
    pub connections_opened: u64,
    /// Requests between send and last byte when the interval ended.
    pub in_flight_at_end: u64,
    /// Users in a session when the interval ended; `None`: the load has no users, or the record
    /// is older.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users_at_end: Option<u64>,
    /// CPU time of each generator thread in the interval. Unit: nanoseconds. Source: `CLOCK_THREAD_CPUTIME_ID`.
    pub thread_cpu_ns: Vec<u64>,
    /// Median of response time (open) or service time (closed); `None` without samples.
    pub p50_ns: Option<u64>,
    /// Its 99th percentile, shown even if the interval alone hardly supports it.
    pub p99_ns: Option<u64>,
    /// Extremes of the intervals that it covers; `None` if it is a single interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condensed: Option<CondensedInterval>,
}

/// Extremes of several intervals merged into one. `None`: none of them has such a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CondensedInterval {
    /// How many intervals there were.
    pub intervals_count: u32,
    /// Arrivals per second.
    pub scheduled_hz: Option<Extremes>,
    /// Completed requests per second, valid or not, and timed out.
    pub completed_hz: Option<Extremes>,
    /// Failed and timed-out requests per second.
    pub errors_hz: Option<Extremes>,
    /// Requests in flight at the end of an interval.
    pub in_flight_at_end: Option<Extremes>,
    /// Users in a session at the end of an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users_at_end: Option<Extremes>,
    /// CPU time of all generator threads. Unit: nanoseconds per second.
    pub cpu_ns_per_second: Option<Extremes>,
    /// Median of an interval.
    pub p50_ns: Option<Extremes>,
    /// 99th percentile of an interval.
    pub p99_ns: Option<Extremes>,
}

/// The least and the greatest of several values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Extremes {
    /// The least.
    pub low: f64,
    /// The greatest.
    pub high: f64,
}

impl Extremes {
    /// Those of one value.
    pub fn one(value: f64) -> Extremes {
        Extremes { low: value, high: value }
    }
}
