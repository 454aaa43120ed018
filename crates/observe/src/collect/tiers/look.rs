//! Looks at the threads of a tier: what each of them does at one instant, by the kernel's files.

use crate::discover::list_tasks;
use crate::roots::Roots;
use crate::source::read_once;
use crate::threads::{
    Doing, RequestHandling, Sight, SocketSeen, ThreadFiles, at_descriptors, by_function, doing, futex_place,
    is_in_event_loop, is_short_wait, is_writing,
};
use std::collections::{HashMap, HashSet};
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::live::ThreadWait;
use sysdyno_record::plan::Endpoint;

/// Threads of a tier that are looked at in one pass; of more, others are in the next one. What stops all of them at once for a part
/// of each second is met by many looks at a few threads, and missed by a few looks at many.
const MAX_THREADS: usize = 16;

/// The files of so many threads of a tier stay open.
const MAX_KEPT_THREADS: usize = 64;

/// A thread at one instant.
#[derive(Debug)]
pub(super) struct Sighting {
    pub(super) thread: (u32, u32),
    /// Whether its process has no other.
    pub(super) is_single: bool,
    /// Whether it waits for events of many connections.
    pub(super) is_event_loop: bool,
    /// Whether it waits to write into a pipe, which no thread does that has nothing to do.
    pub(super) is_writing: bool,
    /// Where in the memory of its process it waits, for a lock or for something to do.
    pub(super) place: Option<u64>,
    /// What is known of its request; `None`: nothing.
    pub(super) request: Option<KnownRequest>,
    pub(super) seen: Sight,
}

/// Whether a thread has read a request and not answered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KnownRequest {
    pub(super) is_open: bool,
    /// For so many requests an open one stands. If that is more than one, those that nobody watches do not show.
    pub(super) share: u32,
}

impl Sighting {
    /// Whether it has a request, and does not wait for events of others meanwhile.
    pub(super) fn has_request(&self) -> bool {
        self.request.is_some_and(|request| request.is_open) && !self.is_event_loop
    }

    /// The sockets that it waits for, if that is what it does.
    pub(super) fn sockets(&self) -> Option<&Vec<SocketSeen>> {
        match &self.seen {
            Sight::Sockets(sockets) => Some(sockets),
            Sight::Known(_) => None,
        }
    }
}

/// Threads of a tier at one instant.
#[derive(Debug)]
pub(super) struct Look {
    /// The tier; `None`: the one that the load reaches.
    pub(super) tier: Option<Endpoint>,
    pub(super) sightings: Vec<Sighting>,
    /// All threads ÷ those that were looked at.
    pub(super) scale: f64,
    /// Whether one of its processes was not known before: which of its threads have begun since is not known either.
    pub(super) is_first: bool,
}

impl Look {
    /// Whether it says anything: somebody was seen, and it is no first look.
    pub(super) fn can_count(&self) -> bool {
        !self.sightings.is_empty() && !self.is_first
    }
}

/// What is kept of a tier from one look to the next.
#[derive(Debug, Default)]
pub(super) struct TierThreads {
    /// The first thread to look at next, where there are too many.
    turn: usize,
    /// The open files of its threads, where there are few.
    files: HashMap<(u32, u32), ThreadFiles>,
    /// Processes that had one thread when last seen, which need not be listed.
    singles: HashSet<u32>,
    /// Processes that write into their title what they do.
    titled: HashSet<u32>,
}

/// Programs whose processes write into their title what they do. PostgreSQL's wait for a row in the same call as for a request, and
/// only the title tells: it ends with `waiting` then. *Source*: `src/backend/storage/lmgr/proc.c`, `ProcSleep`.
const TITLED: [&str; 2] = ["postgres", "postmaster"];

impl TierThreads {
    /// All threads of these processes.
    pub(super) fn threads(&mut self, roots: &Roots, processes: &[WatchedProcess]) -> Vec<(u32, u32, bool)> {
        let mut threads = Vec::new();
        for process in processes {
            if TITLED.contains(&process.command.as_str()) {
                self.titled.insert(process.pid);
            }
            if self.singles.contains(&process.pid) {
                threads.push((process.pid, process.pid, true));
                continue;
            }
            let listed = list_tasks(roots, process.pid);
            let is_single = listed.len() == 1;
            self.singles.extend(is_single.then_some(process.pid));
            threads.extend(listed.into_iter().map(|id| (process.pid, id, is_single)));
        }
        threads
    }

