//! How requests arrive, in which phases, and when they time out.

use crate::named::named;
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
    /// Users that continue after a response, after their own pause.
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

named! {
    /// What a phase is for.
    #[derive(Default)]
    PhaseKind {
        /// Brings server and connections to heat; not measured.
        Warmup "warmup";
        /// One offered rate of several; measured.
        Step "step";
        /// The measured window.
        #[default]
        Steady "steady";
        /// No new requests; what is in flight is awaited. Always last, added by the engine.
        Drain "drain";
        /// The load goes on while what was begun in the measured window ends; not measured.
        RampDown "ramp_down";
    }
}

impl PhaseKind {
    /// Whether requests whose intended send is in this phase count in the result.
    pub fn is_measured(self) -> bool {
        matches!(self, PhaseKind::Step | PhaseKind::Steady)
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
