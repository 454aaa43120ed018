//! Settings of another network namespace of this machine, held while some work runs.
//!
//! A thread enters the namespace, changes the settings, holds them while the work runs, and undoes them; their guardian
//! starts there too. Invariants are those of [`super::change`].

use super::change::Tuning;
use crate::error::RunError;
use std::io;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;
use sysdyno_record::change::SettingChange;
use sysdyno_record::event::SettingHeld;

/// How long the guardian of a process that was just killed may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where settings are changed.
pub struct SettingGround<'a> {
    /// The host, as the record has it.
    pub host: String,
    /// How they are changed.
    pub tuning: Tuning,
    /// Brings a thread there.
    pub enter: &'a (dyn Fn() -> io::Result<()> + Sync),
}

/// Does `work` under settings that are changed there, which it is told; says which could not be put back, here or by
/// `work`.
///
/// # Errors
/// A setting could not be changed or undone, or `work` failed.
pub fn hold_within(
    ground: &SettingGround<'_>,
    changes: &[SettingChange],
    work: impl FnOnce(Vec<SettingHeld>) -> Result<Vec<String>, RunError>,
) -> Result<Vec<String>, RunError> {
    let (made, is_made) = mpsc::channel();
    let (done, is_done) = mpsc::channel();
    std::thread::scope(move |scope| {
        let holder = scope.spawn(move || hold(ground, changes, &made, &is_done));
        let Ok(settings) = is_made.recv() else {
            return joined(holder.join());
        };
        let worked = work(settings);
        drop::<Sender<()>>(done);
        let left = joined(holder.join());
        let mut all = worked?;
        all.extend(left?);
        Ok(all)
    })
}

fn joined(ended: std::thread::Result<Result<Vec<String>, RunError>>) -> Result<Vec<String>, RunError> {
    ended.unwrap_or(Err(RunError::Answer { request: "apply changes" }))
}

/// Changes settings, says so, and undoes them when nobody is there any more who could say that it is done.
fn hold(
    ground: &SettingGround<'_>,
    changes: &[SettingChange],
    made: &Sender<Vec<SettingHeld>>,
    is_done: &Receiver<()>,
) -> Result<Vec<String>, RunError> {
    (ground.enter)().map_err(|source| RunError::Process {
        operation: "enter",
        object: "the namespace of settings".into(),
        source,
    })?;
    let held = ground.tuning.hold(&ground.host, changes, PATIENCE)?;
    // Whoever asked waits for it.
    let _ = made.send(held.settings.clone());
    let _ = is_done.recv();
    ground.tuning.let_go(held)
}
