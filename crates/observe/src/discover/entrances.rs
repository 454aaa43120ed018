//! Where the servers of this host accept connections, and which tier each of these places belongs to.
//!
//! A connection is identified by the place where it was accepted, long before its first request is read. A tier's outgoing
//! connection is identified by the address that the tier connected to, which is not always the address that the next tier
//! listens on.

use crate::diag::FileId;
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use sysdyno_record::plan::Endpoint;

/// A place where connections are accepted, as the kernel tells it of each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Entrance {
    /// A port of a network namespace, which is named by the inode of its file, at one address or, where that is `None`, at all.
    Tcp { namespace: u64, port: u16, address: Option<IpAddr> },
    /// A file of a Unix socket.
    Unix(FileId),
}

/// Who listens there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// A tier of the server, by its address; `None`: the one that the load reaches.
    Tier(Option<Endpoint>),
    /// Somebody else.
    Foreign,
}

/// All of them, as they were seen last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entrances {
    pub(crate) hosts: HashMap<Entrance, Host>,
    /// The tier that answers at an address, as it is called in this network namespace.
    pub(crate) dialed: HashMap<(u64, SocketAddr), Endpoint>,
    /// Addresses that are of this host in a network namespace: those at which connections were seen to begin or end.
    pub(crate) own: HashSet<(u64, IpAddr)>,
    /// Those at which a tier was seen asking, with that tier; `None`: the one that the load reaches.
    pub(crate) asked: HashMap<Entrance, Option<Endpoint>>,
    /// Whether every connection that a tier asks at is seen, however short.
    pub(crate) is_watched: bool,
}

/// Own addresses that are remembered.
const MAX_OWN: usize = 4096;

impl Entrances {
    /// Takes note of addresses of this host.
    pub(crate) fn note_own(&mut self, addresses: impl Iterator<Item = (u64, IpAddr)>) {
        let room = MAX_OWN.saturating_sub(self.own.len());
        self.own.extend(addresses.take(room));
    }

    /// Whether an address of a namespace is certain to be on this host.
    pub(crate) fn is_own(&self, namespace: u64, address: IpAddr) -> bool {
        address.is_loopback() || self.own.contains(&(namespace, address))
    }

    /// Where connections to this address of a namespace are accepted, which has to be on this host: by whoever listens at just
    /// this address, or else at all.
    pub(crate) fn at_address(&self, namespace: u64, at: SocketAddr) -> Entrance {
        let entrance = |address| Entrance::Tcp { namespace, port: at.port(), address };
        let alone = entrance(Some(at.ip().to_canonical()));
        if self.hosts.contains_key(&alone) { alone } else { entrance(None) }
    }

    /// The tier that answers at a file.
    pub(crate) fn at_file(&self, file: FileId) -> Option<&Endpoint> {
        match self.hosts.get(&Entrance::Unix(file)) {
            Some(Host::Tier(address)) => address.as_ref(),
            Some(Host::Foreign) | None => None,
        }
    }
}
