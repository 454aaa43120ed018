//! Facts of the mounted file systems: kind, options, sizes of blocks, inodes and journal.
//!
//! Sizes come from the superblock on the device, which only root may read. Mounts below folders named after people are left
//! out, as are option values that may be addresses or names.

use super::sheet::{Answer, Sheet, link_name};
use crate::roots::Roots;
use crate::source::{ext, mountinfo, xfs};
use rustix::fs::{FileType, Mode, OFlags};
use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// At most this many file systems are listed.
const MAX_MOUNTS: usize = 64;

/// Options whose values are kept, if they are no numbers; those of others may be addresses or names.
const KEPT_OPTIONS: &[&str] = &[
    "cache",
    "compress",
    "compression",
    "data",
    "errors",
    "jqfmt",
    "lookupcache",
    "mode",
    "proto",
    "sec",
    "size",
    "vers",
    "xino",
];

/// Kinds without a device of their own that hold files of a server.
const WITHOUT_DEVICE: &[&str] =
    &["9p", "btrfs", "ceph", "cifs", "nfs", "nfs4", "overlay", "smb3", "tmpfs", "virtiofs", "zfs"];

/// Mounts below these are left out: files of the kernel, and folders whose entries are named after people.
const LEFT_OUT: &[&str] = &["/proc/", "/sys/", "/home/", "/media/", "/root/", "/run/media/", "/run/user/"];

pub(super) fn read(sheet: &mut Sheet<'_>) {
    let path = sheet.roots.in_proc("self/mountinfo");
    let listed = sheet.read(&path).and_then(|text| list_mounts(text.as_bytes()));
    let reason = match &listed {
        Ok(found) if !found.contains_key("/") => Some("'/proc/self/mountinfo' has no root".to_owned()),
        Ok(_) => None,
        Err(reason) => Some(reason.clone()),
    };
    if let Some(reason) = reason {
        for fact in ["kind", "options"] {
            sheet.text(format!("filesystem.root.{fact}"), Err(reason.clone()));
        }
    }
    for (point, mount) in listed.unwrap_or_default() {
        read_mount(sheet, if point == "/" { "root" } else { &point }, &mount);
    }
}

/// A mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mounted {
    device: String,
    kind: String,
    options: String,
}

/// File systems by where they are mounted, the last one of each place.
fn list_mounts(text: &[u8]) -> Answer<BTreeMap<String, Mounted>> {
    let mut found = BTreeMap::new();
    let parsed = mountinfo::parse(text, |mount| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (point, kind) = (text(&mount.point), text(mount.kind));
        let has_device = !mount.device.starts_with(b"0:");
        let is_listed = has_device || WITHOUT_DEVICE.contains(&kind.as_str()) || point == "/";
        if !is_listed || LEFT_OUT.iter().any(|folder| point.starts_with(folder)) {
            found.remove(&point);
        } else if found.len() < MAX_MOUNTS || found.contains_key(&point) {
            let options = [text(mount.options), text(mount.common_options)].join(",");
            found.insert(
                point,
                Mounted { device: text(mount.device), kind, options: redact_options(&options) },
            );
        }
    });
    parsed.map_err(|error| format!("cannot parse '/proc/self/mountinfo': {error}"))?;
    Ok(found)
}

/// The options without repetitions and without values that may name somebody.
fn redact_options(text: &str) -> String {
    let mut options: Vec<&str> = Vec::new();
    for option in text.split(',').filter(|option| !option.is_empty()) {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let is_number = value
            .trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G', '%'])
            .bytes()
            .all(|byte| byte.is_ascii_digit());
        let is_person = name.ends_with("uid") || name.ends_with("gid");
        let shown = if is_number && !is_person || KEPT_OPTIONS.contains(&name) { option } else { name };
        if !options.contains(&shown) {
            options.push(shown);
        }
    }
    options.join(",")
}

