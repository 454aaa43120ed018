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

/// How often a collector is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// At every sample; when the budget is short, others are read less often before: what most findings rest on.
    Foremost,
    /// At every sample, while the budget allows it.
    EverySample,
    /// Once a second: what changes slowly, or costs much to read.
    EverySecond,
}

/// Makes a collector that has read nothing yet.
type Make = fn() -> Box<dyn Collector>;

/// All collectors, in the order in which they are read and their columns are listed.
pub(crate) const COLLECTORS: &[(Pace, Make)] = &[
    (Pace::Foremost, listener::collector),
    (Pace::EverySample, softnet::collector),
    (Pace::EverySample, protocols::snmp),
    (Pace::EverySample, protocols::netstat),
    (Pace::EverySample, sockstat::collector),
    (Pace::EverySample, netdev::collector),
    (Pace::Foremost, process::collector),
    (Pace::EverySample, cgroup::collector),
    (Pace::EverySample, cpu::collector),
    (Pace::EverySample, softirq::collector),
    (Pace::EverySample, irq::collector),
    (Pace::EverySample, pressure::cpu),
    (Pace::EverySample, pressure::memory),
    (Pace::EverySample, pressure::io),
    (Pace::EverySample, disk::collector),
    (Pace::EverySecond, memory::collector),
    (Pace::EverySecond, vmstat::collector),
    (Pace::EverySecond, file_handles::collector),
    (Pace::EverySecond, link::collector),
    (Pace::EverySample, own::collector),
];
