//! Reads a run folder back, trusting nothing in it.

use super::folder::Folder;
use super::latency::read_latency;
use super::lines::{Caps, FolderReader, LineFate};
use super::trial::Trial;
use super::{
    ANALYSIS, CONCLUSION, EVENTS, FACTS, GENERATORS, INTERVALS, INTERVALS_TAIL, LATENCY, LATENCY_TAIL,
    MANIFEST, MAX_MANIFEST_BYTES, MAX_PROBE_REPLIES, MAX_SERIES_VALUES, MAX_TRIALS, MAX_TRY_LINES,
    MAX_WORK_LINES, OPERATIONS, PLAN, PROBE, PROBED, PROFILE, PROFILE_LOW, REPORT, SERIES, SERIES_TAIL,
    SERVER, SERVER_SERIES, SERVER_SERIES_TAIL, SQUEEZED, TRIALS, TRY_LINES, WORK, plausible, schema, verify,
};
use crate::RecordError;
use crate::analysis::Analysis;
use crate::event::Event;
use crate::facts::HostFacts;
use crate::load::{Interval, LatencySet, LatencyWindow, TrialBegin, TrialEnd};
use crate::manifest::{Manifest, RunStatus, SCHEMA};
use crate::plan::Plan;
use crate::probe::{ProbeConclusion, ProbeReply};
use crate::profile::Profile;
use crate::remote::RemoteHost;
use crate::series::{Row, Series, SeriesLine};
use crate::squeeze::SqueezeConclusion;
use crate::tryout::{TryConclusion, TryLine};
use crate::work::{WorkLine, WorkSummary};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// A run as its folder tells it.
pub struct Run {
    folder: Folder,
    /// What it is and how far it got.
    pub manifest: Manifest,
    /// What was to be done; `None`: it was not written, or is damaged.
    pub plan: Option<Plan>,
    /// The host; `None`: not written, or damaged.
    pub facts: Option<HostFacts>,
    /// The trials, in the order in which they began.
    pub trials: Vec<Trial>,
    /// All intervals, in the order of the file.
    pub intervals: Vec<Interval>,
    /// Readings of the kernel.
    pub series: Series,
    /// The server's host; `None`: it is the measuring one, or was not reached, or is damaged.
    pub server: Option<RemoteHost>,
    /// Hosts that send the load together; empty where the measuring one does.
    pub generators: Vec<RemoteHost>,
    /// Readings of the server's kernel; empty where it is the measuring host's.
    pub server_series: Series,
    /// Marks on the time axis.
    pub events: Vec<Event>,
    /// Operations of the probe, in the order in which they ended; empty if there was no probe.
    pub probe: Vec<ProbeReply>,
    /// What was concluded of a probe that ran alone; `None`: it is none, or not yet, or damaged.
    pub probed: Option<ProbeConclusion>,
    /// Stacks of a load that was sent once more to be profiled; `None`: there was none, or it is damaged.
    pub profile: Option<Profile>,
    /// Stacks of a search at a low load; `None`: as above.
    pub profile_low: Option<Profile>,
    /// What was concluded; `None`: not yet, or damaged.
    pub analysis: Option<Analysis>,
    /// What the pilot settled, stages, trials and pairs of a tryout, in the order of the file; empty if it is none.
    pub tryout: Vec<TryLine>,
    /// What was concluded of a tryout; `None`: it is none, or not yet, or damaged.
    pub conclusion: Option<TryConclusion>,
    /// What was concluded of a squeeze; `None`: it is none, or not yet, or damaged.
    pub squeeze: Option<SqueezeConclusion>,
    /// Latency of the measured phases, merged, by trial.
    pub latency: BTreeMap<u32, LatencySet>,
    /// The same by window, for the kinds of [`LatencyWindow`], in the order of the log.
    pub latency_windows: BTreeMap<u32, Vec<LatencyWindow>>,
    /// What was done on this host, in the order of the file; empty if the run is no work.
    pub operations: Vec<WorkLine>,
    /// The conclusion of work; `None`: it is none, or not yet, or damaged.
    pub work: Option<WorkSummary>,
    /// Whether the run neither ended nor goes on: its process died.
    pub is_incomplete: bool,
    /// What is missing, was dropped or was not read, in sentences. Untrusted text is escaped.
    pub damage: Vec<String>,
}

