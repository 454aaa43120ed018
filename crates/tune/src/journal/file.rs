//! A journal as a file: made whole before it gets its name, appended to, read with care.

use super::frame::{self, Chain};
use super::record::Record;
use super::transaction::Transaction;
use crate::error::TuneError;
use crate::files::{move_file, sync_folder};
use rustix::fs::{FallocateFlags, Mode, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Longest journal that is read. Unit: bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Room that is reserved for what follows the intents, for each of them. Unit: bytes.
const ROOM_PER_INTENT: u64 = 4096;

/// Room that is reserved for the rest. Unit: bytes.
const ROOM: u64 = 16 * 1024;

/// A journal that is appended to.
#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    path: PathBuf,
    chain: Chain,
    length: u64,
}

impl Journal {
    /// Writes `records` into a new journal in `folder`, and puts it on the disk before it gets its name `ID.wal`.
    pub(crate) fn create(folder: &Path, id: &str, records: &[Record]) -> Result<Journal, TuneError> {
        let draft = folder.join(format!("{id}.new"));
        let path = folder.join(format!("{id}.wal"));
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = rustix::fs::open(&draft, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|error| TuneError::not_durable("create", &draft)(error.into()))?;
        let mut journal =
            Journal { file: File::from(file), path: draft.clone(), chain: Chain::default(), length: 0 };
        let filled = journal.fill(records);
        if filled.is_err() {
            // Nothing was written to any setting yet, so an unfinished draft is no loss.
            let _ = std::fs::remove_file(&draft);
        }
        filled?;
        std::fs::rename(&draft, &path).map_err(TuneError::not_durable("rename", &draft))?;
        journal.path = path;
        sync_folder(folder)?;
        Ok(journal)
    }

    fn fill(&mut self, records: &[Record]) -> Result<(), TuneError> {
        let failed = TuneError::not_durable;
        let path = self.path.clone();
        let text: String = records.iter().map(|record| self.chain.frame(&json(record))).collect();
        self.file.write_all(text.as_bytes()).map_err(failed("write", &path))?;
        self.length = text.len() as u64;
        // What settings read back as is written twice at most.
        let room = ROOM + ROOM_PER_INTENT * records.len() as u64 + 2 * self.length;
        match rustix::fs::fallocate(&self.file, FallocateFlags::KEEP_SIZE, self.length, room) {
            // Where room cannot be reserved, appending may fail, which is provided for.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
            Err(error) => return Err(failed("reserve room for", &path)(error.into())),
        }
        self.file.sync_data().map_err(failed("sync", &path))
    }

    /// Opens a journal to append to it, behind the last frame that is whole.
    pub(crate) fn open(path: &Path) -> Result<(Journal, Option<Transaction>), TuneError> {
        let failed = TuneError::io("open", path);
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| failed(error.into()))?;
        let mut file = File::from(file);
        let bytes = bounded(&mut file).map_err(TuneError::io("read", path))?;
        if frame::is_newer(&bytes) {
            let newer = io::Error::other("it was written by a newer version of sysdyno");
            return Err(TuneError::io("use", path)(newer));
        }
        let frames = frame::read(&bytes);
        let transaction = sum(&frames.texts);
        let length = frames.length as u64;
        let journal = Journal { chain: frames.chain, path: path.to_owned(), length, file };
        Ok((journal, transaction))
    }

    /// Where it lies.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Its file, to be locked.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Appends a record, which then survives the death of this process.
    ///
    /// # Errors
    /// It could not be written; a part of it that is there is taken away again, if that is possible.
    pub(crate) fn append(&mut self, record: &Record) -> Result<(), TuneError> {
        let mut chain = self.chain.clone();
        let frame = chain.frame(&json(record));
        let write = |file: &mut File, at: u64| {
            file.set_len(at)?;
            file.seek(SeekFrom::Start(at))?;
            file.write_all(frame.as_bytes())
        };
        if let Err(error) = write(&mut self.file, self.length) {
            // A torn frame ends the reading where it begins, so that what stays of it does no harm.
            let _ = self.file.set_len(self.length);
            return Err(TuneError::io("write", &self.path)(error));
        }
        self.length += frame.len() as u64;
        self.chain = chain;
        Ok(())
    }

    /// Appends a record, which then survives the death of the host.
    pub(crate) fn append_durably(&mut self, record: &Record) -> Result<(), TuneError> {
        self.append(record)?;
        self.file.sync_data().map_err(TuneError::io("sync", &self.path))
    }

    /// Moves the journal to another folder.
    pub(crate) fn move_to(&mut self, folder: &Path) -> Result<(), TuneError> {
        let name = self.path.file_name().expect("a journal was opened by its name").to_owned();
        let target = folder.join(name);
        move_file(&self.path, &target)?;
        self.path = target;
        Ok(())
    }
}

/// Reads a journal; `None` if it has no begin that can be read.
///
/// # Errors
/// The file cannot be opened or read.
pub(crate) fn read(path: &Path) -> io::Result<Option<Transaction>> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    Ok(sum(&frame::read(&bounded(&mut file)?).texts))
}

/// What the texts of frames add up to. A frame that is whole, but that this version does not know, ends the reading.
fn sum(texts: &[&str]) -> Option<Transaction> {
    let records = texts.iter().map_while(|text| serde_json::from_str(text).ok()).collect();
    Transaction::of(records)
}

fn bounded(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("it is longer than 16 MiB"));
    }
    Ok(bytes)
}

fn json(record: &Record) -> String {
    serde_json::to_string(record).expect("records hold only texts, integers and lists of them")
}
