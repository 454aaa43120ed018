//! The variants of a tryout on the host: applied, read back, undone.
//!
//! One variant is applied at a time, as a trial of settings whose guardian undoes it when this process dies. A variant's
//! prepare commands run again whenever another variant was applied in between.

use super::Bench;
use super::strangers::{self, Stranger};
use crate::error::RunError;
use crate::execute::change::{ChangesMade, Tuning, prepare, shown};
use sysdyno_record::change::SettingChange;
use sysdyno_record::tryout::{Action, ChangeShown, ReadBack, TryPlan};
use sysdyno_tune::PlannedChange;

/// What the variants of a plan change, as far as is known beforehand.
///
/// # Errors
/// A change is not in order, cannot be made by this user, or changes nothing.
pub fn planned_changes(plan: &TryPlan, tuning: &Tuning) -> Result<Vec<ChangeShown>, RunError> {
    tuning.planned(&Arms::new(plan, tuning.clone()).all_changes(&[]))
}

/// The variants, and which of them is on.
pub(super) struct Arms<'a> {
    plan: &'a TryPlan,
    tuning: Tuning,
    /// All settings that any variant changes, as they were found.
    baseline: Vec<PlannedChange>,
    held: Option<Held>,
    /// The variant whose command has run last.
    prepared: Option<u32>,
    /// Settings that could not be restored.
    pub(super) not_restored: Vec<String>,
}

struct Held {
    variant: u32,
    made: ChangesMade,
}

/// What was read back before or after a trial.
#[derive(Debug, Default)]
pub(super) struct InForce {
    pub(super) read_back: Vec<ReadBack>,
    /// A sentence for each setting whose value is not the variant's.
    pub(super) wrong: Vec<String>,
}

impl<'a> Arms<'a> {
    pub(super) fn new(plan: &'a TryPlan, tuning: Tuning) -> Arms<'a> {
        Arms { plan, tuning, baseline: Vec::new(), held: None, prepared: None, not_restored: Vec::new() }
    }

    /// Reads what all settings are before anything is changed.
    pub(super) fn learn_baseline(&mut self, bench: &mut Bench<'_, '_>) -> Result<(), RunError> {
        let all = self.all_changes(&[]);
        if !all.is_empty() {
            self.baseline = self.tuning.plan(bench, &all)?.changes;
        }
        Ok(())
    }

    /// A change of every setting that any variant changes: these where they are among them, else the first.
    fn all_changes(&self, these: &[SettingChange]) -> Vec<SettingChange> {
        let changes = self.plan.variants.iter().flat_map(|variant| variant.action.settings());
        let mut all: Vec<SettingChange> = Vec::new();
        for change in these.iter().chain(changes) {
            if all.iter().all(|known| known.key != change.key) {
                all.push(change.clone());
            }
        }
        all
    }

    /// Brings the host into a variant, and reads it back.
    pub(super) fn enter(&mut self, bench: &mut Bench<'_, '_>, variant: u32) -> Result<InForce, RunError> {
        let plan = self.plan;
        let action = &plan.variants[variant as usize].action;
        if self.held.as_ref().is_some_and(|held| held.variant != variant) {
            self.leave(bench)?;
        }
        match action {
            Action::Settings(_) | Action::Squeeze(_) if self.held.is_none() => {
                self.apply(bench, variant, action.settings())?;
            }
            Action::Prepare(command) if self.prepared != Some(variant) => {
                self.prepared = None;
                prepare(bench, command)?;
                self.prepared = Some(variant);
            }
            _ => {}
        }
        self.read_back(bench, variant)
    }

    fn apply(
        &mut self,
        bench: &mut Bench<'_, '_>,
        variant: u32,
        changes: &[SettingChange],
    ) -> Result<(), RunError> {
        if changes.is_empty() {
            return Ok(());
        }
        // What is so already was set by somebody else meanwhile; reading back says so.
        self.held = self.tuning.apply(bench, changes)?.map(|made| Held { variant, made });
        Ok(())
    }

    /// Reads the current values and compares them with the variant's: before a trial, and after it.
    pub(super) fn read_back(&self, bench: &mut Bench<'_, '_>, variant: u32) -> Result<InForce, RunError> {
        if self.baseline.is_empty() {
            return Ok(InForce::default());
        }
        let action = &self.plan.variants[variant as usize].action;
        let changed = action.settings();
        let now = self.tuning.plan(bench, &self.all_changes(changed))?.changes;
        let (mut read_back, mut strangers) = (Vec::new(), Vec::new());
        for before in &self.baseline {
            let Some(now) = now.iter().find(|now| now.key == before.key) else { continue };
            let is_changed = changed.iter().any(|change| change.key == now.key);
            let is_right = if is_changed { now.is_same } else { now.old == before.old };
            if !is_right {
                let expected = if is_changed { &now.new } else { &before.old };
                strangers.push(Stranger { now, expected });
            }
            read_back.push(ReadBack { key: now.key.clone(), value: now.old.clone() });
        }
        let own = self.held.as_ref().map(|held| held.made.id.as_str());
        Ok(InForce { read_back, wrong: strangers::told(&strangers, own, &self.tuning, bench) })
    }

    /// Undoes what is on.
    pub(super) fn leave(&mut self, bench: &mut Bench<'_, '_>) -> Result<(), RunError> {
        let Some(held) = self.held.take() else { return Ok(()) };
        let left = self.tuning.undo(bench, held.made)?;
        self.not_restored.extend(left);
        Ok(())
    }

    /// Puts a variant on for good.
    pub(super) fn keep(&mut self, bench: &mut Bench<'_, '_>, variant: u32) -> Result<(), RunError> {
        self.enter(bench, variant)?;
        let Some(held) = self.held.take() else { return Ok(()) };
        self.tuning.commit(bench, &held.made)
    }

    /// What the changes are, for the conclusion.
    pub(super) fn changes(&self) -> Vec<ChangeShown> {
        self.baseline.iter().map(shown).collect()
    }
}
