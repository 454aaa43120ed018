//! The watched objects, shared by all collectors: the roots, and the target's processes and listening sockets.

use crate::discover::{self, Entrances};
use crate::roots::Roots;
use crate::threads::RequestHandling;
use crate::turn::Turn;
use std::net::SocketAddr;
use std::sync::Arc;
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::log::LogLines;
use sysdyno_record::plan::Endpoint;
use sysdyno_record::units::MonoNs;

/// At most this many processes that the load reaches are watched; further ones are left out.
const MAX_FIRST: usize = 128;
/// The same of all parts of the server, the tiers behind included.
const MAX_TARGETS: usize = 256;
/// The same of others that use CPU.
pub(crate) const MAX_FOREIGN: usize = 8;

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
pub(crate) struct Watchlist {
    pub(crate) roots: Roots,
    pub(crate) endpoint: Option<Endpoint>,
    /// Addresses of services that the target asks.
    pub(crate) behind: Vec<SocketAddr>,
    /// Whether other processes that use CPU are watched even without a target.
    pub(crate) finds_others: bool,
    /// Where connections are accepted, and by whom.
    pub(crate) entrances: Entrances,
    /// Which threads have requests, where that is seen.
    pub(crate) handling: Option<Arc<RequestHandling>>,
    entries: Vec<Entry>,
    /// Processes that were found since they were last asked for.
    came: Vec<WatchedProcess>,
    /// What logs said since they were last asked for.
    logged: Vec<LogLines>,
    generation: u64,
    /// Inodes of the target's listening sockets, and whether they changed since the last search.
    inodes: Vec<u64>,
    must_search: bool,
    searched: Option<MonoNs>,
    /// Where the turn of asking for children is.
    turn: Turn,
}

impl Watchlist {
    pub(crate) fn new(roots: Roots, endpoint: Option<Endpoint>, watch: Vec<WatchedProcess>) -> Watchlist {
        let mut scene = Watchlist {
            roots,
            endpoint,
            behind: vec![],
            finds_others: false,
            entrances: Entrances::default(),
            handling: None,
            entries: vec![],
            came: vec![],
            logged: vec![],
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

    /// Records log messages.
    pub(crate) fn note_logged(&mut self, logged: Vec<LogLines>) {
        self.logged.extend(logged);
    }

    /// Log messages since the last call.
    pub(crate) fn take_logged(&mut self) -> Vec<LogLines> {
        std::mem::take(&mut self.logged)
    }

    /// The watched processes; those that are gone stay until others come.
    pub(crate) fn processes(&self) -> impl Iterator<Item = &WatchedProcess> + Clone {
        self.entries.iter().map(|entry| &entry.process)
    }

    /// Grows whenever [`Watchlist::processes`] changes.
    pub(crate) fn generation(&self) -> u64 {
        self.generation
    }

    /// The watched processes of a role that have not ended.
    pub(crate) fn living(&self, role: ProcessRole) -> impl Iterator<Item = &WatchedProcess> {
        let entries = self.entries.iter().filter(move |entry| !entry.is_gone && entry.process.role == role);
        entries.map(|entry| &entry.process)
    }

    /// The first living process of a role: of the target, the one whose namespaces are looked into.
    pub(crate) fn first(&self, role: ProcessRole) -> Option<&WatchedProcess> {
        self.living(role).find(|process| process.tier.is_none())
    }

    /// The processes that hold the target's listening sockets, with their descendants. *Cost*: a walk over all descriptors.
    pub(crate) fn first_tier(&self) -> Vec<WatchedProcess> {
        discover::find_owners(&self.roots, &self.inodes)
    }

    /// Inodes of the target's listening sockets.
    pub(crate) fn listeners(&self) -> &[u64] {
        &self.inodes
    }

    /// Whether one of these is a listening socket of the target.
    pub(crate) fn is_listener(&self, inodes: &[u64]) -> bool {
        inodes.iter().any(|inode| self.inodes.contains(inode))
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

    /// Records that a process has ended.
    pub(crate) fn note_gone(&mut self, pid: u32) {
        for entry in self.entries.iter_mut().filter(|entry| entry.process.pid == pid) {
            entry.is_gone = true;
        }
    }

    /// Looks for new processes: workers that a server restarted, or a server that was restarted itself.
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
                listed.extend(children.into_iter().map(|pid| (pid, index)));
            }
        }
        let is_known = |pid: u32| self.entries.iter().any(|entry| !entry.is_gone && entry.process.pid == pid);
        let room = MAX_TARGETS.saturating_sub(self.living(ProcessRole::Target).count());
        let new = listed.into_iter().filter(|(pid, _)| !is_known(*pid)).take(room);
        let describe = |(pid, index): (u32, usize)| {
            let parent = &self.entries[index].process;
            let process = discover::describe_target(&self.roots, pid, buffer)?;
            let is_log_reader = discover::is_log_reader(&self.roots, pid, parent);
            Some(WatchedProcess { tier: parent.tier.clone(), is_log_reader, ..process })
        };
        is_listed.then(|| new.filter_map(describe).collect())
    }

    /// Adds what is not known yet, and lets go of what is gone if there is anything to add. Of what is known, takes note that it
    /// is a tier of the server.
    pub(crate) fn add(&mut self, mut found: Vec<WatchedProcess>) {
        found.retain(|process| !self.is_up_to_date(process));
        if found.is_empty() {
            return;
        }
        self.entries.retain(|entry| !entry.is_gone);
        for process in found {
            let known = self.entries.iter().position(|entry| entry.process.pid == process.pid);
            match known {
                Some(at) if self.entries[at].process.is_same(&process) => {
                    self.entries[at].process = process.clone();
                }
                None if self.has_room(&process) => {
                    self.entries.push(Entry {
                        process: process.clone(),
                        is_gone: false,
                        has_children: false,
                    });
                }
                Some(_) | None => continue,
            }
            self.came.push(process);
            self.generation += 1;
        }
    }

    /// Whether everything in `found` about a process is already known.
    fn is_up_to_date(&self, found: &WatchedProcess) -> bool {
        let known = self.entries.iter().find(|entry| entry.process.is_same(found));
        known.is_some_and(|entry| {
            let is_of_server = entry.process.role != ProcessRole::Foreign;
            (is_of_server || found.role == ProcessRole::Foreign)
                && (found.tier.is_none() || entry.process.tier.is_some())
        })
    }

    fn has_room(&self, process: &WatchedProcess) -> bool {
        let of_role = self.living(process.role);
        match process.role {
            ProcessRole::Target if process.tier.is_none() => of_role.count() < MAX_FIRST,
            ProcessRole::Target => of_role.count() < MAX_TARGETS,
            ProcessRole::Foreign => of_role.count() < MAX_FOREIGN,
            ProcessRole::Generator | ProcessRole::Burner => true,
        }
    }
}

#[cfg(test)]
mod tests;
