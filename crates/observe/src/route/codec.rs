//! Rtnetlink messages about routes and addresses: requests and replies.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use sysdyno_netlink::{find, put, word};

/// `struct rtmsg`. Unit: bytes.
const ROUTE_BYTES: usize = 12;
/// `struct ifaddrmsg`. Unit: bytes.
const ADDRESS_BYTES: usize = 8;

/// The type of questions for addresses.
pub(super) const RTM_GETADDR: u16 = 22;
/// The type of questions for a route.
pub(super) const RTM_GETROUTE: u16 = 26;

const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;

const RTN_UNICAST: u8 = 1;
const RTN_LOCAL: u8 = 2;

const RTA_DST: u16 = 1;
const RTA_SRC: u16 = 2;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_MULTIPATH: u16 = 9;
const RTA_VIA: u16 = 18;
const RTA_ENCAP_TYPE: u16 = 21;
const RTA_IP_PROTO: u16 = 27;
const RTA_SPORT: u16 = 28;
const RTA_DPORT: u16 = 29;

const IPPROTO_TCP: u8 = 6;

/// `struct rtnexthop`. Unit: bytes.
const HOP_BYTES: usize = 8;

const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;

/// Where packets for an address go.
#[derive(Clone, Copy, Debug)]
pub(super) struct RouteQuestion {
    pub(super) address: IpAddr,
    /// The address that they come from; `None`: the kernel chooses.
    pub(super) source: Option<IpAddr>,
    /// Those of a TCP connection; `None`: of any packet.
    pub(super) ports: Option<FlowPorts>,
}

/// The ports of a TCP connection, as its packets leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FlowPorts {
    pub(crate) from: u16,
    pub(crate) to: u16,
}

impl RouteQuestion {
    /// The body of the message. *Source*: `net/ipv4/route.c`, `inet_rtm_getroute`.
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = vec![0; ROUTE_BYTES];
        let bits = if self.address.is_ipv4() { 32 } else { 128 };
        out[0] = if self.address.is_ipv4() { AF_INET } else { AF_INET6 };
        out[1] = bits;
        put(&mut out, RTA_DST, &octets(self.address));
        if let Some(source) = self.source {
            out[2] = bits;
            put(&mut out, RTA_SRC, &octets(source));
        }
        if let Some(ports) = self.ports {
            put(&mut out, RTA_IP_PROTO, &[IPPROTO_TCP]);
            put(&mut out, RTA_SPORT, &ports.from.to_be_bytes());
            put(&mut out, RTA_DPORT, &ports.to.to_be_bytes());
        }
        out
    }
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

/// What a route is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RouteKind {
    /// This host.
    Own,
    /// One other host.
    Unicast,
    /// Many hosts, or nobody.
    Other,
}

/// A route of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundRoute {
    pub(super) kind: RouteKind,
    /// Number of the interface; 0: there is none.
    pub(super) interface: u32,
    /// Whether packets go to the host itself, and not to a router or into a tunnel of the route's own.
    pub(super) is_direct: bool,
    /// The router; `None`: there is none.
    pub(super) gateway: Option<IpAddr>,
}

impl FoundRoute {
    /// Reads the payload of a message; `None` if it is no route.
    pub(super) fn decode(payload: &[u8]) -> Option<FoundRoute> {
        let kind = match *payload.get(7)? {
            RTN_LOCAL => RouteKind::Own,
            RTN_UNICAST => RouteKind::Unicast,
            _ => RouteKind::Other,
        };
        let attributes = payload.get(ROUTE_BYTES..)?;
        // `struct rtvia`: the family in two bytes, then the address.
        let via = find(attributes, RTA_VIA).and_then(|value| value.get(2..));
        let gateway = find(attributes, RTA_GATEWAY).or(via).and_then(address);
        let is_wrapped = find(attributes, RTA_ENCAP_TYPE).is_some();
        Some(FoundRoute {
            kind,
            interface: find(attributes, RTA_OIF).and_then(|value| word(value, 0)).unwrap_or(0),
            is_direct: gateway.is_none() && via.is_none() && !is_wrapped,
            gateway,
        })
    }
}

/// The body of the question for all routes.
pub(super) const ALL_ROUTES: [u8; ROUTE_BYTES] = [0; ROUTE_BYTES];

