//! The latency table: response, service, and slip. It marks lower bounds and values that the samples do not support.

use super::probes;
use super::screen::{Rank, Screen};
use super::style::Tone;
use crate::escape;
use crate::input::ReportInput;
use crate::number;
use sysdyno_record::load::LatencySummary;

const HEADERS: [&str; 7] = ["p50", "p90", "p95", "p99", "p99.9", "max", "count"];

/// Positions in the headers of what is left out first where there is no room: the count, p90, p99.9, p95.
const FIRST_LEFT_OUT: [usize; 4] = [6, 1, 4, 2];

/// Columns between values, where they fit.
const GAP_COLUMNS: usize = 3;

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
    let rows: Vec<_> = rows.into_iter().filter(|(_, summary)| summary.count > 0).collect();
    let mut lines = vec![HEADERS.map(str::to_owned)];
    lines.extend(rows.iter().map(|(_, summary)| cells(summary)));
    let lines = aligned(screen, &lines);
    screen.row(Rank::Needed, (Tone::Quiet, "Latency"), &[(Tone::Quiet, &lines[0])]);
    for ((label, _), line) in rows.iter().zip(&lines[1..]) {
        let rank = if *label == "slip" { Rank::Useful } else { Rank::Needed };
        screen.row(rank, (Tone::Plain, label), &[(Tone::Plain, line)]);
    }
    draw_intervals(input, screen);
    probes::draw(input, screen);
}

/// How well the percentiles that a user feels are known, in a sentence: intervals, or why there are none.
fn draw_intervals(input: &ReportInput<'_>, screen: &mut Screen) {
    let analysis = input.analysis;
    let felt = [&analysis.response_time_ns, &analysis.service_time_ns];
    let Some(summary) = felt.into_iter().find(|summary| summary.count > 0) else { return };
    let known = |name: &str, value_ns: Option<u64>, interval_ns: Option<[u64; 2]>| {
        let text =
            interval_ns.map(|interval_ns| number::duration_interval_ns(value_ns.unwrap_or(0), interval_ns));
        value_ns.map(|_| format!("{name} {}", text.as_deref().unwrap_or("[not known]")))
    };
    let intervals = [
        ("p50", summary.p50, summary.p50_interval),
        ("p99", summary.p99, summary.p99_interval),
        ("p99.9", summary.p99_9, summary.p99_9_interval),
    ];
    let mut parts = Vec::new();
    let is_any_known = intervals.iter().any(|(.., interval_ns)| interval_ns.is_some());
    if is_any_known {
        parts
            .extend(intervals.into_iter().filter_map(|(name, value, interval)| known(name, value, interval)));
    } else {
        parts.push(format!("no intervals: {}", why_unknown(summary)));
    }
    let missing = [("p50", summary.p50, 20), ("p90", summary.p90, 100), ("p99", summary.p99, 1_000)];
    let missing = missing.into_iter().chain([("p99.9", summary.p99_9, 10_000)]);
    if let Some((name, _, needed)) = missing.into_iter().find(|(_, value_ns, _)| value_ns.is_none()) {
        let (count, needed) = (number::count(summary.count), number::count(needed));
        let text = format!("too few samples for {name}: {count} of {needed}");
        // The line may be cut: first what is known, then what is missing, then why the rest is not known.
        parts.insert(if is_any_known { parts.len() } else { 0 }, text);
    }
    screen.sentence(Rank::Useful, (Tone::Quiet, "95%"), (Tone::Quiet, &parts.join(" · ")));
}

/// Why no percentile of this summary has an interval.
fn why_unknown(summary: &LatencySummary) -> String {
    let Some(basis) = &summary.interval_basis else {
        return "the record lacks the times of the samples".to_owned();
    };
    let windows = number::count(basis.windows_count);
    match basis.p50 {
        None if basis.windows_count <= 1 => {
            "one window is too few to see how samples are correlated".to_owned()
        }
        None => format!("{windows} windows are too few to see how samples are correlated"),
        Some(found) if found.effective_count.is_none() => {
            format!("samples are correlated over longer than {windows} windows can show")
        }
        Some(_) => "samples are too strongly correlated".to_owned(),
    }
}

/// The values of a summary as they are printed.
fn cells(summary: &LatencySummary) -> [String; 7] {
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
        value(summary.p95),
        value(summary.p99),
        value(summary.p99_9),
        value(summary.max),
        number::count(summary.count),
    ]
}

/// Lines of cells, right-aligned below each other; on a narrow terminal with less between them, and without what matters least.
fn aligned(screen: &Screen, lines: &[[String; 7]]) -> Vec<String> {
    let style = screen.style();
    let shown = lines.iter().map(|line| line.each_ref().map(|cell| style.characters(cell)));
    let lines: Vec<[String; 7]> = shown.collect();
    let widest = |column: usize| lines.iter().map(|line| escape::width(&line[column])).max().unwrap_or(0);
    let widths: [usize; 7] = std::array::from_fn(widest);
    let mut columns: Vec<usize> = (0..widths.len()).collect();
    let needed = |columns: &[usize]| columns.iter().map(|column| widths[*column] + 1).sum::<usize>();
    for least in FIRST_LEFT_OUT {
        if needed(&columns) > screen.body_columns() {
            columns.retain(|column| *column != least);
        }
    }
    let spare = screen.body_columns().saturating_sub(needed(&columns)) / columns.len();
    let gap = 1 + spare.min(GAP_COLUMNS - 1);
    let cell = |line: &[String; 7], column: usize| {
        let padding = gap + widths[column] - escape::width(&line[column]);
        format!("{:padding$}{}", "", line[column])
    };
    lines.iter().map(|line| columns.iter().map(|column| cell(line, *column)).collect()).collect()
}
