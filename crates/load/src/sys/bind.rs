//! Binds a socket to an address and leaves its port open until it connects (`IP_BIND_ADDRESS_NO_PORT`, ip(7)).
//!
//! Without the option, a bind takes a port that no other socket of that address may use, whatever it connects to; with it,
//! two connections can share a port if their other ends differ.

use rustix::fd::{AsRawFd, BorrowedFd};
use rustix::io::Errno;
use rustix::net;
use std::net::SocketAddr;

/// Binds a TCP socket, of either family, to an address whose port is 0.
///
/// # Errors
/// `ADDRNOTAVAIL` where it is no address of this host.
pub(crate) fn bind_address(socket: BorrowedFd<'_>, source: SocketAddr) -> Result<(), Errno> {
    let one: libc::c_int = 1;
    // SAFETY: the option's value is an integer that outlives the call, and its size is that of the integer.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const one).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result != 0 {
        // SAFETY: reads the calling thread's own error number.
        return Err(Errno::from_raw_os_error(unsafe { *libc::__errno_location() }));
    }
    net::bind(socket, &source)
}
