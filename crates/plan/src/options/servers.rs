//! Options that name the hosts of the server and of the generators.

use super::typed::Typed;
use clap::Args;
use serde::Deserialize;
use std::path::PathBuf;
use sysdyno_record::place::HostPlace;

/// Hosts of the server and of the generators.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Other hosts")]
pub struct ServerOptions {
    /// Also record the counters of the server's own host: netns:NAME, netns:/PATH, [USER@]HOST, or ssh://[USER@]HOST[:PORT]
    ///
    /// sysdyno starts itself there, in a network namespace of this machine or over ssh, and only reads. Over ssh, it copies
    /// itself, checks the copy's digest, and removes it afterwards; ssh runs in BatchMode and rejects unknown host keys.
    /// With this option, --watch-pid names processes on that host.
    #[arg(long, value_name = "HOST", env = "SYSDYNO_SERVER")]
    pub server: Option<Typed<HostPlace>>,
    /// Use `sudo -n` on that host, to see processes of other users
    #[arg(long, requires = "server")]
    #[serde(skip)]
    pub server_sudo: bool,
    /// Send the load from these hosts together, written as for --server, or 'here' for this one
    ///
    /// Rate, requests, connections, and clients are totals, divided among the hosts; -t is the threads on each host. All
    /// hosts start at the same instant, and their counts and histograms are merged. The verdict names any host that falls
    /// behind or drops out. Log replay, sessions, and probes cannot be divided.
    #[arg(long, value_name = "HOST,…", value_delimiter = ',', env = "SYSDYNO_LOAD_FROM")]
    pub load_from: Vec<Typed<HostPlace>>,
    /// How ssh reaches them.
    #[command(flatten)]
    #[serde(skip)]
    pub ssh: SshOptions,
}

/// How ssh reaches other hosts.
#[derive(Clone, Debug, Default, Args)]
pub struct SshOptions {
    /// Configuration file for ssh [default: ssh's own]
    #[arg(long, global = true, value_name = "FILE", env = "SYSDYNO_SSH_CONFIG")]
    pub ssh_config: Option<PathBuf>,
}
