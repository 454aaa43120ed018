//! Changes to the host for a measurement: commands before it, settings while it lasts.
//!
//! Invariants: the agent changes settings as a trial that ends with the agent, so that they are undone whatever kills this
//! process; a setting that something else has changed since is left alone and reported.

use super::steps::Bench;
use crate::agent::{Deaf, Lasts, TrialKind, TuneAnswer, TuneRequest, TuneTask};
use crate::clock;
use crate::error::RunError;
use crate::service::roots_with_programs;
use std::path::PathBuf;
use sysdyno_record::change::SettingChange;
use sysdyno_record::command::CommandSpec;
use sysdyno_record::event::{EventKind, SettingHeld};
use sysdyno_record::tryout::ChangeShown;
use sysdyno_record::units::SpanNs;
use sysdyno_tune::{PlannedChange, Recovery, Refusal, SettingsTrial, TuneError, TunePlan};

/// After which time changes are undone if this process lives on but forgets them.
const DEADLINE: SpanNs = SpanNs::from_secs(24 * 3600);

/// How long a command may take that brings a server into a variant.
const PREPARE_LIMIT: SpanNs = SpanNs::from_secs(300);

/// What this host is called in events.
const HERE: &str = "here";

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

impl Tuning {
    /// What these changes would do, as far as is known beforehand.
    ///
    /// # Errors
    /// A change is not in order, cannot be made by this user, or changes nothing.
    pub fn planned(&self, changes: &[SettingChange]) -> Result<Vec<ChangeShown>, RunError> {
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let planned = sysdyno_tune::plan(changes, &roots_with_programs(&self.root))?;
        let refusals: Vec<Refusal> = planned.changes.iter().filter_map(refusal).collect();
        if !refusals.is_empty() {
            return Err(TuneError::Refused(refusals).into());
        }
        Ok(planned.changes.iter().map(shown).collect())
    }

    /// Makes changes, which the journal marks; `None`: all of it is so already.
    pub(super) fn apply(
        &self,
        bench: &mut Bench<'_, '_>,
        changes: &[SettingChange],
    ) -> Result<Option<ChangesMade>, RunError> {
        match self.call(bench, self.task(changes.to_vec(), Lasts::WithAgent))? {
            TuneAnswer::Held { id, plan, .. } => {
                let settings = plan.changes.iter().map(|change| held_at(HERE, change)).collect();
                let made = ChangesMade { id, settings };
                made.mark(bench, EventKind::SettingChanged)?;
                Ok(Some(made))
            }
            TuneAnswer::Nothing => Ok(None),
            _ => Err(RunError::Answer { request: "apply changes" }),
        }
    }

    /// The task of making changes.
    pub(super) fn task(&self, changes: Vec<SettingChange>, lasts: Lasts) -> TuneTask {
        let (program, version) = (self.program.clone(), self.version.clone());
        TuneTask::Apply { changes, deadline: DEADLINE, program, version, lasts }
    }

    /// Undoes changes; the settings that are not what they were.
    pub(super) fn undo(&self, bench: &mut Bench<'_, '_>, made: ChangesMade) -> Result<Vec<String>, RunError> {
        let task = TuneTask::Undo { id: Some(made.id.clone()) };
        let TuneAnswer::Recovered(recoveries) = self.call(bench, task)? else {
            return Err(RunError::Answer { request: "undo changes" });
        };
        let left = not_restored(&recoveries);
        bench.journal.mark_undone(&made.settings, &left)?;
        Ok(left)
    }

    /// Makes changes last.
    pub(super) fn commit(&self, bench: &mut Bench<'_, '_>, made: &ChangesMade) -> Result<(), RunError> {
        self.call(bench, TuneTask::Commit { id: Some(made.id.clone()) })?;
        made.mark(bench, EventKind::SettingKept)
    }

    /// The current values of settings, next to their new values.
    pub(super) fn plan(
        &self,
        bench: &mut Bench<'_, '_>,
        changes: &[SettingChange],
    ) -> Result<TunePlan, RunError> {
        match self.call(bench, TuneTask::Plan { changes: changes.to_vec() })? {
            TuneAnswer::Plan(plan) => Ok(plan),
            _ => Err(RunError::Answer { request: "plan changes" }),
        }
    }

