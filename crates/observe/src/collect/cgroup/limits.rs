//! Memory and tasks of the control groups of the target and of its tiers, with their limits.
//!
//! Each parent limits a process, too. The columns show the level with the least room or, without any limit, the process's
//! own. Failures and kills are those of the level that has most. Source: `Documentation/admin-guide/cgroup-v2.rst`,
//! `Documentation/admin-guide/cgroup-v1/{memory,pids}.rst`.

use super::places::{BOTH_ROLES, GroupPlace, levels_with, members, places};
use crate::collect::{Collector, Pass, Table};
use crate::roots::Roots;
use crate::source::{Fields, decimal, lines, pressure, read_once};
use std::path::{Path, PathBuf};
use sysdyno_record::column::{self, Quantity};

pub(super) fn collector() -> Box<dyn Collector> {
    Box::new(LimitsCollector::default())
}

/// Limits of version 1 from here on are none: the kernel's is the greatest multiple of a page. Unit: bytes.
const UNLIMITED_BYTES: u64 = 1 << 62;

/// Columns of the groups of a process: three of memory and two more, three of tasks, then what its tasks waited for.
const OF_GROUP: [Quantity; 12] = [
    column::CGROUP_MEMORY,
    column::CGROUP_MEMORY_LIMIT,
    column::CGROUP_MEMORY_FAILURES,
    column::CGROUP_OOM_KILLS,
    column::CGROUP_REFAULTS,
    column::CGROUP_PIDS,
    column::CGROUP_PIDS_LIMIT,
    column::CGROUP_PIDS_FAILURES,
    column::CGROUP_MEMORY_THROTTLES,
    column::CGROUP_PSI_CPU,
    column::CGROUP_PSI_MEMORY,
    column::CGROUP_PSI_IO,
];

/// Pressure of the process's own group, in the order of its columns; version 1 has none.
const PRESSURE: [&str; 3] = ["cpu.pressure", "memory.pressure", "io.pressure"];

#[derive(Default)]
struct LimitsCollector {
    table: Table,
    groups: Vec<Limits>,
    generation: u64,
}

/// A value, or why there is none.
type Answer = Result<u64, String>;

/// The groups of one process, from its own to the root.
struct Limits {
    scope: String,
    memory: Result<Vec<PathBuf>, String>,
    pids: Result<Vec<PathBuf>, String>,
}

/// Usage of a resource, its limit, and how often the limit was hit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Usage {
    used: Option<u64>,
    limit: Option<u64>,
    failures: Option<u64>,
}

impl Limits {
    fn find(roots: &Roots, pid: u32, scope: String, buffer: &mut Vec<u8>) -> Limits {
        let memory = places(roots, pid, ("memory", &["fs/cgroup/memory"]), buffer);
        // Only a root group has none of these, and limits nothing.
        let levels = |places: Vec<GroupPlace>, files: &[&str]| match levels_with(&places, files) {
            Err(_) if places.iter().any(GroupPlace::is_visible) => Ok(vec![]),
            levels => levels,
        };
        let memory = memory.and_then(|places| levels(places, &["memory.current", "memory.usage_in_bytes"]));
        let pids = places(roots, pid, ("pids", &["fs/cgroup/pids"]), buffer);
        let pids = pids.and_then(|places| levels(places, &["pids.current"]));
        Limits { scope, memory, pids }
    }

    fn read(&self, buffer: &mut Vec<u8>) -> [Answer; OF_GROUP.len()] {
        let missing = |name: &str| format!("the cgroup of the process has no '{name}'");
        let [used, limit, failures] = answers(&self.memory, "memory", read_memory, buffer);
        let kills = self.memory.clone().and_then(|levels| {
            let kills = levels.iter().filter_map(|folder| read_kills(folder, buffer)).max();
            kills.ok_or_else(|| missing("oom_kill"))
        });
        let refaults = self.memory.clone().and_then(|levels| {
            let refaults = levels.first().and_then(|folder| read_refaults(folder, buffer));
            refaults.ok_or_else(|| missing("workingset_refault"))
        });
        let [pids, pids_limit, pids_failures] = answers(&self.pids, "tasks", read_pids, buffer);
        let throttles = self.memory.clone().and_then(|levels| {
            let throttles = levels.iter().filter_map(|folder| read_throttles(folder, buffer)).max();
            throttles.or(levels.is_empty().then_some(0)).ok_or_else(|| missing("high"))
        });
        let [cpu, memory, io] = PRESSURE.map(|name| {
            let own = self.memory.clone().map(|levels| levels.first().cloned());
            let pressure = own?.and_then(|folder| read_pressure(&folder.join(name), buffer));
            pressure.ok_or_else(|| missing(name))
        });
        [used, limit, failures, kills, refaults, pids, pids_limit, pids_failures, throttles, cpu, memory, io]
    }
}

