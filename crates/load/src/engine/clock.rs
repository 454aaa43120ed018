//! The clocks of the engine; the only place of this crate that reads one.

use rustix::thread::ClockId;
use rustix::time::clock_gettime;
use std::time::Duration;
use sysdyno_record::load::TimerError;
use sysdyno_record::units::MonoNs;

/// Now, on `CLOCK_MONOTONIC`. Cost: no system call, about 20 ns.
#[inline]
pub fn now() -> MonoNs {
    read(ClockId::Monotonic)
}

/// CPU time that the calling thread has used. Unit: nanoseconds.
pub(super) fn thread_cpu_ns() -> u64 {
    read(ClockId::ThreadCPUTime).0
}

fn read(clock: ClockId) -> MonoNs {
    let at = clock_gettime(clock);
    MonoNs(at.tv_sec as u64 * 1_000_000_000 + at.tv_nsec as u64)
}

/// Sleeps measured for the timer error.
const TIMER_SLEEPS_COUNT: usize = 200;

/// Length of each; long enough that the CPU goes idle. Unit: nanoseconds.
const TIMER_SLEEP_NS: u64 = 250_000;

/// Measures how late sleeps of the calling thread end. Takes about 50 ms.
pub(super) fn measure_timer_error(mut sleep: impl FnMut(Duration)) -> TimerError {
    let mut late_ns: Vec<u64> = (0..TIMER_SLEEPS_COUNT)
        .map(|_| {
            let begin = now();
            sleep(Duration::from_nanos(TIMER_SLEEP_NS));
            now().since(begin).saturating_sub(TIMER_SLEEP_NS)
        })
        .collect();
    late_ns.sort_unstable();
    let count = late_ns.len();
    TimerError { p50_ns: late_ns[count / 2], p99_ns: late_ns[count * 99 / 100], count: count as u64 }
}
