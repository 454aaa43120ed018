//! How many responses a thread waits for before it wakes up.
//!
//! Waking up costs more than handling a response does, on a virtual machine several times as much. Where responses come
//! fast enough, a thread therefore lets a few gather: as many as come in [`GATHER_NS`], and never more than an eighth of
//! those that are awaited, so that a closed loop keeps its connections busy. Where they come more slowly, it wakes up
//! for each. No latency knows of it, since the kernel stamps each response when it comes; so it is done only with these
//! stamps. To a closed loop it is a think time of some microseconds; a server that halts just then adds the length of
//! [`crate::io::TICK`] at most.
//!
//! Responses that share a connection have one stamp if they are read together, that of the last. There the thread waits
//! for the time in which as many come, and a response time can be longer by that time: by 3 % at most, since that is how
//! long one in 32 of the responses takes to come (Little's law). It is done in closed loops only, where a response
//! time says how many requests there are at a time rather than how quick the server is.

use crate::io::{Completion, Gather};
use std::time::Duration;
use sysdyno_record::units::MonoNs;

/// How long responses gather at the rate at which they come. Unit: nanoseconds.
const GATHER_NS: u64 = 100_000;

/// Responses that may gather, at most.
const MAX_COUNT: u64 = 32;

/// One in so many of the requests in flight may gather.
const SHARE: u64 = 8;

/// The same where the time of a response is that of the last one that it was read with.
const SHARED_SHARE: u64 = 32;

/// Over how long the rate is taken. Unit: nanoseconds.
const SPAN_NS: u64 = 1_000_000;

/// The rate of responses of one thread, as far as it matters for waiting.
#[derive(Debug, Default)]
pub(super) struct Pace {
    since: MonoNs,
    count: u64,
    /// Responses that come in the time of gathering.
    expected: u64,
}

impl Pace {
    /// Something completed.
    #[inline]
    pub(super) fn note(&mut self, completion: &Completion) {
        let is_response = matches!(completion, Completion::Received(_) | Completion::Responded(..));
        self.count += u64::from(is_response);
    }

    /// What to wait for when so many requests are in flight, some of them on the same connection (`is_shared`) or not.
    #[inline]
    pub(super) fn want(&mut self, now: MonoNs, in_flight: u64, is_shared: bool) -> Gather {
        let span_ns = now.since(self.since);
        if span_ns >= SPAN_NS {
            self.expected = self.count * GATHER_NS / span_ns;
            (self.since, self.count) = (now, 0);
        }
        let share = if is_shared { SHARED_SHARE } else { SHARE };
        let count = self.expected.min(in_flight / share).clamp(1, MAX_COUNT);
        match is_shared {
            true if count == 1 => Gather::NOTHING,
            true => Gather::Span(Duration::from_nanos(GATHER_NS * count / self.expected)),
            false => Gather::Count(count as u32),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(count: u64, after_ns: u64) -> Pace {
        let mut pace = Pace::default();
        (0..count).for_each(|_| pace.note(&Completion::Received(1)));
        pace.note(&Completion::Sent);
        pace.want(MonoNs(after_ns), 0, false);
        pace
    }

    #[test]
    fn it_waits_for_what_comes_in_time_and_for_one_if_nothing_does() {
        let want = |count, in_flight| pace(count, 2_000_000).want(MonoNs(2_500_000), in_flight, false);
        assert_eq!(want(100, 800), Gather::Count(5));
        assert_eq!(want(100, 16), Gather::Count(2));
        assert_eq!(want(1, 800), Gather::Count(1));
        assert_eq!(want(1_000_000, 800), Gather::Count(32));
    }

    #[test]
    fn of_connections_that_are_shared_it_waits_for_the_time_in_which_as_many_come() {
        let want = |count, in_flight| pace(count, 2_000_000).want(MonoNs(2_500_000), in_flight, true);
        let span = |micros| Gather::Span(Duration::from_micros(micros));
        assert_eq!(want(100, 800), span(100));
        assert_eq!(want(200, 128), span(40));
        assert_eq!(want(200, 63), Gather::NOTHING);
        assert_eq!(want(39, 800), Gather::NOTHING);
    }
}
