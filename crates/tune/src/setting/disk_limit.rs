//! What control groups let a disk do at most: requests or bytes per second, each reading or writing.
//!
//! A limit is one of a group, and not handed down in version 1; the setting is that of all groups that have one for the disk,
//! and only changes limits that are there. Its text is the number, its place `disklimit:VERSION:NAME:MAJOR:MINOR:GROUP`.
//! Sources: `admin-guide/cgroup-v1/blkio-controller.rst`, `admin-guide/cgroup-v2.rst`.

use super::{Setting, SettingFamily, SettingPlace, quoted};
use crate::name::SettingName;
use crate::roots::TuneRoots;
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub(super) const PREFIX: &str = "disklimit:";

/// Most groups that are looked at.
const MAX_GROUPS: usize = 4096;

/// How a disk is known to be the same.
pub(crate) const DISK: &[&str] = &["/sys/block/*/dev", "/sys/block/*/diskseq"];

/// One kind of limit, of all disks.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DiskLimitKind {
    /// What the setting is called, after its disk.
    name: &'static str,
    /// Its file in version 1.
    file: &'static str,
    /// Its key in `io.max`.
    key: &'static str,
}

/// Reads per second.
pub(crate) const READ_IOPS: DiskLimitKind =
    DiskLimitKind { name: "read_iops", file: "blkio.throttle.read_iops_device", key: "riops" };
/// Writes per second.
pub(crate) const WRITE_IOPS: DiskLimitKind =
    DiskLimitKind { name: "write_iops", file: "blkio.throttle.write_iops_device", key: "wiops" };
/// Bytes read per second.
pub(crate) const READ_BPS: DiskLimitKind =
    DiskLimitKind { name: "read_bps", file: "blkio.throttle.read_bps_device", key: "rbps" };
/// Bytes written per second.
pub(crate) const WRITE_BPS: DiskLimitKind =
    DiskLimitKind { name: "write_bps", file: "blkio.throttle.write_bps_device", key: "wbps" };

/// All of them.
const ALL: [&DiskLimitKind; 4] = [&READ_IOPS, &WRITE_IOPS, &READ_BPS, &WRITE_BPS];

impl SettingFamily for DiskLimitKind {
    fn place(&self, _: &str) -> String {
        format!("cgroups(7): {}, or {} in io.max", self.file, self.key)
    }

    fn find(&self, name: &SettingName<'_>, roots: &TuneRoots) -> Result<Vec<SettingPlace>, String> {
        let disk = name.first();
        let device = fs::read_to_string(roots.place(&format!("/sys/block/{disk}/dev")));
        let device = device.map_err(|_| format!("there is no disk '{disk}'"))?;
        let places: Vec<SettingPlace> = found(roots)
            .into_iter()
            .filter(|(limit, _)| limit.kind == self && limit.device == device.trim())
            .map(|(limit, _)| SettingPlace::of(limit))
            .collect();
        if places.is_empty() {
            return Err("no control group limits it, and only a limit that is there can be changed".into());
        }
        Ok(places)
    }

    fn witnesses(&self) -> &'static [&'static str] {
        DISK
    }
}

/// The limits of a disk, each with the name of its setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitedDisk {
    /// The disk, as in `/sys/block`.
    pub disk: String,
    /// What its limits are called, such as `write_iops`, with their values. One that groups do not agree about is not among
    /// them. Unit: count or bytes, per second.
    pub limits: BTreeMap<&'static str, u64>,
}

