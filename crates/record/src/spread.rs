//! A load that several hosts send together: the hosts, the part of each, and the forms in which a host reports its part while
//! it sends.
//!
//! The threads of all hosts are the threads of one load: thread `k` runs on host `k mod n`. So everything that is split over
//! threads is split over hosts by the same rule, and the sums over all hosts are the sums of the load.

use crate::failure::WrongAnswers;
use crate::load::{
    Counts, FailureClauses, Failures, GapSample, GeneratorSummary, LatencyKind, LearntBody, PhaseSummary,
    TimerError,
};
use crate::remote::ClockOffset;
use crate::units::MonoNs;
use crate::wire::{CacheCounts, HandshakeCounts};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most hosts that send one load.
pub const MAX_GENERATORS: usize = 64;

/// Longest bodies of requests, together, that go to another host, which is told them as numbers. Unit: bytes.
pub const MAX_SPREAD_BODY_BYTES: usize = 2 << 20;

/// What one of several hosts had of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GeneratorShare {
    /// The host, as it was typed. Untrusted text.
    pub name: String,
    /// Connections of the load that are its own.
    pub connections: u64,
    /// The measured phases, as this host alone saw them.
    pub measured: PhaseSummary,
    /// The whole trial, warm-up included.
    pub total: Counts,
    /// The host's generator on itself.
    pub generator: GeneratorSummary,
    /// How its clock lay beside that of the measuring host before this trial; its instants were moved by that.
    pub clock: ClockOffset,
    /// The body that it learnt; `None` if no valid response came, or there is more than one request.
    #[serde(default)]
    pub learnt_body: Option<LearntBody>,
    /// Why it was lost; `None`: it was not. What was open then is counted as in flight, or unsent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}

impl GeneratorShare {
    /// Requests of the measured phases that were due and did not end well.
    pub fn not_ok_count(&self) -> u64 {
        let counts = &self.measured.counts;
        counts.failed.saturating_add(counts.timed_out).saturating_add(counts.unsent)
    }
}

/// What a host says while it has its part of a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartReport {
    /// Its threads are set up, and no connection is made yet.
    Ready(PartReady),
    /// Its connections are made, as far as they can be.
    Connected,
    /// A thread's window is over.
    Window(Box<PartWindow>),
    /// A thread has ended.
    Finished(PartFinish),
    /// All threads have ended.
    Over(PartEnd),
}

/// What a host sends with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartReady {
    /// CPUs of its threads, `None` where they are not pinned.
    pub cpus: Vec<Option<u32>>,
    /// The worst timer error of its threads.
    pub timer_error: TimerError,
    /// The back end of its event loops.
    pub io: String,
    /// Why it is not io_uring.
    pub io_fallback: Option<String>,
}

/// What one thread measured in one window, on its host's clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartWindow {
    /// Number of the thread in the load.
    pub thread: u32,
    /// Number of the window in the trial; the same for all threads.
    pub index: u32,
    /// Begin of the window.
    pub begin_mono_ns: MonoNs,
    /// End of the window.
    pub end_mono_ns: MonoNs,
    /// Its phase.
    pub phase: u32,
    /// What was counted, by the phase of the intended send.
    pub tallies: Vec<PartTally>,
    /// Requests between send and last byte at its end.
    pub in_flight: u64,
    /// Users in a session at its end; `None`: the load has no users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<u64>,
    /// CPU time of the thread in it. Unit: nanoseconds.
    pub cpu_ns: u64,
    /// Of that, the part that was spent spinning. Unit: nanoseconds.
    pub spun_ns: u64,
}

/// What one thread counted of one phase in one window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartTally {
    /// Position of the phase in the plan; the drain comes behind all of them.
    pub phase: u32,
    /// Requests by outcome.
    pub counts: Counts,
    /// Responses that were complete, valid or not.
    pub completed: u64,
    /// Failed requests by class.
    pub failures: Failures,
    /// What the server said with the first failure of a class.
    #[serde(default, skip_serializing_if = "FailureClauses::is_empty")]
    pub told: FailureClauses,
    /// What the server answered where the response was wrong.
    #[serde(default, skip_serializing_if = "WrongAnswers::is_empty")]
    pub answers: WrongAnswers,
    /// Responses by status code.
    pub statuses: BTreeMap<u16, u64>,
    /// Bytes received.
    pub received_bytes: u64,
    /// Connections that were established.
    pub connections_opened: u64,
    /// Connections that the server closed while no request was on them.
    pub connections_closed_idle: u64,
    /// How long complete responses lay unread, together. Unit: nanoseconds.
    pub unread_ns: u64,
    /// Keys of a memcached load.
    pub cache: CacheCounts,
    /// How connections were secured.
    pub handshakes: HandshakeCounts,
    /// Values of each kind of latency as pairs of a value in nanoseconds and its number, ascending; written as steps.
    #[serde(with = "crate::steps::by_kind")]
    pub latency: BTreeMap<LatencyKind, Vec<[u64; 2]>>,
    /// Response times that are only lower bounds: their number, and the least in nanoseconds.
    pub response_bounds: Option<[u64; 2]>,
    /// The same of service times.
    pub service_bounds: Option<[u64; 2]>,
    /// The same by operation of a mix, in the order of the plan; empty where there is one request only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<PartOperation>,
}

/// What one thread counted of one operation, of one phase in one window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartOperation {
    /// Requests by outcome.
    pub counts: Counts,
    /// Failed requests by class.
    pub failures: Failures,
    /// Bytes received.
    pub received_bytes: u64,
    /// Responses that said that what the client has is still good.
    pub not_modified: u64,
    /// Response times of an open load, service times of a closed one, as pairs of a value in nanoseconds and its number,
    /// ascending; written as steps.
    #[serde(with = "crate::steps::list")]
    pub latency: Vec<[u64; 2]>,
    /// Those of them that are only lower bounds: their number, and the least in nanoseconds.
    pub bounds: Option<[u64; 2]>,
}

/// What a thread knows at its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartFinish {
    /// Number of the thread in the load.
    pub thread: u32,
    /// Gaps between its arrivals.
    pub gaps: Vec<GapSample>,
    /// Greatest number of arrivals that waited for a connection at one time.
    pub backlog_max: u64,
    /// Why it stopped spinning.
    pub spin_ended: Option<String>,
    /// When the last outcome was known or given up.
    pub end_mono_ns: MonoNs,
}

/// What a host knows when all its threads have ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartEnd {
    /// The body that it learnt.
    pub learnt_body: Option<LearntBody>,
    /// The hard stop that it fired; `None`: it fired none.
    pub hard_stop: Option<String>,
}
