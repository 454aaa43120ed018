//! Intervals as a line of characters, on an axis that counts smallest effects that matter: to the right is better.
//!
//! The same axis as in the page (`web/src/chart/forest.ts`): from −1 to +1 is the band of what does not matter, so
//! metrics of any kind and direction share it.

use super::EffectMeasure;
use crate::number;
use sysdyno_record::effect::{Better, Effect, EffectScale};

/// Least and most columns of a strip; on narrower screens there is none.
const COLUMNS: std::ops::RangeInclusive<usize> = 15..=43;

/// The axis reaches at least so far, and at most so far; what lies beyond is cut off with an arrow.
const REACH: [f64; 2] = [1.7, 25.0];

/// Interval ends in units of the margin, positive where B is better.
struct Placed {
    low: f64,
    point: f64,
    high: f64,
}

/// An axis of so many columns.
pub(crate) struct Strip {
    columns: usize,
    reach: f64,
}

impl Strip {
    /// The axis that holds all of these in at most so many columns.
    pub(crate) fn new(columns: usize, measures: &[EffectMeasure<'_>]) -> Strip {
        let odd = columns.min(*COLUMNS.end()).saturating_sub(1) | 1;
        let columns = if COLUMNS.contains(&odd) { odd } else { 0 };
        let placed = measures.iter().filter_map(place);
        let ends =
            placed.flat_map(|placed| [placed.low.abs(), placed.high.abs()]).filter(|end| end.is_finite());
        Strip { columns, reach: ends.fold(REACH[0], |reach, end| reach.max(end * 1.06)).min(REACH[1]) }
    }

    /// The column of a place on the axis, at its end for what lies beyond.
    fn column(&self, place: f64) -> usize {
        let half = (self.columns / 2) as f64;
        (half + (place / self.reach).clamp(-1.0, 1.0) * half).round() as usize
    }

    /// The interval on its band; empty on a narrow screen.
    pub(crate) fn draw(&self, measure: &EffectMeasure<'_>) -> String {
        if self.columns == 0 {
            return String::new();
        }
        let mut cells = vec![' '; self.columns];
        cells[self.column(-1.0)..=self.column(1.0)].fill('░');
        cells[self.column(0.0)] = '┊';
        if let Some(placed) = place(measure) {
            let (low, high) = (self.column(placed.low), self.column(placed.high));
            cells[low..=high].fill('─');
            cells[low] = if placed.low < -self.reach { '◄' } else { '├' };
            cells[high] = if placed.high > self.reach { '►' } else { '┤' };
            let point = self.column(placed.point);
            if !matches!(cells[point], '◄' | '►') {
                cells[point] = '●';
            }
        }
        cells.into_iter().collect()
    }

    /// The legend of the axis; `None` on a narrow screen.
    pub(crate) fn axis(&self, primary: &EffectMeasure<'_>, is_alone: bool) -> Option<String> {
        let band = if is_alone {
            format!("░ ±{} does not matter", number::margin(primary.margin, primary.scale))
        } else {
            "░ does not matter".to_owned()
        };
        let ends = "← worse".chars().count() + "better →".chars().count();
        let room = self.columns.checked_sub(ends + 2).filter(|room| *room >= band.chars().count())?;
        Some(format!("← worse {band:^room$} better →"))
    }
}

/// Where an effect stands; `None`: there is none.
fn place(measure: &EffectMeasure<'_>) -> Option<Placed> {
    let effect: &Effect = measure.effect?;
    if [effect.low, effect.point, effect.high].iter().any(|value| value.is_nan()) {
        return None;
    }
    let unit = match measure.scale {
        EffectScale::Ratio => measure.margin.ln_1p(),
        EffectScale::Difference => measure.margin,
    };
    let unit = if unit > 0.0 { unit } else { 1.0 };
    let at = |value: f64| {
        let size =
            if measure.scale == EffectScale::Ratio { value.max(f64::MIN_POSITIVE).ln() } else { value };
        (if measure.better == Better::Higher { size } else { -size }) / unit
    };
    let (one, other, point) = (at(effect.low), at(effect.high), at(effect.point));
    Some(Placed {
        low: one.min(other),
        point: point.clamp(one.min(other), one.max(other)),
        high: one.max(other),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(columns: usize, [low, point, high]: [f64; 3], drawn: &str) {
        let scale = EffectScale::Ratio;
        let effect = Effect { scale, point, low, high, confidence_ratio: 0.95, narrow: None, pairs_count: 8 };
        let measure = EffectMeasure { scale, better: Better::Lower, margin: 0.03, effect: Some(&effect) };
        assert_eq!(Strip::new(columns, &[measure]).draw(&measure), drawn);
    }

    #[test]
    fn an_interval_lies_where_it_is_better_or_worse() {
        check(21, [0.95, 0.96, 0.97], "     ░░░░░┊░░░░░├─●┤ ");
        check(21, [0.995, 1.0, 1.005], "    ░░░░░├●┤░░░░░    ");
        check(21, [1.03, 1.05, 1.2], " ├─────●┤░┊░░        ");
        check(21, [1e-9, 1e-3, 1.2], "        ├───────────►");
        check(10, [0.95, 0.96, 0.97], "");
    }

    #[test]
    fn what_is_no_number_is_not_drawn() {
        check(21, [f64::NAN, 1.0, 1.0], "    ░░░░░░┊░░░░░░    ");
    }
}
