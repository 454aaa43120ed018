//! A socket option that no safe library offers.
#![allow(unsafe_code)]

use rustix::fd::{AsRawFd, BorrowedFd};

/// Source: `include/uapi/linux/netlink.h`.
const NETLINK_EXT_ACK: libc::c_int = 11;

/// Asks for the kernel's own words in errors of a netlink socket; `None` where it has none (before Linux 4.12).
pub(crate) fn ask_for_error_texts(socket: BorrowedFd<'_>) -> Option<()> {
    let on: libc::c_int = 1;
    // SAFETY: value and length are those of `on`, which outlives the call.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_NETLINK,
            NETLINK_EXT_ACK,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    (result == 0).then_some(())
}
