//! System calls that no safe library offers: the cookie of a socket's network namespace, the backlog of a
//! listener, and whether a file is open for writing.
#![allow(unsafe_code)]

use rustix::fd::{AsRawFd, BorrowedFd};

/// Source: `include/uapi/asm-generic/socket.h`.
const SO_NETNS_COOKIE: libc::c_int = 71;

/// Source: `include/uapi/asm-generic/fcntl.h`.
const F_SETSIG: libc::c_int = 10;

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

/// Where `tcpi_sacked` begins: eight fields of a byte, then five of four. Source: `include/uapi/linux/tcp.h`.
const SACKED_OFFSET: usize = 28;

/// The backlog of a listening TCP socket, which is what `tcpi_sacked` means there; `None` if it is no TCP socket.
pub(crate) fn listen_backlog(socket: BorrowedFd<'_>) -> Option<u32> {
    let mut info = [0u8; 104];
    let mut length = info.len() as libc::socklen_t;
    // SAFETY: value and length are those of `info`, which outlives the call; any bytes are valid in it.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let field = info.get(SACKED_OFFSET..SACKED_OFFSET + 4)?.try_into().ok()?;
    let is_listening = info[0] == TCP_LISTEN;
    (result == 0 && is_listening).then(|| u32::from_ne_bytes(field))
}

/// `tcpi_state` of a listener. Source: `include/net/tcp_states.h`.
const TCP_LISTEN: u8 = 10;

/// Whether somebody has a file open to write to it, a loop device included: then it cannot be leased for reading. The
/// file is open for reading only.
///
/// `None` where the file system or this user cannot lease. Source: fcntl(2), `fs/locks.c`, `check_conflicting_open`.
pub(crate) fn is_open_to_write(file: BorrowedFd<'_>) -> Option<bool> {
    let call = |command: libc::c_int, argument: libc::c_int| {
        // SAFETY: these commands take an integer, and change nothing but this open file.
        unsafe { libc::fcntl(file.as_raw_fd(), command, argument) }
    };
    // Whoever opens it meanwhile has this signal sent, which does nothing unless it is asked for.
    if call(F_SETSIG, libc::SIGURG) != 0 {
        return None;
    }
    if call(libc::F_SETLEASE, libc::F_RDLCK) == 0 {
        call(libc::F_SETLEASE, libc::F_UNLCK);
        return Some(false);
    }
    (std::io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN)).then_some(true)
}
