//! Hosts of a run other than the measuring one: how each was reached, what it is, and the offset of its clock from the
//! measuring host's.

use crate::facts::HostFacts;
use serde::{Deserialize, Serialize};

/// The host of the server under test, content of `server.json`; or one that sends a part of the load: `generators.json` has
/// one of each, in the order of the plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteHost {
    /// As it was typed: `netns:NAME`, `user@host`. Untrusted text.
    pub name: String,
    /// Version of the agent on it.
    pub agent_version: String,
    /// Whether it is the measuring machine under the same kernel: then a server shares its CPUs with the generator.
    pub is_same_machine: bool,
    /// How its clock lay beside that of the measuring host when it was met. What a server's host reads was moved by that;
    /// generators measure it again before each trial.
    pub clock: ClockOffset,
    /// The same measured again at the end; `None`: the run did not come to it, or the host was lost.
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
    /// Maximum error of the offset; 0 if both read the same clock. Unit: nanoseconds.
    pub uncertainty_ns: u64,
    /// The shortest round trip. Unit: nanoseconds.
    pub round_trip_ns: u64,
    /// Exchanges that were made.
    pub exchanges_count: u32,
    /// Whether both hosts read the same clock: one kernel, one time namespace. Then the offset is 0 and not an estimate.
    pub is_same_clock: bool,
}
