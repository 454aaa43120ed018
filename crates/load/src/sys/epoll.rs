//! Waits on epoll with a timeout in nanoseconds, which no safe library offers without copying the events.
//!
//! `epoll_pwait2` came with Linux 5.11. Where it is missing, [`wait`] says so and the caller falls back.

use rustix::fd::{AsRawFd, BorrowedFd};
use rustix::io::Errno;
use std::time::Duration;

/// An event as the kernel writes it: flags and the user's number.
pub(crate) use libc::epoll_event as Event;

/// Waits for events, at most for `timeout` if there is one; they take the place of what was in `events`, up to its capacity.
///
/// # Errors
/// `NOSYS` where the kernel does not have the call, `INTR` when a signal came first.
pub(crate) fn wait(
    epoll: BorrowedFd<'_>,
    events: &mut Vec<Event>,
    timeout: Option<Duration>,
) -> Result<(), Errno> {
    let timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(timeout.subsec_nanos()),
    });
    events.clear();
    // SAFETY: the pointer and the number are those of the vector's spare capacity, which is all of it after the clear;
    // the time-out outlives the call; a null signal mask leaves the mask as it is, and its size is then not looked at.
    let count = unsafe {
        libc::syscall(
            libc::SYS_epoll_pwait2,
            epoll.as_raw_fd(),
            events.as_mut_ptr(),
            events.capacity() as libc::c_int,
            timeout.as_ref().map_or(std::ptr::null(), |timeout| &raw const *timeout),
            std::ptr::null::<libc::sigset_t>(),
            0usize,
        )
    };
    let Ok(count) = usize::try_from(count) else {
        // SAFETY: reads the calling thread's own error number.
        return Err(Errno::from_raw_os_error(unsafe { *libc::__errno_location() }));
    };
    // SAFETY: the kernel has written this many events, and never more than the capacity.
    unsafe { events.set_len(count.min(events.capacity())) };
    Ok(())
}
