//! Readings of the kernel over time: columns, rows, and the whole series in memory.
//!
//! A row is one sample of all columns with its acquisition window. Counters are stored as the kernel gives them; readers
//! derive rates. In a long run, a row may cover several samples ([`Condensed`]): it has the last values, and the extremes in
//! between. `docs/reference/formats/series.md` lists the names of the columns.

use crate::event::WatchedProcess;
use crate::log::LogLines;
use crate::units::MonoNs;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Whether a value is a growing counter or a level at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadingKind {
    /// A running total; only differences mean something.
    Counter,
    /// The value at the instant of the reading.
    Gauge,
}

/// One column of a series.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// What is read, e.g. `cpu.user_us` or `TcpExt.ListenOverflows`.
    pub name: String,
    /// Of what, e.g. `host`, `cpu:0`, `netdev:eth0`, `listener:0.0.0.0:80`, `process:1234`, `thread:1234/1240`.
    pub scope: String,
    /// The unit of the values: `us`, `ns`, `ms`, `bytes`, `pages`, `count`, `ratio`.
    pub unit: String,
    /// Counter or gauge.
    pub kind: ReadingKind,
    /// Why it could not be read when the header was written; `None` when it could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
}

/// One sample of all columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The readings were taken after this instant …
    pub begin_mono_ns: MonoNs,
    /// … and before this one.
    pub end_mono_ns: MonoNs,
    /// One value per column of the last header; `None` where it could not be read.
    pub values: Vec<Option<f64>>,
    /// Extremes of the samples that this row covers; `None` if it is a single sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condensed: Option<Box<Condensed>>,
    /// What logs said before it, and no row before has. A run folder has it as events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logged: Vec<LogLines>,
}

impl Row {
    /// One sample.
    pub fn sample(begin_mono_ns: MonoNs, end_mono_ns: MonoNs, values: Vec<Option<f64>>) -> Row {
        Row { begin_mono_ns, end_mono_ns, values, condensed: None, logged: Vec::new() }
    }

    /// The number of samples that it covers.
    pub fn samples_count(&self) -> u32 {
        self.condensed.as_ref().map_or(1, |condensed| condensed.samples_count)
    }
}

/// What several samples were like that one row stands for. Columns that stayed the same, or grew evenly, are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Condensed {
    /// How many samples there were.
    pub samples_count: u32,
    /// Counters: rates between neighboring samples.
    #[serde(default, skip_serializing_if = "RateRanges::is_empty")]
    pub rates: RateRanges,
    /// Gauges: readings.
    #[serde(default, skip_serializing_if = "GaugeSpreads::is_empty")]
    pub gauges: GaugeSpreads,
}

/// Extremes of the rates of counters, one entry of each list per column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RateRanges {
    /// Positions of the columns in the header, ascending.
    pub columns: Vec<u32>,
    /// Least growth per second between neighboring samples.
    pub low: Vec<f64>,
    /// Greatest growth per second between neighboring samples.
    pub high: Vec<f64>,
}

/// What gauges read, one entry of each list per column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GaugeSpreads {
    /// Positions of the columns in the header, ascending.
    pub columns: Vec<u32>,
    /// Least reading.
    pub low: Vec<f64>,
    /// Greatest reading.
    pub high: Vec<f64>,
    /// Mean of the readings.
    pub mean: Vec<f64>,
    /// Share of the readings that were above zero.
    pub present_ratio: Vec<f64>,
}

impl RateRanges {
    fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    pub(crate) fn push(&mut self, column: u32, range: RateRange) {
        self.columns.push(column);
        self.low.push(range.low);
        self.high.push(range.high);
    }

    /// The columns with their ranges.
    pub fn iter(&self) -> impl Iterator<Item = (usize, RateRange)> {
        let bounds = self.low.iter().zip(&self.high);
        let ranges = bounds.map(|(low, high)| RateRange { low: *low, high: *high });
        self.columns.iter().map(|column| *column as usize).zip(ranges)
    }
}

impl GaugeSpreads {
    fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    pub(crate) fn push(&mut self, column: u32, spread: GaugeSpread) {
        self.columns.push(column);
        self.low.push(spread.low);
        self.high.push(spread.high);
        self.mean.push(spread.mean);
        self.present_ratio.push(spread.present_ratio);
    }

    /// The columns with their spreads.
    pub fn iter(&self) -> impl Iterator<Item = (usize, GaugeSpread)> {
        let of = |entry: usize| {
            Some(GaugeSpread {
                low: *self.low.get(entry)?,
                high: *self.high.get(entry)?,
                mean: *self.mean.get(entry)?,
                present_ratio: *self.present_ratio.get(entry)?,
            })
        };
        self.columns
            .iter()
            .enumerate()
            .filter_map(move |(entry, column)| Some((*column as usize, of(entry)?)))
    }
}

