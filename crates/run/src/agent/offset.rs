//! Estimates the offset of another host's clock from exchanges of questions and answers.
//!
//! An answer carries the other clock's time, read at some instant between sending the question and receiving the answer.
//! If both directions took equally long, that instant is the middle of the two; in any case it lies within half a round
//! trip of the middle. So the exchange with the shortest round trip bounds the offset best (RFC 5905, section 8).

use sysdyno_record::remote::ClockOffset;
use sysdyno_record::units::MonoNs;

/// Exchanges of one measurement of a clock.
pub const CLOCK_EXCHANGES: usize = 32;

/// Where round trips are long, so many have to do.
const FEW_EXCHANGES: usize = 3;

/// After so long a measurement has enough with these. Unit: nanoseconds.
const EXCHANGES_NS: u64 = 2_000_000_000;

/// Whether a measurement has enough with so many exchanges, which took so long.
pub(super) fn is_enough(exchanges_count: usize, spent_ns: u64) -> bool {
    exchanges_count >= CLOCK_EXCHANGES || exchanges_count >= FEW_EXCHANGES && spent_ns > EXCHANGES_NS
}

/// One question and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockExchange {
    /// When the question was sent, on the clock of this host.
    pub sent: MonoNs,
    /// What the other clock showed.
    pub there: MonoNs,
    /// When the answer arrived, on the clock of this host.
    pub arrived: MonoNs,
}

/// The offset that these exchanges support; `None`: there are none.
pub fn clock_offset(exchanges: &[ClockExchange]) -> Option<ClockOffset> {
    let round_trip_ns = |exchange: &ClockExchange| exchange.arrived.since(exchange.sent);
    let best = exchanges.iter().min_by_key(|exchange| round_trip_ns(exchange))?;
    let trip_ns = round_trip_ns(best);
    let middle = i128::from(best.sent.0) + i128::from(trip_ns / 2);
    let offset = middle - i128::from(best.there.0);
    Some(ClockOffset {
        offset_ns: offset.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64,
        // Halves are rounded up, so that the bound holds.
        uncertainty_ns: trip_ns.div_ceil(2),
        round_trip_ns: trip_ns,
        exchanges_count: u32::try_from(exchanges.len()).unwrap_or(u32::MAX),
        is_same_clock: false,
    })
}

/// An instant of the other clock on that of this host.
pub(super) fn moved(there: MonoNs, offset_ns: i64) -> MonoNs {
    MonoNs(there.0.saturating_add_signed(offset_ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An exchange with a clock that is `ahead_ns` ahead, with these times for the two ways.
    fn exchange(at: u64, ahead_ns: i64, [out, back]: [u64; 2]) -> ClockExchange {
        let there = MonoNs((at + out).saturating_add_signed(ahead_ns));
        ClockExchange { sent: MonoNs(at), there, arrived: MonoNs(at + out + back) }
    }

    #[test]
    fn the_true_offset_lies_within_the_uncertainty_however_uneven_the_ways() {
        for ahead_ns in [-5_000_000_000_i64, -1, 0, 7, 3_600_000_000_000] {
            for ways in [[0, 0], [100, 100], [1, 0], [250_000, 10], [3, 999_999]] {
                let at = 10_000_000_000;
                let slow = exchange(at, ahead_ns, [5_000_000, 80_000_000]);
                let found = clock_offset(&[slow, exchange(at * 2, ahead_ns, ways), slow]).expect("is known");
                let error = (found.offset_ns + ahead_ns).unsigned_abs();
                assert!(error <= found.uncertainty_ns, "{ahead_ns} {ways:?}: {found:?}");
                assert_eq!((found.round_trip_ns, found.exchanges_count), (ways[0] + ways[1], 3));
            }
        }
    }

    #[test]
    fn few_exchanges_do_where_round_trips_are_long() {
        let measured = |trip_ns: u64| (1..).find(|count| is_enough(*count, *count as u64 * trip_ns));
        assert_eq!(measured(1_000_000), Some(CLOCK_EXCHANGES));
        assert_eq!(measured(200_000_000), Some(11));
        assert_eq!(measured(3_000_000_000), Some(FEW_EXCHANGES));
    }

    #[test]
    fn instants_are_moved_and_never_wrap() {
        assert_eq!(moved(MonoNs(1000), -400), MonoNs(600));
        assert_eq!(moved(MonoNs(10), -400), MonoNs(0));
        assert_eq!(moved(MonoNs(u64::MAX), i64::MAX), MonoNs(u64::MAX));
        assert_eq!(clock_offset(&[]), None);
    }
}
