//! The folder of an autotune: that of a plan with its lines, the experiments of its steps in its subfolder `steps`, and its
//! conclusion.

use super::folder::{is_plain_name, remove_draft};
use super::planned::{PlanOfSteps, PlannedFolder, document};
use super::{AUTOTUNE, AUTOTUNE_STEPS, AUTOTUNED, ExperimentFolder, MAX_AUTOTUNE_LINES, STEP_LINES};
use crate::RecordError;
use crate::autotune::{AUTOTUNE_SCHEMA, AutotuneConclusion, AutotuneLine, AutotunePlan};
use crate::experiment::ExperimentPlan;
use std::path::{Path, PathBuf};

/// An autotune that can be read and gone on with.
pub type AutotuneFolder = PlannedFolder<AutotunePlan>;

impl PlanOfSteps for AutotunePlan {
    type Line = AutotuneLine;
    const SCHEMA: &'static str = AUTOTUNE_SCHEMA;
    const PLAN: &'static str = AUTOTUNE;
    const LINES: &'static str = STEP_LINES;
    const MAX_LINES: usize = MAX_AUTOTUNE_LINES;

    fn refusal(&self) -> Option<&'static str> {
        (self.base.variants.len() != 1).then_some("it has not exactly one server")
    }

    fn wrong(line: &AutotuneLine) -> Option<&'static str> {
        match line {
            AutotuneLine::Began(began) if !is_plain_name(&began.folder) => {
                Some("a step that is no plain name")
            }
            _ => None,
        }
    }
}

impl AutotuneFolder {
    /// Whether there is an autotune in this folder, whole or not.
    pub fn is_at(path: &Path) -> bool {
        path.join(AUTOTUNE).is_file()
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

    /// Writes the conclusion.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn conclude(&self, conclusion: &AutotuneConclusion) -> Result<(), RecordError> {
        let text = document(&self.folder, AUTOTUNED, conclusion)?;
        self.folder.replace(AUTOTUNED, text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::folder::Folder;
    use crate::units::SpanNs;

    fn plan() -> AutotunePlan {
        AutotunePlan {
            schema: AUTOTUNE_SCHEMA.into(),
            base: ExperimentPlan::default(),
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
        let step = folder.create_step("02-race", ExperimentPlan::default()).expect("makes");
        assert_eq!(step.path(), folder.steps().join("02-race"));
        assert!(
            folder.create_step("02-race", ExperimentPlan::default()).is_err(),
            "there is one of that name"
        );
    }
}
