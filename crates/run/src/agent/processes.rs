//! Which processes to measure: those of the server under test, those of the tiers behind it, and this one.

use crate::error::RunError;
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use sysdyno_observe::{describe_process, find_target_processes};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::plan::Endpoint;

/// Whose processes are looked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessQuery {
    /// The endpoint of the server under test; `None`: there is none, or its processes are given.
    pub endpoint: Option<Endpoint>,
    /// Processes to watch instead of those that hold its socket.
    pub pids: Vec<u32>,
    /// Addresses of services that the server asks; their processes are parts of it.
    pub behind: Vec<SocketAddr>,
}

impl ProcessQuery {
    /// The processes; a target that cannot be found is left out.
    pub(super) fn find(&self) -> Result<Vec<WatchedProcess>, RunError> {
        let own = describe_process(std::process::id(), ProcessRole::Generator)?;
        // The server is called by its first process: one that listens, not one that works for it.
        let found = self.endpoint.as_ref().and_then(|endpoint| find_target_processes(endpoint).ok());
        let mut targets = found.unwrap_or_default();
        let mut add = |found: Vec<WatchedProcess>| {
            let is_new = |process: &WatchedProcess| !targets.iter().any(|known| known.is_same(process));
            let new: Vec<_> = found.into_iter().filter(is_new).collect();
            targets.extend(new);
        };
        let named = self.pids.iter().map(|pid| describe_process(*pid, ProcessRole::Target));
        add(named.collect::<Result<Vec<_>, _>>()?);
        for address in &self.behind {
            add(find_target_processes(&Endpoint::Tcp(*address)).unwrap_or_default());
        }
        Ok(targets.into_iter().chain([own]).collect())
    }
}

/// Processes that another host is believed to have.
const MAX_PROCESSES: usize = 4096;

/// Longest name of a process; the kernel's are shorter.
const MAX_COMMAND_CHARS: usize = 64;

/// CPUs that a process may run on; the kernel knows no more.
const MAX_CPUS: usize = 8192;

/// The processes, cut to what a host can have.
pub(super) fn bounded(mut processes: Vec<WatchedProcess>) -> Vec<WatchedProcess> {
    processes.truncate(MAX_PROCESSES);
    for process in &mut processes {
        process.command = process.command.chars().take(MAX_COMMAND_CHARS).collect();
        process.cpus.as_mut().into_iter().for_each(|cpus| cpus.truncate(MAX_CPUS));
    }
    processes
}
