//! A kernel with control groups in memory, which keeps the rules of version 1 or 2 that matter here.

use super::kernel::GroupKernel;
use rustix::io::Errno;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// A group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Group {
    /// Files that hold what was written to them.
    files: BTreeMap<String, String>,
    is_threaded: bool,
    /// Whether the cpu controller is given to its children.
    gives_cpu: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    groups: BTreeMap<PathBuf, Group>,
    /// Group and parent of each process.
    processes: BTreeMap<u32, (PathBuf, u32)>,
}

/// A kernel.
pub(super) struct FakeKernel {
    is_v1: bool,
    mount: PathBuf,
    state: RefCell<State>,
    /// Calls that change something until all of them fail, as after a death; `None`: none fails.
    pub(super) lives_for: RefCell<Option<u32>>,
    /// Children that processes start as soon as one of them is moved, at most.
    pub(super) forks: RefCell<u32>,
}

fn errno<T>(error: Errno) -> io::Result<T> {
    Err(error.into())
}

impl FakeKernel {
    /// A host with these groups, which have a path and processes with their parents.
    pub(super) fn new(is_v1: bool, groups: &[(&str, &[(u32, u32)])]) -> FakeKernel {
        let mount = PathBuf::from(if is_v1 { "/sys/fs/cgroup/cpu" } else { "/sys/fs/cgroup" });
        let kernel = FakeKernel {
            is_v1,
            mount,
            state: RefCell::default(),
            lives_for: RefCell::new(None),
            forks: RefCell::new(0),
        };
        for (path, processes) in groups {
            let place = kernel.mount.join(path.trim_start_matches('/'));
            let mut state = kernel.state.borrow_mut();
            let missing = place.ancestors().take_while(|above| above.starts_with(&kernel.mount));
            missing.for_each(|above| {
                state.groups.entry(above.into()).or_default();
            });
            processes
                .iter()
                .for_each(|(pid, parent)| drop(state.processes.insert(*pid, (place.clone(), *parent))));
        }
        kernel.give_files();
        kernel
    }

    /// Has each group above this one give its children the controller, as managers of services do.
    pub(super) fn give_cpu_down_to(self, path: &str) -> FakeKernel {
        let place = self.mount.join(path.trim_start_matches('/'));
        let mut state = self.state.borrow_mut();
        let above = place.ancestors().skip(1).take_while(|above| above.starts_with(&self.mount));
        above.for_each(|above| state.groups.entry(above.into()).or_default().gives_cpu = true);
        drop(state);
        self.give_files();
        self
    }

    /// All that a restore has to bring back.
    pub(super) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// The group of a process, from the mount on.
    pub(super) fn group_of(&self, pid: u32) -> String {
        let state = self.state.borrow();
        let group = &state.processes.get(&pid).expect("it lives").0;
        format!("/{}", group.strip_prefix(&self.mount).expect("is below").display())
    }

    /// What a file of a group holds.
    pub(super) fn text(&self, path: &str) -> String {
        self.read(&self.mount.join(path.trim_start_matches('/'))).expect("can be read")
    }

    pub(super) fn end(&self, pid: u32) {
        self.state.borrow_mut().processes.remove(&pid);
    }

    fn has_cpu(&self, state: &State, group: &Path) -> bool {
        let above = group.parent().and_then(|above| state.groups.get(above));
        self.is_v1 || above.is_some_and(|above| above.gives_cpu)
    }

    /// Gives groups the files of the controller, where they have it.
    fn give_files(&self) {
        let mut state = self.state.borrow_mut();
        let paths: Vec<PathBuf> = state.groups.keys().cloned().collect();
        for path in paths {
            let has = self.has_cpu(&state, &path);
            let given: &[(&str, &str)] = match self.is_v1 {
                true => {
                    &[("cpu.shares", "1024"), ("cpu.cfs_quota_us", "-1"), ("cpu.cfs_period_us", "100000")]
                }
                false => &[("cpu.weight", "100"), ("cpu.max", "max 100000")],
            };
            let files = &mut state.groups.get_mut(&path).expect("is there").files;
            for (name, text) in given {
                match has {
                    true => drop(files.entry((*name).into()).or_insert_with(|| (*text).into())),
                    false => drop(files.remove(*name)),
                }
            }
        }
    }

    fn lives(&self) -> io::Result<()> {
        let mut lives_for = self.lives_for.borrow_mut();
        match &mut *lives_for {
            Some(0) => Err(io::Error::other("dead")),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }

    fn is_populated(state: &State, group: &Path) -> bool {
        state.processes.values().any(|(at, _)| at.starts_with(group))
    }

    fn children<'a>(state: &'a State, group: &'a Path) -> impl Iterator<Item = (&'a PathBuf, &'a Group)> {
        state.groups.iter().filter(move |(path, _)| path.parent() == Some(group))
    }

    /// Whether threads may have groups below this one.
    fn can_be_thread_root(&self, state: &State, group: &Path) -> bool {
        let is_populated_domain =
            |(path, child): (&PathBuf, &Group)| !child.is_threaded && FakeKernel::is_populated(state, path);
        group == self.mount || !FakeKernel::children(state, group).any(is_populated_domain)
    }

