//! A folder of runs as a table: listed, searched, sorted, and counted without opening a run.
//!
//! Promise: the index is never the only copy of anything, and a folder always wins over it. It is built from the folders,
//! and rebuilt whenever it is missing, damaged, of another version, or of another folder. It is kept in the user's cache
//! and not among the runs, so that a folder of runs from elsewhere cannot bring an index of its own.
//!
//! Why SQLite: rows are filtered, sorted, and paged by a file that several processes may read while one writes it. A file of
//! our own would have to be read whole by every `sysdyno runs`. Of 100,000 runs, a page of the list takes 10 to 32 ms, a filter
//! 12 ms, and a search 23 ms (`--example index_cost`, on two cores that others used, too): what they need is in an index that is a
//! fraction of the table. Reading them for the first time takes 17 s. It costs half a minute of one CPU to build; with `bundled`,
//! the program stays one file.
//!
//! Constraints that shape the crate:
//! - a run that has ended does not change: its row is read once, and again only if its folder is another one;
//! - whether a folder has new runs is told by the time of its last change, so that nothing is read where nothing changed;
//! - every text in the table is as untrusted as the folder that it comes from, and reaches SQL as a parameter only.

mod error;
mod query;
mod refresh;
mod row;
mod table;

#[cfg(test)]
mod tests;

pub use error::IndexError;
pub use query::{FoundRuns, RunQuery, RunSort};
pub use refresh::{RefreshMoment, Refreshed};
pub use row::IndexedRun;
pub use table::RunIndex;

/// Fewest runs for which an index is kept; fewer are read as quickly from their folders.
pub const KEPT_RUNS_MIN: usize = 200;
