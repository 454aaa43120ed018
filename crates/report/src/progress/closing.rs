//! A comparison as it narrows: the interval after each pair, one below the other on one axis.

use super::spark::Pieces;
use crate::number;
use crate::terminal::{EffectMeasure, Strip, Tone};
use sysdyno_record::progress::Closing;

/// Intervals that are drawn, the newest last.
const INTERVALS_MAX: usize = 4;
/// Columns of the labels, and of an effect in words.
const LABEL_COLUMNS: usize = 9;
const EFFECT_COLUMNS: usize = 26;

/// How it stands in a line, the latest intervals, and what the axis means.
pub(super) fn lines(closing: &Closing, columns: usize) -> Vec<Pieces> {
    let mut line = Pieces::default();
    line.add(Tone::Strong, &closing.line);
    let mut lines = vec![line];
    let measures: Vec<EffectMeasure<'_>> = closing
        .effects
        .iter()
        .map(|effect| EffectMeasure {
            scale: effect.scale,
            better: closing.better,
            margin: closing.margin,
            effect: Some(effect),
        })
        .collect();
    let Some(last) = measures.last() else { return lines };
    let shown = &measures[measures.len().saturating_sub(INTERVALS_MAX)..];
    // The axis is that of all intervals that are seen, so that they can be held against each other.
    let strip = Strip::new(columns.saturating_sub(LABEL_COLUMNS + EFFECT_COLUMNS), shown);
    for measure in shown {
        let Some(effect) = measure.effect else { continue };
        let mut line = Pieces::default();
        line.pad(Tone::Quiet, &format!("pair {}", effect.pairs_count), LABEL_COLUMNS);
        line.add(Tone::Plain, strip.draw(measure));
        line.add(Tone::Strong, format!("  {}", number::effect(effect)));
        lines.push(line);
    }
    if let Some(axis) = strip.axis(last, true) {
        let mut line = Pieces::default();
        line.pad(Tone::Plain, "", LABEL_COLUMNS);
        line.add(Tone::Quiet, axis);
        lines.push(line);
    }
    lines
}
