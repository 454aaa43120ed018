//! The latest readings of a series: rates between two of a counter, the last one and one before, and the last one of a gauge.

use crate::readings::ratio;
use sysdyno_record::column::Quantity;
use sysdyno_record::series::Series;
use sysdyno_record::units::SpanNs;

/// Time in which two readings of anything are, besides that which is too near: what costs much is read less often, but every
/// five seconds.
const TWO_READINGS_SPAN: SpanNs = SpanNs::from_millis(10_000);

/// Rows that are looked through for a reading at least, where they come rarely.
const ROWS_MIN: usize = 6;

/// What was read last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latest<'a> {
    pub(super) series: &'a Series,
    /// Least time between the two readings that a rate is of; where rows come several times a second, one row is little.
    pub(super) apart: SpanNs,
}

impl<'a> Latest<'a> {
    /// Scopes that have a column of this quantity in the rows that are read now.
    pub(super) fn scopes(self, quantity: Quantity) -> Vec<&'a str> {
        let columns = self.series.columns();
        let current = self.series.current().iter().map(|position| &columns[*position]);
        current.filter(|column| column.name == quantity.name).map(|column| column.scope.as_str()).collect()
    }

    /// The last reading of a gauge.
    pub(super) fn level(self, gauge: Quantity, scope: &str) -> Option<f64> {
        self.recent(gauge.name, scope).next().map(|(_, value)| value)
    }

    /// How fast a counter grew until its last reading. Unit: that of the column, per second.
    pub(super) fn rate(self, counter: Quantity, scope: &str) -> Option<f64> {
        self.rate_of(counter.name, scope)
    }

    /// The same of a member of a family, by its name.
    pub(super) fn rate_of(self, name: &str, scope: &str) -> Option<f64> {
        let mut recent = self.recent(name, scope);
        let (last, now) = recent.next()?;
        let (before, then) = recent.find(|(row, _)| self.is_apart(*row, last))?;
        ratio((now - then).max(0.0), self.seconds(before, last))
    }

    /// The same of all scopes together.
    pub(super) fn sum(self, counter: Quantity) -> Option<f64> {
        let rates = self.scopes(counter).into_iter().map(|scope| self.rate(counter, scope));
        crate::readings::sum_known(rates)
    }

    /// A counter of time as a share of it. Unit: ratio.
    pub(super) fn share(self, time: Quantity, scope: &str) -> Option<f64> {
        let unit = match time.unit {
            "ms" => 1e3,
            "ns" => 1e9,
            _ => 1e6,
        };
        self.rate(time, scope).map(|rate| rate / unit)
    }

    /// Time between the last row and the one that rates are measured from; 0 where there is none. Unit: seconds.
    pub(super) fn passed_seconds(self) -> f64 {
        let Some(last) = self.series.windows().len().checked_sub(1) else { return 0.0 };
        let before = (0..last).rev().find(|row| self.is_apart(*row, last));
        before.map_or(0.0, |before| self.seconds(before, last))
    }

    fn is_apart(self, before: usize, last: usize) -> bool {
        let windows = self.series.windows();
        windows[last][1].since(windows[before][1]) >= self.apart.0
    }

    fn seconds(self, before: usize, last: usize) -> f64 {
        let windows = self.series.windows();
        windows[last][1].seconds_since(windows[before][1])
    }

    /// The latest rows with a finite value, the last one first.
    fn recent(self, name: &str, scope: &str) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let values = self.series.values(name, scope).unwrap_or_default();
        let windows = self.series.windows();
        let span = self.apart.0 + TWO_READINGS_SPAN.0;
        let from = windows.last().map_or(0, |last| last[1].0.saturating_sub(span));
        let near = windows.iter().rev().take_while(|window| window[1].0 > from).count();
        let rows = values.iter().enumerate().rev().take(near.max(ROWS_MIN));
        rows.filter_map(|(row, value)| Some((row, (*value)?))).filter(|(_, value)| value.is_finite())
    }
}
