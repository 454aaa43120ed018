//! The one system call that no safe library offers: the cookie of the network namespace that a socket is in.
#![allow(unsafe_code)]

use rustix::fd::{AsRawFd, BorrowedFd};

/// Source: `include/uapi/asm-generic/socket.h`.
const SO_NETNS_COOKIE: libc::c_int = 71;

/// The cookie of the network namespace of a socket; `None` where the kernel does not have it (before Linux 5.14).
pub(crate) fn netns_cookie(socket: BorrowedFd<'_>) -> Option<u64> {
    let mut cookie = 0u64;
    let mut length = size_of::<u64>() as libc::socklen_t;
    // SAFETY: value and length are those of `cookie`, which outlives the call.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &raw mut length,
        )
    };
    (result == 0).then_some(cookie)
}
