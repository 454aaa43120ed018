//! Requests that an agent passes to the labs of its host, about which this crate knows nothing.

use super::AgentLink;
use crate::error::RunError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::net::IpAddr;

/// A host of a lab that is up on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabHost {
    /// The lab.
    pub lab: String,
    /// The host.
    pub host: String,
    /// A host of the lab from which it can be reached; the host itself if there is no other.
    pub from: String,
}

/// Knows which addresses belong to labs of this machine.
pub trait LabAddresses: fmt::Debug + Send + Sync {
    /// The host that has an address; `None`: there is none, or it is hidden.
    fn host_with(&self, address: IpAddr) -> Option<LabHost>;
}

/// Carries out what other machines ask for about their labs: shares of these on this host.
pub trait LabShares {
    /// Does what is asked for, in the words of whoever knows labs on both sides; `link` says whether to go on.
    ///
    /// # Errors
    /// It could not be done, or makes no sense.
    fn carry_out(&mut self, call: Value, link: &mut dyn AgentLink) -> Result<Value, RunError>;
}
