//! Errors that keep a setting from being changed.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why one change is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The change as it was typed, or the setting.
    pub object: String,
    /// Why, without a final stop.
    pub cause: String,
    /// What to do instead; `None` where there is nothing.
    pub hint: Option<String>,
}

impl Refusal {
    /// A refusal without a hint.
    pub(crate) fn new(object: &str, cause: impl Into<String>) -> Refusal {
        Refusal { object: object.chars().take(120).collect(), cause: cause.into(), hint: None }
    }

    /// The same refusal with what to do instead.
    pub(crate) fn hint(self, hint: impl Into<String>) -> Refusal {
        Refusal { hint: Some(hint.into()), ..self }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cannot change '{}': {}", self.object, self.cause)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(out, "\nhint: {hint}"))
    }
}

/// An error of tuning; unless it says otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// The page cache could not be dropped.
    #[error(
        "cannot drop the page cache through '{path}': {source}\nhint: this needs root on the host itself; \
         --cache warm needs no privileges"
    )]
    DropCaches {
        /// The kernel's file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The plan is wrong; nothing was written.
    #[error("{}", list(.0))]
    Refused(Vec<Refusal>),
    /// A file could not be read or written.
    #[error("cannot {operation} '{path}': {source}")]
    Io {
        /// The verb.
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The journal could not be made durable; no setting was changed.
    #[error("cannot make the journal durable: cannot {operation} '{path}': {source}\nno setting was changed")]
    NotDurable {
        /// The verb.
        operation: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Somebody else tunes this host.
    #[error("cannot tune this host: {cause}")]
    Busy {
        /// Who, and what to do.
        cause: String,
    },
    /// The guardian could not be started; no setting was changed.
    #[error("cannot start the guardian: {source}\nno setting was changed")]
    Guardian {
        /// The system's error.
        source: io::Error,
    },
    /// The guardian died before the trial was left to it.
    #[error("cannot hand the trial over to its guardian: {source}\n{afterwards}")]
    GuardianDied {
        /// The system's error.
        source: io::Error,
        /// What became of the settings.
        afterwards: String,
        /// Whether every setting is what it was.
        is_restored: bool,
    },
    /// A setting could not be written; what had been written before was restored.
    #[error("cannot set '{key}' to '{text}': {cause}\n{afterwards}")]
    Write {
        /// The setting.
        key: String,
        /// The value.
        text: String,
        /// What went wrong.
        cause: String,
        /// What became of the settings that were written before.
        afterwards: String,
        /// Whether every setting is what it was.
        is_restored: bool,
    },
    /// There is no such trial or commitment.
    #[error("cannot {operation}: {cause}")]
    NoTrial {
        /// What was asked for.
        operation: &'static str,
        /// Why it cannot be.
        cause: String,
    },
}

impl TuneError {
    /// Wraps an error of the system.
    pub(crate) fn io(operation: &'static str, path: &Path) -> impl FnOnce(io::Error) -> TuneError + use<> {
        let path = path.to_owned();
        move |source| TuneError::Io { operation, path, source }
    }

    /// Wraps an error of the system that keeps a journal from being durable.
    pub(crate) fn not_durable(
        operation: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> TuneError + use<> {
        let path = path.to_owned();
        move |source| TuneError::NotDurable { operation, path, source }
    }
}

fn list(refusals: &[Refusal]) -> String {
    refusals.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
