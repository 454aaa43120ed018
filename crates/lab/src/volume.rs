//! Volumes: file systems of a chosen type and journal, each in a file in its service's folder, mounted through a loop device.
//!
//! The kernel frees the loop device by itself when it is no longer open or mounted (LO_FLAGS_AUTOCLEAR, which mount(8) sets),
//! so there is never one to remove, not even after a crash at any point. Only a mount that is at the journal's path and
//! backed by the journal's file is unmounted. The programs that create and mount a volume die with this process, have a
//! deadline, and hold a lock on the file while they live; `down` waits for that lock, so nothing is mounted after it.

use super::journal::{LabRecord, MadeVolume};
use super::paths::{image_of, mounted_at};
use super::recipe::{TemplateValues, Volume};
use super::{files, journal::LabJournal, machine};
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
    pub(super) folder: &'a Path,
    /// Whom it is given to.
    pub(super) owner: (u32, u32),
}

/// Makes and mounts a volume.
pub(super) fn make(
    wanted: &WantedVolume<'_>,
    values: &TemplateValues,
    journal: &mut LabJournal,
) -> Result<(), RunError> {
    let cannot = |source| RunError::Process {
        operation: "make",
        object: format!("the volume of service '{}'", wanted.service),
        source,
    };
    let made = MadeVolume {
        service: wanted.service.to_owned(),
        image: image_of(wanted.folder),
        folder: mounted_at(wanted.folder),
    };
    journal.append(&LabRecord::Volume(made.clone()))?;
    put(wanted, &made, values).map_err(cannot)
}

fn put(wanted: &WantedVolume<'_>, made: &MadeVolume, values: &TemplateValues) -> io::Result<()> {
    let expand = |text: &str| values.expand(text).map_err(io::Error::other);
    let kind = expand(&wanted.volume.kind)?;
    let size_mib: u64 = expand(&wanted.volume.size_mib)?.parse().map_err(io::Error::other)?;
    let no_way = || io::Error::other(format!("the recipe does not define how to create {kind}"));
    let make = wanted.volume.make.get(&kind).ok_or_else(no_way)?;
    let image = files::make_sized(&made.image, size_mib << 20)?;
    files::lock(&image, LIMIT)?;
    files::make_folder(&made.folder, 0o755)?;
    run(&values.arguments(make).map_err(io::Error::other)?, &image)?;
    let mount = machine::find(&["mount".to_owned()]);
    let mount = mount.ok_or_else(|| io::Error::other("'mount' is not installed"))?;
    let options = format!("loop,nosuid,nodev,{}", expand(&wanted.volume.options)?);
    let words = [&mount, Path::new("-t"), Path::new(&kind), Path::new("-o"), Path::new(&options)];
    let words = words.into_iter().chain([made.image.as_path(), &made.folder]);
    run(&words.map(|word| word.display().to_string()).collect::<Vec<_>>(), &image)?;
    files::give(&made.folder, wanted.owner)
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

/// Unmounts a volume, if it is the one that was made; a note says if it is another one.
pub(super) fn remove(made: &MadeVolume, notes: &mut Vec<String>) -> io::Result<()> {
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
        let file = fs::metadata(&made.folder).ok().and_then(|found| loop_file(found.dev()));
        if file.as_deref() != Some(made.image.as_path()) {
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
