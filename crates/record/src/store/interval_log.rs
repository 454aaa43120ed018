//! `intervals.jsonl` and `latency.hlog` of a run of any length: one line per second, or per several seconds in a long run.
//!
//! Two files next to them hold the open cell second by second, so that the death of the process loses nothing; they are
//! emptied when the cell is written, and removed at the end. A cell's histograms are written before its interval: readers
//! take each tail from where its own log ends.

use super::folder::Folder;
use super::log::Log;
use super::meter::{Limits, Meter};
use super::verify::line;
use super::{INTERVALS_TAIL, LATENCY_TAIL};
use crate::RecordError;
use crate::condense::IntervalCell;
use crate::hlog::{LogEncoder, LogTag};
use crate::load::{Interval, LatencyKind, LatencySet};
use crate::manifest::ClockPair;
use crate::units::WallNs;

/// What intervals and histograms may take on the disk. The charge leaves a minute for each cell of a day.
const LIMITS: Limits =
    Limits { budget_bytes: 40 << 20, finest_ns: 1_000_000_000, charge_bytes: (40 << 20) * 3 / 4 / 1_440 };

/// Where intervals go.
#[derive(Debug)]
pub(super) struct IntervalLog {
    intervals: Log,
    latency: Log,
    tails: Option<[Log; 2]>,
    encoder: LogEncoder,
    clock: ClockPair,
    meter: Meter,
    cell: IntervalCell,
}

impl IntervalLog {
    /// Empty logs.
    pub(super) fn new(logs: [Log; 2], clock: ClockPair) -> IntervalLog {
        IntervalLog::within(LIMITS, logs, clock)
    }

    fn within(limits: Limits, [intervals, latency]: [Log; 2], clock: ClockPair) -> IntervalLog {
        IntervalLog {
            intervals,
            latency,
            tails: None,
            encoder: LogEncoder::default(),
            clock,
            meter: Meter::new(limits),
            cell: IntervalCell::default(),
        }
    }

    /// Writes what is before the first histogram.
    pub(super) fn begin(&mut self, folder: &Folder) -> Result<(), RecordError> {
        self.latency.append(folder, &LogEncoder::header(self.clock.unix_ns))
    }

    /// The run will go on for about this long; 0: that is not known.
    pub(super) fn expect(&mut self, left_ns: u64) {
        self.meter.expect(left_ns, 0);
    }

    /// Writes an interval and its histograms, now or when its cell is full; returns what was written of intervals.
    pub(super) fn push(
        &mut self,
        folder: &Folder,
        interval: &Interval,
        latency: &LatencySet,
    ) -> Result<Vec<Interval>, RecordError> {
        let mut written = Vec::new();
        if !self.cell.takes(interval) {
            written.extend(self.close(folder)?);
        }
        self.cell.add(interval, latency);
        let length_ns = self.cell.length_ns();
        let is_full = self.meter.cell_ns().is_none_or(|cell_ns| length_ns + LIMITS.finest_ns / 2 >= cell_ns);
        if is_full {
            written.extend(self.close(folder)?);
        } else {
            self.append_to_tails(folder, interval, latency)?;
        }
        Ok(written)
    }

    /// Writes the open cell, if there is one.
    pub(super) fn close(&mut self, folder: &Folder) -> Result<Option<Interval>, RecordError> {
        let (encoder, clock) = (&mut self.encoder, self.clock);
        let taken = self.cell.take(|interval, latency| {
            let histograms = histogram_lines(folder, encoder, (interval, clock), latency)?;
            Ok((histograms, line(folder, super::INTERVALS, interval)?))
        });
        let Some((interval, lines)) = taken else { return Ok(None) };
        let (histograms, line) = lines?;
        self.meter.spend((histograms.len() + line.len()) as u64);
        self.latency.append(folder, &histograms)?;
        self.intervals.append(folder, &line)?;
        if let Some(tails) = &mut self.tails {
            tails.iter_mut().try_for_each(|tail| tail.empty(folder))?;
        }
        Ok(Some(interval))
    }

    /// Writes the open cell, and removes the tails.
    pub(super) fn finish(&mut self, folder: &Folder) -> Result<(), RecordError> {
        self.close(folder)?;
        let tails = self.tails.take().into_iter().flatten();
        tails.into_iter().try_for_each(|tail| folder.remove(tail.name()))
    }

    /// The files that are there.
    pub(super) fn logs(&self) -> impl Iterator<Item = &Log> {
        [&self.intervals, &self.latency].into_iter().chain(self.tails.iter().flatten())
    }

