//! Command-line arguments of `probe`.

use super::{FenceOptions, RecordOptions};
use clap::Args;
use std::path::PathBuf;
use sysdyno_plan::options::{ProbeTargetOption, Typed, Word};
use sysdyno_record::probe::ProbeKind;
use sysdyno_record::units::SpanNs;

/// What the help of single options does not say.
const AFTER_HELP: &str = "\
Each line shows when a probe was answered or timed out, its target if there are several, its number, and its \
response time, counted from the intended send. Ctrl-\\ prints the statistics so far; Ctrl-C stops and prints the \
result: what each target lost, and in which windows of time, with the targets that did not see them.
`sysdyno probe A B > FILE` keeps the lines; `sysdyno report FILE` draws them.
Exit code 1: a target never answered.";

/// Arguments of `probe`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct ProbeArgs {
    /// Targets, at most 16: HOST (ICMP), HOST:PORT (TCP), or http://HOST[:PORT]/PATH or unix:SOCKET[:/PATH] (HTTP); NAME=TARGET
    /// gives one a name
    #[arg(value_name = "[NAME=]TARGET", required = true)]
    pub targets: Vec<ProbeTargetOption>,
    /// Kind of probe [default: by the form of the target]
    #[arg(long, short = 'k', value_enum)]
    pub kind: Option<Word<ProbeKind>>,
    /// Stop after this many probes of each target [default: run until Ctrl-C]
    #[arg(long, short = 'c', value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Stop after this time
    #[arg(long, short = 'd', value_name = "DURATION")]
    pub duration: Option<Typed<SpanNs>>,
    /// Interval between probes of a target; at least 10ms, or 100ms to a public address [default: 1s]
    #[arg(long, short = 'i', value_name = "DURATION")]
    pub interval: Option<Typed<SpanNs>>,
    /// Time out a probe this long after its intended send [default: 5s]
    #[arg(long, short = 'W', value_name = "DURATION")]
    pub timeout: Option<Typed<SpanNs>>,
    /// Also write the lines to this file
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    #[command(flatten)]
    pub fence: FenceOptions,
    #[command(flatten)]
    pub kept: KeptOptions,
    /// Print only the result, as one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Whether a probe has a run folder.
#[derive(Debug, Args)]
pub struct KeptOptions {
    /// Also record a run, with a report of all targets on one time axis
    #[arg(long, help_heading = "Record")]
    pub record: bool,
    #[command(flatten)]
    pub folder: RecordOptions,
}
