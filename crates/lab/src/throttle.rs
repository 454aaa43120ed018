//! Limits of the disk below a volume: requests and bytes per second of its lower loop device, by the kernel's own throttle.
//!
//! The thread of a journal and writeback work for everybody, so they belong to the root group. Only the first version of
//! control groups limits that one, so only there a volume can be made as slow as an old disk. Limits stay with a loop device
//! when nothing is mounted on it any more: they are in the journal before they are set, and are lifted before the volume is
//! unmounted. One that is not as the journal says is left alone. Source: `Documentation/admin-guide/cgroup-v1/blkio-controller.rst`.

use super::files;
use super::journal::MadeThrottle;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use sysdyno_observe::{cgroup_root, own_cgroup};

/// The controller, and the folder of its groups.
const CONTROLLER: &str = "blkio";

/// The file of a group that has its processes.
const MEMBERS: &str = "cgroup.procs";

/// The file of each limit: requests, then bytes, per second.
const REQUESTS: [&str; 2] = ["blkio.throttle.read_iops_device", "blkio.throttle.write_iops_device"];
const BYTES: [&str; 2] = ["blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device"];

/// What a disk does at most, reading and writing each; 0: it has no such limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DiskLimits {
    /// Requests per second.
    pub(super) iops: u64,
    /// Unit: MiB per second.
    pub(super) mib_per_second: u64,
}

impl DiskLimits {
    /// Whether it limits nothing.
    pub(super) fn is_none(self) -> bool {
        self == DiskLimits::default()
    }

    /// What is going to be set for a device.
    ///
    /// # Errors
    /// This host cannot limit a whole device.
    pub(super) fn throttle(self, service: &str, device: u64) -> io::Result<MadeThrottle> {
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        Ok(MadeThrottle {
            service: service.to_owned(),
            device: format!("{major}:{minor}"),
            groups: groups(&cgroup_root())?.into_iter().collect(),
            requests_hz: self.iops,
            bytes_hz: self.mib_per_second << 20,
        })
    }
}

/// The groups that are limited: the root, and that of this process, in which commands run. Limits are not handed down.
fn groups(root: &Path) -> io::Result<BTreeSet<PathBuf>> {
    let all = root.join(CONTROLLER);
    if !all.join(REQUESTS[0]).exists() {
        return Err(io::Error::other(
            "this host has no cgroup controller 'blkio' of version 1, which alone limits a whole disk\nhint: leave out \
             'disk_iops' and 'disk_mib'",
        ));
    }
    let own = own_cgroup(CONTROLLER).filter(|own| own.starts_with(&all) && own.join(MEMBERS).exists());
    Ok([all].into_iter().chain(own).collect())
}

impl MadeThrottle {
    /// Each file with its value; 0 is none.
    fn values(&self) -> impl Iterator<Item = (&Path, &'static str, u64)> {
        let each = |files: [&'static str; 2], value: u64| files.map(|file| (file, value));
        let values = each(REQUESTS, self.requests_hz).into_iter().chain(each(BYTES, self.bytes_hz));
        let values: Vec<_> = values.filter(|(_, value)| *value > 0).collect();
        self.groups.iter().flat_map(move |group| {
            values.clone().into_iter().map(move |(file, value)| (group.as_path(), file, value))
        })
    }

    /// Sets the limits.
    pub(super) fn set(&self) -> io::Result<()> {
        self.values().try_for_each(|(group, file, value)| self.write(group, file, value))
    }

    /// Lifts those of the limits that are as they were set.
    pub(super) fn lift(&self) -> io::Result<()> {
        for (group, file, value) in self.values() {
            // A group may be gone.
            let text = fs::read_to_string(group.join(file)).unwrap_or_default();
            if is_set(&text, &self.device, value) {
                self.write(group, file, 0)?;
            }
        }
        Ok(())
    }

    fn write(&self, group: &Path, file: &str, value: u64) -> io::Result<()> {
        files::write_to_group(group, file, &format!("{} {value}", self.device)).map_err(|error| {
            let text = format!("cannot write '{}': {error}", group.join(file).display());
            io::Error::new(error.kind(), text)
        })
    }
}

/// Whether a file of limits has this one for a device.
fn is_set(text: &str, device: &str, value: u64) -> bool {
    let of_device = text.lines().find_map(|line| line.strip_prefix(device)?.strip_prefix(' '));
    of_device.is_some_and(|limit| limit.trim() == value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_set_in_each_group_and_lifted_unless_it_is_another_one_by_now() {
        let root = tempfile::tempdir().expect("a folder");
        let groups = ["", "own"].map(|name| root.path().join(CONTROLLER).join(name));
        for group in &groups {
            fs::create_dir_all(group).expect("is made");
            REQUESTS
                .iter()
                .chain(&BYTES)
                .for_each(|file| fs::write(group.join(file), "").expect("is written"));
        }
        let throttle = MadeThrottle {
            service: "it".into(),
            device: "7:3".into(),
            groups: groups.to_vec(),
            requests_hz: 120,
            bytes_hz: 0,
        };
        let read = |group: usize, file: &str| fs::read_to_string(groups[group].join(file)).expect("is there");
        throttle.set().expect("is set");
        assert_eq!([0, 1].map(|group| read(group, REQUESTS[1])), ["7:3 120", "7:3 120"]);
        assert_eq!(read(0, BYTES[0]), "", "there is no such limit");
        fs::write(groups[0].join(REQUESTS[0]), "7:30 120\n7:3 99\n").expect("is written");
        throttle.lift().expect("is lifted");
        assert_eq!(read(0, REQUESTS[0]), "7:30 120\n7:3 99\n", "somebody else's");
        // The kernel takes the line as an order, and a file as its content.
        assert!(read(0, REQUESTS[1]).starts_with("7:3 0"));
    }

    #[test]
    fn a_host_that_cannot_limit_a_disk_says_so() {
        let root = tempfile::tempdir().expect("a folder");
        let told = groups(root.path()).expect_err("has no controller").to_string();
        assert!(told.contains("no cgroup controller 'blkio' of version 1"), "{told}");
    }
}
