//! What a host did between two samples, for people who watch it: rates and levels, ready to print.
//!
//! Derived from the columns of [`crate::column`]; a run folder contains those, not frames. `None` always means not read or
//! not present.

use crate::named::named;
use crate::plan::Endpoint;
use crate::units::{MonoNs, WallNs};
use serde::{Deserialize, Serialize};

/// A host between two samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostFrame {
    /// When it was read, on the wall clock.
    pub unix_ns: WallNs,
    /// The same on the monotonic clock.
    pub mono_ns: MonoNs,
    /// Time since the sample before. Unit: seconds.
    pub seconds: f64,
    /// All CPUs together.
    pub cpu: CpuShares,
    /// Each CPU.
    pub cpus: Vec<CpuShares>,
    /// What the kernel did with tasks.
    pub kernel: KernelFrame,
    /// Lines of interrupts, the busiest first.
    pub irqs: Vec<IrqFrame>,
    /// Network interfaces.
    pub netdevs: Vec<NetdevFrame>,
    /// Receive work of the kernel.
    pub softnet: SoftnetFrame,
    /// Listening sockets, the fullest first.
    pub listeners: Vec<ListenerFrame>,
    /// Sockets and segments of TCP.
    pub tcp: TcpFrame,
    /// Block devices, the busiest first.
    pub disks: Vec<DiskFrame>,
    /// Memory and paging.
    pub memory: MemoryFrame,
    /// Pressure stalls.
    pub pressure: PressureFrame,
    /// Processes by CPU, the busiest first; empty where they were not asked for.
    pub processes: Vec<ProcessFrame>,
    /// Threads of the busiest processes by CPU, the busiest first; empty as above.
    pub threads: Vec<ThreadFrame>,
    /// The way of a request, where a server is watched.
    pub tiers: Vec<TierFrame>,
    /// CPU time of this program's sampler for one sample. Unit: microseconds.
    pub sampler_us: Option<f64>,
}

/// Shares of the time of one CPU, or of all. Unit: ratio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CpuShares {
    /// The CPU; `None`: all of them.
    pub cpu: Option<u32>,
    /// User code, niced included.
    pub user_ratio: Option<f64>,
    /// Kernel code on behalf of processes.
    pub system_ratio: Option<f64>,
    /// Soft interrupts.
    pub softirq_ratio: Option<f64>,
    /// Hard interrupts.
    pub irq_ratio: Option<f64>,
    /// Idle while a disk was waited for.
    pub iowait_ratio: Option<f64>,
    /// Taken by the hypervisor.
    pub steal_ratio: Option<f64>,
    /// Idle otherwise.
    pub idle_ratio: Option<f64>,
}

/// Tasks and interrupts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct KernelFrame {
    /// Interrupts of all lines. Unit: per second.
    pub interrupts_hz: Option<f64>,
    /// Context switches. Unit: per second.
    pub switches_hz: Option<f64>,
    /// New tasks. Unit: per second.
    pub forks_hz: Option<f64>,
    /// Runnable tasks.
    pub running_count: Option<f64>,
    /// All tasks.
    pub tasks_count: Option<f64>,
}

/// A line of interrupts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct IrqFrame {
    /// Its name in `/proc/interrupts`. Untrusted text.
    pub line: String,
    /// On all CPUs. Unit: per second.
    pub hz: f64,
    /// On each CPU, in the order of [`HostFrame::cpus`]. Unit: per second.
    pub by_cpu_hz: Vec<f64>,
}

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NetdevFrame {
    /// Its name. Untrusted text.
    pub name: String,
    /// Received. Unit: bytes per second.
    pub received_bytes_hz: Option<f64>,
    /// Sent. Unit: bytes per second.
    pub sent_bytes_hz: Option<f64>,
    /// Received packets. Unit: per second.
    pub received_hz: Option<f64>,
    /// Sent packets. Unit: per second.
    pub sent_hz: Option<f64>,
    /// Packets that were dropped or broken, in both directions, by the device or its queue. Unit: per second.
    pub lost_hz: Option<f64>,
    /// What waits to be sent. Unit: bytes.
    pub backlog_bytes: Option<f64>,
    /// Speed of the link. Unit: megabits per second.
    pub speed_mbps: Option<f64>,
}

