//! Limits of a service: CPU time, memory, and processes, each by a cgroup of its own.
//!
//! The keeper makes the groups, joins them before it starts anything, and removes them when the service is gone. Their names
//! follow from the lab and the service, so that `down` removes those of a keeper that was killed. Only empty groups are ever
//! removed, and nothing in them. Sources: `Documentation/admin-guide/cgroup-v1`, `Documentation/admin-guide/cgroup-v2.rst`,
//! `Documentation/scheduler/sched-bwc.rst`.

use super::files;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use sysdyno_observe::{cgroup_root, own_cgroup};

/// Over this time a limit of CPU time is counted, as most tools have it. Unit: microseconds.
const PERIOD_US: u64 = 100_000;

/// Shortest CPU time per period that the kernel takes. Unit: microseconds.
const MIN_QUOTA_US: u64 = 1_000;

/// More memory than any host has. Unit: MiB.
const MAX_MEMORY_MIB: u64 = 1 << 30;

/// The most processes that the kernel has, `PID_MAX_LIMIT`.
const MAX_PIDS: u64 = 1 << 22;

/// The file of a group that has its processes, and what adds the process that writes it.
const MEMBERS: &str = "cgroup.procs";
const SELF: &str = "0";

/// A group is busy until the kernel has let go of the last process in it.
const BUSY_TRIES: u32 = 100;
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// What a service may use at most; `None`: of that, all that there is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceLimits {
    /// CPU time. Unit: CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// Memory, with the page cache of what it reads. Unit: MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mib: Option<u64>,
    /// Processes and threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pids: Option<u64>,
}

impl ServiceLimits {
    /// Whether it limits nothing.
    pub(super) fn is_none(&self) -> bool {
        *self == ServiceLimits::default()
    }

    /// The same, if each can be a limit.
    ///
    /// # Errors
    /// What cannot, as a phrase.
    pub(super) fn checked(self) -> Result<ServiceLimits, String> {
        let least_cpus = MIN_QUOTA_US as f64 / PERIOD_US as f64;
        if self.cpus.is_some_and(|cpus| !(least_cpus..=4096.0).contains(&cpus)) {
            return Err(format!("'cpus' takes {least_cpus} to 4096"));
        }
        if self.memory_mib.is_some_and(|mib| !(1..=MAX_MEMORY_MIB).contains(&mib)) {
            return Err(format!("'memory_mib' takes 1 to {MAX_MEMORY_MIB}"));
        }
        if self.pids.is_some_and(|pids| !(1..=MAX_PIDS).contains(&pids)) {
            return Err(format!("'pids' takes 1 to {MAX_PIDS}"));
        }
        Ok(self)
    }

    /// The groups that these limits take below `root`.
    ///
    /// # Errors
    /// This host has no controller for one of them.
    pub(super) fn groups(&self, root: &Path, name: &str) -> io::Result<Vec<LimitGroup>> {
        let is_unified = root.join("cgroup.controllers").exists();
        let quota_us = self.cpus.map(|cpus| (cpus * PERIOD_US as f64).round() as u64);
        let bytes = self.memory_mib.map(|mib| (mib << 20).to_string());
        // The keeper is one of them.
        let pids = self.pids.map(|pids| (pids + 1).to_string());
        let wanted = if is_unified {
            [
                ("cpu", "cpu.max", quota_us.map(|quota_us| format!("{quota_us} {PERIOD_US}"))),
                ("memory", "memory.max", bytes),
                ("pids", "pids.max", pids),
            ]
        } else {
            // The period is that of a new group.
            [
                ("cpu", "cpu.cfs_quota_us", quota_us.map(|quota_us| quota_us.to_string())),
                ("memory", "memory.limit_in_bytes", bytes),
                ("pids", "pids.max", pids),
            ]
        };
        let mut groups: Vec<LimitGroup> = Vec::new();
        for (controller, file, value) in wanted {
            let Some(value) = value.map(|value| (file.to_owned(), value)) else { continue };
            let folder = parent(root, controller, is_unified)?.join(name);
            match groups.iter_mut().find(|group| group.folder == folder) {
                Some(group) => group.values.push(value),
                None => groups.push(LimitGroup { folder, values: vec![value] }),
            }
        }
        Ok(groups)
    }
}