    /// Looks at those of a tier's threads whose turn it is.
    pub(super) fn look(
        &mut self,
        roots: &Roots,
        threads: &[(u32, u32, bool)],
        handling: Option<&RequestHandling>,
        buffer: &mut Vec<u8>,
    ) -> Vec<Sighting> {
        let in_turn = self.in_turn(threads);
        let mut shares: HashMap<u32, Option<u32>> = HashMap::new();
        let mut look = |thread: (u32, u32, bool)| {
            let (pid, id, is_single) = thread;
            let handling = handling.filter(|_| !is_single);
            let share = handling.and_then(|known| *shares.entry(pid).or_insert_with(|| known.share_of(pid)));
            let open_ns = || share.and(handling).map(|known| known.open_ns(id));
            let before = open_ns();
            let sighting = self.sight(roots, thread, buffer)?;
            // Who has read or answered one meanwhile was seen before or after that.
            let is_open = before.filter(|_| open_ns() == before).map(|open_ns| open_ns.is_some());
            let request = is_open.zip(share).map(|(is_open, share)| KnownRequest { is_open, share });
            Some(Sighting { request, ..sighting })
        };
        let sightings = in_turn.into_iter().filter_map(&mut look).collect();
        self.close_files(threads);
        sightings
    }

    /// All threads ÷ those that are looked at, of so many.
    pub(super) fn scale(count: usize) -> f64 {
        count as f64 / count.clamp(1, MAX_THREADS) as f64
    }

    /// Those of the threads that are looked at now.
    fn in_turn(&mut self, threads: &[(u32, u32, bool)]) -> Vec<(u32, u32, bool)> {
        let count = threads.len().min(MAX_THREADS);
        let first = if threads.len() > MAX_THREADS { self.turn % threads.len() } else { 0 };
        self.turn = first + count;
        threads.iter().cycle().skip(first).take(count).copied().collect()
    }

    /// Closes the files of threads that have ended, and of all if these have become many.
    fn close_files(&mut self, threads: &[(u32, u32, bool)]) {
        let living: HashSet<(u32, u32)> = match threads.len() {
            0..=MAX_KEPT_THREADS => threads.iter().map(|(pid, id, _)| (*pid, *id)).collect(),
            _ => HashSet::new(),
        };
        self.files.retain(|thread, _| living.contains(thread));
    }

    fn sight(
        &mut self,
        roots: &Roots,
        (pid, id, is_single): (u32, u32, bool),
        buffer: &mut Vec<u8>,
    ) -> Option<Sighting> {
        let files = self.files.entry((pid, id)).or_insert_with(|| ThreadFiles::new(roots, pid, id));
        let place = files.whereabouts(buffer)?;
        let stat = files.stat(buffer)?;
        if is_single && stat.threads_count != 1 {
            self.singles.remove(&pid);
        }
        let state = Some(stat).filter(|stat| !stat.is_dead())?.state;
        let seen = match doing(state, place) {
            Doing::Known(ThreadWait::Idle)
                if self.titled.contains(&pid) && is_waiting_by_title(roots, pid, buffer) =>
            {
                Sight::Known(ThreadWait::Lock)
            }
            Doing::Known(ThreadWait::Lock) if is_short_wait(pid, place) => Sight::Known(ThreadWait::Timer),
            doing => at_descriptors(roots, pid, doing),
        };
        // A file system in user space (`fs/fuse/dev.c`) is asked in whatever call, in an ordinary sleep.
        let is_unclear = matches!(seen, Sight::Known(ThreadWait::Other | ThreadWait::Disk))
            || seen == Sight::Sockets(vec![]);
        let sleeps = if is_unclear { files.function(buffer).and_then(by_function) } else { None };
        let seen = settled(seen, sleeps);
        let is_writing = is_writing(place) && seen == Sight::Known(ThreadWait::Process);
        Some(Sighting {
            thread: (pid, id),
            is_single,
            is_event_loop: is_in_event_loop(place),
            is_writing,
            place: futex_place(place).filter(|_| seen == Sight::Known(ThreadWait::Lock)),
            request: None,
            seen,
        })
    }
}

