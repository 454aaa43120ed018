//! A journal as a file: complete before it gets its name, then appended to, read without trust.
//!
//! It is opened by name once, and from then on used by its descriptor, wherever it is moved to.

use super::frame::{self, Chain};
use super::record::JournalRecord;
use super::transaction::Transaction;
use crate::error::TuneError;
use crate::folder;
use crate::store::{Store, StoreSection};
use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Longest journal that is read. Unit: bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Room that is reserved for what follows the intents, for each of them. Unit: bytes.
const ROOM_PER_INTENT: u64 = 4096;

/// Room that is reserved for the rest. Unit: bytes.
const ROOM: u64 = 16 * 1024;

/// A journal that is appended to.
#[derive(Debug)]
pub(crate) struct JournalFile {
    file: File,
    store: Arc<Store>,
    section: StoreSection,
    name: String,
    chain: Chain,
    length: u64,
}

impl JournalFile {
    /// Writes `records` into a new journal in `open/`, and puts it on the disk before it gets its name `ID.wal`.
    pub(crate) fn create(
        store: &Arc<Store>,
        id: &str,
        records: &[JournalRecord],
    ) -> Result<JournalFile, TuneError> {
        let mut chain = Chain::default();
        let text: String = records.iter().map(|record| chain.frame(&json(record))).collect();
        JournalFile::put(store, id, text.as_bytes(), chain)
    }

    /// Makes a journal in `open/` of another store that says the same.
    pub(crate) fn duplicate(&self, store: &Arc<Store>) -> Result<JournalFile, TuneError> {
        let mut bytes = bounded(&self.file).map_err(TuneError::io("read", &self.path()))?;
        bytes.truncate(usize::try_from(self.length).unwrap_or(usize::MAX));
        JournalFile::put(store, self.id(), &bytes, self.chain.clone())
    }

    fn put(store: &Arc<Store>, id: &str, bytes: &[u8], chain: Chain) -> Result<JournalFile, TuneError> {
        let folder = store.section(StoreSection::Open);
        let (draft, name) = (format!("{id}.new"), format!("{id}.wal"));
        let place = folder.path().join(&draft);
        let file = folder.open_file(&draft, OFlags::CREATE | OFlags::EXCL | OFlags::RDWR);
        let file = file.map_err(TuneError::not_durable("create", &place))?;
        let filled = fill(&file, bytes, &place)
            .and_then(|()| folder.rename(&draft, &name).map_err(TuneError::not_durable("rename", &place)));
        if filled.is_err() {
            // Nothing was written to any setting yet, so an unfinished draft is no loss.
            let _ = folder.remove(&draft);
        }
        filled?;
        if let Err(error) = folder.sync() {
            let _ = folder.remove(&name);
            return Err(TuneError::not_durable("sync folder", folder.path())(error));
        }
        // Its guardian takes the lock.
        let _ = file.unlock();
        let (store, length) = (Arc::clone(store), bytes.len() as u64);
        Ok(JournalFile { file, store, section: StoreSection::Open, name, chain, length })
    }

    /// Opens a journal to append to it, after the last frame that is whole.
    pub(crate) fn open(
        store: &Arc<Store>,
        section: StoreSection,
        name: &str,
    ) -> Result<(JournalFile, Option<Transaction>), TuneError> {
        let folder = store.section(section);
        let path = folder.path().join(name);
        let file = folder.open_file(name, OFlags::RDWR).map_err(TuneError::io("open", &path))?;
        let (store, name) = (Arc::clone(store), name.to_owned());
        let mut journal = JournalFile { file, store, section, name, chain: Chain::default(), length: 0 };
        let transaction = journal.reread().map_err(TuneError::io("read", &path))?;
        Ok((journal, transaction))
    }

    /// Reads it once more, since others may have appended to it.
    ///
    /// # Errors
    /// It cannot be read, or was written by a newer version.
    pub(crate) fn reread(&mut self) -> io::Result<Option<Transaction>> {
        let bytes = bounded(&self.file)?;
        if frame::is_newer(&bytes) {
            return Err(io::Error::other("it was written by a newer version of sysdyno"));
        }
        let frames = frame::read(&bytes);
        let transaction = sum(&frames.texts);
        (self.length, self.chain) = (frames.length as u64, frames.chain);
        Ok(transaction)
    }

    /// Where it was when it was opened or moved last.
    pub(crate) fn path(&self) -> PathBuf {
        self.store.section(self.section).path().join(&self.name)
    }

    /// Its name, without the ending.
    pub(crate) fn id(&self) -> &str {
        self.name.trim_end_matches(".wal")
    }