/// The group that those of services are made in.
fn parent(root: &Path, controller: &str, is_unified: bool) -> io::Result<PathBuf> {
    let no_controller = || io::Error::other(format!("this host has no cgroup controller '{controller}'"));
    if !is_unified {
        let folder = root.join(controller);
        return if folder.join(MEMBERS).exists() { Ok(folder) } else { Err(no_controller()) };
    }
    let passed_on = fs::read_to_string(root.join("cgroup.subtree_control"))?;
    let is_passed_on = passed_on.split_whitespace().any(|other| other == controller);
    if is_passed_on { Ok(root.to_owned()) } else { Err(no_controller()) }
}

/// What the groups of a service are called.
pub(super) fn group_name(lab: &str, service: &str) -> String {
    format!("sysdyno-{lab}-{service}")
}

/// A group, and what is written into its files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LimitGroup {
    pub(super) folder: PathBuf,
    pub(super) values: Vec<(String, String)>,
}

/// This process in the groups of a service, which it leaves and removes in the end.
#[derive(Default)]
pub(super) struct JoinedGroups {
    groups: Vec<JoinedGroup>,
}

struct JoinedGroup {
    folder: PathBuf,
    /// Where this process was before.
    before: PathBuf,
}

impl JoinedGroups {
    /// Makes the groups and joins them; what this process starts is in them, too.
    ///
    /// # Errors
    /// One of them cannot be made; then none is left.
    pub(super) fn join(groups: &[LimitGroup]) -> io::Result<JoinedGroups> {
        let mut joined = JoinedGroups::default();
        for group in groups {
            if let Err(error) = joined.add(group) {
                let _ = joined.leave();
                let text = format!("cannot make cgroup '{}': {error}", group.folder.display());
                return Err(io::Error::new(error.kind(), text));
            }
        }
        Ok(joined)
    }

    fn add(&mut self, group: &LimitGroup) -> io::Result<()> {
        // One that a keeper left that was killed.
        remove_if_empty(&group.folder)?;
        files::make_group(&group.folder)?;
        self.groups.push(JoinedGroup { folder: group.folder.clone(), before: own_group(&group.folder) });
        for (file, value) in &group.values {
            files::write_to_group(&group.folder, file, value)?;
        }
        files::write_to_group(&group.folder, MEMBERS, SELF)
    }

    /// Leaves them, and removes them once nobody is in them.
    ///
    /// # Errors
    /// One of them cannot be removed.
    pub(super) fn leave(self) -> io::Result<()> {
        for group in &self.groups {
            files::write_to_group(&group.before, MEMBERS, SELF)?;
            remove(&group.folder)?;
        }
        Ok(())
    }
}

/// The group that this process is in now, in the hierarchy of another one; the parent of that if it is not known.
fn own_group(other: &Path) -> PathBuf {
    let root = cgroup_root();
    let parent = other.parent().unwrap_or(&root);
    let controller = parent.strip_prefix(&root).map_or("", |below| below.to_str().unwrap_or_default());
    let own = own_cgroup(controller).filter(|own| own.join(MEMBERS).exists());
    own.unwrap_or_else(|| parent.to_owned())
}

/// Removes what a keeper that was killed has left of the groups of a service.
pub(super) fn remove_left(root: &Path, name: &str) -> io::Result<()> {
    let folders = ["", "cpu", "memory", "pids"].map(|controller| root.join(controller).join(name));
    folders.iter().try_for_each(|folder| remove(folder))
}

/// Removes a group whose processes are ending.
fn remove(folder: &Path) -> io::Result<()> {
    for _ in 1..BUSY_TRIES {
        match remove_if_empty(folder) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => std::thread::sleep(BUSY_PAUSE),
            removed => return removed,
        }
    }
    remove_if_empty(folder)
}

