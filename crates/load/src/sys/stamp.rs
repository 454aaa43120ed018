//! Receives data together with the instant at which the kernel got the last byte (`SO_TIMESTAMPNS`, socket(7)).
//!
//! A thread that was asleep, or busy with other connections, sees a response later than it arrived. The network stack stamps
//! each packet on arrival, and TCP returns the stamp of the last packet from which a receive took bytes
//! (`net/ipv4/tcp.c`, `tcp_recv_timestamp`). Stamps are on `CLOCK_REALTIME`.

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

/// The option that asks for stamps, for `setsockopt`.
pub(super) const OPTION: i32 = libc::SO_TIMESTAMPNS;

/// Room for the one control message that carries a stamp. Unit: bytes.
pub(super) const CONTROL_BYTES: usize = size_of::<libc::cmsghdr>() + size_of::<libc::timespec>();

/// Asks the kernel to stamp what a socket receives.
pub(crate) fn enable(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    let one: libc::c_int = 1;
    // SAFETY: the option's value is an integer that outlives the call, and its size is that of the integer.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            OPTION,
            (&raw const one).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(last_error()) }
}

/// A socket whose only use is to want stamps: the kernel begins and ceases to stamp with the first and the last socket
/// that does, and each time patches its own code.
pub(crate) fn hold() -> Result<OwnedFd, Errno> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    enable(socket.as_fd())?;
    Ok(socket)
}

/// Receives without waiting; how many bytes, and their stamp, 0 if they have none. Unit of the stamp: nanoseconds on
/// `CLOCK_REALTIME`.
#[inline]
pub(crate) fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<(usize, u64), Errno> {
    let mut control = Control([0; CONTROL_BYTES]);
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: a message header of zeros is a valid value of the type.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = (&raw mut control).cast();
    header.msg_controllen = CONTROL_BYTES as _;
    // SAFETY: the header points to one part, the buffer, and to a control buffer of the given length; all outlive the
    // call.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_DONTWAIT) };
    let length = usize::try_from(received).map_err(|_| last_error())?;
    let written = (header.msg_controllen as usize).min(CONTROL_BYTES);
    Ok((length, stamp_ns(&control.0[..written])))
}

/// A control buffer, aligned as the kernel writes it.
#[repr(align(8))]
struct Control([u8; CONTROL_BYTES]);

/// The stamp in a control buffer; 0 if there is none. Unit: nanoseconds on `CLOCK_REALTIME`.
#[inline]
pub(super) fn stamp_ns(control: &[u8]) -> u64 {
    let Some(control) = control.first_chunk::<CONTROL_BYTES>() else { return 0 };
    // SAFETY: both are plain integers, any bytes are valid values of them, and the lengths add up to that of the chunk;
    // the reads need no alignment.
    let (header, stamp) = unsafe {
        let start = control.as_ptr();
        let stamp = start.add(size_of::<libc::cmsghdr>()).cast::<libc::timespec>();
        (start.cast::<libc::cmsghdr>().read_unaligned(), stamp.read_unaligned())
    };
    let is_stamp = header.cmsg_level == libc::SOL_SOCKET && header.cmsg_type == libc::SCM_TIMESTAMPNS;
    if is_stamp { stamp.tv_sec as u64 * 1_000_000_000 + stamp.tv_nsec as u64 } else { 0 }
}

fn last_error() -> Errno {
    // SAFETY: reads the calling thread's own error number.
    Errno::from_raw_os_error(unsafe { *libc::__errno_location() })
}
