//! Finds trials by their second copies: those of lost state folders, and those of other state folders.

use super::{Recovery, recover_abandoned, recover_one};
use crate::error::TuneError;
use crate::journal::{JournalFile, Transaction, Twin};
use crate::roots::TuneRoots;
use crate::spool;
use crate::state::StateFolder;
use crate::store::{PATIENCE, Store, StoreSection};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// What became of the journal that a second copy belongs to.
enum Standing {
    /// It is open in this state folder.
    Open(Arc<Store>),
    /// It is over.
    Over,
    /// It is not where it was, or that place cannot be trusted or read.
    Lost,
}

/// A second copy of this name that satisfies `is_of_it`: of an open trial, or of one that was undone without its journal.
pub(super) fn find(
    spool: &Arc<Store>,
    name: &str,
    is_of_it: impl Fn(&Transaction) -> bool,
) -> Option<JournalFile> {
    [StoreSection::Open, StoreSection::Done].into_iter().find_map(|section| {
        let (journal, transaction) = JournalFile::open(spool, section, name).ok()?;
        transaction.is_some_and(|found| is_of_it(&found)).then_some(journal)
    })
}

/// Undoes the trials whose state folder is lost and whose guardian is dead.
///
/// # Errors
/// The copies cannot be listed, or somebody else is at them.
pub(crate) fn recover_lost(spool: &Arc<Store>, roots: &TuneRoots) -> Result<Vec<Recovery>, TuneError> {
    let mut recovered = Vec::new();
    let mut lock = None;
    for name in spool.journals(StoreSection::Open)? {
        let Some((copy, transaction)) = abandoned(spool, &name) else { continue };
        match standing(transaction.as_ref(), &name) {
            Standing::Open(_) => continue,
            Standing::Over => copy.remove()?,
            Standing::Lost => {
                lock = match lock {
                    None => Some(spool.lock("recover", PATIENCE)?),
                    held => held,
                };
                let cause = transaction.and_then(|found| found.begin.state).map(|state| lost(&state));
                // Somebody else may have undone it while this one waited for the lock: it says so then.
                recovered.push(recover_one(&mut Twin::of(None, Some(copy)), roots, cause.as_deref())?);
            }
        }
    }
    drop(lock);
    Ok(recovered)
}

/// Why a trial is undone whose state folder is not there.
pub(crate) fn lost(state: &str) -> String {
    format!("its state folder '{state}' was moved, removed, or replaced")
}

/// Undoes the trials whose guardian is dead of all state folders but `own`, lost or not.
///
/// # Errors
/// The second copies cannot be used.
pub(super) fn recover_all(own: &StateFolder, roots: &TuneRoots) -> Result<Vec<Recovery>, TuneError> {
    let Some(spool) = spool::hold_if_there(roots)?.map(Arc::new) else { return Ok(Vec::new()) };
    let mut recovered = recover_lost(&spool, roots)?;
    // One that was found by several of its trials is recovered once; the own one was.
    let mut known: BTreeSet<PathBuf> =
        own.hold_if_there().ok().flatten().map(|own| own.path().to_owned()).into_iter().collect();
    for name in spool.journals(StoreSection::Open)? {
        let Some((copy, transaction)) = abandoned(&spool, &name) else { continue };
        let Standing::Open(state) = standing(transaction.as_ref(), &name) else { continue };
        // Its lock was only asked for.
        drop(copy);
        if !known.insert(state.path().to_owned()) {
            continue;
        }
        let recovered_there =
            state.lock("recover", PATIENCE).and_then(|_lock| recover_abandoned(&state, Some(&spool), roots));
        match recovered_there {
            Ok(there) => recovered.extend(there),
            Err(error) => recovered.push(Recovery::impossible(name.trim_end_matches(".wal"), &error)),
        }
    }
    Ok(recovered)
}

/// A second copy that no guardian holds, with what it says; it is locked from then on.
fn abandoned(spool: &Arc<Store>, name: &str) -> Option<(JournalFile, Option<Transaction>)> {
    // One of a newer version is left to that one.
    let (mut copy, _) = JournalFile::open(spool, StoreSection::Open, name).ok()?;
    if copy.is_guarded() || !copy.is_in_place() {
        return None;
    }
    let transaction = copy.reread().ok()?;
    Some((copy, transaction))
}

fn standing(copy: Option<&Transaction>, name: &str) -> Standing {
    let state = copy.and_then(|copy| copy.begin.state.as_deref());
    let store = state.and_then(|state| StateFolder::at(state).hold_if_there().ok().flatten());
    let (Some(copy), Some(store)) = (copy, store.map(Arc::new)) else { return Standing::Lost };
    let begins_the_same = |found: &Transaction| found.begin == copy.begin;
    match JournalFile::open(&store, StoreSection::Open, name) {
        // A damaged one is recovered in its own folder too, where this copy helps.
        Ok((_, found)) if found.as_ref().is_none_or(begins_the_same) => return Standing::Open(store),
        _ => {}
    }
    match JournalFile::open(&store, StoreSection::Done, name) {
        Ok((_, Some(found))) if begins_the_same(&found) && found.is_over() => Standing::Over,
        _ => Standing::Lost,
    }
}

/// Refuses a trial while another one of the same state folder, which was lost, is not over.
pub(crate) fn refuse_lost(spool: &Arc<Store>, state: &Store) -> Result<(), TuneError> {
    for name in spool.journals(StoreSection::Open)? {
        let Ok((_, Some(found))) = JournalFile::open(spool, StoreSection::Open, &name) else { continue };
        if found.begin.state.as_deref() == state.path().to_str() {
            let id = name.trim_end_matches(".wal");
            let cause = format!(
                "trial {id} is still open: {}\nhint: its guardian is undoing it now; without one, use \
                 `sysdyno tune recover`",
                lost(&state.path().display().to_string())
            );
            return Err(TuneError::Busy { cause });
        }
    }
    Ok(())
}
