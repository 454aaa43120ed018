//! A search as a picture: the loads that were tried, those that met the objective above those that missed it.
//!
//! ```text
//! met    ● ●          ●   2●●
//! missed                    ● 2●      ●
//!        1,000/s                4,120/s
//! ```

use super::spark::Pieces;
use crate::number;
use crate::terminal::{Style, Tone};
use sysdyno_record::load::TrialPurpose;
use sysdyno_record::progress::{RunPicture, TriedLoad};

/// Columns of the labels.
const LABEL_COLUMNS: usize = 8;
/// Maximum width of the axis.
const AXIS_COLUMNS: usize = 70;

/// An axis of loads, logarithmic, as a search goes by ratios.
struct Axis {
    low: f64,
    high: f64,
    columns: usize,
}

impl Axis {
    fn column(&self, load: f64) -> usize {
        let span = (self.high / self.low).ln();
        let place = if span > 0.0 { (load / self.low).ln() / span } else { 0.5 };
        (place.clamp(0.0, 1.0) * (self.columns - 1) as f64).round() as usize
    }
}

/// The lines; none before there is something to see.
pub(super) fn lines(view: &RunPicture, columns: usize, style: &Style) -> Vec<Pieces> {
    let columns = columns.saturating_sub(LABEL_COLUMNS).min(AXIS_COLUMNS);
    let now = load_of(view).filter(|_| !view.tried.is_empty());
    let loads = || view.tried.iter().map(|tried| tried.load).chain(now);
    let (low, high) = (loads().fold(f64::INFINITY, f64::min), loads().fold(0.0, f64::max));
    if view.tried.is_empty() || columns < 2 {
        return Vec::new();
    }
    let axis = Axis { low, high, columns };
    let mut lines = Vec::new();
    for (label, tone, is_met) in [
        ("met", Tone::Good, Some(true)),
        ("missed", Tone::Doubtful, Some(false)),
        ("unclear", Tone::Quiet, None),
    ] {
        let of_it: Vec<&TriedLoad> = view.tried.iter().filter(|tried| tried.is_met == is_met).collect();
        if of_it.is_empty() && is_met.is_none() {
            continue;
        }
        let mut line = Pieces::default();
        line.pad(Tone::Quiet, label, LABEL_COLUMNS);
        line.add(tone, dots(&of_it, &axis));
        lines.push(line);
    }
    lines.push(scale(view, &axis, now, style));
    lines
}

/// How much the present trial asks for, on the axis of the search.
fn load_of(view: &RunPicture) -> Option<f64> {
    match view.progress.purpose {
        TrialPurpose::Sweep => Some(f64::from(view.connections_count)),
        TrialPurpose::Bracket | TrialPurpose::Grid | TrialPurpose::Certify => view.progress.offered_hz,
        TrialPurpose::Single | TrialPurpose::Pilot | TrialPurpose::Try => None,
    }
    .filter(|load| load.is_finite() && *load > 0.0)
}

/// A dot for a trial, a digit for as many.
fn dots(tried: &[&TriedLoad], axis: &Axis) -> String {
    let mut counts = vec![0; axis.columns];
    tried.iter().for_each(|tried| counts[axis.column(tried.load)] += 1);
    let cell = |count: &u32| match count {
        0 => ' ',
        1 => '●',
        count => char::from_digit((*count).min(9), 10).unwrap_or('●'),
    };
    counts.iter().map(cell).collect::<String>().trim_end().to_owned()
}

/// The ends of the axis, the load that is being tried, and where the greatest load is that met the objective.
fn scale(view: &RunPicture, axis: &Axis, now: Option<f64>, style: &Style) -> Pieces {
    let is_sweep = view.progress.purpose == TrialPurpose::Sweep;
    let text = |load: f64| match is_sweep {
        true => number::count(load as u64),
        false => format!("{}/s", number::significant(load, 3)),
    };
    let mut line = Pieces::default();
    line.pad(Tone::Quiet, "", LABEL_COLUMNS);
    let mut marks = Pieces::default();
    let now = now.map(|load| (axis.column(load), format!("▸{}", text(load))));
    let mut places = vec![(0, Tone::Quiet, text(axis.low))];
    places.extend(now.map(|(column, text)| (column, Tone::Strong, text)));
    let high = text(axis.high);
    places.push((axis.columns.saturating_sub(high.chars().count()), Tone::Quiet, high));
    for (column, tone, text) in places {
        // What would run into its neighbor moves to the right of it, or is left out at the end.
        let begin = column.max(if marks.width() == 0 { 0 } else { marks.width() + 1 });
        if begin + text.chars().count() > axis.columns + 1 {
            continue;
        }
        marks.add(Tone::Plain, " ".repeat(begin - marks.width()));
        marks.add(tone, style.characters(&text));
    }
    line.append(marks);
    line
}
