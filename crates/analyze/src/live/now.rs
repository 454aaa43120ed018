//! The latest readings of a series: rates between the last two of a counter, and the last one of a gauge.

use crate::readings::ratio;
use sysdyno_record::column::Quantity;
use sysdyno_record::series::Series;

/// Rows that are looked through for a reading: what is expensive is read less often.
const ROWS: usize = 6;

/// What was read last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latest<'a> {
    pub(super) series: &'a Series,
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

    /// How fast a counter grew between its last two readings. Unit: that of the column, per second.
    pub(super) fn rate(self, counter: Quantity, scope: &str) -> Option<f64> {
        self.rate_of(counter.name, scope)
    }

    /// The same of a member of a family, by its name.
    pub(super) fn rate_of(self, name: &str, scope: &str) -> Option<f64> {
        let mut recent = self.recent(name, scope);
        let (last, now) = recent.next()?;
        let (before, then) = recent.next()?;
        let windows = self.series.windows();
        let seconds = windows[last][1].seconds_since(windows[before][1]);
        ratio((now - then).max(0.0), seconds)
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

    /// The latest rows with a finite value, the last one first.
    fn recent(self, name: &str, scope: &str) -> impl Iterator<Item = (usize, f64)> + use<'a> {
        let values = self.series.values(name, scope).unwrap_or_default();
        let rows = values.iter().enumerate().rev().take(ROWS);
        rows.filter_map(|(row, value)| Some((row, (*value)?))).filter(|(_, value)| value.is_finite())
    }
}
