//! Errors that keep a load from starting. Once it runs, whatever happens is a result, not an error.

use std::io;
use std::path::PathBuf;

/// A load that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The kernel does not know an option of sockets, or what runs this program in its place does not.
    #[error(
        "cannot {operation}: the kernel does not support this option\nhint: `--stamps user` works without \
         kernel timestamps"
    )]
    Unknown {
        /// The verb and what it was done to.
        operation: &'static str,
    },
    /// This process may not open another file.
    #[error(
        "cannot {operation}: too many open files\nhint: raise the descriptor limit with 'ulimit -n', or use fewer connections"
    )]
    Descriptors {
        /// What was attempted.
        operation: &'static str,
    },
    /// The URL is not one that can be loaded.
    #[error("cannot read target '{url}': {cause}")]
    Url {
        /// What was typed.
        url: String,
        /// What is wrong with it.
        cause: &'static str,
    },
    /// The host's name has no address.
    #[error("cannot resolve host '{host}': {cause}")]
    Resolve {
        /// The name.
        host: String,
        /// What the resolver said.
        cause: String,
    },
    /// The target may not be loaded.
    #[error("cannot load target '{target}': {cause}")]
    Refused {
        /// Name and address.
        target: String,
        /// Why not.
        cause: String,
    },
    /// The target is outside the networks that may be loaded.
    #[error("cannot load {url}: {cause}")]
    Outside {
        /// The URL.
        url: String,
        /// Why not; may end in a line with a hint.
        cause: String,
    },
    /// Connections cannot come from this address.
    #[error("cannot send from {address}: {cause}")]
    Source {
        /// The address.
        address: std::net::IpAddr,
        /// Why not; may end in a line with a hint.
        cause: String,
    },
    /// The plan contradicts itself.
    #[error("cannot run this load: {cause}")]
    Plan {
        /// In what way.
        cause: String,
    },
    /// A line of a file that says what to send is wrong; the caller knows the file.
    #[error("line {line}: {cause}")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        cause: String,
    },
    /// A probe is not permitted as requested.
    #[error("cannot probe '{target}': {cause}")]
    Probe {
        /// Where it was to go.
        target: String,
        /// Why not; may end in a line with a hint.
        cause: String,
    },
    /// The server could not be filled with what the load asks for.
    #[error("cannot store the keys at '{target}': {cause}")]
    Preload {
        /// The target.
        target: String,
        /// What went wrong.
        #[source]
        cause: io::Error,
    },
    /// A file of certificates or keys is of no use.
    #[error("cannot use '{}': {cause}", file.display())]
    Pem {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        cause: String,
    },
    /// A system call of the engine's own set-up failed.
    #[error("cannot {operation}: {source}")]
    System {
        /// What was attempted.
        operation: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

impl LoadError {
    /// A [`LoadError::System`] for `operation`.
    pub(crate) fn system<E: Into<io::Error>>(operation: &'static str) -> impl FnOnce(E) -> LoadError {
        move |source| {
            let source = source.into();
            match source.raw_os_error() {
                Some(libc::EMFILE) => LoadError::Descriptors { operation },
                Some(libc::ENOPROTOOPT) => LoadError::Unknown { operation },
                _ => LoadError::System { operation, source },
            }
        }
    }

    /// A [`LoadError::Line`] with this cause.
    pub(crate) fn line(line: usize, cause: String) -> LoadError {
        LoadError::Line { line, cause }
    }

    /// A [`LoadError::Plan`] with this cause.
    pub(crate) fn plan(cause: impl Into<String>) -> LoadError {
        LoadError::Plan { cause: cause.into() }
    }
}
