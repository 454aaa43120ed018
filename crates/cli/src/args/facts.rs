//! What can be typed behind `facts`.

use super::RecordOptions;
use clap::Args;
use std::path::PathBuf;
use sysdyno_record::facts::Workload;

/// Arguments of `facts`.
#[derive(Debug, Args)]
pub struct FactsArgs {
    /// This host (localhost), a run (its folder, its name, or the end of its name), or a file that -o saved; of two, say what differs [default: localhost]
    #[arg(value_name = "HOST", num_args = 0..=2)]
    pub hosts: Vec<PathBuf>,
    /// What the hosts are for, which decides what matters first
    #[arg(long, value_enum, default_value_t, env = "SYSDYNO_WORKLOAD")]
    pub workload: WorkloadOption,
    /// Only facts of these names; * stands for any characters, as in 'sysctl.net.*'
    #[arg(long, value_name = "GLOB")]
    pub only: Option<String>,
    /// Print everything, not only what fits a screen
    #[arg(long)]
    pub all: bool,
    /// End with exit code 1 if the two hosts differ
    #[arg(long)]
    pub fail_if_different: bool,
    /// Save the facts as JSON here, to compare them later or elsewhere
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub record: RecordOptions,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// What a host is used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum WorkloadOption {
    /// Many connections and short requests
    #[default]
    Web,
    /// Many files made, changed and removed
    Files,
    /// Data that lie in memory
    Memory,
    /// Any of these
    Any,
}

impl From<WorkloadOption> for Workload {
    fn from(option: WorkloadOption) -> Workload {
        match option {
            WorkloadOption::Web => Workload::Web,
            WorkloadOption::Files => Workload::Files,
            WorkloadOption::Memory => Workload::Memory,
            WorkloadOption::Any => Workload::Any,
        }
    }
}
