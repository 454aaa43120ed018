//! The probe: single operations on their own schedule, to measure how long an outsider waits.
//!
//! ```text
//!   schedule ─► begin ─► prober (http | tcp | icmp) ─► received │ failed │ timed out ─► sink
//!      │                                                                      ▲
//!      └── its time was over before it could begin: unsent ───────────────────┘
//! ```
//! The instants are fixed before the first operation: begin + n × interval. A slow reply delays no later operation, since
//! an operation opens a new connection when the kept one is busy; at most `timeout ÷ interval` are open. The sink gets
//! every due operation exactly once, whatever its outcome. One thread waits in `poll`; if the host has enough CPUs, it
//! keeps off those of the generator.

mod address;
mod driver;
mod http;
mod icmp;
mod prober;
mod stream;
mod tcp;

#[cfg(test)]
mod tests;

pub use address::{ProbeAddress, ProbeTarget};
pub use driver::Probe;

use crate::error::LoadError;
use sysdyno_record::plan::{Endpoint, LoadPlan};
use sysdyno_record::probe::{ProbeKind, ProbePlan, ProbeReply};
use sysdyno_record::units::SpanNs;

/// The shortest time between two operations: a probe is no load.
pub const MIN_INTERVAL: SpanNs = SpanNs::from_millis(10);

/// The shortest time between two operations that go to a public address: ten a second harm nobody.
pub const MIN_PUBLIC_INTERVAL: SpanNs = SpanNs::from_millis(100);

/// Most operations that may be open at one time, which is what `timeout ÷ interval` may be.
pub const MAX_OPEN_COUNT: u64 = 1_000;

/// Between two operations beside a load.
pub const BESIDE_INTERVAL: SpanNs = SpanNs::from_millis(100);

/// Between two operations of a probe on its own.
pub const ALONE_INTERVAL: SpanNs = SpanNs::from_secs(1);

/// When an operation is given up.
pub const TIMEOUT: SpanNs = SpanNs::from_secs(5);

/// What is probed, and how.
#[derive(Clone, Debug)]
pub struct ProbeJob {
    /// Schedule and deadline.
    pub plan: ProbePlan,
    /// Where to and what.
    pub way: Way,
    /// End after so many operations; `None` goes on until it is stopped.
    pub count: Option<u64>,
    /// The trial beside which it runs, 0 for none.
    pub trial: u32,
    /// What makes its echo requests its own.
    pub seed: u64,
    /// Generator threads on this host, whose CPUs it keeps off.
    pub generator_threads: u32,
}

/// Where an operation goes.
#[derive(Clone, Debug)]
pub enum Way {
    /// The request of a load, validators included, on connections of the probe's own.
    Http(Box<LoadPlan>),
    /// A connection to this address.
    Tcp(ProbeAddress),
    /// An ICMP echo to this address; the port is ignored.
    Icmp(ProbeAddress),
}

impl ProbeJob {
    /// The probe that a load plan asks for; `None`: it asks for none.
    ///
    /// # Errors
    /// The target cannot be probed in that way.
    pub fn beside(load: &LoadPlan, trial: u32) -> Result<Option<ProbeJob>, LoadError> {
        let Some(plan) = load.probe else { return Ok(None) };
        let way = match (plan.kind, &load.target.endpoint) {
            (ProbeKind::Http, _) if !load.wire.is_plain() => {
                let cause = "it does not speak plain HTTP/1.1\nhint: use --probe tcp".into();
                return Err(LoadError::Probe { target: load.target.url.clone(), cause });
            }
            (ProbeKind::Http, _) => Way::Http(Box::new(load.clone())),
            (ProbeKind::Tcp, Endpoint::Tcp(address)) => Way::Tcp(ProbeAddress::of(*address)),
            (ProbeKind::Icmp, Endpoint::Tcp(address)) => Way::Icmp(ProbeAddress::of(*address)),
            (kind, Endpoint::Unix(_)) => {
                let cause = format!("a Unix socket cannot be probed over {}", kind.name());
                return Err(LoadError::Probe { target: load.target.url.clone(), cause });
            }
        };
        let (seed, generator_threads) = (load.seed, load.threads);
        let job = ProbeJob { plan, way, count: None, trial, seed, generator_threads };
        job.check().map(|()| Some(job))
    }

    /// Whether it may be sent.
    ///
    /// # Errors
    /// It is faster than a probe may be, or keeps too many operations open.
    pub fn check(&self) -> Result<(), LoadError> {
        let refused = |cause: String| Err(LoadError::Probe { target: self.way.shown(), cause });
        let ProbePlan { interval, timeout, .. } = self.plan;
        if interval < MIN_INTERVAL {
            return refused(format!("an interval of {interval} is too short; the minimum is {MIN_INTERVAL}"));
        }
        if self.way.is_public() && interval < MIN_PUBLIC_INTERVAL {
            return refused(format!(
                "an interval of {interval} is too short for a public address; the minimum is \
                 {MIN_PUBLIC_INTERVAL}"
            ));
        }
        if timeout.0 / interval.0 >= MAX_OPEN_COUNT {
            return refused(format!(
                "an interval of {interval} with a timeout of {timeout} allows more than {MAX_OPEN_COUNT} \
                 open probes"
            ));
        }
        Ok(())
    }
}

impl Way {
    /// Where it goes, for messages.
    pub fn shown(&self) -> String {
        match self {
            Way::Http(plan) => plan.target.url.clone(),
            Way::Tcp(address) => address.address.to_string(),
            Way::Icmp(address) => address.address.ip().to_string(),
        }
    }

    /// A load plan's target was already judged.
    fn is_public(&self) -> bool {
        match self {
            Way::Http(_) => false,
            Way::Tcp(address) | Way::Icmp(address) => address.is_public,
        }
    }
}

/// Takes what a probe sees, and ends it.
pub trait ProbeSink {
    /// An operation is over.
    fn reply(&mut self, reply: ProbeReply);

    /// Is asked at least twenty times a second whether to go on.
    fn goes_on(&mut self) -> bool;
}
