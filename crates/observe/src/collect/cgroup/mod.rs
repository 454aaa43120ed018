//! CPU quota and throttling of the control groups that the target, its tiers, and the generator run in.
//!
//! A process is throttled by its own group and by every parent. The columns show the greatest throttling and the smallest
//! quota of all levels. Versions 1 (controller `cpu`) and 2 are read; where both are mounted, the one that has the
//! controller counts. If no hierarchy is mounted here, as below `ip netns exec`, which mounts a fresh `/sys`, it is read as
//! seen by the parents of this process, up to process 1. Source: cgroups(7), `Documentation/admin-guide/cgroup-v2.rst`.

mod limits;
mod places;

use super::{Collector, Pass, Table};
use crate::roots::Roots;
use crate::source::cpu_stat::{self, Throttling};
use crate::source::{KeptFile, Shape, pid_stat, read_once};
use places::{BOTH_ROLES, GroupPlace, members};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use sysdyno_record::column;
use sysdyno_record::series::Column;

/// Memory and tasks.
pub(crate) fn limits() -> Box<dyn Collector> {
    limits::collector()
}

pub(crate) fn collector() -> Box<dyn Collector> {
    Box::new(CgroupCollector::default())
}

/// Throttling of the group that a process is in now, itself and no parent of it.
///
/// `None`: the process is gone, or its group has no such counters.
pub fn group_throttling(pid: u32) -> Option<Throttling> {
    let mut buffer = Vec::new();
    let levels = find_levels(&Roots::host(), pid, &mut buffer).ok()?;
    let text = read_once(&levels.first()?.folder.join("cpu.stat"), &mut buffer).ok()?;
    cpu_stat::parse(text).ok()?
}

/// Position of the quota among the columns of a process's groups; the counters come before it.
const QUOTA: usize = 3;
/// Folders of version 1 hierarchies with the controller, as distributions name them.
const VERSION_1_MOUNTS: [&str; 3] = ["fs/cgroup/cpu,cpuacct", "fs/cgroup/cpu", "fs/cgroup/cpuacct,cpu"];
/// Parents of this process that are asked at most.
const MAX_PARENTS: usize = 16;

#[derive(Default)]
struct CgroupCollector {
    table: Table,
    groups: Vec<Group>,
    generation: u64,
}

/// The groups of one process, from its own to the root.
struct Group {
    scope: String,
    levels: Vec<Level>,
    quota_ratio: Option<f64>,
    /// Why nothing can be read.
    reason: Option<String>,
}

struct Level {
    folder: PathBuf,
    stat: KeptFile,
    has_quota: bool,
}

impl Group {
    fn find(roots: &Roots, pid: u32, scope: &str, buffer: &mut Vec<u8>) -> Group {
        let (levels, reason) = match find_levels(roots, pid, buffer) {
            Ok(levels) => (levels, None),
            Err(reason) => (vec![], Some(reason)),
        };
        Group { scope: scope.to_owned(), levels, quota_ratio: None, reason }
    }

    /// Reads the quotas; returns whether there is one now and was none before, or the other way round.
    fn look(&mut self, buffer: &mut Vec<u8>) -> bool {
        let had_quota = self.quota_ratio.is_some();
        self.quota_ratio = None;
        for level in &mut self.levels {
            let quota = read_quota(&level.folder, buffer);
            level.has_quota = quota.is_some();
            self.quota_ratio = match (self.quota_ratio, quota) {
                (Some(least), Some(quota)) => Some(quota.min(least)),
                (least, quota) => least.or(quota),
            };
        }
        had_quota != self.quota_ratio.is_some()
    }

    /// Reads the counters of the levels that have a quota; without one, those of the process's own group.
    fn read(&mut self, buffer: &mut Vec<u8>) -> Option<Throttling> {
        let only_first = self.quota_ratio.is_none();
        let chosen = self
            .levels
            .iter_mut()
            .enumerate()
            .filter(|(index, level)| level.has_quota || only_first && *index == 0);
        let mut most: Option<Throttling> = None;
        for (_, level) in chosen {
            let text = level.stat.read(buffer).ok();
            let throttling = text.and_then(|text| cpu_stat::parse(text).ok()).flatten();
            if throttling.is_some_and(|this| most.is_none_or(|most| this.throttled_us > most.throttled_us)) {
                most = throttling;
            }
        }
        most
    }

    /// Whether the groups were found, and none of them can have a quota: then there is nothing to count.
    fn is_free(&self) -> bool {
        self.levels.is_empty() && self.reason.is_none()
    }

    fn columns(&self) -> Vec<Column> {
        let mut all = vec![
            column::CGROUP_PERIODS.of(&self.scope),
            column::CGROUP_THROTTLED.of(&self.scope),
            column::CGROUP_THROTTLED_TIME.of(&self.scope),
            column::CGROUP_QUOTA.of(&self.scope),
        ];
        all.iter_mut().for_each(|column| column.unavailable.clone_from(&self.reason));
        if self.quota_ratio.is_none() && self.reason.is_none() {
            all[QUOTA].unavailable = Some("no cgroup of the process has a quota".to_owned());
        }
        if self.is_free() { all.split_off(QUOTA) } else { all }
    }
}

/// The throttling of one process, by the quotas of its groups.
pub(crate) struct ProcessThrottling {
    group: Group,
    /// Readings until the quotas are looked at again.
    wait: u32,
}

/// Readings from one look at the quotas of a process to the next.
const LOOK_READINGS: u32 = 10;

