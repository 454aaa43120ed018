//! The link that a packet goes to, by the rule of the device that sends it.
//!
//! Those of Linux are of `drivers/net/bonding/bond_main.c` (`bond_xmit_hash`, `bond_ip_hash`, `bond_eth_hash`), in kernels since
//! 5.14: the hash modulo the number of links. The other ones are what switches are documented to do: the exclusive or of the last
//! bytes, modulo the number of links. A device may do something else with more bytes.

use std::net::IpAddr;
use sysdyno_record::links::{FlowEnd, HashPolicy, MacAddress};

/// Source ports that a client may have: the kernel's default range (`net.ipv4.ip_local_port_range`).
const CLIENT_PORTS: std::ops::RangeInclusive<u16> = 32_768..=60_999;

/// The Ethernet types of IPv4 and IPv6.
const ETHER_IPV4: u32 = 0x0800;
const ETHER_IPV6: u32 = 0x86dd;

/// A packet on its way, as far as rules look at it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet<'a> {
    pub(super) from: &'a FlowEnd,
    pub(super) to: &'a FlowEnd,
    /// From and to.
    pub(super) ports: [u16; 2],
}

/// What a rule needs and does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingAddress {
    Mac,
    Ip,
}

/// Share of each of `count` links in the traffic from `from`, which has this port, to `to`, which has many connections.
pub(super) fn ratios(
    policy: HashPolicy,
    (from, port): (&FlowEnd, u16),
    to: &FlowEnd,
    count: usize,
) -> Result<Vec<f64>, MissingAddress> {
    let mut counts = vec![0u32; count];
    let ports = CLIENT_PORTS.take(if policy == HashPolicy::Layer34 { usize::MAX } else { 1 });
    for client in ports {
        let hash = hash(policy, Packet { from, to, ports: [port, client] })?;
        counts[hash as usize % count] += 1;
    }
    let sum: u32 = counts.iter().sum();
    Ok(counts.into_iter().map(|count| f64::from(count) / f64::from(sum)).collect())
}

pub(super) fn hash(policy: HashPolicy, packet: Packet<'_>) -> Result<u32, MissingAddress> {
    let mac = |end: &FlowEnd| end.mac.ok_or(MissingAddress::Mac);
    let last_mac = |end: &FlowEnd| mac(end).map(|MacAddress(bytes)| u32::from(bytes[5]));
    let ip = |end: &FlowEnd| end.ip.ok_or(MissingAddress::Ip);
    let last_ip = |end: &FlowEnd| ip(end).map(last_byte);
    let Packet { from, to, ports } = packet;
    Ok(match policy {
        HashPolicy::SrcMac => last_mac(from)?,
        HashPolicy::DstMac => last_mac(to)?,
        HashPolicy::SrcDstMac => last_mac(from)? ^ last_mac(to)?,
        HashPolicy::SrcIp => last_ip(from)?,
        HashPolicy::DstIp => last_ip(to)?,
        HashPolicy::SrcDstIp => last_ip(from)? ^ last_ip(to)?,
        HashPolicy::Layer2 => last_mac(from)? ^ last_mac(to)? ^ ether_type(to),
        HashPolicy::Layer23 => {
            let ethernet = last_mac(from)? ^ last_mac(to)? ^ ether_type(to);
            folded(ethernet ^ number(ip(to)?) ^ number(ip(from)?))
        }
        HashPolicy::Layer34 => {
            let [from_port, to_port] = ports.map(u16::to_be_bytes);
            let ports = u32::from_ne_bytes([from_port[0], from_port[1], to_port[0], to_port[1]]);
            // The lowest bit is dropped: ports are often even.
            folded(ports ^ number(ip(to)?) ^ number(ip(from)?)) >> 1
        }
        HashPolicy::VlanSrcMac => {
            let bytes = mac(from)?.0;
            let word = |part: &[u8]| part.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
            word(&bytes[..3]) ^ word(&bytes[3..])
        }
    })
}

fn folded(hash: u32) -> u32 {
    let hash = hash ^ (hash >> 16);
    hash ^ (hash >> 8)
}

fn ether_type(end: &FlowEnd) -> u32 {
    if matches!(end.ip, Some(IpAddr::V6(_))) { ETHER_IPV6 } else { ETHER_IPV4 }
}

/// The address as the kernel hashes it: its bytes as they are in memory; of IPv6, the exclusive or of its words (`ipv6_addr_hash`).
fn number(address: IpAddr) -> u32 {
    let word = |bytes: &[u8]| u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    match address {
        IpAddr::V4(address) => word(&address.octets()),
        IpAddr::V6(address) => address.octets().chunks_exact(4).fold(0, |sum, bytes| sum ^ word(bytes)),
    }
}

fn last_byte(address: IpAddr) -> u32 {
    let byte = match address {
        IpAddr::V4(address) => address.octets()[3],
        IpAddr::V6(address) => address.octets()[15],
    };
    u32::from(byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(last: u8) -> FlowEnd {
        FlowEnd { mac: Some(MacAddress([2, 0, 0, 0, 0, last])), ip: Some(IpAddr::from([10, 0, 0, last])) }
    }

    #[test]
    fn each_policy_computes_what_the_kernel_and_switches_do() {
        let (from, to) = (end(1), end(2));
        let packet = Packet { from: &from, to: &to, ports: [80, 40_000] };
        let check = |policy: HashPolicy, expected: u32| {
            assert_eq!(hash(policy, packet), Ok(expected), "{}", policy.name());
        };
        check(HashPolicy::SrcMac, 1);
        check(HashPolicy::DstMac, 2);
        check(HashPolicy::SrcDstMac, 3);
        check(HashPolicy::SrcDstIp, 3);
        check(HashPolicy::Layer2, 3 ^ 0x0800);
        check(HashPolicy::VlanSrcMac, 0x0002_0000 ^ 1);
        if cfg!(target_endian = "little") {
            // 0803 ^ 0200000a ^ 0100000a = 03000803; with its upper half 03000b03; with that by a byte 03030b08.
            check(HashPolicy::Layer23, 0x0303_0b08);
            // Ports 80 and 40000 are the bytes 00 50 9c 40: 439c5000, 439c139c, 43df8f8f, and without the lowest bit:
            check(HashPolicy::Layer34, 0x21ef_c7c7);
        }
    }

    #[test]
    fn what_is_not_known_is_said() {
        let (bare, known) = (FlowEnd::default(), end(1));
        let packet = Packet { from: &known, to: &bare, ports: [80, 40_000] };
        assert_eq!(hash(HashPolicy::Layer2, packet), Err(MissingAddress::Mac));
        assert_eq!(hash(HashPolicy::Layer34, packet), Err(MissingAddress::Ip));
        assert!(hash(HashPolicy::SrcMac, packet).is_ok());
    }

    #[test]
    fn many_connections_of_one_peer_spread_only_by_their_ports() {
        let by = |policy| ratios(policy, (&end(1), 80), &end(2), 2).expect("all is known");
        assert_eq!(by(HashPolicy::Layer2), [0.0, 1.0]);
        let spread = by(HashPolicy::Layer34);
        assert!((spread[0] - 0.5).abs() < 0.01, "{spread:?}");
    }
}
