//! From sums to the few numbers that people read.

use super::tally::Tally;
use std::collections::BTreeMap;
use sysdyno_record::load::{LatencyKind, LatencySummary, PhaseSummary};
use sysdyno_record::plan::PhaseKind;
use sysdyno_record::units::MonoNs;
use sysdyno_stats::censored::{LowerBounds, uncertain_from_ns};
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
        // Responses that are read in the nanosecond in which they come are those without stamps.
        unread_mean_ns: (tally.unread_ns > 0).then(|| tally.unread_ns as f64 / completed.max(1) as f64),
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

fn summarize(histogram: &LatencyHistogram, bounds: Option<LowerBounds>) -> LatencySummary {
    let supported =
        |ratio| histogram.quantile(ratio).filter(|_| is_quantile_supported(histogram.count(), ratio));
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
        p90_interval: None,
        p99_9_interval: None,
        interval_basis: None,
        censored_count: bounds.map_or(0, |bounds| bounds.count),
        censored_min_ns: bounds.and_then(|bounds| uncertain_from_ns(histogram, bounds)),
    }
}
