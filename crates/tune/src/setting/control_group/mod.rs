//! The CPUs that a process and its descendants may use.
//!
//! They are moved into a group of their own below the one that they are in, and later ones are born there; the quota is
//! that of the group. Undoing moves everybody back and removes it. The place is `cgroup:cpu:VERSION:PID:START:PARENT`, and the
//! text a number of CPUs, `placed` for a group without a limit, or `unlimited` where there is no such group. The process may
//! be dead when it is undone: the group is what counts.

#[cfg(test)]
mod fake;
mod group;
mod hierarchy;
mod kernel;
mod members;
mod quota;
#[cfg(test)]
mod tests;

pub(crate) use quota::typed;

use super::{Setting, SettingFamily, SettingPlace, live_only, quoted};
use crate::name::SettingName;
use crate::process::start_ticks;
use crate::roots::TuneRoots;
use group::OwnGroup;
use hierarchy::{GroupVersion, line_of};
use kernel::{GroupKernel, HostKernel};
use quota::{PLACED, UNLIMITED};
use rustix::fs::{Access, AtFlags, CWD};
use rustix::io::Errno;
use std::fmt;
use std::io;
use std::path::Path;

pub(super) const PREFIX: &str = "cgroup:cpu:";

/// Whether sessions have groups of their own among the tasks of the root group.
const AUTOGROUP: &str = "/proc/sys/kernel/sched_autogroup_enabled";
/// CPUs that are online.
const ONLINE: &str = "/sys/devices/system/cpu/online";

/// CPUs of processes, by the ids of these.
#[derive(Debug)]
pub(crate) struct CpuGroups;

impl SettingFamily for CpuGroups {
    fn place(&self, _: &str) -> String {
        "cgroups(7): a group made for it".into()
    }

    fn find(&self, name: &SettingName<'_>, roots: &TuneRoots) -> Result<Vec<SettingPlace>, String> {
        live_only(roots)?;
        let first = name.first();
        let pid = first.parse().map_err(|_| format!("'{first}' is not a process id"))?;
        let start = start_ticks(pid).map_err(|_| format!("there is no process {pid}"))?;
        Ok(vec![SettingPlace::of(CpuGroup(found(&HostKernel, pid, start)?))])
    }
}

/// The group of a process, as it would be made now, or is there.
fn found(kernel: &dyn GroupKernel, pid: u32, start: u64) -> Result<OwnGroup, String> {
    let text = kernel.read(Path::new(&format!("/proc/{pid}/cgroup")));
    let text = text.map_err(|error| format!("cannot read the control groups of process {pid}: {error}"))?;
    let none = || "this kernel has no control groups for CPUs".to_owned();
    let (is_v1, path) = line_of(&text, "cpu").ok_or_else(none)?;
    let own = format!("/sysdyno-{pid}-{start}");
    // Where it was kept, the process is in it.
    let parent = match path.strip_suffix(own.as_str()) {
        Some("") => "/",
        Some(parent) => parent,
        None => path,
    };
    if kernel.groups_of_threads(pid).iter().any(|other| line_of(other, "cpu") != Some((is_v1, path))) {
        return Err(format!("threads of process {pid} are in several groups, and could not be put back"));
    }
    let version = if is_v1 { GroupVersion::One } else { GroupVersion::Two { enables: false } };
    let group = OwnGroup { pid, start, version, parent: parent.to_owned() };
    let folder = group.parent_folder(kernel).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            format!("the control group '{parent}' of process {pid} is not visible here")
        }
        _ => error.to_string(),
    })?;
    if is_v1 {
        return Ok(group);
    }
    let lists_cpu = |name: &str| {
        let text = kernel.read(&folder.join(name)).unwrap_or_default();
        text.split_whitespace().any(|controller| controller == "cpu")
    };
    if !lists_cpu("cgroup.controllers") {
        return Err(format!("its control group '{parent}' is not given the cpu controller"));
    }
    Ok(OwnGroup { version: GroupVersion::Two { enables: !lists_cpu("cgroup.subtree_control") }, ..group })
}

