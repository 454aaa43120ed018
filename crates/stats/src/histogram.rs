//! Latency histograms: HdrHistogram with fixed bounds, so that every two of them merge without loss.
//!
//! Values are nanoseconds from 1 ns to one hour at three significant digits (an error of at most 0.1%). A value above
//! the bound is kept at the bound and counted in [`LatencyHistogram::clamped_count`], never dropped.
//! The structure is that of G. Tene's HdrHistogram; the crate `hdrhistogram` implements it.

use hdrhistogram::Histogram;

/// The greatest value that is kept apart: one hour. Unit: nanoseconds.
pub const MAX_VALUE_NS: u64 = 3_600_000_000_000;

/// Significant decimal digits that are kept.
pub const SIGNIFICANT_DIGITS: u8 = 3;

/// A distribution of durations. Unit: nanoseconds.
#[derive(Clone, Debug)]
pub struct LatencyHistogram {
    inner: Histogram<u64>,
    clamped_count: u64,
}

impl Default for LatencyHistogram {
    fn default() -> LatencyHistogram {
        LatencyHistogram::new()
    }
}

impl LatencyHistogram {
    /// An empty histogram, with all its memory allocated.
    pub fn new() -> LatencyHistogram {
        let inner = Histogram::new_with_bounds(1, MAX_VALUE_NS, SIGNIFICANT_DIGITS)
            .expect("constant bounds are valid");
        LatencyHistogram { inner, clamped_count: 0 }
    }

    /// Adds one value. Cost: no allocation, one array increment.
    #[inline]
    pub fn record(&mut self, value_ns: u64) {
        if value_ns > MAX_VALUE_NS {
            self.clamped_count += 1;
        }
        self.inner.saturating_record(value_ns);
    }

    /// Adds so many values of the same size.
    pub fn record_many(&mut self, value_ns: u64, count: u64) {
        if value_ns > MAX_VALUE_NS {
            self.clamped_count += count;
        }
        self.inner.saturating_record_n(value_ns, count);
    }

    /// Adds all values of `other`.
    pub fn merge(&mut self, other: &LatencyHistogram) {
        self.inner.add(&other.inner).expect("all latency histograms have the same bounds");
        self.clamped_count += other.clamped_count;
    }

    /// Forgets all values and keeps the memory.
    pub fn clear(&mut self) {
        self.inner.reset();
        self.clamped_count = 0;
    }

    /// Number of values.
    pub fn count(&self) -> u64 {
        self.inner.len()
    }

    /// Values that were above [`MAX_VALUE_NS`] and are kept at it.
    pub fn clamped_count(&self) -> u64 {
        self.clamped_count
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.inner.is_empty()
    }

    /// The value at `ratio` (0 to 1): the least that has at least this share of the values at or below it.
    ///
    /// `None`: there is no value.
    pub fn quantile(&self, ratio: f64) -> Option<u64> {
        (!self.is_empty()).then(|| self.inner.value_at_quantile(ratio).min(self.inner.max()))
    }

    /// The value of this rank, from 1.
    ///
    /// `None`: there are fewer values.
    pub fn value_at_rank(&self, rank: u64) -> Option<u64> {
        if rank == 0 || rank > self.count() {
            return None;
        }
        let mut seen = 0;
        for step in self.inner.iter_recorded() {
            seen += step.count_since_last_iteration();
            if seen >= rank {
                return Some(step.value_iterated_to().min(self.inner.max()));
            }
        }
        None
    }

    /// Greatest value, within the histogram's precision.
    pub fn max(&self) -> Option<u64> {
        (!self.is_empty()).then(|| self.inner.max())
    }

    /// Arithmetic mean.
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.inner.mean())
    }

    /// The wrapped histogram, for serialisation.
    pub fn as_hdr(&self) -> &Histogram<u64> {
        &self.inner
    }

    /// A histogram from one that was read back.
    ///
    /// `None`: its values exceed the bounds.
    pub fn from_hdr(other: &Histogram<u64>) -> Option<LatencyHistogram> {
        let mut mine = LatencyHistogram::new();
        mine.inner.add(other).ok()?;
        Some(mine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_beyond_the_bound_is_kept_and_counted() {
        let mut histogram = LatencyHistogram::new();
        histogram.record(u64::MAX);
        assert_eq!((histogram.count(), histogram.clamped_count()), (1, 1));
        assert!(histogram.max().expect("has a value") >= MAX_VALUE_NS);
    }

    #[test]
    fn merged_quantiles_are_those_of_all_values() {
        let (mut first, mut second) = (LatencyHistogram::new(), LatencyHistogram::new());
        (1..=900).for_each(|value| first.record(value));
        (901..=1000).for_each(|value| second.record(value));
        first.merge(&second);
        assert_eq!(first.quantile(0.95), Some(950));
        assert_eq!(first.value_at_rank(990), Some(990));
        assert_eq!(first.value_at_rank(1001), None);
    }
}
