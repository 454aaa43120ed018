//! `series.jsonl` of a run of any length: fine at the beginning and at the end, condensed in between.
//!
//! ```text
//!   sample ─► tail file ─► waits 30 s ─┬─► beside a boundary, or the run ends ─► series.jsonl, as it is
//!                                      └─► cell ─► full ─► series.jsonl, condensed
//! ```
//! While nothing needs to be condensed, samples go to `series.jsonl` at once, and there is no tail. Readers take from the tail
//! what is not yet in the log; the tail is removed after the end.

use super::folder::Folder;
use super::log::Log;
use super::meter::{Limits, Meter};
use super::verify::line as encoded;
use crate::RecordError;
use crate::condense::ReadingsCell;
use crate::series::{Column, Row, SeriesLine};
use crate::units::MonoNs;
use std::collections::{HashMap, VecDeque};

/// What readings may take on the disk. A day at ten samples per second of a host with a few CPUs has cells of 15 s or so.
const LIMITS: Limits = Limits { budget_bytes: 32 << 20, finest_ns: 100_000_000, charge_bytes: 0 };

/// How long a sample is kept as it is before it is condensed, and how much of the beginning stays. Unit: nanoseconds.
const FRESH_NS: u64 = 30_000_000_000;

/// What a value of a condensed row takes in the log, and the rest of a row, roughly. Unit: bytes.
const VALUE_BYTES: u64 = 12;
const ROW_BYTES: u64 = 160;

/// Where readings go.
#[derive(Debug)]
pub(super) struct ReadingsLog {
    log: Log,
    tail_name: &'static str,
    tail: Option<Tail>,
    meter: Meter,
    /// What is left of the plan, until the columns are known. Unit: nanoseconds.
    left_ns: u64,
    begin: Option<MonoNs>,
    /// The columns of what comes in.
    incoming: Vec<Column>,
    waiting: VecDeque<SeriesLine>,
    /// The columns of the first row that waits.
    current: Vec<Column>,
    /// The columns of what is written, and where each is among those of the first row that waits.
    written: Vec<Column>,
    places: Vec<Option<usize>>,
    /// A header that is written when the present cell is.
    header: Option<Vec<Column>>,
    cell: ReadingsCell,
    /// Instants that no cell reaches across.
    boundaries: VecDeque<MonoNs>,
    was_cut: bool,
}

/// The file of what is not yet in the log.
#[derive(Debug)]
struct Tail {
    log: Log,
    /// End of the first row in it.
    begin: MonoNs,
}

impl ReadingsLog {
    /// An empty log, and the name of its tail.
    pub(super) fn new(log: Log, tail_name: &'static str) -> ReadingsLog {
        ReadingsLog::within(LIMITS, log, tail_name)
    }

    fn within(limits: Limits, log: Log, tail_name: &'static str) -> ReadingsLog {
        ReadingsLog {
            log,
            tail_name,
            tail: None,
            meter: Meter::new(limits),
            left_ns: 0,
            begin: None,
            incoming: Vec::new(),
            waiting: VecDeque::new(),
            current: Vec::new(),
            written: Vec::new(),
            places: Vec::new(),
            header: None,
            cell: ReadingsCell::default(),
            boundaries: VecDeque::new(),
            was_cut: false,
        }
    }

    /// The run will go on for about this long; 0: that is not known.
    pub(super) fn expect(&mut self, left_ns: u64) {
        self.left_ns = left_ns;
        if !self.incoming.is_empty() {
            self.meter.expect(left_ns, ROW_BYTES + self.incoming.len() as u64 * VALUE_BYTES);
        }
    }

    /// No cell reaches across this instant, so that growth up to it and from it on is known.
    pub(super) fn boundary(&mut self, at: MonoNs) {
        if self.meter.cell_ns().is_some() {
            self.boundaries.push_back(at);
        }
    }

