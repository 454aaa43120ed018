//! Latency over time as cells of a heat map: requests by window and by range of latency, ten ranges to a decade.
//!
//! If there are many windows, adjacent ones are merged, so that a run of a day has as many cells as one of minutes.

use super::encode::{Encoded, encode};
use serde::Serialize;
use std::collections::BTreeMap;
use sysdyno_record::load::{LatencyKind, LatencyWindow};
use sysdyno_record::plan::Arrival;
use sysdyno_record::store::Trial;
use sysdyno_record::units::MonoNs;
use sysdyno_record::view::RunView;

/// Ranges of latency to a decade: each is 26% wider than the one below it.
const PER_DECADE: u32 = 10;

/// Most columns of a record that the page is given; trials add one each at most.
const COLUMNS_MAX: usize = 400;

/// Unit: nanoseconds.
const GRAIN_NS: u64 = 1_000_000;

#[derive(Serialize)]
pub(super) struct Heat {
    per_decade: u32,
    begin_mono_ns: Encoded,
    end_mono_ns: Encoded,
    /// Of each column its ranges from the least latency on: number of the range, requests, and so on. Range `n` holds
    /// latencies from 10^(n / `per_decade`) ns on.
    cells: Vec<Vec<u64>>,
}

/// Requests of some seconds by range of latency.
struct Column {
    begin: MonoNs,
    end: MonoNs,
    counts: BTreeMap<u64, u64>,
}

/// The heat map of a run; `None`: no windows were kept.
pub(super) fn heat(run: &RunView<'_>) -> Option<Heat> {
    let windows_count: usize = run.trials.iter().map(|trial| run.windows(trial.begin.trial).len()).sum();
    let every = windows_count.div_ceil(COLUMNS_MAX).max(1);
    let mut columns: Vec<Column> =
        run.trials.iter().flat_map(|trial| columns_of(run, trial, every)).collect();
    columns.sort_by_key(|column| column.begin);
    if columns.is_empty() {
        return None;
    }
    let instants = |of: fn(&Column) -> MonoNs| encode(columns.iter().map(|column| Some(of(column).0 as f64)));
    Some(Heat {
        per_decade: PER_DECADE,
        begin_mono_ns: instants(|column| column.begin),
        end_mono_ns: instants(|column| column.end),
        cells: columns
            .iter()
            .map(|column| column.counts.iter().flat_map(|(range, count)| [*range, *count]).collect())
            .collect(),
    })
}

/// The columns of a trial, of the time that its users felt.
fn columns_of(run: &RunView<'_>, trial: &Trial, every: usize) -> Vec<Column> {
    let felt = match trial.begin.plan.arrival {
        Arrival::Closed => LatencyKind::Service,
        _ => LatencyKind::Response,
    };
    let mut windows: Vec<&LatencyWindow> =
        run.windows(trial.begin.trial).iter().filter(|window| window.kind == felt).collect();
    windows.sort_by_key(|window| window.begin_mono_ns);
    windows.chunks(every).filter_map(|neighbors| merged(run, trial.begin.trial, neighbors)).collect()
}

fn merged(run: &RunView<'_>, trial: u32, neighbors: &[&LatencyWindow]) -> Option<Column> {
    let mut counts = BTreeMap::new();
    for step in neighbors.iter().flat_map(|window| &window.steps) {
        *counts.entry(range_of(step.up_to_ns)).or_default() += step.count;
    }
    let (first, last) = (neighbors.first()?, neighbors.last()?);
    let end = end_of(run, trial, last.begin_mono_ns)?;
    (!counts.is_empty()).then_some(Column { begin: first.begin_mono_ns, end, counts })
}

fn range_of(latency_ns: u64) -> u64 {
    ((latency_ns.max(1) as f64).log10() * f64::from(PER_DECADE)) as u64
}

/// When the window that begins there ended: a window says its begin alone, to the millisecond, its interval both.
///
/// `None`: the interval was lost.
fn end_of(run: &RunView<'_>, trial: u32, begin: MonoNs) -> Option<MonoNs> {
    let first = run.intervals.partition_point(|interval| interval.begin_mono_ns.0 + GRAIN_NS < begin.0);
    let near = run.intervals.get(first..)?.iter();
    let mut near = near.take_while(|interval| interval.begin_mono_ns.0 <= begin.0 + GRAIN_NS);
    near.find(|interval| interval.trial == trial && interval.phase.is_measured())
        .map(|interval| interval.end_mono_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_tenths_of_decades() {
        assert_eq!([0, 1, 9, 10, 1_000_000, 3_600_000_000_000].map(range_of), [0, 0, 9, 10, 60, 125]);
    }
}
