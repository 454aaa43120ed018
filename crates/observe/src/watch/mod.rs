//! What is being watched: the roots, the target's processes and listening sockets. Shared by all collectors.

use crate::discover;
use crate::roots::Roots;
use crate::turn::Turn;
use std::net::SocketAddr;
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::plan::Endpoint;
use sysdyno_record::units::MonoNs;

/// At most this many processes are watched; further ones are left out.
pub(crate) const MAX_PROCESSES: usize = 128;

/// Between two searches through all processes of the host. Unit: nanoseconds.
const SEARCH_INTERVAL_NS: u64 = 5_000_000_000;

/// A process, and what is known of it.
#[derive(Clone, Debug)]
struct Entry {
    process: WatchedProcess,
    is_gone: bool,
    has_children: bool,
}

/// The watched processes and where to look for them.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) roots: Roots,
    pub(crate) endpoint: Option<Endpoint>,
    /// Addresses of services that the target asks.
    pub(crate) behind: Vec<SocketAddr>,
    entries: Vec<Entry>,
    /// Processes that were found since they were last asked for.
    came: Vec<WatchedProcess>,
    generation: u64,
    /// Inodes of the target's listening sockets, and whether they changed since the last search.
    inodes: Vec<u64>,
    must_search: bool,
    searched: Option<MonoNs>,
    /// Where the turn of asking for children is.
    turn: Turn,
}

impl Scene {
    pub(crate) fn new(roots: Roots, endpoint: Option<Endpoint>, watch: Vec<WatchedProcess>) -> Scene {
        let mut scene = Scene {
            roots,
            endpoint,
            behind: vec![],
            entries: vec![],
            came: vec![],
            generation: 1,
            inodes: vec![],
            must_search: false,
            searched: None,
            turn: Turn::default(),
        };
        scene.add(watch);
        scene.came.clear();
        scene
    }

    /// The processes that were found since the last call, beside those that were given.
    pub(crate) fn take_came(&mut self) -> Vec<WatchedProcess> {
        std::mem::take(&mut self.came)
    }

    /// The watched processes; those that are gone stay until others come.
    pub(crate) fn processes(&self) -> impl Iterator<Item = &WatchedProcess> + Clone {
        self.entries.iter().map(|entry| &entry.process)
    }

    /// Grows whenever [`Scene::processes`] changes.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// The first living process of a role: of the target, the one whose namespaces are looked into.
    pub(crate) fn first(&self, role: ProcessRole) -> Option<&WatchedProcess> {
        let found = self.entries.iter().find(|entry| !entry.is_gone && entry.process.role == role)?;
        Some(&found.process)
    }

    /// Takes note of the target's listening sockets.
    pub(crate) fn note_listeners(&mut self, inodes: impl Iterator<Item = u64> + Clone) {
        if !inodes.clone().eq(self.inodes.iter().copied()) {
            // The first ones are those that the watched processes were found by.
            self.must_search |= !self.inodes.is_empty();
            self.inodes.clear();
            self.inodes.extend(inodes);
        }
    }

    /// Takes note that a process has ended.
    pub(crate) fn note_gone(&mut self, pid: u32) {
        for entry in self.entries.iter_mut().filter(|entry| entry.process.pid == pid) {
            entry.is_gone = true;
        }
    }

    /// Looks for processes that came: workers that a server started anew, or a server that was restarted.
    ///
    /// *Cost*: a few files per process of the target; every five seconds at most, a walk over all descriptors of the
    /// host, if the listening sockets changed or the target is gone.
    pub(crate) fn look(&mut self, now: MonoNs, buffer: &mut Vec<u8>) {
        let is_alone = self.first(ProcessRole::Target).is_none();
        let children = self.find_children(buffer);
        // Without a list of children only a search through all processes finds them.
        let must_search = self.must_search || is_alone || children.is_none();
        let mut found = children.unwrap_or_default();
        let may_search = self.searched.is_none_or(|at| now.since(at) >= SEARCH_INTERVAL_NS);
        if must_search && may_search && !self.inodes.is_empty() {
            (self.searched, self.must_search) = (Some(now), false);
            found.extend(discover::find_owners(&self.roots, &self.inodes));
        }
        self.add(found);
    }

    /// Children of the target's processes that are not known yet; `None`: this kernel does not list them.
    fn find_children(&mut self, buffer: &mut Vec<u8>) -> Option<Vec<WatchedProcess>> {
        let turn = self.turn.of(self.entries.len());
        self.turn = turn.next();
        let (mut listed, mut is_listed) = (Vec::new(), false);
        for (index, entry) in self.entries.iter_mut().enumerate() {
            // Who had children is likely to have others, so it is asked every time.
            let is_asked = !entry.is_gone && (entry.has_children || turn.is_of(index));
            if !is_asked || entry.process.role != ProcessRole::Target {
                continue;
            }
            if let Some(children) = discover::list_children(&self.roots, entry.process.pid, buffer) {
                is_listed = true;
                entry.has_children = !children.is_empty();
                listed.extend(children);
            }
        }
        let is_known = |pid: u32| self.entries.iter().any(|entry| !entry.is_gone && entry.process.pid == pid);
        let room = MAX_PROCESSES.saturating_sub(self.entries.iter().filter(|entry| !entry.is_gone).count());
        let new = listed.into_iter().filter(|pid| !is_known(*pid)).take(room);
        is_listed.then(|| new.filter_map(|pid| discover::describe_target(&self.roots, pid, buffer)).collect())
    }

    /// Adds what is not known yet, and lets go of what is gone if there is anything to add.
    pub(crate) fn add(&mut self, mut found: Vec<WatchedProcess>) {
        let is_same = |entry: &Entry, process: &WatchedProcess| {
            entry.process.pid == process.pid && entry.process.start_ticks == process.start_ticks
        };
        found.retain(|process| !self.entries.iter().any(|entry| is_same(entry, process)));
        if found.is_empty() {
            return;
        }
        self.entries.retain(|entry| !entry.is_gone);
        for process in found {
            let is_known = self.entries.iter().any(|entry| entry.process.pid == process.pid);
            if !is_known && self.entries.len() < MAX_PROCESSES {
                self.came.push(process.clone());
                self.entries.push(Entry { process, is_gone: false, has_children: false });
                self.generation += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests;
