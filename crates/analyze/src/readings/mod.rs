//! The kernel's readings inside a span of time: differences of counters, gauges, and what they say about CPUs.
//!
//! Invariants: a column that is missing or empty gives `None`, never 0; every ratio is finite. A counter's difference
//! is the sum of its upward steps, so that a wrap-around or a restart loses one step instead of inventing a huge one.

mod cpus;
mod processes;

pub use cpus::{CpuShare, MachineShare};
pub use processes::ThreadShare;
pub(crate) use processes::{process_scope, started_at};

use std::ops::Range;
use sysdyno_record::column::Quantity;
use sysdyno_record::series::{GaugeSpread, Series};
use sysdyno_record::units::MonoNs;

/// A span of the time axis with the rows of the series that lie in it.
#[derive(Clone, Debug)]
pub struct Window<'a> {
    series: &'a Series,
    rows: Range<usize>,
    /// Begin of the span.
    pub begin: MonoNs,
    /// End of the span.
    pub end: MonoNs,
}

/// How much a counter grew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Sum of the upward steps. Unit: that of the column.
    pub amount: f64,
    /// Time between the first and the last reading. Unit: seconds.
    pub seconds: f64,
    /// When these two were taken.
    pub between: [MonoNs; 2],
}

impl Growth {
    /// Growth per second; `None` if no time passed.
    pub fn per_second(&self) -> Option<f64> {
        ratio(self.amount, self.seconds)
    }
}

/// The values of a gauge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// Mean of the readings.
    pub mean: f64,
    /// Greatest reading.
    pub max: f64,
    /// Last reading.
    pub last: f64,
    /// Share of the readings that were above zero.
    pub present_ratio: f64,
}

/// Rows before and after a span in which the readings next to it are looked for; not every column is read in every row.
const EDGE_ROWS: usize = 50;

/// Quotient of two numbers; `None` if it is not a finite number.
pub(crate) fn ratio(part: f64, whole: f64) -> Option<f64> {
    let quotient = part / whole;
    (whole != 0.0 && quotient.is_finite()).then_some(quotient)
}

impl<'a> Window<'a> {
    /// The rows of `series` that were taken inside the span.
    pub fn new(series: &'a Series, begin: MonoNs, end: MonoNs) -> Window<'a> {
        Window { series, rows: series.rows_within(begin, end), begin, end }
    }

    /// The span in pieces that begin and end with a reading of this counter, each at least so long. Unit: seconds.
    pub fn pieces(&self, counter: Quantity, scope: &str, least: f64) -> Vec<Window<'a>> {
        let Some(values) = self.series.values(counter.name, scope) else { return Vec::new() };
        let is_read = |row: &usize| values.get(*row).is_some_and(Option::is_some);
        let mut read = self.rows.clone().filter(is_read).map(|row| self.series.windows()[row]);
        let Some([mut begin, _]) = read.next() else { return Vec::new() };
        let mut pieces = Vec::new();
        for [next, end] in read {
            if end.seconds_since(begin) >= least {
                pieces.push(Window::new(self.series, begin, end));
                begin = next;
            }
        }
        pieces
    }

    /// Length of the span. Unit: seconds.
    pub fn seconds(&self) -> f64 {
        self.end.seconds_since(self.begin)
    }

