//! Finds other users of the CPUs and the disks: processes that belong neither to the server nor to the generator. They are watched
//! from then on, so that the source of a disturbance can be named.
//!
//! This collector has no columns. It notices a process by its CPU time between two looks, and by that of programs that it has
//! started and waited for: those may live shorter than that; and by what it read from disks and wrote to them (a backup hardly
//! computes). Who neither ran nor waits for a disk moved nothing, and is not asked. And it notices who holds a lock of a file that a
//! process of the server waits for.

use super::{Collector, Pass, Table};
use crate::clock;
use crate::discover::{HostProcess, describe_process, host_processes, process_io};
use crate::roots::Roots;
use crate::source::{locks, read_once};
use crate::watch::MAX_FOREIGN;
use std::collections::HashMap;
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::units::MonoNs;

pub(crate) fn collector() -> Box<dyn Collector> {
    Box::new(OthersCollector::default())
}

/// Who used more of a CPU than this between two looks is watched. Unit: ratio of a CPU.
const NOTICED_RATIO: f64 = 0.02;

/// Who read and wrote more than this between two looks is watched. Unit: bytes per second.
const NOTICED_BYTES_HZ: f64 = 1e6;

/// Between two looks. Unit: nanoseconds.
const LOOK_INTERVAL_NS: u64 = 2_000_000_000;
/// Of the time between two looks, at most this part is spent on one.
const MAX_LOOK_RATIO: u64 = 200;

#[derive(Default)]
struct OthersCollector {
    table: Table,
    /// Start of each process, and its CPU time with that of its children when it was looked at last.
    seen: HashMap<u32, [u64; 2]>,
    /// What each process had read and written when it was asked last. Unit: bytes.
    moved: HashMap<u32, u64>,
    looked: Option<MonoNs>,
    next_look: MonoNs,
}

impl OthersCollector {
    fn look(&mut self, pass: &mut Pass<'_>, now: MonoNs) {
        let passed_ns = self.looked.map(|at| now.since(at));
        let holders = lock_holders(pass);
        let processes = host_processes();
        let mut noticed = Vec::new();
        for process in &processes {
            let used = self.used(process);
            let is_asked = !is_kernel(process) && (process.is_blocked || used != Some(0));
            let moved = if is_asked { self.moved(process.pid, used.is_some()) } else { None };
            let is_busy = used.is_some_and(|used| is_noticed(used, passed_ns))
                || moved.zip(passed_ns).is_some_and(|(bytes, passed_ns)| is_moved(bytes, passed_ns));
            if is_busy || holders.contains(&process.pid) {
                noticed.push((used.unwrap_or(0), process));
            }
        }
        if self.seen.len() > 2 * processes.len() {
            self.seen.retain(|pid, _| processes.iter().any(|process| process.pid == *pid));
            self.moved.retain(|pid, _| self.seen.contains_key(pid));
        }
        noticed.sort_by_key(|(used, _)| std::cmp::Reverse(*used));
        self.looked = Some(now);
        noticed.retain(|(_, process)| {
            !is_kernel(process) && pass.scene.processes().all(|known| known.pid != process.pid)
        });
        // Who the relatives are takes a look at each process: most times there is nobody to be told from them.
        if noticed.is_empty() {
            return;
        }
        let own = relatives(&processes);
        let new = noticed.into_iter().filter(|(_, process)| !own.contains(&process.pid)).take(MAX_FOREIGN);
        let new = new.filter_map(|(_, process)| describe_process(process.pid, ProcessRole::Foreign).ok());
        let new = new.map(|process| WatchedProcess { holds_lock: holders.contains(&process.pid), ..process });
        let new = new.collect();
        pass.scene.add(new);
    }

    /// CPU time of a process and of what it has started since it was looked at last, in ticks; `None`: it is new.
    fn used(&mut self, process: &HostProcess) -> Option<u64> {
        let ticks = process.cpu_ticks.saturating_add(process.reaped_ticks);
        let [start_ticks, before] = self.seen.insert(process.pid, [process.start_ticks, ticks])?;
        ticks.checked_sub(before).filter(|_| start_ticks == process.start_ticks)
    }

    /// What a process has read and written since it was asked last; `None`: it was not, or may not be asked.
    fn moved(&mut self, pid: u32, is_same: bool) -> Option<u64> {
        let usage = process_io(pid)?;
        let bytes = usage.read_bytes.saturating_add(usage.written_bytes);
        self.moved.insert(pid, bytes).filter(|_| is_same).map(|before| bytes.saturating_sub(before))
    }
}