/// Receive work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SoftnetFrame {
    /// Packets. Unit: per second.
    pub processed_hz: Option<f64>,
    /// Packets dropped for a full backlog. Unit: per second.
    pub dropped_hz: Option<f64>,
    /// How often the work was broken off with packets left. Unit: per second.
    pub squeezed_hz: Option<f64>,
}

/// A listening socket.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ListenerFrame {
    /// Where it listens. Untrusted text.
    pub address: String,
    /// Who listens. Untrusted text.
    pub owner: Option<String>,
    /// Connections that wait to be accepted.
    pub queue_count: Option<f64>,
    /// How many of these there may be.
    pub limit_count: Option<f64>,
    /// Connections that were accepted.
    pub established_count: Option<f64>,
}

/// TCP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TcpFrame {
    /// Established connections.
    pub established_count: Option<f64>,
    /// Sockets in use.
    pub in_use_count: Option<f64>,
    /// Sockets in TIME_WAIT.
    pub time_wait_count: Option<f64>,
    /// Sockets without a process.
    pub orphan_count: Option<f64>,
    /// Accepted connections. Unit: per second.
    pub accepted_hz: Option<f64>,
    /// Sent segments. Unit: per second.
    pub sent_hz: Option<f64>,
    /// Segments sent again. Unit: per second.
    pub retransmitted_hz: Option<f64>,
    /// Connections dropped for a full accept queue. Unit: per second.
    pub listen_overflows_hz: Option<f64>,
    /// Connections dropped at a listening socket for any reason. Unit: per second.
    pub listen_drops_hz: Option<f64>,
}

/// A block device.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DiskFrame {
    /// Its name. Untrusted text.
    pub name: String,
    /// Reads. Unit: per second.
    pub reads_hz: Option<f64>,
    /// Writes. Unit: per second.
    pub writes_hz: Option<f64>,
    /// Flushes, as a journal asks for them. Unit: per second.
    pub flushes_hz: Option<f64>,
    /// Read. Unit: bytes per second.
    pub read_bytes_hz: Option<f64>,
    /// Written. Unit: bytes per second.
    pub written_bytes_hz: Option<f64>,
    /// Share of the time in which it had something to do. Unit: ratio.
    pub busy_ratio: Option<f64>,
    /// Requests on their way, on average.
    pub queue_count: Option<f64>,
}

/// Memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MemoryFrame {
    /// All of it. Unit: bytes.
    pub total_bytes: Option<f64>,
    /// What programs could still get. Unit: bytes.
    pub available_bytes: Option<f64>,
    /// Used by nobody. Unit: bytes.
    pub free_bytes: Option<f64>,
    /// Page cache. Unit: bytes.
    pub cached_bytes: Option<f64>,
    /// To be written back. Unit: bytes.
    pub dirty_bytes: Option<f64>,
    /// Swap in use. Unit: bytes.
    pub swap_used_bytes: Option<f64>,
    /// Read from swap. Unit: bytes per second.
    pub swapped_in_bytes_hz: Option<f64>,
    /// Written to swap. Unit: bytes per second.
    pub swapped_out_bytes_hz: Option<f64>,
}

/// Shares of the time in which tasks waited. Unit: ratio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PressureFrame {
    /// Some task waited for a CPU.
    pub cpu_some_ratio: Option<f64>,
    /// Some task waited for memory.
    pub memory_some_ratio: Option<f64>,
    /// All tasks that were not idle did.
    pub memory_full_ratio: Option<f64>,
    /// Some task waited for a disk.
    pub io_some_ratio: Option<f64>,
    /// All tasks that were not idle did.
    pub io_full_ratio: Option<f64>,
}

/// CPU time of a process, as it was listed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListedProcess {
    /// Its id.
    pub pid: u32,
    /// When it started. Unit: ticks of the kernel since boot.
    pub start_ticks: u64,
    /// CPU time that it has used. Unit: seconds.
    pub cpu_seconds: f64,
    /// Its name. Untrusted text.
    pub command: String,
    /// Its threads.
    pub threads_count: u32,
}

