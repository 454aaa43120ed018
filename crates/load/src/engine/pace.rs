//! How many responses a thread waits for before it wakes up.
//!
//! Waking up costs more than handling a response does, on a virtual machine several times as much. Where responses come
//! fast enough, a thread therefore lets a few gather: as many as come in [`GATHER_NS`], and never more than an eighth of
//! those that are awaited, so that a closed loop keeps its connections busy. Where they come more slowly, it wakes up
//! for each. No latency knows of it, since the kernel stamps each response when it comes; so it is done only with these
//! stamps. To a closed loop it is a think time of some microseconds; a server that halts just then adds the length of
//! [`crate::io::TICK`] at most.

use sysdyno_record::units::MonoNs;

/// How long responses gather at the rate at which they come. Unit: nanoseconds.
const GATHER_NS: u64 = 100_000;

/// Responses that may gather, at most.
const MAX_COUNT: u32 = 32;

/// Over how long the rate is taken. Unit: nanoseconds.
const SPAN_NS: u64 = 1_000_000;

/// The rate of completions of one thread, as far as it matters for waiting.
#[derive(Debug, Default)]
pub(super) struct Pace {
    since: MonoNs,
    count: u32,
    /// Completions that come in the time of gathering.
    expected: u32,
}

impl Pace {
    /// Something completed.
    #[inline]
    pub(super) fn note(&mut self) {
        self.count += 1;
    }

    /// How many completions to wait for when so many requests are in flight.
    #[inline]
    pub(super) fn want(&mut self, now: MonoNs, in_flight: u64) -> u32 {
        let span_ns = now.since(self.since);
        if span_ns >= SPAN_NS {
            let expected = u64::from(self.count) * GATHER_NS / span_ns;
            self.expected = u32::try_from(expected).unwrap_or(MAX_COUNT);
            (self.since, self.count) = (now, 0);
        }
        let share = u32::try_from(in_flight / 8).unwrap_or(MAX_COUNT);
        self.expected.min(share).clamp(1, MAX_COUNT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_for_what_comes_in_time_and_for_one_if_nothing_does() {
        let mut pace = Pace::default();
        let mut run = |count: u32, in_flight: u64, at: u64| {
            (0..count).for_each(|_| pace.note());
            pace.want(MonoNs(at), in_flight)
        };
        assert_eq!(run(100, 800, 2_000_000), 5);
        assert_eq!(run(100, 16, 4_000_000), 2);
        assert_eq!(run(0, 800, 4_500_000), 5);
        assert_eq!(run(1, 800, 6_000_000), 1);
        assert_eq!(run(1_000_000, 800, 8_000_000), 32);
    }
}
