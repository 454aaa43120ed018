//! A server that freezes at known instants: on a grid of `CLOCK_MONOTONIC`, the same for all threads.

use super::timer::timespec;
use rustix::thread::{ClockId, clock_nanosleep_absolute};
use std::time::Duration;
use sysdyno_observe::clock::monotonic;
use sysdyno_record::units::{MonoNs, nanoseconds};

/// Longest uninterrupted sleep, so that a target that is told to stop does so.
const SLICE: Duration = Duration::from_millis(20);

/// Stalls begin at the multiples of `every_ns` on `CLOCK_MONOTONIC` and last for `for_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StallGrid {
    pub(super) every_ns: u64,
    pub(super) for_ns: u64,
}

impl StallGrid {
    /// The end of the stall that lasts at `now`.
    ///
    /// `None`: there is none.
    pub(super) fn end(self, now: MonoNs) -> Option<MonoNs> {
        let since_begin_ns = now.0 % self.every_ns;
        (since_begin_ns < self.for_ns).then(|| MonoNs(now.0 - since_begin_ns + self.for_ns))
    }

    /// The begin of the next stall.
    pub(super) fn next_begin(self, now: MonoNs) -> MonoNs {
        MonoNs(now.0 - now.0 % self.every_ns + self.every_ns)
    }

    /// Sleeps as long as a stall lasts, or until `is_stopping`.
    pub(super) fn sleep(self, is_stopping: impl Fn() -> bool) {
        let Some(end) = self.end(monotonic()) else { return };
        loop {
            let now = monotonic();
            if now >= end || is_stopping() {
                return;
            }
            let until = end.min(MonoNs(now.0 + nanoseconds(SLICE)));
            // Interrupted by a signal or not: the clock decides.
            let _ = clock_nanosleep_absolute(ClockId::Monotonic, &timespec(until));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stalls_lie_on_the_grid() {
        let grid = StallGrid { every_ns: 1000, for_ns: 100 };
        let check = |now, end: Option<u64>, next| {
            assert_eq!(grid.end(MonoNs(now)), end.map(MonoNs), "{now}");
            assert_eq!(grid.next_begin(MonoNs(now)), MonoNs(next), "{now}");
        };
        check(5000, Some(5100), 6000);
        check(5099, Some(5100), 6000);
        check(5100, None, 6000);
        check(5999, None, 6000);
    }
}
