//! From sums to the few numbers that people read.

use super::tally::{LowerBounds, Tally};
use std::collections::BTreeMap;
use sysdyno_record::load::{LatencyKind, LatencySummary, PhaseSummary};
use sysdyno_record::plan::PhaseKind;
use sysdyno_record::units::MonoNs;
use sysdyno_stats::histogram::LatencyHistogram;
use sysdyno_stats::order_statistics::{is_quantile_supported, quantile_interval};

/// Level of the intervals that are shown beside percentiles.
const LEVEL: f64 = 0.95;

/// When a phase was.
#[derive(Clone, Copy, Debug)]
pub(super) struct PhaseSpan {
    pub begin: MonoNs,
    pub end: MonoNs,
}

impl PhaseSpan {
    fn seconds(self) -> f64 {
        self.end.seconds_since(self.begin)
    }
}

/// The summary of a phase.
pub(super) fn phase(
    kind: PhaseKind,
    span: PhaseSpan,
    offered_hz: Option<f64>,
    tally: &Tally,
) -> PhaseSummary {
    let seconds = span.seconds().max(1e-9);
    let completed: u64 = tally.statuses.iter().map(|count| u64::from(*count)).sum();
    PhaseSummary {
        kind,
        begin_mono_ns: span.begin,
        end_mono_ns: span.end,
        counts: tally.counts,
        failures: tally.failures(),
        offered_hz,
        achieved_hz: completed as f64 / seconds,
        goodput_hz: tally.counts.ok as f64 / seconds,
        received_bytes: tally.received_bytes,
        connections_opened: tally.connections_opened,
        connections_closed_idle: tally.connections_closed_idle,
        statuses: tally.statuses(),
        latency: latency(tally),
    }
}

/// The mean offered rate over phases of different rates; `None` in a closed process.
pub(super) fn mean_rate_hz(spans: &[PhaseSpan], rates: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let weighted: Option<Vec<[f64; 2]>> = spans
        .iter()
        .zip(rates)
        .map(|(span, rate)| rate.map(|rate| [rate * span.seconds(), span.seconds()]))
        .collect();
    let sums = weighted?.iter().fold([0.0, 0.0], |sum, item| [sum[0] + item[0], sum[1] + item[1]]);
    (sums[1] > 0.0).then(|| sums[0] / sums[1])
}

fn latency(tally: &Tally) -> BTreeMap<LatencyKind, LatencySummary> {
    let kinds = LatencyKind::ALL.into_iter().filter(|kind| !tally.latency.get(*kind).is_empty());
    kinds
        .map(|kind| {
            let bounds = match kind {
                LatencyKind::Response => Some(tally.response_bounds),
                LatencyKind::Service => Some(tally.service_bounds),
                _ => None,
            };
            (kind, summarize(tally.latency.get(kind), bounds))
        })
        .collect()
}

/// Percentiles that are printed.
const PRINTED_RATIOS: [f64; 4] = [0.5, 0.9, 0.99, 0.999];

/// By how much a percentile may be too low before it is called a lower bound.
const UNCERTAINTY_RATIO: f64 = 1.01;

/// The least value from which a percentile is only a lower bound.
///
/// If `k` of `n` values are lower bounds, the true quantile `q` lies between those of `q` and `q + k/n` of what was
/// recorded, since at most `k` values below it belong above it. Those that lie above it anyway change nothing.
fn uncertain_from_ns(histogram: &LatencyHistogram, bounds: LowerBounds) -> u64 {
    let share = bounds.count as f64 / histogram.count().max(1) as f64;
    let value = |ratio: f64| histogram.quantile(ratio).unwrap_or(0);
    let is_open = |ratio: f64| {
        ratio + share >= 1.0 || value(ratio + share) as f64 > value(ratio) as f64 * UNCERTAINTY_RATIO
    };
    let first = PRINTED_RATIOS.into_iter().find(|ratio| is_open(*ratio)).map(value);
    first.or(histogram.max()).unwrap_or(0).max(bounds.min_ns)
}

fn summarize(histogram: &LatencyHistogram, bounds: Option<LowerBounds>) -> LatencySummary {
    let supported =
        |ratio| histogram.quantile(ratio).filter(|_| is_quantile_supported(histogram.count(), ratio));
    let bounds = bounds.filter(|bounds| bounds.count > 0);
    LatencySummary {
        p50: supported(0.5),
        p90: supported(0.9),
        p99: supported(0.99),
        p99_9: supported(0.999),
        max: histogram.max(),
        count: histogram.count(),
        mean: histogram.mean(),
        p50_interval: quantile_interval(histogram, 0.5, LEVEL),
        p99_interval: quantile_interval(histogram, 0.99, LEVEL),
        censored_count: bounds.map_or(0, |bounds| bounds.count),
        censored_min_ns: bounds.map(|bounds| uncertain_from_ns(histogram, bounds)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uncertain_from(bounds_ns: &[u64]) -> u64 {
        let mut tally = Tally::default();
        (1..=10_000).for_each(|value| tally.record(LatencyKind::Response, value * 1000));
        bounds_ns.iter().for_each(|value| tally.record_response_bound(*value));
        uncertain_from_ns(tally.latency.get(LatencyKind::Response), tally.response_bounds)
    }

    #[test]
    fn a_few_low_bounds_leave_the_median_certain_and_many_do_not() {
        assert!(uncertain_from(&[500_000; 3]) > 9_900_000, "three in ten thousand move the far tail at most");
        assert!(uncertain_from(&[500_000; 300]) <= 5_100_000, "three in a hundred move the median");
    }

    #[test]
    fn bounds_above_a_percentile_do_not_touch_it() {
        assert_eq!(uncertain_from(&[60_000_000; 300]), 60_000_000);
    }
}