/// The disks that control groups limit, as far as this host shows them.
pub fn limited_disks(roots: &TuneRoots) -> Vec<LimitedDisk> {
    let mut limits: BTreeMap<(String, &'static str), Option<u64>> = BTreeMap::new();
    for (limit, value) in found(roots) {
        let same = limits.entry((limit.device, limit.kind.name)).or_insert(Some(value));
        *same = same.filter(|same| *same == value);
    }
    let mut disks: Vec<LimitedDisk> = Vec::new();
    for ((device, name), value) in limits {
        let link = fs::read_link(roots.place(&format!("/sys/dev/block/{device}")));
        let disk = link.ok().and_then(|link| Some(link.file_name()?.to_str()?.to_owned()));
        let Some((disk, value)) = disk.zip(value) else { continue };
        match disks.iter_mut().find(|known| known.disk == disk) {
            Some(known) => drop(known.limits.insert(name, value)),
            None => disks.push(LimitedDisk { disk, limits: BTreeMap::from([(name, value)]) }),
        }
    }
    disks
}

/// A version of control groups: how it is called, and where distributions mount it.
const VERSIONS: [(&str, &[&str]); 2] =
    [("v1", &["/sys/fs/cgroup/blkio"]), ("v2", &["/sys/fs/cgroup", "/sys/fs/cgroup/unified"])];

/// From where mounts are seen: `ip netns exec` hides those of this process.
const SEEN_FROM: [&str; 2] = ["", "/proc/1/root"];

/// Where the hierarchy of a version is; `None`: it is not mounted, or does not limit disks.
fn mount(roots: &TuneRoots, version: &str) -> Option<PathBuf> {
    let (_, places) = VERSIONS.iter().find(|(name, _)| *name == version)?;
    let is_it = |at: &PathBuf| match version {
        "v1" => at.join(READ_IOPS.file).exists(),
        _ => fs::read_to_string(at.join("cgroup.controllers"))
            .is_ok_and(|text| text.split_whitespace().any(|name| name == "io")),
    };
    let all = SEEN_FROM.iter().flat_map(|from| places.iter().map(move |at| format!("{from}{at}")));
    all.map(|at| roots.place(&at)).find(is_it)
}

/// All limits of all groups, with their values.
fn found(roots: &TuneRoots) -> Vec<(DiskLimit, u64)> {
    let mut all = Vec::new();
    for (version, _) in VERSIONS {
        let Some(mount) = mount(roots, version) else { continue };
        for folder in folders(&mount) {
            let group =
                folder.strip_prefix(&mount).ok().and_then(Path::to_str).map(|rest| format!("/{rest}"));
            let Some(group) = group else { continue };
            for kind in ALL {
                let text = fs::read_to_string(folder.join(kind.file_of(version))).unwrap_or_default();
                let limits = text.lines().filter_map(|line| {
                    let (device, rest) = line.split_once(' ')?;
                    Some((device.to_owned(), kind.value(version, rest)?))
                });
                all.extend(limits.map(|(device, value)| {
                    (DiskLimit { version, kind, device, group: group.clone() }, value)
                }));
            }
        }
    }
    all
}

/// The folder of a hierarchy and those below it.
fn folders(mount: &Path) -> Vec<PathBuf> {
    let mut all = vec![mount.to_owned()];
    let mut next = 0;
    while let Some(folder) = all.get(next).filter(|_| all.len() < MAX_GROUPS) {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        let below: Vec<PathBuf> = entries.filter(is_folder).map(|entry| entry.path()).collect();
        all.extend(below);
        next += 1;
    }
    all
}

impl DiskLimitKind {
    fn file_of(&self, version: &str) -> &'static str {
        if version == "v1" { self.file } else { "io.max" }
    }

    /// The limit in what follows the device in a line; `None`: there is none.
    fn value(&self, version: &str, rest: &str) -> Option<u64> {
        match version {
            "v1" => rest.trim().parse().ok(),
            _ => rest
                .split_whitespace()
                .find_map(|word| word.strip_prefix(self.key)?.strip_prefix('='))?
                .parse()
                .ok(),
        }
    }
}

/// A limit of a disk in one group.
#[derive(Debug)]
pub(super) struct DiskLimit {
    version: &'static str,
    kind: &'static DiskLimitKind,
    /// `MAJOR:MINOR`.
    device: String,
    /// From the root of the hierarchy.
    group: String,
}

impl DiskLimit {
    pub(super) fn parse(rest: &str) -> Option<DiskLimit> {
        let mut parts = rest.splitn(5, ':');
        let (version, name, major, minor) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let (version, _) = VERSIONS.iter().find(|(known, _)| *known == version)?;
        let kind = ALL.into_iter().find(|kind| kind.name == name)?;
        let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
        let group = parts.next().filter(|group| group.starts_with('/'))?;
        let is_plain = |step: &str| step != ".." && step != ".";
        let device = format!("{major}:{minor}");
        group.split('/').all(is_plain).then(|| DiskLimit { version, kind, device, group: group.into() })
    }

    /// # Errors
    /// The hierarchy is not mounted (`NotFound`).
    fn file(&self, roots: &TuneRoots) -> io::Result<PathBuf> {
        let mount = mount(roots, self.version).ok_or(io::ErrorKind::NotFound)?;
        Ok(mount.join(self.group.trim_start_matches('/')).join(self.kind.file_of(self.version)))
    }

    /// The line that sets it.
    fn line(&self, value: &str) -> String {
        match self.version {
            "v1" => format!("{} {value}", self.device),
            _ => format!("{} {}={value}", self.device, self.kind.key),
        }
    }
}

