//! The page: what the screen says, and every run in a table. It has no script and loads nothing.

use super::{HEADERS, WorkInput, budgets, described, limits, rows};
use crate::escape;
use crate::number;
use std::fmt::Write;
use sysdyno_record::work::{CommandRun, Ending, Step, WorkKind, WorkLine};

/// Runs that are in the table; the record has all of them.
const MAX_RUNS: usize = 5_000;

/// Longest text that is shown. Unit: columns.
const MAX_TEXT: usize = 400;

const HEAD: &str = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
<meta name=\"viewport\" content=\"width=device-width\"><title>sysdyno</title><style>\
:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem}\
table{border-collapse:collapse;margin:1rem 0}th,td{padding:.2rem .8rem;text-align:right;\
font-variant-numeric:tabular-nums;border-bottom:1px solid #8884}th:first-child,td:first-child{text-align:left}\
code{overflow-wrap:anywhere}</style></head><body>\n";

/// The page of a record of work.
pub fn page(input: &WorkInput<'_>) -> String {
    let mut page = HEAD.to_owned();
    let verdict = &input.summary.verdict;
    let _ = writeln!(page, "<h1>{}: {}</h1>", verdict.status.name(), text(&input.summary.headline));
    for reason in &verdict.reasons {
        let (id, seen, remedy) = (text(&reason.id), text(&reason.text), text(&reason.remedy));
        let _ = writeln!(page, "<p><b>{} {id}</b> {seen}. {remedy}</p>", reason.status.name());
    }
    for damage in input.folder.damage {
        let _ = writeln!(page, "<p><b>damaged</b> {}</p>", text(damage));
    }
    let _ = writeln!(page, "<p>{}</p>", text(&described(input.plan)));
    match &input.plan.kind {
        WorkKind::Command(_) => commands(&mut page, input),
        WorkKind::Files(_) => files(&mut page, input),
    }
    for budget in budgets(input.summary) {
        let _ = writeln!(page, "<p>Time: {}</p>", text(&budget));
    }
    for limit in limits(input.summary) {
        let _ = writeln!(page, "<p>Bottleneck: {}</p>", text(&limit));
    }
    let tool = text(&input.folder.manifest.tool.version);
    let _ = writeln!(page, "<p><code>{}</code></p>", text(&input.folder.manifest.command.join(" ")));
    let _ = writeln!(page, "<p>sysdyno {tool} · {}</p></body></html>", input.folder.manifest.started_unix_ns);
    page
}

/// Untrusted text as the content of an element.
fn text(untrusted: &str) -> String {
    let shown = escape::terminal(untrusted, MAX_TEXT);
    shown.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn row<'a>(page: &mut String, cell: &str, cells: impl IntoIterator<Item = &'a str>) {
    page.push_str("<tr>");
    for content in cells {
        let _ = write!(page, "<{cell}>{}</{cell}>", text(content));
    }
    page.push_str("</tr>\n");
}

fn commands(page: &mut String, input: &WorkInput<'_>) {
    let summary = input.summary;
    page.push_str("<h2>Successful runs</h2><table>\n");
    row(page, "th", [""].into_iter().chain(HEADERS));
    for line in rows(summary) {
        let cells =
            line.cells().unwrap_or_else(|| [const { String::new() }; 5].map(|_| number::MISSING.into()));
        row(page, "td", [line.label].into_iter().chain(cells.iter().map(String::as_str)));
    }
    page.push_str("</table>\n<h2>All runs</h2><table>\n");
    row(page, "th", ["run", "worker", "ended", "wall", "user", "system", "read", "written", "major faults"]);
    let runs = input.operations.iter().filter_map(|line| match line {
        WorkLine::Command(run) if run.step == Step::Run => Some(run),
        _ => None,
    });
    for run in runs.take(MAX_RUNS) {
        let cells = cells(run);
        row(page, "td", cells.iter().map(String::as_str));
    }
    page.push_str("</table>\n");
    let hidden = (summary.runs_count as usize).saturating_sub(MAX_RUNS);
    if hidden > 0 {
        let _ = writeln!(page, "<p>and {} more in the record</p>", number::count(hidden as u64));
    }
}

fn cells(run: &CommandRun) -> [String; 9] {
    let used = run.usage.as_ref();
    let time = |us: Option<u64>| number::duration_or_missing(us.map(|us| us.saturating_mul(1000)));
    let bytes = |bytes: Option<u64>| bytes.map_or_else(|| number::MISSING.to_owned(), number::bytes);
    let io = used.and_then(|usage| usage.io);
    [
        run.number.to_string(),
        run.worker.to_string(),
        ended(&run.ending),
        number::duration_ns(run.end_mono_ns.since(run.begin_mono_ns)),
        time(used.map(|usage| usage.user_us)),
        time(used.map(|usage| usage.system_us)),
        bytes(io.map(|io| io.read_bytes)),
        bytes(io.map(|io| io.written_bytes)),
        used.map_or_else(|| number::MISSING.to_owned(), |usage| number::count(usage.major_faults_count)),
    ]
}

fn ended(ending: &Ending) -> String {
    match ending {
        Ending::Exit(code) => format!("exit {code}"),
        Ending::Signal(signal) => format!("signal {signal}"),
        Ending::TimedOut => "timed out".into(),
        Ending::Interrupted => "cut off".into(),
        Ending::NotStarted(cause) | Ending::Output(cause) => cause.clone(),
    }
}

fn files(page: &mut String, input: &WorkInput<'_>) {
    page.push_str("<h2>File operations</h2><table>\n");
    row(page, "th", ["operation", "per second", "p50", "p90", "p99", "max", "ok", "failed"]);
    for kind in &input.summary.files {
        let latency = &kind.latency;
        let cells = [
            kind.operation.name().to_owned(),
            number::significant(kind.rate_hz, 4),
            number::duration_or_missing(latency.p50),
            number::duration_or_missing(latency.p90),
            number::duration_or_missing(latency.p99),
            number::duration_or_missing(latency.max),
            number::count(kind.ok_count),
            number::count(kind.failures.values().sum()),
        ];
        row(page, "td", cells.iter().map(String::as_str));
    }
    page.push_str("</table>\n");
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn no_text_becomes_markup() {
        assert_eq!(text("<script>\"&"), "&lt;script&gt;&quot;&amp;");
        assert!(!text("a\u{1b}[2J").contains('\u{1b}'));
    }
}
