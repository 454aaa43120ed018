//! The server's host, if it is another one: its readings are recorded next to this host's.

use super::RunJournal;
use crate::agent::{Agent, AgentLink, Notice, Proceed, ProcessQuery, RemoteAgent};
use crate::clock;
use crate::error::RunError;
use crate::links::LinksCall;
use std::net::IpAddr;
use sysdyno_record::event::{EventKind, ProcessRole, WatchedProcess};
use sysdyno_record::links::{FlowEnd, LinkPeer, LinksForecast};
use sysdyno_record::plan::{Endpoint, LoadPlan};

/// Writes down which host the server is on, and what it is.
pub(super) fn keep_host(server: &mut RemoteAgent, journal: &mut RunJournal<'_>) -> Result<(), RunError> {
    let host = server.describe_host(&mut Keep(journal))?;
    journal.keep_server(host)
}

/// The processes on the server's host that belong to the server.
pub(super) fn targets(
    server: &mut RemoteAgent,
    journal: &mut RunJournal<'_>,
    query: ProcessQuery,
) -> Result<Vec<WatchedProcess>, RunError> {
    let processes = server.describe(query, &mut Keep(journal))?;
    Ok(processes.into_iter().filter(|process| process.role == ProcessRole::Target).collect())
}

/// Writes down over which links the server's host sends to the sources of a load. Without several links there is nothing to write;
/// what the kernel does not tell is no reason to measure nothing.
pub(super) fn keep_links(
    server: &mut RemoteAgent,
    journal: &mut RunJournal<'_>,
    load: &LoadPlan,
) -> Result<(), RunError> {
    let Endpoint::Tcp(own) = load.target.endpoint else { return Ok(()) };
    let peer = |source: &IpAddr| LinkPeer {
        name: source.to_string(),
        end: FlowEnd { mac: None, ip: Some(*source) },
    };
    let peers = load.origin.sources.iter().map(peer).collect();
    let call = LinksCall { peers, sources: vec![own.ip()], port: own.port() };
    let aggregates = server.links(call, &mut Keep(journal)).unwrap_or_default();
    if aggregates.is_empty() {
        return Ok(());
    }
    let host = server.host().to_owned();
    journal.event(clock::monotonic(), EventKind::Links(LinksForecast { host, aggregates }))
}

/// Reads the server's host once more. A host that is lost by then is no error, here and below: that is in the record.
pub(super) fn read(server: &mut RemoteAgent, journal: &mut RunJournal<'_>) -> Result<(), RunError> {
    match server.read(&mut Keep(journal)) {
        Ok(()) => Ok(()),
        Err(error) => journal.lose_server(server.host(), server.lost(), error),
    }
}

/// Ends the readings of the server's host, and measures its clock again.
pub(super) fn take_down(server: &mut RemoteAgent, journal: &mut RunJournal<'_>) -> Result<(), RunError> {
    match server.stop_sampling(&mut Keep(journal)).and_then(|()| server.measure_clock()) {
        Ok(clock) => journal.keep_clock_at_end(clock),
        Err(error) => journal.lose_server(server.host(), server.lost(), error),
    }
}

/// The other side of a request to the server's host.
pub(super) struct Keep<'a, 'b>(pub(super) &'a mut RunJournal<'b>);

impl AgentLink for Keep<'_, '_> {
    fn notice(&mut self, notice: Notice) -> Result<(), RunError> {
        match notice {
            Notice::Series(line) => self.0.keep_server_series(line),
            other => self.0.notice(other),
        }
    }

    fn tick(&mut self) -> Proceed {
        self.0.tick()
    }
}

/// The link of a request to this host, which meanwhile also handles the server's host.
pub(super) struct Beside<'a, 'b> {
    pub(super) journal: &'a mut RunJournal<'b>,
    pub(super) server: Option<&'a mut RemoteAgent>,
    /// The server's readings could not be written down.
    pub(super) failure: Option<RunError>,
}

impl AgentLink for Beside<'_, '_> {
    fn notice(&mut self, notice: Notice) -> Result<(), RunError> {
        self.journal.notice(notice)
    }

    fn tick(&mut self) -> Proceed {
        let Some(server) = self.server.as_mut().filter(|server| server.lost().is_none()) else {
            return self.journal.tick();
        };
        let journal = &mut *self.journal;
        if let Err(error) = server.pass_on(&mut |line| journal.keep_server_series(line)) {
            let kept = journal.lose_server(server.host(), server.lost(), error);
            self.failure = self.failure.take().or(kept.err());
        }
        if self.failure.is_some() { Proceed::Stop } else { self.journal.tick() }
    }
}
