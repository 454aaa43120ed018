//! Options that say on which host the server runs, and the agent that is started there.

use super::Typed;
use clap::Args;
use serde::Deserialize;
use std::path::PathBuf;
use sysdyno_lab::agent::HostPlace;

/// The server's host.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Server's host")]
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
    /// Configuration for ssh [default: ssh's own]
    #[arg(long, value_name = "FILE", env = "SYSDYNO_SSH_CONFIG")]
    #[serde(skip)]
    pub ssh_config: Option<PathBuf>,
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
}
