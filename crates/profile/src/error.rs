//! What can go wrong when stacks are sampled.

use std::io;

/// An error of profiling: the operation, the object, the cause.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// This user may not sample the whole host.
    #[error(
        "cannot profile this host: {source} (kernel.perf_event_paranoid is {paranoid})\nhint: run it with `sudo`, or give it CAP_PERFMON and CAP_SYS_PTRACE{}",
        if *allows_own { "; `-p PID` samples the code of a process of your own without them" } else { "" }
    )]
    NotAllowed {
        /// The value of the setting, or `unknown`.
        paranoid: String,
        /// Whether this user may sample the code of its own processes.
        allows_own: bool,
        /// The system's error.
        source: io::Error,
    },
    /// This user may sample nothing, not even its own processes.
    #[error(
        "cannot profile process {pid}: {source} (kernel.perf_event_paranoid is {paranoid})\nhint: run it with `sudo`, or give it CAP_PERFMON and CAP_SYS_PTRACE; with kernel.perf_event_paranoid at 2, users may sample the code of their own processes"
    )]
    NotAllowedProcess {
        /// Its id.
        pid: u32,
        /// The value of the setting, or `unknown`.
        paranoid: String,
        /// The system's error.
        source: io::Error,
    },
    /// This user may sample the code of the process, but not the kernel, where threads begin to wait.
    #[error(
        "cannot record what process {pid} waits for: threads leave the CPU in the kernel, which this user may not sample (kernel.perf_event_paranoid is {paranoid})\nhint: run it with `sudo`, or set kernel.perf_event_paranoid to 1"
    )]
    NoWaits {
        /// Its id.
        pid: u32,
        /// The value of the setting, or `unknown`.
        paranoid: String,
    },
    /// The process is not this user's, or has changed its user.
    #[error(
        "cannot profile process {pid}: it does not belong to this user, or has changed its user\nhint: run it with `sudo`"
    )]
    OtherUser {
        /// Its id.
        pid: u32,
    },
    /// The machine has no counters, as most virtual ones have none.
    #[error(
        "cannot sample {event}: this machine has no hardware counters\nhint: `--event cpu-clock` samples by a timer, and needs none"
    )]
    NoCounters {
        /// The event.
        event: &'static str,
    },
    /// The machine has counters, but none for this.
    #[error(
        "cannot sample {event}: the hardware counters of this machine do not count them\nhint: `--event cycles`, or `perf list hw` for what they do count"
    )]
    NotCounted {
        /// The event.
        event: &'static str,
    },
    /// The kernel takes fewer samples.
    #[error(
        "cannot sample {rate_hz} times per second: the kernel allows {max_hz} (kernel.perf_event_max_sample_rate)\nhint: `-F {max_hz}`"
    )]
    Rate {
        /// The rate. Unit: per second.
        rate_hz: u32,
        /// Its limit, which it lowers by itself where samples take too long. Unit: per second.
        max_hz: u32,
    },
    /// This user may not lock the memory that the kernel writes samples to.
    #[error(
        "cannot profile: {source}: too little memory may be locked\nhint: raise `ulimit -l` or kernel.perf_event_mlock_kb, end other profiles of this user, or run it with `sudo`"
    )]
    Memory {
        /// The system's error.
        source: io::Error,
    },
    /// There are more threads than this user may open events for.
    #[error(
        "cannot profile {threads_count} threads: each needs one open file per CPU, and the limit is lower\nhint: raise `ulimit -n`, or run it with `sudo`"
    )]
    Descriptors {
        /// How many threads.
        threads_count: usize,
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
