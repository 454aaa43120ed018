//! Collectors: each reads one kind of thing and keeps a table of its columns and latest values.
//!
//! Invariants:
//! - a collector that cannot read has columns without values and a reason, and tries again once a second;
//! - its columns change only when what it watches changes, so that headers are rare;
//! - a value that was not read in this pass is `None`; nothing is carried over from an earlier pass.

mod behind;
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
pub(crate) use columns::Table;

/// One pass over all collectors.
pub(crate) struct Pass<'a> {
    /// What is watched.
    pub(crate) scene: &'a mut Scene,
    /// Memory to read files into.
    pub(crate) buffer: &'a mut Vec<u8>,
    /// What is due in it.
    pub(crate) beat: Beat,
}

impl Pass<'_> {
    /// Whether this pass looks for what came and went, once a second.
    pub(crate) fn is_look(&self) -> bool {
        self.beat == Beat::Second
    }
}

/// What is due in a pass; what is due more often is due with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Beat {
    /// What is read at every sample.
    #[default]
    Sample,
    /// Also what is read twice a second.
    HalfSecond,
    /// Also what is read once a second.
    Second,
}

impl Beat {
    /// All of them, the most frequent first.
    pub(crate) const ALL: [Beat; 3] = [Beat::Sample, Beat::HalfSecond, Beat::Second];

    /// Time from one such pass to the next, at least. Unit: nanoseconds.
    pub(crate) fn interval_ns(self) -> u64 {
        match self {
            Beat::Sample => 0,
            Beat::HalfSecond => 500_000_000,
            Beat::Second => 1_000_000_000,
        }
    }
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
    /// Twice a second: what costs much to read and is judged over seconds.
    TwiceASecond,
    /// Once a second: what changes slowly, or costs much to read.
    EverySecond,
}

impl Pace {
    /// The passes in which it is due.
    pub(crate) fn beat(self) -> Beat {
        match self {
            Pace::Foremost | Pace::EverySample => Beat::Sample,
            Pace::TwiceASecond => Beat::HalfSecond,
            Pace::EverySecond => Beat::Second,
        }
    }
}

/// Makes a collector that has read nothing yet.
type Make = fn() -> Box<dyn Collector>;

/// All collectors, in the order in which they are read and their columns are listed.
pub(crate) const COLLECTORS: &[(Pace, Make)] = &[
    (Pace::Foremost, listener::collector),
    (Pace::EverySample, behind::collector),
    (Pace::EverySample, softnet::collector),
    (Pace::EverySample, protocols::snmp),
    (Pace::EverySample, protocols::netstat),
    (Pace::TwiceASecond, sockstat::collector),
    (Pace::EverySample, netdev::collector),
    (Pace::Foremost, process::collector),
    (Pace::TwiceASecond, cgroup::collector),
    (Pace::EverySample, cpu::collector),
    (Pace::EverySample, softirq::collector),
    (Pace::TwiceASecond, irq::collector),
    (Pace::EverySample, pressure::cpu),
    (Pace::TwiceASecond, pressure::memory),
    (Pace::TwiceASecond, pressure::io),
    (Pace::TwiceASecond, disk::collector),
    (Pace::EverySecond, memory::collector),
    (Pace::EverySecond, vmstat::collector),
    (Pace::EverySecond, file_handles::collector),
    (Pace::EverySecond, link::collector),
    (Pace::EverySample, own::collector),
];
