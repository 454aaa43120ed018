//! Groups of both versions, built as folders.

use super::*;

/// A tree of files below a temporary root.
struct Tree {
    folder: tempfile::TempDir,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Tree {
        let folder = tempfile::tempdir().expect("makes a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("has one")).expect("makes folders");
            std::fs::write(path, text).expect("writes");
        }
        Tree { folder }
    }

    fn read(&self) -> (Option<Throttling>, Option<f64>, Option<String>) {
        let mut buffer = Vec::new();
        let mut group = Group::find(&Roots::at(self.folder.path()), 7, "cgroup:target", &mut buffer);
        group.look(&mut buffer);
        (group.read(&mut buffer), group.quota_ratio, group.reason)
    }
}

const STAT_2: &str = "usage_usec 9\nnr_periods 10\nnr_throttled 3\nthrottled_usec 5000\n";
const STAT_1: &str = "nr_periods 10\nnr_throttled 3\nthrottled_time 5000000\n";
const THROTTLED: Throttling = Throttling { periods_count: 10, throttled_count: 3, throttled_us: 5000 };

#[test]
fn a_parents_quota_counts_in_version_2() {
    let tree = Tree::new(&[
        ("proc/7/cgroup", "0::/web/worker\n"),
        ("sys/fs/cgroup/cpu.stat", "usage_usec 9\n"),
        ("sys/fs/cgroup/web/cpu.stat", STAT_2),
        ("sys/fs/cgroup/web/cpu.max", "50000 100000\n"),
        ("sys/fs/cgroup/web/worker/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_usec 0\n"),
        ("sys/fs/cgroup/web/worker/cpu.max", "max 100000\n"),
    ]);
    assert_eq!(tree.read(), (Some(THROTTLED), Some(0.5), None));
}

#[test]
fn version_1_is_read_in_nanoseconds() {
    let tree = Tree::new(&[
        ("proc/7/cgroup", "5:memory:/x\n4:cpu,cpuacct:/web\n0::/elsewhere\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/web/cpu.stat", STAT_1),
        ("sys/fs/cgroup/cpu,cpuacct/web/cpu.cfs_quota_us", "150000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/web/cpu.cfs_period_us", "100000\n"),
    ]);
    assert_eq!(tree.read(), (Some(THROTTLED), Some(1.5), None));
}

#[test]
fn in_a_hybrid_the_hierarchy_with_the_controller_counts() {
    let tree = Tree::new(&[
        ("proc/7/cgroup", "1:cpu:/\n0::/\n"),
        ("sys/fs/cgroup/cpu/cpu.stat", STAT_1),
        ("sys/fs/cgroup/unified/cpu.stat", "usage_usec 9\n"),
    ]);
    assert_eq!(tree.read(), (Some(THROTTLED), None, None));
}

/// The stat file of a process with this parent.
fn stat(parent: u32) -> String {
    format!(
        "9 (sh) S {parent} 1 1 0 -1 4194560 0 0 0 0 1 2 3 4 20 0 1 0 77 1000 100 {}",
        "0 ".repeat(28).trim_end()
    )
}

#[test]
fn where_sys_is_mounted_anew_the_hierarchy_is_read_as_the_parents_see_it() {
    let [own, shell, terminal] = [4, 3, 1].map(stat);
    let files = [
        ("proc/7/cgroup", "1:cpu:/web\n0::/\n"),
        ("proc/3/root/sys/fs/cgroup/cpu/web/cpu.stat", STAT_1),
        ("proc/3/root/sys/fs/cgroup/cpu/web/cpu.cfs_quota_us", "50000\n"),
        ("proc/3/root/sys/fs/cgroup/cpu/web/cpu.cfs_period_us", "100000\n"),
        ("proc/3/root/sys/fs/cgroup/unified/cgroup.procs", "7\n"),
        // Of three generations the middle one was started before the mount: this process, the shell, and its terminal.
        ("proc/self/stat", own.as_str()),
        ("proc/4/stat", shell.as_str()),
        ("proc/3/stat", terminal.as_str()),
    ];
    assert_eq!(Tree::new(&files).read(), (Some(THROTTLED), Some(0.5), None));
    let (throttling, _, reason) = Tree::new(&[files[0], files[4], files[5], files[6], files[7]]).read();
    assert_eq!(throttling, None);
    assert!(
        reason.is_some_and(|reason| reason.contains("not visible")),
        "the other hierarchy has no such controller"
    );
}

#[test]
fn groups_without_the_controller_have_no_quota_and_are_not_hidden() {
    let tree = Tree::new(&[
        ("proc/7/cgroup", "0::/session\n"),
        ("sys/fs/cgroup/session/cgroup.procs", "7\n"),
        ("sys/fs/cgroup/session/cpu.stat", "usage_usec 9\n"),
    ]);
    assert_eq!(tree.read(), (None, None, None));
    let mut buffer = Vec::new();
    let group = Group::find(&Roots::at(tree.folder.path()), 7, "cgroup:target", &mut buffer);
    let columns: Vec<String> = group.columns().into_iter().map(|column| column.name).collect();
    assert_eq!(columns, ["cgroup.quota_ratio"], "nothing that is missing takes a finding away");
}

#[test]
fn groups_that_cannot_be_seen_have_a_reason() {
    let hidden = Tree::new(&[("proc/7/cgroup", "0::/../other\n"), ("sys/fs/cgroup/cpu.stat", STAT_2)]);
    let (throttling, quota, reason) = hidden.read();
    assert_eq!((throttling, quota), (None, None));
    assert!(reason.is_some_and(|reason| reason.contains("not visible")));
    let (_, _, reason) = Tree::new(&[("proc/7/cgroup", "garbage\n")]).read();
    assert!(reason.is_some_and(|reason| reason.contains("cannot parse")));
    let (_, _, reason) = Tree::new(&[("proc/8/cgroup", "")]).read();
    assert!(reason.is_some_and(|reason| reason.starts_with("cannot open")));
}
