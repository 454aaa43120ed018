//! Options that say on which hosts the server and the generators run, and the agents that are started there.

use super::Typed;
use clap::Args;
use serde::Deserialize;
use std::path::PathBuf;
use sysdyno_run::agent::HostPlace;

/// Hosts of the server and of the generators.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Other hosts")]
pub struct ServerOptions {
    /// Host of the server, whose counters are read too: netns:NAME, netns:/PATH, [USER@]HOST or ssh://[USER@]HOST[:PORT]
    ///
    /// This program is started there, in a network namespace of this machine or by ssh, and only reads. Over ssh it is
    /// sent there, checked by its digest and removed; ssh asks nothing (BatchMode) and believes no unknown host key.
    /// --watch-pid means processes of that host.
    #[arg(long, value_name = "HOST", env = "SYSDYNO_SERVER")]
    pub server: Option<Typed<HostPlace>>,
    /// Start the program there by `sudo -n`, to see the processes of other users
    #[arg(long, requires = "server")]
    #[serde(skip)]
    pub server_sudo: bool,
    /// Hosts that send the load together, instead of this process: as for --server, or 'here'
    ///
    /// Rate, requests, connections and clients are those of the whole load; each arrival and each connection is one
    /// host's. -t is the threads of each. All begin at one instant, and their counts and histograms are merged; the verdict
    /// names a host that is late or lost. What a log, session or probe sends is not spread.
    #[arg(long, value_name = "HOST,…", value_delimiter = ',', env = "SYSDYNO_LOAD_FROM")]
    pub load_from: Vec<Typed<HostPlace>>,
    #[command(flatten)]
    #[serde(skip)]
    pub ssh: SshOptions,
}

/// How ssh reaches other hosts.
#[derive(Clone, Debug, Default, Args)]
pub struct SshOptions {
    /// Configuration for ssh [default: ssh's own]
    #[arg(long, global = true, value_name = "FILE", env = "SYSDYNO_SSH_CONFIG")]
    pub ssh_config: Option<PathBuf>,
}

/// How hosts of a lab are reached that are behind ssh.
#[derive(Clone, Debug, Default, Args)]
pub struct LabSshOptions {
    #[command(flatten)]
    pub ssh: SshOptions,
    /// Start the program on hosts behind ssh by `sudo -n`; labs need root there
    #[arg(long, global = true)]
    pub server_sudo: bool,
}

/// Arguments of `agent`.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// Serve requests on the standard input until it ends
    #[arg(long, required = true)]
    pub stdio: bool,
    /// Enter this network namespace first
    #[arg(long, value_name = "FILE")]
    pub netns: Option<PathBuf>,
    /// State folder of this host; shares of labs lie in 'lab' below it [default: /var/lib/sysdyno]
    #[arg(long, value_name = "FOLDER", env = "SYSDYNO_STATE_DIR")]
    pub state_dir: Option<PathBuf>,
}
