//! Command-line arguments of `links`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use std::net::IpAddr;
use sysdyno_record::links::HashPolicy;

const AFTER_HELP: &str = "\
Without peers, the links of all bonds and multipath routes of this host are listed with what they have carried. \
With --hash, --links, and --own, a device that is not this host is computed, such as a switch. \
links changes nothing and sends nothing.";

/// Arguments of `links`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct LinksArgs {
    /// Hosts whose traffic is to be predicted: an IP address, a MAC address, or IP@MAC
    #[arg(value_name = "PEER")]
    pub peers: Vec<String>,
    /// Addresses of this host that packets come from, for routes over several next hops
    #[arg(long, value_name = "IP,…", value_delimiter = ',')]
    pub source: Vec<IpAddr>,
    /// Port of the service on this host, for policies that look at ports
    #[arg(long, value_name = "PORT", default_value_t = 80)]
    pub port: u16,
    /// Compute a described device with this policy instead of this host
    #[arg(long, value_name = "POLICY", requires_all = ["links", "own"], conflicts_with = "source",
        value_parser = PossibleValuesParser::new(HashPolicy::ALL.map(HashPolicy::name)))]
    pub hash: Option<String>,
    /// Number of links of that device
    #[arg(long, value_name = "N", requires = "hash", value_parser = clap::value_parser!(u8).range(1..=32))]
    pub links: Option<u8>,
    /// The host at its other side, whose traffic it divides: an IP address, a MAC address, or IP@MAC
    #[arg(long, value_name = "HOST", requires = "hash")]
    pub own: Option<String>,
    /// Print the result as one JSON document
    #[arg(long)]
    pub json: bool,
}
