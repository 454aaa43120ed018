//! What is known of a server's threads from one look to the next: who serves requests, who hands out work, and who only watches.

use super::super::look::{Look, Sighting};
use crate::threads::SocketEnd;
use std::collections::{BTreeMap, HashMap, HashSet};
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::live::ThreadWait;

/// Places of waiting threads that are remembered.
const MAX_RESTS: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct ThreadRoles {
    /// Threads that were seen at a connection of a request.
    serving: HashSet<(u32, u32)>,
    /// Processes of several threads, one of which was seen waiting for the next request of a connection.
    readers: HashSet<u32>,
    /// Processes of which a thread was seen waiting for events of many connections. It may be running at the next look.
    event_loops: HashSet<u32>,
    /// By process, the thread that was seen waiting for events of many connections; `None`: several were.
    loops: HashMap<u32, Option<u32>>,
    /// Processes with a thread that was seen at a connection of a request.
    served: HashSet<u32>,
    /// Processes that have started others of the same program in their tier: they may only watch over those.
    parents: HashSet<u32>,
    /// Processes that have at least as many threads as connections.
    supposed: HashSet<u32>,
    /// By process, the threads that it had when it was looked at first.
    residents: HashMap<u32, HashSet<u32>>,
    /// Places in the memory of processes at which threads wait while none is missing: who was seen there; `None`: several.
    rests: HashMap<(u32, u64), Option<u32>>,
}

/// What a thread is in the census.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThreadRole {
    /// It serves requests: it is the only one of its process, or was seen at a connection of a request.
    Serving,
    /// The only event loop of its process, beside threads of which none was seen at a connection.
    OnlyLoop,
    /// Of a process that watches over others, and rests.
    Master,
    Unknown,
}

impl ThreadRoles {
    /// What this thread is, which was seen to wait like that.
    pub(super) fn role(&self, sighting: &Sighting, wait: ThreadWait) -> ThreadRole {
        let thread = sighting.thread;
        if self.is_master_at_rest(thread.0, wait) {
            ThreadRole::Master
        } else if sighting.is_single || self.serving.contains(&thread) {
            ThreadRole::Serving
        } else if self.is_only_loop(thread) {
            ThreadRole::OnlyLoop
        } else {
            ThreadRole::Unknown
        }
    }

    pub(super) fn has_event_loop(&self, pid: u32) -> bool {
        self.event_loops.contains(&pid)
    }

    /// Remembers a thread that was seen at a connection of a request: these are the ends of the sockets that it waits at.
    pub(super) fn note_request(
        &mut self,
        sighting: &Sighting,
        wait: ThreadWait,
        found: &[Option<SocketEnd>],
    ) {
        let is_at_accepted = found.contains(&Some(SocketEnd::Accepted));
        // What leads outside may be anything that a thread does in the background.
        let is_asking = found.iter().flatten().any(|end| matches!(end, SocketEnd::Asking(_)));
        let is_at_request = is_asking || (wait == ThreadWait::Idle && is_at_accepted);
        if is_at_request || sighting.is_writing || sighting.has_request() {
            self.serving.insert(sighting.thread);
            self.served.insert(sighting.thread.0);
        }
        if is_at_request && !is_asking && !sighting.is_single {
            self.readers.insert(sighting.thread.0);
        }
    }

    pub(super) fn note_event_loops(&mut self, look: &Look) {
        for (pid, id) in look.sightings.iter().filter(|sighting| sighting.is_event_loop).map(|one| one.thread)
        {
            self.event_loops.insert(pid);
            let known = self.loops.entry(pid).or_insert(Some(id));
            *known = known.filter(|known| *known == id);
        }
    }

    pub(super) fn note_parents(&mut self, processes: &[WatchedProcess]) {
        for process in processes {
            let is_parent = |other: &&WatchedProcess| {
                Some(other.pid) == process.parent_pid && other.command == process.command
            };
            self.parents.extend(processes.iter().find(is_parent).map(|parent| parent.pid));
        }
    }

    /// Whether a process that rests is one that watches over workers, as far as is known: it was never seen at a request.
    fn is_master_at_rest(&self, pid: u32, wait: ThreadWait) -> bool {
        let is_at_rest = matches!(wait, ThreadWait::Idle | ThreadWait::Process | ThreadWait::Other);
        is_at_rest && self.parents.contains(&pid) && !self.served.contains(&pid)
    }

    /// Returns whether a process of several threads is new.
    pub(super) fn note_residents(&mut self, threads: &[(u32, u32, bool)]) -> bool {
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
    pub(super) fn note_readers(&mut self, look: &Look, connections: Option<f64>) {
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

    /// Whether a thread is the one that serves all connections of its process: its only event loop, beside threads of which none was
    /// seen at a connection.
    fn is_only_loop(&self, (pid, id): (u32, u32)) -> bool {
        self.loops.get(&pid) == Some(&Some(id)) && !self.served.contains(&pid)
    }

    /// Whether a thread that was never seen at a connection may have a request that nobody else was seen with.
    pub(super) fn may_have_request(&self, sighting: &Sighting, wait: ThreadWait) -> bool {
        let (pid, _) = sighting.thread;
        let is_at_work = wait != ThreadWait::Timer || !self.is_resident(sighting.thread);
        let is_at_rest = sighting.place.is_some_and(|place| self.rests.get(&(pid, place)) == Some(&None));
        self.is_reader(pid) && is_at_work && !is_at_rest && sighting.request.is_none()
    }

    /// Remembers where threads wait that have nothing to do.
    pub(super) fn note_rests(&mut self, look: &Look) {
        let others = look.sightings.iter().filter(|sighting| !self.serving.contains(&sighting.thread));
        for (place, (pid, id)) in others.filter_map(|sighting| Some((sighting.place?, sighting.thread))) {
            if self.rests.len() >= MAX_RESTS && !self.rests.contains_key(&(pid, place)) {
                return;
            }
            let seen = self.rests.entry((pid, place)).or_insert(Some(id));
            *seen = seen.filter(|seen| *seen == id);
        }
    }
}
