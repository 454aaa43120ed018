//! What a host did while it was watched without a load: how much of each resource was used, and by whom.

use crate::event::ProcessRole;
use crate::named::named;
use crate::units::MonoNs;
use serde::{Deserialize, Serialize};

/// A host over the time for which it was watched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostSummary {
    /// The host, as it was typed; `None`: the measuring one. Untrusted text.
    pub host: Option<String>,
    /// Samples that were recorded.
    pub samples_count: u64,
    /// From the first sample to the last. Unit: seconds.
    pub seconds: f64,
    /// How much of each resource was used; what could not be read is left out.
    pub levels: Vec<ResourceLevel>,
    /// Processes by CPU, the busiest first.
    pub processes: Vec<WatchedCpu>,
}

named! {
    /// Something of a host that is used. Its unit is the last word of its name.
    WatchedResource {
        /// All CPUs, without idle time and waiting for disks.
        Cpus "cpus_busy_ratio";
        /// The busiest CPU, likewise.
        Cpu "cpu_busy_ratio";
        /// Interrupts, hard and soft, of the CPU that has the most of them.
        Softirq "cpu_interrupts_ratio";
        /// Time in which some task waited for a CPU.
        CpuPressure "cpu_pressure_ratio";
        /// Memory that programs could still get; its worst is the least.
        Memory "memory_available_bytes";
        /// Time in which some task waited for memory.
        MemoryPressure "memory_pressure_ratio";
        /// Time in which the busiest disk had something to do.
        Disk "disk_busy_ratio";
        /// Time in which some task waited for a disk.
        IoPressure "io_pressure_ratio";
        /// What the busiest interface received. Unit: bytes per second.
        Received "received_bytes_hz";
        /// What the busiest interface sent. Unit: bytes per second.
        Sent "sent_bytes_hz";
    }
}

/// How much of a resource was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResourceLevel {
    /// Which.
    pub resource: WatchedResource,
    /// The one of several: a disk, an interface, the number of a CPU; `None`: it is of the whole host. Untrusted text.
    pub object: Option<String>,
    /// Over the whole time.
    pub mean: f64,
    /// In the ten samples in a row in which it was worst.
    pub worst: f64,
    /// When these began.
    pub begin_mono_ns: MonoNs,
    /// When they ended.
    pub end_mono_ns: MonoNs,
}

/// CPU that a process used while it was watched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WatchedCpu {
    /// Its id.
    pub pid: u32,
    /// Its name. Untrusted text.
    pub command: String,
    /// Whether it is of the server that was asked for.
    pub role: ProcessRole,
    /// On average, from when it was first noticed to its end. Unit: CPUs.
    pub mean_cpus: f64,
    /// In the ten samples in a row in which it used most. Unit: CPUs.
    pub worst_cpus: f64,
}
