//! Aggregates: several links that carry the traffic of one, and by what rule a packet gets to one of them.

use crate::named::named;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// The schema of what `links --json` prints.
pub const SCHEMA: &str = "sysdyno.links/1";

named! {
    /// What an aggregate is made of.
    AggregateKind {
        /// Interfaces below a bond of this host.
        Bond "bond";
        /// Next hops of a route of this host (ECMP).
        Route "route";
        /// Links of a device that was described, such as a switch.
        Described "described";
    }
}

named! {
    /// What a packet's link is computed from.
    HashPolicy {
        /// The last byte of the source's MAC address.
        SrcMac "src-mac";
        /// The last byte of the destination's MAC address.
        DstMac "dst-mac";
        /// The last bytes of both MAC addresses.
        SrcDstMac "src-dst-mac";
        /// The last byte of the source's IP address.
        SrcIp "src-ip";
        /// The last byte of the destination's IP address.
        DstIp "dst-ip";
        /// The last bytes of both IP addresses.
        SrcDstIp "src-dst-ip";
        /// Linux bonding: the last bytes of both MAC addresses, and the protocol.
        Layer2 "layer2";
        /// Linux bonding: the same, and both IP addresses.
        Layer23 "layer2+3";
        /// Linux bonding: both IP addresses and both ports.
        Layer34 "layer3+4";
        /// Linux bonding: the VLAN and the source's MAC address.
        VlanSrcMac "vlan+srcmac";
    }
}

/// The address of a network card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MacAddress(pub [u8; 6]);

impl fmt::Display for MacAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, f] = self.0;
        write!(out, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{f:02x}")
    }
}

impl FromStr for MacAddress {
    type Err = ();

    fn from_str(text: &str) -> Result<MacAddress, ()> {
        let mut bytes = [0; 6];
        let mut parts = text.split([':', '-']);
        for byte in &mut bytes {
            let part = parts.next().filter(|part| (1..=2).contains(&part.len())).ok_or(())?;
            *byte = u8::from_str_radix(part, 16).map_err(drop)?;
        }
        parts.next().is_none().then_some(MacAddress(bytes)).ok_or(())
    }
}

impl Serialize for MacAddress {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MacAddress {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<MacAddress, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(|()| serde::de::Error::custom("it is no MAC address"))
    }
}

/// One end of a flow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowEnd {
    /// `None`: not known.
    pub mac: Option<MacAddress>,
    /// `None`: not known.
    pub ip: Option<IpAddr>,
}

/// A peer: what was typed, and its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkPeer {
    /// As it was typed.
    pub name: String,
    /// What is known of it.
    pub end: FlowEnd,
}

/// A link of an aggregate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkMember {
    /// The interface, or where a route leads. Untrusted.
    pub name: String,
    /// The interface; empty of a described device. Untrusted.
    #[serde(default)]
    pub interface: String,
    /// Whether packets are sent over it.
    pub is_used: bool,
    /// `None`: it has none, or is down. Unit: Mbit/s.
    pub speed_mbps: Option<f64>,
    /// Since the interface came up. `None`: not known.
    pub sent_bytes: Option<u64>,
    /// Since the interface came up. `None`: not known.
    pub received_bytes: Option<u64>,
}

/// Several links that carry the traffic of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkAggregate {
    /// What it is made of.
    pub kind: AggregateKind,
    /// The bond, or the destination of the route. Untrusted.
    pub name: String,
    /// By what rule a packet gets to a link, in the kernel's words.
    pub mode: String,
    /// What that is computed from; `None`: not from the packet's addresses, or only the kernel can tell.
    pub policy: Option<HashPolicy>,
    /// The end on this host.
    pub own: FlowEnd,
    /// Its links, in the order that the rule counts them in.
    pub members: Vec<LinkMember>,
}

impl LinkAggregate {
    /// The links that packets are sent over.
    pub fn used(&self) -> impl Iterator<Item = &LinkMember> {
        self.members.iter().filter(|member| member.is_used)
    }
}

/// Where the traffic to one peer goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PeerLinks {
    /// The peer, as it was typed, and the source where that matters.
    pub peer: String,
    /// Its share of each used link, in their order; empty: not known.
    pub ratios: Vec<f64>,
    /// Why it is not known.
    pub unknown: Option<String>,
}

/// How a policy would divide the traffic of the same peers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicySplit {
    /// The policy.
    pub policy: HashPolicy,
    /// Share of the busiest link if all peers have as much traffic.
    pub busiest_ratio: f64,
}

/// What happens to n random peers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkChance {
    /// Peers.
    pub peers_count: usize,
    /// Links.
    pub links_count: usize,
    /// Probability that all share one link.
    pub one_link_ratio: f64,
    /// Share of the busiest link on average.
    pub busiest_mean_ratio: f64,
}

/// An aggregate, and where the traffic of the peers goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkPrediction {
    /// The aggregate.
    #[serde(flatten)]
    pub aggregate: LinkAggregate,
    /// The peers.
    pub peers: Vec<PeerLinks>,
    /// Share of each used link if all known peers have as much traffic; empty: none is known.
    pub ratios: Vec<f64>,
    /// What other policies would do, the best first.
    pub policies: Vec<PolicySplit>,
    /// An address that would divide the traffic better: the peer, and its new last byte.
    pub address: Option<(String, u8)>,
    /// What happens to as many random peers; `None`: fewer than two links or peers.
    pub chance: Option<LinkChance>,
}

/// The aggregates of a server's host, and where it sends the traffic to the sources of a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinksForecast {
    /// The host, as it was typed.
    pub host: String,
    /// Its aggregates.
    pub aggregates: Vec<LinkPrediction>,
}

/// How what a server sent under load was divided over the links of an aggregate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkSplit {
    /// The bond, or the destination of the route. Untrusted.
    pub name: String,
    /// What it is made of.
    pub kind: AggregateKind,
    /// By what rule a packet gets to a link.
    pub mode: String,
    /// Peers whose links were predicted.
    pub peers_count: u64,
    /// The used links.
    pub links: Vec<LinkShare>,
    /// Whether every share is as it was predicted; `None`: nothing was predicted, or nothing was sent.
    pub is_as_predicted: Option<bool>,
    /// What happens to as many random peers; `None`: fewer than two links or peers.
    pub chance: Option<LinkChance>,
}

/// A link's part of what was sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkShare {
    /// The interface, or where a route leads. Untrusted.
    pub name: String,
    /// What it sent in the measured phases; `None`: its counter was not read.
    pub sent_bytes: Option<u64>,
    /// Its share of what all of them sent.
    pub sent_ratio: Option<f64>,
    /// The share that was predicted, if all peers have as much traffic.
    pub predicted_ratio: Option<f64>,
}

impl LinkSplit {
    /// The greatest share; `None`: none is known.
    pub fn busiest_ratio(&self) -> Option<f64> {
        self.links.iter().filter_map(|link| link.sent_ratio).reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mac_addresses_are_read_as_they_are_written() {
        for text in ["02:00:5e:10:00:0a", "02-00-5e-10-00-0a", "2:0:5e:10:0:a"] {
            let read = text.parse::<MacAddress>().map(|mac| mac.to_string());
            assert_eq!(read.as_deref(), Ok("02:00:5e:10:00:0a"), "{text}");
        }
        for text in ["", "02:00:5e:10:00", "02:00:5e:10:00:0a:0b", "02:00:5e:10:00:0g", "02:00:5e:10:00:00a"]
        {
            assert_eq!(text.parse::<MacAddress>(), Err(()), "{text}");
        }
    }
}
