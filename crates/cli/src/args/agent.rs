//! Options of other machines that take part in labs, and of the agents that run there.

use clap::Args;
use std::path::PathBuf;
use sysdyno_plan::options::{BrokerOptions, SshOptions, Typed};
use sysdyno_record::units::SpanNs;

/// How to reach hosts of a lab that are other machines.
#[derive(Clone, Debug, Default, Args)]
pub struct LabHostOptions {
    #[command(flatten)]
    pub ssh: SshOptions,
    #[command(flatten)]
    pub broker: BrokerOptions,
    /// Use `sudo -n` on hosts behind ssh; labs need root there
    #[arg(long, global = true)]
    pub server_sudo: bool,
}

/// Arguments of `agent`.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// Serve requests on stdin until it closes
    #[arg(long, required = true)]
    pub stdio: bool,
    /// Stop a part of a load when nothing was heard for this long
    #[arg(long, value_name = "TIME")]
    pub lease: Option<Typed<SpanNs>>,
    /// Enter this network namespace first
    #[arg(long, value_name = "FILE")]
    pub netns: Option<PathBuf>,
    /// State folder of this host; its parts of labs are in the 'lab' subfolder [default: /var/lib/sysdyno]
    #[arg(long, value_name = "FOLDER", env = "SYSDYNO_STATE_DIR")]
    pub state_dir: Option<PathBuf>,
}
