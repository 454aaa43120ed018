//! Follows a run while it is being written: each look reads only what was added since the last one.
//!
//! Intervals are in order of time, each once. Those of a long run are in the tail until their cell is in the log; a cell that
//! begins with intervals already seen is skipped, including its last second if that was never in the tail. Nothing is
//! trusted: unreadable lines are skipped, and each look reads a bounded number of bytes; the next one continues from there.

use super::folder::Folder;
use super::run::read_manifest;
use super::{INTERVALS, INTERVALS_TAIL, MANIFEST, MAX_GROWTH_BYTES, MAX_NOW_BYTES, NOW, plausible};
use crate::RecordError;
use crate::load::Interval;
use crate::manifest::Manifest;
use crate::progress::RunNow;
use crate::units::MonoNs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

/// Looks at a run again and again.
#[derive(Debug)]
pub struct Follower {
    folder: Folder,
    /// How far the log was read. Unit: bytes.
    position_bytes: u64,
    /// End of the last interval that was given.
    seen: Option<MonoNs>,
    /// What was known of the folder's manifest at the last look.
    manifest: Manifest,
    manifest_changed: Option<SystemTime>,
    now_read: Option<MonoNs>,
}

/// What a look has found.
#[derive(Debug)]
pub struct RunGrowth {
    /// Intervals that were not seen before, in the order of time.
    pub intervals: Vec<Interval>,
    /// When the log or its tail was last written; `None`: neither is there.
    pub written: Option<SystemTime>,
    /// The host at present, if it was read since the last look.
    pub now: Option<RunNow>,
}

impl Follower {
    /// Begins to follow a run from its first interval.
    ///
    /// # Errors
    /// It is not a run.
    pub fn open(path: &Path) -> Result<Follower, RecordError> {
        let folder = Folder::open(path)?;
        let manifest = read_manifest(&folder)?;
        Ok(Follower {
            folder,
            position_bytes: 0,
            seen: None,
            manifest,
            manifest_changed: None,
            now_read: None,
        })
    }

    /// The manifest as it was at the last look.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Reads what was added.
    ///
    /// # Errors
    /// The folder is gone, or its files are not what a run has.
    pub fn look(&mut self) -> Result<RunGrowth, RecordError> {
        // The descriptor of a folder outlives its name: the manifest is what says that it is still there.
        let changed = self.modified(MANIFEST)?;
        if changed.is_none() || changed != self.manifest_changed {
            self.manifest = read_manifest(&self.folder)?;
            self.manifest_changed = changed;
        }
        let mut intervals = Vec::new();
        let text = self.added()?;
        self.take(&text, &mut intervals);
        // A log that is longer than a look reads is read to its end before its tail.
        if (text.len() as u64) < MAX_GROWTH_BYTES / 2
            && let Some(tail) = self.tail()?
        {
            self.take(&tail, &mut intervals);
        }
        let written = self.modified(INTERVALS)?.max(self.modified(INTERVALS_TAIL)?);
        Ok(RunGrowth { intervals, written, now: self.now() })
    }

    /// The host at present, if that is news. What cannot be read is left out: the record does not need it.
    fn now(&mut self) -> Option<RunNow> {
        let bytes = self.folder.read_whole(NOW, MAX_NOW_BYTES).ok()??;
        let now: RunNow = serde_json::from_slice(&bytes).ok()?;
        let is_new = self.now_read.is_none_or(|read| read < now.mono_ns);
        self.now_read = self.now_read.max(Some(now.mono_ns));
        is_new.then_some(now)
    }

    /// The whole lines of the log behind those that were read.
    fn added(&mut self) -> Result<Vec<u8>, RecordError> {
        let Some(mut file) = self.folder.open_file(INTERVALS)? else { return Ok(Vec::new()) };
        let fail =
            |source| RecordError::Io { operation: "read", path: self.folder.path_of(INTERVALS), source };
        file.seek(SeekFrom::Start(self.position_bytes)).map_err(fail)?;
        let mut text = Vec::new();
        file.take(MAX_GROWTH_BYTES).read_to_end(&mut text).map_err(fail)?;
        let is_full = text.len() as u64 == MAX_GROWTH_BYTES;
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
        // A line that is longer than a look can never be read whole, and is passed over.
        let passed = if whole == 0 && is_full { text.len() } else { whole };
        self.position_bytes += passed as u64;
        text.truncate(whole);
        Ok(text)
    }

    /// The intervals that are not in the log yet, as lines; `None`: there are none.
    fn tail(&self) -> Result<Option<Vec<u8>>, RecordError> {
        let Some(file) = self.folder.open_file(INTERVALS_TAIL)? else { return Ok(None) };
        let mut text = Vec::new();
        let read = file.take(MAX_GROWTH_BYTES).read_to_end(&mut text);
        read.map_err(RecordError::io("read", self.folder.path_of(INTERVALS_TAIL)))?;
        Ok(Some(text))
    }

