//! Command-line arguments of `experiment`.

use super::{ComparisonForm, FenceOptions, LabSshOptions, LiveOptions, RecordOptions};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Arguments of `experiment`.
#[derive(Debug, Args)]
pub struct ExperimentArgs {
    /// Command to run
    #[command(subcommand)]
    pub command: ExperimentCommand,
}

/// The subcommands of `experiment`.
#[derive(Debug, Subcommand)]
pub enum ExperimentCommand {
    /// Print what would be measured, in which order, and how long it would take, and exit
    Plan(ExperimentRunArgs),
    /// Measure all combinations, block by block
    Run(ExperimentMeasureArgs<ExperimentRunArgs>),
    /// Resume an experiment: measure the missing trials
    Resume(ExperimentMeasureArgs<ExperimentFolderArgs>),
    /// Compare the results again, and rebuild the report
    Report(ExperimentFolderArgs),
}

/// Arguments of commands that measure.
#[derive(Debug, Args)]
pub struct ExperimentMeasureArgs<A: Args> {
    /// What is measured.
    #[command(flatten)]
    pub what: A,
    #[command(flatten)]
    pub stream: ExperimentStreamArgs,
}

/// Who looks on while an experiment is measured.
#[derive(Debug, Args)]
pub struct ExperimentStreamArgs {
    /// Output format [default: text]
    #[arg(long, value_enum, value_name = "FORM", conflicts_with = "json")]
    pub output: Option<ComparisonForm>,
    #[command(flatten)]
    pub live: LiveOptions,
}

/// Arguments that start an experiment.
#[derive(Debug, Args)]
pub struct ExperimentRunArgs {
    /// Experiment file; docs/reference/formats/experiment.md describes it
    pub file: PathBuf,
    /// Parent folder for the experiment's own folder [default: 'experiments', next to the runs]
    #[arg(long, value_name = "FOLDER", env = "SYSDYNO_EXPERIMENTS_DIR")]
    pub folder: Option<PathBuf>,
    /// Measure the short version, as defined by the file's [quick] table
    #[arg(long)]
    pub quick: bool,
    #[command(flatten)]
    pub record: RecordOptions,
    #[command(flatten)]
    pub host: ExperimentHostArgs,
}

/// Arguments for an experiment that was started before.
#[derive(Debug, Args)]
pub struct ExperimentFolderArgs {
    /// Folder of the experiment
    pub folder: PathBuf,
    #[command(flatten)]
    pub host: ExperimentHostArgs,
}

/// The host whose settings change, and the output format.
#[derive(Debug, Args)]
pub struct ExperimentHostArgs {
    /// State folder; journals of settings are in its 'tune' subfolder, labs in 'lab' [default: /var/lib/sysdyno]
    #[arg(long, value_name = "FOLDER", env = "SYSDYNO_STATE_DIR")]
    pub state_dir: Option<PathBuf>,
    /// Root of the /proc, /sys, and /etc to use
    #[arg(long, value_name = "FOLDER", default_value = "/", hide = true)]
    pub root: PathBuf,
    #[command(flatten)]
    pub ssh: LabSshOptions,
    #[command(flatten)]
    pub fence: FenceOptions,
    /// Install packages that the lab's services need, without asking
    #[arg(long)]
    pub yes: bool,
    /// Show no progress of trials
    #[arg(long)]
    pub quiet: bool,
    /// Print the result as one JSON document
    #[arg(long)]
    pub json: bool,
}
