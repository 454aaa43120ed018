//! Command-line arguments of `inject`.

use super::LabHostOptions;
use clap::Args;
use std::path::PathBuf;
use sysdyno_plan::options::Typed;
use sysdyno_record::units::SpanNs;

/// Arguments of `inject`.
#[derive(Debug, Args)]
pub struct InjectArgs {
    /// Fault to plant; `sysdyno selftest diagnose --list` lists them
    #[arg(required_unless_present = "remove")]
    pub fault: Option<String>,
    /// Lab that is up, by name or file; by file if its services use files next to the lab file
    #[arg(long, value_name = "NAME|FILE")]
    pub lab: String,
    /// Intensity, 1 being the weakest
    #[arg(long, value_name = "N", default_value = "2", value_parser = clap::value_parser!(u8).range(1..=3))]
    pub level: u8,
    /// Remove the fault after this time, or at Ctrl-C if that comes first
    #[arg(long = "for", value_name = "DURATION", default_value = "10m")]
    pub duration: Typed<SpanNs>,
    /// Restore all services as the lab file defines them, after a sysdyno that had planted a fault was killed
    #[arg(long, conflicts_with = "fault")]
    pub remove: bool,
    /// State folder; labs are in its 'lab' subfolder [default: /var/lib/sysdyno]
    #[arg(long, value_name = "FOLDER", env = "SYSDYNO_STATE_DIR")]
    pub state_dir: Option<PathBuf>,
    #[command(flatten)]
    pub ways: LabHostOptions,
}
