//! Options of work on this host: commands, and operations on many small files.

use clap::Args;
use std::path::PathBuf;
use sysdyno_record::units::Bytes;
use sysdyno_record::work::CacheChoice;

use super::Typed;

/// What is done instead of sending requests.
#[derive(Clone, Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Work on this host, instead of requests to a URL")]
pub struct WorkOptions {
    /// Run this command again and again: -n times [default: 10] or for -d, each at most for --timeout [default: 1h]
    ///
    /// Words are split as a shell splits them, but no shell reads them. {worker} and {number} in an argument stand for
    /// the worker, from 0, and the number of the run, from 1; SYSDYNO_WORKER and SYSDYNO_NUMBER in its environment too.
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["url", "files"])]
    pub command: Option<String>,
    /// Run this command before each run; not measured, and the end of all if it fails
    #[arg(long, value_name = "COMMAND", requires = "command")]
    pub prepare: Option<String>,
    /// Run this command after each run, also after one that was cut off; not measured
    #[arg(long, value_name = "COMMAND", requires = "command")]
    pub clean: Option<String>,
    /// Let /bin/sh read these commands
    #[arg(long, requires = "command")]
    pub shell: bool,
    /// Let the output of these commands through, to standard error
    #[arg(long, requires = "command")]
    pub show_output: bool,
    /// State of the page cache before a run [default: as-is]
    #[arg(long, value_enum, value_name = "STATE", requires = "command")]
    pub cache: Option<CacheOption>,
    /// Agree that --cache cold drops the page cache of the whole host before each run
    #[arg(long, requires = "cache")]
    pub accept_drop_caches: bool,
    /// Create, lock, sync, rename and remove small files in this folder, for -d [default: 10s] or -n files; it must be new or empty
    #[arg(long, value_name = "FOLDER", conflicts_with = "url")]
    pub files: Option<PathBuf>,
    /// Files that each worker keeps [default: 1000]
    #[arg(long, value_name = "N", requires = "files", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub file_count: Option<u32>,
    /// Length of each file [default: 4KiB]
    #[arg(long, value_name = "SIZE", requires = "files")]
    pub file_size: Option<Typed<Bytes>>,
    /// Workers side by side, each on one operation at a time [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub workers: Option<u32>,
}

impl WorkOptions {
    /// Whether work was asked for.
    pub fn is_asked(&self) -> bool {
        self.command.is_some() || self.files.is_some()
    }
}

/// States of the page cache, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CacheOption {
    /// Whatever it is
    AsIs,
    /// Dropped before each run, for the whole host; needs root and --accept-drop-caches
    Cold,
    /// The command has run once, unmeasured
    Warm,
}

impl From<CacheOption> for CacheChoice {
    fn from(option: CacheOption) -> CacheChoice {
        match option {
            CacheOption::AsIs => CacheChoice::AsIs,
            CacheOption::Cold => CacheChoice::Cold,
            CacheOption::Warm => CacheChoice::Warm,
        }
    }
}
