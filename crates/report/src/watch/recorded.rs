//! The record of a watched host as people and programs read it: what was at its limit, how much of each resource was used, and by whom.

use crate::escape;
use crate::number;
use crate::place;
use crate::terminal::{Rank, Screen, Style, Tone, draw_reason, draw_state, shape};
use serde_json::{Value, json};
use std::time::Duration;
use sysdyno_record::analysis::{Analysis, Finding};
use sysdyno_record::plan::Plan;
use sysdyno_record::store::Run;
use sysdyno_record::units::MonoNs;
use sysdyno_record::view::FolderView;
use sysdyno_record::watched::{HostSummary, ResourceLevel, WatchedCpu, WatchedResource};

/// Columns of a name, and of a number, in the tables.
const COLUMNS: [usize; 2] = [26, 12];

/// Findings and processes on the screen; the record and `--output json` have all of them.
const LINES_MAX: usize = 8;

/// The record of a watched host, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct RecordedInput<'a> {
    /// The run folder.
    pub folder: FolderView<'a>,
    /// What was to be recorded; `None`: not written, or damaged.
    pub plan: Option<&'a Plan>,
    /// What was concluded.
    pub analysis: &'a Analysis,
}

impl<'a> RecordedInput<'a> {
    /// A run as it was read, with its conclusions.
    pub fn new(run: &'a Run, analysis: &'a Analysis) -> RecordedInput<'a> {
        RecordedInput { folder: run.folder_view(), plan: run.plan.as_ref(), analysis }
    }
}

/// The JSON document.
pub fn recorded_document(input: &RecordedInput<'_>) -> Value {
    let analysis = input.analysis;
    json!({
        "schema": crate::json::SCHEMA,
        "kind": input.folder.manifest.kind,
        "run": input.folder.path.to_string_lossy(),
        "status": crate::json::status(&input.folder),
        "verdict": analysis.verdict,
        "headline": analysis.headline,
        "limit": analysis.limit,
        "watched": analysis.watched,
        "findings": analysis.findings,
        "plan": input.plan,
        "damage": input.folder.damage,
    })
}

/// The record on a screen; ends with a newline.
pub fn recorded_screen(input: &RecordedInput<'_>, style: &Style) -> String {
    let analysis = input.analysis;
    let mut screen = Screen::new(*style);
    screen.answer(shape(analysis.verdict.status), (Tone::Strong, &analysis.headline));
    draw_state(&input.folder, &mut screen);
    analysis.verdict.reasons.iter().for_each(|reason| draw_reason(reason, &mut screen));
    screen.gap();
    let begin = input.folder.manifest.clock.mono_ns;
    screen.answer((Tone::Quiet, "Limits"), (Tone::Strong, &limit(analysis)));
    analysis.findings.iter().take(LINES_MAX).for_each(|finding| draw_finding(finding, begin, &mut screen));
    if let Some(summary) = &analysis.watched {
        draw_levels(summary, begin, &mut screen);
        draw_processes(summary, &mut screen);
    }
    screen.gap();
    place::draw(&input.folder, &mut screen);
    screen.finish()
}

fn limit(analysis: &Analysis) -> String {
    match analysis.findings.len() {
        0 => analysis.limit.clone(),
        1 => "1 finding; nobody knows whether requests waited, because no load was sent".to_owned(),
        count => format!("{count} findings; nobody knows whether requests waited, because no load was sent"),
    }
}

/// A conclusion, the times at which it was seen, and what could be changed.
fn draw_finding(finding: &Finding, begin: MonoNs, screen: &mut Screen) {
    screen.sentence(
        Rank::Needed,
        (Tone::Doubtful, &format!("▲ {}", finding.id)),
        (Tone::Plain, &finding.title),
    );
    let mut times: Vec<[MonoNs; 2]> =
        finding.evidence.iter().map(|one| [one.begin_mono_ns, one.end_mono_ns]).collect();
    times.sort_unstable();
    let times: Vec<String> =
        times.iter().map(|[from, to]| format!("{}–{}", at(*from, begin), at(*to, begin))).collect();
    screen.sentence(
        Rank::Useful,
        (Tone::Plain, ""),
        (Tone::Quiet, &format!("strongest at {}", times.join(", "))),
    );
    if let Some(remedy) = &finding.remedy {
        screen.sentence(Rank::Useful, (Tone::Quiet, "to change"), (Tone::Plain, remedy));
    }
}

/// An instant as the time since the record began.
fn at(instant: MonoNs, begin: MonoNs) -> String {
    number::clock(Duration::from_nanos(instant.since(begin)))
}

fn table_row(style: &Style, name: &str, cells: &[String]) -> String {
    let mut row = style.characters(&escape::terminal(name, COLUMNS[0]));
    row.push_str(&" ".repeat(COLUMNS[0].saturating_sub(escape::width(&row))));
    for cell in cells {
        let cell = style.characters(cell);
        row.push_str(&" ".repeat(COLUMNS[1].saturating_sub(escape::width(&cell))));
        row.push_str(&cell);
    }
    row
}

fn draw_levels(summary: &HostSummary, begin: MonoNs, screen: &mut Screen) {
    let style = screen.style();
    screen.gap();
    let head = table_row(&style, "", &["mean", "worst", "at"].map(str::to_owned));
    screen.row(Rank::Useful, (Tone::Quiet, "Resources"), &[(Tone::Quiet, &head)]);
    for level in &summary.levels {
        let cells = [written(level, level.mean), written(level, level.worst), at(level.begin_mono_ns, begin)];
        let row = table_row(&style, &named(level), &cells);
        screen.row(Rank::Useful, (Tone::Plain, ""), &[(Tone::Plain, &row)]);
    }
}

fn draw_processes(summary: &HostSummary, screen: &mut Screen) {
    if summary.processes.is_empty() {
        return;
    }
    let style = screen.style();
    screen.gap();
    let head = table_row(&style, "", &["mean", "worst", "pid"].map(str::to_owned));
    screen.row(Rank::Useful, (Tone::Quiet, "CPU used by"), &[(Tone::Quiet, &head)]);
    for process in summary.processes.iter().take(LINES_MAX) {
        let WatchedCpu { pid, command, mean_cpus, worst_cpus, .. } = process;
        let cells = [number::percent(*mean_cpus), number::percent(*worst_cpus), pid.to_string()];
        let row = table_row(&style, command, &cells);
        screen.row(Rank::Useful, (Tone::Plain, ""), &[(Tone::Plain, &row)]);
    }
}

/// What a level is of.
fn named(level: &ResourceLevel) -> String {
    let what = match level.resource {
        WatchedResource::Cpus => "CPUs busy",
        WatchedResource::Cpu => "busiest CPU",
        WatchedResource::Softirq => "interrupts on one CPU",
        WatchedResource::CpuPressure => "tasks waited for a CPU",
        WatchedResource::Memory => "memory available",
        WatchedResource::MemoryPressure => "tasks waited for memory",
        WatchedResource::Disk => "busiest disk",
        WatchedResource::IoPressure => "tasks waited for disks",
        WatchedResource::Received => "received",
        WatchedResource::Sent => "sent",
    };
    level.object.as_ref().map_or_else(|| what.to_owned(), |object| format!("{what} ({object})"))
}

fn written(level: &ResourceLevel, value: f64) -> String {
    match level.resource {
        WatchedResource::Memory => number::bytes(value.max(0.0) as u64),
        WatchedResource::Received | WatchedResource::Sent => {
            format!("{}/s", number::bytes(value.max(0.0) as u64))
        }
        _ => number::percent(value),
    }
}
