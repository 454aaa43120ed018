//! The folder of what takes many trials: a plan, written once, and lines, appended.
//!
//! Invariants: the plan is durable before the first line; a line is durable before the step that it describes begins;
//! reading drops a torn end and trusts no name.

use super::folder::Folder;
use super::lines::{Caps, FolderReader};
use super::verify::line as encoded;
use super::{MAX_DOCUMENT_BYTES, REPORT, schema};
use crate::RecordError;
use crate::json;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A plan that lines follow.
pub trait PlanOfSteps: Serialize + DeserializeOwned {
    /// What is told of its steps.
    type Line: Serialize + DeserializeOwned;
    /// Its schema.
    const SCHEMA: &'static str;
    /// Its file.
    const PLAN: &'static str;
    /// The file of its lines.
    const LINES: &'static str;
    /// Most lines that are read.
    const MAX_LINES: usize;

    /// Why it is none that can be gone on with; `None`: it is one.
    fn refusal(&self) -> Option<&'static str>;

    /// What of a line cannot be trusted; `None`: nothing.
    fn wrong(line: &Self::Line) -> Option<&'static str>;
}

/// A folder that can be read and gone on with.
#[derive(Debug)]
pub struct PlannedFolder<P: PlanOfSteps> {
    pub(super) folder: Folder,
    log: Option<File>,
    /// What is done.
    pub plan: P,
    /// What happened so far.
    pub lines: Vec<P::Line>,
    /// What of the folder could not be read.
    pub damage: Vec<String>,
}

impl<P: PlanOfSteps> PlannedFolder<P> {
    /// Makes the folder `parent/name`, with its plan.
    ///
    /// # Errors
    /// There is one of that name, or it cannot be written.
    pub fn create(parent: &Path, name: &str, plan: P) -> Result<PlannedFolder<P>, RecordError> {
        let draft = Folder::create(parent, name)?;
        let text = document(draft.folder(), P::PLAN, &plan)?;
        draft.folder().replace(P::PLAN, text.as_bytes())?;
        let log = draft.folder().create_file(P::LINES)?;
        draft.folder().sync()?;
        let folder = draft.publish()?;
        Ok(PlannedFolder { folder, log: Some(log), plan, lines: Vec::new(), damage: Vec::new() })
    }

    /// Opens a folder.
    ///
    /// # Errors
    /// It is none of this kind, or one of its files is no plain file, or a line that is not the last is malformed.
    pub fn open(path: &Path) -> Result<PlannedFolder<P>, RecordError> {
        let folder = Folder::open(path)?;
        let refuse = |cause: String| RecordError::NotARun { path: path.to_owned(), cause };
        let text = folder
            .read_whole(P::PLAN, MAX_DOCUMENT_BYTES)?
            .ok_or_else(|| refuse(format!("it has no '{}'", P::PLAN)))?;
        // First, since the rest of a newer one may be anything.
        let found = schema::of_document(&text).unwrap_or_default();
        schema::check(&found, P::SCHEMA).map_err(|other| other.error(path, P::SCHEMA, None))?;
        let plan: P =
            serde_json::from_slice(&text).map_err(|error| refuse(format!("'{}': {error}", P::PLAN)))?;
        if let Some(refusal) = plan.refusal() {
            return Err(refuse(format!("'{}': {refusal}", P::PLAN)));
        }
        let mut reader = FolderReader::new(&folder, Caps::default());
        let lines = reader.values_if_any(P::LINES, P::MAX_LINES, P::wrong)?;
        let damage = reader.damage;
        Ok(PlannedFolder { folder, log: None, plan, lines, damage })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a line, durably.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn append(&mut self, line: P::Line) -> Result<(), RecordError> {
        let text = encoded(&self.folder, P::LINES, &line)?;
        let log = match &mut self.log {
            Some(log) => log,
            None => self.log.insert(self.folder.append_file(P::LINES)?),
        };
        let written = log.write_all(&text).and_then(|()| log.sync_data());
        written.map_err(RecordError::io("write", self.folder.path_of(P::LINES)))?;
        self.lines.push(line);
        Ok(())
    }

    /// Writes the report.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_report(&self, html: &str) -> Result<PathBuf, RecordError> {
        self.write_beside(REPORT, html)
    }

    /// Writes a file beside the plan.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_beside(&self, name: &'static str, text: &str) -> Result<PathBuf, RecordError> {
        self.folder.replace(name, text.as_bytes())?;
        Ok(self.folder.path_of(name))
    }
}

/// A document as it is written into a folder.
pub(super) fn document(folder: &Folder, name: &str, value: &impl Serialize) -> Result<String, RecordError> {
    json::pretty(value)
        .map_err(|error| RecordError::Unwritable { path: folder.path_of(name), cause: error.to_string() })
}
