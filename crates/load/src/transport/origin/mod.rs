//! Where connections come from: to which source address each is bound, whether these can be bound, and whether there are
//! enough ports.
//!
//! Connection number k of a load is bound to source k modulo the number of sources, whatever its thread, so the sources
//! differ by at most one connection. The port is left open at the bind (`IP_BIND_ADDRESS_NO_PORT`, ip(7)) and chosen at the
//! connect, where only the combination of addresses and ports must be free.

mod ports;
mod proxy;

pub use ports::{PortLimits, check_ports};
pub(crate) use proxy::{Ends, header};

use crate::error::LoadError;
use crate::transport::Slot;
use std::net::{IpAddr, SocketAddr, TcpListener};
use sysdyno_record::origin::{OriginPlan, ProxyProtocol};
use sysdyno_record::plan::Endpoint;

/// Where the connections of one thread come from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    sources: Vec<IpAddr>,
    /// Connections of the threads before this one.
    first: usize,
    /// The header that a connection begins with.
    pub proxy_protocol: Option<ProxyProtocol>,
}

impl Origin {
    pub(crate) fn new(plan: &OriginPlan) -> Origin {
        Origin { sources: plan.sources.clone(), first: 0, proxy_protocol: plan.proxy_protocol }
    }

    /// The same for the thread whose first connection has this number in the load.
    pub(crate) fn from(&self, first: u64) -> Origin {
        Origin { first: first as usize, ..self.clone() }
    }

    /// Whether anything must be done to a socket.
    pub(crate) fn is_needed(&self) -> bool {
        !self.sources.is_empty() || self.proxy_protocol.is_some()
    }

    /// The address that a connection is bound to, with any port; `None`: the kernel chooses.
    pub(crate) fn source(&self, slot: Slot) -> Option<SocketAddr> {
        let position = (self.first + slot as usize) % self.sources.len().max(1);
        self.sources.get(position).map(|address| SocketAddr::new(*address, 0))
    }
}

/// Checks that connections to `endpoint` can come from where the plan says.
///
/// # Errors
/// A source that is no address of this host or of another family than the server's, or a Unix socket, which has none.
pub fn check(plan: &OriginPlan, endpoint: &Endpoint) -> Result<(), LoadError> {
    if plan.churn_hz.is_some_and(|hz| !hz.is_finite() || hz <= 0.0) {
        return Err(LoadError::plan("the rate of new connections must be greater than 0"));
    }
    let Endpoint::Tcp(target) = endpoint else {
        let is_tcp_only = !plan.sources.is_empty();
        return if is_tcp_only {
            Err(LoadError::plan("a Unix socket has no source address"))
        } else {
            Ok(())
        };
    };
    for source in &plan.sources {
        let failed = |cause| LoadError::Source { address: *source, cause };
        if source.is_ipv4() != target.is_ipv4() {
            return Err(failed(format!("the server's address {} is of a different family", target.ip())));
        }
        if source.is_unspecified() || source.is_multicast() {
            return Err(failed("it is not a single address".into()));
        }
        // A listener on any port is bound for a moment and never accepts.
        TcpListener::bind((*source, 0)).map_err(|error| failed(cause(&error)))?;
    }
    Ok(())
}

fn cause(error: &std::io::Error) -> String {
    if error.kind() == std::io::ErrorKind::AddrNotAvailable {
        return "it is not an address of this host\nhint: `ip -brief address` lists this host's addresses"
            .into();
    }
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(sources: &[&str]) -> OriginPlan {
        let sources = sources.iter().map(|source| source.parse().expect("an address")).collect();
        OriginPlan { sources, ..OriginPlan::default() }
    }

    #[test]
    fn connections_are_spread_evenly_over_the_sources_whatever_the_threads() {
        let origin = Origin::new(&plan(&["127.0.0.2", "127.0.0.3", "127.0.0.4"]));
        // Three threads of 4, 3 and 3 connections.
        let threads = [(0, 4), (4, 3), (7, 3)];
        let all = threads.iter().flat_map(|(first, slots)| {
            let origin = origin.from(*first);
            (0..*slots).map(move |slot| origin.source(slot).expect("a source").ip().to_string())
        });
        let all: Vec<String> = all.collect();
        let count = |address: &str| all.iter().filter(|source| *source == address).count();
        assert_eq!([count("127.0.0.2"), count("127.0.0.3"), count("127.0.0.4")], [4, 3, 3]);
        assert_eq!(Origin::default().source(7), None);
    }

    #[test]
    fn a_source_that_cannot_be_bound_is_refused_with_the_reason() {
        let loopback = Endpoint::Tcp("127.0.0.1:80".parse().expect("an address"));
        assert!(check(&plan(&["127.0.0.2", "127.0.0.3"]), &loopback).is_ok());
        for (source, text) in
            [("192.0.2.7", "not an address of this host"), ("::1", "family"), ("0.0.0.0", "single")]
        {
            let error = check(&plan(&[source]), &loopback).expect_err(source).to_string();
            assert!(error.contains(source) && error.contains(text), "{error}");
        }
        assert!(check(&plan(&["127.0.0.2"]), &Endpoint::Unix("/s".into())).is_err());
    }
}
