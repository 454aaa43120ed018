//! Errors of a fleet: of its broker, its credentials, its agents.

use std::io;
use std::path::PathBuf;
use sysdyno_run::RunError;

/// Why something of a fleet cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// A file, a socket, or a process of the fleet.
    #[error("cannot {operation} {object}: {source}")]
    Io {
        /// The verb.
        operation: &'static str,
        /// What it was done to.
        object: String,
        /// The system's error.
        source: io::Error,
    },
    /// The broker cannot be used.
    #[error("cannot use broker '{broker}': {cause}\nhint: {hint}")]
    Broker {
        /// Its URL.
        broker: String,
        /// Why, escaped.
        cause: String,
        /// What to do.
        hint: &'static str,
    },
    /// A file with credentials cannot be used.
    #[error("cannot use credentials '{}': {cause}", path.display())]
    Credentials {
        /// The file.
        path: PathBuf,
        /// Why; no part of the file.
        cause: String,
    },
    /// What was asked for is impossible: a whole message, with its hint.
    #[error("{0}")]
    Refused(String),
    /// An agent's process.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl FleetError {
    /// Wraps the system's error.
    pub(crate) fn io(
        operation: &'static str,
        object: impl Into<String>,
    ) -> impl FnOnce(io::Error) -> FleetError {
        let object = object.into();
        move |source| FleetError::Io { operation, object, source }
    }
}