impl fmt::Display for DiskLimit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DiskLimit { version, kind, device, group } = self;
        write!(out, "{PREFIX}{version}:{}:{device}:{group}", kind.name)
    }
}

impl Setting for DiskLimit {
    fn read(&self, roots: &TuneRoots) -> io::Result<String> {
        let text = fs::read_to_string(self.file(roots)?)?;
        let of_device = |line: &str| line.strip_prefix(&self.device)?.strip_prefix(' ').map(str::to_owned);
        let rest = text.lines().find_map(of_device);
        let value = rest.and_then(|rest| self.kind.value(self.version, &rest));
        Ok(value.ok_or(io::ErrorKind::NotFound)?.to_string())
    }

    fn write(&self, roots: &TuneRoots, text: &str) -> io::Result<()> {
        let line = self.line(text);
        // The kernel takes the text as an order; a file of a tree is replaced by it.
        let mut file =
            fs::OpenOptions::new().write(true).truncate(!roots.is_host()).open(self.file(roots)?)?;
        if file.write(line.as_bytes())? == line.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }

    fn shell_line(&self, roots: &TuneRoots, text: &str) -> String {
        match self.file(roots) {
            Ok(file) => format!("echo '{}' > {}", self.line(text), quoted(&file.display().to_string())),
            Err(_) => format!("# the control group '{}' is not visible here", self.group),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> (tempfile::TempDir, TuneRoots) {
        let folder = tempfile::tempdir().expect("a folder");
        let put = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("is in a folder")).expect("makes");
            fs::write(path, text).expect("writes");
        };
        for kind in ALL {
            put(&format!("sys/fs/cgroup/blkio/{}", kind.file), "");
        }
        put("sys/fs/cgroup/blkio/blkio.throttle.write_iops_device", "7:3 120\n7:30 9\n");
        put("sys/fs/cgroup/blkio/own/blkio.throttle.write_iops_device", "7:3 120\n");
        put("sys/fs/cgroup/unified/cgroup.controllers", "cpu io\n");
        put("sys/fs/cgroup/unified/db/io.max", "7:3 rbps=max wbps=1048576 riops=max wiops=max\n");
        put("sys/devices/virtual/block/loop3/dev", "7:3\n");
        put("sys/block/loop3/dev", "7:3\n");
        fs::create_dir_all(folder.path().join("sys/dev/block")).expect("makes");
        let link = folder.path().join("sys/dev/block/7:3");
        std::os::unix::fs::symlink("../../devices/virtual/block/loop3", link).expect("links");
        let roots = TuneRoots::at(folder.path());
        (folder, roots)
    }

    #[test]
    fn the_limits_of_a_disk_are_those_of_all_groups() {
        let (folder, roots) = tree();
        let disks = limited_disks(&roots);
        let expected = BTreeMap::from([("write_iops", 120), ("write_bps", 1_048_576)]);
        assert_eq!(disks, [LimitedDisk { disk: "loop3".into(), limits: expected }], "7:30 has no name here");
        let own = folder.path().join("sys/fs/cgroup/blkio/own/blkio.throttle.write_iops_device");
        fs::write(own, "7:3 60\n").expect("writes");
        assert_eq!(limited_disks(&roots)[0].limits.get("write_iops"), None, "groups differ");
    }

    #[test]
    fn each_group_is_written_and_read_as_its_version_has_it() {
        let (folder, roots) = tree();
        let name = SettingName::of("block.*.write_iops", "block.loop3.write_iops").expect("is one");
        let places = WRITE_IOPS.find(&name, &roots).expect("are there");
        let texts: Vec<&str> = places.iter().map(SettingPlace::text).collect();
        assert_eq!(texts, ["disklimit:v1:write_iops:7:3:/", "disklimit:v1:write_iops:7:3:/own"]);
        for place in &places {
            assert_eq!(place.read(&roots).expect("reads"), "120");
            place.write(&roots, "96").expect("writes");
            assert_eq!(place.read(&roots).expect("reads"), "96");
        }
        let two = SettingPlace::from("disklimit:v2:write_bps:7:3:/db".to_owned());
        assert_eq!(two.read(&roots).expect("reads"), "1048576");
        two.write(&roots, "900000").expect("writes");
        let line = fs::read_to_string(folder.path().join("sys/fs/cgroup/unified/db/io.max")).expect("reads");
        assert_eq!(line, "7:3 wbps=900000");
        let none = SettingName::of("block.*.read_bps", "block.loop3.read_bps").expect("is one");
        assert!(READ_BPS.find(&none, &roots).expect_err("there is none").contains("no control group"));
    }
}
