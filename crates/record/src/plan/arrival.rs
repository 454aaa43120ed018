//! How requests arrive, in which phases, and when they are given up.

use crate::units::SpanNs;
use serde::{Deserialize, Serialize};

/// How requests arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    /// Each connection is a client that sends its next request when the last is answered.
    Closed,
    /// Open loop, equal gaps.
    Constant,
    /// Open loop, exponential gaps.
    Poisson,
    /// Open loop, at the instants of an access log.
    Trace,
    /// Users that go on when they were answered, after a time of their own.
    Sessions,
}

impl Arrival {
    /// Whether intended send times exist apart from actual ones.
    pub fn is_open(self) -> bool {
        self != Arrival::Closed
    }
}

/// How long a connection is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeepAlive {
    /// Until the server closes it or the trial ends.
    Unlimited,
    /// For this many requests; 1 is a connection per request.
    Requests(u32),
}

/// One phase of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhasePlan {
    /// What the phase is for.
    pub kind: PhaseKind,
    /// Offered rate of an open arrival process, over all threads; `None` for a closed one. Unit: requests per second.
    pub rate_hz: Option<f64>,
    /// When the phase ends.
    pub end: PhaseEnd,
}

/// When a phase ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseEnd {
    /// After this time.
    After(SpanNs),
    /// After this many requests were begun, over all threads.
    Requests(u64),
}

/// What a phase is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhaseKind {
    /// Brings server and connections to heat; not measured.
    Warmup,
    /// One offered rate of several; measured.
    Step,
    /// The measured window.
    Steady,
    /// No new requests; what is in flight is awaited. Always last, added by the engine.
    Drain,
    /// The load goes on while what was begun in the measured window ends; not measured.
    RampDown,
}

impl PhaseKind {
    /// All kinds, in the order of their discriminants.
    pub const ALL: [PhaseKind; 5] =
        [PhaseKind::Warmup, PhaseKind::Step, PhaseKind::Steady, PhaseKind::Drain, PhaseKind::RampDown];

    /// Whether requests whose intended send lies in this phase count in the result.
    pub fn is_measured(self) -> bool {
        matches!(self, PhaseKind::Step | PhaseKind::Steady)
    }

    /// The word used in tags and tables.
    pub fn name(self) -> &'static str {
        match self {
            PhaseKind::Warmup => "warmup",
            PhaseKind::Step => "step",
            PhaseKind::Steady => "steady",
            PhaseKind::Drain => "drain",
            PhaseKind::RampDown => "ramp_down",
        }
    }
}

/// When a request is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deadlines {
    /// From the intended send to the last byte.
    pub total: SpanNs,
    /// From the connect call to the connection.
    pub connect: SpanNs,
    /// Without a byte in either direction while a response is awaited.
    pub idle: SpanNs,
    /// How long the drain waits for what is in flight.
    pub drain: SpanNs,
}

impl Default for Deadlines {
    fn default() -> Deadlines {
        Deadlines {
            total: SpanNs::from_secs(10),
            connect: SpanNs::from_secs(5),
            idle: SpanNs::from_secs(10),
            drain: SpanNs::from_secs(2),
        }
    }
}

/// When the whole trial is given up for the target's sake.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HardStops {
    /// Consecutive connection failures without a success; `None` never stops.
    pub connect_failures_in_a_row: Option<u32>,
    /// Share of failed or timed-out requests over ten seconds with at least 100 requests; `None` never stops.
    pub failure_ratio: Option<f64>,
}
