//! Command-line arguments of `squeeze`.

use super::{FenceOptions, RecordOptions};
use clap::Args;
use std::path::PathBuf;
use sysdyno_plan::options::{SqueezeOptions, TargetOptions, Typed, WorkloadOptions};
use sysdyno_record::place::HostPlace;

/// Arguments of `squeeze`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct SqueezeArgs {
    /// Server to load: http[s]://HOST[:PORT]/PATH, unix:SOCKET[:/PATH], or memcached[s]://HOST[:PORT]
    pub url: String,
    #[command(flatten)]
    pub options: SqueezeOptions,
    #[command(flatten)]
    pub workload: WorkloadOptions,
    #[command(flatten)]
    pub target: TargetOptions,
    /// Network namespace of this machine that the server is in: netns:NAME or netns:/PATH; that of a lab is found
    #[arg(long, value_name = "HOST", env = "SYSDYNO_SERVER")]
    pub server: Option<Typed<HostPlace>>,
    #[command(flatten)]
    pub fence: FenceOptions,
    #[command(flatten)]
    pub record: RecordOptions,
    /// State folder; journals of settings are in its 'tune' subfolder [default: /var/lib/sysdyno]
    #[arg(long, value_name = "FOLDER", env = "SYSDYNO_STATE_DIR")]
    pub state_dir: Option<PathBuf>,
    /// Show no progress
    #[arg(long)]
    pub quiet: bool,
    /// Print the plan and how long it may take, and exit
    #[arg(long)]
    pub dry_run: bool,
    /// Print the result as one JSON document
    #[arg(long)]
    pub json: bool,
}

const AFTER_HELP: &str = "\
A closed load is sent for a few seconds at a time: with and without a part of one resource, in pairs, in \
random order. The elasticity of a resource is ln(B / A) / ln(1 - depth): 1 if goodput falls as the \
resource does, 0 if it does not. Elasticities of all rates sum to 1; less means that a resource is missing \
from the list. Everything is undone, however it ends. Needs root, and the server on this machine.";
