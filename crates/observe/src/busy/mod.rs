//! The busiest processes of a host, and what their threads do at one instant.
//!
//! One look takes at most [`MAX_THREADS`] threads, so that it costs at most some two milliseconds however many there are. Of a
//! process with more threads than its share, those are looked at whose turn it is: each thread as often as any other, whatever it
//! does, so that counts can be scaled. Who may not trace a process sees less: of processes of the same user the function of the
//! kernel in which a thread sleeps, of those of other users only whether it sleeps.

mod peers;

use crate::collect::ProcessThrottling;
use crate::discover::{HostProcess, list_tasks};
use crate::roots::Roots;
use crate::threads::{
    Sight, SocketSeen, ThreadFiles, at_descriptors, at_sockets, by_function, by_state, doing,
};
use peers::Peers;
use std::collections::{HashMap, HashSet};
use sysdyno_record::live::{ProcessThreads, ThreadLook, ThreadWait};

/// Processes whose threads are looked at.
const MAX_PROCESSES: usize = 12;

/// Threads that are looked at in one look.
const MAX_THREADS: usize = 64;

/// Those of one process.
const MAX_THREADS_OF_ONE: usize = 16;

/// The parent of the kernel's own threads.
const KTHREADD: u32 = 2;

/// Follows the busiest processes from one look to the next.
pub struct BusyThreads {
    roots: Roots,
    /// Start and CPU time of all processes when they were listed last, by id.
    ticks: HashMap<u32, [u64; 2]>,
    followed: HashMap<u32, Followed>,
    peers: Peers,
    buffer: Vec<u8>,
}

/// A process whose threads are looked at.
struct Followed {
    start_ticks: u64,
    /// Position of the thread that is looked at next, where there are too many.
    turn: usize,
    files: HashMap<u32, ThreadFiles>,
    throttling: ProcessThrottling,
}

/// A thread as it was seen, before it is known what its sockets are.
struct Glimpse {
    look: ThreadLook,
    sockets: Option<Vec<SocketSeen>>,
}

impl Default for BusyThreads {
    fn default() -> BusyThreads {
        BusyThreads::at(Roots::host())
    }
}

impl BusyThreads {
    fn at(roots: Roots) -> BusyThreads {
        BusyThreads {
            roots,
            ticks: HashMap::new(),
            followed: HashMap::new(),
            peers: Peers::default(),
            buffer: Vec::new(),
        }
    }

    /// Looks at the threads of those processes that have used the most CPU since the last look, and of those that are blocked; none
    /// at the first look. `processes`: all of the host.
    pub fn look(&mut self, processes: &[HostProcess]) -> Vec<ProcessThreads> {
        let chosen = self.choose(processes);
        let pids: HashSet<u32> = chosen.iter().map(|process| process.pid).collect();
        self.followed.retain(|pid, _| pids.contains(pid));
        self.peers.keep(&pids);
        let mut left = MAX_THREADS;
        let mut seen = Vec::new();
        for (position, process) in chosen.iter().enumerate() {
            let share = left.div_ceil(chosen.len() - position).min(MAX_THREADS_OF_ONE);
            let (throttled_us, glimpses) = self.glimpse(process, share);
            left -= glimpses.len();
            seen.push((process, throttled_us, glimpses));
        }
        let sockets = seen.iter().flat_map(|(process, _, glimpses)| {
            let sockets = glimpses.iter().filter_map(|glimpse| glimpse.sockets.as_ref()).flatten();
            sockets.map(|socket| (process.pid, *socket))
        });
        self.peers.learn(&self.roots, &sockets.collect::<Vec<_>>());
        seen.into_iter()
            .map(|(process, throttled_us, glimpses)| ProcessThreads {
                pid: process.pid,
                start_ticks: process.start_ticks,
                threads_count: u32::try_from(process.threads_count).unwrap_or(u32::MAX),
                throttled_us,
                looks: glimpses.into_iter().map(|glimpse| self.known(process.pid, glimpse)).collect(),
            })
            .collect()
    }