    /// Open trials on this host, from any process.
    pub(super) fn open_trials(&self, bench: &mut Bench<'_, '_>) -> Result<Vec<SettingsTrial>, RunError> {
        match self.call(bench, TuneTask::List { which: TrialKind::Open })? {
            TuneAnswer::Trials { trials, .. } => Ok(trials),
            _ => Err(RunError::Answer { request: "list trials" }),
        }
    }

    fn call(&self, bench: &mut Bench<'_, '_>, task: TuneTask) -> Result<TuneAnswer, RunError> {
        let request = TuneRequest { root: self.root.clone(), state: self.state.clone(), task };
        bench.ask(|agent, _| agent.tune(request))
    }
}

/// Changes that were made and can be undone.
#[derive(Clone, Debug)]
pub(super) struct ChangesMade {
    /// The id of their trial.
    pub(super) id: String,
    settings: Vec<SettingHeld>,
}

impl ChangesMade {
    fn mark(&self, bench: &mut Bench<'_, '_>, kind: fn(SettingHeld) -> EventKind) -> Result<(), RunError> {
        let now = clock::monotonic();
        self.settings.iter().try_for_each(|setting| bench.journal.event(now, kind(setting.clone())))
    }
}

/// A change of a setting of this host, which is called `host`.
pub(super) fn held_at(host: &str, change: &PlannedChange) -> SettingHeld {
    SettingHeld {
        host: host.to_owned(),
        key: change.key.clone(),
        before: change.old.clone(),
        after: change.new.clone(),
    }
}

/// Runs a command that brings a server into a variant.
pub(super) fn prepare(bench: &mut Bench<'_, '_>, command: &CommandSpec) -> Result<(), RunError> {
    let outcome = bench.ask(|agent, link| agent.command(&command.words, PREPARE_LIMIT, link))?;
    match outcome.failure {
        None => Ok(()),
        Some(cause) => Err(RunError::Command { command: command.text.clone(), cause }),
    }
}

/// Runs a command that clears away after another one, to its end also when the work is interrupted.
pub(super) fn clean(bench: &mut Bench<'_, '_>, command: &CommandSpec) -> Result<(), RunError> {
    if !bench.journal.is_interrupted() {
        return prepare(bench, command);
    }
    let outcome = bench.ask(|agent, _| agent.command(&command.words, PREPARE_LIMIT, &mut Deaf))?;
    outcome.failure.map_or(Ok(()), |cause| Err(RunError::Command { command: command.text.clone(), cause }))
}

/// Settings that are not what they were.
pub(super) fn not_restored(recoveries: &[Recovery]) -> Vec<String> {
    let left = recoveries.iter().flat_map(|recovery| &recovery.restored);
    left.filter(|restored| !restored.outcome.is_clean()).map(|restored| restored.key.clone()).collect()
}

/// Why a change cannot be tried; `None` if it can.
fn refusal(change: &PlannedChange) -> Option<Refusal> {
    let object = format!("{}={}", change.key, change.new);
    match (&change.blocked, change.is_same) {
        (_, true) => Some(Refusal {
            object,
            cause: "it already has this value, so there is nothing to compare".into(),
            hint: None,
        }),
        (Some(cause), false) => Some(Refusal { object, cause: cause.clone(), hint: None }),
        (None, false) => None,
    }
}

/// A change for the conclusion.
pub(super) fn shown(change: &PlannedChange) -> ChangeShown {
    let (key, after) = (change.key.clone(), change.new.clone());
    let persist = change.persists_in.map(|_| format!("sysdyno tune persist '{key}={after}'"));
    let mut notes = vec![format!("takes effect {}", change.effect.words())];
    notes.extend(change.rivals.iter().map(|rival| format!("{} also sets it: {}", rival.who, rival.sets)));
    ChangeShown { key, before: change.old.clone(), after, undo: change.undo.clone(), persist, notes }
}