    fn take(&mut self, text: &[u8], intervals: &mut Vec<Interval>) {
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let Some(line) = line.strip_suffix(b"\n") else { continue };
            let Ok(interval) = serde_json::from_slice::<Interval>(line) else { continue };
            let is_new = self.seen.is_none_or(|seen| interval.begin_mono_ns >= seen);
            if is_new && plausible::check_interval(&interval).is_ok() {
                self.seen = Some(interval.end_mono_ns);
                intervals.push(interval);
            }
        }
    }

    fn modified(&self, name: &str) -> Result<Option<SystemTime>, RecordError> {
        let Some(file) = self.folder.open_file(name)? else { return Ok(None) };
        let fail = RecordError::io("read", self.folder.path_of(name));
        file.metadata().and_then(|metadata| metadata.modified()).map(Some).map_err(fail)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RunWriter, sample};
    use super::*;
    use crate::manifest::RunStatus;
    use crate::progress::CpuUses;
    use std::io::Write;

    fn begin(runs: &Path) -> (RunWriter, Follower) {
        let writer = RunWriter::create(runs, sample::new_run(1)).expect("creates");
        let follower = Follower::open(writer.path()).expect("opens");
        (writer, follower)
    }

    fn write(writer: &mut RunWriter, second: u64) {
        let (interval, latency) = (sample::interval(1, second), sample::latency(1, second % 50));
        writer.interval(&interval, &latency).expect("writes");
    }

    fn seconds(growth: &RunGrowth) -> Vec<u64> {
        growth.intervals.iter().map(|interval| interval.begin_mono_ns.0).collect()
    }

    #[test]
    fn each_interval_is_given_once_and_the_end_is_seen() {
        let runs = tempfile::tempdir().expect("a directory");
        let (mut writer, mut follower) = begin(runs.path());
        assert_eq!(seconds(&follower.look().expect("looks")), Vec::<u64>::new());
        (0..3).for_each(|second| write(&mut writer, second));
        let first = follower.look().expect("looks");
        assert_eq!(first.intervals.len(), 3);
        assert!(first.written.is_some());
        assert_eq!(seconds(&follower.look().expect("looks")), Vec::<u64>::new());
        write(&mut writer, 3);
        assert_eq!(follower.look().expect("looks").intervals.len(), 1);
        assert_eq!(follower.manifest().status, RunStatus::Running);
        writer.finish(RunStatus::Complete, None, sample::STARTED).expect("finishes");
        follower.look().expect("looks");
        assert_eq!(follower.manifest().status, RunStatus::Complete);
    }

    #[test]
    fn intervals_of_a_condensed_run_are_seen_second_by_second() {
        let runs = tempfile::tempdir().expect("a directory");
        let (mut writer, mut follower) = begin(runs.path());
        writer.expect(crate::units::SpanNs::from_secs(86_400));
        let mut begins = Vec::new();
        for second in 0..200 {
            write(&mut writer, second);
            begins.extend(seconds(&follower.look().expect("looks")));
        }
        assert!(writer.path().join(INTERVALS_TAIL).exists(), "the run is not condensed");
        assert!((190..=200).contains(&begins.len()), "{}", begins.len());
        assert!(begins.is_sorted());
    }

    #[test]
    fn half_a_line_waits_for_its_end_and_nonsense_is_passed_over() {
        let runs = tempfile::tempdir().expect("a directory");
        let (writer, mut follower) = begin(runs.path());
        let mut log =
            std::fs::File::options().append(true).open(writer.path().join(INTERVALS)).expect("opens");
        let line = serde_json::to_string(&sample::interval(1, 0)).expect("serializes");
        let (one, other) = line.split_at(20);
        write!(log, "nonsense\n{one}").expect("writes");
        assert_eq!(follower.look().expect("looks").intervals.len(), 0);
        writeln!(log, "{other}").expect("writes");
        assert_eq!(follower.look().expect("looks").intervals.len(), 1);
    }

    #[test]
    fn the_present_is_given_once_and_is_gone_with_the_run() {
        let runs = tempfile::tempdir().expect("a directory");
        let (writer, mut follower) = begin(runs.path());
        assert_eq!(follower.look().expect("looks").now, None);
        let now = RunNow { mono_ns: MonoNs(7), uses: CpuUses::default(), seen: Vec::new() };
        writer.now(&now);
        assert_eq!(follower.look().expect("looks").now, Some(now));
        assert_eq!(follower.look().expect("looks").now, None);
        std::fs::write(writer.path().join(NOW), "{").expect("writes");
        assert_eq!(follower.look().expect("looks").now, None, "nonsense is passed over");
        let path = writer.path().to_owned();
        writer.finish(RunStatus::Complete, None, sample::STARTED).expect("finishes");
        assert!(!path.join(NOW).exists());
    }

    #[test]
    fn a_folder_that_is_gone_is_an_error() {
        let runs = tempfile::tempdir().expect("a directory");
        let (writer, mut follower) = begin(runs.path());
        std::fs::remove_dir_all(writer.path()).expect("removes");
        assert!(follower.look().is_err());
    }
}
