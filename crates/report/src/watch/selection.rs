//! The user's selection: groups of columns, and the objects that they show.

/// Columns that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchGroup {
    /// The time of day.
    Time,
    /// Shares of CPU time.
    Cpu,
    /// Bytes that disks read and wrote.
    Disk,
    /// Bytes that interfaces received and sent.
    Net,
    /// Swapping.
    Paging,
    /// Interrupts and context switches.
    System,
    /// Memory.
    Memory,
    /// Tasks.
    Processes,
    /// TCP.
    Tcp,
    /// Receive work of the kernel.
    Softnet,
    /// Pressure stalls.
    Pressure,
    /// Chosen lines of interrupts.
    Irq,
    /// The process that uses most CPU.
    Top,
}

/// Of what columns are shown; empty: of all together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WatchSelection {
    /// CPUs by number, or `total`.
    pub cpus: Vec<String>,
    /// Disks by name, or `total`.
    pub disks: Vec<String>,
    /// Interfaces by name, or `total`.
    pub netdevs: Vec<String>,
    /// Lines of interrupts by name.
    pub irqs: Vec<String>,
}
