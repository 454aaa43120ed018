//! Ends trials: by undo or commit, by a guardian, or by recovery after a crash.
//!
//! [`intents`] restores settings; [`copies`] finds trials whose state folder is lost; this module puts the steps in order.

mod copies;
mod guarded;
mod intents;

pub use guarded::GUARDIAN;

pub(crate) use copies::{lost, recover_lost, refuse_lost};

use crate::error::TuneError;
use crate::journal::{JournalFile, JournalRecord, Phase, Transaction, Twin, UndoOutcome};
use crate::roots::TuneRoots;
use crate::spool;
use crate::state::StateFolder;
use crate::store::{Lock, PATIENCE, Store, StoreSection};
use std::sync::Arc;

/// What became of one journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Recovery {
    /// Its name.
    pub id: String,
    /// What became of each setting.
    pub restored: Vec<Restored>,
    /// Whether its journal is damaged, so that it does not say what else was changed.
    pub is_damaged: bool,
    /// Why it was undone before its time; `None` if it was not.
    pub cause: Option<String>,
    /// What else there is to say: damage, a journal that could not be closed.
    pub notes: Vec<String>,
}

/// What became of one setting.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Restored {
    /// The setting.
    pub key: String,
    /// What became of it.
    pub outcome: UndoOutcome,
    /// What it was before the trial.
    pub old: String,
    /// What the trial had made of it.
    pub new: String,
    /// What was found; `None` if it could not be read.
    pub found: Option<String>,
    /// Why it failed; `None` unless it did.
    pub cause: Option<String>,
}

impl Recovery {
    /// Whether every setting is what it was.
    pub fn is_clean(&self) -> bool {
        !self.is_damaged && self.restored.iter().all(|restored| restored.outcome.is_clean())
    }

    /// What could not even be begun.
    fn impossible(id: &str, error: &TuneError) -> Recovery {
        Recovery { id: id.into(), is_damaged: true, notes: vec![error.to_string()], ..Recovery::default() }
    }
}

/// The state folder and its second copies, held for a task.
struct Stores {
    state: Arc<Store>,
    spool: Arc<Store>,
}

impl Stores {
    fn hold(state: &StateFolder, roots: &TuneRoots) -> Result<Stores, TuneError> {
        let state = state.hold()?;
        let spool = spool::hold(roots, &state)?;
        Ok(Stores { state: Arc::new(state), spool: Arc::new(spool) })
    }

    fn lock(&self, task: &str) -> Result<Lock<'_>, TuneError> {
        self.state.lock(task, PATIENCE)
    }

    fn recover_abandoned(&self, roots: &TuneRoots) -> Result<Vec<Recovery>, TuneError> {
        recover_abandoned(&self.state, Some(&self.spool), roots)
    }
}

/// Undoes every trial whose guardian is dead, whichever state folder it was made with.
///
/// # Errors
/// The state folder cannot be used, somebody else is at it, or a journal is of a newer version.
pub fn recover(state: &StateFolder, roots: &TuneRoots) -> Result<Vec<Recovery>, TuneError> {
    let own = recover_own(state, roots);
    // What is wrong with one state folder keeps no trial of another one from being undone.
    let others = copies::recover_all(state, roots);
    match (own, others) {
        (Ok(own), Ok(others)) => Ok([own, others].concat()),
        (Err(error), Ok(recovered)) | (Ok(recovered), Err(error)) if !recovered.is_empty() => {
            Ok([recovered, vec![Recovery::impossible("", &error)]].concat())
        }
        (Err(error), _) | (_, Err(error)) => Err(error),
    }
}

fn recover_own(state: &StateFolder, roots: &TuneRoots) -> Result<Vec<Recovery>, TuneError> {
    let Some(store) = state.hold_if_there()?.map(Arc::new) else { return Ok(Vec::new()) };
    let spool = spool::hold_if_there(roots)?.map(Arc::new);
    let _lock = store.lock("recover", PATIENCE)?;
    recover_abandoned(&store, spool.as_ref(), roots)
}