    /// Writes a header or a sample, now or when its cell is full.
    pub(super) fn push(&mut self, folder: &Folder, line: &SeriesLine) -> Result<(), RecordError> {
        match line {
            SeriesLine::Header { columns, .. } => {
                self.incoming.clone_from(columns);
                self.expect(self.left_ns);
            }
            SeriesLine::Row(row) => {
                self.begin.get_or_insert(row.begin_mono_ns);
            }
        }
        if self.is_written_at_once(line) {
            return self.write_now(folder, line);
        }
        self.append_to_tail(folder, line)?;
        self.waiting.push_back(line.clone());
        if let SeriesLine::Row(row) = line {
            self.condense_before(folder, row.end_mono_ns.0.saturating_sub(FRESH_NS))?;
        }
        Ok(())
    }

    /// Writes all that waits, as it is: the end of a run is as fine as its beginning.
    pub(super) fn finish(&mut self, folder: &Folder) -> Result<(), RecordError> {
        self.write_cell(folder)?;
        while let Some(line) = self.waiting.pop_front() {
            match line {
                SeriesLine::Header { columns, .. } => self.begin_columns(folder, columns)?,
                SeriesLine::Row(row) => self.write_row(folder, &self.placed(&row))?,
            }
            self.write_header(folder)?;
        }
        if self.tail.take().is_some() {
            folder.remove(self.tail_name)?;
        }
        Ok(())
    }

    /// The files that are there.
    pub(super) fn logs(&self) -> impl Iterator<Item = &Log> {
        std::iter::once(&self.log).chain(self.tail.as_ref().map(|tail| &tail.log))
    }

    fn is_written_at_once(&self, line: &SeriesLine) -> bool {
        let is_early = match (line, self.begin) {
            (SeriesLine::Row(row), Some(begin)) => row.end_mono_ns.since(begin) < FRESH_NS,
            _ => true,
        };
        self.waiting.is_empty() && self.cell.is_empty() && (is_early || self.meter.cell_ns().is_none())
    }

    fn write_now(&mut self, folder: &Folder, line: &SeriesLine) -> Result<(), RecordError> {
        match line {
            SeriesLine::Header { columns, .. } => {
                self.begin_columns(folder, columns.clone())?;
                self.write_header(folder)
            }
            SeriesLine::Row(row) => self.write_row(folder, &self.placed(row)),
        }
    }

    /// Condenses rows that end before this instant.
    fn condense_before(&mut self, folder: &Folder, until_ns: u64) -> Result<(), RecordError> {
        while let Some(line) = self.waiting.pop_front() {
            match line {
                SeriesLine::Header { columns, .. } => self.begin_columns(folder, columns)?,
                SeriesLine::Row(row) if row.end_mono_ns.0 < until_ns => {
                    let row = self.placed(&row);
                    self.condense(folder, row)?;
                }
                row => {
                    self.waiting.push_front(row);
                    break;
                }
            }
        }
        Ok(())
    }

    fn condense(&mut self, folder: &Folder, row: Row) -> Result<(), RecordError> {
        let has_restarted = !self.was_cut && self.cell.restarts_with(&row);
        let is_beyond = self.pass_boundary(&row);
        if is_beyond || has_restarted {
            self.write_cell(folder)?;
        }
        self.was_cut = has_restarted;
        self.cell.add(&row);
        let length_ns = self.cell.end().since(self.cell.begin());
        let is_full = self.meter.cell_ns().is_none_or(|cell_ns| length_ns + LIMITS.finest_ns / 2 >= cell_ns);
        if is_beyond || is_full { self.write_cell(folder) } else { Ok(()) }
    }

    /// Whether a boundary lies at or before the end of this row and behind all rows before it.
    fn pass_boundary(&mut self, row: &Row) -> bool {
        let mut is_beyond = false;
        while self.boundaries.front().is_some_and(|at| *at <= row.end_mono_ns) {
            self.boundaries.pop_front();
            is_beyond = true;
        }
        is_beyond
    }

