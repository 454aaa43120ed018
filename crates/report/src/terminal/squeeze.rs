//! The result of a squeeze on one screen: what limits the server, each resource with what the loss of a little of it costs,
//! the sum test, and what speaks against the result.

use super::screen::{Rank, Screen};
use super::style::{Style, Tone};
use super::verdict::draw_state;
use crate::escape;
use crate::number;
use crate::place;
use crate::squeeze::{SqueezeInput, bite_text};
use std::time::Duration;
use sysdyno_record::effect::Effect;
use sysdyno_record::squeeze::{
    Elasticity, ResourceKind, ResourceThreshold, RowWord, SqueezeRow, SumWord, may_be_in_list,
};

/// Columns of a resource's name, and of its bar: with the widest numbers a row has 80.
const NAME_COLUMNS: usize = 18;
const BAR_COLUMNS: usize = 8;

/// Rows that are printed; the report has all of them.
const ROWS_MAX: usize = 20;

/// Most reasons that are printed of each kind.
const REASONS_MAX: usize = 4;

/// Resources that are no rates, of which as many are printed, if this part of them was used. Unit: ratio. House value.
const THRESHOLDS_MAX: usize = 3;
const NEAR_MIN: f64 = 0.5;

/// The result of a squeeze, as `squeeze` and `show` print it; ends with a newline.
pub fn render_squeeze(input: &SqueezeInput<'_>, style: &Style) -> String {
    let mut screen = Screen::new(*style);
    draw_word(input, &mut screen);
    draw_rows(input, &mut screen);
    draw_meaning(input, &mut screen);
    draw_around(input, &mut screen);
    screen.finish()
}

fn draw_word(input: &SqueezeInput<'_>, screen: &mut Screen) {
    let conclusion = input.conclusion;
    let style = screen.style();
    let (tone, word) = match conclusion.rows.first().map(|row| row.word) {
        _ if !conclusion.void.is_empty() => (Tone::Bad, "✘ VOID"),
        Some(RowWord::Limits | RowWord::Matters) => (Tone::Good, "✔ FOUND"),
        Some(RowWord::Spare) if !may_be_in_list(&conclusion.rows, conclusion.sum.as_ref()) => {
            (Tone::Doubtful, "= NOT IN THE LIST")
        }
        _ => (Tone::Doubtful, "? CAN'T TELL"),
    };
    let badge = style.dress(tone, &style.characters(word));
    let url = escape::terminal(input.url(), style.width().saturating_sub(18));
    screen.push(Rank::Needed, format!("  {badge}  {}", style.dress(Tone::Quiet, &style.characters(&url))));
    screen.mark_answer();
    screen.answer((Tone::Plain, ""), (Tone::Strong, &conclusion.headline));
}

/// The resources, one a line.
fn draw_rows(input: &SqueezeInput<'_>, screen: &mut Screen) {
    let rows = &input.conclusion.rows;
    if rows.is_empty() {
        return;
    }
    screen.gap();
    let style = screen.style();
    let head = format!(
        "  {:NAME_COLUMNS$} {:>4} {:>7} {:BAR_COLUMNS$} {:>14}  elasticity",
        "", "less", "rate", "", "95% interval"
    );
    screen.push(Rank::Needed, style.dress(Tone::Quiet, &style.characters(head.trim_end())));
    rows.iter().take(ROWS_MAX).for_each(|row| draw_row(row, screen));
}

