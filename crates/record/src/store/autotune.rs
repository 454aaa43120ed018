//! The folder of an autotune: its plan, written once, its lines, appended, and its conclusion.
//!
//! Invariants are those of an experiment's folder: the plan is durable before the first line, a line before what it tells of
//! begins; reading drops a torn end and trusts no name. The experiments of its steps lie in its subfolder `steps`.

use super::folder::{Folder, is_plain_name, remove_draft};
use super::lines::{Caps, FolderReader};
use super::verify::line as encoded;
use super::{
    AUTOTUNE, AUTOTUNE_STEPS, AUTOTUNED, ExperimentFolder, MAX_AUTOTUNE_LINES, MAX_DOCUMENT_BYTES, REPORT,
    STEP_LINES, schema,
};
use crate::RecordError;
use crate::autotune::{AUTOTUNE_SCHEMA, AutotuneConclusion, AutotuneLine, AutotunePlan};
use crate::experiment::ExperimentPlan;
use crate::json;
use serde::Serialize;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// An autotune that can be read and gone on with.
#[derive(Debug)]
pub struct AutotuneFolder {
    folder: Folder,
    log: Option<File>,
    /// What is tuned.
    pub plan: AutotunePlan,
    /// What happened so far.
    pub lines: Vec<AutotuneLine>,
    /// What of the folder could not be read.
    pub damage: Vec<String>,
}

impl AutotuneFolder {
    /// Makes the folder `parent/name`, with its plan.
    ///
    /// # Errors
    /// There is one of that name, or it cannot be written.
    pub fn create(parent: &Path, name: &str, plan: AutotunePlan) -> Result<AutotuneFolder, RecordError> {
        let draft = Folder::create(parent, name)?;
        let text = document(draft.folder(), AUTOTUNE, &plan)?;
        draft.folder().replace(AUTOTUNE, text.as_bytes())?;
        let log = draft.folder().create_file(STEP_LINES)?;
        draft.folder().sync()?;
        let folder = draft.publish()?;
        Ok(AutotuneFolder { folder, log: Some(log), plan, lines: Vec::new(), damage: Vec::new() })
    }

    /// Whether there is an autotune in this folder, whole or not.
    pub fn is_at(path: &Path) -> bool {
        path.join(AUTOTUNE).is_file()
    }

    /// Opens an autotune.
    ///
    /// # Errors
    /// It is none, or one of its files is no plain file, or a line that is not the last is malformed.
    pub fn open(path: &Path) -> Result<AutotuneFolder, RecordError> {
        let folder = Folder::open(path)?;
        let refuse = |cause: String| RecordError::NotARun { path: path.to_owned(), cause };
        let text = folder
            .read_whole(AUTOTUNE, MAX_DOCUMENT_BYTES)?
            .ok_or_else(|| refuse(format!("it has no '{AUTOTUNE}'")))?;
        let found = schema::of_document(&text).unwrap_or_default();
        schema::check(&found, AUTOTUNE_SCHEMA).map_err(|other| other.error(path, AUTOTUNE_SCHEMA, None))?;
        let plan: AutotunePlan =
            serde_json::from_slice(&text).map_err(|error| refuse(format!("'{AUTOTUNE}': {error}")))?;
        if plan.base.variants.len() != 1 {
            return Err(refuse(format!("'{AUTOTUNE}' has not exactly one server")));
        }
        let mut reader = FolderReader::new(&folder, Caps::default());
        let lines = reader.values_if_any(STEP_LINES, MAX_AUTOTUNE_LINES, wrong)?;
        let damage = reader.damage;
        Ok(AutotuneFolder { folder, log: None, plan, lines, damage })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of its experiments.
    pub fn steps(&self) -> PathBuf {
        self.folder.path_of(AUTOTUNE_STEPS)
    }

    /// Makes the folder of a step, in the place of one that a program which was killed did not come to publish.
    ///
    /// # Errors
    /// There is a step of that name, or it cannot be written.
    pub fn create_step(&self, name: &str, plan: ExperimentPlan) -> Result<ExperimentFolder, RecordError> {
        remove_draft(&self.steps(), name)?;
        ExperimentFolder::create(&self.steps(), name, plan)
    }

    /// Writes a line, durably.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn append(&mut self, line: AutotuneLine) -> Result<(), RecordError> {
        let text = encoded(&self.folder, STEP_LINES, &line)?;
        let log = match &mut self.log {
            Some(log) => log,
            None => self.log.insert(self.folder.append_file(STEP_LINES)?),
        };
        let written = log.write_all(&text).and_then(|()| log.sync_data());
        written.map_err(RecordError::io("write", self.folder.path_of(STEP_LINES)))?;
        self.lines.push(line);
        Ok(())
    }

    /// Writes the conclusion.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn conclude(&self, conclusion: &AutotuneConclusion) -> Result<(), RecordError> {
        let text = document(&self.folder, AUTOTUNED, conclusion)?;
        self.folder.replace(AUTOTUNED, text.as_bytes())
    }

    /// Writes a file that says how to make what was kept last, or the report.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_beside(&self, name: &'static str, text: &str) -> Result<PathBuf, RecordError> {
        self.folder.replace(name, text.as_bytes())?;
        Ok(self.folder.path_of(name))
    }

    /// Writes the report.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_report(&self, html: &str) -> Result<PathBuf, RecordError> {
        self.write_beside(REPORT, html)
    }
}

fn document(folder: &Folder, name: &str, value: &impl Serialize) -> Result<String, RecordError> {
    json::pretty(value)
        .map_err(|error| RecordError::Unwritable { path: folder.path_of(name), cause: error.to_string() })
}

fn wrong(line: &AutotuneLine) -> Option<&'static str> {
    match line {
        AutotuneLine::Began(began) if !is_plain_name(&began.folder) => Some("a step that is no plain name"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::EXPERIMENT_SCHEMA;
    use crate::units::SpanNs;

    fn experiment() -> ExperimentPlan {
        ExperimentPlan {
            schema: EXPERIMENT_SCHEMA.into(),
            name: "m".into(),
            variants: Vec::new(),
            blocks: 1,
            seed: 1,
            budget: None,
            metric: None,
            effect_ratio: None,
            is_noisy: false,
            until_decided: false,
            is_profiled: false,
            source: String::new(),
            lab: None,
        }
    }

    fn plan() -> AutotunePlan {
        AutotunePlan {
            schema: AUTOTUNE_SCHEMA.into(),
            base: experiment(),
            allow: Vec::new(),
            budget: SpanNs::from_secs(60),
            rounds: 1,
            candidates: 1,
            race_blocks: 1,
            proof_blocks: 1,
            effect_ratio: 0.03,
            keeps: false,
        }
    }

    #[test]
    fn a_step_whose_folder_was_being_made_is_made_again() {
        let parent = tempfile::tempdir().expect("makes");
        let folder = AutotuneFolder::create(parent.path(), "t", plan()).expect("makes");
        let draft = Folder::create(&folder.steps(), "02-race").expect("makes");
        draft.folder().replace("matrix.json", b"{").expect("writes");
        drop(draft);
        let step = folder.create_step("02-race", experiment()).expect("makes");
        assert_eq!(step.path(), folder.steps().join("02-race"));
        assert!(folder.create_step("02-race", experiment()).is_err(), "there is one of that name");
    }
}