/// CPUs of one process and its descendants.
#[derive(Debug)]
pub(super) struct CpuGroup(OwnGroup);

impl CpuGroup {
    pub(super) fn parse(rest: &str) -> Option<CpuGroup> {
        OwnGroup::parse(rest).map(CpuGroup)
    }
}

impl fmt::Display for CpuGroup {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{PREFIX}{}", self.0)
    }
}

impl Setting for CpuGroup {
    fn read(&self, _: &TuneRoots) -> io::Result<String> {
        read(&HostKernel, &self.0)
    }

    fn write(&self, _: &TuneRoots, text: &str) -> io::Result<()> {
        write(&HostKernel, &self.0, text)
    }

    fn shell_line(&self, _: &TuneRoots, text: &str) -> String {
        let places = self.0.folder(&HostKernel).and_then(|own| Ok((own, self.0.parent_folder(&HostKernel)?)));
        let Ok((own, parent)) = places else {
            return format!(
                "# process {} had a control group of its own, which is not visible here",
                self.0.pid
            );
        };
        let (own, parent) = (quoted(&own.display().to_string()), quoted(&parent.display().to_string()));
        let (list, disable) = match self.0.version {
            GroupVersion::One => ("cgroup.procs", String::new()),
            GroupVersion::Two { enables: false } => ("cgroup.threads", String::new()),
            GroupVersion::Two { enables: true } => {
                ("cgroup.threads", format!("; echo -cpu > {parent}/cgroup.subtree_control"))
            }
        };
        match text {
            UNLIMITED => format!(
                "for pid in $(cat {own}/{list}); do echo $pid > {parent}/cgroup.procs || :; done; rmdir {own}{disable}"
            ),
            text => format!("sysdyno tune apply process.{}.cpus={text}", self.0.pid),
        }
    }

    /// Its group is made before it has its quota, and nobody else makes one of this name.
    fn is_between(&self, text: &str) -> bool {
        text == PLACED
    }

    fn unwritable(&self, _: &TuneRoots) -> Option<Errno> {
        let parent = self.0.parent_folder(&HostKernel).ok()?;
        rustix::fs::accessat(CWD, parent.join("cgroup.procs"), Access::WRITE_OK, AtFlags::EACCESS).err()
    }
}

/// What the group of a process gives it.
fn read(kernel: &dyn GroupKernel, group: &OwnGroup) -> io::Result<String> {
    let folder = group.folder(kernel)?;
    if !kernel.has(&folder) {
        return Ok(UNLIMITED.into());
    }
    match quota::read(kernel, &folder, group.version) {
        // It is made, and does not have its files yet: the controller comes with the next step.
        Err(error) if error.kind() == io::ErrorKind::NotFound && kernel.has(&folder) => Ok(PLACED.into()),
        text => text,
    }
}

fn write(kernel: &dyn GroupKernel, group: &OwnGroup, text: &str) -> io::Result<()> {
    if text == UNLIMITED {
        return match kernel.has(&group.folder(kernel)?) {
            true => group.dissolve(kernel),
            false => Ok(()),
        };
    }
    let folder = group.make(kernel)?;
    quota::weigh(kernel, &folder, group.version, weight_cpus(kernel, group))?;
    quota::write(kernel, &folder, group.version, text)?;
    group.admit(kernel)
}

/// For how many tasks, or sessions, a group stands among those that its processes stood among one by one.
fn weight_cpus(kernel: &dyn GroupKernel, group: &OwnGroup) -> u64 {
    let text = |path: &str| kernel.read(Path::new(path)).unwrap_or_default();
    if group.parent == "/" && text(AUTOGROUP).trim() == "1" {
        return 1;
    }
    crate::value::cpus_count(&text(ONLINE)).unwrap_or(1)
}
