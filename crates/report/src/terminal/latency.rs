//! The latency table: response, service and slip, with what is a lower bound and what is not supported marked as such.

use super::screen::{Rank, Screen};
use super::style::{Style, Tone};
use crate::escape;
use crate::input::ReportInput;
use crate::number;
use crate::probe;
use sysdyno_record::load::LatencySummary;

/// Columns of a value; `≥ 999 ms` and a gap fit.
const CELL_COLUMNS: usize = 11;

const HEADERS: [&str; 6] = ["p50", "p90", "p99", "p99.9", "max", "count"];

pub(super) fn draw(input: &ReportInput<'_>, screen: &mut Screen) {
    let analysis = input.analysis;
    let rows = [
        ("response", &analysis.response_time_ns),
        ("service", &analysis.service_time_ns),
        ("slip", &analysis.slip_ns),
    ];
    if rows.iter().all(|(_, summary)| summary.count == 0) {
        return;
    }
    screen.gap();
    let style = screen.style();
    let header = row_of(&style, HEADERS.map(str::to_owned));
    screen.row(Rank::Needed, (Tone::Quiet, "Latency"), &[(Tone::Quiet, &header)]);
    for (label, summary) in rows.into_iter().filter(|(_, summary)| summary.count > 0) {
        let rank = if label == "slip" { Rank::Useful } else { Rank::Needed };
        screen.row(rank, (Tone::Plain, label), &[(Tone::Plain, &row_of(&style, cells(summary)))]);
    }
    if let Some(summary) = &analysis.probe {
        let text = format!("({}), beside the load: {}", summary.kind.name(), probe::row(summary));
        screen.row(Rank::Useful, (Tone::Plain, "probe"), &[(Tone::Plain, &text)]);
    }
}

/// The values of a summary as they are printed.
fn cells(summary: &LatencySummary) -> [String; 6] {
    let value = |value_ns: Option<u64>| match (value_ns, summary.censored_min_ns) {
        (None, _) => number::MISSING.to_owned(),
        (Some(value_ns), Some(bound_ns)) if value_ns >= bound_ns => {
            format!("≥ {}", number::duration_ns(value_ns))
        }
        (Some(value_ns), _) => number::duration_ns(value_ns),
    };
    [
        value(summary.p50),
        value(summary.p90),
        value(summary.p99),
        value(summary.p99_9),
        value(summary.max),
        number::count(summary.count),
    ]
}

/// Cells right-aligned below each other.
fn row_of(style: &Style, cells: [String; 6]) -> String {
    let mut row = String::new();
    for cell in cells {
        let cell = style.characters(&cell);
        let padding = CELL_COLUMNS.saturating_sub(escape::width(&cell));
        row.push_str(&" ".repeat(padding));
        row.push_str(&cell);
    }
    row
}
