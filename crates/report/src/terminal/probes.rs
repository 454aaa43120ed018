//! What outsiders saw beside a load: a row for each target, and the windows in which they lost.

use super::screen::{Rank, Screen};
use super::style::Tone;
use crate::escape;
use crate::input::ReportInput;
use crate::number;
use crate::probe;
use sysdyno_record::probe::ProbeSummary;

/// Longest name of a target that is the label of its row. Unit: columns.
const LABEL_COLUMNS_MAX: usize = 10;

/// Longest name of a target in its row. Unit: columns.
const NAME_COLUMNS_MAX: usize = 40;

/// Windows that a screen lists.
const LISTED_MAX: usize = 5;

pub(super) fn draw(input: &ReportInput<'_>, screen: &mut Screen) {
    let analysis = input.analysis;
    let Some(probes) = analysis.probes.as_ref() else {
        // A record of an earlier version.
        if let Some(summary) = &analysis.probe {
            draw_row(screen, ("probe", &format!("({}) ", summary.kind.name())), summary);
        }
        return;
    };
    for target in &probes.targets {
        let (name, kind) = (escape::terminal(&target.name, NAME_COLUMNS_MAX), target.summary.kind.name());
        let lead = match probes.targets.len() {
            1 if target.name == kind => ("probe", format!("({kind}) ")),
            _ if escape::width(&name) <= LABEL_COLUMNS_MAX => (name.as_str(), String::new()),
            _ => ("probe", format!("{name}: ")),
        };
        draw_row(screen, (lead.0, &lead.1), &target.summary);
    }
    if probes.windows.is_empty() {
        return;
    }
    screen.sentence(Rank::Useful, (Tone::Quiet, "Loss"), (Tone::Plain, &probes.headline));
    for window in probes.windows.iter().take(LISTED_MAX) {
        let at = input.folder.manifest.clock.wall(window.begin_mono_ns).rfc3339_millis();
        let text =
            format!("{} {}", at.get(11..23).unwrap_or(&at), probe::window_sentence(window, &probes.targets));
        screen.sentence(Rank::Extra, (Tone::Quiet, ""), (Tone::Quiet, &text));
    }
    let more = probes.windows_count.saturating_sub(probes.windows.len().min(LISTED_MAX) as u64);
    if more > 0 {
        let text = format!("and {} more", number::count(more));
        screen.row(Rank::Extra, (Tone::Quiet, ""), &[(Tone::Quiet, &text)]);
    }
}

fn draw_row(screen: &mut Screen, (label, lead): (&str, &str), summary: &ProbeSummary) {
    let text = format!("{lead}{}", probe::row(summary));
    screen.row(Rank::Useful, (Tone::Plain, label), &[(Tone::Plain, &text)]);
}
