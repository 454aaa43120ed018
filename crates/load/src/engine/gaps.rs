//! A bounded, evenly thinned sample of the gaps between arrivals, for the check of the arrival process.

use sysdyno_record::units::MonoNs;

/// Gaps that are kept at most.
pub(super) const MAX_GAPS_COUNT: usize = 1000;

/// The sample of one thread: every `stride`-th gap, the stride doubling whenever the sample is full.
#[derive(Debug)]
pub(super) struct Gaps {
    values_ns: Vec<u64>,
    stride: u64,
    seen: u64,
    last: Option<MonoNs>,
}

impl Gaps {
    pub(super) fn new() -> Gaps {
        Gaps { values_ns: Vec::with_capacity(2 * MAX_GAPS_COUNT), stride: 1, seen: 0, last: None }
    }

    /// Takes note of an arrival.
    #[inline]
    pub(super) fn note(&mut self, at: MonoNs) {
        let Some(last) = self.last.replace(at) else { return };
        self.seen += 1;
        if self.seen.is_multiple_of(self.stride) {
            self.keep(at.since(last));
        }
    }

    /// Forgets the last arrival, so that the gap across a change of rate is not taken.
    pub(super) fn interrupt(&mut self) {
        self.last = None;
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

    /// The sample, thinned to `limit`.
    pub(super) fn into_sample(self, limit: usize) -> Vec<u64> {
        let stride = self.values_ns.len().div_ceil(limit.max(1)).max(1);
        self.values_ns.into_iter().step_by(stride).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_bounded_and_spread_over_all_gaps() {
        let mut gaps = Gaps::new();
        (0..=100_000u64).for_each(|n| gaps.note(MonoNs(n * n)));
        let sample = gaps.into_sample(MAX_GAPS_COUNT);
        assert!((500..=MAX_GAPS_COUNT).contains(&sample.len()), "{}", sample.len());
        assert!(sample[0] < 20_000 && *sample.last().expect("not empty") > 180_000);
    }
}
