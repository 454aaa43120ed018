//! What the report of an experiment is made from: references to the parts of one record.
//!
//! Screen: [`crate::terminal::render_experiment`]; page: [`crate::html::render_experiment`]; document for programs:
//! [`crate::json::experiment_document`].

use sysdyno_record::effect::Comparison;
use sysdyno_record::experiment::{
    Action, ExperimentConclusion, ExperimentLine, ExperimentPlan, ExperimentTrial, Settled, StageConclusion,
    StageKind, StopCause, Variant,
};
use sysdyno_record::facts::HostFacts;
use sysdyno_record::plan::Plan;
use sysdyno_record::store::{Run, Trial};
use sysdyno_record::view::FolderView;

/// One experiment, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct ExperimentInput<'a> {
    /// The run folder.
    pub folder: FolderView<'a>,
    /// What was planned; `None`: it was not written, or is damaged.
    pub plan: Option<&'a ExperimentPlan>,
    /// The host; `None`: not written, or damaged.
    pub facts: Option<&'a HostFacts>,
    /// What the pilot settled, the trials and the pairs, in the order of the file.
    pub lines: &'a [ExperimentLine],
    /// The loads of the trials.
    pub loads: &'a [Trial],
    /// What came of it, read from the folder or derived again.
    pub conclusion: &'a ExperimentConclusion,
}

impl<'a> ExperimentInput<'a> {
    /// An experiment as it was read, with its conclusion: that of the folder, or derived again where it has none.
    pub fn new(run: &'a Run, conclusion: &'a ExperimentConclusion) -> ExperimentInput<'a> {
        let plan = match &run.plan {
            Some(Plan::Experiment(plan)) => Some(plan.as_ref()),
            _ => None,
        };
        ExperimentInput {
            folder: run.folder_view(),
            plan,
            facts: run.facts.as_ref(),
            lines: &run.experiment,
            loads: &run.trials,
            conclusion,
        }
    }

    /// What the pilot settled; `None`: it did not come to that.
    pub fn settled(&self) -> Option<&'a Settled> {
        self.lines.iter().find_map(|line| match line {
            ExperimentLine::Settled(settled) => Some(settled),
            _ => None,
        })
    }

    /// The trials, in the order in which they ran.
    pub fn trials(&self) -> impl Iterator<Item = &'a ExperimentTrial> + use<'a> {
        self.lines.iter().filter_map(|line| match line {
            ExperimentLine::Trial(trial) => Some(trial.as_ref()),
            _ => None,
        })
    }

    /// The comparison that the verdict is of; `None`: it did not come to it.
    pub fn proof(&self) -> Option<&'a StageConclusion> {
        self.conclusion.stages.iter().find(|stage| stage.stage.kind == StageKind::Proof)
    }

    /// The two things that were compared, A first; of an experiment without a proof the first two of the plan.
    pub fn variants(&self) -> Option<[&'a Variant; 2]> {
        let plan = self.plan?;
        let [a, b] = self.proof().map_or([0, 1], |proof| [proof.stage.a, proof.stage.b]);
        Some([plan.variants.get(a as usize)?, plan.variants.get(b as usize)?])
    }

    /// What the load went to, as the user wrote it; empty for commands.
    pub fn url(&self) -> &'a str {
        self.plan.and_then(ExperimentPlan::load).map_or("", |load| &load.target.url)
    }
}

/// What a variant does, in the user's own words.
pub fn action_text(action: &Action) -> String {
    match action {
        Action::AsItIs => "unchanged".to_owned(),
        Action::Settings(changes) => {
            let texts: Vec<String> =
                changes.iter().map(|change| format!("{}={}", change.key, change.value)).collect();
            texts.join(", ")
        }
        Action::Target(target) => target.url.clone(),
        Action::Command(command) => command.text.clone(),
        Action::Prepare(command) => format!("after {}", command.text),
    }
}

/// The shape and the word of a verdict, as they stand in a badge.
pub fn word_badge(word: Comparison) -> &'static str {
    match word {
        Comparison::Better => "▲ BETTER",
        Comparison::Worse => "▼ WORSE",
        Comparison::Same => "= THE SAME",
        Comparison::CannotTell => "? CAN'T TELL",
    }
}

/// Why a comparison ended, as the end of a sentence.
pub(crate) fn stop_text(stop: Option<StopCause>) -> &'static str {
    match stop {
        Some(StopCause::Narrow) => "the interval is narrow enough",
        Some(StopCause::Decided) => "the 99% interval lies outside the band that does not matter",
        Some(StopCause::Pairs) => "the maximum number of pairs was reached",
        Some(StopCause::Budget) => "the time budget ran out",
        Some(StopCause::Environment) => "too many pairs were discarded",
        Some(StopCause::NoValue) => "trials produced no number to compare",
        Some(StopCause::Interrupted) => "it was interrupted",
        None => "it did not finish",
    }
}
