//! The clocks of this crate; no other module reads one.

use rustix::time::{ClockId, clock_gettime};
use sysdyno_record::units::MonoNs;

/// Now on `CLOCK_MONOTONIC`, the clock of the load engine too.
pub fn monotonic() -> MonoNs {
    MonoNs(nanoseconds(ClockId::Monotonic))
}

/// An instant about `interval_ns` after `begin`, up to three tenths sooner or later: what is read about once a second would see
/// something that happens every second always, or never.
pub(crate) fn about(begin: MonoNs, interval_ns: u64) -> MonoNs {
    // The last digits of the time are chance enough, spread over all bits.
    let spread = begin.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    let part = interval_ns / 10 * 6;
    let shift = ((u128::from(part) * u128::from(spread)) >> 32) as u64;
    MonoNs(begin.0.saturating_add(interval_ns - part / 2).saturating_add(shift))
}

/// Now on the wall clock, `CLOCK_REALTIME`, to which other programs set the end of a wait. Unit: nanoseconds since 1970.
pub(crate) fn wall_ns() -> u64 {
    nanoseconds(ClockId::Realtime)
}

/// CPU time that the calling thread has used. Unit: nanoseconds. Source: `CLOCK_THREAD_CPUTIME_ID`.
pub fn thread_cpu_ns() -> u64 {
    nanoseconds(ClockId::ThreadCPUTime)
}

/// CPU time of all threads of a process, also of those that have ended. Unit: nanoseconds. Source: clock_getcpuclockid(3).
///
/// Unlike `utime` and `stime` of `/proc/PID/stat`, it is not rounded to ticks of 10 ms, which a short trial of an idle server
/// is made of. `None`: the process is gone.
pub fn process_cpu_ns(pid: u32) -> Option<u64> {
    let clock = nix::time::clock_getcpuclockid(nix::unistd::Pid::from_raw(i32::try_from(pid).ok()?)).ok()?;
    let at = clock.now().ok()?;
    let seconds = u64::try_from(at.tv_sec()).ok()?;
    Some(seconds * 1_000_000_000 + u64::try_from(at.tv_nsec()).ok()?)
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
    fn what_is_read_about_once_a_second_drifts_against_seconds() {
        let mut at = MonoNs(123_456_789);
        let steps: Vec<u64> = (0..1000)
            .map(|_| {
                let next = about(at, 1_000_000_000);
                let step = next.since(at);
                at = next;
                step
            })
            .collect();
        assert!(steps.iter().all(|step| (700_000_000..=1_300_000_000).contains(step)), "{steps:?}");
        let mean = steps.iter().sum::<u64>() / 1000;
        assert!((960_000_000..1_040_000_000).contains(&mean), "{mean}");
    }

    #[test]
    fn clocks_advance() {
        let (first, cpu) = (monotonic(), thread_cpu_ns());
        let mut sum = 0u64;
        while monotonic() == first || thread_cpu_ns() == cpu {
            sum = sum.wrapping_add(1);
        }
        assert!(monotonic() > first && thread_cpu_ns() > cpu);
    }

    #[test]
    fn the_clock_of_a_process_counts_threads_that_have_ended_and_no_ticks() {
        let pid = std::process::id();
        let begin = process_cpu_ns(pid).expect("exists");
        let spin = || {
            let own = thread_cpu_ns();
            while thread_cpu_ns() < own + 1_000_000 {}
        };
        std::thread::spawn(spin).join().expect("ends");
        let end = process_cpu_ns(pid).expect("exists");
        assert!(end >= begin + 1_000_000, "{begin} {end}");
        assert_eq!(process_cpu_ns(u32::MAX), None);
    }
}
