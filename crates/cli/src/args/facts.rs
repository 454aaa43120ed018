//! Command-line arguments of `facts`.

use super::RecordOptions;
use clap::Args;
use std::path::PathBuf;
use sysdyno_plan::options::Word;
use sysdyno_record::facts::HostUse;

/// Arguments of `facts`.
#[derive(Debug, Args)]
pub struct FactsArgs {
    /// Host to show: localhost, a run (its folder, its name, or the end of its name), or a file saved with -o; with two, show the differences [default: localhost]
    #[arg(value_name = "HOST", num_args = 0..=2)]
    pub hosts: Vec<PathBuf>,
    /// What the hosts are used for; decides what is listed first
    #[arg(long, value_enum, default_value_t = Word(HostUse::Web), env = "SYSDYNO_WORKLOAD")]
    pub workload: Word<HostUse>,
    /// Show only facts with matching names, such as 'sysctl.net.*'; * matches any characters
    #[arg(long, value_name = "GLOB")]
    pub only: Option<String>,
    /// Print everything, not only one screenful
    #[arg(long)]
    pub all: bool,
    /// Print the network ports as a table for the rack: driver, link, speed, slot, NUMA node, queues, interrupts
    #[arg(long, conflicts_with_all = ["identify", "only", "all", "json", "output", "fail_if_different"])]
    pub ports: bool,
    /// Let the light of a network port blink, for 30s or as long as you say, to find its cable
    #[arg(long, num_args = 1..=2, value_names = ["PORT", "DURATION"], exclusive = true)]
    pub identify: Vec<String>,
    /// Exit with code 1 if the two hosts differ
    #[arg(long)]
    pub fail_if_different: bool,
    /// Save the facts as JSON to this file, for a later comparison
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub record: RecordOptions,
    /// Print the result as one JSON document
    #[arg(long)]
    pub json: bool,
}