/// Undoes every trial of a state folder whose guardian is dead; the caller holds its lock.
pub(crate) fn recover_abandoned(
    state: &Arc<Store>,
    spool: Option<&Arc<Store>>,
    roots: &TuneRoots,
) -> Result<Vec<Recovery>, TuneError> {
    state.remove_drafts()?;
    spool.map_or(Ok(()), |spool| spool.remove_drafts())?;
    let mut recoveries = Vec::new();
    for name in state.journals(StoreSection::Open)? {
        let mut twin = twin_of(state, spool, (StoreSection::Open, &name))?;
        if !twin.is_guarded() {
            recoveries.push(recover_one(&mut twin, roots, None)?);
        }
    }
    Ok(recoveries)
}

/// A journal of a section with its second copy.
///
/// # Errors
/// It can be read neither itself nor by its copy.
pub(crate) fn twin_of(
    state: &Arc<Store>,
    spool: Option<&Arc<Store>>,
    (section, name): (StoreSection, &str),
) -> Result<Twin, TuneError> {
    let main = JournalFile::open(state, section, name);
    let own = main.as_ref().ok().and_then(|(_, transaction)| transaction.as_ref());
    let is_of_it = |found: &Transaction| match own {
        Some(own) => found.begin == own.begin,
        None => found.begin.state.as_deref() == state.path().to_str(),
    };
    let copy = spool.and_then(|spool| copies::find(spool, name, is_of_it));
    match main {
        Ok((main, _)) => Ok(Twin::of(Some(main), copy)),
        Err(_) if copy.is_some() => Ok(Twin::of(None, copy)),
        Err(error) => Err(error),
    }
}

/// Recovers one journal; the caller holds the lock.
pub(crate) fn recover_one(
    twin: &mut Twin,
    roots: &TuneRoots,
    cause: Option<&str>,
) -> Result<Recovery, TuneError> {
    let aside = twin.set_damaged_aside();
    let Some(transaction) = twin.reread() else {
        let path = twin.path();
        let id = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        twin.set_aside()?;
        let notes = vec![format!(
            "cannot read journal {id}; no setting was changed, and the journal is kept in \
                          'damaged'"
        )];
        return Ok(Recovery { id, is_damaged: true, notes, ..Recovery::default() });
    };
    let mut recovery = finish(twin, &transaction, roots, cause);
    recovery.notes.extend(aside.err().map(|error| error.to_string()));
    Ok(recovery)
}

/// Keeps the settings of the trial that is held.
///
/// # Errors
/// There is no such trial, or that it is kept could not be made durable: then it is still a trial.
pub fn commit(state: &StateFolder, roots: &TuneRoots, id: Option<&str>) -> Result<String, TuneError> {
    let stores = Stores::hold(state, roots)?;
    let _lock = stores.lock("commit")?;
    stores.recover_abandoned(roots)?;
    recover_lost(&stores.spool, roots)?;
    let mut twin = open_trial("commit", &stores, id)?;
    // A commit that died before it could move the journal is completed here.
    let held = twin.reread().filter(|held| matches!(held.phase, Phase::Held | Phase::Kept));
    let mut held = held.ok_or_else(|| no_trial("commit", "not all of its settings were written"))?;
    if held.phase == Phase::Held {
        twin.keep()?;
        held.phase = Phase::Kept;
    }
    twin.file(&held)?;
    Ok(held.begin.id)
}

/// Undoes the trial that is open, or a commitment that is named.
///
/// # Errors
/// There is none, or its journal cannot be used.
pub fn undo(state: &StateFolder, roots: &TuneRoots, id: Option<&str>) -> Result<Recovery, TuneError> {
    undo_here(state, roots, id).or_else(|error| match error {
        // The second copy and the guardian can do without it.
        TuneError::Io { .. } | TuneError::NotDurable { .. } => {
            let undone = guarded::undo(state, roots, id);
            undone.ok().flatten().ok_or(error)
        }
        error => Err(error),
    })
}

