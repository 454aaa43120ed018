//! Command-line arguments of `autotune`.

use super::{ExperimentHostArgs, LiveOptions, RecordOptions};
use clap::Args;
use std::path::PathBuf;
use sysdyno_plan::options::{AutotuneOptions, TargetOptions};

/// Arguments of `autotune`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct AutotuneArgs {
    /// Server to tune: http[s]://HOST[:PORT]/PATH or memcached[s]://HOST[:PORT] on this host, or a TOML file that defines it and its lab
    #[arg(required_unless_present = "resume")]
    pub server: Option<String>,
    #[command(flatten)]
    pub options: AutotuneOptions,
    #[command(flatten)]
    pub target: TargetOptions,
    /// Go on with an autotune that was interrupted, or whose process died
    #[arg(long, value_name = "FOLDER", conflicts_with = "server")]
    pub resume: Option<PathBuf>,
    /// Parent folder for its own folder [default: 'experiments', next to the runs]
    #[arg(long, value_name = "FOLDER", env = "SYSDYNO_EXPERIMENTS_DIR")]
    pub folder: Option<PathBuf>,
    #[command(flatten)]
    pub record: RecordOptions,
    #[command(flatten)]
    pub host: ExperimentHostArgs,
    /// Print the plan and all changes that may be tried, with what each needs, and exit
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub live: LiveOptions,
}

const AFTER_HELP: &str = "\
First, a closed load shows what stops the server. Then, round by round: the changes that fit what was seen \
are compared with the server as it is, in blocks; the best one is measured again, in fresh trials, and kept \
only if these prove it. In the end, each kept change is left out once, and all that is kept is compared with \
the server as it was found. Every change is made for single trials and undone after each, however the \
process ends; what was kept stays in force only with --keep. Needs root.";