impl fmt::Debug for Run {
    /// Which run it is, without the megabytes of what it holds.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Run")
            .field("path", &self.path())
            .field("damage", &self.damage)
            .finish_non_exhaustive()
    }
}

/// The files that a run may have, besides its manifest and its report.
const FILES: [&str; 24] = [
    PLAN,
    FACTS,
    TRIALS,
    INTERVALS,
    LATENCY,
    SERIES,
    EVENTS,
    PROBE,
    PROBED,
    ANALYSIS,
    TRY_LINES,
    CONCLUSION,
    SQUEEZED,
    OPERATIONS,
    WORK,
    SERVER,
    SERVER_SERIES,
    GENERATORS,
    PROFILE,
    PROFILE_LOW,
    SERIES_TAIL,
    SERVER_SERIES_TAIL,
    INTERVALS_TAIL,
    LATENCY_TAIL,
];

#[derive(Deserialize)]
struct TrialLine {
    begin: Option<TrialBegin>,
    end: Option<TrialEnd>,
}

impl Run {
    /// Opens a run; `living` tells whether the process with this pid and start time still runs.
    ///
    /// What is cut off at the end of a file is left out and told in [`Run::damage`]; all that is returned is a prefix of
    /// what was written. Errors: this is not a run, or one of a newer format; a file is a link or not regular, or holds
    /// something in its middle that was not written by sysdyno.
    pub fn open(path: &Path, living: &dyn Fn(u32, u64) -> bool) -> Result<Run, RecordError> {
        Run::open_with(path, living, Caps::default())
    }

