//! One direction of a relay: which frames are lost, which wait, and until when.
//!
//! The caller passes in the time. All frames are delayed equally, so they stay in order, and the oldest is due first. The
//! queue is bounded.

use super::Forwarded;
use crate::plan_links::Relay;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::VecDeque;
use sysdyno_record::units::MonoNs;

/// Most that waits. Unit: bytes.
const MAX_BYTES: usize = 64 << 20;

/// Most frames that wait.
const MAX_FRAMES: usize = 1 << 18;

/// One way.
pub(super) struct RelayWay {
    delay_ns: u64,
    /// A number below this, of 2^64, means that a frame is lost.
    lost_below: u128,
    random: Xoshiro256PlusPlus,
    waiting: VecDeque<(MonoNs, Box<[u8]>)>,
    waiting_bytes: usize,
    pub(super) counts: Forwarded,
}

impl RelayWay {
    /// A way with nothing on it. Both ways of a relay lose other frames.
    pub(super) fn new(relay: &Relay, side: u64) -> RelayWay {
        RelayWay {
            delay_ns: relay.delay_ns.0,
            lost_below: (u128::from(relay.loss_ppm) << 64) / 1_000_000,
            random: Xoshiro256PlusPlus::seed_from_u64(relay.seed.wrapping_mul(2).wrapping_add(side)),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            counts: Forwarded::default(),
        }
    }

    /// Takes a frame that has come now.
    pub(super) fn take(&mut self, frame: &[u8], now: MonoNs) {
        if u128::from(self.random.next_u64()) < self.lost_below {
            self.counts.lost_count += 1;
        } else if self.waiting_bytes + frame.len() > MAX_BYTES || self.waiting.len() >= MAX_FRAMES {
            self.counts.overflowed_count += 1;
        } else {
            self.waiting_bytes += frame.len();
            self.waiting.push_back((MonoNs(now.0 + self.delay_ns), frame.into()));
        }
    }

    /// When the next frame may go on; `None`: none waits.
    pub(super) fn next_due(&self) -> Option<MonoNs> {
        self.waiting.front().map(|(due, _)| *due)
    }

    /// The next frame that may go on by now.
    pub(super) fn due(&mut self, now: MonoNs) -> Option<Box<[u8]>> {
        let (_, frame) = self.waiting.pop_front_if(|(due, _)| *due <= now)?;
        self.waiting_bytes -= frame.len();
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::units::SpanNs;

    fn way(delay_ns: u64, loss_ppm: u32, seed: u64) -> RelayWay {
        RelayWay::new(&Relay { delay_ns: SpanNs(delay_ns), loss_ppm, seed }, 0)
    }

    #[test]
    fn a_frame_is_held_for_the_delay_and_not_a_nanosecond_less() {
        let mut way = way(1000, 0, 1);
        assert_eq!(way.next_due(), None);
        way.take(b"a", MonoNs(5));
        way.take(b"b", MonoNs(7));
        assert_eq!(way.next_due(), Some(MonoNs(1005)));
        assert_eq!(way.due(MonoNs(1004)), None);
        assert_eq!(way.due(MonoNs(1005)).as_deref(), Some(&b"a"[..]));
        assert_eq!(way.due(MonoNs(1006)), None);
        assert_eq!(way.due(MonoNs(9999)).as_deref(), Some(&b"b"[..]));
        assert_eq!(way.waiting_bytes, 0);
    }

    #[test]
    fn as_many_are_lost_as_were_asked_for_and_the_same_ones_for_a_seed() {
        let lost = |seed| {
            let mut way = way(0, 100_000, seed);
            let is_lost = |way: &mut RelayWay| {
                way.take(b"x", MonoNs(0));
                way.due(MonoNs(0)).is_none()
            };
            let which: Vec<bool> = (0..100_000).map(|_| is_lost(&mut way)).collect();
            assert_eq!(way.counts.lost_count, which.iter().filter(|lost| **lost).count() as u64);
            which
        };
        let first = lost(7);
        assert!(first == lost(7) && first != lost(8));
        // 10% of 100,000, give or take five standard deviations of the binomial (95).
        let count = first.iter().filter(|lost| **lost).count();
        assert!((9_525..10_475).contains(&count), "{count}");
        for (loss_ppm, expected) in [(0, 0), (1_000_000, 1000)] {
            let mut way = way(0, loss_ppm, 1);
            (0..1000).for_each(|_| way.take(b"x", MonoNs(0)));
            assert_eq!(way.counts.lost_count, expected);
        }
    }

    #[test]
    fn what_waits_is_bounded_and_what_finds_no_room_is_counted() {
        let mut way = way(1000, 0, 1);
        let frame = vec![0; MAX_BYTES / 4];
        (0..6).for_each(|_| way.take(&frame, MonoNs(0)));
        assert_eq!((way.waiting.len(), way.counts.overflowed_count), (4, 2));
        assert!(way.due(MonoNs(1000)).is_some());
        way.take(&frame, MonoNs(1000));
        assert_eq!((way.waiting.len(), way.counts.overflowed_count), (4, 2));
    }
}