fn undo_here(state: &StateFolder, roots: &TuneRoots, id: Option<&str>) -> Result<Recovery, TuneError> {
    let stores = Stores::hold(state, roots)?;
    let _lock = stores.lock("undo")?;
    stores.state.remove_drafts()?;
    let lost = recover_lost(&stores.spool, roots)?;
    let mut twin = match (open_trial("undo", &stores, id), id) {
        (Ok(twin), _) => twin,
        (Err(error), id) => {
            let is_meant = |recovery: &Recovery| id.is_none_or(|id| id == recovery.id);
            match (lost.into_iter().find(is_meant), id) {
                (Some(recovery), _) => return Ok(recovery),
                (None, Some(id)) => reopen(&stores, id)?,
                (None, None) => return Err(error),
            }
        }
    };
    if twin.reread().is_some_and(|transaction| transaction.phase == Phase::Kept) {
        twin.append_durably(&JournalRecord::Reopen {})?;
    }
    recover_one(&mut twin, roots, None)
}

fn open_trial(operation: &'static str, stores: &Stores, id: Option<&str>) -> Result<Twin, TuneError> {
    let is_meant = |name: &String| id.is_none_or(|id| name.strip_suffix(".wal") == Some(id));
    let name = stores.state.journals(StoreSection::Open)?.into_iter().find(is_meant);
    let name = name.ok_or_else(|| match id {
        Some(id) => no_trial(operation, &format!("there is no open trial '{id}'")),
        None => no_trial(operation, "no trial is open\nhint: `sysdyno tune history` lists past trials"),
    })?;
    twin_of(&stores.state, Some(&stores.spool), (StoreSection::Open, &name))
}

/// Makes a trial of a commitment, so that it is undone whatever happens from here on.
fn reopen(stores: &Stores, id: &str) -> Result<Twin, TuneError> {
    let is_it = |name: &String| name.strip_suffix(".wal") == Some(id);
    let name = stores.state.journals(StoreSection::Done)?.into_iter().find(is_it);
    let name = name.ok_or_else(|| no_trial("undo", &format!("there is no trial '{id}'")))?;
    let mut twin = twin_of(&stores.state, None, (StoreSection::Done, &name))?;
    if twin.reread().is_none_or(|found| found.phase.is_undone()) {
        return Err(no_trial("undo", &format!("trial '{id}' was already undone")));
    }
    twin.complete(&stores.spool)?;
    twin.append_durably(&JournalRecord::Reopen {})?;
    twin.open_again()?;
    Ok(twin)
}

fn no_trial(operation: &'static str, cause: &str) -> TuneError {
    TuneError::NoTrial { operation, cause: cause.into() }
}

/// Restores what has to be restored and closes the journal; the caller holds the lock.
pub(crate) fn finish(
    twin: &mut Twin,
    transaction: &Transaction,
    roots: &TuneRoots,
    cause: Option<&str>,
) -> Recovery {
    let cause = cause.map(str::to_owned);
    let mut recovery = Recovery { id: transaction.begin.id.clone(), ..Recovery::default() };
    if transaction.begin.root != roots.path().display().to_string() {
        let about = &transaction.begin.root;
        recovery.notes.push(format!("journal {} is for another tree, '{about}'", recovery.id));
        return recovery;
    }
    if transaction.is_over() {
        recovery.notes.extend(twin.file(transaction).err().map(stays_open));
        return recovery;
    }
    recovery.cause.clone_from(&cause);
    recovery.restored = intents::restore_all(twin, transaction, roots);
    let section = if transaction.is_whole() {
        StoreSection::Done
    } else {
        recovery.is_damaged = true;
        recovery.notes.push(format!("journal {} is damaged; it is kept in 'damaged'", recovery.id));
        StoreSection::Damaged
    };
    if recovery.restored.iter().any(|restored| restored.outcome == UndoOutcome::Failed) {
        recovery.notes.push("the journal stays open: `sysdyno tune recover` retries".into());
        return recovery;
    }
    let end = JournalRecord::End { is_clean: recovery.is_clean(), cause };
    recovery.notes.extend(twin.end(&end, section).err().map(stays_open));
    recovery
}

fn stays_open(error: TuneError) -> String {
    format!("{error}; the journal stays open")
}

/// The boot that volatile settings belong to.
pub(crate) fn boot_id(roots: &TuneRoots) -> Result<String, TuneError> {
    let path = roots.place("/proc/sys/kernel/random/boot_id");
    let text = std::fs::read_to_string(&path).map_err(TuneError::io("read", &path))?;
    Ok(text.trim().to_owned())
}

#[cfg(test)]
mod copy_tests;
#[cfg(test)]
mod tests;
