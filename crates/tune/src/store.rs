//! A folder of journals with its three sections and its lock: the state folder, and the folder of second copies.
//!
//! There are two kinds of locks; the kernel releases both when their holder dies. `lock` is held while settings are written.
//! A guardian holds its journal's own lock as long as it lives: an unlocked journal in `open/` has no guardian.

use crate::error::TuneError;
use crate::folder::HeldFolder;
use rustix::fs::OFlags;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often to retry a lock that is held.
const AGAIN: Duration = Duration::from_millis(10);

/// How long commands wait for a lock.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Longest text of a lock that is read. Unit: bytes.
const MAX_HOLDER: usize = 64;

/// A folder of journals, held open.
#[derive(Debug)]
pub(crate) struct Store {
    top: HeldFolder,
    open: HeldFolder,
    done: HeldFolder,
    damaged: HeldFolder,
    lock: File,
}

/// Where in a store a journal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreSection {
    /// Trials that are not over.
    Open,
    /// Those that are.
    Done,
    /// Journals that cannot be read.
    Damaged,
}

/// The lock of a store, held.
#[derive(Debug)]
pub(crate) struct Lock<'a> {
    file: &'a File,
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // The kernel releases it at the latest when the file is closed.
        let _ = self.file.unlock();
    }
}

impl StoreSection {
    pub(crate) fn name(self) -> &'static str {
        match self {
            StoreSection::Open => "open",
            StoreSection::Done => "done",
            StoreSection::Damaged => "damaged",
        }
    }
}

impl Store {
    /// Opens a store, and makes what is missing of it.
    ///
    /// # Errors
    /// Somebody else could write to it or move it, or it cannot be made.
    pub(crate) fn make(path: &Path) -> Result<Store, TuneError> {
        let top = HeldFolder::make(path)?;
        // All of it is in the same folder, whatever its path leads to by now.
        let section = |section: StoreSection| top.make_within(section.name());
        let [open, done, damaged] =
            [section(StoreSection::Open)?, section(StoreSection::Done)?, section(StoreSection::Damaged)?];
        let place = top.path().join("lock");
        let lock = top.open_file("lock", OFlags::CREATE | OFlags::RDWR);
        let lock = lock.map_err(TuneError::not_durable("open", &place))?;
        Ok(Store { top, open, done, damaged, lock })
    }

    /// Opens a store; `None` if there is none with any section in it.
    ///
    /// # Errors
    /// As for [`Store::make`].
    pub(crate) fn open(path: &Path) -> Result<Option<Store>, TuneError> {
        match HeldFolder::open(&path.join(StoreSection::Open.name()))? {
            Some(_) => Store::make(path).map(Some),
            None => Ok(None),
        }
    }

    /// Where it was when it was opened.
    pub(crate) fn path(&self) -> &Path {
        self.top.path()
    }

    pub(crate) fn section(&self, section: StoreSection) -> &HeldFolder {
        match section {
            StoreSection::Open => &self.open,
            StoreSection::Done => &self.done,
            StoreSection::Damaged => &self.damaged,
        }
    }

    /// Whether the path that it was opened by still leads to it.
    pub(crate) fn is_in_place(&self) -> bool {
        self.open.is_in_place()
    }

    /// Names of the journals in a section, oldest first.
    ///
    /// # Errors
    /// It cannot be listed.
    pub(crate) fn journals(&self, section: StoreSection) -> Result<Vec<String>, TuneError> {
        let folder = self.section(section);
        folder.names("wal").map_err(TuneError::io("list", folder.path()))
    }

    /// Whether a journal of this name is in any section.
    pub(crate) fn knows(&self, id: &str) -> bool {
        let name = format!("{id}.wal");
        [&self.open, &self.done, &self.damaged].into_iter().any(|folder| folder.holds(&name))
    }

    /// Removes drafts that nobody writes any more: no setting was written on their behalf.
    pub(crate) fn remove_drafts(&self) -> Result<(), TuneError> {
        for name in self.open.names("new").map_err(TuneError::io("list", self.open.path()))? {
            // Who writes one holds its lock.
            let file = self.open.open_file(&name, OFlags::RDWR);
            if file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock))) {
                continue;
            }
            match self.open.remove(&name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => removed.map_err(TuneError::io("remove", &self.open.path().join(&name)))?,
            }
        }
        Ok(())
    }

    /// Takes the lock, for which it waits so long at most, to do what `task` says.
    ///
    /// # Errors
    /// [`TuneError::Busy`] with who holds it.
    pub(crate) fn lock(&self, task: &str, patience: Duration) -> Result<Lock<'_>, TuneError> {
        let mut waited = Duration::ZERO;
        loop {
            match self.lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if waited < patience => {
                    std::thread::sleep(AGAIN);
                    waited += AGAIN;
                }
                Err(TryLockError::WouldBlock) => return Err(self.busy(waited)),
                Err(TryLockError::Error(error)) => {
                    return Err(TuneError::not_durable("lock", &self.path().join("lock"))(error));
                }
            }
        }
        // For messages only.
        let text = format!("process {} ({task})\n", std::process::id());
        let _ = self.lock.set_len(0).and_then(|()| self.lock.write_all_at(text.as_bytes(), 0));
        Ok(Lock { file: &self.lock })
    }

    fn busy(&self, waited: Duration) -> TuneError {
        // Who it is makes the message better; that it is held is enough.
        let mut text = [0; MAX_HOLDER];
        let length = self.lock.read_at(&mut text, 0).unwrap_or(0);
        let text = String::from_utf8_lossy(&text[..length]);
        let holder = Some(text.trim()).filter(|text| !text.is_empty());
        let holder = holder.unwrap_or("another process");
        let since = if waited.is_zero() {
            String::new()
        } else {
            format!(" and was still busy after {} s", waited.as_secs())
        };
        TuneError::Busy { cause: format!("{holder} is changing its settings{since}") }
    }
}

/// Journals in a folder, oldest first; none if the folder is not there.
pub(crate) fn journals(folder: &Path) -> Result<Vec<PathBuf>, TuneError> {
    let listed = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.and_then(|entries| {
            entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()
        }),
    };
    let mut found = listed.map_err(TuneError::io("list", folder))?;
    found.retain(|path| path.extension().is_some_and(|ending| ending == "wal"));
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_waits_too_long_for_the_lock_is_told_who_holds_it() {
        let top = tempfile::tempdir().expect("a folder");
        let [one, other] = [(); 2].map(|()| Store::make(&top.path().join("tune")).expect("is made"));
        let held = one.lock("undo", Duration::ZERO).expect("is free");
        let told = other.lock("commit", Duration::from_millis(50)).expect_err("is held").to_string();
        let holder =
            format!("process {} (undo) is changing its settings and was still busy", std::process::id());
        assert!(told.contains(&holder), "{told}");
        drop(held);
        other.lock("commit", Duration::ZERO).expect("is free again");
    }

    #[test]
    fn a_draft_that_is_being_written_stays() {
        let top = tempfile::tempdir().expect("a folder");
        let store = Store::make(&top.path().join("tune")).expect("is made");
        let draft = |name: &str| {
            store.section(StoreSection::Open).open_file(name, OFlags::CREATE | OFlags::RDWR).expect("is made")
        };
        let (_left, written) = (draft("left.new"), draft("written.new"));
        written.lock().expect("locks");
        store.remove_drafts().expect("removes");
        assert_eq!(store.section(StoreSection::Open).names("new").expect("lists"), ["written.new"]);
    }
}
