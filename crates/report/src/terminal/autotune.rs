//! The result of an autotune on one screen: what it gained, what it kept, what did nothing, and what it was not allowed to do.

use super::screen::{Rank, Screen};
use super::style::{Style, Tone};
use crate::autotune::{AutotuneInput, ending_text};
use crate::escape;
use crate::number;
use std::time::Duration;
use sysdyno_record::autotune::{TriedChange, TriedWord};

/// Changes of each kind that are printed; the report has all of them.
const CHANGES_MAX: usize = 12;

/// The result of an autotune, as `autotune` and `show` print it; ends with a newline.
pub fn render_autotune(input: &AutotuneInput<'_>, style: &Style) -> String {
    let mut screen = Screen::new(*style);
    draw_word(input, &mut screen);
    draw_tried(input, &mut screen);
    draw_meaning(input, &mut screen);
    draw_around(input, &mut screen);
    screen.finish()
}

fn draw_word(input: &AutotuneInput<'_>, screen: &mut Screen) {
    let conclusion = input.conclusion;
    let style = screen.style();
    let (tone, word) = match (conclusion.is_proven, conclusion.kept.is_empty()) {
        (true, _) => (Tone::Good, "▲ BETTER"),
        (false, true) => (Tone::Doubtful, "= AS IT WAS"),
        (false, false) => (Tone::Doubtful, "? NOT PROVEN"),
    };
    let badge = style.dress(tone, &style.characters(word));
    let url = escape::terminal(input.url(), style.width().saturating_sub(18));
    screen.push(Rank::Needed, format!("  {badge}  {}", style.dress(Tone::Quiet, &style.characters(&url))));
    screen.mark_answer();
    screen.answer((Tone::Plain, ""), (Tone::Strong, &conclusion.headline));
    let (before, after) = (conclusion.before, conclusion.outcome.zip(conclusion.before));
    if let (Some(before), Some((effect, _))) = (before, after) {
        let text = from_to(before, effect.point);
        screen.sentence(Rank::Needed, (Tone::Quiet, conclusion.metric.as_str()), (Tone::Plain, &text));
    }
}

/// A rate, and what came of it.
fn from_to(before_hz: f64, ratio: f64) -> String {
    format!("{} → {}", number::rate(before_hz), number::rate(before_hz * ratio))
}

fn draw_tried(input: &AutotuneInput<'_>, screen: &mut Screen) {
    let tried = &input.conclusion.tried;
    if tried.is_empty() {
        return;
    }
    screen.gap();
    let is_kept = |change: &&TriedChange| change.word == TriedWord::Kept;
    let (kept, others): (Vec<_>, Vec<_>) = tried.iter().partition(is_kept);
    for change in kept.iter().chain(others.iter().take(CHANGES_MAX)) {
        draw_change(change, screen);
    }
    let left = others.len().saturating_sub(CHANGES_MAX);
    if left > 0 {
        screen.sentence(
            Rank::Useful,
            (Tone::Plain, ""),
            (Tone::Quiet, &format!("and {left} more in the report")),
        );
    }
}

fn draw_change(change: &TriedChange, screen: &mut Screen) {
    let (tone, shape) = match change.word {
        TriedWord::Kept => (Tone::Good, "✔"),
        TriedWord::Worse => (Tone::Bad, "▼"),
        TriedWord::NoDifference | TriedWord::TakenBack => (Tone::Quiet, "="),
        TriedWord::NotProven | TriedWord::CannotTell => (Tone::Doubtful, "?"),
    };
    let word = format!("{shape} {}", label(change.word));
    let rank = if change.word == TriedWord::Kept { Rank::Needed } else { Rank::Useful };
    screen.sentence(rank, (tone, &word), (Tone::Plain, &change.sentence));
}

fn draw_meaning(input: &AutotuneInput<'_>, screen: &mut Screen) {
    let conclusion = input.conclusion;
    let [first, last] = &conclusion.bottlenecks;
    if first.is_some() || !conclusion.given_up.is_empty() || !conclusion.not_allowed.is_empty() {
        screen.gap();
    }
    if let Some(first) = first {
        screen.sentence(Rank::Useful, (Tone::Quiet, "at first"), (Tone::Plain, first));
    }
    if let Some(last) = last.as_ref().filter(|last| Some(*last) != first.as_ref()) {
        screen.sentence(Rank::Useful, (Tone::Quiet, "at last"), (Tone::Plain, last));
    }
    for given in &conclusion.given_up {
        screen.sentence(Rank::Needed, (Tone::Doubtful, "given up"), (Tone::Plain, given));
    }
    for candidate in conclusion.not_allowed.iter().take(CHANGES_MAX) {
        let needs: Vec<&str> = candidate.needs.iter().map(|need| need.name()).collect();
        let text = format!("{} (needs {})", candidate.title, needs.join(", "));
        screen.sentence(Rank::Useful, (Tone::Quiet, "left out"), (Tone::Plain, &text));
    }
}

fn draw_around(input: &AutotuneInput<'_>, screen: &mut Screen) {
    let conclusion = input.conclusion;
    screen.gap();
    let took = number::span(Duration::from_nanos(conclusion.elapsed_ns));
    let steps = number::counted(conclusion.steps_count.into(), "step");
    let ending = format!("{}, after {steps} in {took}", ending_text(conclusion.ending));
    screen.sentence(Rank::Extra, (Tone::Quiet, "end"), (Tone::Quiet, &ending));
    let state = match (conclusion.kept.is_empty(), conclusion.is_in_force) {
        (true, _) => "the server is as it was found",
        (false, true) => "what was kept is in force",
        (false, false) => "everything is undone; keep.sh in the folder makes what was kept last",
    };
    screen.sentence(Rank::Useful, (Tone::Quiet, "settings"), (Tone::Plain, state));
    let report = input.path.join("report.html").display().to_string();
    screen.sentence(Rank::Needed, (Tone::Quiet, "report"), (Tone::Plain, &report));
}

/// The word for a change, as short as the column of labels.
fn label(word: TriedWord) -> &'static str {
    match word {
        TriedWord::Kept => "kept",
        TriedWord::TakenBack => "undone",
        TriedWord::NotProven => "unproven",
        TriedWord::NoDifference => "the same",
        TriedWord::Worse => "worse",
        TriedWord::CannotTell => "unclear",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_its_unit_once() {
        assert_eq!(from_to(95_770.0, 1.8), "95,770 req/s → 172,400 req/s");
    }
}
