//! Checks readings from another process before they are recorded: a run folder must stay readable, whoever wrote to it.

use sysdyno_record::series::{Column, SeriesLine};
use sysdyno_record::store::MAX_SERIES_VALUES;
use sysdyno_record::units::MonoNs;

/// Columns of one header.
const MAX_COLUMNS: usize = 100_000;

/// Longest name, scope or unit. Unit: bytes.
const MAX_NAME_BYTES: usize = 256;

/// Longest reason for a missing column. Unit: bytes.
const MAX_REASON_BYTES: usize = 1024;

/// How far a reading may be ahead of the clock: clocks drift. Unit: nanoseconds.
const AHEAD_NS: u64 = 2_000_000_000;

/// What the readings so far allow the next one to be.
#[derive(Debug, Default)]
pub(super) struct ReadingCheck {
    columns_count: usize,
    values_count: usize,
    last_begin: MonoNs,
}

impl ReadingCheck {
    /// Whether a line may be written down, now being `latest` at most; the error is a sentence about the agent.
    pub(super) fn check(&mut self, line: &SeriesLine, latest: MonoNs) -> Result<(), &'static str> {
        match line {
            SeriesLine::Header { columns, .. } if columns.len() > MAX_COLUMNS => {
                Err("it sent more columns than a host can have")
            }
            SeriesLine::Header { columns, .. } if !columns.iter().all(is_column) => {
                Err("it sent a column with an unknown name")
            }
            SeriesLine::Header { columns, .. } => {
                self.columns_count = columns.len();
                Ok(())
            }
            SeriesLine::Row(row) => {
                if row.values.len() != self.columns_count {
                    return Err("it sent a row that does not match its header");
                }
                let is_in_order =
                    row.begin_mono_ns >= self.last_begin && row.end_mono_ns >= row.begin_mono_ns;
                if !is_in_order || row.end_mono_ns.since(latest) > AHEAD_NS {
                    return Err("it sent a reading out of order, or from the future");
                }
                self.last_begin = row.begin_mono_ns;
                self.values_count = self.values_count.saturating_add(row.values.len());
                if self.values_count > MAX_SERIES_VALUES {
                    return Err("it sent more readings than a run can hold");
                }
                Ok(())
            }
        }
    }
}

fn is_column(column: &Column) -> bool {
    let is_name = |text: &str| text.len() <= MAX_NAME_BYTES && !text.contains(char::is_control);
    is_name(&column.name)
        && is_name(&column.scope)
        && is_name(&column.unit)
        && column.unavailable.as_ref().is_none_or(|reason| reason.len() <= MAX_REASON_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::series::{ReadingKind, Row};

    const NOW: MonoNs = MonoNs(100_000_000_000);

    fn header(name: &str, count: usize) -> SeriesLine {
        let column = Column {
            name: name.into(),
            scope: "host".into(),
            unit: "count".into(),
            kind: ReadingKind::Gauge,
            unavailable: None,
        };
        SeriesLine::header(vec![column; count])
    }

    fn row(begin: u64, end: u64, width: usize) -> SeriesLine {
        SeriesLine::Row(Row {
            begin_mono_ns: MonoNs(begin),
            end_mono_ns: MonoNs(end),
            values: vec![None; width],
            condensed: None,
            logged: vec![],
        })
    }

    #[test]
    fn what_no_reader_would_take_is_not_written() {
        let mut check = ReadingCheck::default();
        let mut is_taken = |line: SeriesLine| check.check(&line, NOW).is_ok();
        assert!(!is_taken(row(1, 2, 1)), "a row before its header");
        assert!(is_taken(header("a", 2)) && is_taken(row(10, 12, 2)) && is_taken(row(10, 11, 2)));
        assert!(!is_taken(row(9, 11, 2)), "earlier than the last one");
        assert!(!is_taken(row(20, 19, 2)), "ends before it begins");
        assert!(!is_taken(row(20, NOW.0 + AHEAD_NS + 1, 2)), "from the future");
        assert!(!is_taken(row(20, 21, 3)) && is_taken(row(20, 21, 2)));
        assert!(!is_taken(header("a\x1b", 1)) && !is_taken(header(&"a".repeat(300), 1)));
        assert!(!is_taken(header("a", MAX_COLUMNS + 1)));
    }
}
