//! Readings of the kernel over time: columns, rows, and the whole series in memory.
//!
//! A row is one sample of all columns with its acquisition window. Counters are kept as the kernel gives them; rates
//! are derived by whoever reads. The names of the columns are listed in `docs/formats/series.md`.

use crate::event::WatchedProcess;
use crate::units::MonoNs;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Whether a value grows or stands for an instant.
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

    fn push_header(&mut self, columns: Vec<Column>) {
        self.current.clear();
        for column in columns {
            let key = format!("{}@{}", column.name, column.scope);
            let position = *self.index.entry(key).or_insert(self.columns.len());
            if position == self.columns.len() {
                self.columns.push(column);
                self.values.push(vec![None; self.windows.len()]);
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
        self.index.get(&format!("{name}@{scope}")).map(|position| self.values[*position].as_slice())
    }

    /// Values of the column at this position of [`Series::columns`].
    pub fn values_at(&self, position: usize) -> &[Option<f64>] {
        &self.values[position]
    }

    /// Scopes that have a column of this name, in order of first appearance.
    pub fn scopes<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.columns.iter().filter(move |column| column.name == name).map(|column| column.scope.as_str())
    }

    /// Rows whose window lies within `[begin, end]`, as a range of row numbers.
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
