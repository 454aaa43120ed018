//! Where runs are stored.

use clap::Args;
use serde::Deserialize;
use std::path::PathBuf;

/// Where runs are stored.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Record")]
pub struct RecordOptions {
    /// Folder for runs [default: ~/.local/state/sysdyno/runs]
    #[arg(long, value_name = "FOLDER", env = "SYSDYNO_RUNS_DIR")]
    pub runs_dir: Option<PathBuf>,
}
