//! Where the operations of a target go, and as what.

use super::ProbeAddress;
use crate::error::LoadError;
use crate::protocol::http1::limits::DEFAULT_MAX_BODY_BYTES;
use std::net::IpAddr;
use sysdyno_record::plan::{Endpoint, LoadPlan, Target};
use sysdyno_record::probe::{ProbeKind, ProbedTarget};
use sysdyno_record::units::Bytes;

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

impl Way {
    /// How a target is probed beside a load: its own one with the request of the load.
    pub(super) fn beside(probed: &ProbedTarget, load: &LoadPlan) -> Result<Way, LoadError> {
        if probed.plan.kind != ProbeKind::Http || probed.target != load.target {
            return Way::of(probed);
        }
        if !load.wire.is_plain() {
            let cause = "it does not speak plain HTTP/1.1\nhint: use --probe tcp".into();
            return Err(LoadError::Probe { target: load.target.url.clone(), cause });
        }
        Ok(Way::Http(Box::new(load.clone())))
    }

    /// How a target is probed.
    pub(super) fn of(probed: &ProbedTarget) -> Result<Way, LoadError> {
        let Target { url, endpoint, .. } = &probed.target;
        match (probed.plan.kind, endpoint) {
            (ProbeKind::Http, _) => {
                let plan = LoadPlan::plain(probed.target.clone());
                Ok(Way::Http(Box::new(LoadPlan { max_body: Bytes(DEFAULT_MAX_BODY_BYTES), ..plan })))
            }
            (ProbeKind::Tcp, Endpoint::Tcp(address)) => Ok(Way::Tcp(ProbeAddress::of(*address))),
            (ProbeKind::Icmp, Endpoint::Tcp(address)) => Ok(Way::Icmp(ProbeAddress::of(*address))),
            (kind, Endpoint::Unix(_)) => {
                let cause = format!("a Unix socket cannot be probed over {}", kind.name());
                Err(LoadError::Probe { target: url.clone(), cause })
            }
        }
    }

    /// Where it goes, for messages.
    pub fn shown(&self) -> String {
        match self {
            Way::Http(plan) => plan.target.url.clone(),
            Way::Tcp(address) => address.address.to_string(),
            Way::Icmp(address) => address.address.ip().to_string(),
        }
    }

    pub(super) fn is_public(&self) -> bool {
        self.public_address().is_some()
    }

    /// The address, if it is public; that of a load plan was already judged.
    pub(super) fn public_address(&self) -> Option<IpAddr> {
        match self {
            Way::Http(_) => None,
            Way::Tcp(address) | Way::Icmp(address) => address.is_public.then(|| address.address.ip()),
        }
    }
}
