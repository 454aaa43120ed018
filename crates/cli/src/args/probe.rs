//! Command-line arguments of `probe`.

use super::FenceOptions;
use clap::Args;
use std::path::PathBuf;
use sysdyno_plan::options::{Typed, Word};
use sysdyno_record::probe::ProbeKind;
use sysdyno_record::units::SpanNs;

/// What the help of single options does not say.
const AFTER_HELP: &str = "\
Each line shows when a probe was answered or timed out, its number, and its response time, counted \
from the intended send. Ctrl-\\ prints the statistics so far; Ctrl-C stops and prints the result.
Exit code 1: no probe was answered.";

/// Arguments of `probe`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct ProbeArgs {
    /// Target: HOST (ICMP), HOST:PORT (TCP), or http://HOST[:PORT]/PATH or unix:SOCKET[:/PATH] (HTTP)
    pub target: String,
    /// Kind of probe [default: by the form of the target]
    #[arg(long, short = 'k', value_enum)]
    pub kind: Option<Word<ProbeKind>>,
    /// Stop after this many probes [default: run until Ctrl-C]
    #[arg(long, short = 'c', value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Stop after this time
    #[arg(long, short = 'd', value_name = "DURATION")]
    pub duration: Option<Typed<SpanNs>>,
    /// Interval between probes; at least 10ms, or 100ms to a public address [default: 1s]
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
    /// Print only the result, as one JSON document
    #[arg(long)]
    pub json: bool,
}
