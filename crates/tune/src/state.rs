//! The state folder: the default location of journals, and its contents.

use crate::error::TuneError;
use crate::journal;
use crate::roots::TuneRoots;
use crate::spool;
use crate::store::{Store, StoreSection, journals};
use std::fs;
use std::path::{Path, PathBuf};

/// The default state folder.
const STATE: &str = "/var/lib/sysdyno";

/// The folder of the journals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateFolder {
    path: PathBuf,
}

/// The contents of `open/`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// Trials whose guardian lives.
    pub guarded_count: usize,
    /// Trials whose guardian is dead: settings that are to be recovered.
    pub abandoned_count: usize,
}

impl StateFolder {
    /// `tune` below a state folder; the state folder of the system if there is none.
    pub fn below(state: Option<&Path>) -> StateFolder {
        StateFolder { path: state.unwrap_or(Path::new(STATE)).join("tune") }
    }

    /// The folder at this path, with `tune` at its end.
    pub(crate) fn at(path: impl Into<PathBuf>) -> StateFolder {
        StateFolder { path: path.into() }
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Takes hold of it; makes what is missing, refuses what others could have written or could move.
    pub(crate) fn hold(&self) -> Result<Store, TuneError> {
        Store::make(&self.path)
    }

    /// Takes hold of it, if it is there.
    pub(crate) fn hold_if_there(&self) -> Result<Option<Store>, TuneError> {
        Store::open(&self.path)
    }

    /// Journals of a section by their paths, oldest first; for those who only look.
    pub(crate) fn journals(&self, section: StoreSection) -> Result<Vec<PathBuf>, TuneError> {
        journals(&self.path.join(section.name()))
    }

    /// What is open of its trials, by their journals or else their second copies; nothing if it cannot be looked at.
    pub fn unfinished(&self, roots: &TuneRoots) -> Unfinished {
        let mut paths = self.journals(StoreSection::Open).unwrap_or_default();
        let own: Vec<_> = paths.iter().filter_map(|path| path.file_name().map(ToOwned::to_owned)).collect();
        let real = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let is_its = |path: &PathBuf| {
            let is_known = path.file_name().is_some_and(|name| own.iter().any(|known| known == name));
            let copy = journal::read(path).ok().flatten();
            let state = copy.and_then(|copy| copy.begin.state).map(PathBuf::from);
            !is_known && state.is_some_and(|state| state == self.path || state == real)
        };
        paths.extend(spool::open_copies(roots).into_iter().filter(is_its));
        let guarded_count = paths.iter().filter(|path| journal::is_guarded(path)).count();
        Unfinished { guarded_count, abandoned_count: paths.len() - guarded_count }
    }
}
