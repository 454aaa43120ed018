//! Readings of the current trial in memory, no more than its checks need.
//!
//! The run folder has all of them; here, a trial of a day takes no more memory than one of a minute. When there are too
//! many rows, neighbors are merged in pairs.

use sysdyno_record::condense::ReadingsCell;
use sysdyno_record::series::{Column, Row, Series, SeriesLine};

/// Most rows. A minute at ten samples per second has fewer.
const ROWS_MAX: usize = 640;

/// Columns from which on those are forgotten that nothing is read into any more.
const COLUMNS_MAX: usize = 4096;

/// Rows that stay when a trial begins: what was before it is looked at for what happened at its edge.
const ROWS_BEFORE: usize = 64;

/// Readings that do not grow without end.
#[derive(Debug, Default)]
pub(super) struct Recent {
    series: Series,
}

impl Recent {
    /// The readings.
    pub(super) fn series(&self) -> &Series {
        &self.series
    }

    /// The readings, handed out.
    pub(super) fn into_series(self) -> Series {
        self.series
    }

    /// Adds a line in the order in which it came.
    pub(super) fn push(&mut self, line: SeriesLine) {
        self.series.push(line);
        if self.series.windows().len() > ROWS_MAX {
            let columns = self.kept_columns();
            self.series = rebuilt(&self.series, &columns, halves(&self.series, &columns));
        }
    }

    /// Forgets what came before this trial.
    pub(super) fn begin_trial(&mut self) {
        let before = self.series.windows().len().saturating_sub(ROWS_BEFORE);
        if before > 0 {
            let columns = self.series.current().to_vec();
            let rows = self.series.rows(&columns).skip(before).collect();
            self.series = rebuilt(&self.series, &columns, rows);
        }
    }

    /// Columns of processes that ended are forgotten only where there are many.
    fn kept_columns(&self) -> Vec<usize> {
        let (all, current) = (self.series.columns().len(), self.series.current());
        if all > COLUMNS_MAX.max(2 * current.len()) { current.to_vec() } else { (0..all).collect() }
    }
}

/// These rows under these columns of `series`, ready for the rows that follow.
fn rebuilt(series: &Series, columns: &[usize], rows: Vec<Row>) -> Series {
    let header = |positions: &[usize]| {
        SeriesLine::header(positions.iter().map(|position| series.columns()[*position].clone()).collect())
    };
    let mut built = Series::default();
    built.push(header(columns));
    built.extend(rows);
    built.push(header(series.current()));
    built
}

/// Each two neighboring rows as one.
fn halves(series: &Series, columns: &[usize]) -> Vec<Row> {
    let kept: Vec<Column> = columns.iter().map(|position| series.columns()[*position].clone()).collect();
    let mut cell = ReadingsCell::new(&kept);
    let mut rows = Vec::with_capacity(series.windows().len() / 2 + 1);
    for (number, row) in series.rows(columns).enumerate() {
        cell.add(&row);
        if number % 2 == 1 {
            rows.extend(cell.take());
        }
    }
    rows.extend(cell.take());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::series::ReadingKind;
    use sysdyno_record::units::MonoNs;

    fn header(names: &[&str]) -> SeriesLine {
        let column = |name: &&str| Column {
            name: (*name).to_owned(),
            scope: "host".into(),
            unit: "count".into(),
            kind: ReadingKind::Counter,
            unavailable: None,
        };
        SeriesLine::header(names.iter().map(column).collect())
    }

    fn row(tick: u64, values: &[f64]) -> SeriesLine {
        let at = MonoNs(tick * 100_000_000);
        SeriesLine::Row(Row::sample(at, at, values.iter().copied().map(Some).collect()))
    }

    #[test]
    fn a_day_takes_no_more_rows_than_a_minute() {
        let mut recent = Recent::default();
        recent.push(header(&["a"]));
        (0..864_000).for_each(|tick| recent.push(row(tick, &[tick as f64])));
        let series = recent.series();
        assert!((ROWS_MAX / 2..=ROWS_MAX).contains(&series.windows().len()));
        let values = series.values("a", "host").expect("a column");
        assert_eq!(values.last(), Some(&Some(863_999.0)));
        assert_eq!(series.samples_counts().iter().map(|count| u64::from(*count)).sum::<u64>(), 864_000);
    }

    #[test]
    fn rows_that_follow_have_the_columns_that_they_came_with() {
        let mut recent = Recent::default();
        recent.push(header(&["a", "b"]));
        (0..600).for_each(|tick| recent.push(row(tick, &[1.0, 2.0])));
        recent.push(header(&["b", "c"]));
        (600..700).for_each(|tick| recent.push(row(tick, &[3.0, 4.0])));
        let last = |name: &str| *recent.series().values(name, "host").and_then(<[_]>::last).expect("a row");
        assert_eq!([last("a"), last("b"), last("c")], [None, Some(3.0), Some(4.0)]);
        recent.begin_trial();
        recent.push(row(700, &[5.0, 6.0]));
        let last = |name: &str| recent.series().values(name, "host").and_then(<[_]>::last).copied();
        assert_eq!([last("a"), last("b"), last("c")], [None, Some(Some(5.0)), Some(Some(6.0))]);
        assert_eq!(recent.series().windows().len(), ROWS_BEFORE + 1);
    }
}
