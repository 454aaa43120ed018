//! Writes a run folder while the run lasts.

use super::folder::Folder;
use super::interval_log::IntervalLog;
use super::log::Log;
use super::readings_log::ReadingsLog;
use super::verify::{self, document};
use super::{
    ANALYSIS, CONCLUSION, EVENTS, FACTS, GENERATORS, INTERVALS, LATENCY, MANIFEST, NOW, OPERATIONS, PLAN,
    PROBE, PROBED, PROFILE, PROFILE_LOW, REPORT, RESERVE, SERIES, SERIES_TAIL, SERVER, SERVER_SERIES,
    SERVER_SERIES_TAIL, SQUEEZED, TRIALS, TRY_LINES, WORK, redact,
};
use crate::RecordError;
use crate::analysis::Analysis;
use crate::event::Event;
use crate::facts::HostFacts;
use crate::load::{Interval, LatencySet, TrialBegin, TrialEnd};
use crate::manifest::{ClockPair, Manifest, RunKind, RunStatus, SCHEMA, Tool};
use crate::plan::Plan;
use crate::probe::{ProbeConclusion, ProbeReply};
use crate::profile::{Profile, ProfiledLoad};
use crate::progress::RunNow;
use crate::remote::RemoteHost;
use crate::series::SeriesLine;
use crate::squeeze::SqueezeConclusion;
use crate::tryout::{TryConclusion, TryLine};
use crate::units::{MonoNs, SpanNs, WallNs};
use crate::work::{WorkLine, WorkSummary};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

/// What is known of a run when its folder is made.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// The command.
    pub kind: RunKind,
    /// The program.
    pub tool: Tool,
    /// The two clocks, read together now.
    pub clock: ClockPair,
    /// The command line as it was typed; values of header fields and passwords in URLs are redacted here.
    pub command: Vec<String>,
    /// This process.
    pub pid: u32,
    /// Its start time. Unit: clock ticks since boot. Source: `/proc/PID/stat` field 22.
    pub pid_start_ticks: u64,
    /// Randomness for the folder's name; 20 bits of it are used.
    pub suffix: u32,
}

/// Writes one run folder, append-only; the only way to make one.
///
/// Each call hands its lines to the kernel before it returns. Errors: the file cannot be written
/// ([`RecordError::Io`], once), the value has no faithful JSON form ([`RecordError::Unwritable`]), or an earlier write
/// failed ([`RecordError::Stopped`]).
#[derive(Debug)]
pub struct RunWriter {
    folder: Folder,
    manifest: Manifest,
    /// Files of lines. Some are made with their first line: few runs have a probe, only tryouts have pairs.
    logs: Vec<Log>,
    intervals: IntervalLog,
    series: ReadingsLog,
    server_series: Option<ReadingsLog>,
    stopped: Option<String>,
}

