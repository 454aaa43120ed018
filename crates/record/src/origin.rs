//! Where a load's connections come from: hosts, addresses of this host, the client that they announce, and how often they are
//! replaced.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;

/// Where connections come from; the default is what the kernel chooses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OriginPlan {
    /// Addresses of this host that connections are bound to, in turn; empty: the kernel chooses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<IpAddr>,
    /// The header that each connection begins with; `None`: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy_protocol: Option<ProxyProtocol>,
    /// Connections that are closed after a response and made anew, over all threads. `None`: none. Unit: per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub churn_hz: Option<f64>,
    /// Hosts that send the load together, as typed; empty: this process sends it. Thread k runs on host k modulo their number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

impl OriginPlan {
    /// Whether everything is left to the kernel.
    pub fn is_default(&self) -> bool {
        *self == OriginPlan::default()
    }

    /// So many threads, or fewer that each host has as many of, but one at least.
    pub fn even_threads(&self, threads: u32) -> u32 {
        let hosts = self.hosts.len().max(1) as u32;
        (threads / hosts).max(1) * hosts
    }
}

/// Versions of the PROXY protocol. Source: `doc/proxy-protocol.txt` of HAProxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProxyProtocol {
    /// One line of text.
    V1,
    /// Binary.
    V2,
}
