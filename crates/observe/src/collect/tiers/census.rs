//! A census of the server's threads: what each runs or waits for at one instant, counted by tier.
//!
//! By Little's law the mean number of threads that wait for something, divided by the rate of requests, is the time that a request
//! spends waiting for it. That holds for threads that serve one request at a time; an event loop is idle in the census whatever
//! its requests wait for. In a process of many threads only those count that were once seen at a connection of a request:
//! the others (writers, timers, collectors of garbage) wait for something else. Where each connection has a thread that reads it,
//! there are as many of them as connections: while all wait for one lock, few are ever seen at their connection, and those that
//! are missing are looked for among the rest. A thread that was there before may sleep for its own purposes; one that has begun since
//! then and sleeps has a request. Who may not trace the processes sees nothing.

use super::wait::{Doing, KINDS, Wait, doing, is_in_event_loop};
use crate::discover::{ConnectionEnds, DescriptorTarget, target_of};
use crate::roots::Roots;
use crate::source::{pid_stat, pid_syscall, read_once};
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::IoSliceMut;
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::plan::Endpoint;

/// Threads of a tier that are looked at in one pass; of more, others are in the next one.
const MAX_THREADS: usize = 64;

/// Descriptors of one call that are looked at.
const MAX_LISTED: usize = 4;

/// `struct pollfd`. Unit: bytes.
const POLLFD_BYTES: usize = 8;

/// What the threads of a tier did.
#[derive(Clone, Debug, Default)]
pub(super) struct TierCounts {
    /// Threads that serve requests.
    pub(super) threads: f64,
    /// By what they wait for, in the order of [`KINDS`].
    pub(super) waits: [f64; KINDS.len()],
    /// By the address of the tier that they wait for.
    pub(super) asking: BTreeMap<String, (Endpoint, f64)>,
}

/// A thread at one instant.
#[derive(Debug)]
pub(super) struct Sighting {
    thread: (u32, u32),
    /// Whether its process has no other.
    is_single: bool,
    /// Whether it waits for events of many connections.
    is_event_loop: bool,
    seen: Seen,
}

#[derive(Debug)]
enum Seen {
    Known(Wait),
    /// It waits for one of these sockets.
    Sockets(Vec<u64>),
}

/// Threads of a tier at one instant.
#[derive(Debug)]
pub(super) struct Look {
    sightings: Vec<Sighting>,
    /// All threads ÷ those that were looked at.
    scale: f64,
    /// Whether one of its processes was not known before: which of its threads have begun since is not known either.
    is_first: bool,
}

impl Look {
    /// Whether it can be counted: it is no first look, and the sockets that threads wait at are known; `is_new`: the list of these
    /// is of now, so that what is not in it is somebody else's.
    pub(super) fn counts(&self, ends: &ConnectionEnds, is_new: bool) -> bool {
        let is_known = |sighting: &Sighting| match &sighting.seen {
            Seen::Known(_) => true,
            Seen::Sockets(inodes) => inodes.is_empty() || inodes.iter().any(|inode| ends.has(*inode)),
        };
        !self.sightings.is_empty() && !self.is_first && (is_new || self.sightings.iter().all(is_known))
    }
}

#[derive(Debug, Default)]
pub(super) struct Census {
    /// Threads that were seen at a connection of a request.
    serving: HashSet<(u32, u32)>,
    /// Processes of several threads, one of which was seen waiting for the next request of a connection.
    readers: HashSet<u32>,
    /// Processes of which a thread was seen waiting for events of many connections. It may be running at the next look.
    event_loops: HashSet<u32>,
    /// Processes that have at least as many threads as connections.
    supposed: HashSet<u32>,
    /// By process, the threads that it had when it was looked at first.
    residents: HashMap<u32, HashSet<u32>>,
    /// Where the turn of looking at threads is, where there are too many.
    turn: usize,
}

