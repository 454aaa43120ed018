//! The experiments beside the runs: which there are, and how far each has come.
//!
//! A folder is opened again only after its log or its report has changed, so that the list may be asked for all the time.

use serde::Serialize;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use sysdyno_record::experiment::{measured_cells, trials_count};
use sysdyno_record::store::ExperimentFolder;

/// Most experiments in the list; of more, the newest.
const LISTED_MAX: usize = 50;

/// An experiment that was not written to for so long has ended.
const TRIAL_MAX: Duration = Duration::from_secs(1800);

/// An experiment, and how far it has come. Texts are untrusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ExperimentRow {
    /// The name of its folder.
    pub(crate) name: String,
    title: String,
    variants_count: usize,
    /// Trials of its plan, and those of them that were measured.
    trials_count: u64,
    measured_count: usize,
    /// When it was last written to. Unit: milliseconds since 1970.
    changed_unix_ms: u64,
}

impl ExperimentRow {
    /// Whether trials are left, and one may be running.
    pub(crate) fn may_grow(&self, now: SystemTime) -> bool {
        let changed = SystemTime::UNIX_EPOCH + Duration::from_millis(self.changed_unix_ms);
        let is_recent = now.duration_since(changed).is_ok_and(|since| since < TRIAL_MAX);
        is_recent && (self.measured_count as u64) < self.trials_count
    }
}

/// Who reads the experiments of a folder.
pub(crate) struct Experiments {
    folder: Option<PathBuf>,
    known: Mutex<HashMap<OsString, (SystemTime, Option<ExperimentRow>)>>,
}

impl Experiments {
    pub(crate) fn new(folder: Option<PathBuf>) -> Experiments {
        Experiments { folder, known: Mutex::default() }
    }

    /// The newest ones, the last that was written to first.
    pub(crate) fn list(&self) -> Vec<ExperimentRow> {
        let Some(folder) = &self.folder else { return Vec::new() };
        let mut entries: Vec<(SystemTime, OsString)> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| changed(&entry))
            .collect();
        entries.sort_by(|one, other| other.cmp(one));
        entries.truncate(LISTED_MAX);
        // A thread that panicked left rows that are as good as any.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|name, _| entries.iter().any(|(_, other)| other == name));
        let mut rows = Vec::new();
        for (changed, name) in entries {
            let row = match known.get(&name) {
                Some((at, row)) if *at == changed => row.clone(),
                _ => {
                    let row = row(&folder.join(&name), changed);
                    known.insert(name, (changed, row.clone()));
                    row
                }
            };
            rows.extend(row);
        }
        rows
    }

    /// The folder of an experiment, and its row; `None`: there is none of this name.
    pub(crate) fn find(&self, name: &str) -> Option<(PathBuf, ExperimentRow)> {
        let row = self.list().into_iter().find(|row| row.name == name)?;
        // A row has the name of an entry of the folder, so that it cannot lead anywhere else.
        self.folder.as_ref().map(|folder| (folder.join(name), row))
    }
}

/// When a folder, or its log, was last written to; `None`: it is none.
fn changed(entry: &fs::DirEntry) -> Option<(SystemTime, OsString)> {
    let name = entry.file_name();
    if name.as_bytes().starts_with(b".") || !entry.file_type().ok()?.is_dir() {
        return None;
    }
    let folder = entry.metadata().and_then(|folder| folder.modified()).ok()?;
    let log = ExperimentFolder::log_changed(&entry.path());
    Some((log.map_or(folder, |log| log.max(folder)), name))
}

fn row(path: &Path, changed: SystemTime) -> Option<ExperimentRow> {
    let folder = ExperimentFolder::open(path).ok()?;
    let since = changed.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Some(ExperimentRow {
        name: path.file_name()?.to_str()?.to_owned(),
        title: folder.plan.name.clone(),
        variants_count: folder.plan.variants.len(),
        trials_count: trials_count(&folder.plan, &folder.lines),
        measured_count: measured_cells(&folder.lines).len(),
        changed_unix_ms: u64::try_from(since.as_millis()).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_experiment_may_grow_while_trials_are_left_and_it_is_written_to() {
        let row = |measured_count, changed_unix_ms| ExperimentRow {
            name: "x".into(),
            title: "x".into(),
            variants_count: 2,
            trials_count: 4,
            measured_count,
            changed_unix_ms,
        };
        let now = SystemTime::UNIX_EPOCH + 2 * TRIAL_MAX;
        let [recent, old] = [3_000_000, 1_000_000];
        assert!(row(3, recent).may_grow(now));
        assert!(!row(4, recent).may_grow(now) && !row(3, old).may_grow(now));
    }
}