/// Removes a group, if it is there.
fn remove_if_empty(folder: &Path) -> io::Result<()> {
    match fs::remove_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            let text = format!("cannot remove cgroup '{}': {error}", folder.display());
            Err(io::Error::new(error.kind(), text))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> ServiceLimits {
        ServiceLimits { cpus: Some(0.5), memory_mib: Some(64), pids: Some(20) }
    }

    /// A folder with these files.
    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("is below")).expect("is made");
            fs::write(path, text).expect("is written");
        }
        root
    }

    fn texts(groups: &[LimitGroup], root: &Path) -> Vec<String> {
        let text = |group: &LimitGroup| {
            let folder = group.folder.strip_prefix(root).expect("is below").display().to_string();
            let values = group.values.iter().map(|(file, value)| format!(" {file}={value}"));
            folder + &values.collect::<String>()
        };
        groups.iter().map(text).collect()
    }

    #[test]
    fn each_controller_of_the_first_version_has_a_group_of_its_own() {
        let root = tree(&[("cpu/cgroup.procs", ""), ("memory/cgroup.procs", ""), ("pids/cgroup.procs", "")]);
        let groups = limits().groups(root.path(), "sysdyno-l-web").expect("are known");
        let expected = [
            "cpu/sysdyno-l-web cpu.cfs_quota_us=50000",
            "memory/sysdyno-l-web memory.limit_in_bytes=67108864",
            "pids/sysdyno-l-web pids.max=21",
        ];
        assert_eq!(texts(&groups, root.path()), expected);
    }

    #[test]
    fn all_controllers_of_the_second_version_share_one() {
        let root = tree(&[
            ("cgroup.controllers", "cpu memory pids"),
            ("cgroup.subtree_control", "memory pids cpu\n"),
        ]);
        let groups = limits().groups(root.path(), "sysdyno-l-web").expect("are known");
        assert_eq!(
            texts(&groups, root.path()),
            ["sysdyno-l-web cpu.max=50000 100000 memory.max=67108864 pids.max=21"]
        );
    }

    #[test]
    fn a_controller_that_is_not_there_is_named() {
        let passed_on = [("cgroup.controllers", "cpu memory"), ("cgroup.subtree_control", "memory\n")];
        for root in [tree(&passed_on), tree(&[("memory/cgroup.procs", "")])] {
            let refused = limits().groups(root.path(), "sysdyno-l-web").map_err(|error| error.to_string());
            assert_eq!(refused, Err("this host has no cgroup controller 'cpu'".to_owned()));
            let memory = ServiceLimits { cpus: None, pids: None, ..limits() };
            assert_eq!(memory.groups(root.path(), "sysdyno-l-web").map(|groups| groups.len()).ok(), Some(1));
        }
    }

    #[test]
    fn what_can_be_no_limit_is_refused() {
        assert_eq!(limits().checked(), Ok(limits()));
        for wrong in [
            ServiceLimits { cpus: Some(0.001), ..ServiceLimits::default() },
            ServiceLimits { cpus: Some(f64::NAN), ..ServiceLimits::default() },
            ServiceLimits { memory_mib: Some(0), ..ServiceLimits::default() },
            ServiceLimits { pids: Some(0), ..ServiceLimits::default() },
        ] {
            assert!(wrong.clone().checked().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn only_what_is_empty_is_removed() {
        let root = tree(&[("cpu/sysdyno-l-web/file", ""), ("memory/other/file", "")]);
        fs::create_dir_all(root.path().join("pids/sysdyno-l-web")).expect("is made");
        let error = remove_left(root.path(), "sysdyno-l-web").expect_err("is not empty").to_string();
        assert!(
            error.starts_with("cannot remove cgroup '") && error.contains("/cpu/sysdyno-l-web'"),
            "{error}"
        );
        fs::remove_file(root.path().join("cpu/sysdyno-l-web/file")).expect("is removed");
        remove_left(root.path(), "sysdyno-l-web").expect("are removed");
        assert!(!root.path().join("pids/sysdyno-l-web").exists());
    }
}
