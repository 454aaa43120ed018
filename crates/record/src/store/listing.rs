//! The runs of a runs directory.

use super::folder::Folder;
use super::lines::{Caps, FolderReader};
use super::run::read_manifest;
use crate::RecordError;
use crate::analysis::{Analysis, Confidence, Verdict, VerdictStatus};
use crate::effect::Comparison;
use crate::manifest::Manifest;
use crate::plan::Plan;
use crate::probe::ProbeConclusion;
use crate::squeeze::SqueezeConclusion;
use crate::tryout::TryConclusion;
use crate::work::WorkSummary;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// One folder of the runs directory.
#[derive(Debug)]
pub struct RunListing {
    /// The folder.
    pub path: PathBuf,
    /// Its manifest, or why there is none.
    pub manifest: Result<Manifest, RecordError>,
}

/// All folders of `runs_dir`, the newest run first; folders without a readable manifest come last.
///
/// A directory that does not exist has no runs.
pub fn list(runs_dir: &Path) -> Result<Vec<RunListing>, RecordError> {
    let entries = match std::fs::read_dir(runs_dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(RecordError::io("read", runs_dir)(error)),
    };
    let mut runs = Vec::new();
    for entry in entries {
        let entry = entry.map_err(RecordError::io("read", runs_dir))?;
        // A folder that is being made has no name yet.
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !is_hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            runs.push(RunListing::read(entry.path()));
        }
    }
    let started = |run: &RunListing| run.manifest.as_ref().ok().map(|manifest| manifest.started_unix_ns);
    runs.sort_by(|first, second| {
        started(second).cmp(&started(first)).then_with(|| second.path.cmp(&first.path))
    });
    Ok(runs)
}

/// What a run came to, in few words.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct RunAnswer {
    /// Whether its numbers may be trusted; `None`: nothing was concluded, or it compared two things.
    pub verdict: Option<VerdictStatus>,
    /// The word on B against A; `None`: nothing was compared.
    pub word: Option<Comparison>,
    /// Completed and valid requests per second, of a search its capacity; `None`: not known.
    pub rate_hz: Option<f64>,
    /// 99th percentile of the response time, in a closed loop of the service time; `None`: not known.
    pub p99_ns: Option<u64>,
    /// What stopped the server, or what was found. Untrusted.
    pub limit: String,
    /// Why its numbers are not to be trusted; `None`: they are. Untrusted.
    pub reason: Option<String>,
}

impl RunListing {
    /// One folder, whatever it holds.
    pub fn read(path: PathBuf) -> RunListing {
        let manifest = Folder::open(&path).and_then(|folder| read_manifest(&folder));
        RunListing { path, manifest }
    }

    /// The URL that was loaded; `None`: none was, or there is no plan that can be read. Untrusted.
    pub fn url(&self) -> Option<String> {
        let folder = Folder::open(&self.path).ok()?;
        let plan = FolderReader::new(&folder, Caps::default()).document::<Plan>(super::PLAN).ok()??;
        Some(plan.load()?.target.url.clone())
    }

    /// When its readings or its intervals were last written; `None`: there are none.
    pub fn written(&self) -> Option<SystemTime> {
        let folder = Folder::open(&self.path).ok()?;
        let logs = [super::SERIES, super::INTERVALS, super::INTERVALS_TAIL, super::SERIES_TAIL];
        let written = |name| folder.open_file(name).ok()??.metadata().ok()?.modified().ok();
        logs.into_iter().filter_map(written).max()
    }

    /// When its manifest was last written; `None`: there is none.
    pub fn changed(&self) -> Option<SystemTime> {
        Folder::open(&self.path).ok()?.open_file(super::MANIFEST).ok()??.metadata().ok()?.modified().ok()
    }

    /// What the run came to, read from its folder; `None`: it has not concluded anything that can be read.
    pub fn answer(&self) -> Option<RunAnswer> {
        let folder = Folder::open(&self.path).ok()?;
        let mut reader = FolderReader::new(&folder, Caps::default());
        if let Ok(Some(analysis)) = reader.document::<Analysis>(super::ANALYSIS) {
            return Some(of_analysis(analysis));
        }
        if let Ok(Some(found)) = reader.document::<TryConclusion>(super::CONCLUSION) {
            return Some(RunAnswer {
                word: Some(found.verdict.word),
                limit: found.headline,
                ..RunAnswer::default()
            });
        }
        if let Ok(Some(found)) = reader.document::<SqueezeConclusion>(super::SQUEEZED) {
            return Some(RunAnswer { limit: found.headline, ..RunAnswer::default() });
        }
        if let Ok(Some(probed)) = reader.document::<ProbeConclusion>(super::PROBED) {
            return Some(RunAnswer { limit: probed.headline, ..RunAnswer::default() });
        }
        let work = reader.document::<WorkSummary>(super::WORK).ok()??;
        let (verdict, reason) = (Some(work.verdict.status), why_invalid(&work.verdict));
        Some(RunAnswer { verdict, reason, limit: work.headline, ..RunAnswer::default() })
    }

    /// Removes the folder of a run with all that is in it; links in it are removed, not followed.
    ///
    /// # Errors
    /// It is no run, and is left alone; or it cannot be removed.
    pub fn remove(&self) -> Result<(), RecordError> {
        // A folder that is none of ours has no manifest that can be read.
        let folder = Folder::open(&self.path)?;
        read_manifest(&folder)?;
        std::fs::remove_dir_all(&self.path).map_err(RecordError::io("remove", &self.path))
    }
}

fn of_analysis(analysis: Analysis) -> RunAnswer {
    let felt = if analysis.response_time_ns.count > 0 {
        analysis.response_time_ns
    } else {
        analysis.service_time_ns
    };
    let rate_hz = match &analysis.capacity {
        Some(capacity) => capacity.rate_hz.or(capacity.low_hz),
        None => Some(analysis.rates.goodput_hz),
    };
    let is_found = analysis.findings.iter().any(|finding| finding.confidence > Confidence::Excluded);
    RunAnswer {
        verdict: Some(analysis.verdict.status),
        word: None,
        rate_hz: rate_hz.filter(|rate_hz| rate_hz.is_finite()),
        p99_ns: felt.p99,
        reason: why_invalid(&analysis.verdict),
        limit: if is_found { analysis.limit } else { what_was_not_found(&analysis.limit) },
    }
}

/// The worst reason of an INVALID run.
fn why_invalid(verdict: &Verdict) -> Option<String> {
    let worst = verdict.reasons.iter().find(|reason| reason.status == VerdictStatus::Invalid)?;
    Some(worst.text.clone())
}

/// `No limit found on this host`, without all that was looked at.
fn what_was_not_found(limit: &str) -> String {
    limit.split_once(": ").map_or(limit, |(said, _)| said).to_owned()
}
