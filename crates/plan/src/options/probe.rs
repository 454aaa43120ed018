//! Options of the probe beside a load.

use clap::Args;
use serde::Deserialize;
use std::path::PathBuf;
use sysdyno_record::probe::ProbeKind;

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
