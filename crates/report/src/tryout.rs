//! What the report of a tryout is made from: references to the parts of one record.
//!
//! Screen: [`crate::terminal::render_tryout`]; page: [`crate::html::render_tryout`]; document for programs:
//! [`crate::json::tryout_document`].

use sysdyno_record::change::SettingChange;
use sysdyno_record::effect::Comparison;
use sysdyno_record::facts::HostFacts;
use sysdyno_record::plan::Plan;
use sysdyno_record::store::{Run, Trial};
use sysdyno_record::tryout::{
    Action, Settled, StageConclusion, StageKind, StopCause, TryConclusion, TryLine, TryPlan, TryTrial,
    Variant,
};
use sysdyno_record::view::FolderView;

/// One tryout, borrowed.
#[derive(Clone, Copy, Debug)]
pub struct TryInput<'a> {
    /// The run folder.
    pub folder: FolderView<'a>,
    /// What was planned; `None`: it was not written, or is damaged.
    pub plan: Option<&'a TryPlan>,
    /// The host; `None`: not written, or damaged.
    pub facts: Option<&'a HostFacts>,
    /// What the pilot settled, the trials and the pairs, in the order of the file.
    pub lines: &'a [TryLine],
    /// The loads of the trials.
    pub loads: &'a [Trial],
    /// Its conclusion, read from the folder or derived again.
    pub conclusion: &'a TryConclusion,
}

impl<'a> TryInput<'a> {
    /// A tryout as it was read, with its conclusion: that of the folder, or derived again where it has none.
    pub fn new(run: &'a Run, conclusion: &'a TryConclusion) -> TryInput<'a> {
        let plan = match &run.plan {
            Some(Plan::Try(plan)) => Some(plan.as_ref()),
            _ => None,
        };
        TryInput {
            folder: run.folder_view(),
            plan,
            facts: run.facts.as_ref(),
            lines: &run.tryout,
            loads: &run.trials,
            conclusion,
        }
    }

    /// What the pilot settled; `None`: it did not come to that.
    pub fn settled(&self) -> Option<&'a Settled> {
        self.lines.iter().find_map(|line| match line {
            TryLine::Settled(settled) => Some(settled),
            _ => None,
        })
    }

    /// The trials, in the order in which they ran.
    pub fn trials(&self) -> impl Iterator<Item = &'a TryTrial> + use<'a> {
        self.lines.iter().filter_map(|line| match line {
            TryLine::Trial(trial) => Some(trial.as_ref()),
            _ => None,
        })
    }

    /// The comparison that the verdict is of; `None`: it did not come to it.
    pub fn proof(&self) -> Option<&'a StageConclusion> {
        self.conclusion.stages.iter().find(|stage| stage.stage.kind == StageKind::Proof)
    }

    /// The two things that were compared, A first; of a tryout without a proof the first two of the plan.
    pub fn variants(&self) -> Option<[&'a Variant; 2]> {
        let plan = self.plan?;
        let [a, b] = self.proof().map_or([0, 1], |proof| [proof.stage.a, proof.stage.b]);
        Some([plan.variants.get(a as usize)?, plan.variants.get(b as usize)?])
    }

    /// The command that was timed under all variants, as the user wrote it; `None`: a load was sent, or each had its own.
    pub fn command(&self) -> Option<&'a str> {
        self.plan?.command.as_ref().map(|command| command.run.text.as_str())
    }

    /// What the load went to, as the user wrote it; empty for commands.
    pub fn url(&self) -> &'a str {
        self.plan.and_then(TryPlan::load).map_or("", |load| &load.target.url)
    }
}

/// What a variant does, in the user's own words.
pub fn action_text(action: &Action) -> String {
    match action {
        Action::AsItIs => "unchanged".to_owned(),
        Action::Settings(_) | Action::Squeeze(_) => {
            action.settings().iter().map(SettingChange::text).collect::<Vec<String>>().join(", ")
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
