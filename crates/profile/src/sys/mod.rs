//! The system calls that no safe library offers: opening perf events, and the memory that the kernel writes them to.
#![allow(unsafe_code)]

mod ring;

pub(crate) use perf_event_open_sys::bindings;
pub(crate) use ring::PerfRing;

use bindings::perf_event_attr;
use perf_event_open_sys::ioctls;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Opens an event of all processes on a CPU, closed on exec.
///
/// # Errors
/// Those of perf_event_open(2).
pub(crate) fn open_on_cpu(attributes: &perf_event_attr, cpu: u32) -> io::Result<OwnedFd> {
    let mut attributes = *attributes;
    attributes.size = size_of::<perf_event_attr>() as u32;
    let cpu = i32::try_from(cpu).map_err(|_| io::ErrorKind::InvalidInput)?;
    let flags = bindings::PERF_FLAG_FD_CLOEXEC.into();
    // SAFETY: the attributes are a whole, initialized structure that outlives the call, and their size is set; an event
    // writes to nothing but memory that is mapped from its descriptor.
    let fd = unsafe { perf_event_open_sys::perf_event_open(&raw mut attributes, -1, cpu, -1, flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Starts an event that was opened disabled.
pub(crate) fn enable(event: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: this request takes an integer, and starts what the descriptor stands for.
    done(unsafe { ioctls::ENABLE(event.as_raw_fd(), 0) })
}

/// Stops an event; what it has written stays.
pub(crate) fn disable(event: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: this request takes an integer, and stops what the descriptor stands for.
    done(unsafe { ioctls::DISABLE(event.as_raw_fd(), 0) })
}

fn done(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