impl ProcessThrottling {
    /// That of this process.
    pub(crate) fn find(roots: &Roots, pid: u32, buffer: &mut Vec<u8>) -> ProcessThrottling {
        ProcessThrottling { group: Group::find(roots, pid, "", buffer), wait: 0 }
    }

    /// Time that its run queues were throttled, summed over CPUs. Unit: microseconds. `None`: it has no quota.
    pub(crate) fn read_us(&mut self, buffer: &mut Vec<u8>) -> Option<u64> {
        if self.wait == 0 {
            self.group.look(buffer);
        }
        self.wait = self.wait.checked_sub(1).unwrap_or(LOOK_READINGS);
        self.group.quota_ratio?;
        self.group.read(buffer).map(|throttling| throttling.throttled_us)
    }
}

impl CgroupCollector {
    fn look(&mut self, pass: &mut Pass<'_>) {
        let mut is_changed = false;
        if self.generation != pass.scene.generation() {
            self.generation = pass.scene.generation();
            let (roots, buffer) = (&pass.scene.roots, &mut *pass.buffer);
            let members = members(pass.scene, &BOTH_ROLES).into_iter();
            self.groups = members.map(|(pid, scope)| Group::find(roots, pid, &scope, buffer)).collect();
            is_changed = true;
        }
        for group in &mut self.groups {
            is_changed |= group.look(pass.buffer);
        }
        if is_changed {
            self.table.replace(self.groups.iter().flat_map(Group::columns).collect());
        }
    }
}

impl Collector for CgroupCollector {
    fn read(&mut self, pass: &mut Pass<'_>) {
        if pass.is_look() {
            self.look(pass);
        }
        self.table.clear();
        let mut position = 0;
        for group in &mut self.groups {
            if group.is_free() {
                position += 1;
                continue;
            }
            if let Some(throttling) = group.read(pass.buffer) {
                self.table.set_count(position, Some(throttling.periods_count));
                self.table.set_count(position + 1, Some(throttling.throttled_count));
                self.table.set_count(position + 2, Some(throttling.throttled_us));
            }
            if let Some(quota) = group.quota_ratio.filter(|_| pass.is_look()) {
                self.table.set(position + QUOTA, quota);
            }
            position += QUOTA + 1;
        }
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}

/// The groups of a process whose `cpu.stat` has throttling counters, its own first.
fn find_levels(roots: &Roots, pid: u32, buffer: &mut Vec<u8>) -> Result<Vec<Level>, String> {
    let places = places::places(roots, pid, ("cpu", &VERSION_1_MOUNTS), buffer)?;
    let levels = places.iter().map(|place| levels_of(place, buffer));
    if let Some(levels) = levels.into_iter().find(|levels| !levels.is_empty()) {
        return Ok(levels);
    }
    // A group that is there and has no such counters has no quota either.
    if places.iter().any(GroupPlace::is_visible) { Ok(vec![]) } else { Err(HIDDEN.to_owned()) }
}

/// Why nothing is known of the groups of a process.
const HIDDEN: &str = "the cgroup hierarchy is not visible here";

/// The processes that this one was started by, the nearest first.
pub(super) fn parents(roots: &Roots, buffer: &mut Vec<u8>) -> Vec<u32> {
    let mut parents = Vec::new();
    let mut child = "self".to_owned();
    while parents.len() < MAX_PARENTS {
        let text = read_once(&roots.in_proc(&format!("{child}/stat")), buffer).ok();
        let parent = text.and_then(|text| pid_stat::parse(text).ok()).map(|stat| stat.parent_pid);
        let Some(parent) = parent.filter(|parent| *parent > 0) else { break };
        parents.push(parent);
        child = parent.to_string();
    }
    parents
}

/// The folder of a group; `None` for one outside of the namespace of control groups that is visible here.
fn folder_of(mount: &Path, group: &Path) -> Option<PathBuf> {
    let is_outside = group.components().any(|component| component == Component::ParentDir);
    let folder =
        || group.components().filter_map(normal).fold(mount.to_path_buf(), |path, name| path.join(name));
    (!is_outside).then(folder)
}

/// The levels of a group that have throttling counters.
fn levels_of(place: &GroupPlace, buffer: &mut Vec<u8>) -> Vec<Level> {
    let mut levels = Vec::new();
    for folder in place.levels() {
        let path = folder.join("cpu.stat");
        let throttling = read_once(&path, buffer).ok().and_then(|text| cpu_stat::parse(text).ok()).flatten();
        if throttling.is_some() {
            levels.push(Level { folder, stat: KeptFile::new(path, Shape::Whole), has_quota: false });
        }
    }
    levels
}

fn normal(component: Component<'_>) -> Option<&OsStr> {
    match component {
        Component::Normal(name) => Some(name),
        _ => None,
    }
}

/// The quota of one group. Unit: CPUs. `None`: there is none.
fn read_quota(folder: &Path, buffer: &mut Vec<u8>) -> Option<f64> {
    if let Ok(text) = read_once(&folder.join("cpu.max"), buffer) {
        return cpu_stat::parse_max(text).ok().flatten();
    }
    let quota = read_once(&folder.join("cpu.cfs_quota_us"), buffer).ok()?.to_vec();
    if quota.starts_with(b"-") {
        return None;
    }
    let period = read_once(&folder.join("cpu.cfs_period_us"), buffer).ok()?;
    cpu_stat::parse_cfs(&quota, period).ok().flatten()
}

#[cfg(test)]
mod tests;
