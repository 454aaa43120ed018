//! Networks, a host's own addresses, and where it sends packets for an address.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// Where a host sends packets for an address, as its kernel says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// To itself: the host has the address.
    Own,
    /// To the host that has the address, in a network in which this host has an address too.
    OnLink {
        /// The interface.
        interface: String,
    },
    /// To a router, or to wherever else the interface leads.
    Routed {
        /// The interface.
        interface: String,
        /// The router; `None`: there is none, as in a tunnel.
        gateway: Option<IpAddr>,
    },
    /// Nowhere: there is no route to a single host.
    Nowhere {
        /// Why not.
        cause: String,
    },
    /// The kernel does not tell.
    Unknown {
        /// Why not.
        cause: String,
    },
}

/// An address of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostAddress {
    /// The address.
    pub address: IpAddr,
    /// The interface that has it.
    pub interface: String,
}

/// A network: an address and how many of its bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Network {
    address: IpAddr,
    prefix_bits: u8,
}

impl Network {
    /// Whether it contains an address. An IPv4 address in IPv6 form counts as the IPv4 address.
    pub fn contains(&self, address: IpAddr) -> bool {
        let bits = u32::from(self.prefix_bits);
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(32 - bits).unwrap_or(0) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(128 - bits).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

/// What was typed is no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write a network as 10.77.0.0/16 or fd00::/8, or a single address")]
pub struct NetworkError;

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Network, NetworkError> {
        let (address, bits) = text.trim().split_once('/').map_or((text.trim(), None), |(a, b)| (a, Some(b)));
        let address = address.parse::<IpAddr>().map_err(|_| NetworkError)?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let is_number = |bits: &&str| !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
        let prefix_bits = match bits {
            None => most,
            Some(bits) => {
                Some(bits).filter(is_number).and_then(|bits| bits.parse().ok()).ok_or(NetworkError)?
            }
        };
        if prefix_bits > most { Err(NetworkError) } else { Ok(Network { address, prefix_bits }) }
    }
}

impl TryFrom<String> for Network {
    type Error = NetworkError;

    fn try_from(text: String) -> Result<Network, NetworkError> {
        text.parse()
    }
}

impl From<Network> for String {
    fn from(network: Network) -> String {
        network.to_string()
    }
}

impl fmt::Display for Network {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.address, self.prefix_bits)
    }
}

/// Networks that may be loaded, and nothing else, because a file or a variable says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllowList {
    /// The networks; empty: none.
    pub networks: Vec<Network>,
    /// The file or the variable.
    pub source: String,
}

impl AllowList {
    /// Whether an address is in one of the networks.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.networks.iter().any(|network| network.contains(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_contains_what_its_prefix_says() {
        let check = |network: &str, address: &str, expected: bool| {
            let network: Network = network.parse().expect(network);
            assert_eq!(network.contains(address.parse().expect(address)), expected, "{address} in {network}");
        };
        check("10.77.0.0/16", "10.77.255.1", true);
        check("10.77.0.0/16", "10.78.0.1", false);
        check("10.77.0.0/16", "::ffff:10.77.0.1", true);
        check("10.77.0.2", "10.77.0.2", true);
        check("10.77.0.2", "10.77.0.3", false);
        check("0.0.0.0/0", "8.8.8.8", true);
        check("0.0.0.0/0", "::1", false);
        check("::/0", "fd00::1", true);
        check("::/0", "10.0.0.1", false);
        check("fd00::/8", "fdff::1", true);
        check("fd00::/8", "fe80::1", false);
        check("::1", "::1", true);
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for wrong in
            ["", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/+8", "10.0/8", "host", "10.0.0.0/8/8"]
        {
            assert_eq!(wrong.parse::<Network>(), Err(NetworkError), "{wrong}");
        }
    }
}
