//! One header, then one line per measured phase of each trial, for a spreadsheet or a script that joins it with other runs.
//!
//! Names carry their unit as the last word. A cell is empty where a value is not known, never 0. Text is quoted, and
//! cannot begin a formula in a spreadsheet.

use crate::escape;
use crate::input::ReportInput;
use sysdyno_record::load::{LatencyKind, LatencySummary, PhaseSummary};
use sysdyno_record::store::Trial;

/// Longest text of a cell. Unit: columns of a terminal.
const MAX_TEXT: usize = 400;

/// Kinds of latency that have columns, in their order.
const KINDS: [LatencyKind; 5] = [
    LatencyKind::Response,
    LatencyKind::Service,
    LatencyKind::Slip,
    LatencyKind::Connect,
    LatencyKind::FirstByte,
];

/// The columns that are not latencies.
const COLUMNS: [&str; 24] = [
    "run",
    "verdict",
    "url",
    "trial",
    "purpose",
    "phase_index",
    "phase",
    "begin_mono_ns",
    "end_mono_ns",
    "connections_count",
    "offered_hz",
    "achieved_hz",
    "goodput_hz",
    "scheduled_count",
    "sent_count",
    "written_count",
    "ok_count",
    "failed_count",
    "timed_out_count",
    "in_flight_count",
    "unsent_count",
    "received_bytes",
    "connections_opened_count",
    "connections_closed_idle_count",
];

/// The table; ends with a newline. A trial that was cut off has no line.
pub fn render(input: &ReportInput<'_>) -> String {
    let mut text = header();
    for trial in input.run.trials {
        let phases = trial.end.iter().flat_map(|end| end.summary.phases.iter().enumerate());
        for (index, phase) in phases.filter(|(_, phase)| phase.kind.is_measured()) {
            text.push_str(&line(input, trial, index, phase));
        }
    }
    text
}

fn header() -> String {
    let mut names: Vec<String> = COLUMNS.iter().map(|name| (*name).to_owned()).collect();
    for kind in KINDS.map(LatencyKind::name) {
        let column = |value: &&str| format!("{kind}_{value}");
        names.extend(
            ["p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "max_ns", "mean_ns", "count"].iter().map(column),
        );
    }
    names.join(",") + "\n"
}

fn line(input: &ReportInput<'_>, trial: &Trial, index: usize, phase: &PhaseSummary) -> String {
    let counts = &phase.counts;
    let number = |value: u64| value.to_string();
    let mut cells = vec![
        quoted(&input.folder.path.to_string_lossy()),
        input.analysis.verdict.status.name().to_owned(),
        quoted(&trial.begin.plan.target.url),
        number(trial.begin.trial.into()),
        trial.begin.purpose.name().to_owned(),
        number(index as u64),
        phase.kind.name().to_owned(),
        number(phase.begin_mono_ns.0),
        number(phase.end_mono_ns.0),
        number(trial.begin.plan.connections.into()),
        rate(phase.offered_hz),
        rate(Some(phase.achieved_hz)),
        rate(Some(phase.goodput_hz)),
        number(counts.scheduled),
        number(counts.sent),
        number(counts.written),
        number(counts.ok),
        number(counts.failed),
        number(counts.timed_out),
        number(counts.in_flight),
        number(counts.unsent),
        number(phase.received_bytes),
        number(phase.connections_opened),
        number(phase.connections_closed_idle),
    ];
    debug_assert_eq!(cells.len(), COLUMNS.len(), "each column has its cell");
    KINDS.iter().for_each(|kind| cells.extend(latency(phase.latency.get(kind))));
    cells.join(",") + "\n"
}

fn latency(summary: Option<&LatencySummary>) -> [String; 7] {
    let cell = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let summary = summary.copied().unwrap_or_default();
    [
        cell(summary.p50),
        cell(summary.p90),
        cell(summary.p99),
        cell(summary.p99_9),
        cell(summary.max),
        summary.mean.map_or_else(String::new, |mean| format!("{mean:.0}")),
        summary.count.to_string(),
    ]
}

fn rate(value_hz: Option<f64>) -> String {
    value_hz.map_or_else(String::new, |value_hz| format!("{value_hz:.3}"))
}

/// Text as a cell that is nothing but text.
fn quoted(text: &str) -> String {
    let shown = escape::terminal(text, MAX_TEXT).replace('"', "\"\"");
    let guard = if shown.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    format!("\"{guard}{shown}\"")
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn text_is_a_cell_and_no_formula() {
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("=1+1"), "\"'=1+1\"");
        assert_eq!(quoted("say \"x\""), "\"say \"\"x\"\"\"");
        assert!(!quoted("a\nb\u{1b}[2J").contains(['\n', '\u{1b}']));
    }
}