    fn append_to_tails(
        &mut self,
        folder: &Folder,
        interval: &Interval,
        latency: &LatencySet,
    ) -> Result<(), RecordError> {
        if self.tails.is_none() {
            self.tails = Some([Log::create(folder, INTERVALS_TAIL)?, Log::create(folder, LATENCY_TAIL)?]);
        }
        let histograms = histogram_lines(folder, &mut self.encoder, (interval, self.clock), latency)?;
        let line = line(folder, super::INTERVALS, interval)?;
        let Some([intervals, latency]) = &mut self.tails else { return Ok(()) };
        latency.append(folder, &histograms)?;
        intervals.append(folder, &line)
    }
}

/// The lines of all histograms of an interval that are not empty.
fn histogram_lines(
    folder: &Folder,
    encoder: &mut LogEncoder,
    (interval, clock): (&Interval, ClockPair),
    latency: &LatencySet,
) -> Result<Vec<u8>, RecordError> {
    let start = clock.wall(interval.begin_mono_ns);
    let span = [start, WallNs(start.0 + interval.end_mono_ns.since(interval.begin_mono_ns))];
    let mut lines = Vec::new();
    for kind in LatencyKind::ALL {
        let histogram = latency.get(kind);
        let tag = LogTag { trial: interval.trial, phase: interval.phase, kind };
        if !histogram.is_empty() {
            let encoded = encoder.encode(&mut lines, tag, span, histogram);
            encoded
                .map_err(|cause| RecordError::Unwritable { path: folder.path_of(super::LATENCY), cause })?;
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::super::lines::FolderReader;
    use super::super::{INTERVALS, LATENCY, Trial, latency, run, sample};
    use super::*;
    use crate::manifest::ClockPair;
    use crate::units::MonoNs;
    use std::path::Path;

    const CLOCK: ClockPair = ClockPair { mono_ns: MonoNs(1_000), unix_ns: WallNs(1_700_000_000_123_456_789) };

    struct Stage {
        runs: tempfile::TempDir,
        folder: Folder,
        log: IntervalLog,
    }

    /// A budget of so many intervals.
    fn stage(intervals_count: u64) -> Stage {
        let runs = tempfile::tempdir().expect("a directory");
        let draft = Folder::create(runs.path(), "run").expect("creates");
        let folder = draft.publish().expect("publishes");
        let logs = [INTERVALS, LATENCY].map(|name| Log::create(&folder, name).expect("creates"));
        let budget_bytes = intervals_count * LIMITS.charge_bytes;
        let mut log = IntervalLog::within(Limits { budget_bytes, ..LIMITS }, logs, CLOCK);
        log.begin(&folder).expect("writes");
        Stage { runs, folder, log }
    }

    impl Stage {
        fn push(&mut self, second: u64) {
            let latency = sample::latency(1, second % 50);
            self.log.push(&self.folder, &sample::interval(1, second), &latency).expect("writes");
        }

        /// Counts of the intervals and of the histograms, and the intervals' number.
        fn read(&self) -> (u64, u64, usize) {
            read(&self.runs.path().join("run"))
        }
    }

    fn read(path: &Path) -> (u64, u64, usize) {
        let folder = Folder::open(path).expect("opens");
        let trial = [Trial { begin: sample::trial_begin(1), end: None }];
        let mut reader = FolderReader::new(&folder, Default::default());
        let intervals = run::read_intervals(&mut reader).expect("reads");
        let latency = latency::read_latency(&mut reader, &trial, CLOCK).expect("reads");
        assert_eq!(reader.damage, Vec::<String>::new());
        let sum = intervals.iter().map(|interval| interval.counts.ok).sum();
        let values = latency.merged.get(&1).map_or(0, |set| set.get(LatencyKind::Service).count());
        (sum, values, intervals.len())
    }

    #[test]
    fn totals_of_a_long_run_are_exact_and_its_lines_are_few() {
        let mut stage = stage(160);
        stage.log.expect(10_000 * 1_000_000_000);
        (0..10_000).for_each(|second| stage.push(second));
        stage.log.finish(&stage.folder).expect("finishes");
        let (counted, values, lines) = stage.read();
        assert_eq!((counted, values), (1_000_000, 1_000_000));
        assert!((60..=160).contains(&lines), "{lines}");
        assert!(!stage.runs.path().join("run").join(INTERVALS_TAIL).exists());
    }

    #[test]
    fn a_process_that_is_killed_after_any_interval_has_lost_none() {
        let mut stage = stage(40);
        for second in 0..400 {
            stage.push(second);
            let (counted, values, _) = stage.read();
            assert_eq!((counted, values), (100 * (second + 1), 100 * (second + 1)), "after {second} s");
        }
    }
}