fn draw_row(row: &SqueezeRow, screen: &mut Screen) {
    let style = screen.style();
    let name = format!("{:NAME_COLUMNS$}", escape::terminal(&row.name, NAME_COLUMNS));
    let shown = shown(row);
    let Some((found, effect)) = shown.and_then(|found| Some((found, found.effect.as_ref()?))) else {
        let void = row.elasticities.iter().find_map(|elasticity| elasticity.void.as_deref());
        let text = void.unwrap_or("not measured: the squeeze ended before its turn");
        let text = format!("{}: {text}", name.trim_end());
        return screen.sentence(Rank::Needed, (Tone::Plain, ""), (Tone::Quiet, &text));
    };
    let depth =
        if found.depth_ratio > 0.0 { format!("{:.0}%", found.depth_ratio * 100.0) } else { "–".into() };
    let (change, interval) = (change(effect.point), format!("{} … {}", bare(effect.low), bare(effect.high)));
    let bar = "▇".repeat(bar(effect, found.depth_ratio));
    let elasticity = match (found.point, found.interval) {
        (Some(point), Some(ends)) => {
            let [point, low, high] = [point, ends[0], ends[1]].map(without_sign_of_zero);
            format!("{point:.2} [{low:.2}, {high:.2}]").replace('-', "−")
        }
        _ => String::new(),
    };
    let (tone, _) = tone_of(row);
    let line = format!("  {name} {depth:>4} {change:>7} {bar:BAR_COLUMNS$} {interval:>14}  {elasticity}");
    screen.push(Rank::Needed, style.dress(tone, &style.characters(line.trim_end())));
}

/// What is shown as 0.00 has no sign.
fn without_sign_of_zero(value: f64) -> f64 {
    if value.abs() < 0.005 { 0.0 } else { value }
}

/// The elasticity that a row shows: the shallowest that says something.
fn shown(row: &SqueezeRow) -> Option<&Elasticity> {
    row.elasticities.iter().rfind(|found| found.void.is_none() && found.effect.is_some())
}

fn tone_of(row: &SqueezeRow) -> (Tone, &'static str) {
    match row.word {
        _ if !row.kind.is_ranked() => (Tone::Quiet, "check"),
        RowWord::Limits => (Tone::Strong, "limits"),
        RowWord::Matters => (Tone::Plain, "matters"),
        RowWord::Spare => (Tone::Quiet, "has room"),
        RowWord::CannotTell | RowWord::Void => (Tone::Doubtful, "can't tell"),
    }
}

/// A bar as long as a loss, where a loss of all that was taken is the whole width.
fn bar(effect: &Effect, depth: f64) -> usize {
    if depth <= 0.0 {
        return 0;
    }
    let share = (1.0 - effect.point) / depth;
    (share.clamp(0.0, 1.2) * BAR_COLUMNS as f64 / 1.2).round() as usize
}

fn change(ratio: f64) -> String {
    format!("{:+.1}%", (ratio - 1.0) * 100.0).replace('-', "−")
}

fn bare(ratio: f64) -> String {
    format!("{:+.1}", (ratio - 1.0) * 100.0).replace('-', "−")
}

/// What the sum says, what more would help at most, and whether the squeezes bit.
fn draw_meaning(input: &SqueezeInput<'_>, screen: &mut Screen) {
    let conclusion = input.conclusion;
    screen.gap();
    if let Some(sum) = &conclusion.sum {
        let tone = if sum.word == SumWord::Complete { Tone::Plain } else { Tone::Doubtful };
        screen.sentence(Rank::Needed, (Tone::Quiet, "Sum"), (tone, &sum.sentence));
    }
    let first = conclusion.rows.first().filter(|row| row.kind.is_ranked() && conclusion.void.is_empty());
    if let Some((row, gain)) = first.and_then(|row| Some((row, row.gain_at_most_ratio?))) {
        let (of, help) = match row.kind {
            ResourceKind::Connections => ("", "help"),
            ResourceKind::Link | ResourceKind::Disk => ("of ", "helps"),
            _ => ("", "helps"),
        };
        let (name, gain) = (&row.name, number::percent(gain));
        let text = format!("10% more {of}{name} {help} by at most {gain}: an upper bound, not a forecast");
        screen.sentence(Rank::Useful, (Tone::Quiet, "More of it"), (Tone::Plain, &text));
    }
    let bites = conclusion.rows.iter().filter_map(|row| {
        let text = bite_text(shown(row)?);
        (!text.is_empty()).then(|| format!("{}: {text}", row.name))
    });
    let bites: Vec<String> = bites.collect();
    if !bites.is_empty() {
        screen.sentence(Rank::Extra, (Tone::Quiet, "It bit"), (Tone::Quiet, &bites.join("; ")));
    }
    for diagnostic in &conclusion.diagnostics {
        let (rank, label) = match diagnostic.is_warning {
            true => (Rank::Needed, (Tone::Doubtful, "▲ warning")),
            false => (Rank::Extra, (Tone::Quiet, "Check")),
        };
        screen.sentence(rank, label, (Tone::Plain, &diagnostic.sentence));
    }
}

