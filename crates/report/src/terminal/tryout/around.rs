//! What was changed, how to undo or keep it, what the result is based on, and where the full report is.

use super::super::screen::{Rank, Screen};
use super::super::style::Tone;
use super::super::verdict::draw_state;
use crate::escape;
use crate::number;
use crate::place;
use crate::tryout::{TryInput, stop_text};
use std::time::Duration;
use sysdyno_record::effect::Comparison;

/// Changes that are printed; the report has all of them.
const CHANGES_MAX: usize = 3;

/// A resolution worse than this says no more than that there is none.
const SEEN_MAX: f64 = 1.0;

pub(super) fn draw(input: &TryInput<'_>, screen: &mut Screen) {
    draw_changes(input, screen);
    screen.gap();
    draw_warnings(input, screen);
    draw_pairs(input, screen);
    draw_resolution(input, screen);
    draw_run(input, screen);
    place::draw(&input.folder, screen);
}

fn draw_changes(input: &TryInput<'_>, screen: &mut Screen) {
    let conclusion = input.conclusion;
    if conclusion.changes.is_empty() {
        return;
    }
    screen.gap();
    let fate = match conclusion.is_kept {
        // Whoever died could not write that it undid anything; the guardian or the next start does.
        _ if input.folder.is_incomplete => "check `sysdyno tune status`",
        true => "kept",
        false => "undone",
    };
    for change in conclusion.changes.iter().take(CHANGES_MAX) {
        let text = format!("{}: {} → {}", change.key, change.before, change.after);
        let fate = format!(" ({fate})");
        screen.row(Rank::Needed, (Tone::Quiet, "Changed"), &[(Tone::Strong, &text), (Tone::Plain, &fate)]);
    }
    let hidden = conclusion.changes.len().saturating_sub(CHANGES_MAX);
    if hidden > 0 {
        let text = format!("and {hidden} more settings in the report");
        screen.row(Rank::Useful, (Tone::Plain, ""), &[(Tone::Quiet, &text)]);
    }
    let changes = conclusion.changes.iter().take(CHANGES_MAX);
    let undo: Vec<&str> = changes.clone().flat_map(|change| change.undo.iter().map(String::as_str)).collect();
    let persist: Vec<&str> = changes.filter_map(|change| change.persist.as_deref()).collect();
    let rank = if conclusion.is_kept { Rank::Needed } else { Rank::Useful };
    // What is undone needs no undoing, and what was not proved is not recommended.
    if conclusion.is_kept || input.folder.is_incomplete {
        draw_commands(screen, rank, "Undo", &undo);
    }
    if conclusion.verdict.word == Comparison::Better {
        draw_commands(screen, rank, "Persist", &persist);
    }
}

/// Commands to type, in one line.
fn draw_commands(screen: &mut Screen, rank: Rank, label: &str, commands: &[&str]) {
    if !commands.is_empty() {
        screen.row(rank, (Tone::Quiet, label), &[(Tone::Plain, &commands.join("; "))]);
    }
}

fn draw_warnings(input: &TryInput<'_>, screen: &mut Screen) {
    draw_state(&input.folder, screen);
    let warnings = input.conclusion.diagnostics.iter().filter(|diagnostic| diagnostic.is_warning);
    for diagnostic in warnings {
        screen.sentence(Rank::Needed, (Tone::Doubtful, "▲ warning"), (Tone::Plain, &diagnostic.sentence));
    }
}

/// How many pairs count, and why no more were measured.
fn draw_pairs(input: &TryInput<'_>, screen: &mut Screen) {
    let Some(proof) = input.proof() else { return };
    let reason = input
        .conclusion
        .pairs
        .iter()
        .filter(|pair| pair.stage == proof.stage.stage)
        .find_map(|pair| pair.dropped.as_deref());
    let dropped = match (proof.dropped, reason) {
        (0, _) => "none discarded".to_owned(),
        (count, Some(reason)) => format!("{count} discarded ({})", escape::terminal(reason, 400)),
        (count, None) => format!("{count} discarded"),
    };
    let text = format!("{} counted, {dropped}; stopped because {}", proof.counted, stop_text(proof.stop));
    screen.sentence(Rank::Useful, (Tone::Quiet, "Pairs"), (Tone::Plain, &text));
}

/// What this host can tell apart.
fn draw_resolution(input: &TryInput<'_>, screen: &mut Screen) {
    let (conclusion, scale) = (input.conclusion, input.conclusion.metric.scale());
    let Some(resolution) = conclusion.resolution else { return };
    let seen = match resolution.detectable_ratio {
        // Two or three pairs know next to nothing of their own spread.
        ratio if ratio > SEEN_MAX => "hardly any effect".to_owned(),
        ratio => format!("an effect of {}", number::margin(ratio, scale)),
    };
    let took = number::span(Duration::from_nanos(conclusion.elapsed_ns));
    let text = format!("would have detected {seen}; took {took}");
    screen.row(Rank::Useful, (Tone::Quiet, "Resolves"), &[(Tone::Plain, &text)]);
}

fn draw_run(input: &TryInput<'_>, screen: &mut Screen) {
    let what = escape::terminal(input.command().unwrap_or(input.url()), 2_000);
    let what = if what.is_empty() { what } else { format!("{what} · ") };
    let started = input.folder.manifest.started_unix_ns;
    let seed = input.plan.map_or_else(String::new, |plan| format!(" · seed {}", plan.seed));
    screen.row(Rank::Useful, (Tone::Quiet, "Run"), &[(Tone::Quiet, &format!("{what}{started}{seed}"))]);
}
