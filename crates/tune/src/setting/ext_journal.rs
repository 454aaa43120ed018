//! The journal size of an unused ext3 or ext4 file system.
//!
//! It is named `extjournal:UUID:PATH`, by the path of a block device or an image; its text is a number of MiB, `none`, or
//! `N bytes` if that is no whole number of MiB. The journal is removed and recreated in two steps; a crash between them
//! leaves `none`. The file is locked (flock) while it is read and while it is written, and the lock is passed on to the
//! programs that write, so nobody reads a half-finished state, even if the process that started them is dead. The programs
//! have deadlines, and so does the wait for the lock.
//! Sources: tune2fs(8), mke2fs(8), `Documentation/filesystems/ext4/`.

use super::{Setting, SettingFamily, SettingPlace, quoted};
use crate::file_system::{FileSystem, FileSystems};
use crate::name::SettingName;
use crate::roots::TuneRoots;
use crate::sys;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

pub(super) const PREFIX: &str = "extjournal:";

const MIB: u64 = 1 << 20;

/// How long a program is waited for that has it locked: a little longer than one that changes it may take.
const PATIENCE: Duration = Duration::from_secs(660);

/// How often to retry a lock that is held.
const AGAIN: Duration = Duration::from_millis(20);

/// Text of a file system whose journal was removed.
const NONE: &str = "none";

/// Fewest and most blocks of a journal. Source: tune2fs(8).
const BLOCKS: std::ops::RangeInclusive<u64> = 1024..=10_240_000;

/// Features with which a journal can be made anew and is what it was; with any other one it is left alone.
const FEATURES: &[&str] = &[
    "64bit",
    "casefold",
    "dir_index",
    "dir_nlink",
    "ea_inode",
    "encrypt",
    "ext_attr",
    "extent",
    "extra_isize",
    "filetype",
    "flex_bg",
    "has_journal",
    "huge_file",
    "inline_data",
    "large_dir",
    "large_file",
    "meta_bg",
    "metadata_csum",
    "metadata_csum_seed",
    "project",
    "quota",
    "resize_inode",
    "sparse_super",
    "uninit_bg",
    "verity",
];

/// A file system, open and locked.
struct Volume {
    file: File,
    programs: &'static dyn FileSystems,
    found: FileSystem,
}

impl Volume {
    /// Opens what is at a path, as soon as no program is at work on it.
    fn open(roots: &TuneRoots, path: &str, is_alone: bool) -> io::Result<Volume> {
        let programs = roots.file_systems();
        let programs = programs.ok_or_else(|| io::Error::other("no program is available to check it"))?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::from(rustix::fs::open(roots.place(path), flags, Mode::empty())?);
        lock(&file, is_alone)?;
        let found = programs.inspect(&file)?;
        Ok(Volume { file, programs, found })
    }

    fn text(&self) -> String {
        match self.found.journal_bytes {
            None => NONE.into(),
            Some(bytes) if bytes % MIB == 0 => (bytes / MIB).to_string(),
            Some(bytes) => format!("{bytes} bytes"),
        }
    }

    /// Refuses one that is used, by anybody that can be seen.
    fn check_unused(&self, roots: &TuneRoots, path: &str) -> Result<(), String> {
        let found = self.file.metadata().map_err(|error| error.to_string())?;
        match FileType::from_raw_mode(found.mode()) {
            FileType::BlockDevice => {
                let device = found.rdev();
                let device = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
                if let Some(point) = mounted_at(roots, &device) {
                    return Err(format!("it is mounted at '{point}': unmount it first"));
                }
                // Mounts of other namespaces, swap, device mapper and RAID hold it too, and this says so.
                let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::EXCL | OFlags::NONBLOCK;
                let claimed = rustix::fs::open(roots.place(path), flags, Mode::empty());
                claimed.map(drop).map_err(|error| match error {
                    Errno::BUSY => "it is mounted elsewhere, or in use by the kernel".into(),
                    other => format!("cannot claim '{path}': {other}"),
                })
            }
            FileType::RegularFile => match looped(roots, &found) {
                Some(device) => Err(format!("it is attached as '{device}': detach it first")),
                None if sys::is_open_to_write(self.file.as_fd()) == Some(true) => {
                    Err("another program has it open for writing".into())
                }
                None => Ok(()),
            },
            _ => Err(format!("'{path}' is neither a block device nor a file")),
        }
    }

