//! The agent: carries out requests on a host and reports what happens meanwhile.
//!
//! Requests and answers are plain values, with a method for each ([`Agent`]). An agent is this process ([`LocalAgent`]) or
//! another one behind a pipe ([`RemoteAgent`]): in a network namespace, or on another host reached by the system's `ssh`.
//! Several of these can send one load together ([`Fleet`]). While a request runs, the agent sends notices: intervals of the
//! load, readings of the kernel. An [`AgentLink`] receives them, and decides several times a second whether to continue.

mod check;
mod fleet;
pub mod frame;
mod labs;
mod local;
mod logged;
mod namespace;
mod offset;
mod part;
mod processes;
mod remote;
mod request;
mod route;
mod serve;
mod spin;
mod survey;
mod transport;
mod tune;
mod upload;
pub mod wire;

pub use fleet::Fleet;
pub use labs::{LabAddresses, LabHost, LabShares};
pub use local::{LoadGuard, LocalAgent};
pub use namespace::{enter, mount_writable_sys};
pub use offset::{CLOCK_EXCHANGES, ClockExchange, clock_offset};
pub use part::PartCall;
pub use processes::ProcessQuery;
pub use remote::RemoteAgent;
pub use request::{Agent, AgentAnswer, AgentRequest, Generator, SamplingOrder};
pub use route::{RouteCall, RouteReport};
pub use serve::{Serving, serve};
pub use survey::{HostSurvey, ListeningAddress};
pub use transport::{AgentConnection, AgentPipes, AgentTunnel, FleetWay, Ways, terminal_command};
pub use tune::{Lasts, TrialKind, TuneAnswer, TuneRequest, TuneTask};

use crate::error::RunError;
use sysdyno_record::load::{Interval, LatencySet};
use sysdyno_record::plan::PhaseKind;
use sysdyno_record::probe::ProbeReply;
use sysdyno_record::series::SeriesLine;
use sysdyno_record::spread::PartReport;
use sysdyno_record::units::MonoNs;

/// Something that an agent observes while it carries out a request.
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
    /// A part of a load continues.
    Part(PartReport),
    /// A profile has begun: it is allowed.
    Profiling,
    /// A host that sends a part of the load is gone.
    HostLost {
        /// The host, as it was typed.
        host: String,
        /// Why.
        reason: String,
        /// Whether the others go on without it.
        goes_on: bool,
    },
}

/// Whether a request continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proceed {
    /// It continues.
    Continue,
    /// It ends as soon as possible, and the answer contains the results so far.
    Stop,
}

/// The other side of an agent, while it works.
pub trait AgentLink {
    /// Takes a notice.
    ///
    /// # Errors
    /// It could not be written down; the request is stopped.
    fn notice(&mut self, notice: Notice) -> Result<(), RunError>;

    /// Decides several times per second whether to continue.
    fn tick(&mut self) -> Proceed;

    /// Why a load was stopped that nobody asked to stop; `None`: somebody asked.
    fn stop_cause(&self) -> Option<String> {
        None
    }
}

/// Ignores readings that arrive meanwhile.
pub struct Deaf;

impl AgentLink for Deaf {
    fn notice(&mut self, _: Notice) -> Result<(), RunError> {
        Ok(())
    }

    fn tick(&mut self) -> Proceed {
        Proceed::Continue
    }
}
