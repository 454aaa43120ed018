//! The agent: does on a host what it is asked for, and says what it sees while it does it.
//!
//! Requests and answers are plain values, with a method for each ([`Agent`]). An agent is this process ([`LocalAgent`]) or
//! another one behind a pipe ([`RemoteAgent`]): in a network namespace, or on another host behind the system's `ssh`; several
//! of these send a load together ([`Fleet`]). While a request lasts, notices come in between: intervals of the load, readings
//! of the kernel. A [`AgentLink`] takes them, and is asked several times a second whether to go on.

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
mod transport;
mod tune;
mod upload;
pub mod wire;

pub use fleet::Fleet;
pub use labs::{LabAddresses, LabHost, LabShares};
pub use local::{LoadGuard, LocalAgent};
pub use namespace::{enter, mount_writable_sys};
pub use part::PartCall;
pub use processes::ProcessQuery;
pub use remote::RemoteAgent;
pub use request::{Agent, AgentAnswer, AgentRequest, Generator, SamplingOrder};
pub use route::{RouteCall, RouteReport};
pub use serve::{Serving, serve};
pub use transport::{AgentConnection, Ways, terminal_command};
pub use tune::{Lasts, TrialKind, TuneAnswer, TuneRequest, TuneTask};

use crate::error::RunError;
use sysdyno_record::load::{Interval, LatencySet};
use sysdyno_record::plan::PhaseKind;
use sysdyno_record::probe::ProbeReply;
use sysdyno_record::series::SeriesLine;
use sysdyno_record::spread::PartReport;
use sysdyno_record::units::MonoNs;

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
pub trait AgentLink {
    /// Takes a notice.
    ///
    /// # Errors
    /// It could not be written down; the request is stopped.
    fn notice(&mut self, notice: Notice) -> Result<(), RunError>;

    /// Is asked several times a second whether to go on.
    fn tick(&mut self) -> Proceed;
}

/// Hears nothing of what is read meanwhile.
pub struct Deaf;

impl AgentLink for Deaf {
    fn notice(&mut self, _: Notice) -> Result<(), RunError> {
        Ok(())
    }

    fn tick(&mut self) -> Proceed {
        Proceed::Continue
    }
}
