//! The folder of an experiment: its plan, written once, and its lines, appended.
//!
//! Invariants: the plan is durable before the first line; a line is durable before the step that it describes begins;
//! reading drops a torn end and trusts no name.

use super::folder::{Folder, is_plain_name};
use super::lines::{Caps, FolderReader};
use super::verify::line as encoded;
use super::{EXPERIMENT, EXPERIMENT_RUNS, MAX_DOCUMENT_BYTES, MAX_EXPERIMENT_LINES, REPORT, TRIALS, schema};
use crate::RecordError;
use crate::experiment::{EXPERIMENT_SCHEMA, ExperimentLine, ExperimentPlan, ExperimentVariant};
use crate::json;
use crate::plan::Plan;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// An experiment that can be read and gone on with.
#[derive(Debug)]
pub struct ExperimentFolder {
    folder: Folder,
    log: Option<File>,
    /// What is compared.
    pub plan: ExperimentPlan,
    /// What happened so far.
    pub lines: Vec<ExperimentLine>,
    /// What of the folder could not be read.
    pub damage: Vec<String>,
}

impl ExperimentFolder {
    /// Makes the folder `parent/name`, with its plan.
    ///
    /// # Errors
    /// There is one of that name, or it cannot be written.
    pub fn create(parent: &Path, name: &str, plan: ExperimentPlan) -> Result<ExperimentFolder, RecordError> {
        let draft = Folder::create(parent, name)?;
        let text = json::pretty(&plan).map_err(|error| RecordError::Unwritable {
            path: draft.folder().path_of(EXPERIMENT),
            cause: error.to_string(),
        })?;
        draft.folder().replace(EXPERIMENT, text.as_bytes())?;
        let log = draft.folder().create_file(TRIALS)?;
        draft.folder().sync()?;
        let folder = draft.publish()?;
        Ok(ExperimentFolder { folder, log: Some(log), plan, lines: Vec::new(), damage: Vec::new() })
    }

    /// Opens an experiment.
    ///
    /// # Errors
    /// It is none, or one of its files is no plain file, or a line that is not the last is malformed.
    pub fn open(path: &Path) -> Result<ExperimentFolder, RecordError> {
        let folder = Folder::open(path)?;
        let refuse = |cause: String| RecordError::NotARun { path: path.to_owned(), cause };
        let text = folder
            .read_whole(EXPERIMENT, MAX_DOCUMENT_BYTES)?
            .ok_or_else(|| refuse(format!("it has no '{EXPERIMENT}'")))?;
        // First, since the rest of a newer one may be anything.
        let found = schema::of_document(&text).unwrap_or_default();
        schema::check(&found, EXPERIMENT_SCHEMA)
            .map_err(|other| other.error(path, EXPERIMENT_SCHEMA, None))?;
        let plan: ExperimentPlan =
            serde_json::from_slice(&text).map_err(|error| refuse(format!("'{EXPERIMENT}': {error}")))?;
        let is_load = |variant: &ExperimentVariant| matches!(variant.plan, Plan::Run(_) | Plan::Load(_));
        let is_work = |variant: &ExperimentVariant| matches!(variant.plan, Plan::Work(_));
        if !plan.variants.iter().all(is_load) && !plan.variants.iter().all(is_work) {
            return Err(refuse(format!(
                "not all variants of '{EXPERIMENT}' are loads, or all of them commands"
            )));
        }
        let mut reader = FolderReader::new(&folder, Caps::default());
        let lines = reader.values_if_any(TRIALS, MAX_EXPERIMENT_LINES, wrong)?;
        let damage = reader.damage;
        Ok(ExperimentFolder { folder, log: None, plan, lines, damage })
    }

    /// When a line was last written to the experiment in this folder; `None`: there is none.
    pub fn log_changed(path: &Path) -> Option<SystemTime> {
        fs::symlink_metadata(path.join(TRIALS)).and_then(|log| log.modified()).ok()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of its runs.
    pub fn runs(&self) -> PathBuf {
        self.folder.path_of(EXPERIMENT_RUNS)
    }

    /// Writes a line, durably.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn append(&mut self, line: ExperimentLine) -> Result<(), RecordError> {
        let text = encoded(&self.folder, TRIALS, &line)?;
        let log = match &mut self.log {
            Some(log) => log,
            None => self.log.insert(self.folder.append_file(TRIALS)?),
        };
        let written = log.write_all(&text).and_then(|()| log.sync_data());
        written.map_err(RecordError::io("write", self.folder.path_of(TRIALS)))?;
        self.lines.push(line);
        Ok(())
    }