/// What levels come to, or why there is nothing.
fn answers(
    levels: &Result<Vec<PathBuf>, String>,
    what: &str,
    read: fn(&Path, &mut Vec<u8>) -> Usage,
    buffer: &mut Vec<u8>,
) -> [Answer; 3] {
    let levels = match levels {
        Ok(levels) => levels,
        Err(reason) => return std::array::from_fn(|_| Err(reason.clone())),
    };
    let unlimited = levels.is_empty().then_some(0);
    let usage = tightest(levels.iter().map(|folder| read(folder, buffer)));
    let failures = usage.failures.or(unlimited);
    [
        usage.used.ok_or_else(|| format!("no cgroup of the process counts {what}")),
        usage.limit.ok_or_else(|| format!("no cgroup of the process limits {what}")),
        failures.ok_or_else(|| format!("no cgroup of the process counts failures to get {what}")),
    ]
}

/// The level with the least room, or the first one where none is limited; failures are the most of any.
fn tightest(levels: impl Iterator<Item = Usage>) -> Usage {
    let levels: Vec<Usage> = levels.collect();
    let room = |usage: &Usage| Some(usage.limit?.saturating_sub(usage.used?));
    let least = levels.iter().filter(|usage| room(usage).is_some()).min_by_key(|usage| room(usage));
    let chosen = least.or(levels.first()).copied().unwrap_or_default();
    Usage { failures: levels.iter().filter_map(|usage| usage.failures).max(), ..chosen }
}

fn read_memory(folder: &Path, buffer: &mut Vec<u8>) -> Usage {
    let old = read_number(&folder.join("memory.usage_in_bytes"), buffer);
    if old.is_some() {
        let limit = read_number(&folder.join("memory.limit_in_bytes"), buffer);
        let failures = read_number(&folder.join("memory.failcnt"), buffer);
        return Usage { used: old, limit: limit.filter(|limit| *limit < UNLIMITED_BYTES), failures };
    }
    Usage {
        used: read_number(&folder.join("memory.current"), buffer),
        limit: read_number(&folder.join("memory.max"), buffer),
        failures: read_named(&folder.join("memory.events"), &["max"], buffer),
    }
}

fn read_pids(folder: &Path, buffer: &mut Vec<u8>) -> Usage {
    Usage {
        used: read_number(&folder.join("pids.current"), buffer),
        limit: read_number(&folder.join("pids.max"), buffer),
        failures: read_named(&folder.join("pids.events"), &["max"], buffer),
    }
}

fn read_kills(folder: &Path, buffer: &mut Vec<u8>) -> Option<u64> {
    let new = read_named(&folder.join("memory.events"), &["oom_kill"], buffer);
    new.or_else(|| read_named(&folder.join("memory.oom_control"), &["oom_kill"], buffer))
}

/// How often tasks were slowed down because their group was above `memory.high`, which version 1 does not have.
fn read_throttles(folder: &Path, buffer: &mut Vec<u8>) -> Option<u64> {
    let none = || folder.join("memory.usage_in_bytes").exists().then_some(0);
    read_named(&folder.join("memory.events"), &["high"], buffer).or_else(none)
}

/// Time in which some task of a group waited. Unit: microseconds.
fn read_pressure(path: &Path, buffer: &mut Vec<u8>) -> Option<u64> {
    pressure::parse(read_once(path, buffer).ok()?).ok()?.some_us
}

/// Pages of files that were needed again soon after they were dropped; version 1 has sums with the groups below.
fn read_refaults(folder: &Path, buffer: &mut Vec<u8>) -> Option<u64> {
    let names = [
        "total_workingset_refault_file",
        "total_workingset_refault",
        "workingset_refault_file",
        "workingset_refault",
    ];
    read_named(&folder.join("memory.stat"), &names, buffer)
}

/// The number that a file holds; `None`: it holds none, such as `max`, or cannot be read.
fn read_number(path: &Path, buffer: &mut Vec<u8>) -> Option<u64> {
    decimal(read_once(path, buffer).ok()?.trim_ascii())
}

/// The number after the first of these names that a file has.
fn read_named(path: &Path, names: &[&str], buffer: &mut Vec<u8>) -> Option<u64> {
    let text = read_once(path, buffer).ok()?;
    let number = |wanted: &&str| {
        lines(text).find_map(|line| {
            let mut fields = Fields::of(line);
            (fields.next()? == wanted.as_bytes()).then(|| fields.decimal())?
        })
    };
    names.iter().find_map(number)
}

