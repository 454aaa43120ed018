//! Where second copies of open journals are stored, so that a trial is undone even if its state folder is lost.
//!
//! The location depends only on the host and the user, not on the trial's state folder: so a recovery at boot, and any later
//! command, finds it.

use crate::error::TuneError;
use crate::journal;
use crate::roots::TuneRoots;
use crate::store::{self, Store, StoreSection};
use std::env;
use std::io;
use std::path::{Path, PathBuf};

/// The place of root, below the root of the tree.
const SPOOL: &str = "/var/spool/sysdyno/tune";

/// The place of other users, below their folder of state.
const OF_USER: &str = "sysdyno/tune-spool";

/// Where the second copies of a tree are.
pub(crate) fn path(roots: &TuneRoots) -> PathBuf {
    if !roots.is_host() || rustix::process::geteuid().is_root() {
        return roots.place(SPOOL);
    }
    let set = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = set("XDG_STATE_HOME").or_else(|| set("HOME").map(|home| home.join(".local/state")));
    // Without a home the refusal names the place that only root may use.
    state.map_or_else(|| roots.place(SPOOL), |state| state.join(OF_USER))
}

/// Second copies of open trials, for those who only look; none for users who may not.
pub(crate) fn open_copies(roots: &TuneRoots) -> Vec<PathBuf> {
    store::journals(&path(roots).join(StoreSection::Open.name())).unwrap_or_default()
}

/// How many trials have no guardian any more, whichever state folder they were made with.
pub fn abandoned_count(roots: &TuneRoots) -> usize {
    open_copies(roots).iter().filter(|path| !journal::is_guarded(path)).count()
}

/// Takes hold of the second copies beside a state folder, with which they must have nothing in common.
///
/// # Errors
/// Somebody else could write to the place or move it, or it cannot be made.
pub(crate) fn hold(roots: &TuneRoots, state: &Store) -> Result<Store, TuneError> {
    let path = path(roots);
    let spool = Store::make(&path)?;
    if is_within(spool.path(), state.path()) || is_within(state.path(), spool.path()) {
        let cause = format!("the second copies of its journals would be at '{}'", spool.path().display());
        return Err(TuneError::not_durable("use state folder", state.path())(io::Error::other(cause)));
    }
    Ok(spool)
}

/// Takes hold of the second copies, if there are any.
///
/// # Errors
/// Somebody else could write to the place or move it.
pub(crate) fn hold_if_there(roots: &TuneRoots) -> Result<Option<Store>, TuneError> {
    Store::open(&path(roots))
}

fn is_within(one: &Path, other: &Path) -> bool {
    one.starts_with(other)
}
