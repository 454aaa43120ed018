//! What an agent in another process is asked, and what it says: messages as JSON, one in a frame.
//!
//! Both sides begin with a [`Hello`]. The agent says its own first, so that nothing is sent to what is no agent. Another
//! protocol number is refused; within one number fields are added only.
//!
//! Requests that read a host have a form here, and that for a part of a load, in which a body goes beside the plan, since
//! plans are not written with it; and those about shares of labs, which are forms themselves; settings of a host are
//! changed for a share only.

use super::{Answer, PartCall, Request, RouteCall, RouteReport};
use crate::lab::{ShareCall, ShareReply};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::facts::HostFacts;
use sysdyno_record::plan::Endpoint;
use sysdyno_record::series::SeriesLine;
use sysdyno_record::spread::PartReport;
use sysdyno_record::units::MonoNs;

/// The number of this protocol.
pub const PROTOCOL: u32 = 4;

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
    Call(Call),
    /// Concerns the part of a load that is being sent.
    Order(Order),
}

/// What an agent is told while it has a part of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
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
    Reply(Reply),
    /// The request could not be done.
    Failed {
        /// Why, as a message for users. Untrusted text.
        text: String,
    },
}

/// A request that can be made of an agent in another process; see [`Request`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Call {
    /// [`Request::Facts`].
    Facts,
    /// [`Request::Describe`].
    Describe {
        /// The endpoint of the server under test.
        endpoint: Option<Endpoint>,
        /// Processes to watch instead of those that hold its socket.
        pids: Vec<u32>,
        /// Services behind it.
        #[serde(default)]
        behind: Vec<SocketAddr>,
    },
    /// [`Request::Route`].
    Route(RouteCall),
    /// [`Request::StartSampling`].
    StartSampling {
        /// Samples per second.
        hz: f64,
        /// Processes to measure.
        watch: Vec<WatchedProcess>,
        /// Endpoint whose sockets are measured.
        endpoint: Option<Endpoint>,
        /// Generator threads on the same machine.
        threads: u32,
        /// Services behind the server.
        #[serde(default)]
        behind: Vec<SocketAddr>,
    },
    /// [`Request::Read`].
    Read,
    /// [`Request::StopSampling`].
    StopSampling,
    /// [`Request::Part`].
    Part(Box<PartCall>),
    /// [`Request::Share`].
    Share(Box<ShareCall>),
}

/// The answer to a request; see [`Answer`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// [`Answer::Done`].
    Done,
    /// [`Answer::Facts`].
    Facts(HostFacts),
    /// [`Answer::Processes`].
    Processes(Vec<WatchedProcess>),
    /// [`Answer::Route`].
    Route(Box<RouteReport>),
    /// [`Answer::SamplingEnded`].
    SamplingEnded {
        /// Rows that were taken.
        samples_count: u64,
        /// Instants at which none could be taken.
        missed_count: u64,
    },
    /// [`Answer::Share`].
    Share(Box<ShareReply>),
}

impl Call {
    /// The form of a request; `None`: it has none.
    pub(super) fn of(request: Request) -> Option<Call> {
        match request {
            Request::Facts => Some(Call::Facts),
            Request::Describe { endpoint, pids, behind } => Some(Call::Describe { endpoint, pids, behind }),
            Request::Route(call) => Some(Call::Route(call)),
            Request::StartSampling { hz, watch, endpoint, threads, behind } => {
                Some(Call::StartSampling { hz, watch, endpoint, threads, behind })
            }
            Request::Read => Some(Call::Read),
            Request::StopSampling => Some(Call::StopSampling),
            Request::Part(call) => Some(Call::Part(call)),
            Request::Share(call) => Some(Call::Share(call)),
            Request::Load { .. } | Request::Rest { .. } | Request::Command { .. } | Request::Tune(_) => None,
        }
    }

    /// The request of this form.
    pub(super) fn into_request(self) -> Request {
        match self {
            Call::Facts => Request::Facts,
            Call::Describe { endpoint, pids, behind } => Request::Describe { endpoint, pids, behind },
            Call::Route(call) => Request::Route(call),
            Call::StartSampling { hz, watch, endpoint, threads, behind } => {
                Request::StartSampling { hz, watch, endpoint, threads, behind }
            }
            Call::Read => Request::Read,
            Call::StopSampling => Request::StopSampling,
            Call::Part(call) => Request::Part(call),
            Call::Share(call) => Request::Share(call),
        }
    }
}

impl Reply {
    /// The form of an answer; `None`: it has none.
    pub(super) fn of(answer: Answer) -> Option<Reply> {
        match answer {
            Answer::Done => Some(Reply::Done),
            Answer::Facts(facts) => Some(Reply::Facts(facts)),
            Answer::Processes(processes) => Some(Reply::Processes(processes)),
            Answer::Route(report) => Some(Reply::Route(report)),
            Answer::SamplingEnded { samples_count, missed_count } => {
                Some(Reply::SamplingEnded { samples_count, missed_count })
            }
            Answer::Share(reply) => Some(Reply::Share(reply)),
            Answer::Loaded(_) | Answer::CommandEnded(_) | Answer::Tuned(_) => None,
        }
    }

    /// The answer of this form.
    pub(super) fn into_answer(self) -> Answer {
        match self {
            Reply::Done => Answer::Done,
            Reply::Facts(facts) => Answer::Facts(facts),
            Reply::Processes(processes) => Answer::Processes(processes),
            Reply::Route(report) => Answer::Route(report),
            Reply::SamplingEnded { samples_count, missed_count } => {
                Answer::SamplingEnded { samples_count, missed_count }
            }
            Reply::Share(reply) => Answer::Share(reply),
        }
    }
}
