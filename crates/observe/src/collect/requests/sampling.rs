//! Decides when the BPF program is attached and how many connections it watches: always and all, until there are more messages
//! than necessary.
//!
//! Watching a message costs some hundred nanoseconds, and a call that only finds that it is not to be watched half of that:
//! more than a server of 100,000 requests per second can spare. A few thousand messages per second tell as much as all of
//! them. So connections take turns, and at high rates the program is also attached for one eighth of the time only:
//!
//! ```text
//!   attached ■■□□□□□□□□□□□□□□■■□□□□□□□□□□□□□□■■…      of the connections, one in `share`
//! ```
//! A turn, and a time for which it is attached, is much longer than a request, because a request cut off by its end has no
//! response there. If requests take too long for that, it stays attached.

use super::party::ConnectionEnd;
use super::program::{Sums, Words};
use sysdyno_record::units::MonoNs;

/// Messages that are watched, at least, before some are left out. Unit: messages per second.
const ENOUGH_PER_SECOND: f64 = 2_500.0;

/// One of so many messages is watched, at most.
const MAX_PART: u32 = 256;

/// A turn, compared with the time of a request, at least.
const TURN_PER_REQUEST: f64 = 64.0;

/// The kernel's tick, if it has 250 in a second; others have 100 to 1,000. Unit: nanoseconds.
const JIFFY_NS: f64 = 4e6;

/// The shortest turn, as a power of two: about a second, so that a request that stalls ends in it as well. Unit: jiffies.
const MIN_TURN_SHIFT: u32 = 8;

/// The longest turn, as a power of two. Unit: jiffies.
const MAX_TURN_SHIFT: u32 = 20;

/// The sums are read so often while the program stays attached. Unit: nanoseconds.
const READING_NS: u64 = 500_000_000;

/// For so long it is attached where it does not stay. A few milliseconds less than the time of ten samples per second, which
/// are not always late by the same. Unit: nanoseconds.
const ATTACHED_NS: u64 = 90_000_000;

/// One of so many such times, where it does not stay attached.
const ATTACHED_PART: u32 = 8;

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchDue {
    Nothing,
    /// The program is to be told this, and attached.
    Attaching(Words),
    /// The sums are to be read.
    Reading,
}

/// What follows from sums that were read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SumsRead {
    /// What they have grown by stands for so many times as much.
    pub(super) times: f64,
    pub(super) then: Then,
}

/// What is to be done after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    Nothing,
    /// The program is to be told this.
    Telling(Words),
    /// The program is to be detached.
    Detaching,
}

/// When the program is attached, which connections it watches, and what that was decided by.
#[derive(Debug)]
pub(super) struct WatchedShare {
    /// Of the connections, one of so many is watched: a power of two.
    share: u32,
    /// Of the time, one part of so many is watched.
    of_time: u32,
    turn_shift: u32,
    generation: u32,
    /// Since when it has been attached, or since the last reading if that is later; `None`: it is not attached.
    watched_since: Option<MonoNs>,
    /// When something is due.
    next: MonoNs,
    /// When the sums were read last, and what they were.
    seen: Option<(MonoNs, Totals)>,
}

/// Totals over all tiers so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    messages: u64,
    requests: u64,
    requests_ns: u64,
}

impl Totals {
    /// Adds the sums of one end of connections.
    pub(super) fn add(&mut self, end: ConnectionEnd, sums: &Sums) {
        let [begun, answered, _, wait_ns, inside_ns, ..] = sums;
        self.messages += begun + answered;
        if end == ConnectionEnd::Server {
            self.requests += begun;
            self.requests_ns += wait_ns + inside_ns;
        }
    }
}

impl Default for WatchedShare {
    fn default() -> WatchedShare {
        WatchedShare {
            share: 1,
            of_time: 1,
            turn_shift: MIN_TURN_SHIFT,
            generation: 0,
            watched_since: None,
            next: MonoNs(0),
            seen: None,
        }
    }
}

impl WatchedShare {
    /// What is due now, which is then done.
    pub(super) fn due(&mut self, now: MonoNs) -> WatchDue {
        if now < self.next {
            return WatchDue::Nothing;
        }
        if self.watched_since.is_some() {
            return WatchDue::Reading;
        }
        self.watched_since = Some(now);
        self.next = MonoNs(now.0 + if self.of_time == 1 { READING_NS } else { ATTACHED_NS });
        WatchDue::Attaching(self.words())
    }

    /// Takes note of what was read.
    pub(super) fn read(&mut self, now: MonoNs, totals: Totals) -> SumsRead {
        let since = self.watched_since.unwrap_or(now);
        let (before, old) = self.seen.replace((now, totals)).unwrap_or((since, Totals::default()));
        let [watched_ns, all_ns] = [since, before].map(|from| now.0.saturating_sub(from.0).max(1));
        let messages = totals.messages.saturating_sub(old.messages) as f64 * 1e9 / watched_ns as f64;
        let requests = totals.requests.saturating_sub(old.requests).max(1) as f64;
        let request_ns = totals.requests_ns.saturating_sub(old.requests_ns) as f64 / requests;
        let is_same = !self.set_part(part_for(messages), request_ns);
        let then = if self.of_time > 1 {
            self.watched_since = None;
            self.next = MonoNs(now.0 + ATTACHED_NS * u64::from(self.of_time - 1));
            Then::Detaching
        } else {
            self.watched_since = Some(now);
            self.next = MonoNs(now.0 + READING_NS);
            if is_same { Then::Nothing } else { Then::Telling(self.words()) }
        };
        SumsRead { times: all_ns as f64 / watched_ns as f64, then }
    }

