//! What a thread waits for, derived from its state and its current system call.

use crate::source::pid_syscall::Whereabouts;
use nix::libc;

/// What a thread does at one instant, as far as it shows without its sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It has something known to wait for, or runs.
    Known(Wait),
    /// It waits for this descriptor.
    Descriptor(u64),
    /// It waits for some of so many descriptors, which are listed at this address of its memory.
    Listed { address: u64, count: u64 },
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Wait {
    /// Nothing: it is on a CPU, or ready.
    Running,
    /// Another thread or process that has a lock: a futex, a lock of a file.
    Lock,
    /// Another process: the end of a child, or what comes through a pipe.
    Process,
    /// A disk: an uninterruptible sleep, or data being written out.
    Disk,
    /// A time.
    Timer,
    /// To be continued: it was stopped.
    Stopped,
    /// A request: a new connection, or the next bytes of one that it has accepted.
    Idle,
    /// A connection to somewhere else.
    Network,
    /// Anything else.
    Other,
}

/// The kinds in the order of their columns.
pub(crate) const KINDS: [Wait; 9] = [
    Wait::Running,
    Wait::Lock,
    Wait::Process,
    Wait::Disk,
    Wait::Timer,
    Wait::Stopped,
    Wait::Idle,
    Wait::Network,
    Wait::Other,
];

/// What a thread does whose state is this letter of `/proc/PID/task/TID/stat`.
pub(crate) fn doing(state: u8, place: Whereabouts) -> Doing {
    match (state, place) {
        (b'R', _) | (_, Whereabouts::Running) => Doing::Known(Wait::Running),
        (b'T' | b't', _) => Doing::Known(Wait::Stopped),
        (b'D', _) => Doing::Known(Wait::Disk),
        (_, Whereabouts::Outside) => Doing::Known(Wait::Other),
        (_, Whereabouts::Call { number, arguments: [first, second] }) => in_call(number, first, second),
    }
}

/// Whether a thread waits for events of many descriptors.
pub(crate) fn is_in_event_loop(place: Whereabouts) -> bool {
    let Whereabouts::Call { number, .. } = place else { return false };
    matches!(number, libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2) || is_old_wait(number)
}

/// Calls that only older architectures have.
#[cfg(target_arch = "x86_64")]
fn is_old_wait(number: i64) -> bool {
    number == libc::SYS_epoll_wait
}

/// Calls that only older architectures have.
#[cfg(not(target_arch = "x86_64"))]
fn is_old_wait(_number: i64) -> bool {
    false
}

fn in_call(number: i64, first: u64, second: u64) -> Doing {
    match number {
        libc::SYS_futex | libc::SYS_flock | libc::SYS_fcntl => Doing::Known(Wait::Lock),
        libc::SYS_wait4 | libc::SYS_waitid => Doing::Known(Wait::Process),
        libc::SYS_fsync | libc::SYS_fdatasync | libc::SYS_sync_file_range | libc::SYS_msync => {
            Doing::Known(Wait::Disk)
        }
        libc::SYS_nanosleep | libc::SYS_clock_nanosleep => Doing::Known(Wait::Timer),
        libc::SYS_accept | libc::SYS_accept4 | libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => {
            Doing::Known(Wait::Idle)
        }
        // A master that waits to be told something.
        libc::SYS_rt_sigsuspend | libc::SYS_rt_sigtimedwait => Doing::Known(Wait::Idle),
        libc::SYS_read | libc::SYS_readv | libc::SYS_recvfrom | libc::SYS_recvmsg => Doing::Descriptor(first),
        libc::SYS_write | libc::SYS_writev | libc::SYS_sendto | libc::SYS_sendmsg | libc::SYS_connect => {
            Doing::Descriptor(first)
        }
        libc::SYS_ppoll => Doing::Listed { address: first, count: second },
        _ => in_old_call(number, first, second),
    }
}

/// Calls that only older architectures have.
#[cfg(target_arch = "x86_64")]
fn in_old_call(number: i64, first: u64, second: u64) -> Doing {
    match number {
        libc::SYS_poll => Doing::Listed { address: first, count: second },
        libc::SYS_epoll_wait => Doing::Known(Wait::Idle),
        libc::SYS_pause => Doing::Known(Wait::Idle),
        _ => Doing::Known(Wait::Other),
    }
}

/// Calls that only older architectures have.
#[cfg(not(target_arch = "x86_64"))]
fn in_old_call(_number: i64, _first: u64, _second: u64) -> Doing {
    Doing::Known(Wait::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_judged_by_its_state_and_its_call() {
        let call = |number| Whereabouts::Call { number, arguments: [5, 1] };
        let check = |state: u8, place: Whereabouts, expected: Doing| {
            assert_eq!(doing(state, place), expected, "{state} {place:?}");
        };
        check(b'R', call(libc::SYS_read), Doing::Known(Wait::Running));
        check(b'S', Whereabouts::Running, Doing::Known(Wait::Running));
        check(b'D', call(libc::SYS_read), Doing::Known(Wait::Disk));
        check(b'T', call(libc::SYS_futex), Doing::Known(Wait::Stopped));
        check(b'S', call(libc::SYS_futex), Doing::Known(Wait::Lock));
        check(b'S', call(libc::SYS_wait4), Doing::Known(Wait::Process));
        check(b'S', call(libc::SYS_recvfrom), Doing::Descriptor(5));
        check(b'S', call(libc::SYS_ppoll), Doing::Listed { address: 5, count: 1 });
        check(b'S', call(libc::SYS_clock_nanosleep), Doing::Known(Wait::Timer));
    }
}
