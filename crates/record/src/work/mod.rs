//! Work on this host instead of requests to a server: commands, and operations on many small files.
//!
//! `plan.json` describes the work, `operations.jsonl` has a line for each command that ended and for each second and kind
//! of file operation, and `work.json` is the conclusion. Format: `docs/reference/formats/work.md`.

mod operation;
mod plan;
mod summary;

pub use operation::{
    CommandRun, CommandWait, Ending, FileOperation, FileWindow, IoUsage, Served, Step, Usage, WorkLine,
};
pub use plan::{CacheChoice, CommandWork, FileWork, ServiceCounter, WorkKind, WorkPlan};
pub use summary::{
    CommandSummary, CpuSummary, FileSummary, ServedSummary, Spread, WORK_SCHEMA, WaitSummary, WorkSummary,
};