    /// Refuses one that a journal could not be made for without doubt.
    fn check_sound(&self) -> Result<(), String> {
        let has = |name: &str| self.found.features.iter().any(|feature| feature == name);
        if has("needs_recovery") {
            return Err("its journal has unwritten changes: mount and unmount it, or run e2fsck".into());
        }
        if !self.found.is_clean {
            return Err("it is not clean: run e2fsck on it first".into());
        }
        if self.found.has_journal_elsewhere {
            return Err("its journal is on another device".into());
        }
        let unknown = self.found.features.iter().find(|feature| !FEATURES.contains(&feature.as_str()));
        match unknown {
            Some(feature) => Err(format!("it has the feature '{feature}', which makes this unsafe")),
            None => Ok(()),
        }
    }

    /// Refuses a size that there is no room for, by the rule of tune2fs: half of what is free without the journal.
    fn check_size(&self, size_bytes: u64) -> Result<(), String> {
        let blocks = |bytes: u64| bytes / self.found.block_bytes;
        let (wanted, present) = (blocks(size_bytes), blocks(self.found.journal_bytes.unwrap_or(0)));
        let mib = |blocks: u64| blocks.saturating_mul(self.found.block_bytes).div_ceil(MIB);
        if !BLOCKS.contains(&wanted) {
            let (least, most) = (mib(*BLOCKS.start()), mib(*BLOCKS.end()));
            return Err(format!(
                "with blocks of {} bytes it takes {least} to {most} MiB",
                self.found.block_bytes
            ));
        }
        let room = (self.found.free_blocks + present) / 2;
        if wanted > room {
            let most = room * self.found.block_bytes / MIB;
            return Err(format!("it can use at most half of the free space, which is {most} MiB"));
        }
        Ok(())
    }

    /// Makes a journal of another size; the one that there was is gone before.
    fn make(&self, size_mib: u64) -> io::Result<()> {
        self.programs.check(&self.file)?;
        if self.found.journal_bytes.is_some() {
            self.programs.remove_journal(&self.file)?;
        }
        self.programs.add_journal(&self.file, size_mib)?;
        let made = self.programs.inspect(&self.file)?;
        let others = |found: &FileSystem| {
            let all = found.features.iter().filter(|name| *name != "has_journal");
            all.cloned().collect::<Vec<_>>()
        };
        if others(&made) != others(&self.found) {
            return Err(io::Error::other("its features have changed"));
        }
        self.programs.check(&self.file)
    }
}

