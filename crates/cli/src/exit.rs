//! How the program ends.

use std::process::ExitCode;
use sysdyno_record::analysis::{Analysis, VerdictStatus};

/// What the exit code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// Done, and a check that was asked for failed.
    CheckFailed,
    /// Wrong use, or it cannot run.
    CannotRun,
    /// Done, and the numbers are not to be trusted.
    Untrusted,
    /// A setting could not be made durable; nothing was changed.
    NotDurable,
    /// A setting was not restored: somebody else has changed it, or it cannot be written.
    NotRestored,
    /// Interrupted; what there is was kept.
    Interrupted,
    /// What the program that was run ended with.
    Of(u8),
}

impl Exit {
    /// The exit of a run with these conclusions: numbers that are not to be trusted pass no check and fail none.
    pub fn of(analysis: &Analysis) -> Exit {
        match analysis.verdict.status {
            VerdictStatus::Invalid => Exit::Untrusted,
            _ if analysis.checks.iter().any(|check| !check.passed) => Exit::CheckFailed,
            _ if analysis.session.as_ref().is_some_and(|session| !session.passed) => Exit::CheckFailed,
            VerdictStatus::Valid | VerdictStatus::Suspect => Exit::Done,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::CheckFailed => 1,
            Exit::CannotRun => 2,
            Exit::Untrusted => 3,
            Exit::NotDurable => 6,
            Exit::NotRestored => 7,
            Exit::Interrupted => 130,
            Exit::Of(code) => code,
        })
    }
}
