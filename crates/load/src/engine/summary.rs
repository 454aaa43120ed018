//! Turns sums into the few numbers that people read.

use super::tally::{OperationTally, SessionTally, Tally};
use std::collections::BTreeMap;
use sysdyno_record::load::{FailureClass, FailureClauses, LatencyKind, LatencySummary, PhaseSummary};
use sysdyno_record::plan::PhaseKind;
use sysdyno_record::session::{SessionOperation, SessionOperationSummary};
use sysdyno_record::units::MonoNs;
use sysdyno_record::wire::{CacheCounts, HandshakeCounts};
use sysdyno_record::workload::{OperationPlan, OperationSummary};
use sysdyno_stats::censored::LowerBounds;

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
    PhaseSummary {
        kind,
        begin_mono_ns: span.begin,
        end_mono_ns: span.end,
        counts: tally.counts,
        failures: tally.failures(),
        told: told(tally),
        offered_hz,
        achieved_hz: tally.completed as f64 / seconds,
        goodput_hz: tally.counts.ok as f64 / seconds,
        received_bytes: tally.received_bytes,
        connections_opened: tally.connections_opened,
        connections_closed_idle: tally.connections_closed_idle,
        // Responses that are read in the nanosecond in which they come are those without stamps.
        unread_mean_ns: (tally.unread_ns > 0).then(|| tally.unread_ns as f64 / tally.completed.max(1) as f64),
        statuses: tally.statuses(),
        handshakes: (tally.handshakes != HandshakeCounts::default()).then_some(tally.handshakes),
        cache: (tally.cache != CacheCounts::default()).then_some(tally.cache),
        latency: latency(tally),
    }
}

/// What is known of each class of failures, the most frequent answers included.
fn told(tally: &Tally) -> FailureClauses {
    let mut told = tally.told.clone();
    for class in FailureClass::ALL.iter().copied() {
        if let Some(clause) = tally.answers.texts().clause(class, tally.failures[class as usize]) {
            told.note(class, || clause);
        }
    }
    told
}

/// What came of each operation: in the measured phases, and in all of the trial.
pub(super) fn operations(
    plans: &[OperationPlan],
    span: PhaseSpan,
    measured: &Tally,
    total: &Tally,
) -> Vec<OperationSummary> {
    let seconds = span.seconds().max(1e-9);
    let none = OperationTally::default();
    let summary = |(number, plan): (usize, &OperationPlan)| {
        let tally = measured.operations.get(number).unwrap_or(&none);
        let whole = total.operations.get(number).unwrap_or(&none);
        OperationSummary {
            name: plan.name.clone(),
            counts: tally.counts,
            failures: tally.failures(),
            total: whole.counts,
            not_modified_count: tally.not_modified,
            goodput_hz: tally.counts.ok as f64 / seconds,
            received_bytes: tally.received_bytes,
            latency: tally
                .latency()
                .map_or_else(LatencySummary::default, |latency| LatencySummary::of(latency, tally.bounds)),
        }
    };
    plans.iter().enumerate().map(summary).collect()
}

/// What users did in the measured phases, by operation.
pub(super) fn session(
    plans: &[SessionOperation],
    span: PhaseSpan,
    measured: &Tally,
) -> Vec<SessionOperationSummary> {
    let seconds = span.seconds().max(1e-9);
    let none = SessionTally::default();
    let summary = |(number, plan): (usize, &SessionOperation)| {
        let tally = measured.session.get(number).unwrap_or(&none);
        let mean = |sum_ns: u64| (tally.cycles > 0).then(|| sum_ns as f64 / tally.cycles as f64);
        SessionOperationSummary {
            name: plan.name.clone(),
            started_count: tally.started,
            completed_count: tally.completed,
            failed_count: tally.failed,
            unfinished_count: tally.unfinished,
            rate_hz: tally.completed as f64 / seconds,
            latency: tally
                .latency()
                .map_or_else(LatencySummary::default, |latency| LatencySummary::of(latency, tally.bounds)),
            cycles_count: tally.cycles,
            cycle_planned_ns: mean(tally.cycle_planned_ns),
            cycle_actual_ns: mean(tally.cycle_actual_ns),
        }
    };
    plans.iter().enumerate().map(summary).collect()
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
                LatencyKind::Response => tally.response_bounds,
                LatencyKind::Service => tally.service_bounds,
                _ => LowerBounds::NONE,
            };
            (kind, LatencySummary::of(tally.latency.get(kind), bounds))
        })
        .collect()
}
