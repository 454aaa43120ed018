//! The variants of an experiment: their names, and the bottleneck of each.

use super::worst;
use crate::escape;
use crate::number;
use crate::terminal::{Rank, Screen, Tone};
use sysdyno_record::analysis::VerdictStatus;
use sysdyno_record::comparison::RunsComparison;

/// Lines of the names of variants, and columns of one name.
const VARIANT_LINES: usize = 5;
const VARIANT_COLUMNS: usize = 30;

/// What the variants of an experiment are called, which says more than their runs; as many in a line as fit, each with a mark
/// unless it is valid.
pub(super) fn draw_names(comparison: &RunsComparison, screen: &mut Screen) {
    let named = comparison.sides.iter().map(|side| {
        let mark = match worst(side) {
            VerdictStatus::Valid => "",
            VerdictStatus::Suspect => " ▲",
            VerdictStatus::Invalid => " ✘",
        };
        format!("{} {}{mark}", side.letter, escape::terminal(&side.name, VARIANT_COLUMNS))
    });
    let mut lines: Vec<String> = Vec::new();
    for name in named {
        match lines.last_mut() {
            Some(line) if escape::width(line) + escape::width(&name) + 3 <= screen.body_columns() => {
                line.push_str(" · ");
                line.push_str(&name);
            }
            _ => lines.push(name),
        }
    }
    for (number, line) in lines.iter().take(VARIANT_LINES).enumerate() {
        let label = if number == 0 { "Variants" } else { "" };
        screen.row(Rank::Useful, (Tone::Quiet, label), &[(Tone::Plain, line)]);
    }
    if lines.len() > VARIANT_LINES {
        screen.row(Rank::Extra, (Tone::Plain, ""), &[(Tone::Quiet, "and more in the report")]);
    }
    screen.gap();
}

/// What limits each variant of an experiment, as most of its runs say.
pub(super) fn draw_found(comparison: &RunsComparison, screen: &mut Screen) {
    let Some(experiment) = &comparison.experiment else { return };
    for variant in &experiment.variants {
        let Some(found) = variant.found.first() else { continue };
        let count: u64 = variant.found.iter().map(|found| found.runs_count).sum();
        let failed = variant.failed_ratio.filter(|ratio| *ratio > 0.0);
        let failed =
            failed.map_or(String::new(), |ratio| format!("; {} of requests failed", number::percent(ratio)));
        let text = format!("{} ({} of {} runs){failed}", found.title, found.runs_count, count);
        let label = format!("limit {}", comparison.sides[variant.side].letter);
        screen.sentence(Rank::Useful, (Tone::Quiet, &label), (Tone::Plain, &text));
    }
    if experiment.measured_count < experiment.planned_count {
        let text =
            format!("{} of {} trials were measured", experiment.measured_count, experiment.planned_count);
        screen.sentence(Rank::Needed, (Tone::Doubtful, "Missing"), (Tone::Plain, &text));
    }
    if experiment.repeated_count > 0 {
        let runs = match experiment.repeated_count {
            1 => "1 disturbed run was".to_owned(),
            count => format!("{count} disturbed runs were"),
        };
        let text = format!("{runs} repeated");
        screen.sentence(Rank::Useful, (Tone::Quiet, "Repeated"), (Tone::Plain, &text));
    }
}
