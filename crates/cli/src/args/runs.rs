//! What can be typed behind `runs`.

use super::RecordOptions;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Arguments of `runs`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RunsArgs {
    #[command(subcommand)]
    pub command: Option<RunsCommand>,
    /// What comes first: the newest, the greatest rate, the least p99, or the worst verdict
    #[arg(long, value_enum, default_value_t)]
    pub sort: RunsSort,
    /// Only runs of this command
    #[arg(long, value_enum)]
    pub kind: Option<RunsKind>,
    /// Only runs with this verdict
    #[arg(long, value_enum)]
    pub verdict: Option<RunsVerdict>,
    /// Only runs with this in their name, their command line, or what stopped them
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub contains: Option<String>,
    /// At most so many
    #[arg(long, short = 'n', value_name = "N")]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub record: RecordOptions,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// What is done with runs.
#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// Remove runs
    Rm {
        /// The runs: their folders, their names, or the ends of their names
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<PathBuf>,
        #[command(flatten)]
        record: RecordOptions,
    },
    /// Remove all runs but the newest
    Prune {
        /// How many stay
        #[arg(long, value_name = "N")]
        keep: usize,
        /// Only say which would be removed
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        record: RecordOptions,
    },
}

/// What comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RunsSort {
    /// The newest
    #[default]
    Time,
    /// The greatest rate
    Rate,
    /// The least 99th percentile
    P99,
    /// The worst verdict
    Verdict,
}

/// Commands that record runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RunsKind {
    /// Searches for the capacity
    Run,
    /// Loads
    Load,
    /// Demonstrations
    Demo,
    /// Experiments
    Try,
}

/// Verdicts of runs and words of experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RunsVerdict {
    /// The numbers may be trusted
    Valid,
    /// They may be skewed
    Suspect,
    /// They must not be taken for the server's
    Invalid,
    /// B is better
    Better,
    /// B is worse
    Worse,
}
