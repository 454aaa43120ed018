//! The target's listening sockets.

use super::ListenOn;
use super::error::TargetError;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Queue length of a listener that is not meant to overflow; the kernel caps it at `net.core.somaxconn`.
const BACKLOG: i32 = 65_535;

const FLAGS: SocketFlags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);

/// One listening socket per event thread that accepts, all on one address.
#[derive(Debug)]
pub(super) struct Listeners {
    pub(super) sockets: Vec<OwnedFd>,
    /// Where they listen; a port of 0 is replaced by the one that was chosen.
    pub(super) address: ListenOn,
    /// The socket file that is removed at the end.
    path: Option<PathBuf>,
}

impl Listeners {
    /// Opens `count` sockets. A backlog of `None` is one that does not overflow.
    ///
    /// On TCP each has its own queue (`SO_REUSEPORT`); a Unix socket has one queue, which all threads take from.
    pub(super) fn open(on: &ListenOn, count: usize, backlog: Option<u32>) -> Result<Listeners, TargetError> {
        let backlog = backlog.map_or(BACKLOG, |length| i32::try_from(length).unwrap_or(BACKLOG));
        match on {
            ListenOn::Tcp(address) => open_tcp(*address, count, backlog),
            ListenOn::Unix(path) => open_unix(path, count, backlog),
        }
    }
}

impl Drop for Listeners {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // Nobody is left to be told.
            let _ = std::fs::remove_file(path);
        }
    }
}

fn open_tcp(address: SocketAddr, count: usize, backlog: i32) -> Result<Listeners, TargetError> {
    let (mut address, mut sockets) = (address, Vec::new());
    for _ in 0..count {
        let operation = format!("listen on '{address}'");
        let (socket, bound) = tcp_socket(address, backlog).map_err(TargetError::system(operation))?;
        address = bound;
        sockets.push(socket);
    }
    Ok(Listeners { sockets, address: ListenOn::Tcp(address), path: None })
}

fn tcp_socket(address: SocketAddr, backlog: i32) -> Result<(OwnedFd, SocketAddr), Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = net::socket_with(family, SocketType::STREAM, FLAGS, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    sockopt::set_socket_reuseport(&socket, true)?;
    net::bind(&socket, &address)?;
    net::listen(&socket, backlog)?;
    let bound = SocketAddr::try_from(net::getsockname(&socket)?)?;
    Ok((socket, bound))
}

fn open_unix(path: &std::path::Path, count: usize, backlog: i32) -> Result<Listeners, TargetError> {
    let operation = || format!("listen on 'unix:{}'", path.display());
    let open = || {
        let socket = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, FLAGS, None)?;
        net::bind(&socket, &SocketAddrUnix::new(path)?)?;
        net::listen(&socket, backlog)?;
        Ok(socket)
    };
    let first = open().map_err(TargetError::system(operation()))?;
    let mut listeners = Listeners {
        sockets: Vec::new(),
        address: ListenOn::Unix(path.to_owned()),
        path: Some(path.to_owned()),
    };
    for _ in 1..count {
        let copy = rustix::io::fcntl_dupfd_cloexec(&first, 0).map_err(TargetError::system(operation()))?;
        listeners.sockets.push(copy);
    }
    listeners.sockets.push(first);
    Ok(listeners)
}
