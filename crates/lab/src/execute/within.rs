//! Settings of another network namespace of this machine, while some work lasts.
//!
//! They are changed by a thread that enters the namespace, keeps them while the work lasts, and undoes them; their guardian
//! is started there too. Invariants are those of [`super::change`].

use super::change::{Tuning, parsed};
use crate::agent::{Lasts, TuneAnswer, TuneRequest, TuneTask};
use crate::error::LabError;
use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use sysdyno_record::experiment::SettingChange;
use sysdyno_tune::Trial;

/// Does `work` under settings that are changed where `enter` brings a thread; says which could not be put back, here or by
/// `work`.
///
/// # Errors
/// A setting could not be changed or undone, or `work` failed.
pub fn hold_within(
    tuning: &Tuning,
    enter: &(dyn Fn() -> io::Result<()> + Sync),
    changes: &[SettingChange],
    work: impl FnOnce() -> Result<Vec<String>, LabError>,
) -> Result<Vec<String>, LabError> {
    if changes.is_empty() {
        return work();
    }
    let (made, is_made) = mpsc::channel();
    let (done, is_done) = mpsc::channel();
    std::thread::scope(move |scope| {
        let holder = scope.spawn(move || hold(tuning, enter, changes, &made, &is_done));
        if is_made.recv().is_err() {
            return joined(holder.join());
        }
        let worked = work();
        drop::<Sender<()>>(done);
        let left = joined(holder.join());
        let mut all = worked?;
        all.extend(left?);
        Ok(all)
    })
}

fn joined(ended: std::thread::Result<Result<Vec<String>, LabError>>) -> Result<Vec<String>, LabError> {
    ended.unwrap_or(Err(LabError::Answer { request: "apply changes" }))
}

/// Changes settings, says so, and undoes them when nobody is there any more who could say that it is done.
fn hold(
    tuning: &Tuning,
    enter: &dyn Fn() -> io::Result<()>,
    changes: &[SettingChange],
    made: &Sender<()>,
    is_done: &Receiver<()>,
) -> Result<Vec<String>, LabError> {
    enter().map_err(|source| LabError::Process {
        operation: "enter",
        object: "the namespace of settings".into(),
        source,
    })?;
    let mut trials: Vec<Trial> = Vec::new();
    let mut carry_out = |task| {
        let request = TuneRequest { root: tuning.root.clone(), state: tuning.state.clone(), task };
        request.carry_out(&mut trials)
    };
    let held = carry_out(tuning.task(parsed(changes), Lasts::WithAgent))?;
    // Whoever asked waits for it.
    let _ = made.send(());
    let _ = is_done.recv();
    let TuneAnswer::Held { id, .. } = held else { return Ok(Vec::new()) };
    match carry_out(TuneTask::Undo { id: Some(id) })? {
        TuneAnswer::Recovered(recoveries) => Ok(super::change::not_restored(&recoveries)),
        _ => Err(LabError::Answer { request: "undo changes" }),
    }
}
