//! Collectors: each one reads one kind of object and keeps a table of its columns and latest values.
//!
//! Invariants:
//! - a collector that cannot read has columns without values and a reason, and tries again once a second;
//! - its columns change only when what it watches changes, so that headers are rare;
//! - a value that was not read in this pass is `None`; nothing is carried over from an earlier pass.

mod behind;
mod carrier;
mod cgroup;
mod columns;
mod cpu;
mod disk;
mod energy;
mod file;
mod file_handles;
mod filesystem;
mod irq;
mod jvm;
mod link;
mod listener;
mod logs;
mod memory;
mod netdev;
mod others;
mod own;
mod pressure;
mod process;
mod protocols;
mod qdisc;
mod requests;
mod rtnetlink;
mod sockstat;
mod softirq;
mod softnet;
mod tables;
mod tcp_limits;
mod tiers;
mod vmstat;

use crate::watch::Watchlist;
pub use cgroup::group_throttling;
pub(crate) use cgroup::{ProcessThrottling, own_quota};
pub(crate) use columns::Table;

/// One pass over all collectors.
pub(crate) struct Pass<'a> {
    /// The watched objects.
    pub(crate) scene: &'a mut Watchlist,
    /// Buffer for the content of files.
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

    /// Minimum time from one such pass to the next. Unit: nanoseconds.
    pub(crate) fn interval_ns(self) -> u64 {
        match self {
            Beat::Sample => 0,
            Beat::HalfSecond => 500_000_000,
            Beat::Second => 1_000_000_000,
        }
    }
}

/// Reads one kind of object.
pub(crate) trait Collector: Send {
    /// Reads it into the table.
    fn read(&mut self, pass: &mut Pass<'_>);

    /// The columns and latest values.
    fn table(&mut self) -> &mut Table;

    /// Takes note that the next pass is to read everything, also what is read at longer intervals than its pace.
    fn hasten(&mut self) {}
}

/// How often a collector is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CollectorPace {
    /// At every sample; when the budget is short, others are read less often before, and it never less often than every 400 ms:
    /// what all findings rest on, and what costs little.
    Vital,
    /// The same, but never less often than every 800 ms: what most findings rest on.
    Foremost,
    /// At every sample, while the budget allows it.
    EverySample,
    /// Twice a second: what costs much to read and is judged over seconds.
    TwiceASecond,
    /// Once a second: what changes slowly, or costs much to read.
    EverySecond,
    /// At every sample, where it reads or does not: it keeps a limit of its own, and what it takes is not the others' loss.
    OwnLimit,
}

impl CollectorPace {
    /// The passes in which it is due.
    pub(crate) fn beat(self) -> Beat {
        match self {
            CollectorPace::Vital
            | CollectorPace::Foremost
            | CollectorPace::EverySample
            | CollectorPace::OwnLimit => Beat::Sample,
            CollectorPace::TwiceASecond => Beat::HalfSecond,
            CollectorPace::EverySecond => Beat::Second,
        }
    }
}

/// Makes a collector that has read nothing yet.
type Make = fn() -> Box<dyn Collector>;

/// All collectors, in the order in which they are read and their columns are listed.
pub(crate) const COLLECTORS: &[(CollectorPace, Make)] = &[
    (CollectorPace::Foremost, listener::collector),
    (CollectorPace::EverySample, behind::collector),
    (CollectorPace::OwnLimit, tiers::collector),
    (CollectorPace::OwnLimit, requests::collector),
    (CollectorPace::OwnLimit, others::collector),
    (CollectorPace::OwnLimit, logs::collector),
    (CollectorPace::EverySample, softnet::collector),
    (CollectorPace::EverySample, protocols::snmp),
    (CollectorPace::EverySample, protocols::netstat),
    (CollectorPace::TwiceASecond, sockstat::collector),
    (CollectorPace::EverySecond, tcp_limits::collector),
    (CollectorPace::EverySample, netdev::collector),
    (CollectorPace::TwiceASecond, qdisc::collector),
    (CollectorPace::Foremost, process::collector),
    (CollectorPace::TwiceASecond, jvm::collector),
    (CollectorPace::TwiceASecond, cgroup::collector),
    (CollectorPace::EverySecond, cgroup::limits),
    (CollectorPace::Vital, cpu::collector),
    (CollectorPace::EverySample, softirq::collector),
    (CollectorPace::TwiceASecond, irq::collector),
    (CollectorPace::EverySample, pressure::cpu),
    (CollectorPace::TwiceASecond, pressure::memory),
    (CollectorPace::TwiceASecond, pressure::io),
    (CollectorPace::TwiceASecond, disk::collector),
    (CollectorPace::EverySecond, memory::collector),
    (CollectorPace::EverySecond, vmstat::collector),
    (CollectorPace::EverySecond, file_handles::collector),
    (CollectorPace::EverySecond, tables::tasks),
    (CollectorPace::EverySecond, tables::connections),
    (CollectorPace::EverySecond, tables::neighbors),
    (CollectorPace::EverySecond, link::collector),
    (CollectorPace::EverySecond, carrier::collector),
    (CollectorPace::EverySecond, energy::collector),
    (CollectorPace::EverySecond, filesystem::collector),
    (CollectorPace::EverySample, own::collector),
];
