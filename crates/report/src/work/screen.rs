//! The screen: verdict, counts, then how long the successful runs or the file operations took.

use super::{HEADERS, WorkInput, budgets, described, limits, rows};
use crate::escape;
use crate::number;
use crate::place;
use crate::terminal::{Rank, Screen, Style, Tone, draw_reason, draw_state, shape};
use sysdyno_record::work::WorkKind;

/// Columns of a value.
const CELL_COLUMNS: usize = 13;

/// The result on a screen; ends with a newline.
pub fn screen(input: &WorkInput<'_>, style: &Style) -> String {
    let summary = input.summary;
    let mut screen = Screen::new(*style);
    screen.answer(shape(summary.verdict.status), (Tone::Strong, &summary.headline));
    draw_state(&input.folder, &mut screen);
    summary.verdict.reasons.iter().for_each(|reason| draw_reason(reason, &mut screen));
    screen.gap();
    match &input.plan.kind {
        WorkKind::Command(_) => draw_command(input, &mut screen),
        WorkKind::Files(_) => draw_files(input, &mut screen),
    }
    screen.gap();
    for budget in budgets(summary) {
        screen.sentence(Rank::Needed, (Tone::Quiet, "Time"), (Tone::Plain, &budget));
    }
    for limit in limits(summary) {
        screen.sentence(Rank::Needed, (Tone::Quiet, "Bottleneck"), (Tone::Plain, &limit));
    }
    screen.row(Rank::Needed, (Tone::Quiet, "Work"), &[(Tone::Quiet, &described(input.plan))]);
    place::draw(&input.folder, &mut screen);
    screen.finish()
}

fn table_row(style: &Style, cells: &[String]) -> String {
    let mut row = String::new();
    for cell in cells {
        let cell = style.characters(cell);
        row.push_str(&" ".repeat(CELL_COLUMNS.saturating_sub(escape::width(&cell))));
        row.push_str(&cell);
    }
    row
}

fn draw_command(input: &WorkInput<'_>, screen: &mut Screen) {
    let (summary, style) = (input.summary, screen.style());
    let header = table_row(&style, &HEADERS.map(str::to_owned));
    screen.row(Rank::Needed, (Tone::Quiet, "Run"), &[(Tone::Quiet, &header)]);
    for row in rows(summary) {
        let text = match row.cells() {
            Some(cells) => table_row(&style, &cells),
            None => table_row(&style, &["not known".to_owned()]),
        };
        screen.row(Rank::Needed, (Tone::Plain, row.label), &[(Tone::Plain, &text)]);
    }
    let counts = format!(
        "{} runs = {} ok + {} failed + {} timed out + {} cut off, in {}",
        number::count(summary.runs_count),
        number::count(summary.ok_count),
        number::count(summary.failed_count),
        number::count(summary.timed_out_count),
        number::count(summary.interrupted_count),
        number::duration_ns(summary.elapsed_ns)
    );
    screen.gap();
    screen.sentence(Rank::Needed, (Tone::Quiet, "Runs"), (Tone::Plain, &counts));
}

fn draw_files(input: &WorkInput<'_>, screen: &mut Screen) {
    let style = screen.style();
    let header = ["per second", "p50", "p99", "max", "ok", "failed"].map(str::to_owned);
    screen.row(Rank::Needed, (Tone::Quiet, "Files"), &[(Tone::Quiet, &table_row(&style, &header))]);
    for kind in &input.summary.files {
        let latency = &kind.latency;
        let cells = [
            number::significant(kind.rate_hz, 4),
            number::duration_or_missing(latency.p50),
            number::duration_or_missing(latency.p99),
            number::duration_or_missing(latency.max),
            number::count(kind.ok_count),
            number::count(kind.failures.values().sum()),
        ];
        let label = (Tone::Plain, kind.operation.name());
        screen.row(Rank::Needed, label, &[(Tone::Plain, &table_row(&style, &cells))]);
        if !kind.failures.is_empty() {
            let each = kind.failures.iter().map(|(name, count)| format!("{name} {}", number::count(*count)));
            let text = format!("failures: {}", each.collect::<Vec<_>>().join(" · "));
            screen.sentence(Rank::Extra, (Tone::Quiet, ""), (Tone::Quiet, &text));
        }
    }
}
