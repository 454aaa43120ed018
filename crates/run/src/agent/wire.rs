//! Messages to and from an agent in another process: JSON, one message per frame.
//!
//! Both sides begin with a [`Hello`]. The agent sends its own first, so that nothing is sent to a program that is no agent.
//! A different protocol number is refused; within one number, fields are only ever added.
//!
//! An agent in another process changes a host's settings only for a share of a lab.

use super::{AgentAnswer, AgentRequest};
use serde::{Deserialize, Serialize};
use sysdyno_record::series::SeriesLine;
use sysdyno_record::spread::PartReport;
use sysdyno_record::units::MonoNs;

/// The number of this protocol.
pub const PROTOCOL: u32 = 8;

/// Who speaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// Must be [`PROTOCOL`].
    pub protocol: u32,
    /// Version of the program.
    pub version: String,
    /// Boot of the kernel below it; equal on one machine.
    pub boot_id: String,
    /// Its time namespace.
    pub time_namespace: String,
    /// Its process ID; meaningful only on the same machine.
    pub pid: u32,
    /// When that started. Unit: ticks of `USER_HZ` since boot.
    #[serde(default)]
    pub start_ticks: u64,
}

/// A message to an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToAgent {
    /// The first message.
    Hello(Hello),
    /// Asks for the time; also shows that the other side is alive.
    Ping {
        /// Comes back with the answer.
        sequence: u64,
    },
    /// A request; one at a time.
    Call(AgentRequest),
    /// Concerns the part of a load that is being sent.
    Order(PartSignal),
}

/// Orders to an agent while it sends a part of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PartSignal {
    /// Make the connections.
    Connect,
    /// Send from this instant on, on the agent's clock.
    Begin(MonoNs),
    /// Come to an end.
    Stop,
}

/// A message of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromAgent {
    /// The first message.
    Hello(Hello),
    /// The answer to a ping.
    Pong {
        /// That of the ping.
        sequence: u64,
        /// The agent's `CLOCK_MONOTONIC`.
        mono_ns: MonoNs,
    },
    /// Readings of the kernel, on the agent's clock.
    Series(SeriesLine),
    /// A part of a load continues, on the agent's clock.
    Part(PartReport),
    /// A profile has begun: it is allowed.
    Profiling,
    /// The answer to the request.
    Reply(Box<AgentAnswer>),
    /// The request could not be done.
    Failed {
        /// Why, as a message for users. Untrusted text.
        text: String,
    },
}
