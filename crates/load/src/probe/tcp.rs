//! The TCP probe: opens a connection and closes it at once.

use super::prober::{ProbeEnd, Prober};
use super::stream::{self, Dialed};
use crate::clock;
use crate::failure;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::net::SocketAddr;
use sysdyno_record::plan::Endpoint;
use sysdyno_record::probe::ProbeOutcome;
use sysdyno_record::units::MonoNs;

/// Connections that are being made.
pub(super) struct TcpProber {
    endpoint: Endpoint,
    dials: Vec<Dial>,
}

struct Dial {
    fd: OwnedFd,
    sequence: u64,
    since: MonoNs,
}

impl TcpProber {
    pub(super) fn new(address: SocketAddr) -> TcpProber {
        TcpProber { endpoint: Endpoint::Tcp(address), dials: Vec::new() }
    }
}

fn ended(sequence: u64, since: MonoNs, result: Result<(), Errno>) -> ProbeEnd {
    let at = clock::now();
    let outcome = match result {
        Ok(()) => ProbeOutcome::Received,
        Err(errno) => ProbeOutcome::Failed(failure::of_connect(errno)),
    };
    ProbeEnd { sequence, at, outcome, connect_ns: result.is_ok().then(|| at.since(since)), status: None }
}

impl Prober for TcpProber {
    fn begin(&mut self, sequence: u64, into: &mut Vec<ProbeEnd>) {
        let since = clock::now();
        match stream::dial(&self.endpoint) {
            Ok(Dialed { fd, is_connecting: true }) => self.dials.push(Dial { fd, sequence, since }),
            Ok(Dialed { is_connecting: false, .. }) => into.push(ended(sequence, since, Ok(()))),
            Err(errno) => into.push(ended(sequence, since, Err(errno))),
        }
    }

    fn watched(&self) -> Vec<PollFd<'_>> {
        self.dials.iter().map(|dial| PollFd::new(&dial.fd, PollFlags::OUT)).collect()
    }

    fn advance(&mut self, ready: &[PollFlags], into: &mut Vec<ProbeEnd>) {
        let mut flags = ready.iter();
        self.dials.retain(|dial| {
            let is_ready = flags.next().is_some_and(|flags| !flags.is_empty());
            if is_ready {
                into.push(ended(dial.sequence, dial.since, stream::dialed(&dial.fd)));
            }
            !is_ready
        });
    }

    fn abandon(&mut self, sequence: u64) {
        self.dials.retain(|dial| dial.sequence != sequence);
    }
}