impl Census {
    /// Looks at the threads of a tier.
    pub(super) fn look(
        &mut self,
        roots: &Roots,
        processes: &[&WatchedProcess],
        buffer: &mut Vec<u8>,
    ) -> Look {
        let threads: Vec<_> = processes.iter().flat_map(|process| threads(roots, process.pid)).collect();
        let is_first = self.note_residents(&threads);
        self.turn = self.turn.wrapping_add(MAX_THREADS);
        let first = if threads.len() > MAX_THREADS { self.turn % threads.len() } else { 0 };
        let in_turn = threads.iter().cycle().skip(first).take(threads.len().min(MAX_THREADS));
        let sightings = in_turn.filter_map(|thread| sight(roots, *thread, buffer)).collect();
        Look { sightings, scale: threads.len() as f64 / threads.len().clamp(1, MAX_THREADS) as f64, is_first }
    }

    /// Returns whether a process of several threads is new.
    fn note_residents(&mut self, threads: &[(u32, u32, bool)]) -> bool {
        let mut new: HashMap<u32, HashSet<u32>> = HashMap::new();
        for (pid, id, _) in threads.iter().filter(|(pid, ..)| !self.residents.contains_key(pid)) {
            new.entry(*pid).or_default().insert(*id);
        }
        let is_any = new.values().any(|ids| ids.len() > 1);
        self.residents.extend(new);
        is_any
    }

    fn is_resident(&self, (pid, id): (u32, u32)) -> bool {
        self.residents.get(&pid).is_some_and(|ids| ids.contains(&id))
    }

    /// A process of at least as many threads as it has connections, none of which ever waits for events of many, has a thread for
    /// each of them, though none was seen at its connection yet.
    fn note_readers(&mut self, look: &Look, connections: Option<f64>) {
        let Some(connections) = connections.filter(|connections| *connections >= 1.0) else { return };
        let mut threads: BTreeMap<u32, f64> = BTreeMap::new();
        for sighting in look.sightings.iter().filter(|sighting| !sighting.is_single) {
            *threads.entry(sighting.thread.0).or_default() += look.scale;
        }
        if let [(pid, count)] = threads.into_iter().collect::<Vec<_>>()[..]
            && count >= connections
        {
            self.supposed.insert(pid);
        }
    }

    /// Whether each connection to a process has a thread that reads it, as far as is known.
    fn is_reader(&self, pid: u32) -> bool {
        self.readers.contains(&pid) || (self.supposed.contains(&pid) && !self.event_loops.contains(&pid))
    }

    /// Counts what was seen, by the sockets as they are now; `connections`: how many the tier has accepted, if that is known.
    pub(super) fn count(
        &mut self,
        look: &Look,
        ends: &ConnectionEnds,
        connections: Option<f64>,
    ) -> TierCounts {
        let mut counts = TierCounts::default();
        let mut rest = [0.0; KINDS.len()];
        let mut stopped: HashSet<u32> = HashSet::new();
        let loops = look.sightings.iter().filter(|sighting| sighting.is_event_loop);
        self.event_loops.extend(loops.map(|sighting| sighting.thread.0));
        self.note_readers(look, connections);
        for sighting in &look.sightings {
            let (wait, asked) = match &sighting.seen {
                Seen::Known(wait) => (*wait, None),
                Seen::Sockets(inodes) => of_sockets(inodes, ends),
            };
            let is_at_request = asked.is_some() || (wait == Wait::Idle && sighting.is_at_accepted(ends));
            if is_at_request {
                self.serving.insert(sighting.thread);
            }
            if is_at_request && asked.is_none() && !sighting.is_single {
                self.readers.insert(sighting.thread.0);
            }
            if !sighting.is_single && !self.serving.contains(&sighting.thread) {
                // Whatever the threads of a process are for, none of them goes on while it is stopped.
                if wait == Wait::Stopped && stopped.insert(sighting.thread.0) {
                    counts.waits[wait as usize] += 1.0;
                }
                let is_at_work = wait != Wait::Timer || !self.is_resident(sighting.thread);
                let is_reader = self.is_reader(sighting.thread.0);
                rest[wait as usize] += if is_reader && is_at_work { 1.0 } else { 0.0 };
                continue;
            }
            counts.threads += 1.0;
            match asked {
                Some(address) => {
                    let key = format!("{address:?}");
                    counts.asking.entry(key).or_insert_with(|| (address.clone(), 0.0)).1 += 1.0;
                }
                None => counts.waits[wait as usize] += 1.0,
            }
        }
        counts.scale(look.scale);
        let missing = connections.map_or(0.0, |connections| (connections - counts.threads).max(0.0));
        counts.add_missing(missing, rest.map(|count| count * look.scale));
        counts
    }
}

