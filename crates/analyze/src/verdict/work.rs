//! Did the commands and file operations that were measured succeed?

use super::check::{Check, Culprit, Examine};

/// W01.
pub(crate) const RUNS_FAILED: Check = Check {
    id: "W01",
    name: "runs-failed",
    meaning: "Some runs of the command failed; times and costs are those of the others.",
    thresholds: &[],
    remedy: "Run the command by hand, or again with --show-output.",
    blame: Culprit::Server,
    concerns: &[],
    examine: Examine::Run,
};

/// W02.
pub(crate) const NO_RUN_SUCCEEDED: Check = Check {
    id: "W02",
    name: "no-run-succeeded",
    meaning: "No run of the command succeeded, so there is no time to report.",
    ..RUNS_FAILED
};

/// W03.
pub(crate) const CUT_OFF: Check = Check {
    id: "W03",
    name: "cut-off",
    meaning: "The measurement was stopped while commands were running; these runs count in no time.",
    remedy: "Let all runs finish.",
    ..RUNS_FAILED
};

/// W04.
pub(crate) const FILES_FAILED: Check = Check {
    id: "W04",
    name: "file-operations-failed",
    meaning: "File operations failed; rates are those of the operations that succeeded.",
    remedy: "Check the failures and their causes.",
    ..RUNS_FAILED
};
