//! Assigns local ports one after the other (`IP_LOCAL_PORT_RANGE`, ip(7)).
//!
//! To connect, the kernel looks for a port that is free towards the same server: first among the even ports of the range,
//! leaving the odd ones to listening sockets. Once half of the ports are in use, every connect first tries that half in
//! vain: 0.6 ms for 14,000 ports. A socket with its own range gets every port in turn (Linux 6.14,
//! `net/ipv4/inet_hashtables.c`, `__inet_hash_connect`), which takes a few microseconds.

use rustix::fd::{AsRawFd, BorrowedFd};

/// The option, for `setsockopt` on `IPPROTO_IP`, of either family (`include/uapi/linux/in.h`).
pub(super) const OPTION: i32 = 51;

/// Its value, last port above first: a range that holds the one of the system, which then is what counts.
pub(super) static ALL_IN_TURN: u32 = u32::MAX << 16 | 1;

/// Has a socket that is to connect take its port in turn. Where the kernel does not know of it, it looks longer.
pub(crate) fn take_in_turn(socket: BorrowedFd<'_>) {
    // SAFETY: the option's value is a constant that outlives the call, and its size is that of the constant.
    unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IP,
            OPTION,
            (&raw const ALL_IN_TURN).cast(),
            size_of::<u32>() as libc::socklen_t,
        );
    }
}
