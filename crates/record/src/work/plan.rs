//! The plan of work, with every default filled in.

use crate::command::CommandSpec;
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
    /// Whether the volumes of the lab are unmounted and mounted again before each command.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remounts: bool,
    /// What counts the operations of the commands; `None`: they are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<ServiceCounter>,
}

/// A counter that a service of the lab tells of itself, such as the requests that it has answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceCounter {
    /// The service.
    pub service: String,
    /// The name of the counter in its recipe.
    pub metric: String,
}

/// What an operation is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkKind {
    /// A command.
    Command(Box<CommandWork>),
    /// A small file, from its creation to its removal.
    Files(FileWork),
}

/// A command that is run again and again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandWork {
    /// What it is called; `None`: there is one command, which needs no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What is measured.
    pub run: CommandSpec,
    /// What runs before each of its runs; not measured.
    pub prepare: Option<CommandSpec>,
    /// What runs after each of its runs; not measured.
    pub clean: Option<CommandSpec>,
    /// Texts that the output of the measured one must hold; without each of them it did not succeed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect_output: Vec<String>,
    /// Texts that it must not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reject_output: Vec<String>,
    /// Further commands of the same round, each with a name; the round is over when the last has ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub then: Vec<CommandWork>,
}

impl CommandWork {
    /// All commands of a round, in their order.
    pub fn round(&self) -> impl Iterator<Item = &CommandWork> {
        std::iter::once(self).chain(&self.then)
    }
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