named! {
    /// What a thread does or waits for, at one instant.
    ThreadWait {
        /// Nothing: it is on a CPU, or ready.
        Running "running";
        /// Another thread or process that has a lock: a futex, a lock of a file.
        Lock "lock";
        /// Another process: the end of a child, or what comes through a pipe.
        Process "process";
        /// A disk: an uninterruptible sleep, or data being written out.
        Disk "disk";
        /// A time.
        Timer "timer";
        /// To be continued: it was stopped.
        Stopped "stopped";
        /// A request or an event: a new connection, or the next bytes of a connection that it has accepted.
        Idle "idle";
        /// A connection to somewhere else.
        Network "network";
        /// Anything else.
        Other "other";
        /// The kernel does not tell it to this user.
        Hidden "hidden";
    }
}

/// Threads of a busy process at one instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcessThreads {
    /// The process.
    pub pid: u32,
    /// When it started. Unit: ticks of the kernel since boot.
    pub start_ticks: u64,
    /// How many threads it has.
    pub threads_count: u32,
    /// Time that its control group was throttled by a CPU quota, summed over CPUs; `None`: it has no quota. Unit: microseconds.
    pub throttled_us: Option<u64>,
    /// Those that were looked at: all, or, of many, some of them in turn.
    pub looks: Vec<ThreadLook>,
}

/// A thread at one instant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreadLook {
    /// Its id.
    pub tid: u32,
    /// Its name. Untrusted text.
    pub name: String,
    /// CPU time since it started; `None`: this kernel does not say. Unit: nanoseconds.
    pub cpu_ns: Option<u64>,
    /// Time ready and waiting for a CPU, likewise. Unit: nanoseconds.
    pub run_delay_ns: Option<u64>,
    /// What it did.
    pub wait: ThreadWait,
    /// Who was asked at the connection that it waited for; `None`: it waited for no such connection. Untrusted text.
    pub asked: Option<Endpoint>,
}

/// A process.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProcessFrame {
    /// Its id.
    pub pid: u32,
    /// Its name. Untrusted text.
    pub command: String,
    /// CPU that it used. Unit: CPUs.
    pub cpus: f64,
    /// Its threads.
    pub threads_count: u32,
    /// What its threads did in the last ten samples, the most first, the idle last. They add up to its threads, unless it was looked
    /// at too seldom. Empty: it was not looked at.
    pub waits: Vec<WaitFrame>,
}

/// A thread of one of the busiest processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ThreadFrame {
    /// Its process.
    pub pid: u32,
    /// The name of its process. Untrusted text.
    pub command: String,
    /// Its id.
    pub tid: u32,
    /// Its name. Untrusted text.
    pub name: String,
    /// Share of the time on a CPU.
    pub cpu_ratio: f64,
    /// Share of the time ready, waiting for a CPU.
    pub ready_ratio: f64,
    /// What it did in the last ten looks at it, the most first; the counts are shares of the time.
    pub waits: Vec<WaitFrame>,
}

/// A tier of the server.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TierFrame {
    /// What its first process is called. Untrusted text.
    pub name: String,
    /// How many connections it is behind the first one.
    pub depth: u32,
    /// Its processes.
    pub processes_count: u32,
    /// CPU that it used. Unit: CPUs.
    pub cpus: Option<f64>,
    /// Connections that it has accepted.
    pub connections_count: Option<f64>,
    /// Connections that wait to be accepted.
    pub queue_count: Option<f64>,
    /// What its threads do, or wait for, the most first.
    pub waits: Vec<WaitFrame>,
}

/// Threads that do, or wait for, the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WaitFrame {
    /// What: `running`, `lock`, `process`, `disk`, `timer`, `stopped`, `idle`, `network`, `asking`, `other`; of processes also
    /// `runnable`, `throttled`, and `hidden`.
    pub what: &'static str,
    /// Who is asked, where that is known; `None`: nobody, or it is in the request path. Untrusted text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// How many threads.
    pub threads_count: f64,
}

/// Something that limits the host now, or is about to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LiveFinding {
    /// The number of the diagnosis.
    pub id: &'static str,
    /// Its short name.
    pub name: &'static str,
    /// What was seen, in a sentence. Names in it are made safe.
    pub title: String,
    /// What the diagnosis means.
    pub meaning: &'static str,
    /// What could be changed.
    pub remedy: &'static str,
}
