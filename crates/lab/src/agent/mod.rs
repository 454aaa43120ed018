//! The agent: does on a host what it is asked for, and says what it sees while it does it.
//!
//! Requests and answers are plain values. An agent is this process ([`LocalAgent`]) or another one behind a pipe
//! ([`RemoteAgent`]): in a network namespace, or on another host behind the system's `ssh`; several of these send a load
//! together ([`Fleet`]). While a request lasts, notices come in between: intervals of the load, readings of the kernel. A
//! [`Link`] takes them, and is asked several times a second whether to go on.

mod check;
mod fleet;
pub mod frame;
mod local;
mod namespace;
mod offset;
mod part;
mod place;
mod remote;
mod route;
mod serve;
mod spin;
mod transport;
mod tune;
mod upload;
pub mod wire;

pub use fleet::Fleet;
pub use local::{Guard, LocalAgent};
pub use namespace::enter;
pub(crate) use namespace::mount_writable_sys;
pub use part::{MAX_SPREAD_BODY_BYTES, PartCall};
pub use place::{HostPlace, NoHost, SshAddress, Way};
pub use remote::RemoteAgent;
pub use route::{RouteCall, RouteReport};
pub use serve::{Serving, serve};
pub(crate) use transport::terminal_command;
pub use transport::{Connection, Ways};
pub use tune::{Lasts, TrialKind, TuneAnswer, TuneRequest, TuneTask};

use crate::error::LabError;
use crate::lab::{ShareCall, ShareReply};
use std::net::SocketAddr;
use sysdyno_analyze::experiment::CommandOutcome;
use sysdyno_load::Outcome;
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::facts::HostFacts;
use sysdyno_record::load::{Interval, LatencySet};
use sysdyno_record::plan::{Endpoint, LoadPlan, PhaseKind};
use sysdyno_record::probe::ProbeReply;
use sysdyno_record::series::SeriesLine;
use sysdyno_record::spread::PartReport;
use sysdyno_record::units::{MonoNs, SpanNs};

/// Something that is to be done on a host.
#[derive(Clone, Debug)]
pub enum Request {
    /// Say what the host is. Answer: [`Answer::Facts`].
    Facts,
    /// Find the processes that serve an endpoint, or describe those with these ids. Answer: [`Answer::Processes`].
    Describe {
        /// The endpoint of the server under test; `None`: there is none, or its processes are given.
        endpoint: Option<Endpoint>,
        /// Processes to watch instead of those that hold its socket.
        pids: Vec<u32>,
        /// Addresses of services that the server asks; their processes are parts of it.
        behind: Vec<SocketAddr>,
    },
    /// Say where packets to an address go. Answer: [`Answer::Route`].
    Route(RouteCall),
    /// Begin to sample the kernel. Answer: [`Answer::Done`], after the notice of the first row; the others come meanwhile.
    StartSampling {
        /// Samples per second.
        hz: f64,
        /// Processes to measure.
        watch: Vec<WatchedProcess>,
        /// Endpoint whose sockets are measured; `None`: none.
        endpoint: Option<Endpoint>,
        /// Generator threads whose CPUs the sampler keeps off, if there are others.
        threads: u32,
        /// Addresses of services behind the server, whose queues are measured too.
        behind: Vec<SocketAddr>,
    },
    /// Read everything that is sampled once more, at once. Answer: [`Answer::Done`], after the notice of the row.
    Read,
    /// Stop sampling. Answer: [`Answer::SamplingEnded`].
    StopSampling,
    /// Send a load, and its probe beside it if the plan has one. Answer: [`Answer::Loaded`].
    Load {
        /// Number of the trial in the run.
        trial: u32,
        /// The load.
        plan: Box<LoadPlan>,
    },
    /// Send a part of a load, by the orders that come meanwhile. Answer: [`Answer::Done`]; what is measured comes as notices.
    Part(Box<PartCall>),
    /// Do nothing for a while, sampling on. Answer: [`Answer::Done`].
    Rest {
        /// How long.
        span: SpanNs,
    },
    /// Run a command to its end. Answer: [`Answer::CommandEnded`].
    Command {
        /// Program and arguments; no shell reads them.
        words: Vec<String>,
        /// After which time it is ended.
        limit: SpanNs,
    },
    /// Look at settings, try, keep or undo changes of them. Answer: [`Answer::Tuned`].
    Tune(Box<TuneRequest>),
    /// Carry out something of a share of a lab. Answer: [`Answer::Share`].
    Share(Box<ShareCall>),
}

impl Request {
    /// The word for messages.
    pub fn name(&self) -> &'static str {
        match self {
            Request::Facts => "facts",
            Request::Describe { .. } => "describe",
            Request::Route(_) => "look a route up",
            Request::StartSampling { .. } => "start sampling",
            Request::Read => "read the kernel",
            Request::StopSampling => "stop sampling",
            Request::Load { .. } => "load",
            Request::Part(_) => "send a part of the load",
            Request::Rest { .. } => "rest",
            Request::Command { .. } => "run a command",
            Request::Tune(request) => request.name(),
            Request::Share(call) => call.name(),
        }
    }
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// It is done.
    Done,
    /// What the host is.
    Facts(HostFacts),
    /// The processes that were found.
    Processes(Vec<WatchedProcess>),
    /// Where packets go, and whose the address is.
    Route(Box<RouteReport>),
    /// The load is over.
    Loaded(Box<Outcome>),
    /// Sampling is over.
    SamplingEnded {
        /// Rows that were taken.
        samples_count: u64,
        /// Instants at which none could be taken.
        missed_count: u64,
    },
    /// The command is over.
    CommandEnded(CommandOutcome),
    /// What was planned, tried, kept or undone.
    Tuned(Box<TuneAnswer>),
    /// What became of the share of a lab.
    Share(Box<ShareReply>),
}

/// Something that an agent sees while it does what it was asked for.
#[derive(Clone, Debug)]
pub enum Notice {
    /// A phase of the load began.
    Phase {
        /// When.
        begin: MonoNs,
        /// The phase.
        phase: PhaseKind,
        /// Offered rate. Unit: requests per second.
        rate_hz: Option<f64>,
    },
    /// An interval of the load is complete.
    Interval(Box<Interval>, Box<LatencySet>),
    /// Readings of the kernel.
    Series(SeriesLine),
    /// An operation of the probe is over.
    Probe(ProbeReply),
    /// A part of a load goes on.
    Part(PartReport),
    /// A host that sends a part of the load is gone.
    HostLost {
        /// The host, as it was typed.
        host: String,
        /// Why.
        reason: String,
    },
}

/// Whether a request goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proceed {
    /// It goes on.
    Continue,
    /// It ends as soon as it decently can, and is answered with what there is.
    Stop,
}

/// The other side of an agent, while it works.
pub trait Link {
    /// Takes a notice.
    ///
    /// # Errors
    /// It could not be written down; the request is stopped.
    fn notice(&mut self, notice: Notice) -> Result<(), LabError>;

    /// Is asked several times a second whether to go on.
    fn tick(&mut self) -> Proceed;
}

/// Does what it is asked for, on one host.
pub trait Agent {
    /// Does one thing and answers when it is done.
    ///
    /// # Errors
    /// It could not be done, or a notice could not be written down.
    fn call(&mut self, request: Request, link: &mut dyn Link) -> Result<Answer, LabError>;
}

/// Hears nothing of what is read meanwhile.
pub(crate) struct Deaf;

impl Link for Deaf {
    fn notice(&mut self, _: Notice) -> Result<(), LabError> {
        Ok(())
    }

    fn tick(&mut self) -> Proceed {
        Proceed::Continue
    }
}