impl TierCounts {
    fn scale(&mut self, scale: f64) {
        self.threads *= scale;
        self.waits.iter_mut().for_each(|count| *count *= scale);
        self.asking.values_mut().for_each(|(_, count)| *count *= scale);
    }

    /// Adds so many threads out of the rest: last those that wait for a lock, as threads without work do.
    fn add_missing(&mut self, mut missing: f64, rest: [f64; KINDS.len()]) {
        const ORDER: [Wait; 6] =
            [Wait::Disk, Wait::Stopped, Wait::Running, Wait::Timer, Wait::Process, Wait::Lock];
        for wait in ORDER {
            let added = rest[wait as usize].min(missing);
            self.waits[wait as usize] += added;
            self.threads += added;
            missing -= added;
        }
    }
}

impl Sighting {
    fn is_at_accepted(&self, ends: &ConnectionEnds) -> bool {
        matches!(&self.seen, Seen::Sockets(inodes) if inodes.iter().any(|inode| ends.accepted.contains(inode)))
    }
}

/// What a thread waits for that waits for these sockets: who was asked, if anybody was.
fn of_sockets<'a>(inodes: &[u64], ends: &'a ConnectionEnds) -> (Wait, Option<&'a Endpoint>) {
    let asked = inodes.iter().find_map(|inode| ends.asked.get(inode));
    let is_idle = |inode: &u64| ends.accepted.contains(inode) || ends.listening.contains(inode);
    match (asked, inodes.iter().any(is_idle), inodes.is_empty()) {
        (Some(address), _, _) => (Wait::Network, Some(address)),
        (None, true, _) => (Wait::Idle, None),
        (None, false, false) => (Wait::Network, None),
        (None, false, true) => (Wait::Other, None),
    }
}

/// The threads of a process, each with the process and whether it is the only one.
fn threads(roots: &Roots, pid: u32) -> Vec<(u32, u32, bool)> {
    let Ok(entries) = std::fs::read_dir(roots.in_proc(&format!("{pid}/task"))) else { return vec![] };
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let ids: Vec<u32> = entries.flatten().filter_map(number).collect();
    let is_single = ids.len() == 1;
    ids.into_iter().map(|id| (pid, id, is_single)).collect()
}

fn sight(roots: &Roots, (pid, id, is_single): (u32, u32, bool), buffer: &mut Vec<u8>) -> Option<Sighting> {
    let folder = format!("{pid}/task/{id}");
    let place = read_once(&roots.in_proc(&format!("{folder}/syscall")), buffer).ok()?;
    let place = pid_syscall::parse(place).ok()?;
    let state = read_once(&roots.in_proc(&format!("{folder}/stat")), buffer).ok()?;
    let state = pid_stat::parse(state).ok().filter(|stat| !stat.is_dead())?.state;
    let socket = |descriptor: u64| target_of(roots, pid, descriptor)?.socket();
    let seen = match doing(state, place) {
        Doing::Known(wait) => Seen::Known(wait),
        Doing::Descriptor(descriptor) => match target_of(roots, pid, descriptor) {
            Some(DescriptorTarget::Pipe) => Seen::Known(Wait::Process),
            target => Seen::Sockets(target.and_then(DescriptorTarget::socket).into_iter().collect()),
        },
        Doing::Listed { address, count } => {
            Seen::Sockets(listed(pid, address, count).into_iter().filter_map(socket).collect())
        }
    };
    Some(Sighting { thread: (pid, id), is_single, is_event_loop: is_in_event_loop(place), seen })
}

