//! The folder of the journals, and its locks.
//!
//! Two locks, both released by the kernel when their holder dies. `lock` is held while settings are written. A guardian
//! holds its journal's own lock for as long as it lives: a journal in `open/` that is not locked has no guardian.

use crate::error::TuneError;
use crate::files::{check_owner, make_folder};
use crate::journal::Journal;
use rustix::fs::{Mode, OFlags};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Where state is kept unless something else is asked for.
const STATE: &str = "/var/lib/sysdyno";

/// The folder of the journals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateFolder {
    path: PathBuf,
}

/// `lock`, held.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// What lies in `open/`.
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

    pub(crate) fn open(&self) -> PathBuf {
        self.path.join("open")
    }

    pub(crate) fn done(&self) -> PathBuf {
        self.path.join("done")
    }

    pub(crate) fn damaged(&self) -> PathBuf {
        self.path.join("damaged")
    }

    /// Makes what is missing, refuses what others could have written.
    pub(crate) fn prepare(&self) -> Result<(), TuneError> {
        for folder in [&self.path, &self.open(), &self.done(), &self.damaged()] {
            make_folder(folder)?;
            check_owner(folder)?;
        }
        Ok(())
    }

    /// Takes `lock`, or says who holds it.
    pub(crate) fn try_lock(&self) -> Result<Lock, TuneError> {
        let (path, file) = self.lock_file()?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut owner = String::new();
                // Who it is makes the message better; that it is held is enough.
                let _ = Read::take(&file, 64).read_to_string(&mut owner);
                let owner = owner.trim();
                let owner = if owner.is_empty() { "another process" } else { owner };
                return Err(TuneError::Busy { cause: format!("{owner} is changing its settings") });
            }
            Err(TryLockError::Error(error)) => return Err(TuneError::not_durable("lock", &path)(error)),
        }
        Ok(owned(file))
    }

    /// Takes `lock` as soon as it is free.
    pub(crate) fn lock(&self) -> Result<Lock, TuneError> {
        let (path, file) = self.lock_file()?;
        file.lock().map_err(TuneError::not_durable("lock", &path))?;
        Ok(owned(file))
    }

    fn lock_file(&self) -> Result<(PathBuf, File), TuneError> {
        let path = self.path.join("lock");
        let flags = OFlags::CREATE | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let opened = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR);
        let file = opened.map_err(|error| TuneError::not_durable("open", &path)(error.into()))?;
        Ok((path, File::from(file)))
    }

    /// Journals in a folder, oldest first; none if the folder is not there.
    pub(crate) fn journals(folder: &Path) -> Result<Vec<PathBuf>, TuneError> {
        let mut found = with_ending(folder, "wal").map_err(TuneError::io("list", folder))?;
        found.sort();
        Ok(found)
    }

    /// Removes drafts: nothing was written on their behalf.
    pub(crate) fn remove_drafts(&self) -> Result<(), TuneError> {
        for path in with_ending(&self.open(), "new").map_err(TuneError::io("list", &self.open()))? {
            fs::remove_file(&path).map_err(TuneError::io("remove", &path))?;
        }
        Ok(())
    }

    /// What lies in `open/`; nothing if it cannot be looked at.
    pub fn unfinished(&self) -> Unfinished {
        let mut unfinished = Unfinished::default();
        for path in StateFolder::journals(&self.open()).unwrap_or_default() {
            match is_guarded(&path) {
                true => unfinished.guarded_count += 1,
                false => unfinished.abandoned_count += 1,
            }
        }
        unfinished
    }
}

fn with_ending(folder: &Path, ending: &str) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    Ok(paths.into_iter().filter(|path| path.extension().is_some_and(|found| found == ending)).collect())
}

/// Whether a guardian holds the lock of this journal. A journal that moved away meanwhile needs none.
pub(crate) fn is_guarded(path: &Path) -> bool {
    match Journal::open(path) {
        Ok((journal, _)) => matches!(journal.file().try_lock_shared(), Err(TryLockError::WouldBlock)),
        Err(_) => false,
    }
}

/// The lock file with who holds it written into it.
fn owned(mut file: File) -> Lock {
    // For messages only.
    let _ =
        file.set_len(0).and_then(|()| file.write_all(format!("process {}\n", std::process::id()).as_bytes()));
    Lock { _file: file }
}
