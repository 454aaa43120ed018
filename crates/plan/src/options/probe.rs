//! Options of the probe that runs alongside a load.

use super::words::Word;
use clap::Args;
use serde::Deserialize;
use std::path::PathBuf;
use sysdyno_record::probe::ProbeKind;

/// The probe that runs alongside a load.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Probe")]
pub struct ProbeOptions {
    /// Also probe the server ten times per second from outside the load: the same request (http), a connect (tcp), or an
    /// echo (icmp)
    #[arg(long, value_enum, value_name = "KIND", env = "SYSDYNO_PROBE")]
    pub probe: Option<Word<ProbeKind>>,
    /// Write one line per probe, with its time, to this file
    #[arg(long, value_name = "FILE", env = "SYSDYNO_PROBE_LOG")]
    pub probe_log: Option<PathBuf>,
}
