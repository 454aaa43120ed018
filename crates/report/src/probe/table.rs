//! The tables of several targets: what each lost, and its times.

use super::TABLE_NAME_COLUMNS;
use super::numbers::{bounded, lost_share, with_intervals};
use crate::escape;
use crate::number;
use crate::terminal::Style;
use sysdyno_record::probe::ProbedSummary;

/// Columns between two cells.
const GAP_COLUMNS: usize = 2;

/// A line for each target: sent, lost, windows, least, median, and greatest time.
pub(super) fn counts(targets: &[ProbedSummary], style: &Style) -> Vec<String> {
    let mut rows = vec![cells(["target", "kind", "sent", "lost", "windows", "min", "p50", "max"])];
    rows.extend(targets.iter().map(|target| {
        let summary = &target.summary;
        vec![
            name(target),
            summary.kind.name().to_owned(),
            number::count(summary.sent_count),
            format!("{} ({})", number::count(summary.lost_count()), lost_share(summary)),
            number::count(target.windows_count),
            number::duration_or_missing(summary.min_ns),
            bounded(&summary.response_time_ns, summary.response_time_ns.p50),
            number::duration_or_missing(summary.max_ns),
        ]
    }));
    // The kind was printed before, the median is in the table below.
    aligned(&rows, &[1, 6, 5, 4], style)
}

/// A line for each target: percentiles with their intervals.
pub(super) fn percentiles(targets: &[ProbedSummary], style: &Style) -> Vec<String> {
    let mut rows = vec![cells(["95% intervals", "p50", "p90", "p99"])];
    rows.extend(targets.iter().map(|target| {
        let mut row = vec![name(target)];
        row.extend(with_intervals(&target.summary));
        row
    }));
    aligned(&rows, &[2], style)
}

fn name(target: &ProbedSummary) -> String {
    escape::terminal(&target.name, TABLE_NAME_COLUMNS)
}

fn cells<const N: usize>(texts: [&str; N]) -> Vec<String> {
    texts.map(str::to_owned).to_vec()
}

/// Rows of cells below each other, the first to the left and the others to the right; where there is no room, without these
/// columns, one after the other.
fn aligned(rows: &[Vec<String>], first_left_out: &[usize], style: &Style) -> Vec<String> {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| style.characters(cell)).collect()).collect();
    let count = rows.first().map_or(0, Vec::len);
    let widest = |column: usize| rows.iter().map(|row| escape::width(&row[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(widest).collect();
    let mut columns: Vec<usize> = (0..count).collect();
    for least in first_left_out {
        let needed: usize = columns.iter().map(|column| widths[*column] + GAP_COLUMNS).sum();
        if needed > style.width() + GAP_COLUMNS {
            columns.retain(|column| column != least);
        }
    }
    let line = |row: &Vec<String>| {
        let cell = |column: &usize| {
            let padding = widths[*column] - escape::width(&row[*column]);
            match column {
                0 => format!("{}{:padding$}", row[0], ""),
                column => format!("{:1$}{2}", "", GAP_COLUMNS + padding, row[*column]),
            }
        };
        columns.iter().map(cell).collect::<String>().trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
