//! Network namespaces with a name below `/run/netns`, as `ip netns` creates them.
//!
//! A separate thread creates each one, enters it, and ends there; the process stays in its own namespace. The folder is
//! bind-mounted on itself and shared, so that an unmount here takes effect everywhere.

use super::files;
use crate::sys;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_bind, mount_change, unmount};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where namespaces have names.
pub(super) const NAMED: &str = "/run/netns";

/// The namespace of the calling thread.
const OWN: &str = "/proc/thread-self/ns/net";

/// The name of a host's namespace below the folder.
pub(super) fn path_of(lab: &str, host: &str) -> PathBuf {
    Path::new(NAMED).join(format!("sysdyno-{lab}-{host}"))
}

/// Whether a namespace is that of the calling thread.
pub(super) fn is_own(path: &Path) -> bool {
    inode(path).is_some_and(|inode_| fs::metadata(OWN).is_ok_and(|own| own.ino() == inode_))
}

/// Whether the folder of names is as it should be.
pub(super) fn has_root() -> bool {
    files::is_mount_point(Path::new(NAMED)).unwrap_or(false)
}

/// Makes the folder of names and mounts it on itself.
pub(super) fn make_root() -> io::Result<()> {
    let path = Path::new(NAMED);
    files::make_folder(path, 0o755)?;
    mount_bind(path, path)?;
    Ok(mount_change(path, MountPropagationFlags::SHARED | MountPropagationFlags::REC)?)
}

/// Takes the folder of names away, if nothing is in it; false if something is.
pub(super) fn remove_root() -> io::Result<bool> {
    let path = Path::new(NAMED);
    if !path.exists() {
        return Ok(true);
    }
    if fs::read_dir(path)?.next().is_some() {
        return Ok(false);
    }
    match unmount(path, UnmountFlags::NOFOLLOW) {
        Ok(()) | Err(rustix::io::Errno::INVAL) => {}
        Err(rustix::io::Errno::BUSY) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    match files::remove_folder(path) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
        removed => removed.map(|()| true),
    }
}

/// Creates a namespace with this name, and returns its inode.
pub(super) fn make(path: &Path) -> io::Result<u64> {
    in_thread(|| {
        sys::namespace::enter_new_network()?;
        name_own(path)
    })
}

/// Gives the calling thread's namespace a name, and returns its inode.
pub(super) fn name_own(path: &Path) -> io::Result<u64> {
    files::make_mount_point(path)?;
    mount_bind(OWN, path)?;
    fs::metadata(path).map(|found| found.ino())
}

/// Takes a namespace away; it lives on without a name as long as a process is in it. What is not there is no error.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match unmount(path, UnmountFlags::NOFOLLOW | UnmountFlags::DETACH) {
        Ok(()) | Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOENT) => files::remove_file(path),
        Err(error) => Err(error.into()),
    }
}

/// Inode of the namespace of this name; `None` if there is none.
pub(super) fn inode(path: &Path) -> Option<u64> {
    let is_mounted = files::is_mount_point(path).unwrap_or(false);
    fs::metadata(path).ok().filter(|_| is_mounted).map(|found| found.ino())
}

/// Opens a namespace by its name.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(File::from(rustix::fs::openat(CWD, path, flags, Mode::empty())?))
}

/// Opens the namespace of the calling thread.
pub(super) fn open_own() -> io::Result<File> {
    File::open(OWN)
}

/// Puts the calling thread into a namespace.
pub(super) fn enter(path: &Path) -> io::Result<()> {
    enter_open(&open(path)?)
}

/// Puts the calling thread into a namespace that was opened.
pub(super) fn enter_open(namespace: &File) -> io::Result<()> {
    Ok(move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?)
}

/// Runs `work` in a namespace, in a separate thread.
pub(super) fn within<T: Send>(path: &Path, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    in_thread(|| {
        enter(path)?;
        work()
    })
}

fn in_thread<T: Send>(work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        scope.spawn(work).join().unwrap_or_else(|_| Err(io::Error::other("the thread in it died")))
    })
}
