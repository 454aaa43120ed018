//! Routes over several next hops, and the one that the kernel takes for a packet.

use crate::error::ObserveError;
use crate::route::{FlowPorts, flow_route, interface_name, multipath_routes};
use std::fmt;
use std::net::IpAddr;

/// A next hop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextHop {
    /// The interface.
    pub interface: String,
    /// The router; `None`: there is none.
    pub gateway: Option<IpAddr>,
}

impl fmt::Display for NextHop {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.gateway {
            Some(gateway) => write!(out, "{} via {gateway}", self.interface),
            None => write!(out, "{}", self.interface),
        }
    }
}

/// A route over several next hops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HopRoute {
    /// The network: `10.1.0.0/16`, or `default`.
    pub destination: String,
    /// Whether it is one of IPv6.
    pub is_ipv6: bool,
    /// The next hops.
    pub hops: Vec<NextHop>,
}

/// All routes of this network namespace that have several next hops.
///
/// # Errors
/// The kernel does not tell.
pub fn hop_routes() -> Result<Vec<HopRoute>, ObserveError> {
    let hop = |(index, gateway): (u32, Option<IpAddr>)| NextHop { interface: interface_name(index), gateway };
    let found = multipath_routes()?.into_iter().map(|route| HopRoute {
        destination: match route.network {
            Some((address, bits)) => format!("{address}/{bits}"),
            None => "default".into(),
        },
        is_ipv6: route.is_ipv6,
        hops: route.hops.into_iter().map(hop).collect(),
    });
    Ok(found.collect())
}

/// The next hop of TCP packets from `source`, which must be this host's, to `address`; ports are those of source and destination.
/// `None`: there is no route.
///
/// # Errors
/// The kernel does not tell.
pub fn next_hop(
    address: IpAddr,
    source: Option<IpAddr>,
    ports: Option<[u16; 2]>,
) -> Result<Option<NextHop>, ObserveError> {
    let found = flow_route(address, source, ports.map(|[from, to]| FlowPorts { from, to }))?;
    Ok(found.map(|(index, gateway)| NextHop { interface: interface_name(index), gateway }))
}
