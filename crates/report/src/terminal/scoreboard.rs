//! The scoreboard of simulated users: a row for each operation, with a mark that says whether it met its rules.

use super::screen::{Rank, Screen};
use super::table::{self, Cell};
use crate::number;
use sysdyno_record::scoreboard::ScoreboardOperation;

/// Cells in the order in which they stand.
const CELLS: [Cell<ScoreboardOperation>; 7] = [
    Cell { rank: 2, heading: "count", text: |operation| number::count(operation.completed_count) },
    Cell { rank: 3, heading: "mix", text: |operation| share(operation.mix_ratio) },
    Cell { rank: 6, heading: "target", text: |operation| share(Some(operation.mix_target_ratio)) },
    Cell { rank: 4, heading: "mean", text: |operation| duration(operation.mean_ns) },
    Cell { rank: 0, heading: "time", text: time },
    Cell { rank: 1, heading: "limit", text: limit },
    Cell { rank: 5, heading: "failed", text: |operation| number::count(operation.failed_count) },
];

/// Draws the operations below a label.
pub(crate) fn draw(screen: &mut Screen, label: &str, operations: &[ScoreboardOperation]) {
    let rows = operations.iter().map(|operation| {
        let mark = if operation.passed { "✔" } else { "✘" };
        (format!("{mark} {}", operation.name), operation)
    });
    table::draw(screen, Rank::Needed, label, &CELLS, rows);
}

/// The percentile that is limited, or the 90th; the longest, marked as such, where there are too few for it.
fn time(operation: &ScoreboardOperation) -> String {
    match (operation.percentile_ns, operation.max_ns) {
        (None, Some(max_ns)) => format!("< {}", duration(Some(max_ns))),
        (percentile_ns, _) => duration(percentile_ns),
    }
}

fn duration(value_ns: Option<f64>) -> String {
    value_ns.map_or(number::MISSING.to_owned(), |ns| number::duration_ns(ns.max(0.0) as u64))
}

fn limit(operation: &ScoreboardOperation) -> String {
    let Some(limit) = operation.limit else { return number::MISSING.to_owned() };
    format!("p{} {}", limit.percentile_ratio * 100.0, number::span(limit.limit.duration()))
}

fn share(ratio: Option<f64>) -> String {
    ratio.map_or(number::MISSING.to_owned(), number::percent)
}
