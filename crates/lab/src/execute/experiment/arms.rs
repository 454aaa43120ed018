//! The variants of an experiment on the host: put on, read back, taken off.
//!
//! One variant is on at a time. What is on is a trial of settings with a guardian, which undoes it when this process
//! dies; what a variant runs before its trials is run again whenever another one was on in between.

use super::Bench;
use crate::agent::{Answer, Lasts, Request, TuneAnswer, TuneRequest, TuneTask};
use crate::error::LabError;
use crate::service::roots_with_programs;
use std::path::PathBuf;
use sysdyno_record::experiment::{Action, ChangeShown, CommandSpec, ExperimentPlan, ReadBack, SettingChange};
use sysdyno_record::units::SpanNs;
use sysdyno_tune::{Change, Plan, PlannedChange, Refusal, TuneError};

/// After which time a variant is undone if this process lives on but forgets it.
const DEADLINE: SpanNs = SpanNs::from_secs(24 * 3600);

/// How long a command may take that brings a server into a variant.
const PREPARE_LIMIT: SpanNs = SpanNs::from_secs(300);

/// How settings are changed.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// Root of the settings: `/`, or a tree.
    pub root: PathBuf,
    /// The state folder; `None` for that of the system.
    pub state: Option<PathBuf>,
    /// This program, which guardians run.
    pub program: PathBuf,
    /// Its version.
    pub version: String,
}

/// What the variants of a plan change, as far as it can be said before anything is.
///
/// # Errors
/// A change is not in order, cannot be made by this user, or changes nothing.
pub fn planned_changes(plan: &ExperimentPlan, tuning: &Tuning) -> Result<Vec<ChangeShown>, LabError> {
    let arms = Arms::new(plan, tuning.clone());
    let all = arms.all_changes();
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let planned = sysdyno_tune::plan(&parsed(&all), &roots_with_programs(&tuning.root))?;
    let refusals: Vec<Refusal> = planned.changes.iter().filter_map(refusal).collect();
    if !refusals.is_empty() {
        return Err(TuneError::Refused(refusals).into());
    }
    Ok(planned.changes.iter().map(shown).collect())
}

/// Why a change cannot be tried; `None` if it can.
fn refusal(change: &PlannedChange) -> Option<Refusal> {
    let object = format!("{}={}", change.key, change.new);
    match (&change.blocked, change.is_same) {
        (_, true) => Some(Refusal {
            object,
            cause: "it is that already, so there is nothing to compare".into(),
            hint: None,
        }),
        (Some(cause), false) => Some(Refusal { object, cause: cause.clone(), hint: None }),
        (None, false) => None,
    }
}

/// The variants, and which of them is on.
pub(super) struct Arms<'a> {
    plan: &'a ExperimentPlan,
    tuning: Tuning,
    /// All settings that any variant changes, as they were found.
    baseline: Vec<PlannedChange>,
    held: Option<Held>,
    /// The variant whose command has run last.
    prepared: Option<u32>,
    /// Settings that could not be put back.
    pub(super) not_restored: Vec<String>,
}

struct Held {
    variant: u32,
    id: String,
}

/// What was read back before a trial.
#[derive(Debug, Default)]
pub(super) struct InForce {
    pub(super) read_back: Vec<ReadBack>,
    /// Settings that are not what the variant says.
    pub(super) wrong: Vec<String>,
}

