//! Identifies the current network namespace, and runs work in another one.

use crate::journal::NetnsId;
use crate::roots::TuneRoots;
use rustix::net::{AddressFamily, SocketType};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Where namespaces have names.
const NAMED: &str = "/run/netns";

/// The network namespace of the calling thread; `None` outside of a live host.
pub(crate) fn current(roots: &TuneRoots) -> Option<NetnsId> {
    if !roots.is_host() {
        return None;
    }
    let inode = fs::metadata("/proc/thread-self/ns/net").ok()?.ino();
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None).ok();
    let cookie = socket.and_then(|socket| crate::sys::netns_cookie(socket.as_fd()));
    Some(NetnsId { inode, cookie })
}

/// A setting that only the network namespace has that the host was booted with.
const INITIAL_ONLY: &str = "/proc/sys/net/core/netdev_max_backlog";

/// Whether this is the network namespace that the host was booted with.
///
/// Judged by what can be set in it, since the namespace of the first process is not for everybody to see.
pub(crate) fn is_initial(roots: &TuneRoots) -> bool {
    !roots.is_host() || roots.place(INITIAL_ONLY).exists()
}

/// Does `work` in a network namespace, in a thread of its own; `None` if it is no more.
///
/// # Errors
/// It is there and cannot be entered.
pub(crate) fn within<T: Send>(wanted: NetnsId, work: impl FnOnce() -> T + Send) -> io::Result<Option<T>> {
    let is_wanted = |path: &PathBuf| fs::metadata(path).is_ok_and(|found| found.ino() == wanted.inode);
    let Some(place) = files().find(is_wanted) else { return Ok(None) };
    // Inodes are used again, cookies are not.
    entered(&place, move |here| here.is_same(wanted).then(work))
}

/// Does `work` in the network namespace of this name, in a thread of its own.
///
/// # Errors
/// There is none, or it cannot be entered.
pub(crate) fn named<T: Send>(name: &str, work: impl FnOnce(NetnsId) -> T + Send) -> io::Result<T> {
    if name.is_empty() || name.starts_with('.') || name.contains('/') {
        return Err(io::ErrorKind::NotFound.into());
    }
    entered(&Path::new(NAMED).join(name), work)
}

fn entered<T: Send>(place: &Path, work: impl FnOnce(NetnsId) -> T + Send) -> io::Result<T> {
    let file = File::open(place)?;
    std::thread::scope(|scope| {
        let in_it = scope.spawn(move || {
            move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?;
            let here = current(&TuneRoots::host()).ok_or(io::ErrorKind::NotFound)?;
            Ok(work(here))
        });
        in_it.join().unwrap_or_else(|_| Err(io::Error::other("the thread in it died")))
    })
}

/// Files of network namespaces: of processes, and by name.
fn files() -> impl Iterator<Item = PathBuf> {
    let names = |folder: &str| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_process =
        |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes()[0].is_ascii_digit());
    let processes = names("/proc").filter(move |path| is_process(path)).map(|path| path.join("ns/net"));
    processes.chain(names(NAMED))
}