    /// Takes rows with other columns. The header is written with the next row that stands alone or begins a cell, so that
    /// processes that come and go do not make the log longer than its cells do.
    fn begin_columns(&mut self, folder: &Folder, columns: Vec<Column>) -> Result<(), RecordError> {
        let is_first = self.written.is_empty();
        self.header = columns.iter().any(|column| !self.written.contains(column)).then(|| columns.clone());
        self.place(&columns);
        self.current = columns;
        if is_first || self.cell.is_empty() { self.write_header(folder) } else { Ok(()) }
    }

    fn place(&mut self, columns: &[Column]) {
        let places: HashMap<(&str, &str), usize> = columns
            .iter()
            .enumerate()
            .map(|(place, column)| ((column.name.as_str(), column.scope.as_str()), place))
            .collect();
        let place = |column: &Column| places.get(&(column.name.as_str(), column.scope.as_str())).copied();
        self.places = self.written.iter().map(place).collect();
    }

    fn write_header(&mut self, folder: &Folder) -> Result<(), RecordError> {
        let Some(columns) = self.header.take() else { return Ok(()) };
        self.cell = ReadingsCell::new(&columns);
        self.places = (0..columns.len()).map(Some).collect();
        self.written.clone_from(&columns);
        self.write_line(folder, &SeriesLine::header(columns))
    }

    /// A row under the columns of the log, which may be more than its own.
    fn placed(&self, row: &Row) -> Row {
        let value = |place: &Option<usize>| place.and_then(|place| row.values.get(place).copied().flatten());
        Row { values: self.places.iter().map(value).collect(), ..row.clone() }
    }

    fn write_cell(&mut self, folder: &Folder) -> Result<(), RecordError> {
        if let Some(row) = self.cell.take() {
            self.write_row(folder, &row)?;
        }
        self.write_header(folder)
    }

    fn write_row(&mut self, folder: &Folder, row: &Row) -> Result<(), RecordError> {
        self.write_line(folder, &SeriesLine::Row(row.clone()))
    }

    fn write_line(&mut self, folder: &Folder, line: &SeriesLine) -> Result<(), RecordError> {
        let bytes = encoded(folder, self.log.name(), line)?;
        self.meter.spend(bytes.len() as u64);
        self.log.append(folder, &bytes)
    }

    fn append_to_tail(&mut self, folder: &Folder, line: &SeriesLine) -> Result<(), RecordError> {
        let now = match line {
            SeriesLine::Row(row) => Some(row.end_mono_ns),
            SeriesLine::Header { .. } => None,
        };
        let is_long = |tail: &Tail| now.is_some_and(|now| now.since(tail.begin) >= 3 * FRESH_NS);
        if self.tail.as_ref().is_none_or(is_long) {
            let begin = now.map_or(MonoNs(0), |now| MonoNs(now.0.saturating_sub(FRESH_NS)));
            let log = Log::replace(folder, self.tail_name, &self.unwritten(folder)?)?;
            self.tail = Some(Tail { log, begin });
        }
        let bytes = encoded(folder, self.tail_name, line)?;
        self.tail.as_mut().map_or(Ok(()), |tail| tail.log.append(folder, &bytes))
    }