impl<'a> Arms<'a> {
    pub(super) fn new(plan: &'a ExperimentPlan, tuning: Tuning) -> Arms<'a> {
        Arms { plan, tuning, baseline: Vec::new(), held: None, prepared: None, not_restored: Vec::new() }
    }

    /// Reads what all settings are before anything is changed.
    pub(super) fn learn_baseline(&mut self, bench: &mut Bench<'_, '_>) -> Result<(), LabError> {
        let all = self.all_changes();
        if !all.is_empty() {
            self.baseline = self.planned(bench, &all)?.changes;
        }
        Ok(())
    }

    /// Every change of any variant, once.
    fn all_changes(&self) -> Vec<SettingChange> {
        let changes = self.plan.variants.iter().flat_map(|variant| match &variant.action {
            Action::Settings(changes) => changes.as_slice(),
            _ => &[],
        });
        let mut all: Vec<SettingChange> = Vec::new();
        for change in changes {
            if all.iter().all(|known| known.key != change.key) {
                all.push(change.clone());
            }
        }
        all
    }

    /// Brings the host into a variant, and reads it back.
    pub(super) fn enter(&mut self, bench: &mut Bench<'_, '_>, variant: u32) -> Result<InForce, LabError> {
        let plan = self.plan;
        let action = &plan.variants[variant as usize].action;
        if self.held.as_ref().is_some_and(|held| held.variant != variant) {
            self.leave(bench)?;
        }
        match action {
            Action::Settings(changes) if self.held.is_none() => self.apply(bench, variant, changes)?,
            Action::Prepare(command) if self.prepared != Some(variant) => {
                self.prepared = None;
                prepare(bench, command)?;
                self.prepared = Some(variant);
            }
            _ => {}
        }
        self.read_back(bench, action)
    }

    fn apply(
        &mut self,
        bench: &mut Bench<'_, '_>,
        variant: u32,
        changes: &[SettingChange],
    ) -> Result<(), LabError> {
        let task = TuneTask::Apply {
            changes: parsed(changes),
            deadline: DEADLINE,
            program: self.tuning.program.clone(),
            version: self.tuning.version.clone(),
            lasts: Lasts::WithAgent,
        };
        match self.tune(bench, task)? {
            TuneAnswer::Held { id, .. } => {
                self.held = Some(Held { variant, id });
                Ok(())
            }
            // Somebody else has set it meanwhile; reading back says so.
            TuneAnswer::Nothing => Ok(()),
            _ => Err(LabError::Answer { request: "apply changes" }),
        }
    }

    /// Reads what is in force, and compares it with what the variant says.
    fn read_back(&self, bench: &mut Bench<'_, '_>, action: &Action) -> Result<InForce, LabError> {
        if self.baseline.is_empty() {
            return Ok(InForce::default());
        }
        let changed: &[SettingChange] = if let Action::Settings(changes) = action { changes } else { &[] };
        let now = self.planned(bench, &self.all_changes())?.changes;
        let mut in_force = InForce::default();
        for (before, now) in self.baseline.iter().zip(&now) {
            let is_changed = changed.iter().any(|change| change.key == now.key);
            let is_right = if is_changed { now.is_same } else { now.old == before.old };
            if !is_right {
                in_force.wrong.push(format!("'{}' is {}, set by somebody else", now.key, now.old));
            }
            in_force.read_back.push(ReadBack { key: now.key.clone(), value: now.old.clone() });
        }
        Ok(in_force)
    }

    /// Undoes what is on.
    pub(super) fn leave(&mut self, bench: &mut Bench<'_, '_>) -> Result<(), LabError> {
        let Some(held) = self.held.take() else { return Ok(()) };
        let TuneAnswer::Recovered(recoveries) = self.tune(bench, TuneTask::Undo { id: Some(held.id) })?
        else {
            return Err(LabError::Answer { request: "undo changes" });
        };
        let left = recoveries.iter().flat_map(|recovery| &recovery.restored);
        let dirty = left.filter(|restored| !restored.outcome.is_clean()).map(|restored| restored.key.clone());
        self.not_restored.extend(dirty);
        Ok(())
    }

    /// Puts a variant on for good.
    pub(super) fn keep(&mut self, bench: &mut Bench<'_, '_>, variant: u32) -> Result<(), LabError> {
        self.enter(bench, variant)?;
        let Some(held) = self.held.take() else { return Ok(()) };
        self.tune(bench, TuneTask::Commit { id: Some(held.id) })?;
        Ok(())
    }

    /// What the changes are, for the conclusion.
    pub(super) fn changes(&self) -> Vec<ChangeShown> {
        self.baseline.iter().map(shown).collect()
    }

    fn planned(&self, bench: &mut Bench<'_, '_>, changes: &[SettingChange]) -> Result<Plan, LabError> {
        match self.tune(bench, TuneTask::Plan { changes: parsed(changes) })? {
            TuneAnswer::Plan(plan) => Ok(plan),
            _ => Err(LabError::Answer { request: "plan changes" }),
        }
    }

    fn tune(&self, bench: &mut Bench<'_, '_>, task: TuneTask) -> Result<TuneAnswer, LabError> {
        let request = TuneRequest { root: self.tuning.root.clone(), state: self.tuning.state.clone(), task };
        match bench.call(Request::Tune(Box::new(request)))? {
            Answer::Tuned(answer) => Ok(*answer),
            _ => Err(LabError::Answer { request: "tune" }),
        }
    }
}

fn prepare(bench: &mut Bench<'_, '_>, command: &CommandSpec) -> Result<(), LabError> {
    let request = Request::Command { words: command.words.clone(), limit: PREPARE_LIMIT };
    let Answer::CommandEnded(outcome) = bench.call(request)? else {
        return Err(LabError::Answer { request: "run a command" });
    };
    match outcome.failure {
        None => Ok(()),
        Some(cause) => Err(LabError::Command { command: command.text.clone(), cause }),
    }
}

fn parsed(changes: &[SettingChange]) -> Vec<Change> {
    changes.iter().map(|change| Change { key: change.key.clone(), value: change.value.clone() }).collect()
}

fn shown(change: &PlannedChange) -> ChangeShown {
    let (key, after) = (change.key.clone(), change.new.clone());
    let persist = change.persists_in.map(|_| format!("sysdyno tune persist '{key}={after}'"));
    let mut notes = vec![format!("felt {}", change.effect.words())];
    notes.extend(change.rivals.iter().map(|rival| format!("{} sets it too: {}", rival.who, rival.sets)));
    ChangeShown { key, before: change.old.clone(), after, undo: change.undo.clone(), persist, notes }
}
