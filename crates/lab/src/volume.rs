//! Volumes: file systems of a chosen type and journal, each in a file in its service's folder, mounted through a loop device.
//!
//! The kernel frees the loop device by itself when it is no longer open or mounted (LO_FLAGS_AUTOCLEAR, which mount(8) sets),
//! so there is never one to remove, not even after a crash at any point. Only a mount that is at the journal's path and
//! backed by the journal's file is unmounted. The programs that create and mount a volume die with this process, have a
//! deadline, and hold a lock on the file while they live; `down` waits for that lock, so nothing is mounted after it.
//!
//! A disk that is limited ([`super::throttle`]) is two loop devices, one on the other. The upper one queues, sorts, and merges
//! requests, as the kernel does for any disk, and hands each to the lower one, which is throttled. A throttle in front of the
//! queue would count each block of a journal by itself. The volume is filled before its disk is limited.

use super::journal::{LabJournal, LabRecord, MadeLab, MadeVolume};
use super::paths::{image_of, mounted_at};
use super::recipe::{TemplateValues, Volume};
use super::throttle::DiskLimits;
use super::{files, machine};
use crate::sys::loop_device::LoopDevice;
use rustix::fs::OFlags;
use rustix::mount::{UnmountFlags, unmount};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use sysdyno_observe::loop_file;
use sysdyno_run::RunError;
use sysdyno_run::program::Program;

/// How long a file system may take to be made, or mounted.
const LIMIT: Duration = Duration::from_secs(300);

/// What is going to be made for a service.
pub(super) struct WantedVolume<'a> {
    pub(super) service: &'a str,
    pub(super) volume: &'a Volume,
    pub(super) values: &'a TemplateValues,
    pub(super) folder: &'a Path,
}

impl WantedVolume<'_> {
    fn made(&self) -> MadeVolume {
        MadeVolume {
            service: self.service.to_owned(),
            image: image_of(self.folder),
            folder: mounted_at(self.folder),
        }
    }

    fn cannot(&self, operation: &'static str) -> impl Fn(io::Error) -> RunError + use<> {
        let object = format!("the volume of service '{}'", self.service);
        move |source| RunError::Process { operation, object: object.clone(), source }
    }

    fn expand(&self, text: &str) -> io::Result<String> {
        self.values.expand(text).map_err(io::Error::other)
    }

    fn number(&self, text: &str) -> io::Result<u64> {
        self.expand(text)?.parse().map_err(io::Error::other)
    }

    /// Makes the volume, gives it to an account, and mounts it. Its disk has no limits yet.
    ///
    /// # Errors
    /// A program cannot make or mount it.
    pub(super) fn make(&self, owner: (u32, u32), journal: &mut LabJournal) -> Result<(), RunError> {
        let made = self.made();
        journal.append(&LabRecord::Volume(made.clone()))?;
        self.put(&made).and_then(|()| files::give(&made.folder, owner)).map_err(self.cannot("make"))
    }

    fn put(&self, made: &MadeVolume) -> io::Result<()> {
        let kind = self.expand(&self.volume.kind)?;
        let no_way = || io::Error::other(format!("the recipe does not define how to create {kind}"));
        let make = self.volume.make.get(&kind).ok_or_else(no_way)?;
        let image = files::make_sized(&made.image, self.number(&self.volume.size_mib)? << 20)?;
        files::lock(&image, LIMIT)?;
        files::make_folder(&made.folder, 0o755)?;
        run(&self.values.arguments(make).map_err(io::Error::other)?, &image)?;
        self.attach(made, &image)
    }

    /// Mounts the volume, whose file is locked.
    fn attach(&self, made: &MadeVolume, image: &File) -> io::Result<()> {
        let mount = machine::find(&["mount".to_owned()]);
        let mount = mount.ok_or_else(|| io::Error::other("'mount' is not installed"))?;
        let kind = self.expand(&self.volume.kind)?;
        let options = format!("nosuid,nodev,{}", self.expand(&self.volume.options)?);
        let mount = |source: &Path, options: &str| {
            let words = [&mount, Path::new("-t"), Path::new(&kind), Path::new("-o"), Path::new(options)];
            let words = words.into_iter().chain([source, &made.folder]);
            run(&words.map(|word| word.display().to_string()).collect::<Vec<_>>(), image)
        };
        if self.limits()?.is_none() {
            return mount(&made.image, &format!("loop,{options}"));
        }
        // A loop device keeps the file open that it was given, and a lock on that with it.
        let disk = LoopDevice::attach(&files::open(&made.image, OFlags::empty())?, false)?;
        let queue = LoopDevice::attach(&disk.file, true)?;
        mount(&queue.path, &options)
    }

    /// What its disk does at most.
    fn limits(&self) -> io::Result<DiskLimits> {
        let iops = self.number(&self.volume.iops)?;
        Ok(DiskLimits { iops, mib_per_second: self.number(&self.volume.mib_per_second)? })
    }

    /// Limits the disk of the volume, which is mounted, if it is to be limited. What it was filled with is written out before.
    ///
    /// # Errors
    /// This host cannot limit a disk.
    pub(super) fn limit(&self, journal: &mut LabJournal) -> Result<(), RunError> {
        let cannot = self.cannot("limit");
        let limits = self.limits().map_err(&cannot)?;
        if limits.is_none() {
            return Ok(());
        }
        let mounted = File::open(mounted_at(self.folder)).map_err(&cannot)?;
        rustix::fs::syncfs(&mounted).map_err(|errno| cannot(errno.into()))?;
        let device = disk_of(mounted.metadata().map_err(&cannot)?.dev()).map_err(&cannot)?;
        let throttle = limits.throttle(self.service, device).map_err(&cannot)?;
        journal.append(&LabRecord::Throttle(throttle.clone()))?;
        throttle.set().map_err(&cannot)
    }

    /// Mounts the volume again, and limits its disk; one that is mounted is left as it is.
    ///
    /// # Errors
    /// It cannot be mounted or limited.
    pub(super) fn mount(&self, journal: &mut LabJournal) -> Result<(), RunError> {
        let (made, cannot) = (self.made(), self.cannot("mount"));
        let image = files::open(&made.image, OFlags::empty()).map_err(&cannot)?;
        files::lock(&image, LIMIT).map_err(&cannot)?;
        if files::is_mount_point(&made.folder).map_err(&cannot)? {
            return Ok(());
        }
        self.attach(&made, &image).map_err(&cannot)?;
        self.limit(journal)
    }
}

