//! The processes that run during sampling: their names, address spaces, and whether they are in scope.
//!
//! A process that existed before is read from `/proc` when its first sample arrives. For a process that starts during
//! sampling, the kernel's records contain everything, so it may end before its sample is read.

use crate::frames::MappedObjects;
use crate::space::{AddressSpace, MappedPlace, parse_maps};
use crate::wire::Mapping;
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::rc::Rc;

/// Longest `/proc/PID/maps` that is read. Unit: bytes.
const MAPS_MAX: u64 = 64 << 20;

/// Which processes are profiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProfileScope {
    /// All.
    Host,
    /// These, and what they start.
    Processes(HashSet<u32>),
}

/// The processes that are known by now.
pub(crate) struct Processes {
    scope: ProfileScope,
    known: HashMap<u32, Process>,
    pub(crate) objects: MappedObjects,
}

#[derive(Clone)]
struct Process {
    name: Rc<str>,
    /// Copied when a child changes its own.
    space: Rc<AddressSpace>,
}

impl Processes {
    pub(crate) fn new(scope: ProfileScope) -> Processes {
        Processes { scope, known: HashMap::new(), objects: MappedObjects::default() }
    }

    pub(crate) fn is_in_scope(&self, pid: u32) -> bool {
        match &self.scope {
            // Process 0 is what a CPU does when there is nothing to do; one that has been reaped has no id any more.
            ProfileScope::Host => pid != 0 && pid != u32::MAX,
            ProfileScope::Processes(pids) => pids.contains(&pid),
        }
    }

    /// Whether all processes in scope have ended. That of one which ends while recording begins has no record.
    pub(crate) fn are_all_gone(&self) -> bool {
        matches!(&self.scope, ProfileScope::Processes(pids) if pids.iter().all(|pid| has_ended(*pid)))
    }

    /// The name of a process. Untrusted.
    pub(crate) fn name(&mut self, pid: u32) -> Rc<str> {
        Rc::clone(&self.process(pid).name)
    }

    /// What lies at an address of a process.
    pub(crate) fn place(&mut self, pid: u32, address: u64) -> Option<MappedPlace> {
        self.process(pid).space.place(address)
    }

    pub(crate) fn mapped(&mut self, pid: u32, mapping: &Mapping) {
        // Of one that is not known yet, all mappings are read at once when they are needed.
        if let Some(process) = self.known.get_mut(&pid) {
            let object = self.objects.number(pid, mapping);
            Rc::make_mut(&mut process.space).map(mapping, object);
        }
    }

    pub(crate) fn named(&mut self, pid: u32, name: &str, is_exec: bool) {
        if !self.is_in_scope(pid) {
            return;
        }
        if is_exec {
            self.known.insert(pid, Process { name: name.into(), space: Rc::default() });
        } else if let Some(process) = self.known.get_mut(&pid) {
            process.name = name.into();
        }
    }

    pub(crate) fn forked(&mut self, pid: u32, parent_pid: u32) {
        if pid == parent_pid || !self.is_in_scope(parent_pid) {
            return;
        }
        let child = self.process(parent_pid).clone();
        self.known.insert(pid, child);
        if let ProfileScope::Processes(pids) = &mut self.scope {
            pids.insert(pid);
        }
    }

    /// A thread has ended, and with the last one its process.
    pub(crate) fn ended(&mut self, pid: u32, tid: u32) {
        if pid == tid {
            // Other threads may go on; then it is read again.
            self.known.remove(&pid);
        }
        if let ProfileScope::Processes(pids) = &mut self.scope
            && pids.contains(&pid)
            && is_last_thread(pid, tid)
        {
            pids.remove(&pid);
        }
    }

    fn process(&mut self, pid: u32) -> &Process {
        let objects = &mut self.objects;
        self.known.entry(pid).or_insert_with(|| read(pid, objects))
    }
}

/// Reads a process from `/proc`; what cannot be read is empty.
fn read(pid: u32, objects: &mut MappedObjects) -> Process {
    let mut space = AddressSpace::default();
    for mapping in parse_maps(&read_bounded(&format!("/proc/{pid}/maps"))) {
        let object = objects.number(pid, &mapping);
        space.map(&mapping, object);
    }
    let name = read_bounded(&format!("/proc/{pid}/comm"));
    let name = String::from_utf8_lossy(name.trim_ascii_end());
    let name = if name.is_empty() { format!("process {pid}").into() } else { name };
    Process { name: name.as_ref().into(), space: Rc::new(space) }
}

fn read_bounded(path: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = std::fs::File::open(path) {
        // A process may end while it is read: what came before is still right.
        let _ = file.take(MAPS_MAX).read_to_end(&mut bytes);
    }
    bytes
}

/// Whether no thread of a process is left but this one, which is about to go, and a first one that has ended before.
fn is_last_thread(pid: u32, tid: u32) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, |threads| threads.take(3).count());
    if pid == tid { threads <= 1 } else { threads <= 2 && has_ended(pid) }
}

/// Whether the first thread of a process has ended, or the process is gone.
fn has_ended(pid: u32) -> bool {
    let status = read_bounded(&format!("/proc/{pid}/stat"));
    let after_name = status.rsplit(|byte| *byte == b')').next().unwrap_or_default();
    matches!(after_name.trim_ascii_start().first(), None | Some(b'Z' | b'X'))
}
