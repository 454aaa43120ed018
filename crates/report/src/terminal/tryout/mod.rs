//! The result of a tryout on one screen: the word, the effect against the band of what does not matter, the
//! guardrails, what was changed and whether it still is, and what speaks against the result.

mod around;
mod strip;

use super::screen::{Rank, Screen};
use super::style::{Style, Tone};
use crate::escape;
use crate::number;
use crate::tryout::{TryInput, action_text, word_badge};
pub(crate) use strip::Strip;
use sysdyno_record::effect::{Better, Comparison, Effect, EffectScale};
use sysdyno_record::tryout::{GuardrailOutcome, GuardrailState, StageKind};

/// Columns of a metric's name.
const NAME_COLUMNS: usize = 17;

/// Columns of an effect in words.
const EFFECT_COLUMNS: usize = 28;

/// Guardrails that are printed; the report has all of them.
const GUARDRAILS_MAX: usize = 6;

/// Comparisons that are printed where there were several; the report has all of them.
const STAGES_MAX: usize = 6;

/// The result of a tryout, as `try` and `show` print it; ends with a newline.
pub fn render_tryout(input: &TryInput<'_>, style: &Style) -> String {
    let mut screen = Screen::new(*style);
    draw_word(input, &mut screen);
    draw_effects(input, &mut screen);
    draw_stages(input, &mut screen);
    around::draw(input, &mut screen);
    screen.finish()
}

fn word_tone(word: Comparison) -> Tone {
    match word {
        Comparison::Better => Tone::Good,
        Comparison::Worse => Tone::Bad,
        Comparison::Same => Tone::Strong,
        Comparison::CannotTell => Tone::Doubtful,
    }
}

/// The word, what A and B are, and the result in its sentence.
fn draw_word(input: &TryInput<'_>, screen: &mut Screen) {
    let verdict = &input.conclusion.verdict;
    let style = screen.style();
    // In ASCII the triangle of a warning is another sign.
    let badge = if style.has_unicode {
        word_badge(verdict.word).to_owned()
    } else {
        word_badge(verdict.word).replace('▲', "^")
    };
    let badge = style.characters(&badge);
    let about = input.variants().map_or_else(String::new, |[a, b]| {
        format!("B: {} · A: {}", action_text(&b.action), action_text(&a.action))
    });
    let room = style.width() - escape::width(&badge) - 4;
    let about = escape::terminal(&style.characters(&escape::terminal(&about, usize::MAX)), room);
    let badge = style.dress(word_tone(verdict.word), &badge);
    let about = style.dress(Tone::Quiet, &style.characters(&about));
    screen.push(Rank::Needed, format!("  {badge}  {about}"));
    screen.mark_answer();
    screen.answer((Tone::Plain, ""), (Tone::Strong, &input.conclusion.headline));
    // The first reason is in the headline.
    for reason in verdict.capped_by.iter().skip(1) {
        screen.sentence(Rank::Needed, (Tone::Doubtful, "✘ capped"), (Tone::Plain, reason));
    }
}

/// The effect on the primary metric, then what became of each guardrail, on one axis.
fn draw_effects(input: &TryInput<'_>, screen: &mut Screen) {
    let conclusion = input.conclusion;
    let scale = conclusion.metric.scale();
    let primary = EffectMeasure {
        scale,
        better: conclusion.better,
        margin: conclusion.effect_ratio,
        effect: conclusion.effect.as_ref(),
    };
    let guarded: Vec<&GuardrailOutcome> = conclusion.guardrails.iter().take(GUARDRAILS_MAX).collect();
    let measures: Vec<EffectMeasure<'_>> =
        std::iter::once(primary).chain(guarded.iter().map(|outcome| EffectMeasure::of(outcome))).collect();
    let strip = Strip::new(screen.body_columns().saturating_sub(NAME_COLUMNS + EFFECT_COLUMNS), &measures);
    screen.gap();
    let label = (Tone::Strong, "Effect");
    draw_measure(screen, label, conclusion.metric.title(), (&strip, &primary));
    for (outcome, measure) in guarded.iter().zip(&measures[1..]) {
        draw_measure(screen, guardrail_label(outcome.state), outcome.metric.title(), (&strip, measure));
    }
    let hidden = conclusion.guardrails.len().saturating_sub(GUARDRAILS_MAX);
    if hidden > 0 {
        let text = format!("and {hidden} more guardrails in the report");
        screen.row(Rank::Useful, (Tone::Plain, ""), &[(Tone::Quiet, &text)]);
    }
    if let Some(axis) = strip.axis(&primary, measures.len() == 1) {
        let name = format!("{:NAME_COLUMNS$}", "");
        screen.row(Rank::Useful, (Tone::Plain, ""), &[(Tone::Plain, &name), (Tone::Quiet, &axis)]);
    }
}

/// An effect with what it is held against.
#[derive(Clone, Copy)]
pub(crate) struct EffectMeasure<'a> {
    pub(crate) scale: EffectScale,
    pub(crate) better: Better,
    pub(crate) margin: f64,
    pub(crate) effect: Option<&'a Effect>,
}

impl<'a> EffectMeasure<'a> {
    fn of(outcome: &'a GuardrailOutcome) -> EffectMeasure<'a> {
        let metric = outcome.metric;
        let (scale, better) = (metric.scale(), metric.better());
        EffectMeasure { scale, better, margin: outcome.margin, effect: outcome.effect.as_ref() }
    }
}

fn guardrail_label(state: GuardrailState) -> (Tone, &'static str) {
    match state {
        GuardrailState::Held => (Tone::Good, "✔ held"),
        GuardrailState::Broken => (Tone::Bad, "✘ broken"),
        GuardrailState::Open => (Tone::Doubtful, "? open"),
        GuardrailState::Unknown => (Tone::Quiet, "– unknown"),
    }
}

fn draw_measure(
    screen: &mut Screen,
    label: (Tone, &str),
    name: &str,
    (strip, measure): (&Strip, &EffectMeasure<'_>),
) {
    let name = format!("{name:NAME_COLUMNS$}");
    let drawn = strip.draw(measure);
    let text = match measure.effect {
        Some(effect) => number::effect(effect),
        None if label.1 == "– unknown" => "not measured".to_owned(),
        None => "too few pairs".to_owned(),
    };
    let text = if drawn.is_empty() { text } else { format!("  {text}") };
    screen.row(Rank::Needed, label, &[(Tone::Plain, &name), (Tone::Plain, &drawn), (Tone::Strong, &text)]);
}

/// The purpose of a comparison, in a word.
fn purpose(kind: StageKind) -> &'static str {
    match kind {
        StageKind::Proof => "proof",
        StageKind::Alone => "alone",
        StageKind::Combined => "combined",
        StageKind::Ablation => "without",
        StageKind::Squeeze => "squeeze",
    }
}

/// The comparisons, where there were several.
fn draw_stages(input: &TryInput<'_>, screen: &mut Screen) {
    let stages = &input.conclusion.stages;
    if stages.len() < 2 {
        return;
    }
    screen.gap();
    for (position, stage) in stages.iter().take(STAGES_MAX).enumerate() {
        let label = if position == 0 { (Tone::Quiet, "Steps") } else { (Tone::Plain, "") };
        let numbers = stage.effect.as_ref().map_or_else(|| "too few pairs".to_owned(), number::effect);
        let text = format!(
            "{:8} {} · {numbers} · {} pairs",
            purpose(stage.stage.kind),
            escape::terminal(&stage.title, 40),
            stage.counted
        );
        screen.row(Rank::Extra, label, &[(Tone::Plain, &text)]);
    }
}
