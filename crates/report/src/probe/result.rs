//! Statistics while a probe runs, its result, and its JSON document.

use super::numbers::{counts, median, percentiles, times};
use super::{ProbeInput, TABLE_NAME_COLUMNS, table, windows};
use crate::escape;
use crate::json;
use crate::number;
use crate::terminal::{Style, Tone, wrap};
use serde_json::{Value, json};
use sysdyno_record::load::FailureClauses;
use sysdyno_record::probe::{ProbeSummary, ProbedSummary, ProbedTarget};

/// Everything so far: a line for each target.
pub fn statistics(targets: &[ProbedTarget], summaries: &[ProbeSummary], style: &Style) -> String {
    let line = |(target, summary): (&ProbedTarget, &ProbeSummary)| {
        let mut parts = vec![counts(summary)];
        parts.extend(times(summary));
        parts.extend(median(summary));
        let name = escape::terminal(&target.name, TABLE_NAME_COLUMNS);
        let name = if targets.len() > 1 { format!("{name}: ") } else { String::new() };
        style.characters(&format!("{name}{}", parts.join(" · ")))
    };
    targets.iter().zip(summaries).map(line).collect::<Vec<_>>().join("\n")
}

/// The result, in a few lines.
pub fn result(input: &ProbeInput<'_>, style: &Style) -> String {
    let conclusion = input.conclusion;
    let (first, mut lines) = match conclusion.targets.as_slice() {
        [one] => (counts(&one.summary), of_one(&one.summary)),
        several => {
            let mut lines = vec![String::new()];
            lines.extend(table::counts(several, style));
            lines.push(String::new());
            lines.extend(table::percentiles(several, style));
            (conclusion.headline.clone(), lines)
        }
    };
    lines.extend(failures(&conclusion.targets).iter().flat_map(|line| wrap(line, style.width())));
    lines.extend(windows::lines(conclusion, input.clock, style));
    let text = style.characters(&lines.join("\n"));
    let first = style.characters(&escape::terminal(&first, 1_000));
    let first =
        wrap(&first, style.width()).iter().map(|line| style.dress(Tone::Strong, line)).collect::<Vec<_>>();
    format!("\n{}\n{text}", first.join("\n"))
}

fn of_one(summary: &ProbeSummary) -> Vec<String> {
    let mut lines: Vec<String> = times(summary).into_iter().collect();
    lines.push(percentiles(summary));
    lines
}

/// A line for each class of failures of each target.
fn failures(targets: &[ProbedSummary]) -> Vec<String> {
    let of_target = |target: &ProbedSummary| {
        let name = match targets.len() {
            1 => String::new(),
            _ => format!("{}: ", escape::terminal(&target.name, TABLE_NAME_COLUMNS)),
        };
        let occurred = target.summary.failures.iter().filter(|(_, count)| **count > 0);
        let line = |(class, count): (&sysdyno_record::load::FailureClass, &u64)| {
            let sentence = class.sentence(&FailureClauses::default());
            format!("{name}{} × {}: {sentence}", number::count(*count), class.name())
        };
        occurred.map(line).collect::<Vec<_>>()
    };
    targets.iter().flat_map(of_target).collect()
}

/// What `sysdyno probe --json` prints.
pub fn document(input: &ProbeInput<'_>) -> Value {
    let conclusion = input.conclusion;
    let only = match conclusion.targets.as_slice() {
        [one] => Some(one),
        _ => None,
    };
    json!({
        "schema": json::SCHEMA,
        "kind": "probe",
        "run": input.path.map(|path| path.to_string_lossy()),
        "target": only.map(|target| &target.url),
        "status": if input.is_interrupted { "interrupted" } else { "complete" },
        "headline": conclusion.headline,
        "clock": input.clock,
        "probe": only.map(|target| json::probe(&target.summary)),
        "probes": json::probes(conclusion),
        "damage": input.damage,
    })
}