/// Takes the lock of a file as soon as no program is at work on it. Each has a deadline, so this one has too.
fn lock(file: &File, is_alone: bool) -> io::Result<()> {
    let mut waited = Duration::ZERO;
    loop {
        let locked = if is_alone { file.try_lock() } else { file.try_lock_shared() };
        match locked {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if waited < PATIENCE => {
                std::thread::sleep(AGAIN);
                waited += AGAIN;
            }
            Err(TryLockError::WouldBlock) => {
                let cause = format!("another program has had it locked for {} s", waited.as_secs());
                return Err(io::Error::other(cause));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Where a device is mounted, as seen in this namespace.
fn mounted_at(roots: &TuneRoots, device: &str) -> Option<String> {
    let list = fs::read_to_string(roots.place("/proc/thread-self/mountinfo")).unwrap_or_default();
    let mut mounts = list.lines().map(|line| line.split(' '));
    let at = mounts.find_map(|mut words| (words.nth(2) == Some(device)).then(|| words.nth(1)));
    at.flatten().map(str::to_owned)
}

/// The loop device that a file is attached to.
fn looped(roots: &TuneRoots, found: &fs::Metadata) -> Option<String> {
    let devices = fs::read_dir(roots.place("/sys/block")).into_iter().flatten().flatten();
    let is_it = |device: &fs::DirEntry| {
        let file = fs::read_to_string(device.path().join("loop/backing_file")).ok();
        let file = file.and_then(|path| fs::metadata(path.trim_end_matches('\n')).ok());
        file.is_some_and(|file| (file.dev(), file.ino()) == (found.dev(), found.ino()))
    };
    let device = devices.into_iter().find(is_it)?;
    Some(format!("/dev/{}", device.file_name().to_string_lossy()))
}

/// Journals of ext3 and ext4 file systems, by the paths of their devices or images.
#[derive(Debug)]
pub(crate) struct ExtJournals;

impl SettingFamily for ExtJournals {
    fn place(&self, _: &str) -> String {
        "the file system itself, by tune2fs(8)".into()
    }

    fn find(&self, name: &SettingName<'_>, roots: &TuneRoots) -> Result<Vec<SettingPlace>, String> {
        Ok(vec![SettingPlace::of(ExtJournal::find(name.first(), roots)?)])
    }
}

/// The journal of one file system.
#[derive(Debug)]
pub(super) struct ExtJournal {
    uuid: String,
    path: String,
}

impl ExtJournal {
    /// That of the file system at a path.
    ///
    /// # Errors
    /// It is not there, is used, is not in order, or could not be brought back.
    fn find(path: &str, roots: &TuneRoots) -> Result<ExtJournal, String> {
        let failed = |error: io::Error| format!("cannot look at '{path}': {error}");
        let found = fs::metadata(roots.place(path)).map_err(failed)?;
        let kind = FileType::from_raw_mode(found.mode());
        if !matches!(kind, FileType::BlockDevice | FileType::RegularFile) {
            return Err(format!("'{path}' is neither a block device nor a file"));
        }
        let volume = Volume::open(roots, path, false).map_err(failed)?;
        volume.check_unused(roots, path)?;
        volume.check_sound()?;
        let bytes = volume.found.journal_bytes.ok_or("it has no journal whose size could be changed")?;
        if bytes % MIB != 0 {
            return Err(format!(
                "its journal of {bytes} bytes could not be recreated: sizes are in whole MiB"
            ));
        }
        volume.check_size(bytes).map_err(|cause| format!("its journal could not be recreated: {cause}"))?;
        volume.programs.check_programs().map_err(|error| error.to_string())?;
        Ok(ExtJournal { uuid: volume.found.uuid, path: path.into() })
    }

    pub(super) fn parse(rest: &str) -> Option<ExtJournal> {
        let (uuid, path) = rest.split_once(':')?;
        let is_plain = path.starts_with('/') && !path.split('/').any(|step| step == "..");
        is_plain.then(|| ExtJournal { uuid: uuid.into(), path: path.into() })
    }

    /// Its file system; not found if another one is there by now.
    fn volume(&self, roots: &TuneRoots, is_alone: bool) -> io::Result<Volume> {
        let volume = Volume::open(roots, &self.path, is_alone)?;
        if volume.found.uuid == self.uuid { Ok(volume) } else { Err(io::ErrorKind::NotFound.into()) }
    }
}

impl fmt::Display for ExtJournal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{PREFIX}{}:{}", self.uuid, self.path)
    }
}

impl Setting for ExtJournal {
    fn read(&self, roots: &TuneRoots) -> io::Result<String> {
        Ok(self.volume(roots, false)?.text())
    }

    fn write(&self, roots: &TuneRoots, text: &str) -> io::Result<()> {
        let size_mib: u64 = text.parse().map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        let volume = self.volume(roots, true)?;
        if volume.text() == text {
            return Ok(());
        }
        volume.check_unused(roots, &self.path).map_err(io::Error::other)?;
        volume.check_sound().map_err(io::Error::other)?;
        volume.check_size(size_mib.saturating_mul(MIB)).map_err(io::Error::other)?;
        volume.make(size_mib)
    }

    /// Whether it is that of a file system between the removal of a journal and the making of the next.
    fn is_between(&self, text: &str) -> bool {
        text == NONE
    }

    /// Refuses a size that there is no room for.
    fn check_fits(&self, roots: &TuneRoots, text: &str) -> Result<(), String> {
        let size_mib: u64 = text.parse().map_err(|_| format!("'{text}' is not a number"))?;
        let volume = self.volume(roots, false).map_err(|error| error.to_string())?;
        volume.check_size(size_mib.saturating_mul(MIB))
    }

    fn unwritable(&self, roots: &TuneRoots) -> Option<Errno> {
        let place = roots.place(&self.path);
        rustix::fs::accessat(CWD, place, rustix::fs::Access::WRITE_OK, AtFlags::EACCESS).err()
    }

    fn shell_line(&self, roots: &TuneRoots, text: &str) -> String {
        let path = quoted(&roots.place(&self.path).display().to_string());
        format!("tune2fs -O ^has_journal {path}; tune2fs -J size={text} {path}; e2fsck -fn {path}")
    }
}
