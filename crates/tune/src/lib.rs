//! Reversible settings of a host.
//!
//! Promise: this crate never writes a setting before its old value is durable. It is the only crate that changes a
//! host's settings, and it changes only those in its table ([`TUNABLES`]).
//!
//! Invariants, each with a test of its name:
//! 1. every write follows a durable intent that holds the value being replaced;
//! 2. there is one trial at a time;
//! 3. a restore can be killed and repeated at any point;
//! 4. a restore writes recorded old values to recorded settings, and nothing else;
//! 5. a trial is always undone; a committed change is never undone automatically;
//! 6. a torn or corrupt journal never causes a write;
//! 7. if a journal cannot be made durable, nothing is changed;
//! 8. a setting that something else has changed since is left alone.
//!
//! The journal is specified in `docs/reference/formats/journal.md`. Time is a parameter, processes are started by the caller
//! ([`ArmGuardian`], [`Services`],
//! [`FileSystems`]), and the roots of `/proc`, `/sys` and `/etc` are parameters too ([`TuneRoots`]).

mod apply;
mod blink;
mod cache;
mod error;
mod file_system;
mod files;
mod folder;
mod guard;
mod journal;
mod name;
mod netns;
mod persist;
mod plan;
mod process;
mod restore;
mod roots;
mod service;
mod setting;
mod spool;
mod state;
mod status;
mod store;
mod sys;
mod tell;
#[cfg(test)]
mod testing;
mod text;
mod tunable;
mod value;

pub use apply::{ArmGuardian, Armed, GuardOrder, HeldTrial, Now, TrialOrder, apply};
pub use blink::{BlinkError, blink};
pub use cache::drop_caches;
pub use error::{Refusal, TuneError};
pub use file_system::{FileSystem, FileSystems, PROGRAM_INPUT};
pub use folder::judge_folder;
pub use guard::{DETACH, GuardEnd, TrialGuard, resist_memory_shortage};
pub use journal::{Phase, UndoOutcome, frame};
pub use persist::{Overridden, Persisted, forget, persist};
pub use plan::{PlannedChange, Rival, TunePlan, plan};
pub use restore::{GUARDIAN, Recovery, Restored, commit, recover, undo};
pub use roots::TuneRoots;
pub use service::{FoundSetting, Service, Services};
pub use setting::{LimitedDisk, limited_disks};
pub use spool::abandoned_count;
pub use state::{StateFolder, Unfinished};
pub use status::{SettingNow, SettingsTrial, history, status, undo_lines};
pub use tell::{Terminal, tell};
pub use tunable::{EffectTime, Risk, Scope, TUNABLES, Tunable, find, never};
pub use value::ValueKind;
