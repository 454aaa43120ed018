//! Command-line arguments of `runs`.

use super::RecordOptions;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;
use sysdyno_plan::options::Word;
use sysdyno_record::manifest::RunKind;

/// Arguments of `runs`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct RunsArgs {
    #[command(subcommand)]
    pub command: Option<RunsCommand>,
    /// Sort order: newest, highest rate, lowest p99, or worst verdict first
    #[arg(long, value_enum, default_value_t)]
    pub sort: RunsSort,
    /// Show only runs of this command
    #[arg(long, value_enum)]
    pub kind: Option<Word<RunKind>>,
    /// Show only runs with this verdict
    #[arg(long, value_enum)]
    pub verdict: Option<RunsVerdict>,
    /// Show only runs with this tag; several: with all of them
    #[arg(long = "tag", value_name = "TAG")]
    pub tags: Vec<String>,
    /// Show only runs with this text in their name, command line, bottleneck, tags, or note
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub contains: Option<String>,
    /// Show at most this many
    #[arg(long, short = 'n', value_name = "N")]
    pub limit: Option<usize>,
    #[command(flatten)]
    pub record: RecordOptions,
    /// Print the result as one JSON document
    #[arg(long)]
    pub json: bool,
}

/// The subcommands of `runs`.
#[derive(Debug, Subcommand)]
pub enum RunsCommand {
    /// Remove runs
    Rm {
        /// Runs to remove, each by its folder, its name, or the end of its name
        #[arg(required = true, value_name = "RUN")]
        runs: Vec<PathBuf>,
        #[command(flatten)]
        record: RecordOptions,
    },
    /// Tag a run, to find it again
    Tag {
        /// The run: its folder, its name, or the end of its name
        #[arg(value_name = "RUN")]
        run: PathBuf,
        /// Words without spaces
        #[arg(value_name = "TAG", required_unless_present = "remove")]
        tags: Vec<String>,
        /// Remove this tag
        #[arg(long, value_name = "TAG")]
        remove: Vec<String>,
        #[command(flatten)]
        record: RecordOptions,
    },
    /// Write a note about a run
    Note {
        /// The run: its folder, its name, or the end of its name
        #[arg(value_name = "RUN")]
        run: PathBuf,
        /// The note, in place of an earlier one; an empty text removes it
        #[arg(value_name = "TEXT", allow_hyphen_values = true)]
        note: String,
        #[command(flatten)]
        record: RecordOptions,
    },
    /// Remove all runs except the newest
    Prune {
        /// Number of runs to keep
        #[arg(long, value_name = "N")]
        keep: usize,
        /// Print which runs would be removed, and exit
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        record: RecordOptions,
    },
}

/// Sort orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RunsSort {
    /// Newest first
    #[default]
    Time,
    /// Highest rate first
    Rate,
    /// Lowest p99 first
    P99,
    /// Worst verdict first
    Verdict,
}

/// Verdicts of runs and of experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RunsVerdict {
    /// The numbers can be trusted
    Valid,
    /// The numbers may be skewed
    Suspect,
    /// The numbers are not the server's
    Invalid,
    /// B is better
    Better,
    /// B is worse
    Worse,
}
