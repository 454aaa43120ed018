//! The write-ahead journal: frames on disk, the records in them, and the resulting state.
//!
//! Specified in `docs/reference/formats/journal.md`. [`frame`] handles bytes and checksums, [`record`] their content, [`file`]
//! the file on disk, [`Transaction`] the resulting state, and [`Twin`] the two copies.

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
