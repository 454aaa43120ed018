//! A socket option and a request that no safe library offers.
#![allow(unsafe_code)]

use rustix::fd::{AsRawFd, BorrowedFd};
use std::io;

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

/// Source: `include/uapi/linux/sockios.h`, `include/uapi/linux/ethtool.h`.
const SIOCETHTOOL: libc::Ioctl = 0x8946;
const ETHTOOL_PHYS_ID: u32 = 0x1c;

/// `struct ethtool_value`.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

/// Lets a port blink for so many seconds, and waits as long; a signal ends it.
pub(crate) fn blink(socket: BorrowedFd<'_>, name: &str, seconds: u32) -> io::Result<()> {
    let mut value = EthtoolValue { command: ETHTOOL_PHYS_ID, data: seconds };
    // SAFETY: all bytes 0 are a valid request: an empty name, and no data.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The last byte stays 0 and ends the name.
    if name.len() >= request.ifr_name.len() {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: the request and the value that it points to outlive the call, and this command reads only the value.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