/// Extremes of a counter's rate in a condensed row. Unit: that of the column, per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateRange {
    /// Least.
    pub low: f64,
    /// Greatest.
    pub high: f64,
}

/// What a gauge read in a condensed row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaugeSpread {
    /// Least reading.
    pub low: f64,
    /// Greatest reading.
    pub high: f64,
    /// Mean of the readings.
    pub mean: f64,
    /// Share of the readings that were above zero.
    pub present_ratio: f64,
}

/// One line of `series.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SeriesLine {
    /// The columns of the rows that follow.
    Header {
        /// The columns, in the order of the values.
        columns: Vec<Column>,
        /// Processes that came since the header before, and are watched from now on. A run folder has them as events.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        came: Vec<WatchedProcess>,
    },
    /// A sample.
    Row(Row),
}

impl SeriesLine {
    /// A header without processes that came.
    pub fn header(columns: Vec<Column>) -> SeriesLine {
        SeriesLine::Header { columns, came: Vec::new() }
    }
}

/// A whole series in memory: rows under one union of columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    columns: Vec<Column>,
    index: HashMap<String, usize>,
    /// Column of each value of the rows being added.
    current: Vec<usize>,
    windows: Vec<[MonoNs; 2]>,
    /// Values by column, then by row.
    values: Vec<Vec<Option<f64>>>,
    /// The number of samples that each row covers.
    samples_counts: Vec<u32>,
    /// By column, what its condensed rows hold besides, by row.
    spreads: Vec<Spreads>,
}

/// What condensed rows hold of a column: ranges of a counter, or spreads of a gauge, with their rows, ascending.
#[derive(Clone, Debug, Default, PartialEq)]
struct Spreads {
    rates: Vec<(u32, RateRange)>,
    gauges: Vec<(u32, GaugeSpread)>,
}

fn of_row<T: Copy>(entries: &[(u32, T)], row: usize) -> Option<T> {
    let position = entries.binary_search_by_key(&row, |entry| entry.0 as usize).ok()?;
    Some(entries[position].1)
}

impl Series {
    /// Adds a line in the order of the file.
    ///
    /// Rows that are longer than their header lose the excess; shorter ones are filled with `None`.
    pub fn push(&mut self, line: SeriesLine) {
        match line {
            SeriesLine::Header { columns, .. } => self.push_header(columns),
            SeriesLine::Row(row) => self.push_row(&row),
        }
    }

    /// Columns of the last header, which the next rows have a value for each of.
    pub fn width(&self) -> usize {
        self.current.len()
    }

    /// Adds rows under the present columns.
    pub fn extend(&mut self, rows: impl IntoIterator<Item = Row>) {
        rows.into_iter().for_each(|row| self.push_row(&row));
    }

    fn push_header(&mut self, columns: Vec<Column>) {
        self.current.clear();
        for column in columns {
            let key = format!("{}@{}", column.name, column.scope);
            let position = *self.index.entry(key).or_insert(self.columns.len());
            if position == self.columns.len() {
                self.columns.push(column);
                self.values.push(vec![None; self.windows.len()]);
                self.spreads.push(Spreads::default());
            }
            self.current.push(position);
        }
    }

    fn push_row(&mut self, row: &Row) {
        self.windows.push([row.begin_mono_ns, row.end_mono_ns]);
        self.values.iter_mut().for_each(|column| column.push(None));
        for (position, value) in self.current.iter().zip(&row.values) {
            if let Some(last) = self.values[*position].last_mut() {
                *last = *value;
            }
        }
        self.samples_counts.push(row.samples_count().max(1));
        if let Some(condensed) = &row.condensed {
            self.push_condensed(condensed);
        }
    }

    fn push_condensed(&mut self, condensed: &Condensed) {
        let row = (self.windows.len() - 1) as u32;
        for (column, range) in condensed.rates.iter() {
            if let Some(position) = self.current.get(column) {
                self.spreads[*position].rates.push((row, range));
            }
        }
        for (column, spread) in condensed.gauges.iter() {
            if let Some(position) = self.current.get(column) {
                self.spreads[*position].gauges.push((row, spread));
            }
        }
    }

    /// Positions of the columns of the rows that are being added, in their order.
    pub fn current(&self) -> &[usize] {
        &self.current
    }

    /// The rows again, with the columns at these positions.
    pub fn rows<'a>(&'a self, positions: &'a [usize]) -> impl Iterator<Item = Row> + 'a {
        (0..self.windows.len()).map(|row| Row {
            begin_mono_ns: self.windows[row][0],
            end_mono_ns: self.windows[row][1],
            values: positions.iter().map(|position| self.values[*position][row]).collect(),
            condensed: self.condensed(row, positions),
            logged: Vec::new(),
        })
    }

