//! Command-line arguments of `selftest`.

use super::{ExperimentHostArgs, RecordOptions};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Arguments of `selftest`.
#[derive(Debug, Args)]
pub struct SelftestArgs {
    /// What to test
    #[command(subcommand)]
    pub command: SelftestCommand,
}

/// The subcommands of `selftest`.
#[derive(Debug, Subcommand)]
pub enum SelftestCommand {
    /// Plant faults in labs of real services, and judge each diagnosis; needs root
    Diagnose(SelftestDiagnoseArgs),
}

/// Arguments of `selftest diagnose`.
#[derive(Debug, Args)]
pub struct SelftestDiagnoseArgs {
    /// Faults or beds to test [default: all]
    #[arg(value_name = "FAULT|BED")]
    pub names: Vec<String>,
    /// List all beds and their faults, and exit
    #[arg(long)]
    pub list: bool,
    /// Only this intensity of each fault, 1 being the weakest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    pub level: Option<u8>,
    /// Parent folder for a folder per bed, with all runs [default: 'experiments', next to the runs]
    #[arg(long, value_name = "FOLDER", env = "SYSDYNO_EXPERIMENTS_DIR")]
    pub folder: Option<PathBuf>,
    #[command(flatten)]
    pub record: RecordOptions,
    #[command(flatten)]
    pub host: ExperimentHostArgs,
}
