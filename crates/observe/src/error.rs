//! Errors while reading the kernel.

use std::io;
use std::path::PathBuf;

/// An error of observation: the operation, the object, the cause.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// A file could not be opened or read.
    #[error("cannot {operation} '{path}': {source}")]
    Io {
        /// The verb: `open`, `read`, `list`.
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file of the kernel holds something that it should not.
    #[error("cannot parse '{path}': {source}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Where and what.
        source: ParseError,
    },
    /// The kernel did not answer a question about sockets.
    #[error("cannot {operation} by sock_diag: {source}")]
    SocketDiag {
        /// The question: `list listening sockets`, …
        operation: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The kernel did not answer a question about routes or addresses.
    #[error("cannot {operation} by rtnetlink: {source}")]
    Route {
        /// The question: `look a route up`, …
        operation: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// A process does not exist, or is not the one that was meant.
    #[error("cannot watch process {pid}: {cause}")]
    NoProcess {
        /// Its id.
        pid: u32,
        /// Why.
        cause: String,
    },
    /// The plan of a sampler cannot be carried out.
    #[error("cannot sample the host: {cause}")]
    Plan {
        /// What is wrong with it.
        cause: String,
    },
    /// The sampler's thread could not be started.
    #[error("cannot start thread 'sysdyno-observe': {source}")]
    Thread {
        /// The system's error.
        source: io::Error,
    },
}

impl ObserveError {
    pub(crate) fn io(
        operation: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> ObserveError {
        let path = path.into();
        move |source| ObserveError::Io { operation, path, source }
    }

    pub(crate) fn malformed(path: impl Into<PathBuf>) -> impl FnOnce(ParseError) -> ObserveError {
        let path = path.into();
        move |source| ObserveError::Malformed { path, source }
    }
}

/// A text of the kernel that is not as its parser knows it. It holds nothing of the text itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {item}")]
pub struct ParseError {
    /// The line, counted from 1.
    pub line: usize,
    /// What was expected there.
    pub item: &'static str,
}

impl ParseError {
    /// An error at `index`, counted from 0, where `item` was expected.
    pub fn at(index: usize, item: &'static str) -> ParseError {
        ParseError { line: index + 1, item }
    }
}
