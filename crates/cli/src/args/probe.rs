//! Options of the probe: on its own, and beside a load.

use super::{FenceOptions, Typed};
use clap::Args;
use serde::Deserialize;
use std::path::PathBuf;
use sysdyno_record::probe::ProbeKind;
use sysdyno_record::units::SpanNs;

/// What the options do not say.
const AFTER_HELP: &str = "\
Each line shows when a probe was answered or timed out, its number, and its response time, counted
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
    pub kind: Option<ProbeKindOption>,
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

/// The probe beside a load.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Probe")]
pub struct ProbeOptions {
    /// Also probe the server ten times per second from outside the load: the same request (http), a connect (tcp), or an
    /// echo (icmp)
    #[arg(long, value_enum, value_name = "KIND", env = "SYSDYNO_PROBE")]
    pub probe: Option<ProbeKindOption>,
    /// Write one line per probe, with its time, to this file
    #[arg(long, value_name = "FILE", env = "SYSDYNO_PROBE_LOG")]
    pub probe_log: Option<PathBuf>,
}

/// Operations of a probe, as typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProbeKindOption {
    /// A request on a persistent connection
    Http,
    /// A TCP connect, closed at once
    Tcp,
    /// An ICMP echo, as in ping
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
