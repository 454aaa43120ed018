//! What can go wrong when stacks are sampled.

use std::io;

/// An error of profiling: the operation, the object, the cause.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// This user may not sample the whole host.
    #[error(
        "cannot profile this host: {source} (kernel.perf_event_paranoid is {paranoid})\nhint: run it with `sudo`, or give it CAP_PERFMON and CAP_SYS_PTRACE"
    )]
    NotAllowed {
        /// The value of the setting, or `unknown`.
        paranoid: String,
        /// The system's error.
        source: io::Error,
    },
    /// The kernel has no perf events.
    #[error("cannot profile this host: its kernel has no perf events (CONFIG_PERF_EVENTS)")]
    NoPerfEvents,
    /// An event could not be opened, mapped, or started.
    #[error("cannot {operation} perf event '{event}' on CPU {cpu}: {source}")]
    Event {
        /// The verb: `open`, `map`, `start`.
        operation: &'static str,
        /// The event.
        event: &'static str,
        /// The CPU.
        cpu: u32,
        /// The system's error.
        source: io::Error,
    },
    /// A process that was asked for does not exist.
    #[error("cannot profile process {pid}: it does not exist\nhint: `ps -e` lists processes")]
    NoProcess {
        /// Its id.
        pid: u32,
    },
    /// A file of the kernel could not be read.
    #[error("cannot read '{path}': {source}")]
    Io {
        /// The file.
        path: String,
        /// The system's error.
        source: io::Error,
    },
}