    pub(super) fn open_with(
        path: &Path,
        living: &dyn Fn(u32, u64) -> bool,
        caps: Caps,
    ) -> Result<Run, RecordError> {
        let folder = Folder::open(path)?;
        let manifest = read_manifest(&folder)?;
        let mut reader = FolderReader::new(&folder, caps);
        let trials = read_trials(&mut reader)?;
        let latency = read_latency(&mut reader, &trials, manifest.clock)?;
        let mut run = Run {
            plan: reader.document(PLAN)?,
            facts: reader.document(FACTS)?,
            intervals: read_intervals(&mut reader)?,
            series: read_series(&mut reader, [SERIES, SERIES_TAIL])?,
            server: reader.document(SERVER)?,
            generators: reader.document(GENERATORS)?.unwrap_or_default(),
            server_series: read_server_series(&mut reader)?,
            events: reader.values(EVENTS, usize::MAX, |_| None)?,
            probe: reader.values_if_any(PROBE, MAX_PROBE_REPLIES, wrong_reply)?,
            probed: reader.document(PROBED)?,
            profile: read_profile(&mut reader, PROFILE)?,
            profile_low: read_profile(&mut reader, PROFILE_LOW)?,
            analysis: reader.document(ANALYSIS)?,
            operations: reader.values_if_any(OPERATIONS, MAX_WORK_LINES, wrong_work)?,
            work: reader.document(WORK)?,
            tryout: reader.values_if_any(TRY_LINES, MAX_TRY_LINES, |_| None)?,
            conclusion: reader.document(CONCLUSION)?,
            squeeze: reader.document(SQUEEZED)?,
            latency: latency.merged,
            latency_windows: latency.windows,
            is_incomplete: manifest.status == RunStatus::Running
                && !living(manifest.pid, manifest.pid_start_ticks),
            damage: reader.damage,
            trials,
            manifest,
            folder,
        };
        run.compare_lengths()?;
        Ok(run)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Compares every file with its digest; an empty list means that all is as it was written.
    pub fn verify(&self) -> Result<Vec<String>, RecordError> {
        verify::differences(&self.folder, &self.manifest)
    }

    /// Writes `report.html`, in the place of an earlier one. It is derived and has no digest.
    pub fn write_report(&self, html: &str) -> Result<(), RecordError> {
        self.folder.replace(REPORT, html.as_bytes())
    }

    /// Whether there is a report in the folder.
    pub fn has_report(&self) -> bool {
        self.folder.open_file(REPORT).is_ok_and(|file| file.is_some())
    }

    /// Marks the run as failed for this reason, which showed after its end: its report could not be written.
    pub fn fail(&mut self, reason: String) -> Result<(), RecordError> {
        if self.manifest.status == RunStatus::Complete {
            self.manifest.status = RunStatus::Failed;
        }
        self.manifest.reason.get_or_insert(reason);
        self.folder.replace(MANIFEST, &verify::seal(&self.folder, &mut self.manifest)?)
    }

    /// Tells of files that are not as long as the manifest says; [`Run::verify`] also looks at what is in them.
    fn compare_lengths(&mut self) -> Result<(), RecordError> {
        for name in FILES {
            let Some(digest) = self.manifest.files.get(name) else { continue };
            let Some(file) = self.folder.open_file(name)? else {
                let told = format!("'{name}' is missing");
                if !self.damage.contains(&told) {
                    self.damage.push(told);
                }
                continue;
            };
            let length = file.metadata().map_err(RecordError::io("read", self.folder.path_of(name)))?.len();
            if length != digest.bytes {
                self.damage
                    .push(format!("'{name}' has {length} of the {} bytes that were written", digest.bytes));
            }
        }
        Ok(())
    }
}

/// Reads and checks the manifest of a folder.
pub(super) fn read_manifest(folder: &Folder) -> Result<Manifest, RecordError> {
    #[derive(Deserialize)]
    struct Versions {
        schema: String,
        tool: ToolVersion,
    }
    #[derive(Deserialize)]
    struct ToolVersion {
        version: String,
    }
    let not_a_run = |cause: String| RecordError::NotARun { path: folder.path().to_owned(), cause };
    let bytes = folder
        .read_whole(MANIFEST, MAX_MANIFEST_BYTES)?
        .ok_or_else(|| not_a_run(format!("it has no '{MANIFEST}'")))?;
    let unreadable = |error: serde_json::Error| not_a_run(format!("cannot read '{MANIFEST}': {error}"));
    let versions: Versions = serde_json::from_slice(&bytes).map_err(unreadable)?;
    schema::check(&versions.schema, SCHEMA)
        .map_err(|other| other.error(folder.path(), SCHEMA, Some(&versions.tool.version)))?;
    serde_json::from_slice(&bytes).map_err(unreadable)
}

fn read_trials(reader: &mut FolderReader<'_>) -> Result<Vec<Trial>, RecordError> {
    let mut trials: Vec<Trial> = Vec::new();
    reader.lines(TRIALS, |line| match serde_json::from_slice(line) {
        Err(error) => LineFate::Malformed(error.to_string()),
        Ok(TrialLine { begin: Some(_), .. }) if trials.len() >= MAX_TRIALS => {
            LineFate::Enough(format!("more than {MAX_TRIALS} trials"))
        }
        Ok(TrialLine { begin: Some(begin), end: None }) => {
            if trials.iter().any(|trial| trial.begin.trial == begin.trial) {
                return LineFate::Malformed(format!("trial {} starts twice", begin.trial));
            }
            trials.push(Trial { begin, end: None });
            LineFate::Taken
        }
        Ok(TrialLine { begin: None, end: Some(end) }) => take_trial_end(&mut trials, end),
        Ok(_) => LineFate::Unknown,
    })?;
    Ok(trials)
}

fn take_trial_end(trials: &mut [Trial], end: TrialEnd) -> LineFate {
    if let Err(cause) = plausible::check_trial_end(&end) {
        return LineFate::Malformed(cause);
    }
    match trials.iter_mut().find(|trial| trial.begin.trial == end.trial && trial.end.is_none()) {
        Some(trial) => trial.end = Some(end),
        None => return LineFate::Malformed(format!("trial {} ends without a start", end.trial)),
    }
    LineFate::Taken
}

pub(super) fn read_intervals(reader: &mut FolderReader<'_>) -> Result<Vec<Interval>, RecordError> {
    let mut intervals: Vec<Interval> = Vec::new();
    for name in [INTERVALS, INTERVALS_TAIL] {
        if name == INTERVALS_TAIL && !reader.has(name)? {
            break;
        }
        // What is in a tail and in its log, too, was written between the one and the death of the process.
        let tail_from =
            (name == INTERVALS_TAIL).then(|| intervals.last().map(|last| last.end_mono_ns)).flatten();
        reader.lines(name, |line| {
            let parsed = serde_json::from_slice::<Interval>(line).map_err(|error| error.to_string());
            match parsed.and_then(|interval| plausible::check_interval(&interval).map(|()| interval)) {
                Ok(interval) if tail_from.is_some_and(|from| interval.begin_mono_ns < from) => {}
                Ok(interval) => intervals.push(interval),
                Err(cause) => return LineFate::Malformed(cause),
            }
            LineFate::Taken
        })?;
    }
    Ok(intervals)
}

/// A profile whose indices lead nowhere is damage, as a file that is cut off.
fn read_profile(reader: &mut FolderReader<'_>, name: &'static str) -> Result<Option<Profile>, RecordError> {
    let profile: Option<Profile> = reader.document(name)?;
    if profile.as_ref().is_some_and(|profile| !profile.is_sound()) {
        reader.damage.push(format!("'{name}' has stacks of unknown processes or frames"));
        return Ok(None);
    }
    Ok(profile)
}

/// A run whose server is on the measuring host has no such file.
fn read_server_series(reader: &mut FolderReader<'_>) -> Result<Series, RecordError> {
    match reader.has(SERVER_SERIES)? {
        true => read_series(reader, [SERVER_SERIES, SERVER_SERIES_TAIL]),
        false => Ok(Series::default()),
    }
}

pub(super) fn read_series(
    reader: &mut FolderReader<'_>,
    [name, tail]: [&str; 2],
) -> Result<Series, RecordError> {
    let mut series = Series::default();
    read_series_lines(reader, name, |line| take_series_line(&mut series, line))?;
    if reader.has(tail)? {
        // What is in the log, too, was written between the one and the death of the process.
        let from = series.windows().last().map(|window| window[1]);
        let is_known =
            |line: &SeriesLine| matches!(line, SeriesLine::Row(row) if Some(row.begin_mono_ns) < from);
        read_series_lines(reader, tail, |line| {
            if is_known(&line) { LineFate::Taken } else { take_series_line(&mut series, line) }
        })?;
    }
    Ok(series)
}

fn read_series_lines(
    reader: &mut FolderReader<'_>,
    name: &str,
    mut take: impl FnMut(SeriesLine) -> LineFate,
) -> Result<(), RecordError> {
    reader.lines(name, |line| {
        let parsed = match serde_json::from_slice::<Row>(line) {
            Ok(row) => SeriesLine::Row(row),
            Err(_) => match serde_json::from_slice(line) {
                Ok(parsed) => parsed,
                Err(error) => return unknown_series_line(line, &error),
            },
        };
        take(parsed)
    })
}

/// A line that is neither header nor row may come from a newer version; a header or row that cannot be read is damage.
fn unknown_series_line(line: &[u8], error: &serde_json::Error) -> LineFate {
    #[derive(Deserialize)]
    struct Known {
        columns: Option<IgnoredAny>,
        values: Option<IgnoredAny>,
    }
    match serde_json::from_slice::<Known>(line) {
        Ok(Known { columns: None, values: None }) => LineFate::Unknown,
        Ok(_) => LineFate::Malformed("a header or row that cannot be read".into()),
        Err(_) => LineFate::Malformed(error.to_string()),
    }
}

fn take_series_line(series: &mut Series, line: SeriesLine) -> LineFate {
    let (mut columns, mut rows) = (series.columns().len(), series.windows().len());
    match &line {
        SeriesLine::Header { columns: added, .. } => columns += added.len(),
        SeriesLine::Row(row) => {
            let last = series.windows().last().map(|window| window[0]);
            if row.end_mono_ns < row.begin_mono_ns || Some(row.begin_mono_ns) < last {
                return LineFate::Malformed(
                    "the row's window lies before an earlier one or ends before it begins".into(),
                );
            }
            if let Err(cause) = plausible::check_row(row) {
                return LineFate::Malformed(cause);
            }
            if row.values.len() != series.width() {
                let (values, columns) = (row.values.len(), series.width());
                return LineFate::Malformed(format!("the row has {values} values for {columns} columns"));
            }
            rows += 1;
        }
    }
    if columns.saturating_mul(rows) > MAX_SERIES_VALUES {
        return LineFate::Enough(format!("more than {MAX_SERIES_VALUES} values"));
    }
    series.push(line);
    LineFate::Taken
}

fn wrong_reply(reply: &ProbeReply) -> Option<&'static str> {
    (reply.end_mono_ns < reply.intended_mono_ns).then_some("it ends before it was to begin")
}

fn wrong_work(line: &WorkLine) -> Option<&'static str> {
    let (begin, end) = match line {
        WorkLine::Command(run) => (run.begin_mono_ns, run.end_mono_ns),
        WorkLine::Files(window) => (window.begin_mono_ns, window.end_mono_ns),
    };
    (end < begin).then_some("it ends before it begins")
}
