//! Decides how many connections the BPF program watches: all of them, until there are more messages than necessary.
//!
//! Watching a message costs some hundred nanoseconds, more than a server of 100,000 requests per second can spare, and a
//! few thousand messages per second tell as much as all of them. Connections take turns, so that it is not always the same
//! few. A turn is much longer than a request, because a request cut off by the end of a turn has no response there.

use super::party::ConnectionEnd;
use super::program::{Sums, Words};
use sysdyno_record::units::MonoNs;

/// Messages that are watched, at least, before some are left out. Unit: messages per second.
const ENOUGH_PER_SECOND: f64 = 4_000.0;

/// One of so many connections is watched, at most.
const MAX_SHARE: u32 = 256;

/// A turn, compared with the time of a request, at least.
const TURN_PER_REQUEST: f64 = 64.0;

/// The kernel's tick, if it has 250 in a second; others have 100 to 1,000. Unit: nanoseconds.
const JIFFY_NS: f64 = 4e6;

/// The shortest turn, as a power of two. Unit: jiffies.
const MIN_TURN_SHIFT: u32 = 2;

/// The longest turn, as a power of two. Unit: jiffies.
const MAX_TURN_SHIFT: u32 = 20;

/// Which connections are watched now, and what that was decided by.
#[derive(Debug)]
pub(super) struct WatchedShare {
    /// One of so many is watched: a power of two.
    share: u32,
    turn_shift: u32,
    generation: u32,
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
        WatchedShare { share: 1, turn_shift: MIN_TURN_SHIFT, generation: 0, seen: None }
    }
}

impl WatchedShare {
    /// What the program is to be told, if that has changed.
    pub(super) fn after(&mut self, now: MonoNs, totals: Totals) -> Option<Words> {
        let (before, old) = self.seen.replace((now, totals))?;
        let since_s = now.0.saturating_sub(before.0) as f64 / 1e9;
        let messages = totals.messages.saturating_sub(old.messages) as f64;
        let wanted = share_for(messages / since_s);
        // Each change forgets the requests that are open: rates that go up and down by a little do not make one.
        if wanted <= self.share && wanted > self.share / 4 {
            return None;
        }
        let requests = totals.requests.saturating_sub(old.requests).max(1) as f64;
        let request_ns = totals.requests_ns.saturating_sub(old.requests_ns) as f64 / requests;
        self.share = wanted;
        self.turn_shift = turn_shift_for(request_ns);
        self.generation = self.generation.wrapping_add(GENERATION);
        Some([self.share - 1, self.turn_shift, self.generation])
    }
}

/// From one generation to the next: far from what turns reach by counting.
const GENERATION: u32 = 0x0100_0001;

fn share_for(messages_per_second: f64) -> u32 {
    let mut share = 1;
    while share < MAX_SHARE && messages_per_second > ENOUGH_PER_SECOND * f64::from(share) {
        share *= 2;
    }
    share
}

fn turn_shift_for(request_ns: f64) -> u32 {
    let jiffies = request_ns * TURN_PER_REQUEST / JIFFY_NS;
    let is_enough = |shift: &u32| f64::from(1u32 << shift) >= jiffies;
    (MIN_TURN_SHIFT..MAX_TURN_SHIFT).find(is_enough).unwrap_or(MAX_TURN_SHIFT)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many requests in one more second, each of them 200 µs long, at both ends.
    fn add(totals: &mut Totals, requests: u64) {
        let sums = [requests, requests, 0, requests * 50_000, requests * 150_000, 0, 0];
        totals.add(ConnectionEnd::Server, &sums);
        totals.add(ConnectionEnd::Client, &sums);
    }

    #[test]
    fn connections_are_left_out_at_high_rates_and_watched_again_at_low_ones() {
        let mut sampling = WatchedShare::default();
        let mut totals = Totals::default();
        let mut now = 0;
        let mut next = |requests| {
            now += 1_000_000_000;
            add(&mut totals, requests);
            sampling.after(MonoNs(now), totals)
        };
        assert_eq!(next(0), None, "nothing to compare with");
        assert_eq!(next(1_000), None, "4,000 messages are watched");
        assert_eq!(next(100_000), Some([127, MIN_TURN_SHIFT, GENERATION]));
        assert_eq!(next(60_000), None, "half of it is left as it is");
        assert_eq!(next(2_000), Some([1, MIN_TURN_SHIFT, GENERATION * 2]));
        assert_eq!(next(0), None);
        assert_eq!(next(10_000_000), Some([255, MIN_TURN_SHIFT, GENERATION * 3]));
        assert_eq!(next(10), Some([0, MIN_TURN_SHIFT, GENERATION * 4]));
    }

    #[test]
    fn a_turn_is_much_longer_than_a_request() {
        assert_eq!(turn_shift_for(0.0), 2);
        assert_eq!(turn_shift_for(250e3), 2, "16 ms");
        assert_eq!(turn_shift_for(1e9), 14, "65 s");
        assert_eq!(turn_shift_for(1e15), 20);
    }
}
