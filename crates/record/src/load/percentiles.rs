//! A latency distribution in a few numbers, and the basis of their intervals.

use serde::{Deserialize, Serialize};
use sysdyno_stats::censored::{LowerBounds, uncertain_from_ns};
use sysdyno_stats::histogram::LatencyHistogram;
use sysdyno_stats::order_statistics::{is_quantile_supported, quantile_interval};

/// A latency distribution in the few numbers that people read.
///
/// Unit: nanoseconds. A percentile is `None` if fewer than ten samples lie beyond it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    /// Median.
    pub p50: Option<u64>,
    /// 90th percentile.
    pub p90: Option<u64>,
    /// 95th percentile; older trials lack it.
    #[serde(default)]
    pub p95: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
    /// 99.9th percentile.
    pub p99_9: Option<u64>,
    /// Greatest value.
    pub max: Option<u64>,
    /// Number of values, censored ones included.
    pub count: u64,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// 95% interval of the median, from order statistics. In a trial's summary as if samples were independent; in an
    /// analysis widened by how much they depend on each other, and `None` where that is not known.
    pub p50_interval: Option<[u64; 2]>,
    /// 95% interval of the 90th percentile, as that of the median; older trials lack it.
    #[serde(default)]
    pub p90_interval: Option<[u64; 2]>,
    /// 95% interval of the 99th percentile, as that of the median.
    pub p99_interval: Option<[u64; 2]>,
    /// 95% interval of the 99.9th percentile, in an analysis only.
    #[serde(default)]
    pub p99_9_interval: Option<[u64; 2]>,
    /// What the intervals of an analysis rest on; `None` in a trial's summary, and where there are no windows.
    #[serde(default)]
    pub interval_basis: Option<IntervalBasis>,
    /// How many of the values are lower bounds (timed out, in flight, never sent).
    pub censored_count: u64,
    /// The least value from which a percentile is itself a lower bound, by more than one per cent.
    pub censored_min_ns: Option<u64>,
}

impl LatencySummary {
    /// The few numbers of a distribution, some of whose values are only lower bounds.
    ///
    /// The intervals are as if values were independent; an analysis widens or leaves them out.
    pub fn of(histogram: &LatencyHistogram, bounds: LowerBounds) -> LatencySummary {
        let supported =
            |ratio| histogram.quantile(ratio).filter(|_| is_quantile_supported(histogram.count(), ratio));
        let interval = |ratio| quantile_interval(histogram, ratio, INTERVAL_LEVEL);
        LatencySummary {
            p50: supported(0.5),
            p90: supported(0.9),
            p95: supported(0.95),
            p99: supported(0.99),
            p99_9: supported(0.999),
            max: histogram.max(),
            count: histogram.count(),
            mean: histogram.mean(),
            p50_interval: interval(0.5),
            p90_interval: interval(0.9),
            p99_interval: interval(0.99),
            p99_9_interval: None,
            interval_basis: None,
            censored_count: bounds.count,
            censored_min_ns: uncertain_from_ns(histogram, bounds),
        }
    }

    /// The percentile of this ratio; `None`: it is none of those that are kept, or the sample is too small for it.
    pub fn percentile(&self, ratio: f64) -> Option<u64> {
        let kept =
            [(0.5, self.p50), (0.9, self.p90), (0.95, self.p95), (0.99, self.p99), (0.999, self.p99_9)];
        kept.into_iter().find(|(known, _)| (known - ratio).abs() < 1e-9)?.1
    }
}

/// Level of the intervals that are shown beside percentiles.
const INTERVAL_LEVEL: f64 = 0.95;

/// What the intervals of percentiles rest on: how much the values depend on each other in time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntervalBasis {
    /// Windows that the measured phases were seen in.
    pub windows_count: u64,
    /// Length of a window.
    pub window_ns: u64,
    /// Of the median; `None`: there are too few values or windows.
    pub p50: Option<PercentileDependence>,
    /// Of the 90th percentile, likewise.
    pub p90: Option<PercentileDependence>,
    /// Of the 99th percentile, likewise.
    pub p99: Option<PercentileDependence>,
    /// Of the 99.9th percentile, likewise.
    pub p99_9: Option<PercentileDependence>,
}

/// How much values depend on each other, as far as one percentile is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PercentileDependence {
    /// First autocorrelation of the windows, before batches were widened, as a ratio −1 to 1.
    pub autocorrelation_ratio: f64,
    /// Length of the batches that look independent of each other; `None`: too few batches do.
    pub batch_ns: Option<u64>,
    /// How many batches there are; `None`: as before.
    pub batches_count: Option<u64>,
    /// How many independent values all values are worth; `None`: as before.
    pub effective_count: Option<u64>,
}
