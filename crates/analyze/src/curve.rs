//! The capacity curve, one point per trial, and the latency distribution of one of them.

use crate::examined::Examined;
use crate::outcome::TrialOutcome;
use crate::view::TrialView;
use sysdyno_record::analysis::{CurvePoint, LatencyBand, QuantilePoint, VerdictStatus};
use sysdyno_record::plan::Objective;
use sysdyno_stats::order_statistics::{TAIL_COUNT_MIN, is_quantile_supported};

/// Points of a distribution.
const POINTS: u32 = 100;

/// Where ranges of latency end, besides at the limit of an objective: decades, from 100 µs to 10 s. Unit: nanoseconds.
const BAND_ENDS_NS: [u64; 6] = [100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000];

/// One point per trial that has ended.
pub(crate) fn curve(examined: &Examined) -> Vec<CurvePoint> {
    let trials = examined.views.iter().zip(&examined.outcomes).zip(&examined.verdicts);
    trials.map(|((view, outcome), verdict)| point(view, outcome, verdict.status)).collect()
}

fn point(view: &TrialView, outcome: &TrialOutcome, status: VerdictStatus) -> CurvePoint {
    let felt = view.summary(view.felt_kind());
    CurvePoint {
        trial: outcome.trial,
        purpose: outcome.purpose,
        connections: outcome.connections,
        offered_hz: outcome.offered_hz,
        achieved_hz: outcome.achieved_hz,
        goodput_hz: outcome.goodput_hz,
        error_ratio: outcome.error_ratio,
        p50_ns: felt.p50,
        p90_ns: felt.p90,
        p99_ns: felt.p99,
        p99_9_ns: felt.p99_9,
        met: outcome.offered_hz.and(outcome.met()),
        status,
        begin_mono_ns: view.measured().begin_mono_ns,
        end_mono_ns: view.measured().end_mono_ns,
    }
}

/// Quantiles that the sample supports, closer together the farther out they are.
pub(crate) fn distribution(view: &TrialView) -> Vec<QuantilePoint> {
    let histogram = view.latency.get(view.felt_kind());
    let decades = (histogram.count() as f64 / TAIL_COUNT_MIN).max(1.0).log10();
    let ratio = |index: u32| 1.0 - 10f64.powf(-decades * f64::from(index) / f64::from(POINTS));
    let supported = (0..=POINTS).map(ratio).filter(|ratio| is_quantile_supported(histogram.count(), *ratio));
    supported
        .filter_map(|ratio| Some(QuantilePoint { ratio, value_ns: histogram.quantile(ratio)? }))
        .collect()
}

/// Requests by range of latency, from the range of the fastest to that of the slowest.
pub(crate) fn bands(view: &TrialView, objective: Option<Objective>) -> Vec<LatencyBand> {
    let histogram = view.latency.get(view.felt_kind());
    let limit_ns = objective.map(|objective| objective.limit.0);
    let mut ends: Vec<u64> = BAND_ENDS_NS.into_iter().chain(limit_ns).collect();
    ends.sort_unstable();
    ends.dedup();
    let (mut bands, mut below) = (Vec::new(), 0);
    for end_ns in ends {
        let up_to = histogram.as_hdr().count_between(0, end_ns);
        bands.push(LatencyBand { up_to_ns: Some(end_ns), count: up_to - below });
        below = up_to;
    }
    bands.push(LatencyBand { up_to_ns: None, count: histogram.count() - below });
    let is_used = |band: &LatencyBand| band.count > 0;
    let first = bands.iter().position(is_used).unwrap_or(bands.len());
    let last = bands.iter().rposition(is_used).map_or(first, |last| last + 1);
    bands[first..last].to_vec()
}