/// A route over several next hops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MultipathRoute {
    pub(crate) is_ipv6: bool,
    /// Its address and the bits that count; `None`: all addresses.
    pub(crate) network: Option<(IpAddr, u8)>,
    /// The number of each interface, and the router.
    pub(crate) hops: Vec<(u32, Option<IpAddr>)>,
}

impl MultipathRoute {
    /// Reads the payload of a message; `None` if it is no such route.
    pub(super) fn decode(payload: &[u8]) -> Option<MultipathRoute> {
        let [family, bits] = *payload.first_chunk()?;
        let attributes = payload.get(ROUTE_BYTES..)?;
        let mut rest = find(attributes, RTA_MULTIPATH)?;
        let mut hops = Vec::new();
        while let Some(length) =
            rest.get(..2).map(|bytes| usize::from(u16::from_ne_bytes([bytes[0], bytes[1]])))
        {
            let hop = rest.get(..length).filter(|hop| hop.len() >= HOP_BYTES)?;
            let inner = &hop[HOP_BYTES..];
            let via = find(inner, RTA_VIA).and_then(|value| value.get(2..));
            hops.push((word(hop, 4)?, find(inner, RTA_GATEWAY).or(via).and_then(address)));
            rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
        let network = find(attributes, RTA_DST).and_then(address).map(|address| (address, bits));
        (hops.len() > 1).then_some(MultipathRoute { is_ipv6: family == AF_INET6, network, hops })
    }
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = || <[u8; 4]>::try_from(bytes).ok().map(|octets| IpAddr::from(Ipv4Addr::from(octets)));
    let v6 = || <[u8; 16]>::try_from(bytes).ok().map(|octets| IpAddr::from(Ipv6Addr::from(octets)));
    v4().or_else(v6)
}

/// The body of the question for all addresses of all interfaces.
pub(super) const ALL_ADDRESSES: [u8; ADDRESS_BYTES] = [0; ADDRESS_BYTES];

/// An address of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InterfaceAddress {
    /// Number of the interface.
    pub(super) index: u32,
    /// The address of this host.
    pub(super) own: IpAddr,
    /// An address of the network: this one, or that of the other end of a line.
    network: IpAddr,
    /// How many bits of it are the network's.
    prefix_bits: u8,
}

impl InterfaceAddress {
    /// Reads the payload of a message; `None` if it is no address.
    pub(super) fn decode(payload: &[u8]) -> Option<InterfaceAddress> {
        let (prefix_bits, index) = (*payload.get(1)?, word(payload, 4)?);
        let attributes = payload.get(ADDRESS_BYTES..)?;
        let network = find(attributes, IFA_ADDRESS).and_then(address);
        let own = find(attributes, IFA_LOCAL).and_then(address).or(network)?;
        Some(InterfaceAddress { index, own, network: network.unwrap_or(own), prefix_bits })
    }

