//! Options of the probe: on its own, and beside a load.

use super::{FenceOptions, Typed};
use clap::Args;
use serde::Deserialize;
use std::path::PathBuf;
use sysdyno_record::probe::ProbeKind;
use sysdyno_record::units::SpanNs;

/// What the options do not say.
const AFTER_HELP: &str = "\
Each line says when an operation was answered or given up, its number and its time, which counts
from the instant at which it was to be sent. Ctrl-\\ prints the statistics so far, Ctrl-C ends with
the result. Exit code 1: nothing was answered.";

/// Arguments of `probe`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct ProbeArgs {
    /// What is probed: HOST (ICMP), HOST:PORT (TCP), http://HOST[:PORT]/PATH or unix:SOCKET[:/PATH] (HTTP)
    pub target: String,
    /// The operation, instead of the one that the target's form stands for
    #[arg(long, short = 'k', value_enum)]
    pub kind: Option<ProbeKindOption>,
    /// End after so many operations [default: go on until Ctrl-C]
    #[arg(long, short = 'c', value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// End after this time
    #[arg(long, short = 'd', value_name = "DURATION")]
    pub duration: Option<Typed<SpanNs>>,
    /// Time between two operations; at least 10ms, to a public address 100ms [default: 1s]
    #[arg(long, short = 'i', value_name = "DURATION")]
    pub interval: Option<Typed<SpanNs>>,
    /// Give an operation up this long after its intended send [default: 5s]
    #[arg(long, short = 'W', value_name = "DURATION")]
    pub timeout: Option<Typed<SpanNs>>,
    /// Also write the lines into this file
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    #[command(flatten)]
    pub fence: FenceOptions,
    /// Print no lines, and the result as one JSON document
    #[arg(long)]
    pub json: bool,
}

/// The probe beside a load.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Probe")]
pub struct ProbeOptions {
    /// Measure beside the load, ten times a second, what an outsider waits: for the same request (http), a
    /// connection (tcp) or an echo (icmp)
    #[arg(long, value_enum, value_name = "KIND", env = "SYSDYNO_PROBE")]
    pub probe: Option<ProbeKindOption>,
    /// Write a line per operation of the probe, with its time, into this file
    #[arg(long, value_name = "FILE", env = "SYSDYNO_PROBE_LOG")]
    pub probe_log: Option<PathBuf>,
}

/// Operations of a probe, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeKindOption {
    /// A request on a kept connection
    Http,
    /// A connection, made and closed
    Tcp,
    /// An ICMP echo, as of ping
    Icmp,
}

impl From<ProbeKindOption> for ProbeKind {
    fn from(option: ProbeKindOption) -> ProbeKind {
        match option {
            ProbeKindOption::Http => ProbeKind::Http,
            ProbeKindOption::Tcp => ProbeKind::Tcp,
            ProbeKindOption::Icmp => ProbeKind::Icmp,
        }
    }
}
