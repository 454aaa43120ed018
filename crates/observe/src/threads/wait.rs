//! What a thread waits for, derived from its state and its current system call, or, where that is hidden, from the function of the
//! kernel in which it sleeps.

use crate::source::pid_syscall::Whereabouts;
use nix::libc;
use sysdyno_record::live::ThreadWait;

/// What a thread does at one instant, as far as it shows without its sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It has something known to wait for, or runs.
    Known(ThreadWait),
    /// It waits for this descriptor.
    Descriptor(u64),
    /// It waits for some of so many descriptors, which are listed at this address of its memory.
    Listed { address: u64, count: u64 },
}

/// The kinds in the order of their columns.
pub(crate) const KINDS: [ThreadWait; 9] = [
    ThreadWait::Running,
    ThreadWait::Lock,
    ThreadWait::Process,
    ThreadWait::Disk,
    ThreadWait::Timer,
    ThreadWait::Stopped,
    ThreadWait::Idle,
    ThreadWait::Network,
    ThreadWait::Other,
];

/// What a thread does whose state is this letter of `/proc/PID/task/TID/stat`, where the kernel tells no more of it. A sleep may be
/// anything.
pub(crate) fn by_state(state: u8) -> ThreadWait {
    match state {
        b'R' => ThreadWait::Running,
        b'D' => ThreadWait::Disk,
        b'T' | b't' => ThreadWait::Stopped,
        // A thread of the kernel that has nothing to do.
        b'I' => ThreadWait::Idle,
        _ => ThreadWait::Hidden,
    }
}

/// Beginnings of the names of functions in which threads sleep, those of Linux 4.19 to 6.18, and what is waited for there.
const SLEEPS: &[(&str, ThreadWait)] = &[
    ("futex_", ThreadWait::Lock),
    ("locks_lock_inode_wait", ThreadWait::Lock),
    ("flock_lock_inode_wait", ThreadWait::Lock),
    ("fcntl_setlk", ThreadWait::Lock),
    ("do_semtimedop", ThreadWait::Lock),
    ("__do_semtimedop", ThreadWait::Lock),
    ("request_wait_answer", ThreadWait::Disk),
    ("fanotify_", ThreadWait::Process),
    ("do_wait", ThreadWait::Process),
    ("kernel_wait", ThreadWait::Process),
    ("pipe_", ThreadWait::Process),
    ("anon_pipe_", ThreadWait::Process),
    ("hrtimer_nanosleep", ThreadWait::Timer),
    ("do_nanosleep", ThreadWait::Timer),
    ("common_nsleep", ThreadWait::Timer),
    ("ep_poll", ThreadWait::Idle),
    ("do_epoll_wait", ThreadWait::Idle),
    ("inet_csk_accept", ThreadWait::Idle),
    ("do_sigtimedwait", ThreadWait::Idle),
    ("do_rt_sigtimedwait", ThreadWait::Idle),
    ("sigsuspend", ThreadWait::Idle),
    ("do_pause", ThreadWait::Idle),
    ("wait_woken", ThreadWait::Network),
    ("sk_wait_data", ThreadWait::Network),
    ("sk_stream_wait", ThreadWait::Network),
    ("tcp_", ThreadWait::Network),
    ("unix_stream_", ThreadWait::Network),
    ("__skb_wait_for_more_packets", ThreadWait::Network),
    ("do_signal_stop", ThreadWait::Stopped),
    ("ptrace_stop", ThreadWait::Stopped),
    ("__refrigerator", ThreadWait::Stopped),
    ("do_freezer_trap", ThreadWait::Stopped),
];

/// What a thread waits for that sleeps in this function of the kernel, of `/proc/PID/task/TID/wchan`; `None`: that is hidden.
pub(crate) fn by_function(name: &[u8]) -> Option<ThreadWait> {
    match name {
        b"" | b"0" => None,
        name => {
            let known = SLEEPS.iter().find(|(begin, _)| name.starts_with(begin.as_bytes()));
            Some(known.map_or(ThreadWait::Other, |(_, wait)| *wait))
        }
    }
}

/// What a thread does whose state is this letter of `/proc/PID/task/TID/stat`.
pub(crate) fn doing(state: u8, place: Whereabouts) -> Doing {
    match (state, place) {
        (b'R', _) | (_, Whereabouts::Running) => Doing::Known(ThreadWait::Running),
        (b'T' | b't', _) => Doing::Known(ThreadWait::Stopped),
        // Who sleeps there is only shown in this state when a freezer has stopped it.
        (b'D', Whereabouts::Call { number, .. }) if is_ordinary_sleep(number) => {
            Doing::Known(ThreadWait::Stopped)
        }
        (b'D', _) => Doing::Known(ThreadWait::Disk),
        (_, Whereabouts::Outside) => Doing::Known(ThreadWait::Other),
        (_, Whereabouts::Call { number, arguments: [first, second, ..] }) => in_call(number, first, second),
    }
}

