//! Options of work on this host: commands, and operations on many small files.

use super::typed::Typed;
use super::words::Word;
use clap::Args;
use std::path::PathBuf;
use sysdyno_record::units::Bytes;
use sysdyno_record::work::CacheChoice;

/// Work to do instead of sending requests.
#[derive(Clone, Debug, Default, PartialEq, Args)]
#[command(next_help_heading = "Work on this host, instead of requests to a URL")]
pub struct WorkOptions {
    /// Run this command repeatedly, -n times [default: 10] or for -d; each run is killed after --timeout [default: 1h]
    ///
    /// Arguments are split as a shell would, but no shell is involved. {worker} and {number} in an argument expand to
    /// the worker (from 0) and the number of the run (from 1), also available as SYSDYNO_WORKER and SYSDYNO_NUMBER.
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["url", "files"])]
    pub command: Option<String>,
    /// Run this command before each run, unmeasured; if it fails, everything stops
    #[arg(long, value_name = "COMMAND", requires = "command")]
    pub prepare: Option<String>,
    /// Run this command after each run, unmeasured, even if the run was killed
    #[arg(long, value_name = "COMMAND", requires = "command")]
    pub clean: Option<String>,
    /// Run these commands by /bin/sh
    #[arg(long, requires = "command")]
    pub shell: bool,
    /// Show the output of these commands, on stderr
    #[arg(long, requires = "command")]
    pub show_output: bool,
    /// State of the page cache before each run [default: as-is]
    #[arg(long, value_enum, value_name = "STATE", requires = "command")]
    pub cache: Option<Word<CacheChoice>>,
    /// Agree that --cache cold drops the whole host's page cache before each run
    #[arg(long, requires = "cache")]
    pub accept_drop_caches: bool,
    /// Create, lock, sync, rename, and remove small files in this new or empty folder, for -d [default: 10s] or -n files
    #[arg(long, value_name = "FOLDER", conflicts_with = "url")]
    pub files: Option<PathBuf>,
    /// Number of files that each worker keeps [default: 1000]
    #[arg(long, value_name = "N", requires = "files", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub file_count: Option<u32>,
    /// Size of each file [default: 4KiB]
    #[arg(long, value_name = "SIZE", requires = "files")]
    pub file_size: Option<Typed<Bytes>>,
    /// Number of parallel workers, each with one operation at a time [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub workers: Option<u32>,
}

impl WorkOptions {
    /// Whether these options ask for work.
    pub fn is_asked(&self) -> bool {
        self.command.is_some() || self.files.is_some()
    }
}
