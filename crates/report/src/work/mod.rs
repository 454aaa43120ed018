//! Work on this host (commands, file operations) as people and programs read it: a screen, one JSON document, one page.

mod page;
mod screen;

pub use page::page;
pub use screen::screen;

use crate::number;
use serde_json::{Value, json};
use sysdyno_record::store::Run;
use sysdyno_record::view::FolderView;
use sysdyno_record::work::{Spread, WaitSummary, WorkLine, WorkPlan, WorkSummary};

/// One record of work, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct WorkInput<'a> {
    /// The run folder.
    pub folder: FolderView<'a>,
    /// What was to be done.
    pub plan: &'a WorkPlan,
    /// What was done.
    pub operations: &'a [WorkLine],
    /// What came of it.
    pub summary: &'a WorkSummary,
}

impl<'a> WorkInput<'a> {
    /// A run as it was read, with its conclusion.
    pub fn new(run: &'a Run, plan: &'a WorkPlan, summary: &'a WorkSummary) -> WorkInput<'a> {
        WorkInput { folder: run.folder_view(), plan, operations: &run.operations, summary }
    }
}

/// The JSON document: plan, conclusion and every line.
pub fn document(input: &WorkInput<'_>) -> Value {
    json!({
        "schema": crate::json::SCHEMA,
        "kind": "work",
        "run": input.folder.path.to_string_lossy(),
        "status": crate::json::status(&input.folder),
        "verdict": input.summary.verdict,
        "headline": input.summary.headline,
        "plan": input.plan,
        "summary": input.summary,
        "operations": input.operations,
        "damage": input.folder.damage,
    })
}

/// How a number of a spread is written.
type Written = fn(f64) -> String;

/// A row of the table of a command: label, spread, and how its numbers are written.
struct Row<'a> {
    label: &'a str,
    spread: Option<&'a Spread>,
    written: Written,
}

/// What limits were seen: that of each command where there are several.
fn limits(summary: &WorkSummary) -> Vec<String> {
    if summary.commands.is_empty() {
        return summary.limit.iter().cloned().collect();
    }
    let each = summary.commands.iter();
    each.filter_map(|one| Some(format!("{}: {}", one.name, one.limit.as_ref()?))).collect()
}

/// Parts of the time that are shown, and the smallest of them. Unit: ratio.
const MAX_PARTS: usize = 5;
const MIN_PART: f64 = 0.005;

/// What commands spent their time on: each command by itself where there are several.
fn budgets(summary: &WorkSummary) -> Vec<String> {
    let part = |part: &WaitSummary| {
        let time = number::duration_ns(part.time_ns as u64);
        format!("{} {} ({time})", part.wait.title(), number::percent(part.share_ratio))
    };
    let line = |waits: &[WaitSummary]| {
        let shown = waits.iter().take(MAX_PARTS).filter(|part| part.share_ratio >= MIN_PART);
        shown.map(part).collect::<Vec<_>>().join(" · ")
    };
    if summary.commands.is_empty() {
        return Some(&summary.waits)
            .filter(|waits| !waits.is_empty())
            .map(|waits| line(waits))
            .into_iter()
            .collect();
    }
    let each = summary.commands.iter().filter(|one| !one.waits.is_empty());
    each.map(|one| format!("{}: {}", one.name, line(&one.waits))).collect()
}

/// The rows of the table of a command, in their order.
fn rows(summary: &WorkSummary) -> Vec<Row<'_>> {
    fn row<'a>(label: &'a str, spread: Option<&'a Spread>, written: Written) -> Row<'a> {
        Row { label, spread, written }
    }
    let microseconds: Written = |us| number::duration_ns((us * 1e3) as u64);
    let bytes: Written = |bytes| number::bytes(bytes as u64);
    let count: Written = |count| number::count(count as u64);
    let duration: Written = |ns| number::duration_ns(ns as u64);
    let each = summary.commands.iter().map(|one| row(one.name.as_str(), one.wall_ns.as_ref(), duration));
    let all = [
        row("wall", summary.wall_ns.as_ref(), duration),
        row("user", summary.user_us.as_ref(), microseconds),
        row("system", summary.system_us.as_ref(), microseconds),
        row("read", summary.read_bytes.as_ref(), bytes),
        row("written", summary.written_bytes.as_ref(), bytes),
        row("I/O calls", summary.io_calls_count.as_ref(), count),
        row("major f.", summary.major_faults_count.as_ref(), count),
        row("minor f.", summary.minor_faults_count.as_ref(), count),
        row("max RSS", summary.max_rss_bytes.as_ref(), bytes),
    ];
    let served = summary.served.as_ref();
    let rate: Written = number::rate;
    let cpus: Written = |cpus| format!("{cpus:.2}");
    let counted = served.map(|served| {
        [
            row("operations", Some(&served.operations_count), count),
            row("rate", Some(&served.rate_hz), rate),
            row("CPU each", served.cpu_ns.as_ref(), duration),
            row("server's", served.server_cpu_ns.as_ref(), duration),
            row("CPUs", served.busy_cpus.as_ref(), cpus),
            row("server's", served.server_busy_cpus.as_ref(), cpus),
        ]
    });
    counted.into_iter().flatten().chain(each).chain(all).collect()
}

/// Headers of that table, without the label.
const HEADERS: [&str; 5] = ["median", "min", "max", "mean", "± deviation"];

impl Row<'_> {
    /// The cells; `None`: the numbers are not known.
    fn cells(&self) -> Option<[String; 5]> {
        let spread = self.spread?;
        let written = |value| (self.written)(value);
        let deviation = spread.deviation.map_or_else(|| number::MISSING.to_owned(), written);
        Some([
            written(spread.median),
            written(spread.min),
            written(spread.max),
            written(spread.mean),
            deviation,
        ])
    }
}

/// The work in words, for one line.
fn described(plan: &WorkPlan) -> String {
    use sysdyno_record::work::{CacheChoice, WorkKind};
    let cache = match plan.cache {
        CacheChoice::AsIs => "",
        CacheChoice::Cold => " · cold cache before each run",
        CacheChoice::Warm => " · warm cache",
    };
    let workers = if plan.workers == 1 { "1 worker".to_owned() } else { format!("{} workers", plan.workers) };
    match &plan.kind {
        WorkKind::Command(command) => format!("{} · {workers}{cache}", command.run.text),
        WorkKind::Files(files) => format!(
            "{} files of {} per worker in {} · {workers}",
            number::count(files.files_count.into()),
            number::bytes(files.file_bytes.into()),
            files.folder.display()
        ),
    }
}