/// Whether whoever sleeps in a call can always be woken by a signal.
fn is_ordinary_sleep(number: i64) -> bool {
    let is_known = matches!(
        number,
        libc::SYS_epoll_pwait
            | libc::SYS_epoll_pwait2
            | libc::SYS_ppoll
            | libc::SYS_futex
            | libc::SYS_nanosleep
            | libc::SYS_clock_nanosleep
            | libc::SYS_accept
            | libc::SYS_accept4
            | libc::SYS_rt_sigsuspend
            | libc::SYS_rt_sigtimedwait
    );
    is_known || is_old_wait(number) || is_old_sleep(number)
}

/// Calls that only older architectures have.
#[cfg(target_arch = "x86_64")]
fn is_old_sleep(number: i64) -> bool {
    matches!(number, libc::SYS_poll | libc::SYS_pause)
}

/// Calls that only older architectures have.
#[cfg(not(target_arch = "x86_64"))]
fn is_old_sleep(_number: i64) -> bool {
    false
}

/// Whether a thread waits for events of many descriptors.
pub(crate) fn is_in_event_loop(place: Whereabouts) -> bool {
    let Whereabouts::Call { number, .. } = place else { return false };
    matches!(number, libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2) || is_old_wait(number)
}

/// Whether a thread writes, to whatever it is.
pub(crate) fn is_writing(place: Whereabouts) -> bool {
    matches!(place, Whereabouts::Call { number: libc::SYS_write | libc::SYS_writev, .. })
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
        libc::SYS_futex | libc::SYS_flock | libc::SYS_fcntl | libc::SYS_semop | libc::SYS_semtimedop => {
            Doing::Known(ThreadWait::Lock)
        }
        libc::SYS_wait4 | libc::SYS_waitid => Doing::Known(ThreadWait::Process),
        libc::SYS_fsync | libc::SYS_fdatasync | libc::SYS_sync_file_range | libc::SYS_msync => {
            Doing::Known(ThreadWait::Disk)
        }
        libc::SYS_nanosleep | libc::SYS_clock_nanosleep => Doing::Known(ThreadWait::Timer),
        libc::SYS_accept | libc::SYS_accept4 | libc::SYS_epoll_pwait | libc::SYS_epoll_pwait2 => {
            Doing::Known(ThreadWait::Idle)
        }
        // A master that waits to be told something.
        libc::SYS_rt_sigsuspend | libc::SYS_rt_sigtimedwait => Doing::Known(ThreadWait::Idle),
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
        libc::SYS_epoll_wait => Doing::Known(ThreadWait::Idle),
        libc::SYS_pause => Doing::Known(ThreadWait::Idle),
        _ => Doing::Known(ThreadWait::Other),
    }
}

/// Calls that only older architectures have.
#[cfg(not(target_arch = "x86_64"))]
fn in_old_call(_number: i64, _first: u64, _second: u64) -> Doing {
    Doing::Known(ThreadWait::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_calls_are_hidden_the_function_tells_and_else_the_state() {
        let check = |name: &str, expected: Option<ThreadWait>| {
            assert_eq!(by_function(name.as_bytes()), expected, "{name}")
        };
        check("futex_wait_queue", Some(ThreadWait::Lock));
        check("futex_do_wait", Some(ThreadWait::Lock));
        check("__do_semtimedop", Some(ThreadWait::Lock));
        check("request_wait_answer", Some(ThreadWait::Disk));
        check("anon_pipe_read", Some(ThreadWait::Process));
        check("do_epoll_wait", Some(ThreadWait::Idle));
        check("bpf_wait", Some(ThreadWait::Other));
        check("0", None);
        assert_eq!(
            [b'R', b'D', b'S'].map(by_state),
            [ThreadWait::Running, ThreadWait::Disk, ThreadWait::Hidden]
        );
    }

    #[test]
    fn a_thread_is_judged_by_its_state_and_its_call() {
        let call = |number| Whereabouts::Call { number, arguments: [5, 1, 0, 0] };
        let check = |state: u8, place: Whereabouts, expected: Doing| {
            assert_eq!(doing(state, place), expected, "{state} {place:?}");
        };
        check(b'R', call(libc::SYS_read), Doing::Known(ThreadWait::Running));
        check(b'S', Whereabouts::Running, Doing::Known(ThreadWait::Running));
        check(b'D', call(libc::SYS_read), Doing::Known(ThreadWait::Disk));
        check(b'T', call(libc::SYS_futex), Doing::Known(ThreadWait::Stopped));
        check(b'S', call(libc::SYS_futex), Doing::Known(ThreadWait::Lock));
        check(b'S', call(libc::SYS_semtimedop), Doing::Known(ThreadWait::Lock));
        check(b'S', call(libc::SYS_wait4), Doing::Known(ThreadWait::Process));
        check(b'S', call(libc::SYS_recvfrom), Doing::Descriptor(5));
        check(b'S', call(libc::SYS_ppoll), Doing::Listed { address: 5, count: 1 });
        check(b'S', call(libc::SYS_clock_nanosleep), Doing::Known(ThreadWait::Timer));
    }
}
