//! The server's host, where it is not this one: its readings go into the record beside those of this host.

use super::Journal;
use crate::agent::{Agent, Answer, Link, Notice, Proceed, RemoteAgent, Request};
use crate::error::LabError;
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::remote::RemoteHost;

/// Asks the server's host for something, and keeps what it reads meanwhile.
///
/// # Errors
/// It could not be done, or the host is lost.
pub(super) fn ask(
    server: &mut RemoteAgent,
    journal: &mut Journal<'_>,
    request: Request,
) -> Result<Answer, LabError> {
    server.call(request, &mut Keep(journal))
}

/// Writes down which host the server is on, and what it is.
pub(super) fn keep_host(server: &mut RemoteAgent, journal: &mut Journal<'_>) -> Result<(), LabError> {
    let Answer::Facts(facts) = ask(server, journal, Request::Facts)? else {
        return Err(LabError::Answer { request: "facts" });
    };
    journal.keep_server(RemoteHost {
        name: server.host().to_owned(),
        agent_version: server.version().to_owned(),
        is_same_machine: server.is_same_machine(),
        clock: server.clock(),
        clock_at_end: None,
        facts,
    })
}

/// The processes on the server's host that belong to the server.
pub(super) fn targets(
    server: &mut RemoteAgent,
    journal: &mut Journal<'_>,
    describe: Request,
) -> Result<Vec<WatchedProcess>, LabError> {
    let Answer::Processes(processes) = ask(server, journal, describe)? else {
        return Err(LabError::Answer { request: "describe" });
    };
    Ok(processes.into_iter().filter(|process| process.role == ProcessRole::Target).collect())
}

/// Reads the server's host once more. A host that is lost by then is no error, here and below: that is in the record.
pub(super) fn read(server: &mut RemoteAgent, journal: &mut Journal<'_>) -> Result<(), LabError> {
    match ask(server, journal, Request::Read) {
        Ok(_) => Ok(()),
        Err(error) => journal.lose_server(server.host(), server.lost(), error),
    }
}

/// Ends the readings of the server's host, and measures its clock again.
pub(super) fn take_down(server: &mut RemoteAgent, journal: &mut Journal<'_>) -> Result<(), LabError> {
    match ask(server, journal, Request::StopSampling).and_then(|_| server.measure_clock()) {
        Ok(clock) => journal.keep_clock_at_end(clock),
        Err(error) => journal.lose_server(server.host(), server.lost(), error),
    }
}

/// The other side of a request to the server's host.
struct Keep<'a, 'b>(&'a mut Journal<'b>);

impl Link for Keep<'_, '_> {
    fn notice(&mut self, notice: Notice) -> Result<(), LabError> {
        match notice {
            Notice::Series(line) => self.0.keep_server_series(line),
            other => self.0.notice(other),
        }
    }

    fn tick(&mut self) -> Proceed {
        self.0.tick()
    }
}

/// The other side of a request to this host, which keeps an eye on the server's meanwhile.
pub(super) struct Beside<'a, 'b> {
    pub(super) journal: &'a mut Journal<'b>,
    pub(super) server: Option<&'a mut RemoteAgent>,
    /// The server's readings could not be written down.
    pub(super) failure: Option<LabError>,
}

impl Link for Beside<'_, '_> {
    fn notice(&mut self, notice: Notice) -> Result<(), LabError> {
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
