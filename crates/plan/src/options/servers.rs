//! Options that name the hosts of the server and of the generators.

use super::typed::Typed;
use clap::Args;
use serde::Deserialize;
use std::path::PathBuf;
use sysdyno_record::place::HostPlace;
use sysdyno_record::units::SpanNs;

/// Hosts of the server and of the generators.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Other hosts")]
pub struct ServerOptions {
    /// Also record the counters of the server's own host: netns:NAME, netns:/PATH, [USER@]HOST, ssh://[USER@]HOST[:PORT], or
    /// fleet:NAME
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
    /// Send the load from these hosts together, written as for --server, 'here' for this one, or agents of a fleet:
    /// fleet:NAME, fleet:KEY=VALUE+KEY=VALUE (those with these labels), fleet:all
    ///
    /// Rate, requests, connections, and clients are totals, divided among the hosts; -t is the threads on each host. All
    /// hosts start at the same instant, and their counts and histograms are merged. The verdict names any host that falls
    /// behind or drops out. Log replay, sessions, and probes cannot be divided.
    #[arg(long, value_name = "HOST,…", value_delimiter = ',', env = "SYSDYNO_LOAD_FROM")]
    pub load_from: Vec<Typed<HostPlace>>,
    /// With --load-from, begin only with this many hosts, and go on while this many are left [default: all of them]
    ///
    /// The part of a host that is lost is missing from then on: no other host sends it. The run is then SUSPECT.
    #[arg(long, value_name = "COUNT", requires = "load_from", value_parser = clap::value_parser!(u32).range(1..))]
    #[serde(skip)]
    pub min_hosts: Option<u32>,
    /// How ssh reaches them.
    #[command(flatten)]
    #[serde(skip)]
    pub ssh: SshOptions,
    /// How the broker of a fleet is reached.
    #[command(flatten)]
    #[serde(skip)]
    pub fleet: FleetOptions,
}

/// How the broker of a fleet is reached, and how its agents are used.
#[derive(Clone, Debug, Default, Args)]
pub struct FleetOptions {
    /// How the broker is reached.
    #[command(flatten)]
    pub broker: BrokerOptions,
    /// Stop a load on agents that have heard nothing for this long: 500ms to 5s [default: 800ms]
    #[arg(long, value_name = "TIME")]
    pub fleet_lease: Option<Typed<SpanNs>>,
}

impl FleetOptions {
    /// Agents that are used as usual, behind this broker.
    pub fn behind(broker: &BrokerOptions) -> FleetOptions {
        FleetOptions { broker: broker.clone(), ..FleetOptions::default() }
    }
}

/// How the broker of a fleet is reached.
#[derive(Clone, Debug, Default, Args)]
pub struct BrokerOptions {
    /// Broker of the fleet: tls://HOST[:PORT] [default: the one that the credentials name]
    #[arg(long, global = true, value_name = "URL", env = "SYSDYNO_NATS")]
    pub nats: Option<String>,
    /// Credentials of a controller [default: those of the broker that `sysdyno fleet up` has started here]
    #[arg(long, global = true, value_name = "FILE", env = "SYSDYNO_NATS_CREDS")]
    pub nats_creds: Option<PathBuf>,
}

/// How ssh reaches other hosts.
#[derive(Clone, Debug, Default, Args)]
pub struct SshOptions {
    /// Configuration file for ssh [default: ssh's own]
    #[arg(long, global = true, value_name = "FILE", env = "SYSDYNO_SSH_CONFIG")]
    pub ssh_config: Option<PathBuf>,
}
