//! Who is at the other end of the sockets that threads wait at.
//!
//! A list of the host's connections says so, and costs milliseconds. It is made only if a thread waits at a socket that is not
//! known, and at most so often that it takes a thousandth of the time.

use crate::clock;
use crate::discover::{ConnectionEnds, Namespaces};
use crate::roots::Roots;
use crate::threads::{SocketEnd, SocketEnds, SocketSeen};
use std::collections::HashSet;
use sysdyno_record::units::MonoNs;

/// Of the time between two lists, at most this part is spent on one.
const MAX_PART: u64 = 1000;

/// Between two lists, at least. Unit: nanoseconds.
const INTERVAL_NS: u64 = 500_000_000;

/// The ends of connections, and what sockets were in earlier lists, by process.
#[derive(Debug, Default)]
pub(super) struct Peers {
    namespaces: Namespaces,
    ends: ConnectionEnds,
    known: SocketEnds<u32>,
    next: MonoNs,
}

impl Peers {
    /// What a socket of a process is; `None`: nobody knows.
    pub(super) fn of(&self, pid: u32, socket: SocketSeen) -> Option<SocketEnd> {
        self.known.of(&pid, socket, &self.ends)
    }

    /// Forgets the sockets of other processes.
    pub(super) fn keep(&mut self, pids: &HashSet<u32>) {
        self.known.keep(|pid| pids.contains(pid));
    }

    /// Remembers what these sockets are, by a new list if one of them is not known and a list may be made.
    pub(super) fn learn(&mut self, roots: &Roots, sockets: &[(u32, SocketSeen)]) {
        let is_known = |(pid, socket): &(u32, SocketSeen)| self.of(*pid, *socket).is_some();
        let now = clock::monotonic();
        let is_new = !sockets.iter().all(is_known) && now >= self.next;
        if is_new {
            let cpu_ns = clock::thread_cpu_ns();
            // Who may not ask knows nobody.
            let listed =
                self.namespaces.look(roots, now).and_then(|()| ConnectionEnds::of_all(&mut self.namespaces));
            self.ends = listed.unwrap_or_default();
            let spent_ns = clock::thread_cpu_ns().saturating_sub(cpu_ns);
            self.next = clock::about(now, INTERVAL_NS.max(spent_ns.saturating_mul(MAX_PART)));
        }
        for (pid, socket) in sockets {
            self.known.learn(pid, *socket, (&self.ends, is_new));
        }
    }
}
