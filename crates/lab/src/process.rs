//! Processes of a lab: identified by pid and start time, signaled by pidfd, killed with all their descendants.

use super::journal::ProcessId;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::collections::BTreeSet;
use std::io;
use std::time::Duration;
use sysdyno_observe::{HostProcess, host_process, host_processes, process_cpu_us};

/// How often descendants are looked for again while some appear.
const MAX_ROUNDS: u32 = 1000;

/// A process that is there, and that no other one can be taken for.
#[derive(Debug)]
pub(super) struct Held {
    pid: u32,
    handle: OwnedFd,
}

impl Held {
    /// Opens a process; `None` if it has ended, even if another process now has its pid.
    pub(super) fn of(id: ProcessId) -> Option<Held> {
        let pid = Pid::from_raw(i32::try_from(id.pid).ok()?)?;
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        // The handle is of whoever has the pid now; the start time says who that is.
        let is_it = host_process(id.pid).is_some_and(|found| found.start_ticks == id.start_ticks);
        is_it.then_some(Held { pid: id.pid, handle })
    }

    /// Sends a signal; a process that has ended meanwhile needs none.
    pub(super) fn signal(&self, signal: Signal) {
        let _ = pidfd_send_signal(&self.handle, signal);
    }

    /// Waits for its end; false if it does not come within `span`.
    pub(super) fn wait(&self, span: Duration) -> io::Result<bool> {
        let limit = Timespec { tv_sec: span.as_secs() as i64, tv_nsec: i64::from(span.subsec_nanos()) };
        let mut watched = [PollFd::new(&self.handle, PollFlags::IN)];
        match poll(&mut watched, Some(&limit)) {
            Ok(count) => Ok(count > 0),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Kills all that descends from it, and then itself, and waits for their ends.
    pub(super) fn kill_with_descendants(&self) {
        kill_descendants(self.pid);
        self.signal(Signal::KILL);
        let _ = self.wait(Duration::from_secs(10));
    }
}

/// Who a process is now; `None` if it has ended.
pub(crate) fn identify(pid: u32) -> Option<ProcessId> {
    host_process(pid).map(|found| ProcessId { pid, start_ticks: found.start_ticks })
}

/// Kills all that descends from a process, until there is nothing left: a process that is being killed may have started
/// another one before.
pub(super) fn kill_descendants(ancestor: u32) {
    for _ in 0..MAX_ROUNDS {
        let below = descendants(&host_processes(), ancestor);
        if below.is_empty() {
            return;
        }
        below.into_iter().for_each(kill);
    }
}

/// Kills processes that this holds for, until none is left.
pub(super) fn kill_all(is_meant: impl Fn(&HostProcess) -> bool) {
    for _ in 0..MAX_ROUNDS {
        let found: Vec<HostProcess> = host_processes().into_iter().filter(&is_meant).collect();
        if found.is_empty() {
            return;
        }
        found.iter().map(|process| (process.pid, process.start_ticks)).for_each(kill);
    }
}

fn kill((pid, start_ticks): (u32, u64)) {
    if let Some(held) = Held::of(ProcessId { pid, start_ticks }) {
        held.signal(Signal::KILL);
        // One that cannot be killed just now (in uninterruptible sleep) is waited for a second only.
        let _ = held.wait(Duration::from_secs(1));
    }
}

/// CPU time of a process, of all that descends from it, and of the ended ones among them. Unit: microseconds, in ticks.
pub(super) fn cpu_us_with_descendants(ancestor: u32) -> Option<u64> {
    let below = descendants(&host_processes(), ancestor).into_iter().map(|(pid, _)| pid);
    // One that has ended meanwhile is counted by its parent.
    let below: u64 = below.filter_map(process_cpu_us).sum();
    Some(process_cpu_us(ancestor)?.saturating_add(below))
}

/// Pid and start time of all that descends from a process and has not ended.
fn descendants(all: &[HostProcess], ancestor: u32) -> Vec<(u32, u64)> {
    let mut known = BTreeSet::from([ancestor]);
    loop {
        let count = known.len();
        known.extend(
            all.iter()
                .filter(|process| known.contains(&process.parent_pid))
                .map(|process| process.pid)
                .collect::<Vec<_>>(),
        );
        if known.len() == count {
            break;
        }
    }
    let is_below = |process: &&HostProcess| process.pid != ancestor && known.contains(&process.pid);
    all.iter().filter(is_below).map(|process| (process.pid, process.start_ticks)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_pid_with_another_start_time_is_somebody_else() {
        let own = identify(std::process::id()).expect("this process is there");
        assert!(Held::of(own).is_some());
        assert!(Held::of(ProcessId { start_ticks: own.start_ticks + 1, ..own }).is_none());
    }

    #[test]
    fn the_time_of_descendants_is_among_that_of_a_process() {
        let busy = "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done";
        let mut child = Command::new("sh")
            .args(["-c", &format!("(sh -c '{busy}'; true); sh -c '{busy}; echo; cat'; true")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut said = [0];
        std::io::Read::read_exact(child.stdout.as_mut().expect("is piped"), &mut said).expect("it speaks");
        // One of its children has ended, and the other one waits.
        let all = cpu_us_with_descendants(child.id()).expect("is there");
        let own = process_cpu_us(child.id()).expect("is there");
        assert!(all > own && own > 0, "{all} of {own}");
        drop(child.stdin.take());
        assert!(child.wait().is_ok());
        assert_eq!(cpu_us_with_descendants(u32::MAX), None);
    }

    #[test]
    fn all_that_descends_from_a_process_is_killed() {
        let mut child = Command::new("sh")
            .args(["-c", "sh -c 'sleep 600 & sleep 600' & sleep 600"])
            .stdin(Stdio::null())
            .spawn()
            .expect("starts");
        let held = Held::of(identify(child.id()).expect("is there")).expect("is there");
        let count = || descendants(&host_processes(), child.id()).len();
        while count() < 4 {
            assert!(!held.wait(Duration::from_millis(2)).expect("can be waited for"), "it goes on");
        }
        kill_descendants(child.id());
        assert_eq!(count(), 0);
        held.kill_with_descendants();
        assert!(child.wait().is_ok());
    }
}