/// Who holds locks of files that processes of the server wait for.
fn lock_holders(pass: &Pass<'_>) -> Vec<u32> {
    let mut buffer = Vec::new();
    let Ok(text) = read_once(&pass.scene.roots.in_proc("locks"), &mut buffer) else { return Vec::new() };
    let is_of_server = |pid| pass.scene.living(ProcessRole::Target).any(|process| process.pid == pid);
    let waits = locks::waits(text).into_iter();
    let others = waits.filter(|wait| is_of_server(wait.waiting_pid) && !is_of_server(wait.holder_pid));
    others.map(|wait| wait.holder_pid).collect()
}

/// The parent of the kernel's own threads: what these do, they do for others.
const KTHREADD: u32 = 2;

fn is_kernel(process: &HostProcess) -> bool {
    process.pid == KTHREADD || process.parent_pid == KTHREADD
}

/// The processes of this program that belong to this one: its parents, and all that these have started. Another run beside this
/// one is foreign.
fn relatives(processes: &[HostProcess]) -> Vec<u32> {
    let exe = |pid: u32| std::fs::read_link(Roots::host().in_proc(&format!("{pid}/exe"))).ok();
    let own = exe(std::process::id());
    let parent = |pid: u32| processes.iter().find(|process| process.pid == pid).map(|found| found.parent_pid);
    let ancestors = std::iter::successors(Some(std::process::id()), |pid| parent(*pid));
    let first = ancestors.take_while(|pid| *pid > 1).filter(|pid| exe(*pid) == own).last();
    let is_below = |process: &&HostProcess| {
        let mut line = std::iter::successors(Some(process.pid), |pid| parent(*pid)).take(processes.len());
        line.any(|pid| Some(pid) == first)
    };
    let of_program = processes.iter().filter(|process| process.pid > 1 && exe(process.pid) == own);
    of_program.filter(is_below).map(|process| process.pid).collect()
}

/// Whether so many bytes to and from disks in so long are worth a name.
fn is_moved(bytes: u64, passed_ns: u64) -> bool {
    bytes as f64 * 1e9 > NOTICED_BYTES_HZ * passed_ns as f64
}

/// Whether so much CPU time in so long is worth a name.
fn is_noticed(used_ticks: u64, passed_ns: Option<u64>) -> bool {
    let used_ns = used_ticks as f64 * 1e9 / rustix::param::clock_ticks_per_second().max(1) as f64;
    passed_ns.is_some_and(|passed_ns| used_ns > NOTICED_RATIO * passed_ns as f64)
}

impl Collector for OthersCollector {
    fn read(&mut self, pass: &mut Pass<'_>) {
        let now = clock::monotonic();
        // Without a target there is nobody who could be disturbed.
        let is_wanted = pass.scene.endpoint.is_some() || pass.scene.finds_others;
        if !pass.scene.roots.is_host() || !is_wanted || now < self.next_look {
            return;
        }
        let cpu_ns = clock::thread_cpu_ns();
        self.look(pass, now);
        let spent = clock::thread_cpu_ns().saturating_sub(cpu_ns).saturating_mul(MAX_LOOK_RATIO);
        self.next_look = MonoNs(now.0.saturating_add(spent.max(LOOK_INTERVAL_NS)));
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_its_own_relative_and_process_1_is_not() {
        let own = relatives(&host_processes());
        assert!(own.contains(&std::process::id()) && !own.contains(&1), "{own:?}");
    }

    #[test]
    fn a_process_is_noticed_by_what_it_reads_and_writes() {
        assert!(!is_moved(1_500_000, 2_000_000_000));
        assert!(is_moved(2_500_000, 2_000_000_000));
        let mut others = OthersCollector::default();
        let own = std::process::id();
        assert_eq!(others.moved(own, true), None, "the first look compares with nothing");
        assert!(others.moved(own, true).is_some());
        assert_eq!(others.moved(own, false), None, "another process had that number");
    }

    #[test]
    fn a_process_is_noticed_by_its_share_of_the_time() {
        let second = rustix::param::clock_ticks_per_second();
        assert!(!is_noticed(second, None), "the first look compares with nothing");
        assert!(!is_noticed(second / 50, Some(1_000_000_000)));
        assert!(is_noticed(second / 50 + 1, Some(1_000_000_000)));
        assert!(!is_noticed(second / 50 + 1, Some(5_000_000_000)));
    }
}
