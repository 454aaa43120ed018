//! Which link of an aggregate carries the traffic of a peer, what would divide it better, and what chance has to do with it.

mod chance;
mod hash;
mod split;

pub(crate) use split::splits_of;

use hash::{MissingAddress, ratios};
use std::net::IpAddr;
use sysdyno_record::links::{
    AggregateKind, FlowEnd, HashPolicy, LinkAggregate, LinkPeer, LinkPrediction, MacAddress, PeerLinks,
    PolicySplit,
};

/// The policies that a bond of Linux can be set to.
const OF_BONDS: [HashPolicy; 4] =
    [HashPolicy::Layer2, HashPolicy::Layer23, HashPolicy::Layer34, HashPolicy::VlanSrcMac];

/// Those that switches have.
const OF_SWITCHES: [HashPolicy; 6] = [
    HashPolicy::SrcMac,
    HashPolicy::DstMac,
    HashPolicy::SrcDstMac,
    HashPolicy::SrcIp,
    HashPolicy::DstIp,
    HashPolicy::SrcDstIp,
];

/// A difference of shares that is worth a change.
const BETTER_BY: f64 = 0.01;

/// Where the traffic from the aggregate to each peer goes; `port` is that of the service.
pub fn predict(aggregate: LinkAggregate, peers: &[LinkPeer], port: u16) -> LinkPrediction {
    let found = match aggregate.policy {
        Some(policy) => peers.iter().map(|peer| links_of(policy, &aggregate, peer, port)).collect(),
        None => Vec::new(),
    };
    concluded(aggregate, found, peers, port)
}

/// The same, where somebody else says where the traffic goes.
pub fn predicted(aggregate: LinkAggregate, peers: Vec<PeerLinks>) -> LinkPrediction {
    concluded(aggregate, peers, &[], 0)
}

fn concluded(
    aggregate: LinkAggregate,
    found: Vec<PeerLinks>,
    peers: &[LinkPeer],
    port: u16,
) -> LinkPrediction {
    let links_count = aggregate.used().count();
    let ratios = sum(found.iter().map(|peer| peer.ratios.as_slice()), links_count);
    let policies = if ratios.is_empty() { Vec::new() } else { policies(&aggregate, peers, port) };
    let address = better_address(&aggregate, peers, port, &ratios);
    let known = found.iter().filter(|peer| !peer.ratios.is_empty()).count();
    let chance = chance::chance(known, links_count);
    LinkPrediction { aggregate, peers: found, ratios, policies, address, chance }
}

fn links_of(policy: HashPolicy, aggregate: &LinkAggregate, peer: &LinkPeer, port: u16) -> PeerLinks {
    let found = match aggregate.used().count() {
        0 => Err("no link of it is up"),
        count => ratios(policy, (&aggregate.own, port), &peer.end, count).map_err(|missing| match missing {
            MissingAddress::Mac => "a MAC address is missing",
            MissingAddress::Ip => "an IP address is missing",
        }),
    };
    PeerLinks {
        peer: peer.name.clone(),
        ratios: found.clone().unwrap_or_default(),
        unknown: found.err().map(str::to_owned),
    }
}

/// The mean of the peers' shares, link by link.
fn sum<'a>(peers: impl Iterator<Item = &'a [f64]>, links_count: usize) -> Vec<f64> {
    let known: Vec<&[f64]> =
        peers.filter(|ratios| ratios.len() == links_count && !ratios.is_empty()).collect();
    if known.is_empty() {
        return Vec::new();
    }
    let mean = |link: usize| known.iter().map(|ratios| ratios[link]).sum::<f64>() / known.len() as f64;
    (0..links_count).map(mean).collect()
}

fn busiest(ratios: &[f64]) -> Option<f64> {
    ratios.iter().copied().reduce(f64::max)
}

/// What the policies would do that such a device can have, the best first.
fn policies(aggregate: &LinkAggregate, peers: &[LinkPeer], port: u16) -> Vec<PolicySplit> {
    let all: &[HashPolicy] = match aggregate.kind {
        AggregateKind::Bond => &OF_BONDS,
        AggregateKind::Described if aggregate.policy.is_some_and(|policy| OF_BONDS.contains(&policy)) => {
            &OF_BONDS
        }
        AggregateKind::Described => &OF_SWITCHES,
        AggregateKind::Route => &[],
    };
    let split = |policy: &HashPolicy| {
        let found: Vec<PeerLinks> =
            peers.iter().map(|peer| links_of(*policy, aggregate, peer, port)).collect();
        let is_whole = found.iter().all(|peer| peer.unknown.is_none());
        let ratios = sum(found.iter().map(|peer| peer.ratios.as_slice()), aggregate.used().count());
        let busiest_ratio = busiest(&ratios).filter(|_| is_whole)?;
        Some(PolicySplit { policy: *policy, busiest_ratio })
    };
    let mut splits: Vec<PolicySplit> = all.iter().filter_map(split).collect();
    splits.sort_by(|one, other| one.busiest_ratio.total_cmp(&other.busiest_ratio));
    splits
}

