//! Non-blocking stream sockets.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use sysdyno_record::plan::Endpoint;

/// A socket on its way to a connection.
#[derive(Debug)]
pub(super) struct Dialed {
    pub fd: OwnedFd,
    /// Whether the connection is still to come.
    pub is_connecting: bool,
}

/// Begins a connection.
pub(super) fn dial(endpoint: &Endpoint) -> Result<Dialed, Errno> {
    let family = match endpoint {
        Endpoint::Tcp(address) if address.is_ipv4() => AddressFamily::INET,
        Endpoint::Tcp(_) => AddressFamily::INET6,
        Endpoint::Unix(_) => AddressFamily::UNIX,
    };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = net::socket_with(family, SocketType::STREAM, flags, None)?;
    let started = match endpoint {
        Endpoint::Tcp(address) => {
            net::sockopt::set_tcp_nodelay(&fd, true)?;
            net::connect(&fd, address)
        }
        Endpoint::Unix(path) => net::connect(&fd, &SocketAddrUnix::new(path)?),
    };
    match started {
        Ok(()) => Ok(Dialed { fd, is_connecting: false }),
        Err(Errno::INPROGRESS) => Ok(Dialed { fd, is_connecting: true }),
        Err(errno) => Err(errno),
    }
}

/// What became of a connection whose socket is ready.
pub(super) fn dialed(fd: &OwnedFd) -> Result<(), Errno> {
    net::sockopt::socket_error(fd).and_then(|result| result)
}
