//! The run folder on disk: written append-only by [`RunWriter`], read back by [`Run`], listed by [`list`].
//!
//! Invariants:
//! - every line is handed to the kernel as a whole before the call that wrote it returns, so that the death of the
//!   process loses nothing that was written; only the death of the host loses what was not synced;
//! - a file that is not a log of lines is replaced (temporary file, fsync, rename, fsync of the folder), never edited;
//! - after the first failed write nothing more is written, and what is there stays readable;
//! - reading trusts nothing: see [`Run::open`].
//!
//! Source: the format is `docs/reference/formats/run.md`.

mod autotune;
mod experiment;
mod facts;
mod folder;
mod follow;
mod interval_log;
mod label;
mod latency;
mod lines;
mod listing;
mod log;
mod meter;
mod planned;
mod plausible;
mod readings_log;
mod redact;
mod remains;
mod run;
mod schema;
mod trial;
mod tryout;
mod verify;
mod writer;

pub use autotune::AutotuneFolder;
pub use experiment::ExperimentFolder;
pub use facts::{read_facts, read_run_facts};
pub use follow::{Follower, RunGrowth};
pub use label::{MAX_NOTE_CHARACTERS, MAX_TAG_CHARACTERS, MAX_TAGS, RunLabel, changed_labels};
pub use listing::{RunAnswer, RunListing, list};
pub use planned::{PlanOfSteps, PlannedFolder};
pub use redact::redacted_command;
pub use remains::Remains;
pub use run::Run;
pub use trial::Trial;
pub use tryout::read_tryout;
pub use writer::{NewRun, RunWriter};

/// Longest line that is read. Unit: bytes.
pub const MAX_LINE_BYTES: u64 = 16 << 20;

/// Most that is read of a file of lines. Unit: bytes.
pub const MAX_LOG_BYTES: u64 = 1 << 30;

/// Most that is read of a file that is one JSON document. Unit: bytes.
pub const MAX_DOCUMENT_BYTES: u64 = 64 << 20;

/// Most that is read of facts. Unit: bytes.
pub const MAX_FACTS_BYTES: u64 = 16 << 20;

/// Most that is read of the manifest. Unit: bytes.
pub const MAX_MANIFEST_BYTES: u64 = 1 << 20;

/// Most that a follower reads at once of a file that grows. Unit: bytes.
pub const MAX_GROWTH_BYTES: u64 = 4 << 20;

/// Most that is read of the present moment of a run. Unit: bytes.
pub const MAX_NOW_BYTES: u64 = 64 << 10;

/// Most trials that are read of one run; each may hold 2 MB of histograms in memory.
pub const MAX_TRIALS: usize = 1024;

/// Most values of the series that are kept in memory, columns times rows, at 16 bytes each.
pub const MAX_SERIES_VALUES: usize = 128 << 20;

/// Most lines that are read of a tryout.
pub const MAX_TRY_LINES: usize = 100_000;

/// Most lines that are read of an experiment, two for each trial.
pub const MAX_EXPERIMENT_LINES: usize = 20_000;

/// Most lines that are read of an autotune, two for each step.
pub const MAX_AUTOTUNE_LINES: usize = 2_000;

/// Most lines of work that are kept in memory.
pub const MAX_WORK_LINES: usize = 1 << 20;

/// Most operations of a probe that are kept in memory, at 72 bytes each.
pub const MAX_PROBE_REPLIES: usize = 4 << 20;

const MANIFEST: &str = "manifest.json";
const PLAN: &str = "plan.json";
const FACTS: &str = "facts.json";
const SERVER: &str = "server.json";
const GENERATORS: &str = "generators.json";
const PROFILE: &str = "profile.json";
const PROFILE_LOW: &str = "profile-low.json";
const SERVER_SERIES: &str = "server-series.jsonl";
const TRIALS: &str = "trials.jsonl";
const INTERVALS: &str = "intervals.jsonl";
const LATENCY: &str = "latency.hlog";
const SERIES: &str = "series.jsonl";
const SERIES_TAIL: &str = "series-tail.jsonl";
const SERVER_SERIES_TAIL: &str = "server-series-tail.jsonl";
const INTERVALS_TAIL: &str = "intervals-tail.jsonl";
const LATENCY_TAIL: &str = "latency-tail.hlog";
const RESERVE: &str = "reserve";
const NOW: &str = "now.json";
const EVENTS: &str = "events.jsonl";
const PROBE: &str = "probe.jsonl";
const PROBED: &str = "probe.json";
const ANALYSIS: &str = "analysis.json";
const TRY_LINES: &str = "experiment.jsonl";
const CONCLUSION: &str = "experiment.json";
const SQUEEZED: &str = "squeeze.json";
const PROOFS: &str = "proofs.json";
const OPERATIONS: &str = "operations.jsonl";
const WORK: &str = "work.json";
const REPORT: &str = "report.html";
const EXPERIMENT: &str = "matrix.json";
const EXPERIMENT_RUNS: &str = "runs";
const AUTOTUNE: &str = "tuning.json";
const STEP_LINES: &str = "steps.jsonl";
const AUTOTUNED: &str = "autotune.json";
const AUTOTUNE_STEPS: &str = "steps";

#[cfg(test)]
pub(crate) mod sample;
#[cfg(test)]
mod tests;