fn read_mount(sheet: &mut Sheet<'_>, name: &str, mount: &Mounted) {
    sheet.text(format!("filesystem.{name}.kind"), Ok(mount.kind.clone()));
    sheet.text(format!("filesystem.{name}.options"), Ok(mount.options.clone()));
    let has_superblock = mount.kind.starts_with("ext") || mount.kind == "xfs";
    if !has_superblock {
        return;
    }
    let layout = open_device(sheet.roots, &mount.device).and_then(|device| match mount.kind.as_str() {
        "xfs" => read_xfs(&device),
        _ => read_ext(&device),
    });
    let number = |value: fn(&Layout) -> f64| layout.as_ref().map(value).map_err(Clone::clone);
    sheet.number(format!("filesystem.{name}.block_bytes"), number(|layout| layout.block_bytes as f64));
    sheet.number(format!("filesystem.{name}.inode_bytes"), number(|layout| layout.inode_bytes as f64));
    if mount.kind != "xfs" {
        let features = layout.as_ref().map(|layout| layout.features.clone()).map_err(Clone::clone);
        sheet.text(format!("filesystem.{name}.features"), features);
    }
    let journal = layout.and_then(|layout| layout.journal_bytes).map(|bytes| bytes as f64);
    sheet.number(format!("filesystem.{name}.journal_bytes"), journal);
}

/// What a superblock tells.
#[derive(Clone, Debug, PartialEq)]
struct Layout {
    block_bytes: u64,
    inode_bytes: u64,
    features: String,
    /// Length of the journal, or why it has none.
    journal_bytes: Answer<u64>,
}

fn read_ext(device: &File) -> Answer<Layout> {
    let superblock = read_at::<{ ext::SUPERBLOCK_BYTES }>(device, ext::SUPERBLOCK_OFFSET)?;
    let superblock = ext::parse(&superblock).map_err(|error| error.to_string())?;
    let journal_bytes = match superblock.journal {
        ext::Journal::None => Err("the file system has no journal".to_owned()),
        ext::Journal::External => Err("the journal is on another device".to_owned()),
        ext::Journal::Internal(inode) => read_journal(device, &superblock, inode),
    };
    Ok(Layout {
        block_bytes: superblock.block_bytes,
        inode_bytes: superblock.inode_bytes,
        features: superblock.features.join(" "),
        journal_bytes,
    })
}

fn read_journal(device: &File, superblock: &ext::ExtSuperblock, inode: u32) -> Answer<u64> {
    let descriptor = read_at::<{ ext::DESCRIPTOR_BYTES }>(device, superblock.first_descriptor_offset())?;
    let offset =
        superblock.inode_offset(inode, &descriptor).ok_or("the journal's inode is not in the first group")?;
    let inode = read_at::<{ ext::INODE_BYTES }>(device, offset)?;
    ext::parse_file_bytes(&inode).ok_or_else(|| "the journal's inode is not a file".to_owned())
}

fn read_xfs(device: &File) -> Answer<Layout> {
    let superblock = read_at::<{ xfs::SUPERBLOCK_BYTES }>(device, 0)?;
    let superblock = xfs::parse(&superblock).map_err(|error| error.to_string())?;
    Ok(Layout {
        block_bytes: superblock.block_bytes,
        inode_bytes: superblock.inode_bytes,
        features: String::new(),
        journal_bytes: superblock.log_bytes.ok_or_else(|| "the log is on another device".to_owned()),
    })
}

fn read_at<const LENGTH: usize>(device: &File, offset: u64) -> Answer<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    device.read_exact_at(&mut bytes, offset).map_err(|error| format!("cannot read the device: {error}"))?;
    Ok(bytes)
}