    /// Writes the report.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_report(&self, html: &str) -> Result<PathBuf, RecordError> {
        self.folder.replace(REPORT, html.as_bytes())?;
        Ok(self.folder.path_of(REPORT))
    }
}

fn wrong(line: &ExperimentLine) -> Option<&'static str> {
    match line {
        ExperimentLine::Began(began) if !is_plain_name(&began.run) => Some("a run that is no plain name"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{TrialBegan, TrialEnded};
    use crate::manifest::RunStatus;
    use crate::plan::PhaseEnd;
    use crate::units::SpanNs;
    use crate::work::{CacheChoice, FileWork, WorkKind, WorkPlan};

    fn plan() -> ExperimentPlan {
        ExperimentPlan {
            schema: EXPERIMENT_SCHEMA.into(),
            name: "m".into(),
            variants: Vec::new(),
            blocks: 2,
            seed: 1,
            budget: None,
            metric: None,
            effect_ratio: None,
            is_noisy: false,
            until_decided: false,
            is_profiled: false,
            source: "m.toml".into(),
            lab: None,
        }
    }

    fn began(run: &str) -> ExperimentLine {
        ExperimentLine::Began(TrialBegan { trial: 1, block: 0, variant: 0, run: run.into() })
    }

    #[test]
    fn a_matrix_that_was_cut_off_in_a_line_goes_on_behind_the_last_whole_one() {
        let parent = tempfile::tempdir().expect("makes");
        let mut experiment = ExperimentFolder::create(parent.path(), "m", plan()).expect("makes");
        experiment.append(began("run-1")).expect("writes");
        let log = experiment.path().join(TRIALS);
        let whole = std::fs::read(&log).expect("reads");
        std::fs::write(&log, [whole.as_slice(), b"{\"ended\":{\"tri"].concat()).expect("writes");
        let mut experiment = ExperimentFolder::open(experiment.path()).expect("opens");
        assert_eq!((experiment.lines.len(), experiment.damage.len()), (1, 1), "{:?}", experiment.damage);
        let (status, not_restored) = (RunStatus::Complete, Vec::new());
        let ended = TrialEnded { trial: 1, status, not_restored, is_spoilt: false };
        experiment.append(ExperimentLine::Ended(ended)).expect("writes");
        let experiment = ExperimentFolder::open(experiment.path()).expect("opens");
        assert_eq!((experiment.lines.len(), experiment.damage.len()), (2, 0), "{:?}", experiment.damage);
    }

    #[test]
    fn a_matrix_of_commands_is_opened_again_and_one_of_commands_and_loads_is_not() {
        let parent = tempfile::tempdir().expect("makes");
        let variant = |plan: Plan| ExperimentVariant {
            name: "v".into(),
            levels: Vec::new(),
            settings: Vec::new(),
            prepare: Vec::new(),
            during: Vec::new(),
            services: Vec::new(),
            service: None,
            takes: None,
            plan,
        };
        let work = || {
            let files = FileWork { folder: "d".into(), files_count: 1, file_bytes: 1 };
            variant(Plan::Work(WorkPlan {
                kind: WorkKind::Files(files),
                workers: 1,
                end: PhaseEnd::Requests(1),
                timeout: SpanNs::from_secs(1),
                cache: CacheChoice::AsIs,
                remounts: false,
                counter: None,
            }))
        };
        let load = || variant(Plan::Load(crate::store::sample::load_plan()));
        let of = |variants: Vec<ExperimentVariant>| ExperimentPlan { variants, ..plan() };
        let experiment =
            ExperimentFolder::create(parent.path(), "w", of(vec![work(), work()])).expect("makes");
        assert!(ExperimentFolder::open(experiment.path()).is_ok());
        let experiment =
            ExperimentFolder::create(parent.path(), "m", of(vec![work(), load()])).expect("makes");
        let error = ExperimentFolder::open(experiment.path()).expect_err("is refused").to_string();
        assert!(
            error.ends_with("not all variants of 'matrix.json' are loads, or all of them commands"),
            "{error}"
        );
    }

    #[test]
    fn a_run_of_another_folder_is_not_followed() {
        let parent = tempfile::tempdir().expect("makes");
        let mut experiment = ExperimentFolder::create(parent.path(), "m", plan()).expect("makes");
        experiment.append(began("../other")).expect("writes");
        experiment.append(began("run-2")).expect("writes");
        let error = ExperimentFolder::open(experiment.path()).expect_err("is refused");
        assert!(error.to_string().contains("plain name"), "{error}");
        assert!(ExperimentFolder::create(parent.path(), "m", plan()).is_err(), "there is one of that name");
    }
}