/// The descriptors that a thread has listed in its memory, as far as they can be read.
fn listed(pid: u32, address: u64, count: u64) -> Vec<u64> {
    let count = usize::try_from(count).unwrap_or(0).min(MAX_LISTED);
    let (Ok(pid), Ok(base)) = (i32::try_from(pid), usize::try_from(address)) else { return vec![] };
    let mut bytes = [0; MAX_LISTED * POLLFD_BYTES];
    let wanted = &mut bytes[..count * POLLFD_BYTES];
    let remote = [RemoteIoVec { base, len: wanted.len() }];
    let read = process_vm_readv(Pid::from_raw(pid), &mut [IoSliceMut::new(wanted)], &remote);
    let whole = read.unwrap_or(0) / POLLFD_BYTES;
    let descriptor = |entry: &[u8]| {
        let number = i32::from_ne_bytes([entry[0], entry[1], entry[2], entry[3]]);
        u64::try_from(number).ok()
    };
    bytes.chunks_exact(POLLFD_BYTES).take(whole.min(count)).filter_map(descriptor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends() -> ConnectionEnds {
        let database = Endpoint::Unix("/run/db.sock".into());
        ConnectionEnds {
            accepted: [10].into(),
            asked: [(20, database)].into(),
            listening: [40].into(),
            target_count: None,
        }
    }

    #[test]
    fn what_a_socket_is_tells_what_its_thread_waits_for() {
        let check = |inodes: &[u64], wait: Wait, is_asking: bool| {
            let ends = ends();
            let (found, asked) = of_sockets(inodes, &ends);
            assert_eq!((found, asked.is_some()), (wait, is_asking), "{inodes:?}");
        };
        check(&[10], Wait::Idle, false);
        check(&[40], Wait::Idle, false);
        check(&[20], Wait::Network, true);
        check(&[10, 20], Wait::Network, true);
        check(&[30], Wait::Network, false);
        check(&[], Wait::Other, false);
    }

    #[test]
    fn a_look_counts_if_its_sockets_are_known_and_its_processes_are_not_new() {
        let look = |seen: Seen, is_first: bool| Look {
            sightings: vec![Sighting { thread: (1, 2), is_single: false, is_event_loop: false, seen }],
            scale: 1.0,
            is_first,
        };
        let check = |look: Look, is_new: bool, expected: bool| {
            assert_eq!(look.counts(&ends(), is_new), expected, "{look:?}, {is_new}");
        };
        check(look(Seen::Sockets(vec![10]), false), false, true);
        check(look(Seen::Sockets(vec![30]), false), false, false);
        check(look(Seen::Sockets(vec![30]), false), true, true);
        check(look(Seen::Sockets(vec![40]), false), false, true);
        check(look(Seen::Known(Wait::Timer), false), false, true);
        check(look(Seen::Known(Wait::Timer), true), true, false);
    }

    #[test]
    fn threads_of_a_pool_count_once_they_were_seen_at_a_request() {
        let mut census = Census::default();
        let sighting =
            |id: u32, seen: Seen| Sighting { thread: (1, id), is_single: false, is_event_loop: false, seen };
        let mut count = |sightings: Vec<Sighting>, connections: Option<f64>, scale: f64| {
            let counts = census.count(&Look { sightings, scale, is_first: false }, &ends(), connections);
            [counts.threads, counts.waits[Wait::Idle as usize], counts.waits[Wait::Lock as usize]]
        };
        let locked = |id: u32| sighting(id, Seen::Known(Wait::Lock));
        assert_eq!(count(vec![locked(2)], Some(4.0), 1.0), [0.0; 3], "it has fewer threads than connections");
        assert_eq!(count(vec![sighting(3, Seen::Sockets(vec![10]))], None, 1.0), [1.0, 1.0, 0.0]);
        assert_eq!(count(vec![locked(3)], None, 1.0), [1.0, 0.0, 1.0]);
        assert_eq!(count(vec![locked(3)], None, 2.5), [2.5, 0.0, 2.5], "others were not looked at");
        let all = || (2..8).map(locked).collect::<Vec<_>>();
        assert_eq!(count(all(), Some(4.0), 1.0), [4.0, 0.0, 4.0], "each connection has a thread");
        assert_eq!(count(all(), None, 1.0), [1.0, 0.0, 1.0]);
    }

    #[test]
    fn a_thread_that_began_under_load_and_sleeps_has_a_request() {
        let slept = |residents: &[u32]| {
            let mut census = Census::default();
            census.note_residents(&residents.iter().map(|id| (1, *id, false)).collect::<Vec<_>>());
            let sleeping = |id| Sighting {
                thread: (1, id),
                is_single: false,
                is_event_loop: false,
                seen: Seen::Known(Wait::Timer),
            };
            let look = Look { sightings: (1..=4).map(sleeping).collect(), scale: 1.0, is_first: false };
            census.count(&look, &ends(), Some(3.0)).waits[Wait::Timer as usize]
        };
        assert_eq!(slept(&[1]), 3.0);
        assert_eq!(slept(&[1, 2, 3, 4]), 0.0, "they do their own work");
    }

    #[test]
    fn the_descriptors_of_a_poll_are_read_from_memory() {
        let entries = [7u64, 9 | 5 << 32, u64::from(u32::MAX)];
        let address = entries.as_ptr() as u64;
        if cfg!(target_endian = "little") {
            assert_eq!(listed(std::process::id(), address, 3), [7, 9], "a negative one is passed over");
        }
        assert_eq!(listed(std::process::id(), 0, 3), [0; 0]);
    }

    #[test]
    fn a_thread_for_each_connection_is_known_though_all_wait_for_one_lock() {
        let count = |sightings: Vec<Seen>| {
            let sighting = |(id, seen): (usize, Seen)| {
                let is_event_loop = matches!(seen, Seen::Known(Wait::Idle));
                Sighting { thread: (1, id as u32), is_single: false, is_event_loop, seen }
            };
            let sightings = sightings.into_iter().enumerate().map(sighting).collect();
            let counts =
                Census::default().count(&Look { sightings, scale: 1.0, is_first: false }, &ends(), Some(3.0));
            counts.waits[Wait::Lock as usize]
        };
        let locked = || Seen::Known(Wait::Lock);
        assert_eq!(count(vec![locked(), locked(), locked(), locked()]), 3.0);
        assert_eq!(count(vec![locked(), locked(), locked(), Seen::Known(Wait::Idle)]), 0.0, "an event loop");
    }

    #[test]
    fn an_event_loop_that_is_running_is_one_all_the_same() {
        let mut census = Census::default();
        let mut locked_count = |seen: Wait, is_event_loop: bool| {
            let sighting = |id, seen, is_event_loop| Sighting {
                thread: (1, id),
                is_single: false,
                is_event_loop,
                seen: Seen::Known(seen),
            };
            let sightings = vec![sighting(2, Wait::Lock, false), sighting(3, seen, is_event_loop)];
            let look = Look { sightings, scale: 1.0, is_first: false };
            census.count(&look, &ends(), Some(2.0)).waits[Wait::Lock as usize]
        };
        assert_eq!(locked_count(Wait::Running, false), 1.0, "nothing tells it from a thread with a request");
        assert_eq!(locked_count(Wait::Idle, true), 0.0);
        assert_eq!(locked_count(Wait::Running, false), 0.0, "the other one is at rest");
    }
}
