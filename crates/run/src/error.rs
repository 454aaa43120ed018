//! Errors that keep a plan from running.

use std::fmt::Write as _;
use std::io;
use sysdyno_analyze::tryout::Impossible;
use sysdyno_load::LoadError;
use sysdyno_observe::ObserveError;
use sysdyno_profile::ProfileError;
use sysdyno_record::RecordError;
use sysdyno_tune::TuneError;

/// An error of what carries plans out: of one of the parts that it drives, or of a process that it started.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The load could not be started.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The kernel could not be sampled.
    #[error(transparent)]
    Observe(#[from] ObserveError),
    /// The run folder could not be written or read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// A setting could not be changed.
    #[error(transparent)]
    Tune(#[from] TuneError),
    /// A profile could not be taken.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A process of sysdyno could not be started, or misbehaved.
    #[error("cannot {operation} {object}: {source}")]
    Process {
        /// The verb.
        operation: &'static str,
        /// What it was done to.
        object: String,
        /// The system's error.
        source: io::Error,
    },
    /// A command of a tryout did not do what it should.
    #[error("cannot compare with '{command}': {cause}")]
    Command {
        /// As it was typed.
        command: String,
        /// How it ended.
        cause: String,
    },
    /// The pilot of a tryout carried nothing.
    #[error(
        "cannot choose a rate for '{target}': it gave no valid response in a closed loop\nhint: `sysdyno \
         load` shows its responses; --rate sets a rate"
    )]
    Pilot {
        /// The URL.
        target: String,
    },
    /// A tryout cannot give its answer, as its pilot has shown.
    #[error(transparent)]
    Impossible(#[from] Impossible),
    /// The request is impossible: a whole message, with its hint.
    #[error("{0}")]
    Refused(String),
    /// The agent on another host did not come up.
    #[error("cannot reach host '{host}': {cause}\n{hint}")]
    Reach {
        /// The host, as it was typed.
        host: String,
        /// Why, escaped.
        cause: String,
        /// What to try.
        hint: String,
    },
    /// The agent on another host is gone.
    #[error("cannot hear from host '{host}': {cause}")]
    Lost {
        /// The host, as it was typed.
        host: String,
        /// Why, escaped.
        cause: String,
    },
    /// The agent on another host could not do what it was asked.
    #[error("cannot use host '{host}': {cause}")]
    There {
        /// The host, as it was typed.
        host: String,
        /// Its output, escaped.
        cause: String,
    },
    /// An agent gave an answer that does not belong to the request.
    #[error("cannot use the agent's answer to '{request}': unexpected type")]
    Answer {
        /// The request.
        request: &'static str,
    },
}

/// Text from another host or process, safe to show: a bounded number of characters, none of which moves the cursor.
pub fn escaped(text: &str, chars: usize) -> String {
    let mut shown = String::new();
    for letter in text.chars().take(chars) {
        let _ = match letter {
            '\'' | '"' | '\\' => write!(shown, "{letter}"),
            _ => write!(shown, "{}", letter.escape_debug()),
        };
    }
    shown
}