    /// Whether another address lies in its network.
    pub(super) fn contains(&self, other: IpAddr) -> bool {
        let (one, other) = (octets(self.network), octets(other));
        let bits = usize::from(self.prefix_bits);
        let is_same_bit = |bit: usize| (one[bit / 8] ^ other[bit / 8]) & (0x80 >> (bit % 8)) == 0;
        one.len() == other.len() && bits <= one.len() * 8 && (0..bits).all(is_same_bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    /// The payload of a route of this type with these attributes.
    fn route(kind: u8, attributes: &[(u16, &[u8])]) -> Option<FoundRoute> {
        let mut payload = vec![0; ROUTE_BYTES];
        payload[7] = kind;
        attributes.iter().for_each(|(kind, value)| put(&mut payload, *kind, value));
        FoundRoute::decode(&payload)
    }

    #[test]
    fn a_question_is_laid_out_as_the_header_file_says() {
        let question = RouteQuestion { address: ip("10.77.0.2"), source: Some(ip("10.0.0.1")), ports: None };
        let bytes = question.encode();
        assert_eq!((bytes.len(), &bytes[0..4]), (28, &[2, 32, 32, 0][..]));
        assert_eq!(bytes[12..20], [&[8, 0, 1, 0][..], &[10, 77, 0, 2]].concat());
        assert_eq!(bytes[20..28], [&[8, 0, 2, 0][..], &[10, 0, 0, 1]].concat());
        let bytes = RouteQuestion { address: ip("fd00::1"), source: None, ports: None }.encode();
        assert_eq!((bytes.len(), &bytes[0..3]), (32, &[10, 128, 0][..]));
    }

    #[test]
    fn a_route_is_direct_only_without_router_and_tunnel() {
        let oif = 3u32.to_ne_bytes();
        let found = route(RTN_UNICAST, &[(RTA_OIF, &oif)]).expect("is one");
        assert_eq!((found.kind, found.interface, found.is_direct), (RouteKind::Unicast, 3, true));
        let found = route(RTN_UNICAST, &[(RTA_OIF, &oif), (RTA_GATEWAY, &[10, 0, 0, 1])]).expect("is one");
        assert_eq!((found.gateway, found.is_direct), (Some(ip("10.0.0.1")), false));
        let via =
            [&10u16.to_ne_bytes()[..], &[0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]].concat();
        let found = route(RTN_UNICAST, &[(RTA_VIA, &via)]).expect("is one");
        assert_eq!((found.gateway, found.is_direct), (Some(ip("fe80::1")), false));
        assert!(!route(RTN_UNICAST, &[(RTA_ENCAP_TYPE, &[1, 0])]).expect("is one").is_direct);
        assert_eq!(route(RTN_LOCAL, &[]).expect("is one").kind, RouteKind::Own);
        assert_eq!(route(3, &[]).expect("is one").kind, RouteKind::Other);
    }

    #[test]
    fn the_network_of_an_address_is_that_of_its_prefix_or_of_the_other_end() {
        let address = |bits: u8, attributes: &[(u16, &[u8])]| {
            let mut payload = vec![2, bits, 0, 0, 3, 0, 0, 0];
            payload[4..8].copy_from_slice(&3u32.to_ne_bytes());
            attributes.iter().for_each(|(kind, value)| put(&mut payload, *kind, value));
            InterfaceAddress::decode(&payload).expect("is one")
        };
        let one = address(20, &[(IFA_ADDRESS, &[10, 1, 16, 9]), (IFA_LOCAL, &[10, 1, 16, 9])]);
        assert!(
            one.contains(ip("10.1.31.255")) && !one.contains(ip("10.1.32.0")) && !one.contains(ip("::1"))
        );
        let line = address(32, &[(IFA_ADDRESS, &[10, 9, 9, 9]), (IFA_LOCAL, &[10, 1, 1, 1])]);
        assert_eq!(line.own, ip("10.1.1.1"));
        assert!(line.contains(ip("10.9.9.9")) && !line.contains(ip("10.1.1.1")));
        assert!(address(0, &[(IFA_LOCAL, &[10, 1, 1, 1])]).contains(ip("8.8.8.8")));
    }

    proptest! {
        #[test]
        fn no_bytes_can_break_the_decoder(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = FoundRoute::decode(&bytes);
            if let Some(found) = InterfaceAddress::decode(&bytes) {
                let _ = (found.contains(ip("10.0.0.1")), found.contains(ip("::1")));
            }
        }
    }

    fn hop(interface: u32, attributes: &[u8]) -> Vec<u8> {
        let mut bytes = ((HOP_BYTES + attributes.len()) as u16).to_ne_bytes().to_vec();
        bytes.extend([0, 0]);
        bytes.extend(interface.to_ne_bytes());
        bytes.extend(attributes);
        bytes
    }

    #[test]
    fn next_hops_are_read_from_their_list() {
        let mut gateway = Vec::new();
        put(&mut gateway, RTA_GATEWAY, &[10, 0, 1, 1]);
        let mut payload = vec![0; ROUTE_BYTES];
        payload[1] = 16;
        put(&mut payload, RTA_DST, &[10, 1, 0, 0]);
        put(&mut payload, RTA_MULTIPATH, &[hop(3, &gateway), hop(4, &[])].concat());
        let found = MultipathRoute::decode(&payload).expect("is one");
        assert_eq!(found.network, Some((IpAddr::from([10, 1, 0, 0]), 16)));
        assert_eq!(found.hops, [(3, Some(IpAddr::from([10, 0, 1, 1]))), (4, None)]);
        let mut single = vec![0; ROUTE_BYTES];
        put(&mut single, RTA_MULTIPATH, &hop(3, &gateway));
        assert_eq!(MultipathRoute::decode(&single), None, "one hop is no choice");
    }

    proptest! {
        #[test]
        fn no_bytes_break_a_list_of_hops(list in proptest::collection::vec(any::<u8>(), 0..100)) {
            let mut payload = vec![0; ROUTE_BYTES];
            put(&mut payload, RTA_MULTIPATH, &list);
            let _ = MultipathRoute::decode(&payload);
        }
    }
}
