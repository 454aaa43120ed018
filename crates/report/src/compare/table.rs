//! The numbers of a comparison as a table: two sides with the effect, more sides with letters, a series with sentences.

use super::word;
use crate::escape;
use crate::number;
use crate::terminal::{Rank, Screen, Tone};
use sysdyno_record::comparison::{
    MetricComparison, MetricEffect, OperationComparison, RunsComparison, SideValues,
};
use sysdyno_record::effect::Comparison;

/// Width of a column of values.
const VALUE_COLUMNS: usize = 13;
/// Width of a label.
const LABEL_COLUMNS: usize = 9;
/// Operations that are printed.
const OPERATIONS_MAX: usize = 4;
/// Metrics that are columns of a table of many sides.
const METRIC_COLUMNS: usize = 5;
/// Sides that are rows of it.
const SIDE_ROWS: usize = 12;

pub(super) fn draw(comparison: &RunsComparison, screen: &mut Screen) {
    let shown = if screen.is_endless() { comparison.operations.len() } else { OPERATIONS_MAX };
    for (number, operation) in comparison.operations.iter().take(shown).enumerate() {
        let rank = if number == 0 { Rank::Needed } else { Rank::Useful };
        let operation = &variant_named(comparison, operation, rank, screen);
        if comparison.sides.len() == 2 {
            draw_two(operation, rank, screen);
        } else if comparison.sides.len() > 2 {
            draw_many(comparison, operation, rank, screen);
        }
    }
    let hidden = comparison.operations.len().saturating_sub(shown);
    if hidden > 0 {
        let text = format!("and {} more operations in the report", number::count(hidden as u64));
        screen.row(Rank::Extra, (Tone::Plain, ""), &[(Tone::Quiet, &text)]);
    }
    let deciding = comparison.operations.first().and_then(|operation| operation.metrics.first());
    if let Some(scatter) = deciding.and_then(|metric| metric.scatter.as_ref()) {
        screen.sentence(Rank::Useful, (Tone::Quiet, "Scatter"), (Tone::Plain, scatter));
    }
    for metric in comparison.trend.iter().flat_map(|trend| &trend.metrics) {
        screen.sentence(Rank::Useful, (Tone::Quiet, metric.metric), (Tone::Plain, &metric.sentence));
    }
}

/// Names of variants are longer than the column of labels: they have lines of their own.
fn variant_named(
    comparison: &RunsComparison,
    operation: &OperationComparison,
    rank: Rank,
    screen: &mut Screen,
) -> OperationComparison {
    let mut operation = operation.clone();
    if comparison.hosts.is_some() {
        let name = std::mem::take(&mut operation.operation);
        screen.row(rank, (Tone::Quiet, "Variant"), &[(Tone::Strong, &escape::terminal(&name, usize::MAX))]);
    }
    operation
}