/// The one peer whose address, with another last byte, divides the traffic best; `None`: nothing does.
fn better_address(
    aggregate: &LinkAggregate,
    peers: &[LinkPeer],
    port: u16,
    ratios: &[f64],
) -> Option<(String, u8)> {
    let policy = aggregate.policy?;
    let mut best = busiest(ratios)? - BETTER_BY;
    let mut found = None;
    for (position, peer) in peers.iter().enumerate() {
        for step in 1..=aggregate.used().count() as u8 {
            let mut changed = peers.to_vec();
            let Some(byte) = moved(&mut changed[position].end, policy, step) else { continue };
            let is_taken = |end: &FlowEnd| {
                let new = &changed[position].end;
                (end.ip.is_some() && end.ip == new.ip) || (end.mac.is_some() && end.mac == new.mac)
            };
            let others = peers.iter().enumerate().filter(|(other, _)| *other != position);
            if others.map(|(_, peer)| &peer.end).chain([&aggregate.own]).any(is_taken) {
                continue;
            }
            let all: Vec<PeerLinks> =
                changed.iter().map(|peer| links_of(policy, aggregate, peer, port)).collect();
            let ratios = sum(all.iter().map(|peer| peer.ratios.as_slice()), aggregate.used().count());
            if let Some(busiest) = busiest(&ratios).filter(|busiest| *busiest < best) {
                best = busiest - BETTER_BY;
                found = Some((peer.name.clone(), byte));
            }
        }
    }
    found
}

/// Moves the last byte of the address that a policy looks at; `None`: it has no such address, or the policy looks at none of a peer.
fn moved(end: &mut FlowEnd, policy: HashPolicy, step: u8) -> Option<u8> {
    match policy {
        HashPolicy::DstMac | HashPolicy::SrcDstMac | HashPolicy::Layer2 => {
            let MacAddress(bytes) = end.mac.as_mut()?;
            bytes[5] = bytes[5].wrapping_add(step);
            Some(bytes[5])
        }
        HashPolicy::DstIp | HashPolicy::SrcDstIp | HashPolicy::Layer23 => {
            let IpAddr::V4(address) = end.ip? else { return None };
            let [a, b, c, d] = address.octets();
            // Neither the network's nor the broadcast address.
            let byte = d.wrapping_add(step);
            end.ip = Some(IpAddr::from([a, b, c, byte]));
            (1..=254).contains(&byte).then_some(byte)
        }
        HashPolicy::SrcMac | HashPolicy::SrcIp | HashPolicy::Layer34 | HashPolicy::VlanSrcMac => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::links::LinkMember;

    fn aggregate(policy: HashPolicy, links: usize) -> LinkAggregate {
        let member = |number| LinkMember {
            name: format!("eth{number}"),
            interface: format!("eth{number}"),
            is_used: true,
            speed_mbps: Some(1000.0),
            sent_bytes: None,
            received_bytes: None,
        };
        LinkAggregate {
            kind: AggregateKind::Bond,
            name: "bond0".into(),
            mode: "802.3ad".into(),
            policy: Some(policy),
            own: end(1),
            members: (0..links).map(member).collect(),
        }
    }

    fn end(last: u8) -> FlowEnd {
        let mac = Some(MacAddress([2, 0, 0, 0, 0, last]));
        FlowEnd { mac, ip: Some(IpAddr::from([10, 0, 0, last])) }
    }

    fn peer(last: u8) -> LinkPeer {
        LinkPeer { name: format!("10.0.0.{last}"), end: end(last) }
    }

    #[test]
    fn two_clients_with_like_addresses_share_a_link_and_what_helps_is_said() {
        let found = predict(aggregate(HashPolicy::Layer2, 2), &[peer(10), peer(12)], 80);
        assert_eq!(found.ratios, [0.0, 1.0], "both differ from 1 in the last bit");
        assert_eq!(found.policies[0].policy, HashPolicy::Layer34);
        assert!(found.policies[0].busiest_ratio < 0.51, "{:?}", found.policies);
        assert_eq!(found.address, Some(("10.0.0.10".into(), 11)));
        let chance = found.chance.expect("two peers on two links");
        assert!((chance.one_link_ratio - 0.5).abs() < 1e-9);
    }

    #[test]
    fn an_address_that_is_taken_or_reserved_is_not_proposed() {
        let found = predict(aggregate(HashPolicy::SrcDstIp, 2), &[peer(254), peer(252)], 80);
        assert_eq!(found.address, Some(("10.0.0.252".into(), 253)), "10.0.0.255 is a broadcast address");
        let found =
            predict(aggregate(HashPolicy::SrcDstMac, 2), &[peer(10), peer(12), peer(11), peer(14)], 80);
        assert_eq!(found.address, Some(("10.0.0.12".into(), 13)), "the last byte 11 has another peer");
    }

    #[test]
    fn a_link_that_is_down_carries_nothing_and_what_is_missing_is_said() {
        let mut one = aggregate(HashPolicy::Layer2, 2);
        one.members[1].is_used = false;
        assert_eq!(predict(one, &[peer(10)], 80).ratios, [1.0]);
        let bare = LinkPeer { name: "10.0.0.9".into(), end: FlowEnd { mac: None, ..end(9) } };
        let found = predict(aggregate(HashPolicy::Layer2, 2), &[bare], 80);
        assert_eq!(found.peers[0].unknown.as_deref(), Some("a MAC address is missing"));
        assert!(found.ratios.is_empty() && found.policies.is_empty() && found.chance.is_none());
        let mut none = aggregate(HashPolicy::Layer2, 1);
        none.members[0].is_used = false;
        assert!(predict(none, &[peer(10)], 80).peers[0].unknown.is_some());
    }
}