impl Collector for LimitsCollector {
    fn read(&mut self, pass: &mut Pass<'_>) {
        if self.generation != pass.scene.generation() {
            self.generation = pass.scene.generation();
            let found = members(pass.scene, &BOTH_ROLES[..1]).into_iter();
            let roots = &pass.scene.roots;
            self.groups = found.map(|(pid, scope)| Limits::find(roots, pid, scope, pass.buffer)).collect();
            let columns = |group: &Limits| OF_GROUP.map(|quantity| quantity.of(&group.scope));
            self.table.replace(self.groups.iter().flat_map(columns).collect());
        }
        self.table.clear();
        for (index, group) in self.groups.iter().enumerate() {
            for (offset, answer) in group.read(pass.buffer).into_iter().enumerate() {
                let position = index * OF_GROUP.len() + offset;
                self.table.explain(position, answer.as_ref().err().map(String::as_str));
                self.table.set_count(position, answer.ok());
            }
        }
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("makes a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("has one")).expect("makes folders");
            std::fs::write(path, text).expect("writes");
        }
        folder
    }

    fn read(files: &[(&str, &str)]) -> [Option<u64>; OF_GROUP.len()] {
        let (folder, mut buffer) = (tree(files), Vec::new());
        let limits = Limits::find(&Roots::at(folder.path()), 7, "cgroup:target".to_owned(), &mut buffer);
        limits.read(&mut buffer).map(Result::ok)
    }

    #[test]
    fn version_2_shows_the_level_with_the_least_room() {
        let found = read(&[
            ("proc/7/cgroup", "0::/web/worker\n"),
            ("sys/fs/cgroup/web/memory.current", "990\n"),
            ("sys/fs/cgroup/web/memory.max", "1000\n"),
            ("sys/fs/cgroup/web/memory.events", "low 0\nhigh 7\nmax 9\noom 3\noom_kill 2\n"),
            ("sys/fs/cgroup/web/worker/memory.current", "100\n"),
            ("sys/fs/cgroup/web/worker/memory.max", "500\n"),
            ("sys/fs/cgroup/web/worker/memory.events", "max 4\noom 1\noom_kill 1\n"),
            (
                "sys/fs/cgroup/web/worker/memory.stat",
                "anon 1\nworkingset_refault_anon 5\nworkingset_refault_file 6\n",
            ),
            ("sys/fs/cgroup/web/memory.pressure", "some avg10=0.00 total=9\n"),
            (
                "sys/fs/cgroup/web/worker/memory.pressure",
                "some avg10=0.00 total=5\nfull avg10=0.00 total=1\n",
            ),
            ("sys/fs/cgroup/web/worker/pids.current", "3\n"),
            ("sys/fs/cgroup/web/worker/pids.max", "max\n"),
        ]);
        assert_eq!(
            found,
            [
                Some(990),
                Some(1000),
                Some(9),
                Some(2),
                Some(6),
                Some(3),
                None,
                None,
                Some(7),
                None,
                Some(5),
                None
            ]
        );
    }

    #[test]
    fn version_1_has_other_names_and_a_great_number_for_no_limit() {
        let found = read(&[
            ("proc/7/cgroup", "5:memory:/x\n4:pids:/y\n0::/elsewhere\n"),
            ("sys/fs/cgroup/memory/x/memory.usage_in_bytes", "4096\n"),
            ("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/x/memory.failcnt", "0\n"),
            ("sys/fs/cgroup/memory/x/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"),
            (
                "sys/fs/cgroup/memory/x/memory.stat",
                "workingset_refault_file 1\ntotal_workingset_refault_file 8\n",
            ),
            ("sys/fs/cgroup/pids/y/pids.current", "30\n"),
            ("sys/fs/cgroup/pids/y/pids.max", "32\n"),
            ("sys/fs/cgroup/pids/y/pids.events", "max 5\n"),
        ]);
        assert_eq!(
            found,
            [
                Some(4096),
                None,
                Some(0),
                Some(1),
                Some(8),
                Some(30),
                Some(32),
                Some(5),
                Some(0),
                None,
                None,
                None
            ]
        );
    }

    #[test]
    fn what_is_not_there_or_malformed_has_a_reason() {
        assert_eq!(read(&[("proc/7/cgroup", "garbage\n")]), [None; OF_GROUP.len()]);
        let files = [("proc/7/cgroup", "0::/web\n"), ("sys/fs/cgroup/web/cgroup.procs", "7\n")];
        let (folder, mut buffer) = (tree(&files), Vec::new());
        let limits = Limits::find(&Roots::at(folder.path()), 7, "cgroup:target".to_owned(), &mut buffer);
        // Nothing limits it, so that nothing was refused.
        let answers = limits.read(&mut buffer);
        assert_eq!((&answers[2], &answers[7]), (&Ok(0), &Ok(0)));
        let reason = |answer: &Answer| answer.clone().expect_err("is not there");
        assert!(reason(&answers[0]).contains("counts memory"), "{answers:?}");
        assert!(reason(&answers[5]).contains("counts tasks"), "{answers:?}");
        let wrong = [("proc/7/cgroup", "0::/\n"), ("sys/fs/cgroup/memory.current", "-\n")];
        assert_eq!(read(&wrong), [None; OF_GROUP.len()]);
    }
}
