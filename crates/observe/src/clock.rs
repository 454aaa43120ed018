//! The clocks of this crate; nothing else in it reads one.

use rustix::time::{ClockId, clock_gettime};
use sysdyno_record::units::MonoNs;

/// Now on `CLOCK_MONOTONIC`, the clock of the load engine too.
pub fn monotonic() -> MonoNs {
    MonoNs(nanoseconds(ClockId::Monotonic))
}

/// CPU time that the calling thread has used. Unit: nanoseconds. Source: `CLOCK_THREAD_CPUTIME_ID`.
pub fn thread_cpu_ns() -> u64 {
    nanoseconds(ClockId::ThreadCPUTime)
}

fn nanoseconds(clock: ClockId) -> u64 {
    let at = clock_gettime(clock);
    let seconds = u64::try_from(at.tv_sec).expect("these clocks do not run before zero");
    seconds * 1_000_000_000 + u64::try_from(at.tv_nsec).expect("a time has no negative fraction")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_advance() {
        let (first, cpu) = (monotonic(), thread_cpu_ns());
        let mut sum = 0u64;
        while monotonic() == first || thread_cpu_ns() == cpu {
            sum = sum.wrapping_add(1);
        }
        assert!(monotonic() > first && thread_cpu_ns() > cpu);
    }
}
