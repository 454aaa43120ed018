//! CPU quota and throttling of the control groups that the target and the generator run in.
//!
//! A process is throttled by its own group and by every parent. Shown is, of all levels, the greatest throttling and
//! the least quota. Versions 1 (controller `cpu`) and 2 are read; where both are mounted, the one that has the
//! controller counts. Source: cgroups(7), `Documentation/admin-guide/cgroup-v2.rst`.

use super::{Collector, Pass, Table, counter, gauge};
use crate::roots::Roots;
use crate::source::cpu_stat::{self, Throttling};
use crate::source::{KeptFile, Shape, cgroup, read_once};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use sysdyno_record::event::ProcessRole;
use sysdyno_record::series::Column;

pub(crate) fn collector() -> Box<dyn Collector> {
    Box::new(CgroupCollector::default())
}

/// Groups are nested at most this deep here; what is above is left out.
const MAX_LEVELS: usize = 12;
/// Columns of a process's groups.
const WIDTH: usize = 4;
/// Folders of version 1 hierarchies with the controller, as distributions name them.
const VERSION_1_MOUNTS: [&str; 3] = ["fs/cgroup/cpu,cpuacct", "fs/cgroup/cpu", "fs/cgroup/cpuacct,cpu"];
/// Folders of the version 2 hierarchy.
const VERSION_2_MOUNTS: [&str; 2] = ["fs/cgroup", "fs/cgroup/unified"];

#[derive(Default)]
struct CgroupCollector {
    table: Table,
    groups: Vec<Group>,
    generation: u64,
}

/// The groups of one process, from its own to the root.
struct Group {
    scope: &'static str,
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
    fn find(roots: &Roots, pid: u32, scope: &'static str, buffer: &mut Vec<u8>) -> Group {
        let (levels, reason) = match find_levels(roots, pid, buffer) {
            Ok(levels) => (levels, None),
            Err(reason) => (vec![], Some(reason)),
        };
        Group { scope, levels, quota_ratio: None, reason }
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

    fn columns(&self) -> [Column; WIDTH] {
        let mut all = [
            counter("cgroup.periods_count", "count", self.scope),
            counter("cgroup.throttled_count", "count", self.scope),
            counter("cgroup.throttled_us", "us", self.scope),
            gauge("cgroup.quota_ratio", "ratio", self.scope),
        ];
        all.iter_mut().for_each(|column| column.unavailable.clone_from(&self.reason));
        if self.quota_ratio.is_none() && self.reason.is_none() {
            all[3].unavailable = Some("no group of the process has a quota".to_owned());
        }
        all
    }
}

impl CgroupCollector {
    fn look(&mut self, pass: &mut Pass<'_>) {
        let mut is_changed = false;
        if self.generation != pass.scene.generation() {
            self.generation = pass.scene.generation();
            let roles =
                [(ProcessRole::Target, "cgroup:target"), (ProcessRole::Generator, "cgroup:generator")];
            let scene = &*pass.scene;
            let buffer = &mut *pass.buffer;
            let find = |(role, scope)| Some(Group::find(&scene.roots, scene.first(role)?.pid, scope, buffer));
            self.groups = roles.into_iter().filter_map(find).collect();
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
        for (index, group) in self.groups.iter_mut().enumerate() {
            let position = index * WIDTH;
            if let Some(throttling) = group.read(pass.buffer) {
                self.table.set_count(position, Some(throttling.periods_count));
                self.table.set_count(position + 1, Some(throttling.throttled_count));
                self.table.set_count(position + 2, Some(throttling.throttled_us));
            }
            if let Some(quota) = group.quota_ratio.filter(|_| pass.is_look()) {
                self.table.set(position + 3, quota);
            }
        }
    }

    fn table(&mut self) -> &mut Table {
        &mut self.table
    }
}

/// The groups of a process whose `cpu.stat` has throttling counters, its own first.
fn find_levels(roots: &Roots, pid: u32, buffer: &mut Vec<u8>) -> Result<Vec<Level>, String> {
    let path = roots.in_proc(&format!("{pid}/cgroup"));
    let text = read_once(&path, buffer).map_err(|error| error.to_string())?;
    let mut candidates: Vec<(PathBuf, PathBuf)> = Vec::new();
    let parsed = cgroup::parse(text, |membership| {
        let mounts: &[&str] = match (membership.has_controller("cpu"), membership.is_unified()) {
            (true, _) => &VERSION_1_MOUNTS,
            (_, true) => &VERSION_2_MOUNTS,
            _ => return,
        };
        let group = PathBuf::from(OsStr::from_bytes(membership.path));
        candidates.extend(mounts.iter().map(|mount| (roots.in_sys(mount), group.clone())));
    });
    parsed.map_err(|error| format!("cannot understand '{}': {error}", path.display()))?;
    let levels = candidates.iter().map(|(mount, group)| levels_of(mount, group, buffer));
    levels.into_iter().find(|levels| !levels.is_empty()).ok_or_else(|| {
        "no group of the process has throttling counters: the cpu controller is not enabled or not visible".to_owned()
    })
}

/// The levels of `group` below `mount` that have throttling counters.
fn levels_of(mount: &Path, group: &Path, buffer: &mut Vec<u8>) -> Vec<Level> {
    // A path with '..' leads out of the namespace of control groups that is visible here.
    let names: Vec<&OsStr> = group.components().filter_map(normal).collect();
    if group.components().any(|component| component == Component::ParentDir) {
        return vec![];
    }
    let folder = |depth: usize| names[..depth].iter().fold(mount.to_path_buf(), |path, name| path.join(name));
    let mut levels = Vec::new();
    for folder in (0..=names.len()).rev().take(MAX_LEVELS).map(folder) {
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
