//! Opens a socket to the kernel's socket table in each network namespace of this host that has processes.
//!
//! A server may call another one in a container. A dedicated thread enters the namespace, opens the socket, and ends; it
//! does nothing else there. A namespace that we may not enter is skipped.

use super::processes::list_pids;
use crate::roots::Roots;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use sysdyno_netlink::NetlinkSocket;
use sysdyno_record::units::MonoNs;

/// At most this many namespaces are looked into.
const MAX_NAMESPACES: usize = 64;

/// Between two searches for namespaces. Unit: nanoseconds.
const SEARCH_INTERVAL_NS: u64 = 5_000_000_000;

/// The namespaces that are looked into, by the inodes of their files; 0 is that of this thread.
#[derive(Debug, Default)]
pub(crate) struct Namespaces {
    sockets: HashMap<u64, NetlinkSocket>,
    /// The inode of the file of this thread's namespace.
    own_inode: u64,
    searched: Option<MonoNs>,
}

/// The namespace of this thread.
const OWN: u64 = 0;

impl Namespaces {
    /// Takes up namespaces that came and lets go of those without processes: an open socket would keep them.
    ///
    /// # Errors
    /// The kernel does not tell its sockets to this process, even in its own namespace.
    pub(crate) fn look(&mut self, roots: &Roots, now: MonoNs) -> io::Result<()> {
        if let Entry::Vacant(own) = self.sockets.entry(OWN) {
            own.insert(NetlinkSocket::sock_diag()?);
        }
        if self.searched.is_some_and(|at| now.since(at) < SEARCH_INTERVAL_NS) {
            return Ok(());
        }
        self.searched = Some(now);
        self.own_inode = inode_of(&roots.in_proc("thread-self/ns/net")).unwrap_or(OWN);
        let places = places(roots, self.own_inode);
        self.sockets.retain(|inode, _| *inode == OWN || places.contains_key(inode));
        for (inode, place) in places {
            if !self.sockets.contains_key(&inode) && self.sockets.len() < MAX_NAMESPACES {
                // What may not be entered is not known, as if it were another host.
                self.sockets
                    .extend(in_namespace(place, NetlinkSocket::sock_diag).ok().map(|socket| (inode, socket)));
            }
        }
        Ok(())
    }

    /// The inode of the file of a namespace, that of this thread's included.
    pub(crate) fn inode_of(&self, namespace: u64) -> u64 {
        if namespace == OWN { self.own_inode } else { namespace }
    }

    /// The sockets with the inodes of their namespaces.
    pub(crate) fn sockets(&mut self) -> impl Iterator<Item = (u64, &mut NetlinkSocket)> {
        self.sockets.iter_mut().map(|(inode, socket)| (*inode, socket))
    }
}

/// Other namespaces than that of this thread, each with the file of a process in it.
fn places(roots: &Roots, own: u64) -> HashMap<u64, PathBuf> {
    let files = list_pids(roots).into_iter().map(|pid| roots.in_proc(&format!("{pid}/ns/net")));
    let found = files.filter_map(|path| Some((inode_of(&path)?, path)));
    found.filter(|(inode, _)| *inode != own).collect()
}

fn inode_of(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|found| found.ino())
}

/// What `work` comes to in the network namespace of this file, where a thread of its own does it.
///
/// # Errors
/// The namespace may not be entered, or what `work` says.
pub(crate) fn in_namespace<T: Send + 'static>(
    place: PathBuf,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let enter = move || {
        let file = File::open(place)?;
        move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?;
        work()
    };
    let thread = std::thread::Builder::new().name("sysdyno-netns".into()).spawn(enter)?;
    thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread in it died")))
}
