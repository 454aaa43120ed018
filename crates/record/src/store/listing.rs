//! The runs of a runs directory.

use super::folder::Folder;
use super::run::read_manifest;
use crate::RecordError;
use crate::manifest::Manifest;
use std::io;
use std::path::{Path, PathBuf};

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
            let path = entry.path();
            let manifest = Folder::open(&path).and_then(|folder| read_manifest(&folder));
            runs.push(RunListing { path, manifest });
        }
    }
    let started = |run: &RunListing| run.manifest.as_ref().ok().map(|manifest| manifest.started_unix_ns);
    runs.sort_by(|first, second| {
        started(second).cmp(&started(first)).then_with(|| second.path.cmp(&first.path))
    });
    Ok(runs)
}
