//! A bounded, evenly thinned sample of the gaps between arrivals, for the check of the arrival process.
//!
//! Arrivals closer together than the timer can resolve are noticed in bunches, whatever their process. So a gap spans as
//! many arrivals as take [`TIMER_ERRORS_MIN`] times the timer's error on average; for a Poisson process such gaps are
//! gamma distributed, and lateness does not show in them. Each gap begins where another one ended or is left out as a
//! whole, so every gap kept is a true gap. Phases of different rates have separate samples.

use sysdyno_record::load::GapSample;
use sysdyno_record::units::MonoNs;

/// Gaps that a trial keeps at most, over all threads and phases.
pub(super) const MAX_GAPS_COUNT: usize = 1000;

/// Mean length of a gap, at least, in errors of the timer (99th percentile).
const TIMER_ERRORS_MIN: f64 = 20.0;

/// The samples of one thread: of each phase every `stride`-th gap, the stride doubling whenever the sample is full.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    timer_error_ns: u64,
    samples: Vec<Sample>,
    last: Option<MonoNs>,
}

#[derive(Debug)]
struct Sample {
    phase: u32,
    arrivals: u32,
    /// Arrivals since the gap began.
    pending: u32,
    values_ns: Vec<u64>,
    stride: u64,
    seen: u64,
}

impl Gaps {
    /// Samples for a timer with this error.
    pub(super) fn new(timer_error_ns: u64) -> Gaps {
        Gaps { timer_error_ns, ..Gaps::default() }
    }

    /// Takes note of an arrival of a phase; `rate_hz` is this thread's share of its rate.
    #[inline]
    pub(super) fn note(&mut self, phase: u32, at: MonoNs, rate_hz: impl FnOnce() -> f64) {
        match self.samples.last_mut() {
            Some(sample) if sample.phase == phase => sample.note(&mut self.last, at),
            // The gap across a change of rate belongs to neither.
            _ => self.begin(phase, rate_hz(), at),
        }
    }

    fn begin(&mut self, phase: u32, rate_hz: f64, at: MonoNs) {
        let least_ns = TIMER_ERRORS_MIN * self.timer_error_ns as f64;
        self.samples.push(Sample {
            phase,
            arrivals: (least_ns * rate_hz / 1e9).ceil().clamp(1.0, 1e6) as u32,
            pending: 0,
            values_ns: Vec::with_capacity(2 * MAX_GAPS_COUNT),
            stride: 1,
            seen: 0,
        });
        self.last = Some(at);
    }

    /// The samples, thinned to `limit` gaps in all.
    pub(super) fn into_samples(self, limit: usize) -> Vec<GapSample> {
        let limit = (limit / self.samples.len().max(1)).max(1);
        let thinned = self.samples.into_iter().map(|sample| {
            let stride = sample.values_ns.len().div_ceil(limit).max(1);
            GapSample {
                phase_index: sample.phase,
                arrivals_count: sample.arrivals,
                gaps_ns: sample.values_ns.into_iter().step_by(stride).collect(),
            }
        });
        thinned.collect()
    }
}

impl Sample {
    #[inline]
    fn note(&mut self, last: &mut Option<MonoNs>, at: MonoNs) {
        self.pending += 1;
        if self.pending < self.arrivals {
            return;
        }
        self.pending = 0;
        let begin = last.replace(at).unwrap_or(at);
        self.seen += 1;
        if self.seen.is_multiple_of(self.stride) {
            self.keep(at.since(begin));
        }
    }

    fn keep(&mut self, gap_ns: u64) {
        if self.values_ns.len() == 2 * MAX_GAPS_COUNT {
            let mut index = 0;
            self.values_ns.retain(|_| {
                index += 1;
                index % 2 == 0
            });
            self.stride *= 2;
        }
        self.values_ns.push(gap_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_bounded_and_spread_over_all_gaps() {
        let mut gaps = Gaps::new(0);
        (0..=100_000u64).for_each(|n| gaps.note(0, MonoNs(n * n), || 1000.0));
        let samples = gaps.into_samples(MAX_GAPS_COUNT);
        let [GapSample { arrivals_count: 1, gaps_ns, .. }] = samples.as_slice() else {
            panic!("{samples:?}")
        };
        assert!((500..=MAX_GAPS_COUNT).contains(&gaps_ns.len()), "{}", gaps_ns.len());
        assert!(gaps_ns[0] < 20_000 && *gaps_ns.last().expect("not empty") > 180_000);
        assert!(gaps_ns.iter().all(|gap_ns| gap_ns % 2 == 1), "each is the gap between two neighbours");
    }

    #[test]
    fn phases_have_samples_of_their_own_without_the_gap_between_them() {
        let mut gaps = Gaps::new(0);
        (0..10).for_each(|n| gaps.note(1, MonoNs(n * 10), || 1000.0));
        (0..10).for_each(|n| gaps.note(2, MonoNs(5_000 + n * 20), || 1000.0));
        let samples = gaps.into_samples(MAX_GAPS_COUNT);
        let of = |phase_index: u32, gap_ns: u64| GapSample {
            phase_index,
            arrivals_count: 1,
            gaps_ns: vec![gap_ns; 9],
        };
        assert_eq!(samples, [of(1, 10), of(2, 20)]);
    }

    #[test]
    fn gaps_are_long_against_the_timers_error() {
        // 50,000 a second are 20 µs apart; 20 errors of 30 µs are 30 of these.
        let mut gaps = Gaps::new(30_000);
        (0..301u64).for_each(|n| gaps.note(0, MonoNs(n * 20_000), || 50_000.0));
        let samples = gaps.into_samples(MAX_GAPS_COUNT);
        assert_eq!(samples, [GapSample { phase_index: 0, arrivals_count: 30, gaps_ns: vec![600_000; 10] }]);
    }
}
