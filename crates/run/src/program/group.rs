//! Ends a process by its ID, with everything in its process group, and tells when it has ended.

use crate::clock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};
use std::time::Duration;

/// Between two looks whether a process has ended.
const TICK: Duration = Duration::from_millis(50);

/// Whether a process has ended within `span`.
pub(crate) fn has_ended(pidfd: &OwnedFd, span: Duration) -> bool {
    let timeout = Timespec { tv_sec: span.as_secs() as i64, tv_nsec: i64::from(span.subsec_nanos()) };
    let mut fds = [PollFd::new(pidfd, PollFlags::IN)];
    match poll(&mut fds, Some(&timeout)) {
        Ok(count) => count > 0,
        Err(Errno::INTR) => false,
        // What cannot be asked is waited for where it is buried.
        Err(_) => true,
    }
}

/// Ends the group of a child that is not buried yet: by SIGTERM, and by SIGKILL after `grace`. Whether the child has ended
/// then; one that waits in the kernel has not.
pub(crate) fn end_group(group: Pid, pidfd: &OwnedFd, grace: Duration) -> bool {
    // It may have ended meanwhile; it is not buried, so its number is not another's.
    let _ = kill_process_group(group, Signal::TERM);
    let killed = clock::monotonic().after(grace);
    let mut is_over = has_ended(pidfd, Duration::ZERO);
    while !is_over && clock::monotonic() < killed {
        is_over = has_ended(pidfd, TICK.min(grace));
    }
    // Those of the group that did not end with its leader.
    let _ = kill_process_group(group, Signal::KILL);
    is_over
}