    /// Takes its own lock as soon as it is free, for as long as this value lives.
    pub(crate) fn lock(&self) -> Result<(), TuneError> {
        self.file.lock().map_err(TuneError::io("lock", &self.path()))
    }

    /// Takes its own lock; whether somebody else has it, which is its guardian.
    pub(crate) fn is_guarded(&self) -> bool {
        matches!(self.file.try_lock(), Err(TryLockError::WouldBlock))
    }

    /// Whether its path leads to it.
    pub(crate) fn is_in_place(&self) -> bool {
        folder::is_at(&self.path(), &self.file)
    }

    /// Appends a record, which then survives the death of this process.
    ///
    /// # Errors
    /// It could not be written; a part of it that is there is taken away again, if that is possible.
    pub(crate) fn append(&mut self, record: &JournalRecord) -> Result<(), TuneError> {
        let mut chain = self.chain.clone();
        let frame = chain.frame(&json(record));
        let written = self.file.set_len(self.length);
        if let Err(error) = written.and_then(|()| self.file.write_all_at(frame.as_bytes(), self.length)) {
            // A torn frame ends the reading where it begins, so that what stays of it does no harm.
            let _ = self.file.set_len(self.length);
            return Err(TuneError::io("write", &self.path())(error));
        }
        self.length += frame.len() as u64;
        self.chain = chain;
        Ok(())
    }

    /// Appends a record, which then survives the death of the host.
    pub(crate) fn append_durably(&mut self, record: &JournalRecord) -> Result<(), TuneError> {
        self.append(record)?;
        self.file.sync_data().map_err(TuneError::io("sync", &self.path()))
    }

    /// Moves the journal to another section of its store, wherever that is now.
    pub(crate) fn move_to(&mut self, section: StoreSection) -> Result<(), TuneError> {
        let (from, to) = (self.store.section(self.section), self.store.section(section));
        let failed = TuneError::io("move", &self.path());
        if !from.has(&self.name, &self.file) {
            return Err(failed(io::ErrorKind::NotFound.into()));
        }
        from.move_file(&self.name, to).map_err(failed)?;
        self.section = section;
        Ok(())
    }

    /// Removes the journal, if it is still what its name leads to.
    pub(crate) fn remove(&self) -> Result<(), TuneError> {
        let folder = self.store.section(self.section);
        if !folder.has(&self.name, &self.file) {
            return Ok(());
        }
        folder.remove(&self.name).and_then(|()| folder.sync()).map_err(TuneError::io("remove", &self.path()))
    }
}

/// Writes a draft, and puts it on the disk with room for what follows.
fn fill(file: &File, bytes: &[u8], place: &Path) -> Result<(), TuneError> {
    let failed = TuneError::not_durable;
    // Nobody takes it for a draft that was left behind.
    file.lock().map_err(failed("lock", place))?;
    file.write_all_at(bytes, 0).map_err(failed("write", place))?;
    let length = bytes.len() as u64;
    let frames_count = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    // What settings read back as is written twice at most.
    let room = ROOM + ROOM_PER_INTENT * frames_count + 2 * length;
    match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, length, room) {
        // Where room cannot be reserved, appending may fail, which is provided for.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
        Err(error) => return Err(failed("reserve room for", place)(error.into())),
    }
    file.sync_data().map_err(failed("sync", place))
}

/// Reads a journal; `None` if it has no begin that can be read.
///
/// # Errors
/// The file cannot be opened or read.
pub(crate) fn read(path: &Path) -> io::Result<Option<Transaction>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    Ok(sum(&frame::read(&bounded(&file)?).texts))
}

/// Whether a guardian holds the lock of this journal. A journal that moved away meanwhile needs none.
pub(crate) fn is_guarded(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty()).map(File::from);
    file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// What the texts of frames add up to. A frame that is whole, but that this version does not know, ends the reading.
fn sum(texts: &[&str]) -> Option<Transaction> {
    let records = texts.iter().map_while(|text| serde_json::from_str(text).ok()).collect();
    Transaction::of(records)
}

/// All bytes of a file, from its beginning.
fn bounded(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    FromStart { file, at: 0 }.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("it is longer than 16 MiB"));
    }
    Ok(bytes)
}

/// Reads a file from its beginning, wherever others have read to.
struct FromStart<'a> {
    file: &'a File,
    at: u64,
}

impl Read for FromStart<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read_at(into, self.at)?;
        self.at += length as u64;
        Ok(length)
    }
}

fn json(record: &JournalRecord) -> String {
    serde_json::to_string(record).expect("records hold only texts, integers and lists of them")
}
