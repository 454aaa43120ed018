//! What can be seen of a host at a glance, besides what is sampled: its processes, and who listens.

use crate::clock;
use crate::error::RunError;
use serde::{Deserialize, Serialize};
use sysdyno_observe::{BusyThreads, find_all_listeners, host_process, host_processes};
use sysdyno_record::live::{ListedProcess, ProcessThreads};
use sysdyno_record::plan::Endpoint;

/// Listening addresses that are told of.
const MAX_LISTENERS: usize = 16;

/// Processes that another host may tell of, and characters of their names: the kernel's limits.
const MAX_PROCESSES: usize = 1 << 22;
const MAX_COMMAND_CHARS: usize = 64;

/// Busy processes and threads of one that another host may tell of.
const MAX_BUSY_PROCESSES: usize = 64;
const MAX_BUSY_THREADS: usize = 256;

/// The processes of a host at one instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostSurvey {
    /// When, on the host's own `CLOCK_MONOTONIC`. Unit: seconds.
    pub at_seconds: f64,
    /// Processes that have not ended, as far as they can be seen.
    pub processes: Vec<ListedProcess>,
    /// Threads of those that used the most CPU since the last survey.
    pub threads: Vec<ProcessThreads>,
}

/// An address at which somebody listens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListeningAddress {
    /// The address.
    pub address: Endpoint,
    /// The name of a process that listens; `None`: it is hidden. Untrusted.
    pub command: Option<String>,
}

impl HostSurvey {
    pub(super) fn here(busy: &mut BusyThreads) -> HostSurvey {
        let per_second = rustix::param::clock_ticks_per_second().max(1) as f64;
        let at_seconds = clock::monotonic().0 as f64 / 1e9;
        let processes = host_processes();
        let threads = busy.look(&processes);
        let listed = processes.into_iter().map(|process| ListedProcess {
            pid: process.pid,
            start_ticks: process.start_ticks,
            cpu_seconds: process.cpu_ticks as f64 / per_second,
            command: process.command,
            threads_count: u32::try_from(process.threads_count).unwrap_or(u32::MAX),
        });
        HostSurvey { at_seconds, processes: listed.collect(), threads }
    }

    /// Cut to what a host can have.
    pub(super) fn bounded(mut self) -> HostSurvey {
        self.processes.truncate(MAX_PROCESSES);
        for process in &mut self.processes {
            process.command = process.command.chars().take(MAX_COMMAND_CHARS).collect();
        }
        self.threads.truncate(MAX_BUSY_PROCESSES);
        for looks in self.threads.iter_mut().map(|process| &mut process.looks) {
            looks.truncate(MAX_BUSY_THREADS);
            looks.iter_mut().for_each(|look| look.name = look.name.chars().take(MAX_COMMAND_CHARS).collect());
        }
        self
    }
}

impl ListeningAddress {
    pub(super) fn all_here() -> Result<Vec<ListeningAddress>, RunError> {
        let found = find_all_listeners()?.into_iter().take(MAX_LISTENERS).map(|listener| {
            let owner = listener.owners.first().and_then(|pid| host_process(*pid));
            ListeningAddress { address: listener.address, command: owner.map(|owner| owner.command) }
        });
        Ok(found.collect())
    }

    /// Cut to what a host can have.
    pub(super) fn bounded(mut listening: Vec<ListeningAddress>) -> Vec<ListeningAddress> {
        listening.truncate(MAX_LISTENERS);
        for each in &mut listening {
            each.command =
                each.command.take().map(|command| command.chars().take(MAX_COMMAND_CHARS).collect());
        }
        listening
    }
}
