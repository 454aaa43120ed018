//! What can go wrong when the built-in target starts or runs.

use rustix::io::Errno;
use std::io;

/// An error of the built-in target.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The plan asks for something that cannot be.
    #[error("cannot start the built-in target: {cause}")]
    Plan {
        /// What.
        cause: String,
    },
    /// A system call failed.
    #[error("cannot {operation}: {source}")]
    System {
        /// The verb and its object: `listen on '127.0.0.1:80'`.
        operation: String,
        /// What the system said.
        source: io::Error,
    },
}

impl TargetError {
    /// A [`TargetError::System`] for `operation`.
    pub(super) fn system(operation: impl Into<String>) -> impl FnOnce(Errno) -> TargetError {
        let operation = operation.into();
        move |errno| TargetError::System { operation, source: io::Error::from(errno) }
    }
}
