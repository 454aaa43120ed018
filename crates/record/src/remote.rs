//! The host of the server under test, where it is not the one that measures: how it was reached, what it is, and how its
//! clock lies beside that of the measuring host.

use crate::facts::HostFacts;
use serde::{Deserialize, Serialize};

/// Content of `server.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerHost {
    /// As it was typed: `netns:NAME`, `user@host`. Untrusted text.
    pub name: String,
    /// Version of the agent on it.
    pub agent_version: String,
    /// Whether it is the same machine under the same kernel, so that generator and server share its CPUs.
    pub is_same_machine: bool,
    /// How its clock lies beside that of the measuring host; all its readings were moved by this offset.
    pub clock: ClockOffset,
    /// The same measured again at the end; `None`: the run did not come to it.
    #[serde(default)]
    pub clock_at_end: Option<ClockOffset>,
    /// What it is.
    pub facts: HostFacts,
}

/// The monotonic clock of another host beside that of the measuring one.
///
/// Source: exchanges of a question and an answer that carries the other clock. The other clock was read between the send
/// of the question and the arrival of the answer, so the exchange with the shortest round trip bounds the offset best:
/// it is the middle of the round trip, uncertain by half of it (D. L. Mills, RFC 5905, section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockOffset {
    /// What is added to an instant of the other host's `CLOCK_MONOTONIC` to have it on that of the measuring host.
    /// Unit: nanoseconds.
    pub offset_ns: i64,
    /// The true offset lies within so much of it; 0 where both read the same clock. Unit: nanoseconds.
    pub uncertainty_ns: u64,
    /// The shortest round trip. Unit: nanoseconds.
    pub round_trip_ns: u64,
    /// Exchanges that were made.
    pub exchanges_count: u32,
    /// Whether both hosts read the same clock: one kernel, one time namespace. Then the offset is 0 and not an estimate.
    pub is_same_clock: bool,
}
