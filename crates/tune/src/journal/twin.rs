//! A journal and its second copy, written as one.
//!
//! The journal is in the state folder, the copy in the spool. If either is lost, the other one is used.
//! `docs/reference/formats/journal.md` specifies which of the two counts if they disagree.

use super::file::JournalFile;
use super::record::JournalRecord;
use super::transaction::Transaction;
use crate::error::TuneError;
use crate::store::{Store, StoreSection};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// A journal and its second copy; at least one of them, unless both were lost meanwhile.
#[derive(Debug)]
pub(crate) struct Twin {
    main: Option<JournalFile>,
    copy: Option<JournalFile>,
}

impl Twin {
    /// Makes both, each on the disk; neither if one cannot be made.
    pub(crate) fn create(
        state: &Arc<Store>,
        spool: &Arc<Store>,
        id: &str,
        records: &[JournalRecord],
    ) -> Result<Twin, TuneError> {
        let main = JournalFile::create(state, id, records)?;
        match JournalFile::create(spool, id, records) {
            Ok(copy) => Ok(Twin { main: Some(main), copy: Some(copy) }),
            Err(error) => {
                // Nothing was written to any setting yet; a journal that stays is recovered, which writes nothing.
                let _ = main.remove();
                Err(error)
            }
        }
    }

    /// One of two journals, either of which may be missing.
    pub(crate) fn of(main: Option<JournalFile>, copy: Option<JournalFile>) -> Twin {
        Twin { main, copy }
    }

    /// Makes a second copy of a journal that has none.
    pub(crate) fn complete(&mut self, spool: &Arc<Store>) -> Result<(), TuneError> {
        if let (Some(main), None) = (&self.main, &self.copy) {
            let copy = main.duplicate(spool)?;
            // Nobody takes it for one that was left behind.
            copy.lock()?;
            self.copy = Some(copy);
        }
        Ok(())
    }

    /// Moves the journal of a commitment back to those that are open.
    pub(crate) fn open_again(&mut self) -> Result<(), TuneError> {
        self.main.as_mut().map_or(Ok(()), |main| main.move_to(StoreSection::Open))
    }

    /// Their contents, including what others have appended meanwhile; `None` if neither can be read.
    pub(crate) fn reread(&mut self) -> Option<Transaction> {
        let [main, copy] = self.both().map(|journal| journal?.reread().ok()?);
        chosen(main, copy)
    }

    /// Takes the locks of both, for as long as this value lives.
    pub(crate) fn lock(&mut self) -> Result<(), TuneError> {
        self.both().into_iter().flatten().try_for_each(|journal| journal.lock())
    }

    /// Takes the locks of both; whether somebody else has one.
    pub(crate) fn is_guarded(&mut self) -> bool {
        self.both().into_iter().flatten().any(|journal| journal.is_guarded())
    }

    /// Whether the journal is at the place where others look for it.
    pub(crate) fn is_in_place(&self) -> bool {
        self.main.as_ref().is_some_and(JournalFile::is_in_place)
    }

    /// Where the journal was when it was opened, or else its copy.
    pub(crate) fn path(&self) -> PathBuf {
        self.main.as_ref().or(self.copy.as_ref()).map(JournalFile::path).unwrap_or_default()
    }

    fn both(&mut self) -> [Option<&mut JournalFile>; 2] {
        [self.main.as_mut(), self.copy.as_mut()]
    }

    /// Appends a record to both, which then survives the death of this process.
    ///
    /// # Errors
    /// One of them could not be written.
    pub(crate) fn append(&mut self, record: &JournalRecord) -> Result<(), TuneError> {
        self.both().into_iter().flatten().try_for_each(|journal| journal.append(record))
    }

    /// Appends a record to both, which then survives the death of the host.
    ///
    /// # Errors
    /// One of them could not be written.
    pub(crate) fn append_durably(&mut self, record: &JournalRecord) -> Result<(), TuneError> {
        self.both().into_iter().flatten().try_for_each(|journal| journal.append_durably(record))
    }

    /// Appends a record to whichever can be written.
    pub(crate) fn note(&mut self, record: &JournalRecord) {
        // What is noted is done; that it cannot be noted does not undo it.
        self.both().into_iter().flatten().for_each(|journal| drop(journal.append(record)));
    }

