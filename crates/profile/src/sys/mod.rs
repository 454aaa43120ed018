//! The system calls that no safe library offers: opening perf events, and the memory that the kernel writes them to.
#![allow(unsafe_code)]

mod ring;

pub(crate) use perf_event_open_sys::bindings;
pub(crate) use ring::PerfRing;

use bindings::perf_event_attr;
use perf_event_open_sys::ioctls;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Whose running an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventSubject {
    /// All processes.
    All,
    /// One thread.
    Thread(u32),
    /// The thread that opens it.
    Own,
}

/// Opens an event on a CPU, closed on exec; on no CPU: on whichever a thread runs.
///
/// # Errors
/// Those of perf_event_open(2).
pub(crate) fn open_event(
    attributes: &perf_event_attr,
    subject: EventSubject,
    cpu: Option<u32>,
) -> io::Result<OwnedFd> {
    let mut attributes = *attributes;
    attributes.size = size_of::<perf_event_attr>() as u32;
    let signed = |number| i32::try_from(number).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput));
    let cpu = cpu.map_or(Ok(-1), signed)?;
    let pid = match subject {
        EventSubject::All => -1,
        EventSubject::Own => 0,
        // 0 would be this one.
        EventSubject::Thread(tid) => signed(tid.max(1))?,
    };
    let flags = bindings::PERF_FLAG_FD_CLOEXEC.into();
    // SAFETY: the attributes are a whole, initialized structure that outlives the call, and their size is set; an event
    // writes to nothing but memory that is mapped from its descriptor.
    let fd = unsafe { perf_event_open_sys::perf_event_open(&raw mut attributes, pid, cpu, -1, flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made this descriptor, and nobody else has it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Lets an event write to the ring of another one of its CPU.
pub(crate) fn redirect(event: BorrowedFd<'_>, to: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: this request takes a descriptor as an integer; the kernel keeps the ring for as long as an event writes to it.
    done(unsafe { ioctls::SET_OUTPUT(event.as_raw_fd(), to.as_raw_fd()) })
}

/// What an event has counted, its descendants included.
pub(crate) fn count(event: BorrowedFd<'_>) -> io::Result<u64> {
    let mut bytes = [0; 8];
    // Of an event without a read format, the kernel gives these bytes alone.
    match rustix::io::read(event, &mut bytes)? {
        8 => Ok(u64::from_ne_bytes(bytes)),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
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