/// What a thread waits for whose call leaves that open, by the function of the kernel that it sleeps in.
fn settled(seen: Sight, sleeps: Option<ThreadWait>) -> Sight {
    match sleeps {
        Some(wait @ (ThreadWait::Disk | ThreadWait::Stopped)) => Sight::Known(wait),
        // Like a disk, a program that has to allow each access to a file (`fs/notify/fanotify`) is waited for in state D.
        Some(ThreadWait::Process) if seen == Sight::Known(ThreadWait::Disk) => {
            Sight::Known(ThreadWait::Process)
        }
        _ => seen,
    }
}

/// Whether the title of a process says that it waits for a lock.
fn is_waiting_by_title(roots: &Roots, pid: u32, buffer: &mut Vec<u8>) -> bool {
    let title = read_once(&roots.in_proc(&format!("{pid}/cmdline")), buffer);
    title.is_ok_and(|title| {
        // What is left of the place for the title is filled with zeros or blanks.
        let end = title.iter().rposition(|byte| !matches!(byte, 0 | b' ')).map_or(0, |last| last + 1);
        title[..end].ends_with(b" waiting")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_that_ends_with_waiting_is_a_wait_for_a_lock() {
        let root = tempfile::tempdir().expect("a folder");
        let roots = Roots::at(root.path());
        std::fs::create_dir_all(roots.in_proc("7")).expect("a folder");
        let check = |title: &str, expected: bool| {
            std::fs::write(roots.in_proc("7/cmdline"), title).expect("is written");
            assert_eq!(is_waiting_by_title(&roots, 7, &mut Vec::new()), expected, "{title}");
        };
        check("postgres: shop shop [local] UPDATE waiting\0\0\0", true);
        check("postgres: shop shop 127.0.0.1(5000) UPDATE waiting   ", true);
        check("postgres: shop shop [local] idle in transaction\0", false);
        check("", false);
        assert!(!is_waiting_by_title(&roots, 8, &mut Vec::new()), "it is gone");
    }

    #[test]
    fn a_scanner_that_has_to_allow_an_access_to_a_file_is_no_disk() {
        let known = Sight::Known;
        let at = |function: &str, seen: ThreadWait| settled(known(seen), by_function(function.as_bytes()));
        assert_eq!(at("fanotify_handle_event", ThreadWait::Disk), known(ThreadWait::Process));
        assert_eq!(at("request_wait_answer", ThreadWait::Other), known(ThreadWait::Disk));
        assert_eq!(at("pipe_read", ThreadWait::Other), known(ThreadWait::Other), "the call says what it is");
        assert_eq!(at("ext4_sync_file", ThreadWait::Disk), known(ThreadWait::Disk));
        assert_eq!(settled(Sight::Sockets(vec![]), None), Sight::Sockets(vec![]));
    }

    #[test]
    fn each_thread_has_its_turn_and_files_are_kept_of_few_threads() {
        let roots = Roots::host();
        let of = |count: u32| (0..count).map(|id| (u32::MAX, id, false)).collect::<Vec<_>>();
        let mut tier = TierThreads::default();
        let turns = (0..4).map(|_| tier.in_turn(&of(40))[0].1);
        assert_eq!(turns.collect::<Vec<_>>(), [0, 16, 32, 8]);
        assert_eq!(tier.in_turn(&of(3)), of(3));
        for (count, kept) in [(64, 64), (40, 40), (65, 0)] {
            for (pid, id, _) in of(count) {
                tier.files.entry((pid, id)).or_insert_with(|| ThreadFiles::new(&roots, pid, id));
            }
            tier.close_files(&of(count));
            assert_eq!(tier.files.len(), kept, "{count} threads");
        }
    }
}