    /// Keeps the settings for good: the second copy must not undo them later.
    ///
    /// # Errors
    /// It could not be made durable, or the copy neither removed nor marked.
    pub(crate) fn keep(&mut self) -> Result<(), TuneError> {
        let lost = TuneError::io("write", &self.path());
        let main = self.main.as_mut().ok_or_else(|| lost(io::ErrorKind::NotFound.into()))?;
        main.append_durably(&JournalRecord::Keep {})?;
        self.drop_copy(&JournalRecord::Keep {})
    }

    /// Removes the second copy; marks it where it cannot be removed.
    fn drop_copy(&mut self, mark: &JournalRecord) -> Result<(), TuneError> {
        let Some(copy) = &mut self.copy else { return Ok(()) };
        match copy.remove() {
            Ok(()) => {
                self.copy = None;
                Ok(())
            }
            Err(error) => copy.append_durably(mark).map_err(|_| error),
        }
    }

    /// Files the journal of a trial that is over in `done/`, and removes its second copy.
    ///
    /// # Errors
    /// One of the two cannot be done.
    pub(crate) fn file(&mut self, transaction: &Transaction) -> Result<(), TuneError> {
        let last_word = transaction.last_word();
        if let Some(main) = &mut self.main {
            // The copy may be the one that says that it is over.
            let is_said = main.reread().ok().flatten().is_some_and(|own| own.is_over());
            if !is_said {
                main.append_durably(&last_word)?;
            }
        }
        self.drop_copy(&last_word)?;
        self.main.as_mut().map_or(Ok(()), |main| main.move_to(StoreSection::Done))
    }

    /// Writes down that the trial is over, where whoever looks for it finds it: in the journal, if that is in its place and
    /// can be written, else in the copy.
    ///
    /// # Errors
    /// It is written down in neither, or cannot be filed.
    pub(crate) fn end(&mut self, end: &JournalRecord, section: StoreSection) -> Result<(), TuneError> {
        let is_in_place = self.is_in_place();
        let told = self.main.as_mut().map(|main| main.append_durably(end));
        let is_told = matches!(told, Some(Ok(())));
        if is_told && is_in_place {
            let dropped = self.drop_copy(end);
            let moved = self.main.as_mut().map_or(Ok(()), |main| main.move_to(section));
            return dropped.and(moved);
        }
        if let Some(main) = self.main.as_mut().filter(|_| is_told) {
            // Whoever finds the state folder where it was moved to sees that this is over.
            let _ = main.move_to(section);
        }
        match (&mut self.copy, told) {
            (Some(copy), _) => {
                copy.append_durably(end)?;
                copy.move_to(StoreSection::Done)
            }
            (None, told) => told.unwrap_or(Ok(())),
        }
    }

    /// Sets a journal aside that is damaged and has a copy that is not: from then on the copy counts.
    ///
    /// # Errors
    /// It cannot be moved; the copy counts all the same.
    pub(crate) fn set_damaged_aside(&mut self) -> Result<(), TuneError> {
        let [main, copy] =
            self.both().map(|journal| journal.and_then(|journal| journal.reread().ok().flatten()));
        let is_damaged = main.is_none_or(|main| !main.is_whole());
        if !is_damaged || !copy.is_some_and(|copy| copy.is_whole()) {
            return Ok(());
        }
        self.main.take().map_or(Ok(()), |mut main| main.move_to(StoreSection::Damaged))
    }

    /// Moves a journal that cannot be read out of the way.
    pub(crate) fn set_aside(&mut self) -> Result<(), TuneError> {
        self.both().into_iter().flatten().try_for_each(|journal| journal.move_to(StoreSection::Damaged))
    }
}

/// What counts of two journals of one trial.
fn chosen(main: Option<Transaction>, copy: Option<Transaction>) -> Option<Transaction> {
    match (main, copy) {
        (Some(main), Some(copy)) if main.begin == copy.begin => {
            let is_main = match (main.is_whole(), copy.is_whole()) {
                (true, false) => true,
                (false, true) => false,
                _ => main.records_count >= copy.records_count,
            };
            Some(if is_main { main } else { copy })
        }
        (Some(main), _) => Some(main),
        (None, copy) => copy,
    }
}