    fn admit(&self, state: &mut State, group: &Path, text: &str) -> io::Result<()> {
        let pid: u32 = text.trim().parse().expect("a number");
        if !self.is_v1 {
            let is_inner = group != self.mount
                && state.groups[group].gives_cpu
                && FakeKernel::children(state, group).any(|(_, child)| !child.is_threaded);
            if is_inner {
                return errno(Errno::BUSY);
            }
        }
        let next = state.processes.keys().max().copied().unwrap_or(0) + 1;
        let Some((at, parent)) = state.processes.get(&pid).cloned() else { return errno(Errno::SRCH) };
        let mut forks = self.forks.borrow_mut();
        if *forks > 0 {
            *forks -= 1;
            // Started just before its parent was moved.
            state.processes.insert(next, (at, pid));
        }
        state.processes.insert(pid, (group.into(), parent));
        Ok(())
    }

    fn set(&self, state: &mut State, group: &Path, (name, text): (&str, &str)) -> io::Result<()> {
        let has_processes = state.processes.values().any(|(at, _)| at == group);
        match name {
            "cgroup.procs" => return self.admit(state, group, text),
            "cgroup.type" => {
                let above = group.parent().expect("has one");
                if text != "threaded" || !self.can_be_thread_root(state, above) {
                    return errno(Errno::OPNOTSUPP);
                }
                state.groups.get_mut(group).expect("is there").is_threaded = true;
            }
            "cgroup.subtree_control" => {
                let gives = text == "+cpu";
                if gives && group != self.mount && has_processes && !self.can_be_thread_root(state, group) {
                    return errno(Errno::BUSY);
                }
                state.groups.get_mut(group).expect("is there").gives_cpu = gives;
            }
            name => {
                let file = state.groups.get_mut(group).expect("is there").files.get_mut(name);
                let Some(file) = file else { return errno(Errno::NOENT) };
                let is_short = name.starts_with("cpu.cfs")
                    && text.parse::<i64>().is_ok_and(|us| (0..1000).contains(&us));
                if is_short {
                    return errno(Errno::INVAL);
                }
                *file = if text == "max" { "max 100000".into() } else { text.into() };
            }
        }
        Ok(())
    }
}

impl GroupKernel for FakeKernel {
    fn read(&self, path: &Path) -> io::Result<String> {
        let state = self.state.borrow();
        let (group, name) =
            (path.parent().expect("has one"), path.file_name().expect("has one").to_string_lossy());
        if let Some(pid) = group.strip_prefix("/proc").ok().and_then(|pid| pid.to_str()?.parse::<u32>().ok())
        {
            drop(state);
            let (line, group) = (if self.is_v1 { "1:cpu,cpuacct:" } else { "0::" }, self.group_of(pid));
            return Ok(format!("7:pids:/elsewhere\n{line}{group}\n"));
        }
        let Some(found) = state.groups.get(group) else { return errno(Errno::NOENT) };
        let members = || {
            let of_it = state.processes.iter().filter(|(_, (at, _))| at == group);
            of_it.map(|(pid, _)| format!("{pid}\n")).collect::<BTreeSet<_>>().into_iter().collect::<String>()
        };
        let cpu = |is_given: bool| if is_given { "cpu memory\n" } else { "memory\n" }.to_owned();
        match &*name {
            "cgroup.procs" if found.is_threaded => errno(Errno::OPNOTSUPP),
            "cgroup.procs" => Ok(members()),
            "cgroup.threads" if !self.is_v1 => Ok(members()),
            "cgroup.controllers" if !self.is_v1 => {
                Ok(cpu(group == self.mount || self.has_cpu(&state, group)))
            }
            "cgroup.subtree_control" if !self.is_v1 => Ok(cpu(found.gives_cpu)),
            name => found.files.get(name).cloned().ok_or_else(|| Errno::NOENT.into()),
        }
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        self.lives()?;
        let (group, name) =
            (path.parent().expect("has one"), path.file_name().expect("has one").to_string_lossy());
        let mut state = self.state.borrow_mut();
        if !state.groups.contains_key(group) {
            return errno(Errno::NOENT);
        }
        self.set(&mut state, group, (&name, text))?;
        drop(state);
        self.give_files();
        Ok(())
    }

    fn make(&self, path: &Path) -> io::Result<()> {
        self.lives()?;
        let mut state = self.state.borrow_mut();
        if state.groups.contains_key(path) {
            return errno(Errno::EXIST);
        }
        state.groups.insert(path.into(), Group::default());
        drop(state);
        self.give_files();
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.lives()?;
        let mut state = self.state.borrow_mut();
        if FakeKernel::is_populated(&state, path) {
            return errno(Errno::BUSY);
        }
        state.groups.remove(path).map(drop).ok_or_else(|| Errno::NOENT.into())
    }

    fn has(&self, path: &Path) -> bool {
        self.state.borrow().groups.contains_key(path) || self.read(path).is_ok()
    }

    fn parent_pid(&self, pid: u32) -> Option<u32> {
        self.state.borrow().processes.get(&pid).map(|(_, parent)| *parent)
    }

    fn groups_of_threads(&self, pid: u32) -> Vec<String> {
        self.read(Path::new(&format!("/proc/{pid}/cgroup"))).into_iter().collect()
    }
}
