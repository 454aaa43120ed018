//! What an agent in another process is asked, and what it says: messages as JSON, one in a frame.
//!
//! Both sides begin with a [`Hello`]. The agent says its own first, so that nothing is sent to what is no agent. Another
//! protocol number is refused; within one number fields are added only.
//!
//! Settings of a host are changed for a share of a lab only.

use super::{AgentAnswer, AgentRequest};
use serde::{Deserialize, Serialize};
use sysdyno_record::series::SeriesLine;
use sysdyno_record::spread::PartReport;
use sysdyno_record::units::MonoNs;

/// The number of this protocol.
pub const PROTOCOL: u32 = 5;

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
    /// Its process; says something on one machine only.
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
    /// Asks for the time; also says that the other side lives.
    Ping {
        /// Comes back with the answer.
        sequence: u64,
    },
    /// A request; one at a time.
    Call(AgentRequest),
    /// Concerns the part of a load that is being sent.
    Order(PartSignal),
}

/// What an agent is told while it has a part of a load.
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
    /// A part of a load goes on, on the agent's clock.
    Part(PartReport),
    /// The answer to the request.
    Reply(AgentAnswer),
    /// The request could not be done.
    Failed {
        /// Why, as a message for users. Untrusted text.
        text: String,
    },
}