    /// The busiest processes since the last look, then those that are blocked.
    fn choose<'a>(&mut self, processes: &'a [HostProcess]) -> Vec<&'a HostProcess> {
        let used = |process: &HostProcess| {
            let [start_ticks, before] = self.ticks.get(&process.pid)?;
            (*start_ticks == process.start_ticks).then(|| process.cpu_ticks.saturating_sub(*before))
        };
        let used = processes.iter().filter_map(|process| Some((used(process)?, process)));
        let mut ranked: Vec<(u64, &HostProcess)> =
            used.filter(|(ticks, process)| *ticks > 0 || process.is_blocked).collect();
        ranked.sort_by_key(|(ticks, process)| (std::cmp::Reverse(*ticks), process.pid));
        ranked.truncate(MAX_PROCESSES);
        self.ticks =
            processes.iter().map(|process| (process.pid, [process.start_ticks, process.cpu_ticks])).collect();
        ranked.into_iter().map(|(_, process)| process).collect()
    }

    /// Looks at some threads of a process; returns also for how long it was throttled.
    fn glimpse(&mut self, process: &HostProcess, share: usize) -> (Option<u64>, Vec<Glimpse>) {
        let BusyThreads { roots, followed, buffer, .. } = self;
        let is_other = |followed: &Followed| followed.start_ticks != process.start_ticks;
        if followed.get(&process.pid).is_some_and(is_other) {
            followed.remove(&process.pid);
        }
        let followed = followed.entry(process.pid).or_insert_with(|| Followed {
            start_ticks: process.start_ticks,
            turn: 0,
            files: HashMap::new(),
            throttling: ProcessThrottling::find(roots, process.pid, buffer),
        });
        let ids = match process.threads_count {
            1 => vec![process.pid],
            _ => sorted(list_tasks(roots, process.pid)),
        };
        let in_turn = followed.in_turn(&ids, share);
        followed.files.retain(|id, _| in_turn.contains(id));
        let is_kernel = process.parent_pid == KTHREADD;
        let own = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
        let glimpses = in_turn.into_iter().filter(|id| *id != own).filter_map(|id| {
            let files = followed.files.entry(id).or_insert_with(|| ThreadFiles::new(roots, process.pid, id));
            glimpse(roots, (process.pid, id, is_kernel), files, buffer)
        });
        let glimpses = glimpses.collect();
        (followed.throttling.read_us(buffer), glimpses)
    }

    /// A thread with what its sockets are known to be.
    fn known(&self, pid: u32, Glimpse { look, sockets }: Glimpse) -> ThreadLook {
        let Some(sockets) = sockets else { return look };
        let found: Vec<_> = sockets.into_iter().map(|socket| self.peers.of(pid, socket)).collect();
        let (wait, asked) = at_sockets(&found);
        ThreadLook { wait, asked: asked.cloned(), ..look }
    }
}

impl Followed {
    /// Those of the threads that are looked at now, at most `share`.
    fn in_turn(&mut self, ids: &[u32], share: usize) -> Vec<u32> {
        let count = ids.len().min(share);
        let first = if ids.len() > count { self.turn % ids.len() } else { 0 };
        self.turn = first + count;
        ids.iter().cycle().skip(first).take(count).copied().collect()
    }
}

fn sorted(mut ids: Vec<u32>) -> Vec<u32> {
    ids.sort_unstable();
    ids
}

/// A thread at this instant; `None`: it is gone.
fn glimpse(
    roots: &Roots,
    (pid, tid, is_kernel): (u32, u32, bool),
    files: &mut ThreadFiles,
    buffer: &mut Vec<u8>,
) -> Option<Glimpse> {
    // Before its state, which reading does not change.
    let schedule = files.schedule(buffer);
    let place = if is_kernel { None } else { files.whereabouts(buffer) };
    let stat = files.stat(buffer)?;
    let state = Some(stat).filter(|stat| !stat.is_dead())?.state;
    let name = String::from_utf8_lossy(stat.command).into_owned();
    let awaited = match place {
        Some(place) => at_descriptors(roots, pid, doing(state, place)),
        None => Sight::Known(untraced(state, is_kernel, files, buffer)),
    };
    let (wait, sockets) = match awaited {
        Sight::Known(wait) => (wait, None),
        Sight::Sockets(sockets) => (ThreadWait::Other, Some(sockets)),
    };
    let look = ThreadLook {
        tid,
        name,
        cpu_ns: schedule.map(|schedule| schedule.cpu_ns),
        run_delay_ns: schedule.map(|schedule| schedule.run_delay_ns),
        wait,
        asked: None,
    };
    Some(Glimpse { look, sockets })
}

/// What a thread does that may not be traced, or is the kernel's.
fn untraced(state: u8, is_kernel: bool, files: &mut ThreadFiles, buffer: &mut Vec<u8>) -> ThreadWait {
    match by_state(state) {
        // It has no calls, and sleeps until there is something to do.
        ThreadWait::Hidden if is_kernel => ThreadWait::Idle,
        ThreadWait::Hidden => files.function(buffer).and_then(by_function).unwrap_or(ThreadWait::Hidden),
        known => known,
    }
}

#[cfg(test)]
mod tests;
