//! The result of a phase, and what the generator measured about itself meanwhile.

use super::counts::Counts;
use super::latency::LatencyKind;
use super::percentiles::LatencySummary;
use crate::failure::{FailureClauses, Failures};
use crate::plan::PhaseKind;
use crate::units::MonoNs;
use crate::wire::{CacheCounts, HandshakeCounts};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One phase of a trial, summed over threads and intervals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PhaseSummary {
    /// What the phase was for.
    pub kind: PhaseKind,
    /// Begin of the phase.
    pub begin_mono_ns: MonoNs,
    /// End of the phase: of new requests, not of the responses.
    pub end_mono_ns: MonoNs,
    /// Requests by outcome, assigned to the phase of their intended send.
    pub counts: Counts,
    /// Failed requests by class.
    pub failures: Failures,
    /// What the server said with the first failure of a class, where it said anything.
    #[serde(default, skip_serializing_if = "FailureClauses::is_empty")]
    pub told: FailureClauses,
    /// Rate asked for, `None` in a closed process. Unit: requests per second.
    pub offered_hz: Option<f64>,
    /// Rate of completed requests, valid or not. Unit: requests per second.
    pub achieved_hz: f64,
    /// Rate of completed and valid requests. Unit: requests per second.
    pub goodput_hz: f64,
    /// Bytes received, heads included.
    pub received_bytes: u64,
    /// Connections that were established.
    pub connections_opened: u64,
    /// Connections that the server closed while no request was on them.
    pub connections_closed_idle: u64,
    /// Final responses by status code, whether ok or not.
    pub statuses: BTreeMap<u16, u64>,
    /// How connections were secured; `None` without TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handshakes: Option<HandshakeCounts>,
    /// What became of the keys of a memcached load; `None` for HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheCounts>,
    /// Latency by kind; kinds without samples are left out.
    pub latency: BTreeMap<LatencyKind, LatencySummary>,
    /// How long responses lay unread after the kernel got them, on average; part of no latency. `None`: they were not
    /// stamped. Unit: nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread_mean_ns: Option<f64>,
}

/// What the generator measured of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GeneratorSummary {
    /// Generator threads.
    pub threads: u32,
    /// CPUs that they were pinned to, `None` where they were not.
    pub cpus: Vec<Option<u32>>,
    /// CPU time of all generator threads over the measured phases. Unit: seconds.
    pub cpu_seconds: f64,
    /// Share of one CPU that the busiest thread used over the measured phases, without its spinning.
    pub busiest_thread_ratio: f64,
    /// Error of the engine's timer at the start: how late a sleep ends.
    pub timer_error: TimerError,
    /// The back end of the event loop: `io_uring` or `epoll`.
    pub io: String,
    /// Why it is not io_uring; `None` if it is, or if epoll was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_fallback: Option<String>,
    /// CPU time that was spent spinning before what was due, part of `cpu_seconds`; 0 where it sleeps instead. Unit:
    /// seconds.
    #[serde(default)]
    pub spin_seconds: f64,
    /// Why the spinning was given up; `None` if it was not, or never was begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spin_ended: Option<String>,
    /// Gaps between neighboring arrivals as they were noticed, of the phases in which the timer can tell them apart.
    /// Unit: nanoseconds; at most 1,000, evenly thinned.
    pub gap_sample_ns: Vec<u64>,
    /// Gaps by phase and thread, for the check of the arrival process; empty in a closed process and in older records.
    #[serde(default)]
    pub arrival_gaps: Vec<GapSample>,
    /// Greatest number of arrivals that waited for a connection at one time.
    pub backlog_max: u64,
}

/// Gaps of one thread's arrivals in one measured phase, evenly thinned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GapSample {
    /// Position of the phase in the trial's plan.
    pub phase_index: u32,
    /// Arrivals that each gap spans: 1 from each to the next, more where the timer cannot tell neighbors apart.
    pub arrivals_count: u32,
    /// Lengths of the gaps. Unit: nanoseconds.
    pub gaps_ns: Vec<u64>,
}

/// How late the engine's sleeps end, measured before the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimerError {
    /// Median lateness. Unit: nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile of lateness. Unit: nanoseconds.
    pub p99_ns: u64,
    /// Number of sleeps measured.
    pub count: u64,
}

/// The body that later ones were compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearntBody {
    /// CRC-32 (IEEE) of the body.
    pub crc32: u32,
    /// Its length.
    pub body_bytes: u64,
}
