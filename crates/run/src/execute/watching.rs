//! The record of a host that is watched without a load: its facts, its processes, and its readings.

use super::RunJournal;
use super::server::keep_host;
use crate::agent::{Agent, RemoteAgent};
use crate::error::RunError;
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::series::SeriesLine;

impl RunJournal<'_> {
    /// Writes down what this host is.
    ///
    /// # Errors
    /// It cannot be found out or written down.
    pub fn begin_watch(&mut self, agent: &mut dyn Agent) -> Result<(), RunError> {
        let facts = agent.facts(self)?;
        self.keep_facts(facts)
    }

    /// Writes down what another host is, in the place of a server's; from now on, readings are of that host.
    ///
    /// # Errors
    /// As of [`RunJournal::begin_watch`].
    pub fn begin_watch_there(&mut self, agent: &mut RemoteAgent) -> Result<(), RunError> {
        keep_host(agent, self)
    }

    /// Processes that are watched from the beginning.
    ///
    /// # Errors
    /// They cannot be written down.
    pub fn watch(&mut self, processes: Vec<WatchedProcess>) -> Result<(), RunError> {
        self.keep_watched(processes)
    }

    /// Writes down a line of the sampler of the watched host.
    ///
    /// # Errors
    /// It has no faithful form. A folder that cannot be written is no error here: see [`RunJournal::failure`].
    pub fn keep_readings(&mut self, line: SeriesLine) -> Result<(), RunError> {
        match self.has_server() {
            true => self.keep_server_series(line),
            false => self.keep_series(line),
        }
    }
}
