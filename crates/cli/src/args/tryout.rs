//! Command-line arguments of `try`.

use super::{ComparisonOutputOptions, FenceOptions, LiveOptions, RecordOptions};
use clap::Args;
use std::path::PathBuf;
use sysdyno_plan::options::{TargetOptions, TryOptions, WorkloadOptions};

/// Arguments of `try`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct TryArgs {
    /// Settings to change in B, such as net.core.somaxconn=4096; listener.backlog=N is the backlog of the server's own port
    #[arg(value_name = "KEY=VALUE")]
    pub changes: Vec<String>,
    /// Server to load; with two URLs, the second one is B
    #[arg(last = true, value_name = "URL", num_args = 1..=2)]
    pub servers: Vec<String>,
    /// Command A, whose run time is measured
    #[arg(long = "a", value_name = "COMMAND", requires = "command_b", conflicts_with_all = ["changes", "servers"])]
    pub command_a: Option<String>,
    /// Command B
    #[arg(long = "b", value_name = "COMMAND", requires = "command_a")]
    pub command_b: Option<String>,
    /// Command whose run time is measured with and without the change, instead of loading a server
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["servers", "command_a"])]
    pub command: Option<String>,
    /// Run this command before each run of --command, unmeasured; if it fails, everything stops
    #[arg(long, value_name = "COMMAND", requires = "command")]
    pub prepare: Option<String>,
    /// Run this command after each run of --command, unmeasured, even if the run was interrupted
    #[arg(long, value_name = "COMMAND", requires = "command")]
    pub clean: Option<String>,
    /// Run commands by /bin/sh instead of directly
    #[arg(long)]
    pub shell: bool,
    /// Experiment file that defines A, B, and any options
    #[arg(long, value_name = "FILE", conflicts_with_all = ["changes", "servers", "command_a", "command"])]
    pub experiment: Option<PathBuf>,
    #[command(flatten)]
    pub options: TryOptions,
    #[command(flatten)]
    pub target: TargetOptions,
    #[command(flatten)]
    pub workload: WorkloadOptions,
    #[command(flatten)]
    pub fence: FenceOptions,
    #[command(flatten)]
    pub record: RecordOptions,
    /// State folder; journals of settings are in its 'tune' subfolder [default: /var/lib/sysdyno]
    #[arg(long, value_name = "FOLDER", env = "SYSDYNO_STATE_DIR")]
    pub state_dir: Option<PathBuf>,
    /// Root of the /proc, /sys, and /etc to use
    #[arg(long, value_name = "FOLDER", default_value = "/", hide = true)]
    pub root: PathBuf,
    /// Show no progress
    #[arg(long)]
    pub quiet: bool,
    /// Print the plan and how long it may take, and exit
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub live: LiveOptions,
    #[command(flatten)]
    pub output: ComparisonOutputOptions,
}

const AFTER_HELP: &str = "\
A is the host as it is; B is the host with the change. Trials run in pairs, in random order. Measuring \
stops when the interval is narrow enough, or lies clearly beyond the effect that matters. The verdict \
is better, worse, the same, or can't tell. All changes are undone, however the experiment ends, unless \
--keep is given, B is better, and all guardrails held.";
