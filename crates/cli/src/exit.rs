//! How the program ends.

use std::process::ExitCode;
use sysdyno_record::analysis::VerdictStatus;

/// What the exit code says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// Wrong use, or it cannot run.
    CannotRun,
    /// Done, and the numbers are not to be trusted.
    Untrusted,
    /// Interrupted; what there is was kept.
    Interrupted,
}

impl Exit {
    /// The exit of a run with this verdict.
    pub fn of(status: VerdictStatus) -> Exit {
        match status {
            VerdictStatus::Valid | VerdictStatus::Suspect => Exit::Done,
            VerdictStatus::Invalid => Exit::Untrusted,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Done => 0,
            Exit::CannotRun => 2,
            Exit::Untrusted => 3,
            Exit::Interrupted => 130,
        })
    }
}
