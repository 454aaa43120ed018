//! The results of each operation of a load with several: the most frequent ones, with as many cells as fit.

use super::screen::{Rank, Screen};
use super::style::Tone;
use super::table::{self, Cell};
use crate::input::ReportInput;
use crate::number;
use sysdyno_record::workload::OperationSummary;

/// Operations that are printed on a terminal; a pipe and the report get all of them.
const ROWS_MAX: usize = 8;

/// Cells in the order in which they stand.
const CELLS: [Cell<OperationSummary>; 6] = [
    Cell { rank: 0, heading: "requests", text: |operation| number::count(operation.counts.sent) },
    Cell { rank: 1, heading: "not ok", text: |operation| number::count(not_ok(operation)) },
    Cell { rank: 4, heading: "p50", text: |operation| duration(operation, operation.latency.p50) },
    Cell { rank: 2, heading: "p90", text: |operation| duration(operation, operation.latency.p90) },
    Cell { rank: 3, heading: "p99", text: |operation| duration(operation, operation.latency.p99) },
    Cell { rank: 5, heading: "goodput/s", text: |operation| number::significant(operation.goodput_hz, 4) },
];

pub(super) fn draw(input: &ReportInput<'_>, screen: &mut Screen) {
    let mut operations: Vec<&OperationSummary> = input.analysis.operations.iter().collect();
    if operations.is_empty() {
        return;
    }
    operations.sort_by_key(|operation| std::cmp::Reverse(operation.counts.sent));
    screen.gap();
    let shown =
        if operations.len() > ROWS_MAX && !screen.is_endless() { ROWS_MAX - 1 } else { operations.len() };
    let rows = operations.iter().take(shown).map(|operation| (operation.name.clone(), *operation));
    table::draw(screen, Rank::Useful, "Operations", &CELLS, rows);
    if operations.len() > shown {
        let rest = format!("and {} more in the report", operations.len() - shown);
        screen.row(Rank::Extra, (Tone::Plain, ""), &[(Tone::Quiet, &rest)]);
    }
}

/// Requests that were due and did not end well.
fn not_ok(operation: &OperationSummary) -> u64 {
    let counts = &operation.counts;
    counts.failed.saturating_add(counts.timed_out).saturating_add(counts.unsent)
}

fn duration(operation: &OperationSummary, value_ns: Option<u64>) -> String {
    match (value_ns, operation.latency.censored_min_ns) {
        (None, _) => number::MISSING.to_owned(),
        (Some(value_ns), Some(bound_ns)) if value_ns >= bound_ns => {
            format!("≥ {}", number::duration_ns(value_ns))
        }
        (Some(value_ns), _) => number::duration_ns(value_ns),
    }
}
