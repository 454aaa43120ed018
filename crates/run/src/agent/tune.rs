//! Requests about settings of the host, carried out by `sysdyno-tune`.

use crate::clock;
use crate::error::RunError;
use crate::service::{Guardians, roots_with_programs};
use std::path::PathBuf;
use sysdyno_record::change::SettingChange;
use sysdyno_record::units::SpanNs;
use sysdyno_tune::{HeldTrial, Now, Persisted, Recovery, SettingsTrial, StateFolder, TrialOrder, TunePlan};

/// Something that is to be done about settings, and where.
#[derive(Clone, Debug)]
pub struct TuneRequest {
    /// Root of the settings: `/`, or a tree.
    pub root: PathBuf,
    /// The state folder; `None` for that of the system.
    pub state: Option<PathBuf>,
    /// What is to be done.
    pub task: TuneTask,
}

/// What is to be done about settings.
#[derive(Clone, Debug)]
pub enum TuneTask {
    /// Say what changes would do. Answer: [`TuneAnswer::Plan`].
    Plan {
        /// The changes.
        changes: Vec<SettingChange>,
    },
    /// Try changes, under a guardian. Answer: [`TuneAnswer::Held`] or [`TuneAnswer::Nothing`].
    Apply {
        /// The changes.
        changes: Vec<SettingChange>,
        /// After which time they are undone.
        deadline: SpanNs,
        /// This program, which the guardian runs.
        program: PathBuf,
        /// Its version.
        version: String,
        /// Whether they are undone before the deadline too, when the agent ends.
        lasts: Lasts,
    },
    /// Keep what is being tried. Answer: [`TuneAnswer::Kept`].
    Commit {
        /// The trial; `None` for the one that is open.
        id: Option<String>,
    },
    /// Undo what is being tried, or was kept. Answer: [`TuneAnswer::Recovered`].
    Undo {
        /// The trial; `None` for the one that is open.
        id: Option<String>,
    },
    /// Keep settings across reboots, in sysdyno's own file; current values do not change. Answer: [`TuneAnswer::Persisted`].
    Persist {
        /// The settings.
        changes: Vec<SettingChange>,
    },
    /// Take settings out of that file. Answer: [`TuneAnswer::Persisted`].
    Forget {
        /// Their names; all if there are none.
        keys: Vec<String>,
    },
    /// Undo what was left behind. Answer: [`TuneAnswer::Recovered`].
    Recover,
    /// Say which trials there are. Answer: [`TuneAnswer::Trials`].
    List {
        /// Those that are open, or those that are over.
        which: TrialKind,
    },
}

/// How long a trial lasts at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    /// Until its deadline.
    UntilDeadline,
    /// Until its deadline, or until the agent that made it ends, however it ends.
    WithAgent,
}

/// Which trials are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialKind {
    /// Open ones.
    Open,
    /// Those that are over.
    Over,
}

/// The result.
#[derive(Clone, Debug)]
pub enum TuneAnswer {
    /// What the changes would do.
    Plan(TunePlan),
    /// All settings are what they should become.
    Nothing,
    /// The changes are made, and a guardian watches.
    Held {
        /// The trial.
        id: String,
        /// What was done.
        plan: TunePlan,
        /// After which time it is undone.
        deadline: SpanNs,
    },
    /// The changes stay.
    Kept {
        /// The trial.
        id: String,
    },
    /// What is kept over a reboot now.
    Persisted(Persisted),
    /// What was undone.
    Recovered(Vec<Recovery>),
    /// Trials.
    Trials {
        /// In the order of their names.
        trials: Vec<SettingsTrial>,
        /// Now, on `CLOCK_BOOTTIME`, for their deadlines. Unit: nanoseconds.
        now_boot_ns: u64,
    },
}

impl TuneRequest {
    /// Does it on this host. A trial that lasts with its agent is put into `held`.
    pub(crate) fn carry_out(self, held: &mut Vec<HeldTrial>) -> Result<TuneAnswer, RunError> {
        let roots = roots_with_programs(self.root);
        let state = StateFolder::below(self.state.as_deref());
        Ok(match self.task {
            TuneTask::Plan { changes } => TuneAnswer::Plan(sysdyno_tune::plan(&changes, &roots)?),
            TuneTask::Apply { changes, deadline, program, version, lasts } => {
                let now = Now { boot_ns: clock::boottime_ns(), wall: clock::wall() };
                let order = TrialOrder {
                    roots: &roots,
                    state: &state,
                    changes: &changes,
                    deadline,
                    now,
                    tool: &version,
                };
                match sysdyno_tune::apply(&order, &mut Guardians::of(program))? {
                    None => TuneAnswer::Nothing,
                    Some(trial) => {
                        let (id, plan) = (trial.id.clone(), trial.plan.clone());
                        match lasts {
                            Lasts::UntilDeadline => drop(trial.detach()?),
                            Lasts::WithAgent => held.push(trial),
                        }
                        TuneAnswer::Held { id, plan, deadline }
                    }
                }
            }
            TuneTask::Commit { id } => {
                let id = sysdyno_tune::commit(&state, &roots, id.as_deref())?;
                held.retain(|trial| trial.id != id);
                TuneAnswer::Kept { id }
            }
            TuneTask::Undo { id } => {
                let recovery = sysdyno_tune::undo(&state, &roots, id.as_deref())?;
                held.retain(|trial| trial.id != recovery.id);
                TuneAnswer::Recovered(vec![recovery])
            }
            TuneTask::Persist { changes } => TuneAnswer::Persisted(sysdyno_tune::persist(&changes, &roots)?),
            TuneTask::Forget { keys } => TuneAnswer::Persisted(sysdyno_tune::forget(&keys, &roots)?),
            TuneTask::Recover => TuneAnswer::Recovered(sysdyno_tune::recover(&state, &roots)?),
            TuneTask::List { which } => {
                let list = match which {
                    TrialKind::Open => sysdyno_tune::status,
                    TrialKind::Over => sysdyno_tune::history,
                };
                TuneAnswer::Trials { trials: list(&state, &roots)?, now_boot_ns: clock::boottime_ns() }
            }
        })
    }
}
