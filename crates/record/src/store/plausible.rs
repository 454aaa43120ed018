//! Refuses numbers impossible in any run, so that sums over a whole run cannot overflow.
//!
//! The bounds are far above what a host can do: at [`crate::units::MAX_RATE_HZ`] for 30 days a trial has 2.6 × 10^14
//! requests. The sum of [`super::MAX_TRIALS`] trials, and of all intervals that fit into [`super::MAX_LOG_BYTES`] (at least
//! 200 bytes each), stays below 2^64.

use crate::load::{Counts, Failures, Interval, PhaseSummary, TrialEnd};
use crate::series::{Condensed, GaugeSpreads, Row};
use crate::wire::{CacheCounts, HandshakeCounts};

/// Greatest count of an interval, which lasts about a second.
const MAX_INTERVAL_COUNT: u64 = 1 << 36;

/// Greatest number of bytes of an interval.
const MAX_INTERVAL_BYTES: u64 = 1 << 40;

/// Greatest count of a trial.
const MAX_TRIAL_COUNT: u64 = 1 << 48;

/// Greatest number of bytes of a trial: eight days at 100 Gbit/s.
const MAX_TRIAL_BYTES: u64 = 1 << 53;

pub(super) fn check_interval(interval: &Interval) -> Result<(), String> {
    check_counts(&interval.counts, &interval.failures, MAX_INTERVAL_COUNT)?;
    check_count(interval.connections_opened, MAX_INTERVAL_COUNT)?;
    check_count(interval.received_bytes, MAX_INTERVAL_BYTES)?;
    interval.thread_cpu_ns.iter().try_for_each(|cpu_ns| check_count(*cpu_ns, MAX_INTERVAL_COUNT))?;
    check_order(interval.begin_mono_ns <= interval.end_mono_ns)
}

/// A condensed row stands for several samples, and says of columns that there are what they were, in order.
pub(super) fn check_row(row: &Row) -> Result<(), String> {
    let Some(condensed) = &row.condensed else { return Ok(()) };
    let Condensed { samples_count, rates, gauges } = condensed.as_ref();
    check_count(u64::from(*samples_count), MAX_INTERVAL_COUNT)?;
    check_entries(&rates.columns, row.values.len(), &[&rates.low, &rates.high])?;
    let GaugeSpreads { columns, low, high, mean, present_ratio } = gauges;
    check_entries(columns, row.values.len(), &[low, high, mean, present_ratio])
}

fn check_entries(columns: &[u32], width: usize, lists: &[&Vec<f64>]) -> Result<(), String> {
    let is_ascending = columns.windows(2).all(|pair| pair[0] < pair[1]);
    let is_within = columns.last().is_none_or(|last| (*last as usize) < width);
    let are_whole = lists.iter().all(|list| list.len() == columns.len());
    let are_finite = lists.iter().all(|list| list.iter().all(|value| value.is_finite()));
    let is_sound = is_ascending && is_within && are_whole && are_finite;
    if is_sound {
        Ok(())
    } else {
        Err("what the row says of several samples does not fit its columns".into())
    }
}

pub(super) fn check_trial_end(end: &TrialEnd) -> Result<(), String> {
    let summary = &end.summary;
    check_counts(&summary.total, &Failures::new(), MAX_TRIAL_COUNT)?;
    check_phase(&summary.measured)?;
    summary.phases.iter().try_for_each(check_phase)?;
    for operation in &summary.session {
        [
            operation.started_count,
            operation.completed_count,
            operation.failed_count,
            operation.unfinished_count,
        ]
        .into_iter()
        .chain([operation.cycles_count])
        .try_for_each(|count| check_count(count, MAX_TRIAL_COUNT))?;
    }
    for share in &summary.generators {
        check_count(share.connections, MAX_TRIAL_COUNT)?;
        check_counts(&share.total, &Failures::new(), MAX_TRIAL_COUNT)?;
        check_phase(&share.measured)?;
    }
    summary.operations.iter().try_for_each(|operation| {
        check_counts(&operation.counts, &operation.failures, MAX_TRIAL_COUNT)?;
        check_counts(&operation.total, &Failures::new(), MAX_TRIAL_COUNT)?;
        check_count(operation.received_bytes, MAX_TRIAL_BYTES)
    })
}

fn check_phase(phase: &PhaseSummary) -> Result<(), String> {
    check_counts(&phase.counts, &phase.failures, MAX_TRIAL_COUNT)?;
    if let Some(HandshakeCounts { full, resumed }) = phase.handshakes {
        [full, resumed].iter().try_for_each(|count| check_count(*count, MAX_TRIAL_COUNT))?;
    }
    if let Some(CacheCounts { hits, misses, stored }) = phase.cache {
        [hits, misses, stored].iter().try_for_each(|count| check_count(*count, MAX_TRIAL_COUNT))?;
    }
    phase.statuses.values().try_for_each(|count| check_count(*count, MAX_TRIAL_COUNT))?;
    check_count(phase.received_bytes, MAX_TRIAL_BYTES)?;
    check_count(phase.connections_opened, MAX_TRIAL_COUNT)?;
    check_count(phase.connections_closed_idle, MAX_TRIAL_COUNT)?;
    check_order(phase.begin_mono_ns <= phase.end_mono_ns)
}

fn check_counts(counts: &Counts, failures: &Failures, limit: u64) -> Result<(), String> {
    let Counts { scheduled, sent, written, ok, failed, timed_out, in_flight, unsent } = *counts;
    [scheduled, sent, written, ok, failed, timed_out, in_flight, unsent]
        .iter()
        .chain(failures.values())
        .try_for_each(|count| check_count(*count, limit))
}

fn check_count(count: u64, limit: u64) -> Result<(), String> {
    if count <= limit { Ok(()) } else { Err(format!("the number {count} is impossibly great")) }
}

fn check_order(is_ordered: bool) -> Result<(), String> {
    if is_ordered { Ok(()) } else { Err("it ends before it begins".into()) }
}
