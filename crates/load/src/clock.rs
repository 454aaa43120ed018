//! The clocks of a load; the only place in this crate that reads one.

use rustix::thread::ClockId;
use rustix::time::clock_gettime;
use std::time::Duration;
use sysdyno_record::load::TimerError;
use sysdyno_record::units::MonoNs;

/// Now, on `CLOCK_MONOTONIC`. Cost: no system call, about 20 ns.
#[inline]
pub(crate) fn now() -> MonoNs {
    read(ClockId::Monotonic)
}

/// Now, on the clock that people read. Unit: seconds since 1970.
pub(crate) fn unix_seconds() -> i64 {
    (read(ClockId::Realtime).0 / 1_000_000_000) as i64
}

/// CPU time that the calling thread has used. Unit: nanoseconds.
pub(crate) fn thread_cpu_ns() -> u64 {
    read(ClockId::ThreadCPUTime).0
}

/// What the clock of the kernel's time stamps is ahead of [`now`]; it changes when somebody sets the clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WallOffset {
    /// Unit: nanoseconds.
    offset_ns: u64,
    read_at: MonoNs,
}

/// How long an offset is good. Unit: nanoseconds.
const OFFSET_AGE_NS: u64 = 10_000_000;

impl WallOffset {
    /// Reads the two clocks again if it is time to.
    #[inline]
    pub(crate) fn refresh(&mut self, now: MonoNs) {
        if now.since(self.read_at) >= OFFSET_AGE_NS || self.read_at == MonoNs(0) {
            let (before, wall, after) = (self::now(), read(ClockId::Realtime), self::now());
            self.offset_ns = wall.0.saturating_sub(before.0.midpoint(after.0));
            self.read_at = now;
        }
    }

    /// The instant of a stamp on [`now`]'s clock.
    #[inline]
    pub(crate) fn to_mono(self, stamp_ns: u64) -> MonoNs {
        MonoNs(stamp_ns.saturating_sub(self.offset_ns))
    }
}

fn read(clock: ClockId) -> MonoNs {
    let at = clock_gettime(clock);
    MonoNs(at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64)
}

/// Sleeps measured for the timer error: at least, and at most.
const MIN_TIMER_SLEEPS: usize = 20;
const MAX_TIMER_SLEEPS: usize = 200;

/// Length of each; long enough that the CPU goes idle. Unit: nanoseconds.
const TIMER_SLEEP_NS: u64 = 100_000;

/// How long is measured, unless that is too short for the fewest sleeps. Unit: nanoseconds.
const TIMER_SPAN_NS: u64 = 15_000_000;

/// Measures how late sleeps of the calling thread end. Takes 15 ms, since every load waits for it.
pub(crate) fn measure_timer_error(mut sleep: impl FnMut(Duration)) -> TimerError {
    let begin = now();
    let mut late_ns = Vec::with_capacity(MAX_TIMER_SLEEPS);
    while late_ns.len() < MIN_TIMER_SLEEPS
        || late_ns.len() < MAX_TIMER_SLEEPS && now().since(begin) < TIMER_SPAN_NS
    {
        let begin = now();
        sleep(Duration::from_nanos(TIMER_SLEEP_NS));
        late_ns.push(now().since(begin).saturating_sub(TIMER_SLEEP_NS));
    }
    late_ns.sort_unstable();
    let count = late_ns.len();
    TimerError { p50_ns: late_ns[count / 2], p99_ns: late_ns[count * 99 / 100], count: count as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_that_is_late_is_not_measured_for_longer_than_it_must_be() {
        let mut slept = 0;
        let error = measure_timer_error(|_| {
            slept += 1;
            std::thread::sleep(Duration::from_millis(3));
        });
        assert_eq!((error.count, slept), (MIN_TIMER_SLEEPS as u64, MIN_TIMER_SLEEPS));
        assert!(error.p50_ns >= 3_000_000 - TIMER_SLEEP_NS && error.p99_ns >= error.p50_ns);
    }
}