/// What is kept free for the last manifest.
const RESERVE_BYTES: usize = 64 << 10;

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum TrialLine<'a> {
    Begin(&'a TrialBegin),
    End(&'a TrialEnd),
}

impl RunWriter {
    /// Creates the folder `runs_dir/ID` with mode 0700 and its manifest with status `running`.
    ///
    /// Errors: the folder exists (another run with the same second and suffix), or cannot be written.
    pub fn create(runs_dir: &Path, new: NewRun) -> Result<RunWriter, RecordError> {
        let id = run_id(new.clock.unix_ns, new.kind, new.suffix);
        let draft = Folder::create(runs_dir, &id)?;
        let manifest = Manifest {
            schema: SCHEMA.into(),
            id,
            kind: new.kind,
            tool: new.tool,
            started_unix_ns: new.clock.unix_ns,
            ended_unix_ns: None,
            clock: new.clock,
            command: redact::redacted_command(&new.command),
            pid: new.pid,
            pid_start_ticks: new.pid_start_ticks,
            status: RunStatus::Running,
            reason: None,
            files: BTreeMap::new(),
            manifest_sha256: None,
        };
        let manifest_text = document(draft.folder(), MANIFEST, &manifest)?;
        draft.folder().replace(MANIFEST, &manifest_text)?;
        let folder = draft.publish()?;
        let log = |name| Log::create(&folder, name);
        let logs = vec![log(TRIALS)?, log(EVENTS)?];
        let mut intervals = IntervalLog::new([log(INTERVALS)?, log(LATENCY)?], manifest.clock);
        let series = ReadingsLog::new(log(SERIES)?, SERIES_TAIL);
        folder.create_file(RESERVE)?.write_all(&[0; RESERVE_BYTES]).map_err(reserve_error(&folder))?;
        folder.sync()?;
        intervals.begin(&folder)?;
        Ok(RunWriter { folder, manifest, logs, intervals, series, server_series: None, stopped: None })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The run's id, the name of its folder.
    pub fn id(&self) -> &str {
        &self.manifest.id
    }

    /// The manifest as it would be written now.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Writes `plan.json`, header values redacted.
    pub fn plan(&mut self, plan: &Plan) -> Result<(), RecordError> {
        self.document(PLAN, &redact::redacted_plan(plan))
    }

    /// Writes `facts.json`.
    pub fn facts(&mut self, facts: &HostFacts) -> Result<(), RecordError> {
        self.document(FACTS, facts)
    }

    /// Writes `server.json`, in the place of an earlier one.
    pub fn server(&mut self, server: &RemoteHost) -> Result<(), RecordError> {
        self.document(SERVER, server)
    }

    /// Writes `generators.json`, in the place of an earlier one.
    pub fn generators(&mut self, generators: &[RemoteHost]) -> Result<(), RecordError> {
        self.document(GENERATORS, &generators.to_vec())
    }

    /// Writes `profile.json`, or `profile-low.json`.
    pub fn profile(&mut self, load: ProfiledLoad, profile: &Profile) -> Result<(), RecordError> {
        let name = match load {
            ProfiledLoad::Measured => PROFILE,
            ProfiledLoad::Low => PROFILE_LOW,
        };
        self.document(name, profile)
    }

    /// Writes a header or a row of the series of the server's host.
    pub fn server_series(&mut self, line: &SeriesLine) -> Result<(), RecordError> {
        self.refuse_if_stopped(SERVER_SERIES)?;
        let written = self.append_server_series(line);
        self.stop_on_error(written)
    }

    fn append_server_series(&mut self, line: &SeriesLine) -> Result<(), RecordError> {
        let log = match &mut self.server_series {
            Some(log) => log,
            none => {
                let log = Log::create(&self.folder, SERVER_SERIES)?;
                none.insert(ReadingsLog::new(log, SERVER_SERIES_TAIL))
            }
        };
        log.push(&self.folder, line)
    }

    /// Tells how long the run will go on for; 0: that is not known. From now on, a run that is too long to be kept second by
    /// second is condensed, so that its folder stays of a size that is read in a moment.
    pub fn expect(&mut self, left: SpanNs) {
        self.intervals.expect(left.0);
        self.series.expect(left.0);
        if let Some(log) = &mut self.server_series {
            log.expect(left.0);
        }
    }

    /// Marks a boundary: growth up to this instant and from it on will be needed, since a phase begins or ends.
    pub fn boundary(&mut self, at: MonoNs) {
        self.series.boundary(at);
        if let Some(log) = &mut self.server_series {
            log.boundary(at);
        }
    }

    /// Writes the first line of a trial, header values redacted.
    pub fn trial_begin(&mut self, begin: &TrialBegin) -> Result<(), RecordError> {
        let begin = TrialBegin { plan: redact::redacted_load(&begin.plan), ..begin.clone() };
        self.check::<_, TrialBegin>(TRIALS, &begin)?;
        self.line(TRIALS, &TrialLine::Begin(&begin))
    }

    /// Writes the last line of a trial.
    pub fn trial_end(&mut self, end: &TrialEnd) -> Result<(), RecordError> {
        self.check::<_, TrialEnd>(TRIALS, end)?;
        self.line(TRIALS, &TrialLine::End(end))
    }

    /// Writes one interval with its histograms, now or together with those that follow; returns what was written.
    pub fn interval(
        &mut self,
        interval: &Interval,
        latency: &LatencySet,
    ) -> Result<Vec<Interval>, RecordError> {
        self.refuse_if_stopped(INTERVALS)?;
        let written = self.intervals.push(&self.folder, interval, latency);
        self.stop_on_error(written)
    }

    /// Writes the interval that is not yet written, if there is one, and returns it: a trial ends.
    pub fn close_interval(&mut self) -> Result<Option<Interval>, RecordError> {
        self.refuse_if_stopped(INTERVALS)?;
        let written = self.intervals.close(&self.folder);
        self.stop_on_error(written)
    }

    /// Writes a header or a sample of the series, now or together with those that follow.
    pub fn series(&mut self, line: &SeriesLine) -> Result<(), RecordError> {
        self.refuse_if_stopped(SERIES)?;
        let written = self.series.push(&self.folder, line);
        self.stop_on_error(written)
    }

    /// Writes a mark on the time axis.
    pub fn event(&mut self, event: &Event) -> Result<(), RecordError> {
        self.line(EVENTS, event)
    }

    /// Writes one operation of a probe.
    pub fn probe(&mut self, reply: &ProbeReply) -> Result<(), RecordError> {
        self.line(PROBE, reply)
    }

    /// Writes `probe.json`, in the place of an earlier one.
    pub fn probed(&mut self, conclusion: &ProbeConclusion) -> Result<(), RecordError> {
        self.document(PROBED, conclusion)
    }

    /// Writes a line of a tryout.
    pub fn tryout(&mut self, line: &TryLine) -> Result<(), RecordError> {
        self.check::<_, TryLine>(TRY_LINES, line)?;
        self.line(TRY_LINES, line)
    }

    /// Writes `experiment.json`, in the place of an earlier one.
    pub fn conclusion(&mut self, conclusion: &TryConclusion) -> Result<(), RecordError> {
        self.document(CONCLUSION, conclusion)
    }

    /// Writes `squeeze.json`, in the place of an earlier one.
    pub fn squeeze(&mut self, conclusion: &SqueezeConclusion) -> Result<(), RecordError> {
        self.document(SQUEEZED, conclusion)
    }

    /// Writes a line of `operations.jsonl`.
    pub fn operation(&mut self, line: &WorkLine) -> Result<(), RecordError> {
        self.line(OPERATIONS, line)
    }

    /// Writes `work.json`, in the place of an earlier one.
    pub fn work(&mut self, summary: &WorkSummary) -> Result<(), RecordError> {
        self.document(WORK, summary)
    }

    /// SHA-256 of `plan.json` as it was written; `None`: it was not yet.
    pub fn plan_sha256(&self) -> Option<&str> {
        self.manifest.files.get(PLAN).map(|digest| digest.sha256.as_str())
    }

    /// Writes `analysis.json`, in the place of an earlier one.
    pub fn analysis(&mut self, analysis: &Analysis) -> Result<(), RecordError> {
        self.document(ANALYSIS, analysis)
    }

    /// Writes `report.html`, in the place of an earlier one.
    pub fn report(&mut self, html: &str) -> Result<(), RecordError> {
        self.refuse_if_stopped(REPORT)?;
        let written = self.folder.replace(REPORT, html.as_bytes());
        self.stop_on_error(written)
    }

    /// Makes everything that was written durable against the death of the host.
    ///
    /// Cost: one fsync per file. The death of the process loses nothing even without it.
    pub fn flush(&mut self) -> Result<(), RecordError> {
        let mut synced = self.folder.sync();
        for log in self.all_logs() {
            synced = synced.and_then(|()| log.sync(&self.folder));
        }
        self.stop_on_error(synced)
    }

    fn all_logs(&self) -> impl Iterator<Item = &Log> {
        let series = self.series.logs().chain(self.server_series.iter().flat_map(ReadingsLog::logs));
        self.logs.iter().chain(self.intervals.logs()).chain(series)
    }

    /// Writes all that was held back to be condensed; nothing after a failed write, which leaves it in files beside.
    fn finish_logs(&mut self) -> Result<(), RecordError> {
        if self.stopped.is_some() {
            return Ok(());
        }
        let folder = &self.folder;
        let mut written = self.intervals.finish(folder).and_then(|()| self.series.finish(folder));
        if let Some(log) = &mut self.server_series {
            written = written.and_then(|()| log.finish(folder));
        }
        self.stop_on_error(written)
    }

    /// Tells whoever follows the folder what the host does now. It is no part of the record, and gone when the run has ended:
    /// whether it can be written changes nothing.
    pub fn now(&self, now: &RunNow) {
        if self.stopped.is_none()
            && let Ok(bytes) = document(&self.folder, NOW, now)
        {
            let _ = self.folder.replace_unsynced(NOW, &bytes);
        }
    }

    /// Why nothing is written any more; `None`: all was written.
    pub fn failure(&self) -> Option<&str> {
        self.stopped.as_deref()
    }

    /// Writes all that was held back to be condensed, and makes everything durable: what follows is about the whole run.
    pub fn close(&mut self) -> Result<(), RecordError> {
        self.finish_logs().and_then(|()| self.flush())
    }

    /// Ends the run: syncs, and replaces the manifest by one with the final status and the digests.
    ///
    /// After a failed write the status becomes `failed`, unless it is `interrupted`, and the reason that failure. Errors:
    /// the manifest itself cannot be written.
    pub fn finish(
        mut self,
        status: RunStatus,
        reason: Option<String>,
        ended: WallNs,
    ) -> Result<Manifest, RecordError> {
        // What fails here is the reason in the manifest, as what failed before.
        let _ = self.close();
        let stopped = self.stopped.clone();
        self.manifest.status =
            if stopped.is_some() && status == RunStatus::Complete { RunStatus::Failed } else { status };
        self.manifest.reason = stopped.or(reason);
        self.manifest.ended_unix_ns = Some(ended);
        let digests: Vec<_> = self.all_logs().map(|log| (log.name().into(), log.digest())).collect();
        self.manifest.files.extend(digests);
        let bytes = verify::seal(&self.folder, &mut self.manifest)?;
        // Its space is what the manifest may need; whether this works changes nothing.
        let _ = self.folder.remove(RESERVE);
        let _ = self.folder.remove(NOW);
        if let Err(error) = self.folder.replace(MANIFEST, &bytes) {
            // It may be there and not be durable: what it says of itself must not be better than what is known.
            if self.manifest.status == RunStatus::Complete {
                self.manifest.status = RunStatus::Failed;
            }
            self.manifest.reason.get_or_insert_with(|| error.to_string());
            let bytes = verify::seal(&self.folder, &mut self.manifest)?;
            self.folder.replace(MANIFEST, &bytes)?;
        }
        Ok(self.manifest)
    }

    fn document<T: Serialize + DeserializeOwned>(
        &mut self,
        name: &str,
        value: &T,
    ) -> Result<(), RecordError> {
        self.refuse_if_stopped(name)?;
        self.check::<_, T>(name, value)?;
        let bytes = document(&self.folder, name, value)?;
        let written = self.folder.replace(name, &bytes);
        self.stop_on_error(written)?;
        self.manifest.files.insert(name.into(), verify::digest_of(&bytes));
        Ok(())
    }

    fn line<T: Serialize>(&mut self, name: &'static str, value: &T) -> Result<(), RecordError> {
        self.refuse_if_stopped(name)?;
        let bytes = verify::line(&self.folder, name, value)?;
        let written = self.append(name, &bytes);
        self.stop_on_error(written)
    }

    fn append(&mut self, name: &'static str, bytes: &[u8]) -> Result<(), RecordError> {
        let index = self.logs.iter().position(|log| log.name() == name).unwrap_or(self.logs.len());
        if index == self.logs.len() {
            self.logs.push(Log::create(&self.folder, name)?);
        }
        self.logs[index].append(&self.folder, bytes)
    }

    /// Refuses a value that could not be read again: JSON has no form for NaN and infinity.
    fn check<T: Serialize, R: DeserializeOwned>(&self, name: &str, value: &T) -> Result<(), RecordError> {
        serde_json::to_vec(value)
            .and_then(|bytes| serde_json::from_slice::<R>(&bytes))
            .map(|_| ())
            .map_err(|error| self.unwritable(name, format!("a value has no JSON form: {error}")))
    }

    fn unwritable(&self, name: &str, cause: String) -> RecordError {
        RecordError::Unwritable { path: self.folder.path_of(name), cause }
    }

    fn refuse_if_stopped(&self, name: &str) -> Result<(), RecordError> {
        match &self.stopped {
            None => Ok(()),
            Some(cause) => {
                Err(RecordError::Stopped { path: self.folder.path_of(name), cause: cause.clone() })
            }
        }
    }

    fn stop_on_error<T>(&mut self, written: Result<T, RecordError>) -> Result<T, RecordError> {
        if let Err(error) = &written {
            self.stopped.get_or_insert_with(|| error.to_string());
        }
        written
    }
}

fn reserve_error(folder: &Folder) -> impl FnOnce(io::Error) -> RecordError {
    RecordError::io("write", folder.path_of(RESERVE))
}

/// `YYYYMMDD-HHMMSS-KIND-XXXX`, in UTC.
fn run_id(started: WallNs, kind: RunKind, suffix: u32) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let stamp: String = started.to_string().chars().filter(char::is_ascii_digit).collect();
    let letters =
        (0..4).map(|position| char::from(LETTERS[(suffix >> (5 * position)) as usize % LETTERS.len()]));
    format!("{}-{}-{}-{}", &stamp[..8], &stamp[8..14], kind.name(), letters.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::super::{Run, sample};
    use super::*;
    use std::fs::File;

    #[test]
    fn after_a_full_disk_nothing_more_is_written_and_the_rest_is_readable() {
        let runs = tempfile::tempdir().expect("a directory");
        let mut writer = sample::write_run(runs.path(), 1);
        let path = writer.path().to_owned();
        let full = File::options().append(true).open("/dev/full").expect("opens");
        writer.logs[1].write_to(full);
        match writer.event(&sample::event(3)) {
            Err(RecordError::Io { source, .. }) => assert_eq!(source.kind(), io::ErrorKind::StorageFull),
            other => panic!("{other:?}"),
        }
        let refused = writer.series(&sample::series_row(9)).expect_err("is refused").to_string();
        assert!(refused.contains("an earlier write failed") && refused.contains("events.jsonl"), "{refused}");
        assert!(matches!(writer.report("x"), Err(RecordError::Stopped { .. })));
        let events = File::options().append(true).open(path.join(EVENTS)).expect("opens");
        writer.logs[1].write_to(events);
        let manifest = writer.finish(RunStatus::Complete, None, sample::STARTED).expect("finishes");
        assert_eq!(manifest.status, RunStatus::Failed);
        let run = Run::open(&path, &|_, _| false).expect("opens");
        assert!(run.manifest.reason.expect("has a reason").contains("events.jsonl"));
        assert_eq!((run.events.len(), run.damage.len()), (3, 0));
    }

    #[test]
    fn a_number_that_json_cannot_hold_is_refused_and_stops_nothing() {
        let runs = tempfile::tempdir().expect("a directory");
        let mut writer = RunWriter::create(runs.path(), sample::new_run(1)).expect("creates");
        let mut end = sample::trial_end(1);
        end.summary.measured.achieved_hz = f64::NAN;
        writer.trial_begin(&sample::trial_begin(1)).expect("writes");
        assert!(matches!(writer.trial_end(&end), Err(RecordError::Unwritable { .. })));
        writer.trial_end(&sample::trial_end(1)).expect("writes");
    }

    #[test]
    fn ids_are_the_start_in_utc_the_command_and_four_letters() {
        assert_eq!(run_id(WallNs(0), RunKind::Demo, 0), "19700101-000000-demo-aaaa");
        assert_eq!(run_id(sample::STARTED, RunKind::Run, u32::MAX), "20260921-141320-run-9999");
    }
}
