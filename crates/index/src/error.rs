//! Errors of the index of a folder of runs.

use std::io;
use std::path::PathBuf;

/// An error of the index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The folder of runs cannot be read.
    #[error("cannot list '{path}': {source}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The table cannot be read or written, even in memory.
    #[error("cannot use the index of runs: {0}")]
    Table(#[from] rusqlite::Error),
}
