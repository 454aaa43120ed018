//! What is to be done, with every default filled in.

use crate::experiment::CommandSpec;
use crate::plan::PhaseEnd;
use crate::units::SpanNs;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Work on this host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkPlan {
    /// What an operation is.
    pub kind: WorkKind,
    /// How many work side by side, each on one operation at a time.
    pub workers: u32,
    /// After which no further operation begins.
    pub end: PhaseEnd,
    /// After which time a command is ended.
    pub timeout: SpanNs,
    /// What is done to the page cache.
    pub cache: CacheChoice,
}

/// What an operation is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkKind {
    /// A command.
    Command(CommandWork),
    /// A small file, from its creation to its removal.
    Files(FileWork),
}

/// A command that is run again and again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandWork {
    /// What is measured.
    pub run: CommandSpec,
    /// What runs before each of its runs; not measured.
    pub prepare: Option<CommandSpec>,
    /// What runs after each of its runs; not measured.
    pub clean: Option<CommandSpec>,
}

/// Operations on many small files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileWork {
    /// The folder that they are in; made for them, or empty.
    pub folder: PathBuf,
    /// Files that each worker keeps.
    pub files_count: u32,
    /// Length of each. Unit: bytes.
    pub file_bytes: u32,
}

/// What is done to the page cache before a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheChoice {
    /// Nothing.
    #[default]
    AsIs,
    /// It is written back and dropped, for the whole host.
    Cold,
    /// The command has run once.
    Warm,
}