    /// Scopes that have a column of this quantity.
    pub fn scopes(&self, quantity: Quantity) -> Vec<&'a str> {
        self.series.scopes(quantity.name).collect()
    }

    /// Growth of a counter between the first and the last reading of the span.
    ///
    /// `None`: no such column, or fewer than two readings.
    pub fn growth(&self, counter: Quantity, scope: &str) -> Option<Growth> {
        self.growth_in(self.rows.clone(), counter, scope)
    }

    /// How much a counter grew from the last reading before the span to the first after it, so that nothing at the edges
    /// is missed.
    ///
    /// `None`: as [`Window::growth`].
    pub fn occurrences(&self, counter: Quantity, scope: &str) -> Option<f64> {
        self.growth_around(counter, scope).map(|growth| growth.amount)
    }

    /// The same; `None` also if the counter was not read both before the span began and after it ended.
    pub fn all_occurrences(&self, counter: Quantity, scope: &str) -> Option<f64> {
        let growth = self.growth_around(counter, scope)?;
        let is_whole = growth.between[0] <= self.begin && self.end <= growth.between[1];
        is_whole.then_some(growth.amount)
    }

    fn growth_around(&self, counter: Quantity, scope: &str) -> Option<Growth> {
        let values = self.series.values(counter.name, scope)?;
        let first = self.rows.start.saturating_sub(EDGE_ROWS);
        let last = (self.rows.end + EDGE_ROWS).min(values.len());
        let before = values.get(first..self.rows.start)?.iter().rposition(Option::is_some);
        let after = values.get(self.rows.end..last)?.iter().position(Option::is_some);
        let start = before.map_or(self.rows.start, |index| first + index);
        let end = after.map_or(self.rows.end, |index| self.rows.end + index + 1);
        self.growth_in(start..end, counter, scope)
    }

    fn growth_in(&self, rows: Range<usize>, counter: Quantity, scope: &str) -> Option<Growth> {
        let values = self.series.values(counter.name, scope)?.get(rows.clone())?;
        let mut known =
            values.iter().enumerate().filter_map(|(index, value)| value.map(|value| (index, value)));
        let (first, mut previous) = known.next()?;
        let (mut last, mut amount) = (first, 0.0);
        for (index, value) in known {
            amount += (value - previous).max(0.0);
            (last, previous) = (index, value);
        }
        let between = [first, last].map(|index| self.series.windows()[rows.start + index][1]);
        let seconds = between[1].seconds_since(between[0]);
        (last > first && amount.is_finite()).then_some(Growth { amount, seconds, between })
    }

    /// Readings of a gauge inside the span.
    ///
    /// `None`: no such column or no reading.
    pub fn level(&self, gauge: Quantity, scope: &str) -> Option<Level> {
        self.level_where(gauge, scope, |_| true)
    }

    /// The same of those readings beside which there is one of the other gauge.
    pub fn level_beside(&self, gauge: Quantity, scope: &str, other: (Quantity, &str)) -> Option<Level> {
        let beside = self.series.values(other.0.name, other.1)?;
        self.level_where(gauge, scope, |row| beside.get(row).is_some_and(Option::is_some))
    }

    fn level_where(&self, gauge: Quantity, scope: &str, is_wanted: impl Fn(usize) -> bool) -> Option<Level> {
        let position = self.series.position(gauge.name, scope)?;
        let mut level: Option<Level> = None;
        let (mut sum, mut count, mut present) = (0.0, 0.0, 0.0);
        for row in self.rows.clone().filter(|row| is_wanted(*row)) {
            let Some(value) = self.series.values_at(position)[row].filter(|value| value.is_finite()) else {
                continue;
            };
            let present_ratio = f64::from(value > 0.0);
            let same = GaugeSpread { low: value, high: value, mean: value, present_ratio };
            let spread = self.series.gauge_spread(position, row).unwrap_or(same);
            let weight = f64::from(self.series.samples_counts()[row]);
            sum += spread.mean * weight;
            count += weight;
            present += spread.present_ratio * weight;
            level = Some(Level {
                mean: sum / count,
                max: level.map_or(spread.high, |so_far| so_far.max.max(spread.high)),
                last: value,
                present_ratio: present / count,
            });
        }
        level.filter(|level| level.mean.is_finite())
    }

    /// Whether a column had a reading in the span and has none in the last row in which another column of this quantity has.
    ///
    /// A row without any of them was left out by the sampler and says nothing about one of them.
    pub fn went_silent(&self, quantity: Quantity, scope: &str) -> bool {
        let name = quantity.name;
        let rows = |scope| self.series.values(name, scope).and_then(|values| values.get(self.rows.clone()));
        let last_read = |scope| rows(scope).and_then(|values| values.iter().rposition(Option::is_some));
        let last_of_any = self.series.scopes(name).filter_map(last_read).max();
        last_read(scope).is_some_and(|last| Some(last) < last_of_any)
    }
}

/// Sum of the known values; `None` if none is known.
pub(crate) fn sum_known(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.flatten().fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
}

#[cfg(test)]
mod tests;