/// The loop device that another one stands on.
fn disk_of(queue: u64) -> io::Result<u64> {
    let path = loop_file(queue).ok_or_else(|| io::Error::other("it is on no loop device"))?;
    Ok(fs::metadata(path)?.rdev())
}

/// Runs a program to its end, which has `lock` as its input; it dies with this thread.
fn run(argv: &[String], lock: &File) -> io::Result<()> {
    let (program, arguments) = argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command.args(arguments).env("PATH", machine::PATH).env("LC_ALL", "C");
    let ended = Program::new(command, LIMIT).input(Stdio::from(lock.try_clone()?)).run()?;
    match ended.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("{program}: {}", ended.said()))),
    }
}

/// Unmounts the volumes of services that are meant, last first, with their disks as fast as they are; notes say what was left alone.
pub(super) fn remove(
    made: &MadeLab,
    is_meant: impl Fn(&str) -> bool,
    notes: &mut Vec<String>,
) -> io::Result<()> {
    for throttle in made.throttles.iter().filter(|throttle| is_meant(&throttle.service)) {
        throttle.lift()?;
    }
    let volumes = made.volumes.iter().filter(|volume| is_meant(&volume.service));
    volumes.rev().try_for_each(|volume| remove_one(volume, notes))
}

/// Unmounts a volume, if it is the one that was made; a note says if it is another one.
fn remove_one(made: &MadeVolume, notes: &mut Vec<String>) -> io::Result<()> {
    if !made.image.exists() {
        return Ok(());
    }
    // A program that was killed in the middle of a mount may still come to its end.
    let image = files::open(&made.image, OFlags::empty())?;
    files::lock(&image, LIMIT)?;
    drop(image);
    // A folder may hold several mounts, one over the other.
    while files::is_mount_point(&made.folder).unwrap_or(false) {
        let path = made.folder.display();
        let device = fs::metadata(&made.folder).map(|found| found.dev()).ok();
        let devices = device.into_iter().chain(device.and_then(|device| disk_of(device).ok()));
        if !devices.filter_map(loop_file).any(|file| file == made.image) {
            notes.push(format!("the file system mounted at '{path}' is not the lab's; it was left alone"));
            return Ok(());
        }
        match unmount(&made.folder, UnmountFlags::NOFOLLOW) {
            Err(rustix::io::Errno::BUSY) => {
                let cause = format!("'{path}' is in use\nhint: `fuser -vm {path}` shows by which processes");
                return Err(io::Error::other(cause));
            }
            unmounted => unmounted?,
        }
    }
    Ok(())
}