fn draw_around(input: &SqueezeInput<'_>, screen: &mut Screen) {
    draw_state(&input.folder, screen);
    for left_out in input.found().iter().flat_map(|found| &found.left_out).take(REASONS_MAX) {
        let text = format!("{}: {}", left_out.name, left_out.reason);
        screen.sentence(Rank::Needed, (Tone::Doubtful, "Left out"), (Tone::Plain, &text));
    }
    let thresholds = input.found().map_or(&[][..], |found| &found.thresholds);
    let is_near = |one: &&ResourceThreshold| one.is_reached || one.used >= NEAR_MIN * one.available;
    for threshold in thresholds.iter().filter(is_near).take(THRESHOLDS_MAX) {
        let (rank, tone) = match threshold.is_reached {
            true => (Rank::Needed, Tone::Doubtful),
            false => (Rank::Useful, Tone::Quiet),
        };
        screen.sentence(rank, (tone, "Threshold"), (tone, &threshold.sentence));
    }
    let trials = input.trials().count();
    let took = number::span(Duration::from_nanos(input.conclusion.elapsed_ns));
    let baseline =
        input.conclusion.baseline.map_or(String::new(), |hz| format!("{} untouched · ", number::rate(hz)));
    // Whoever died could not write that it undid anything; the guardian or the next start does.
    let fate =
        if input.folder.is_incomplete { "check `sysdyno tune status`" } else { "everything is undone" };
    let text = format!("{baseline}{trials} trials in {took} · {fate}");
    screen.row(Rank::Useful, (Tone::Quiet, "Run"), &[(Tone::Quiet, &text)]);
    let note = "judged by goodput: squeezed CPUs stop and go, so that latency under a squeeze says nothing";
    screen.sentence(Rank::Extra, (Tone::Quiet, "Method"), (Tone::Quiet, note));
    place::draw(&input.folder, screen);
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::effect::EffectScale;

    #[test]
    fn the_widest_row_has_eighty_columns() {
        let effect = Effect {
            scale: EffectScale::Ratio,
            point: 0.79,
            low: 0.765,
            high: 0.818,
            confidence_ratio: 0.95,
            narrow: None,
            pairs_count: 8,
        };
        let found = Elasticity {
            depth_ratio: 0.2,
            point: Some(-0.02),
            interval: Some([-0.1, -0.01]),
            effect: Some(effect),
            counted: 8,
            dropped: 0,
            stop: None,
            bites: vec![],
            void: None,
        };
        let row = SqueezeRow {
            name: "a service with a long name CPU".into(),
            kind: ResourceKind::Cpu,
            available: None,
            used: None,
            elasticities: vec![found],
            word: RowWord::Limits,
            sentence: String::new(),
            gain_at_most_ratio: None,
        };
        let mut screen = Screen::new(Style { width_columns: 80, ..Style::default() });
        draw_row(&row, &mut screen);
        let text = screen.finish();
        let [line] = text.lines().collect::<Vec<_>>()[..] else { panic!("is one line: {text}") };
        assert!(line.ends_with("−23.5 … −18.2  −0.02 [−0.10, −0.01]"), "{line}");
        assert!(line.chars().count() <= 80, "{line}");
    }
}
