//! The folder of an experiment: that of a plan with its lines, and the runs of its trials.

use super::folder::is_plain_name;
use super::planned::{PlanOfSteps, PlannedFolder};
use super::{EXPERIMENT, EXPERIMENT_RUNS, MAX_EXPERIMENT_LINES, TRIALS};
use crate::experiment::{EXPERIMENT_SCHEMA, ExperimentLine, ExperimentPlan, ExperimentVariant};
use crate::plan::Plan;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// An experiment that can be read and gone on with.
pub type ExperimentFolder = PlannedFolder<ExperimentPlan>;

impl PlanOfSteps for ExperimentPlan {
    type Line = ExperimentLine;
    const SCHEMA: &'static str = EXPERIMENT_SCHEMA;
    const PLAN: &'static str = EXPERIMENT;
    const LINES: &'static str = TRIALS;
    const MAX_LINES: usize = MAX_EXPERIMENT_LINES;

    fn refusal(&self) -> Option<&'static str> {
        let is_load = |variant: &ExperimentVariant| matches!(variant.plan, Plan::Run(_) | Plan::Load(_));
        let is_work = |variant: &ExperimentVariant| matches!(variant.plan, Plan::Work(_));
        let is_one_kind = self.variants.iter().all(is_load) || self.variants.iter().all(is_work);
        (!is_one_kind).then_some("not all of its variants are loads, or all of them commands")
    }

    fn wrong(line: &ExperimentLine) -> Option<&'static str> {
        match line {
            ExperimentLine::Began(began) if !is_plain_name(&began.run) => Some("a run that is no plain name"),
            _ => None,
        }
    }
}

impl ExperimentFolder {
    /// When a line was last written to the experiment in this folder; `None`: there is none.
    pub fn log_changed(path: &Path) -> Option<SystemTime> {
        fs::symlink_metadata(path.join(TRIALS)).and_then(|log| log.modified()).ok()
    }

    /// The folder of its runs.
    pub fn runs(&self) -> PathBuf {
        self.folder.path_of(EXPERIMENT_RUNS)
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
            blocks: 2,
            ..ExperimentPlan::default()
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
            error.ends_with("'matrix.json': not all of its variants are loads, or all of them commands"),
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
