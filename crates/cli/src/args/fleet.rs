//! Command-line arguments of `fleet`.

use clap::{Args, Subcommand};
use std::path::PathBuf;
use sysdyno_fleet::Permission;
use sysdyno_plan::options::{BrokerOptions, Typed};
use sysdyno_record::fleet::FleetLabels;
use sysdyno_record::units::SpanNs;

/// Arguments of `fleet`.
#[derive(Debug, Args)]
pub struct FleetArgs {
    /// What to do
    #[command(subcommand)]
    pub command: FleetCommand,
    /// State folder; the fleet is in its 'fleet' subfolder [default: /var/lib/sysdyno for root, else
    /// ~/.local/state/sysdyno]
    #[arg(long, global = true, value_name = "FOLDER", env = "SYSDYNO_STATE_DIR")]
    pub state_dir: Option<PathBuf>,
}

/// The subcommands of `fleet`.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Start a broker on this host, with TLS and credentials, and print what to type on other hosts
    Up(FleetUpArgs),
    /// Stop the broker; credentials are kept
    Down,
    /// Show the broker of this host, and which agents it lets in
    Status,
    /// Make credentials for agents
    Add {
        /// Names of the agents: letters, digits, '-', and '_'
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
    /// Lock agents out, and remove their credentials from this host
    Remove {
        /// Names of the agents
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
    /// Wait at the broker for controllers, and do what they ask if --allow permits it
    Agent(FleetAgentArgs),
    /// List the agents that answer
    Ls(FleetListArgs),
    /// Show the agents second by second: how busy they are, who uses them, which have gone silent
    Top(FleetTopArgs),
}

/// Arguments of `fleet up`.
#[derive(Debug, Args)]
pub struct FleetUpArgs {
    /// Address to listen on, at which agents reach this host [default: the only private address of this host]
    #[arg(long, value_name = "ADDRESS[:PORT]")]
    pub listen: Option<String>,
    /// Further names or addresses of this host, for its certificate; credentials name the first one
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub name: Vec<String>,
    /// Make credentials for these agents
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub agents: Vec<String>,
    /// Do without TLS; only for a broker on the loopback interface
    #[arg(long)]
    pub plaintext_loopback: bool,
}

/// Arguments of `fleet agent`.
#[derive(Debug, Args)]
pub struct FleetAgentArgs {
    /// Broker: tls://HOST[:PORT] [default: the one that the credentials name]
    #[arg(long, value_name = "URL", env = "SYSDYNO_NATS")]
    pub nats: Option<String>,
    /// Credentials of this agent; other users must not be able to read the file
    #[arg(long, value_name = "FILE", env = "SYSDYNO_NATS_CREDS")]
    pub creds: PathBuf,
    /// Trust brokers whose certificate these sign, instead of the authority in the credentials
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Labels, by which controllers choose agents
    #[arg(long, value_name = "KEY=VALUE,…", default_value = "")]
    pub labels: FleetLabels,
    /// What controllers may do: load (send load to other hosts), loopback (with load, also to this one), observe (read this
    /// host), lab (install and start programs, and change settings, as this user)
    #[arg(long, value_name = "WORD,…", value_delimiter = ',')]
    pub allow: Vec<Permission>,
    /// Accept a controller's word that a target behind a router may be loaded (its --target-is-mine)
    #[arg(long)]
    pub trust_target_is_mine: bool,
}

/// Arguments of `fleet top`.
#[derive(Debug, Args)]
pub struct FleetTopArgs {
    #[command(flatten)]
    pub broker: BrokerOptions,
    /// Time between two updates: 500ms to 1h [default: 1s]
    #[arg(long, value_name = "TIME")]
    pub interval: Option<Typed<SpanNs>>,
    /// Stop after this many updates [default: run until Ctrl-C]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Print one JSON document per update, each on its own line
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `fleet ls`.
#[derive(Debug, Args)]
pub struct FleetListArgs {
    #[command(flatten)]
    pub broker: BrokerOptions,
    /// Print the result as one JSON document
    #[arg(long)]
    pub json: bool,
}
