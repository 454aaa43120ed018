//! Gives way to others in the middle of a sample.
//!
//! A sample takes most of a millisecond, and the kernel lets whoever runs use up its slice of some milliseconds. A server that
//! gets a request meanwhile on that CPU has to wait, which is one request in a hundred: enough to double its p99. So the sampler
//! offers the CPU to others after every few files. That takes a fraction of a microsecond if nobody wants it. Where all CPUs are
//! busy it may take milliseconds, and a sample is to be of one instant: then it is not offered again until the next sample.

use crate::clock;
use std::cell::Cell;
use sysdyno_record::units::MonoNs;

/// From one offer to the next, at least. Unit: nanoseconds.
const OFFER_INTERVAL_NS: u64 = 50_000;

/// A sample in which others have had the CPU for so long makes no more offers. Unit: nanoseconds.
const MAX_AWAY_NS: u64 = 1_000_000;

thread_local! {
    /// Those of the sample that this thread takes; `None`: it takes none.
    static OFFERS: Cell<Option<Offers>> = const { Cell::new(None) };
}

/// The offers of one sample.
#[derive(Clone, Copy, Debug)]
struct Offers {
    last: MonoNs,
    away_ns: u64,
}

impl Offers {
    fn is_due(self, now: MonoNs) -> bool {
        self.away_ns < MAX_AWAY_NS && now.since(self.last) >= OFFER_INTERVAL_NS
    }

    fn after(self, offered: MonoNs, back: MonoNs) -> Offers {
        Offers { last: back, away_ns: self.away_ns + back.since(offered) }
    }
}

/// Takes a sample in this thread, which gives way meanwhile.
pub(crate) fn within<T>(sample: impl FnOnce() -> T) -> T {
    OFFERS.set(Some(Offers { last: clock::monotonic(), away_ns: 0 }));
    let taken = sample();
    OFFERS.set(None);
    taken
}

/// Lets others run who wait for this CPU, if this thread takes a sample and has not just done so.
pub(crate) fn give_way() {
    let Some(offers) = OFFERS.get() else { return };
    let now = clock::monotonic();
    if offers.is_due(now) {
        rustix::thread::sched_yield();
        OFFERS.set(Some(offers.after(now, clock::monotonic())));
    }
}

/// For how long others were let run in this sample so far. Unit: nanoseconds.
pub(crate) fn away_ns() -> u64 {
    OFFERS.get().map_or(0, |offers| offers.away_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_are_apart_and_end_when_others_took_long() {
        let at = |us: u64| MonoNs(1_000_000_000 + us * 1000);
        let begin = Offers { last: at(0), away_ns: 0 };
        assert!(!begin.is_due(at(49)) && begin.is_due(at(50)));
        let once = begin.after(at(60), at(660));
        assert!(!once.is_due(at(700)) && once.is_due(at(710)), "counted from when it is back");
        let twice = once.after(at(710), at(1_110));
        assert_eq!(twice.away_ns, 1_000_000);
        assert!(!twice.is_due(at(1_000_000)));
    }

    #[test]
    fn who_takes_no_sample_does_not_give_way() {
        give_way();
        assert_eq!(away_ns(), 0);
        within(|| {
            while away_ns() == 0 {
                give_way();
            }
        });
        assert_eq!(away_ns(), 0);
    }
}
