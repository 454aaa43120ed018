//! Errors of writing and reading run folders and files of facts.

use std::io;
use std::path::PathBuf;

/// An error of the run folder: the operation, the object, the cause.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A file or folder could not be read or written.
    #[error("cannot {operation} '{path}': {source}")]
    Io {
        /// The verb: `create`, `open`, `read`, `write`, `sync`.
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file holds something that is not what the format says.
    #[error("cannot read '{path}': line {line}: {cause}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        cause: String,
    },
    /// The folder is not a run, or of a version that this program does not know.
    #[error("cannot open run '{path}': {cause}")]
    NotARun {
        /// The folder.
        path: PathBuf,
        /// Why it is not.
        cause: String,
    },
    /// The folder or file was written in a format that is newer than this program.
    #[error(
        "cannot open '{path}': its format is '{found}', but this program reads '{known}'\nhint: open it with \
         {opener}"
    )]
    NewerFormat {
        /// The folder or file.
        path: PathBuf,
        /// Its schema.
        found: String,
        /// The schema that this program reads.
        known: &'static str,
        /// What opens it.
        opener: String,
    },
    /// A file of facts holds something else, or is of a version that this program does not know.
    #[error("cannot read facts '{path}': {cause}")]
    NotFacts {
        /// The file.
        path: PathBuf,
        /// Why it cannot be read; untrusted text is escaped.
        cause: String,
    },
    /// A value cannot be written so that it can be read again, e.g. because a number in it is not finite.
    #[error("cannot write '{path}': {cause}")]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What is wrong with the value.
        cause: String,
    },
    /// Nothing is written any more, because an earlier write failed.
    #[error("cannot write '{path}': an earlier write failed: {cause}")]
    Stopped {
        /// The file that was to be written.
        path: PathBuf,
        /// The first error.
        cause: String,
    },
}

impl RecordError {
    /// An [`RecordError::Io`] for `operation` on `path`.
    pub fn io(operation: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> RecordError {
        let path = path.into();
        move |source| RecordError::Io { operation, path, source }
    }
}