    fn condensed(&self, row: usize, positions: &[usize]) -> Option<Box<Condensed>> {
        let samples_count = self.samples_counts[row];
        let mut condensed = Condensed { samples_count, ..Condensed::default() };
        for (column, position) in positions.iter().enumerate() {
            if let Some(range) = self.rate_range(*position, row) {
                condensed.rates.push(column as u32, range);
            }
            if let Some(spread) = self.gauge_spread(*position, row) {
                condensed.gauges.push(column as u32, spread);
            }
        }
        (samples_count > 1).then(|| Box::new(condensed))
    }

    /// The number of samples that each row covers.
    pub fn samples_counts(&self) -> &[u32] {
        &self.samples_counts
    }

    /// Position of a column among [`Series::columns`]; `None`: there is no such column.
    pub fn position(&self, name: &str, scope: &str) -> Option<usize> {
        self.index.get(&format!("{name}@{scope}")).copied()
    }

    /// The range of a counter's rate within a condensed row; `None`: the row is one sample, or the counter grew evenly.
    pub fn rate_range(&self, position: usize, row: usize) -> Option<RateRange> {
        of_row(&self.spreads[position].rates, row)
    }

    /// What a gauge read within a condensed row; `None`: the row is one sample, or the gauge stayed the same.
    pub fn gauge_spread(&self, position: usize, row: usize) -> Option<GaugeSpread> {
        of_row(&self.spreads[position].gauges, row)
    }

    /// The columns, in order of first appearance.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Acquisition windows of the rows.
    pub fn windows(&self) -> &[[MonoNs; 2]] {
        &self.windows
    }

    /// Values of the column with this name and scope, one per row.
    ///
    /// `None`: there is no such column.
    pub fn values(&self, name: &str, scope: &str) -> Option<&[Option<f64>]> {
        self.position(name, scope).map(|position| self.values[position].as_slice())
    }

    /// Values of the column at this position of [`Series::columns`].
    pub fn values_at(&self, position: usize) -> &[Option<f64>] {
        &self.values[position]
    }

    /// Scopes that have a column of this name, in order of first appearance.
    pub fn scopes<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.columns.iter().filter(move |column| column.name == name).map(|column| column.scope.as_str())
    }

    /// Rows whose window is within `[begin, end]`, as a range of row numbers.
    pub fn rows_within(&self, begin: MonoNs, end: MonoNs) -> std::ops::Range<usize> {
        let first = self.windows.partition_point(|window| window[0] < begin);
        let last = self.windows.partition_point(|window| window[1] <= end);
        first..last.max(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, scope: &str) -> Column {
        Column {
            name: name.into(),
            scope: scope.into(),
            unit: "count".into(),
            kind: ReadingKind::Counter,
            unavailable: None,
        }
    }

    fn row(at: u64, values: &[f64]) -> SeriesLine {
        SeriesLine::Row(Row {
            begin_mono_ns: MonoNs(at),
            end_mono_ns: MonoNs(at + 1),
            values: values.iter().copied().map(Some).collect(),
            condensed: None,
            logged: vec![],
        })
    }

    #[test]
    fn a_column_that_appears_later_is_none_before() {
        let mut series = Series::default();
        series.push(SeriesLine::header(vec![column("a", "host")]));
        series.push(row(10, &[1.0]));
        series.push(SeriesLine::header(vec![column("b", "host"), column("a", "host")]));
        series.push(row(20, &[7.0, 2.0]));
        assert_eq!(series.values("a", "host"), Some(&[Some(1.0), Some(2.0)][..]));
        assert_eq!(series.values("b", "host"), Some(&[None, Some(7.0)][..]));
        assert_eq!(series.values("c", "host"), None);
        assert_eq!(series.rows_within(MonoNs(10), MonoNs(15)), 0..1);
        assert_eq!(series.rows_within(MonoNs(11), MonoNs(30)), 1..2);
    }

    #[test]
    fn lines_survive_json() {
        let line = SeriesLine::header(vec![column("a", "host")]);
        let json = serde_json::to_string(&line).expect("serialises");
        assert_eq!(serde_json::from_str::<SeriesLine>(&json).expect("parses"), line);
        let json = serde_json::to_string(&row(5, &[1.5])).expect("serialises");
        assert_eq!(json, r#"{"begin_mono_ns":5,"end_mono_ns":6,"values":[1.5]}"#);
        assert_eq!(serde_json::from_str::<SeriesLine>(&json).expect("parses"), row(5, &[1.5]));
    }
}
