//! How many responses a thread waits for before it wakes up.
//!
//! Waking up costs more than handling a response, on a virtual machine several times as much. If responses come fast
//! enough, a thread therefore lets a few gather: as many as come in [`GATHER_NS`], and never more than an eighth of those
//! awaited, so that a closed loop keeps its connections busy. If they come more slowly, the thread wakes up for each.
//! Latencies are not affected, since the kernel stamps each response on arrival; without these stamps, responses are not
//! gathered. In a closed loop, gathering acts as a think time of some microseconds; if the server stalls just then, it
//! adds [`crate::transport::TICK`] at most.
//!
//! Responses that come while the thread is busy wait anyway; only its sleep adds think time. So these bounds apply to the
//! responses that come while it sleeps: for a closed loop's thread that is busy for a share ρ of the time, 1 ÷ (1 − ρ)
//! times as many gather, and [`MAX_STRETCH`] times at most.
//!
//! Responses on one connection that are read together share one stamp, that of the last. There the thread waits for the
//! time in which that many come, and a response time can grow by that time: by 3% at most, since that is how long one in
//! 32 of the responses takes to come (Little's law). This is done only in closed loops, where a response time says how
//! many requests there are at a time rather than how quick the server is.

use crate::carrier::News;
use crate::transport::{Completion, Gather};
use std::time::Duration;
use sysdyno_record::units::MonoNs;

/// How long responses gather at the rate at which they come. Unit: nanoseconds.
const GATHER_NS: u64 = 100_000;

/// How many times as much a busy thread may let gather.
const MAX_STRETCH: f64 = 2.0;

/// Responses that may gather, at most.
const MAX_COUNT: u64 = 32;

/// One in so many of the requests in flight may gather.
const SHARE: u64 = 8;

/// The same where the time of a response is that of the last one that it was read with.
const SHARED_SHARE: u64 = 32;

/// Over how long the rate is taken. Unit: nanoseconds.
const SPAN_NS: u64 = 1_000_000;

/// The rate of responses of one thread, for deciding how long to wait.
#[derive(Debug, Default)]
pub(super) struct GatherPace {
    since: MonoNs,
    count: u64,
    /// Responses that come in the time of gathering.
    expected: u64,
    /// CPU time of the thread at `since`. Unit: nanoseconds.
    cpu_ns: u64,
    /// How many times as long everything takes as the thread sleeps; below 1 before it is known.
    stretch: f64,
}

/// What a wait is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Awaited {
    pub in_flight: u64,
    /// Whether several of them are on the same connection.
    pub is_shared: bool,
    pub is_open: bool,
}

impl GatherPace {
    /// Something is new.
    #[inline]
    pub(super) fn note(&mut self, news: &News) {
        let is_response = matches!(news, News::Transport(Completion::Received(_)) | News::Responded(..));
        self.count += u64::from(is_response);
    }

    /// What to wait for at `now`; `cpu_ns` is called now and then for the thread's CPU time.
    #[inline]
    pub(super) fn want(&mut self, now: MonoNs, awaited: Awaited, cpu_ns: impl FnOnce() -> u64) -> Gather {
        let span_ns = now.since(self.since);
        if span_ns >= SPAN_NS {
            self.expected = self.count * GATHER_NS / span_ns;
            (self.since, self.count) = (now, 0);
            if !awaited.is_open {
                self.note_busy(span_ns, cpu_ns());
            }
        }
        if awaited.is_shared {
            let count = self.expected.min(awaited.in_flight / SHARED_SHARE).clamp(1, MAX_COUNT);
            return match count {
                1 => Gather::NOTHING,
                _ => Gather::Span(Duration::from_nanos(GATHER_NS * count / self.expected)),
            };
        }
        let few = self.expected.min(awaited.in_flight / SHARE);
        Gather::Count(((few as f64 * self.stretch.max(1.0)) as u64).clamp(1, MAX_COUNT) as u32)
    }

    fn note_busy(&mut self, span_ns: u64, cpu_ns: u64) {
        let busy_ratio = cpu_ns.saturating_sub(self.cpu_ns) as f64 / span_ns as f64;
        self.cpu_ns = cpu_ns;
        self.stretch = (1.0 / (1.0 - busy_ratio.min(1.0))).min(MAX_STRETCH);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Awaited = Awaited { in_flight: 0, is_shared: false, is_open: false };

    /// The pace of a thread to which so many responses came in 2 ms, of which it was busy for a part.
    fn pace(count: u64, busy_ratio: f64) -> GatherPace {
        let mut pace = GatherPace::default();
        (0..count).for_each(|_| pace.note(&Completion::Received(1).into()));
        pace.note(&Completion::Sent.into());
        pace.want(MonoNs(2_000_000), ONE, || (2_000_000.0 * busy_ratio) as u64);
        pace
    }

    fn want(count: u64, busy_ratio: f64, awaited: Awaited) -> Gather {
        pace(count, busy_ratio).want(MonoNs(2_500_000), awaited, || unreachable!("too soon"))
    }

    #[test]
    fn it_waits_for_what_comes_in_time_and_for_one_if_nothing_does() {
        let want = |count, in_flight| want(count, 0.0, Awaited { in_flight, ..ONE });
        assert_eq!(want(100, 800), Gather::Count(5));
        assert_eq!(want(100, 16), Gather::Count(2));
        assert_eq!(want(1, 800), Gather::Count(1));
        assert_eq!(want(1_000_000, 800), Gather::Count(32));
    }

    #[test]
    fn what_comes_while_a_thread_is_busy_is_not_counted_as_gathered() {
        let want = |busy_ratio| want(200, busy_ratio, Awaited { in_flight: 64, ..ONE });
        assert_eq!(want(0.0), Gather::Count(8));
        assert_eq!(want(0.25), Gather::Count(10));
        assert_eq!(want(0.5), Gather::Count(16));
        assert_eq!(want(1.0), Gather::Count(16));
        let open = Awaited { in_flight: 64, is_open: true, ..ONE };
        let mut pace = GatherPace::default();
        (0..200).for_each(|_| pace.note(&Completion::Received(1).into()));
        assert_eq!(pace.want(MonoNs(2_000_000), open, || unreachable!("of no use")), Gather::Count(8));
    }

    #[test]
    fn of_connections_that_are_shared_it_waits_for_the_time_in_which_as_many_come() {
        let want = |count, in_flight| want(count, 0.9, Awaited { in_flight, is_shared: true, ..ONE });
        let span = |micros| Gather::Span(Duration::from_micros(micros));
        assert_eq!(want(100, 800), span(100));
        assert_eq!(want(200, 128), span(40));
        assert_eq!(want(200, 63), Gather::NOTHING);
        assert_eq!(want(39, 800), Gather::NOTHING);
    }
}
