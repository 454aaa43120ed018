//! Runs side by side on one screen of a terminal.
//!
//! First the word and the sentence, then the sides, the objections to comparing them, and the numbers. A refused side shows
//! its numbers and no difference.

mod gates;
mod hosts;
mod table;
mod users;
mod variants;

use crate::escape;
use crate::number;
use crate::terminal::{Rank, Screen, Style, Tone, shape};
use std::path::Path;
use sysdyno_record::analysis::VerdictStatus;
use sysdyno_record::comparison::{ComparedSide, RunsComparison};
use sysdyno_record::effect::Comparison;

/// Sides that are printed with their runs.
const SIDES_MAX: usize = 6;

/// A comparison as `sysdyno compare` prints it; ends with a newline. `page`: where its page is.
pub fn render(comparison: &RunsComparison, page: Option<&Path>, style: &Style) -> String {
    let mut screen = Screen::new(*style);
    draw_answer(comparison, &mut screen);
    match (&comparison.experiment, &comparison.hosts) {
        (Some(_), _) => variants::draw_names(comparison, &mut screen),
        (None, Some(shown)) => hosts::draw(comparison, shown, &mut screen),
        (None, None) => draw_sides(comparison, &mut screen),
    }
    users::draw(comparison, &mut screen);
    gates::draw(comparison, &mut screen);
    table::draw(comparison, &mut screen);
    variants::draw_found(comparison, &mut screen);
    match comparison.hosts {
        Some(_) => hosts::draw_differences(comparison, &mut screen),
        None => draw_machines(comparison, &mut screen),
    }
    for limit in &comparison.limits {
        screen.sentence(Rank::Extra, (Tone::Quiet, "Note"), (Tone::Quiet, limit));
    }
    if let Some(page) = page {
        screen.path("Page", &page.to_string_lossy());
    }
    screen.finish()
}

/// A word with its shape.
fn word(word: Comparison) -> (Tone, &'static str) {
    match word {
        Comparison::Better => (Tone::Good, "▲ better"),
        Comparison::Worse => (Tone::Bad, "▼ worse"),
        Comparison::Same => (Tone::Strong, "= same"),
        Comparison::CannotTell => (Tone::Quiet, "? can't tell"),
    }
}

fn draw_answer(comparison: &RunsComparison, screen: &mut Screen) {
    let label = match comparison.verdicts.as_slice() {
        _ if is_partly_refused(comparison) => (Tone::Bad, "✘ PARTLY"),
        _ if comparison.is_refused => (Tone::Bad, "✘ REFUSED"),
        [one] => word(one.verdict.word),
        _ => (Tone::Strong, "Result"),
    };
    let label = (label.0, if label.1.ends_with("can't tell") { "? unclear" } else { label.1 });
    screen.answer(label, (Tone::Strong, &comparison.headline));
    for verdict in comparison.verdicts.iter().filter(|_| comparison.verdicts.len() > 1) {
        let letter = format!("  {}", comparison.sides[verdict.side].letter);
        screen.row(Rank::Extra, (Tone::Plain, &letter), &[(Tone::Plain, &verdict.sentence)]);
    }
    let capped = comparison.verdicts.iter().flat_map(|verdict| &verdict.verdict.capped_by).next();
    if let (Some(capped), false) = (capped, comparison.is_refused) {
        screen.sentence(Rank::Useful, (Tone::Plain, ""), (Tone::Quiet, capped));
    }
    screen.gap();
}

/// Whether some sides may not be compared with the first, and others may; or, of machines, some variants.
fn is_partly_refused(comparison: &RunsComparison) -> bool {
    let mut metrics = comparison.operations.iter().flat_map(|operation| &operation.metrics);
    if comparison.hosts.is_some() && comparison.is_refused {
        return metrics.any(|metric| !metric.effects.is_empty());
    }
    let [first, others @ ..] = comparison.sides.as_slice() else { return false };
    !first.is_refused
        && others.iter().any(|side| side.is_refused)
        && others.iter().any(|side| !side.is_refused)
}

fn draw_sides(comparison: &RunsComparison, screen: &mut Screen) {
    let shown = if screen.is_endless() { comparison.sides.len() } else { SIDES_MAX };
    for side in comparison.sides.iter().take(shown) {
        let first = side.runs.first();
        let count = side.runs.len();
        let runs =
            if count == 1 { String::new() } else { format!(" and {} more", number::count(count as u64 - 1)) };
        let id = first.map_or_else(|| side.name.clone(), |run| format!("{}{runs}", run.id));
        let url = first.map_or("", |run| run.url.as_str());
        let (tone, status) = shape(worst(side));
        screen.row(
            Rank::Useful,
            (Tone::Strong, &side.letter),
            &[
                (Tone::Plain, &id),
                (Tone::Plain, "  "),
                (Tone::Quiet, url),
                (Tone::Plain, "  "),
                (tone, status),
            ],
        );
    }
    let hidden = comparison.sides.len().saturating_sub(shown);
    if hidden > 0 {
        let text = format!("and {} more sides", number::count(hidden as u64));
        screen.row(Rank::Extra, (Tone::Plain, ""), &[(Tone::Quiet, &text)]);
    }
}

fn worst(side: &ComparedSide) -> VerdictStatus {
    side.runs.iter().map(|run| run.status).max().unwrap_or(VerdictStatus::Invalid)
}

fn draw_machines(comparison: &RunsComparison, screen: &mut Screen) {
    for machine in comparison.machines.iter().take(2) {
        let names: Vec<String> = machine
            .differences
            .iter()
            .take(3)
            .map(|difference| escape::terminal(&difference.name, 40))
            .collect();
        let noun = if machine.count == 1 { "fact differs" } else { "facts differ" };
        let text = format!(
            "{} {noun} between A and {}, most important {}; `sysdyno facts` explains them",
            number::count(machine.count),
            comparison.sides[machine.side].letter,
            names.join(", ")
        );
        screen.sentence(Rank::Useful, (Tone::Quiet, "Machines"), (Tone::Plain, &text));
    }
}