    /// Decides of which part of the messages to take note; returns whether that has changed.
    fn set_part(&mut self, wanted: u32, request_ns: f64) -> bool {
        let now = self.share * self.of_time;
        // Each change forgets the requests that are open: rates that go up and down by a little do not make one.
        let part = if wanted <= now && wanted > now / 4 { now } else { wanted };
        let is_short = request_ns * TURN_PER_REQUEST <= ATTACHED_NS as f64;
        let of_time = if is_short && part >= ATTACHED_PART { ATTACHED_PART } else { 1 };
        let is_new = (part / of_time, of_time) != (self.share, self.of_time);
        if is_new {
            (self.share, self.of_time) = (part / of_time, of_time);
            self.turn_shift = turn_shift_for(request_ns);
        }
        is_new
    }

    fn words(&mut self) -> Words {
        self.generation = self.generation.wrapping_add(GENERATION);
        [self.share - 1, self.turn_shift, self.generation]
    }
}

/// From one generation to the next: far from what turns reach by counting.
const GENERATION: u32 = 0x0100_0001;

fn part_for(messages_per_second: f64) -> u32 {
    let mut part = 1;
    while part < MAX_PART && messages_per_second > ENOUGH_PER_SECOND * f64::from(part) {
        part *= 2;
    }
    part
}

fn turn_shift_for(request_ns: f64) -> u32 {
    let jiffies = request_ns * TURN_PER_REQUEST / JIFFY_NS;
    let is_enough = |shift: &u32| f64::from(1u32 << shift) >= jiffies;
    (MIN_TURN_SHIFT..MAX_TURN_SHIFT).find(is_enough).unwrap_or(MAX_TURN_SHIFT)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Time, and the sums of a program that sees all.
    #[derive(Default)]
    struct Kernel {
        sampling: WatchedShare,
        totals: Totals,
        now: MonoNs,
    }

    impl Kernel {
        /// Lets some time pass, with so many requests per second of such a time, until the sums are read.
        fn read_at(&mut self, requests_hz: u64, request_ns: u64) -> SumsRead {
            loop {
                match self.sampling.due(self.now) {
                    WatchDue::Reading => return self.sampling.read(self.now, self.totals),
                    WatchDue::Nothing | WatchDue::Attaching(_) => self.pass(requests_hz, request_ns),
                }
            }
        }

        fn pass(&mut self, requests_hz: u64, request_ns: u64) {
            self.now.0 += 100 * MS;
            if self.sampling.watched_since.is_some() {
                let requests = requests_hz / 10;
                let sums = [requests, requests, 0, 0, requests * request_ns, 0, 0, 0];
                self.totals.add(ConnectionEnd::Server, &sums);
            }
        }
    }

    #[test]
    fn at_low_rates_all_messages_are_watched_all_the_time() {
        let mut kernel = Kernel::default();
        assert_eq!(kernel.sampling.due(kernel.now), WatchDue::Attaching([0, MIN_TURN_SHIFT, GENERATION]));
        for _ in 0..3 {
            assert_eq!(kernel.read_at(1_000, MS / 4), SumsRead { times: 1.0, then: Then::Nothing });
        }
        assert_eq!(kernel.now.0, 1_500 * MS);
    }

    #[test]
    fn connections_are_left_out_at_high_rates_and_watched_again_at_low_ones() {
        let mut kernel = Kernel::default();
        let mut next = |requests_hz| kernel.read_at(requests_hz, MS / 2).then;
        assert_eq!(next(1_000), Then::Nothing, "2,000 messages");
        assert!(matches!(next(5_000), Then::Telling([3, ..])), "10,000");
        assert_eq!(next(3_000), Then::Nothing, "little less is left as it is");
        assert!(matches!(next(1_000), Then::Telling([0, ..])));
    }

    #[test]
    fn at_very_high_rates_it_is_attached_for_an_eighth_of_the_time() {
        let mut kernel = Kernel::default();
        assert_eq!(kernel.read_at(100_000, MS / 4), SumsRead { times: 1.0, then: Then::Detaching });
        let read = kernel.read_at(100_000, MS / 4);
        assert_eq!(read.then, Then::Detaching);
        assert!((read.times - 8.0).abs() < 1e-9, "{read:?}");
        let begin = kernel.now;
        assert_eq!(kernel.read_at(100_000, MS / 4), read);
        assert_eq!(kernel.now.0 - begin.0, 800 * MS);
        assert_eq!((kernel.sampling.share, kernel.sampling.of_time), (16, 8), "200,000 messages");
        let then = kernel.read_at(100_000, 10 * MS).then;
        assert!(
            matches!(then, Then::Telling([127, shift, _]) if shift > 6),
            "requests are too long for that: {then:?}"
        );
        assert!(matches!(kernel.read_at(10, MS).then, Then::Telling([0, ..])));
    }

    #[test]
    fn a_turn_is_much_longer_than_a_request() {
        assert_eq!(turn_shift_for(0.0), 8);
        assert_eq!(turn_shift_for(10e6), 8, "1 s");
        assert_eq!(turn_shift_for(1e9), 14, "65 s");
        assert_eq!(turn_shift_for(1e15), 20);
    }
}
