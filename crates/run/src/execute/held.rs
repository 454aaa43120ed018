//! Settings held on this host while some work runs, in the namespaces of the calling thread.
//!
//! Invariants are those of [`super::change`]: they are undone when this process ends, however it ends.

use super::change::{Tuning, held_at, not_restored};
use crate::agent::{Lasts, TuneAnswer, TuneRequest, TuneTask};
use crate::clock;
use crate::error::RunError;
use std::time::Duration;
use sysdyno_record::change::SettingChange;
use sysdyno_record::event::SettingHeld;
use sysdyno_tune::{HeldTrial, TuneError};

/// After which time it is looked again whether another trial is over: its guardian cannot be awaited.
const PAUSE: Duration = Duration::from_millis(20);

/// Settings that are held.
pub struct HeldHere {
    /// The trial; `None`: all of it was so already.
    id: Option<String>,
    /// It alone: trials in two folders may have one name.
    trials: Vec<HeldTrial>,
    /// What they are, and were.
    pub settings: Vec<SettingHeld>,
}

impl Tuning {
    /// Makes changes that last as long as what is returned, unless they are let go before. Another trial, of a process that
    /// was just killed, is undone in a moment, and awaited for `patience`.
    ///
    /// # Errors
    /// A change is not in order or cannot be made, or another trial is not over.
    pub fn hold(
        &self,
        host: &str,
        changes: &[SettingChange],
        patience: Duration,
    ) -> Result<HeldHere, RunError> {
        let mut trials = Vec::new();
        let end = clock::monotonic().after(patience);
        let tried = loop {
            match self.here(self.task(changes.to_vec(), Lasts::WithAgent), &mut trials) {
                Err(RunError::Tune(TuneError::Busy { .. })) if clock::monotonic() < end => {
                    std::thread::sleep(PAUSE);
                }
                tried => break tried?,
            }
        };
        let was_so = |change: &SettingChange| SettingHeld {
            host: host.to_owned(),
            key: change.key.clone(),
            before: change.value.clone(),
            after: change.value.clone(),
        };
        let (id, settings) = match tried {
            TuneAnswer::Held { id, plan, .. } => {
                (Some(id), plan.changes.iter().map(|change| held_at(host, change)).collect())
            }
            TuneAnswer::Nothing => (None, changes.iter().map(was_so).collect()),
            _ => return Err(RunError::Answer { request: "apply changes" }),
        };
        Ok(HeldHere { id, trials, settings })
    }

    /// Undoes what is held; the settings that are not what they were.
    ///
    /// # Errors
    /// It is no trial any more, or its journal cannot be used.
    pub fn let_go(&self, mut held: HeldHere) -> Result<Vec<String>, RunError> {
        let Some(id) = held.id.take() else { return Ok(Vec::new()) };
        match self.here(TuneTask::Undo { id: Some(id) }, &mut held.trials)? {
            TuneAnswer::Recovered(recoveries) => Ok(not_restored(&recoveries)),
            _ => Err(RunError::Answer { request: "undo changes" }),
        }
    }

    fn here(&self, task: TuneTask, trials: &mut Vec<HeldTrial>) -> Result<TuneAnswer, RunError> {
        let request = TuneRequest { root: self.root.clone(), state: self.state.clone(), task };
        request.carry_out(trials)
    }
}