    /// All that is not in the log: the open cell so far, in one row, and what waits.
    fn unwritten(&self, folder: &Folder) -> Result<Vec<u8>, RecordError> {
        let cell = self.cell.clone().take().map(SeriesLine::Row);
        let before = cell.is_some().then(|| SeriesLine::header(self.written.clone()));
        let after = SeriesLine::header(self.current.clone());
        let lines = before.iter().chain(&cell).chain([&after]).chain(&self.waiting);
        let bytes: Result<Vec<_>, _> = lines.map(|line| encoded(folder, self.tail_name, line)).collect();
        Ok(bytes?.concat())
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines::FolderReader;
    use super::super::run::read_series;
    use super::super::{SERIES, SERIES_TAIL};
    use super::*;
    use crate::series::{ReadingKind, Series};
    use std::path::Path;

    /// A budget that is spent in seconds.
    const SMALL: Limits = Limits { budget_bytes: 100_000, ..LIMITS };

    const TICK_NS: u64 = 100_000_000;

    fn column(name: &str, kind: ReadingKind) -> Column {
        Column { name: name.into(), scope: "host".into(), unit: "count".into(), kind, unavailable: None }
    }

    fn header() -> SeriesLine {
        SeriesLine::header(vec![column("count", ReadingKind::Counter), column("level", ReadingKind::Gauge)])
    }

    /// A counter that grows by the number of the tick modulo 7, and a gauge that peaks once in a thousand ticks.
    fn row(tick: u64) -> SeriesLine {
        let begin = MonoNs(1 + tick * TICK_NS);
        let count = (tick / 7 * 21 + tick % 7 * (tick % 7 + 1) / 2) as f64;
        let level = if tick % 1_000 == 517 { 50.0 } else { (tick % 3) as f64 };
        SeriesLine::Row(Row::sample(begin, MonoNs(begin.0 + 1_000), vec![Some(count), Some(level)]))
    }

    struct Stage {
        runs: tempfile::TempDir,
        folder: Folder,
        log: ReadingsLog,
    }

    fn stage() -> Stage {
        let runs = tempfile::tempdir().expect("a directory");
        let folder = Folder::create(runs.path(), "run").and_then(super::super::folder::Draft::publish);
        let folder = Folder::open(&runs.path().join("run")).or(folder).expect("opens");
        let log = ReadingsLog::within(SMALL, Log::create(&folder, SERIES).expect("creates"), SERIES_TAIL);
        Stage { runs, folder, log }
    }

    fn read(path: &Path) -> Series {
        let folder = Folder::open(path).expect("opens");
        let mut reader = FolderReader::new(&folder, Default::default());
        let series = read_series(&mut reader, [SERIES, SERIES_TAIL]);
        assert_eq!(reader.damage, Vec::<String>::new());
        series.expect("reads")
    }

    impl Stage {
        fn push(&mut self, line: &SeriesLine) {
            self.log.push(&self.folder, line).expect("writes");
        }

        fn series(&self) -> Series {
            read(&self.runs.path().join("run"))
        }
    }

    fn samples(series: &Series) -> u64 {
        series.samples_counts().iter().map(|count| u64::from(*count)).sum()
    }

    #[test]
    fn a_run_of_any_length_takes_little_more_than_its_budget() {
        for planned_ns in [0, 100_000 * TICK_NS] {
            let mut stage = stage();
            stage.log.expect(planned_ns);
            stage.push(&header());
            (0..100_000).for_each(|tick| stage.push(&row(tick)));
            stage.log.finish(&stage.folder).expect("finishes");
            let bytes = stage.log.log.digest().bytes;
            // With the samples of the first and the last 30 s.
            assert!(bytes < 3 * SMALL.budget_bytes, "{bytes}");
            let series = stage.series();
            assert_eq!(samples(&series), 100_000, "no sample is lost");
            let peaks = (0..series.windows().len()).filter_map(|row| series.gauge_spread(1, row));
            assert!(peaks.filter(|spread| spread.high == 50.0).count() > 20);
            assert!(!stage.runs.path().join("run").join(SERIES_TAIL).exists());
        }
    }

    #[test]
    fn a_column_that_is_gone_leaves_the_others_where_they_were() {
        let mut stage = stage();
        stage.log.expect(0);
        stage.push(&header());
        stage.push(&row(5));
        // The counter's process has ended; the gauge goes on.
        stage.push(&SeriesLine::header(vec![column("level", ReadingKind::Gauge)]));
        let window = [MonoNs(1 + 6 * TICK_NS), MonoNs(2 + 6 * TICK_NS)];
        stage.push(&SeriesLine::Row(Row::sample(window[0], window[1], vec![Some(40.0)])));
        let series = stage.series();
        assert_eq!(series.values("count", "host").map(|values| values[1]), Some(None));
        assert_eq!(series.values("level", "host").map(|values| values[1]), Some(Some(40.0)));
    }

    #[test]
    fn the_beginning_the_end_and_both_sides_of_a_boundary_are_as_they_came() {
        let mut stage = stage();
        stage.log.expect(60_000 * TICK_NS);
        stage.push(&header());
        for tick in 0..60_000 {
            if tick == 30_000 {
                stage.log.boundary(MonoNs(tick * TICK_NS));
            }
            stage.push(&row(tick));
        }
        stage.log.finish(&stage.folder).expect("finishes");
        let series = stage.series();
        let (windows, counts) = (series.windows(), series.samples_counts());
        let fresh = (FRESH_NS / TICK_NS) as usize - 1;
        assert!(counts[..fresh].iter().chain(&counts[counts.len() - fresh..]).all(|count| *count == 1));
        let after = windows.partition_point(|window| window[0].0 < 30_000 * TICK_NS);
        assert_eq!(windows[after][0], MonoNs(1 + 30_000 * TICK_NS));
        assert_eq!(counts[after], 1);
        assert_eq!(windows[after - 1][1].0, 1_001 + 29_999 * TICK_NS);
        let SeriesLine::Row(Row { values, .. }) = row(29_999) else { panic!("a row") };
        assert_eq!(series.values("count", "host").expect("a column")[after - 1], values[0]);
        assert!(counts.iter().any(|count| *count > 100), "and all else is condensed");
    }

    #[test]
    fn a_process_that_is_killed_at_any_sample_has_lost_none() {
        let mut stage = stage();
        stage.log.expect(9_000 * TICK_NS);
        stage.push(&header());
        for tick in 0..9_000_u64 {
            stage.push(&row(tick));
            if tick.is_multiple_of(97) || tick > 8_900 {
                let series = stage.series();
                assert_eq!(samples(&series), tick + 1, "after tick {tick}");
                let last = series.values("count", "host").and_then(<[_]>::last);
                let SeriesLine::Row(Row { values, .. }) = row(tick) else { panic!("a row") };
                assert_eq!(last, values.first(), "after tick {tick}");
            }
        }
    }

    #[test]
    fn processes_that_come_and_go_do_not_make_the_log_longer_than_its_cells() {
        let mut stage = stage();
        stage.log.expect(20_000 * TICK_NS);
        for tick in 0..20_000_u64 {
            if tick.is_multiple_of(5) {
                let process =
                    Column { scope: format!("process:{tick}"), ..column("cpu", ReadingKind::Counter) };
                stage.push(&SeriesLine::header(vec![column("count", ReadingKind::Counter), process]));
            }
            stage.push(&row(tick));
        }
        stage.log.finish(&stage.folder).expect("finishes");
        let bytes = stage.log.log.digest().bytes;
        assert!(bytes < 4 * SMALL.budget_bytes, "{bytes}");
        let series = stage.series();
        assert_eq!(samples(&series), 20_000);
        let counts: Vec<f64> =
            series.values("count", "host").expect("a column").iter().flatten().copied().collect();
        assert!(counts.windows(2).all(|pair| pair[0] <= pair[1]), "the counter kept its column");
    }

    #[test]
    fn a_counter_that_begins_anew_keeps_what_it_had_come_to() {
        let mut stage = stage();
        stage.log.expect(20_000 * TICK_NS);
        stage.push(&header());
        let SeriesLine::Row(last) = row(10_234) else { panic!("a row") };
        for tick in 0..20_000_u64 {
            let SeriesLine::Row(mut row) = row(tick) else { panic!("a row") };
            if tick > 10_234 {
                row.values[0] = row.values[0].zip(last.values[0]).map(|(value, last)| value - last);
            }
            stage.push(&SeriesLine::Row(row));
        }
        stage.log.finish(&stage.folder).expect("finishes");
        let series = stage.series();
        assert!(series.values("count", "host").expect("a column").contains(&last.values[0]));
    }
}
