//! The write-ahead journal: frames on disk, records in them, and what they add up to.
//!
//! Specified in `docs/reference/formats/journal.md`. [`frame`] knows bytes and checksums, [`record`] what is said, [`file`] how it
//! gets on the disk, [`Transaction`] what state it adds up to, [`Twin`] that there are two of it.

mod file;
pub mod frame;
mod record;
mod transaction;
mod twin;

pub(crate) use file::{JournalFile, is_guarded, read};
pub use record::UndoOutcome;
pub(crate) use record::{Intent, JournalRecord, Member, NetnsId, TrialStart, Witness, Write};
pub use transaction::Phase;
pub(crate) use transaction::Transaction;
pub(crate) use twin::Twin;