/// The metrics as they stand in a table: percentiles in rising order, in the places that percentiles have.
fn rising(metrics: &[MetricComparison]) -> Vec<&MetricComparison> {
    let percentile = |metric: &MetricComparison| metric.metric.strip_prefix('p')?.parse::<f64>().ok();
    let mut percentiles: Vec<&MetricComparison> =
        metrics.iter().filter(|one| percentile(one).is_some()).collect();
    percentiles.sort_by(|one, other| {
        percentile(one).partial_cmp(&percentile(other)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let mut next = percentiles.into_iter();
    metrics
        .iter()
        .map(|metric| if percentile(metric).is_some() { next.next().unwrap_or(metric) } else { metric })
        .collect()
}

fn draw_two(operation: &OperationComparison, rank: Rank, screen: &mut Screen) {
    let texts = |metric: &MetricComparison| -> Vec<String> {
        metric.sides.iter().map(|side| value(metric, side, screen)).collect()
    };
    let longest = operation.metrics.iter().flat_map(texts).map(|text| escape::width(&text)).max();
    let columns = VALUE_COLUMNS.max(longest.unwrap_or_default() + 1);
    let heads = format!("{:>columns$}{:>columns$}   B against A", "A", "B");
    let rows: Vec<(&MetricComparison, String)> = rising(&operation.metrics)
        .into_iter()
        .map(|metric| (metric, texts(metric).iter().map(|text| padded(text, columns)).collect()))
        .collect();
    screen.row(rank, (Tone::Strong, &label(operation, screen)), &[(Tone::Quiet, &heads)]);
    for (metric, values) in rows {
        let effect = metric.effects.first();
        let (tone, shown) =
            effect.map_or((Tone::Quiet, "no difference shown"), |effect| word(effect.verdict.word));
        let numbers = effect.map_or_else(String::new, effect_text);
        screen.row(
            rank,
            (Tone::Quiet, metric.metric),
            &[
                (Tone::Strong, &values),
                (Tone::Plain, "   "),
                (tone, &format!("{shown:<13}")),
                (Tone::Plain, &numbers),
            ],
        );
    }
    for remark in operation.metrics.iter().filter_map(by_chance) {
        screen.sentence(Rank::Extra, (Tone::Plain, ""), (Tone::Quiet, &remark));
    }
    screen.gap();
}

fn draw_many(comparison: &RunsComparison, operation: &OperationComparison, rank: Rank, screen: &mut Screen) {
    let fitting = screen.style().width_columns.saturating_sub(LABEL_COLUMNS + 4) / (VALUE_COLUMNS + 4);
    let metrics: Vec<&MetricComparison> =
        rising(&operation.metrics).into_iter().take(METRIC_COLUMNS.min(fitting.max(1))).collect();
    let heads: String = metrics.iter().map(|metric| right(metric.metric) + "    ").collect();
    screen.row(rank, (Tone::Strong, &label(operation, screen)), &[(Tone::Quiet, &heads)]);
    for (index, side) in
        comparison.sides.iter().enumerate().take(if screen.is_endless() { usize::MAX } else { SIDE_ROWS })
    {
        let cell = |metric: &&MetricComparison| {
            let letters = metric.letters.get(index).map_or("", String::as_str);
            let letters = if side.is_refused { "✘" } else { letters };
            format!("{} {letters:<3}", right(&value(metric, &metric.sides[index], screen)))
        };
        let cells: String = metrics.iter().map(cell).collect();
        screen.row(rank, (Tone::Strong, &side.letter), &[(Tone::Plain, &cells)]);
    }
    let text = "sides that share a letter do not differ detectably; ✘ is not comparable with A";
    screen.row(Rank::Extra, (Tone::Plain, ""), &[(Tone::Quiet, text)]);
    screen.gap();
}

/// The name of an operation, cut to the column of labels in characters that the terminal can show.
fn label(operation: &OperationComparison, screen: &Screen) -> String {
    let shown = screen.style().characters(&escape::terminal(&operation.operation, usize::MAX));
    screen.style().characters(&escape::terminal(&shown, LABEL_COLUMNS))
}

/// Padded on the left.
fn right(text: &str) -> String {
    padded(text, VALUE_COLUMNS)
}

fn padded(text: &str, columns: usize) -> String {
    format!("{:padding$}{text}", "", padding = columns.saturating_sub(escape::width(text)))
}

/// A median in characters that the terminal can show: `4,000 req/s`, of lower bounds `≥ 10.0 s`.
fn value(metric: &MetricComparison, side: &SideValues, screen: &Screen) -> String {
    let text = match (side.median, metric.unit) {
        (None, _) => number::MISSING.to_owned(),
        (Some(hz), "hz") if metric.metric == "operations" => {
            format!("{} ops/s", number::significant(hz, 4))
        }
        (Some(hz), "hz") => number::rate(hz),
        (Some(count), "per_joule") => format!("{}/J", number::significant(count, 4)),
        (Some(ns), _) => number::duration_ns(ns.max(0.0) as u64),
    };
    let at_least = if side.is_lower_bound { "≥ " } else { "" };
    screen.style().characters(&format!("{at_least}{text}"))
}

/// `−2.4 % [−3.0, −1.8]`, `at least × 60`, or why there is neither.
fn effect_text(effect: &MetricEffect) -> String {
    match (&effect.effect, &effect.bound) {
        (Some(numbers), _) => number::effect(numbers),
        (None, Some(bound)) => number::effect_bound(bound),
        (None, None) => effect.verdict.capped_by.first().cloned().unwrap_or_default(),
    }
}

/// Why a word contradicts its interval: among many comparisons, some intervals exclude no effect by chance.
fn by_chance(metric: &MetricComparison) -> Option<String> {
    let effect = metric.effects.first().filter(|effect| effect.verdict.word == Comparison::CannotTell)?;
    let cause = effect.verdict.capped_by.first()?;
    let excludes_none = effect.effect.is_some_and(|numbers| numbers.low > 1.0 || numbers.high < 1.0);
    excludes_none.then(|| format!("{}: {cause}", metric.metric))
}