/// Opens a block device by its number, to read it.
fn open_device(roots: &Roots, number: &str) -> Answer<File> {
    if !roots.is_host() {
        return Err("a recorded tree does not have the device".to_owned());
    }
    let name =
        link_name(&roots.in_sys("dev/block").join(number)).ok_or("its device is not in '/sys/dev/block'")?;
    // The kernel writes a slash in a device's name as '!' in /sys.
    let path = Path::new("/dev").join(name.replace('!', "/"));
    let failed = |error: rustix::io::Errno| {
        format!("cannot open '{}': {}", path.display(), std::io::Error::from(error))
    };
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let device = rustix::fs::open(&path, flags, Mode::empty()).map_err(failed)?;
    let stat = rustix::fs::fstat(&device).map_err(failed)?;
    let its_number = format!("{}:{}", rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
    let is_it = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice && its_number == number;
    is_it.then(|| File::from(device)).ok_or_else(|| format!("'{}' is not device {number}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn file_systems_of_devices_are_listed_and_names_are_left_out() {
        let text = b"22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,commit=5,errors=remount-ro,addr=10.0.0.1,resuid=1000\n\
            23 22 0:5 / /proc rw - proc proc rw\n\
            24 22 254:1 / /srv rw - ext4 /dev/vdb rw\n\
            25 24 0:40 / /srv rw - nfs4 server:/export rw,vers=4.2,rsize=1048576,clientaddr=10.0.0.2,username=eve\n\
            26 22 254:2 / /home/eve rw - ext4 /dev/vdc rw\n\
            27 22 254:3 / /boot rw - vfat /dev/vdd rw\n\
            28 27 0:9 / /boot rw - autofs systemd-1 rw\n";
        let found = list_mounts(text).expect("parses");
        assert_eq!(found.keys().collect::<Vec<_>>(), ["/", "/srv"]);
        assert_eq!(found["/"].options, "rw,relatime,commit=5,errors=remount-ro,addr,resuid");
        assert_eq!(found["/srv"].kind, "nfs4");
        assert_eq!(found["/srv"].options, "rw,vers=4.2,rsize=1048576,clientaddr,username");
        assert!(list_mounts(b"garbage\n").is_err());
    }

    #[test]
    fn the_journal_is_as_long_as_it_was_made() {
        let folder = tempfile::tempdir().expect("makes a folder");
        for (kind, options, expected) in [
            ("ext4", "-b 4096 -J size=16", Ok(16 << 20)),
            ("ext4", "-b 4096 -I 256 -J size=32", Ok(32 << 20)),
            ("ext3", "-b 1024 -I 128 -J size=8", Ok(8 << 20)),
            ("ext4", "-b 1024 -O ^64bit,^flex_bg -J size=4", Ok(4 << 20)),
            ("ext4", "-b 4096 -O ^has_journal", Err("the file system has no journal".to_owned())),
        ] {
            let path = folder.path().join("image");
            File::create(&path).and_then(|file| file.set_len(256 << 20)).expect("makes an image");
            let mut mkfs = Command::new("mkfs");
            mkfs.args(["-t", kind, "-q", "-F"]).args(options.split(' ')).arg(&path).stdin(Stdio::null());
            if !mkfs.output().is_ok_and(|made| made.status.success()) {
                return sysdyno_needs::skip("the_journal_is_as_long_as_it_was_made", &["e2fsprogs"]);
            }
            let layout = read_ext(&File::open(&path).expect("opens")).expect("is one");
            assert_eq!(layout.journal_bytes, expected, "{kind} {options}");
            assert_eq!(layout.features.contains("has_journal"), expected.is_ok());
            let block_bytes = if options.contains("1024") { 1024 } else { 4096 };
            assert_eq!(layout.block_bytes, block_bytes);
        }
    }

    #[test]
    fn a_device_without_a_file_system_is_an_error() {
        let folder = tempfile::tempdir().expect("makes a folder");
        let path = folder.path().join("image");
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&path)
            .expect("makes one");
        assert!(read_ext(&file).is_err() && read_xfs(&file).is_err());
        file.set_len(1 << 20).expect("grows");
        assert!(read_ext(&file).is_err() && read_xfs(&file).is_err());
    }
}
