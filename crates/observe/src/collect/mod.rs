//! Collectors: each reads one kind of thing and keeps a table of its columns and latest values.
//!
//! Invariants:
//! - a collector that cannot read has columns without values and a reason, and tries again once a second;
//! - its columns change only when what it watches changes, so that headers are rare;
//! - a value that was not read in this pass is `None`; nothing is carried over from an earlier pass.

mod cgroup;
mod columns;
mod cpu;
mod disk;
mod file;
mod file_handles;
mod irq;
mod link;
mod listener;
mod memory;
mod netdev;
mod own;
mod pressure;
mod process;
mod protocols;
mod sockstat;
mod softirq;
mod softnet;
mod vmstat;

use crate::watch::Scene;
pub(crate) use columns::{Table, counter, gauge};

/// One pass over all collectors.
pub(crate) struct Pass<'a> {
    /// What is watched.
    pub(crate) scene: &'a mut Scene,
    /// Memory to read files into.
    pub(crate) buffer: &'a mut Vec<u8>,
    /// Whether this pass looks for what came and went, once a second.
    pub(crate) is_look: bool,
}

/// Reads one kind of thing.
pub(crate) trait Collector: Send {
    /// Reads it into the table.
    fn read(&mut self, pass: &mut Pass<'_>);

    /// The columns and latest values.
    fn table(&mut self) -> &mut Table;
}

/// All collectors, in the order in which they are read and their columns are listed.
pub(crate) const COLLECTORS: &[fn() -> Box<dyn Collector>] = &[
    listener::collector,
    softnet::collector,
    protocols::snmp,
    protocols::netstat,
    sockstat::collector,
    netdev::collector,
    process::collector,
    cgroup::collector,
    cpu::collector,
    softirq::collector,
    irq::collector,
    pressure::cpu,
    pressure::memory,
    pressure::io,
    disk::collector,
    memory::collector,
    vmstat::collector,
    file_handles::collector,
    link::collector,
    own::collector,
];
