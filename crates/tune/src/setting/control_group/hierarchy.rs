//! Where the hierarchy of a controller is mounted, and where in it a process is.
//!
//! The hierarchy may be hidden here, as below `ip netns exec`, which mounts a fresh `/sys`; then it is used as process 1
//! sees it. Sources: cgroups(7), `admin-guide/cgroup-v2.rst`.

use super::kernel::GroupKernel;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A version of control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GroupVersion {
    /// A hierarchy for each controller.
    One,
    /// One hierarchy for all controllers.
    Two {
        /// Whether the controller has to be enabled for the groups below the process's own, and disabled at the end.
        enables: bool,
    },
}

impl GroupVersion {
    const ALL: [(GroupVersion, &'static str); 3] = [
        (GroupVersion::One, "v1"),
        (GroupVersion::Two { enables: false }, "v2"),
        (GroupVersion::Two { enables: true }, "v2+"),
    ];

    pub(super) fn parse(text: &str) -> Option<GroupVersion> {
        GroupVersion::ALL.iter().find(|(_, name)| *name == text).map(|(version, _)| *version)
    }

    /// Folders in which distributions mount it.
    fn mounts(self) -> &'static [&'static str] {
        match self {
            GroupVersion::One => {
                &["/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpuacct,cpu"]
            }
            GroupVersion::Two { .. } => &["/sys/fs/cgroup", "/sys/fs/cgroup/unified"],
        }
    }

    /// A file by which the root of its hierarchy is known.
    fn root_file(self) -> &'static str {
        match self {
            GroupVersion::One => "cpu.shares",
            GroupVersion::Two { .. } => "cgroup.controllers",
        }
    }
}

impl fmt::Display for GroupVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = GroupVersion::ALL.iter().find(|(version, _)| version == self).map_or("", |(_, name)| name);
        out.write_str(name)
    }
}

/// Where a hierarchy of this version is mounted.
///
/// # Errors
/// It is mounted neither here nor where process 1 is.
pub(super) fn mount(kernel: &dyn GroupKernel, version: GroupVersion) -> io::Result<PathBuf> {
    let seen_from = ["", "/proc/1/root"];
    let mounts =
        seen_from.iter().flat_map(|from| version.mounts().iter().map(move |at| format!("{from}{at}")));
    let found = mounts.map(PathBuf::from).find(|at| kernel.has(&at.join(version.root_file())));
    found.ok_or_else(|| io::Error::other("the control groups of CPUs are not mounted here"))
}

/// The folder of a group below a mount; `None`: the path leads elsewhere.
pub(super) fn folder(mount: &Path, group: &str) -> Option<PathBuf> {
    let rest = group.strip_prefix('/')?;
    let is_plain = |step: &str| !step.is_empty() && step != "." && step != "..";
    (rest.is_empty() || rest.split('/').all(is_plain)).then(|| mount.join(rest))
}

/// The line of `/proc/PID/cgroup` that counts for a controller: that of its own hierarchy, else that of version 2. The
/// second is the path in it.
pub(super) fn line_of<'a>(text: &'a str, controller: &str) -> Option<(bool, &'a str)> {
    let mut unified = None;
    for line in text.lines() {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        if controllers.split(',').any(|name| name == controller) {
            return Some((true, path));
        }
        if controllers.is_empty() {
            unified = Some((false, path));
        }
    }
    unified
}
