//! Which links of this host's aggregates carry the traffic to whom: bonds by the kernel's formula, routes by asking the kernel.

use crate::error::RunError;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use sysdyno_analyze::links::{predict, predicted};
use sysdyno_observe::{
    HopRoute, Roots, bonds, hop_routes, host_addresses, leads_over, neighbor_mac, next_hop, of_route, sysctl,
};
use sysdyno_record::links::{LinkAggregate, LinkPeer, LinkPrediction, PeerLinks};

/// Ports of the other end that stand for all: what the kernel chooses for a connection is not known before.
const SAMPLED_PORTS: std::ops::Range<u16> = 40_000..40_256;

/// Whose traffic is to be predicted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinksCall {
    /// The other ends.
    pub peers: Vec<LinkPeer>,
    /// Addresses of the host that packets come from; empty: the kernel chooses.
    pub sources: Vec<IpAddr>,
    /// Port of the service on the host.
    pub port: u16,
}

/// The aggregates of this host, and over which of their links it sends to each peer.
///
/// # Errors
/// The kernel does not tell.
pub fn predict_here(call: &LinksCall) -> Result<Vec<LinkPrediction>, RunError> {
    let roots = Roots::host();
    let addresses = host_addresses()?;
    let peers: Vec<LinkPeer> = call.peers.iter().map(|peer| completed(&roots, peer)).collect();
    let of_bond = |mut bond: LinkAggregate| {
        let own = addresses.iter().filter(|own| own.interface == bond.name).map(|own| own.address);
        bond.own.ip = call.sources.first().copied().or_else(|| own.min_by_key(|address| address.is_ipv6()));
        let (over, elsewhere): (Vec<LinkPeer>, Vec<LinkPeer>) =
            peers.iter().cloned().partition(|peer| is_over(&roots, &bond.name, peer));
        let mut prediction = predict(bond, &over, call.port);
        prediction.peers.extend(elsewhere.into_iter().map(|peer| PeerLinks {
            peer: peer.name,
            ratios: vec![],
            unknown: Some("its packets leave over another interface".into()),
        }));
        prediction
    };
    let mut found: Vec<LinkPrediction> = bonds(&roots).into_iter().map(of_bond).collect();
    for route in hop_routes()? {
        let mut aggregate = of_route(&roots, &route);
        let is_by_connection = is_by_connection(&roots, &route);
        aggregate.mode = match is_by_connection {
            true => "ECMP by addresses and ports".into(),
            false => "ECMP by addresses".into(),
        };
        let mut known = Vec::new();
        for peer in &peers {
            known.extend(ways_to(&route, peer, call, is_by_connection)?);
        }
        found.push(predicted(aggregate, known));
    }
    Ok(found)
}

/// Whether packets to a peer leave over a bond, as far as is known: of a MAC address it is not.
fn is_over(roots: &Roots, bond: &str, peer: &LinkPeer) -> bool {
    let hop = peer.end.ip.and_then(|ip| next_hop(ip, None, None).ok().flatten());
    hop.is_none_or(|hop| leads_over(roots, &hop.interface, bond))
}

/// The peer with the MAC address that packets for it are sent to: its own, or that of its router.
fn completed(roots: &Roots, peer: &LinkPeer) -> LinkPeer {
    let mut peer = peer.clone();
    if let (Some(ip), None) = (peer.end.ip, peer.end.mac) {
        let hop = next_hop(ip, None, None).ok().flatten();
        peer.end.mac = neighbor_mac(roots, hop.and_then(|hop| hop.gateway).unwrap_or(ip));
    }
    peer
}

/// Whether next hops are chosen by the ports, too.
fn is_by_connection(roots: &Roots, route: &HopRoute) -> bool {
    let setting = match route.is_ipv6 {
        true => "net.ipv6.fib_multipath_hash_policy",
        false => "net.ipv4.fib_multipath_hash_policy",
    };
    sysctl(roots, setting).is_some_and(|value| value != "0")
}

/// Over which hops of a route the kernel sends packets to a peer, from each source.
fn ways_to(
    route: &HopRoute,
    peer: &LinkPeer,
    call: &LinksCall,
    is_by_connection: bool,
) -> Result<Vec<PeerLinks>, RunError> {
    let unknown = |peer: String, cause: &str| PeerLinks { peer, ratios: vec![], unknown: Some(cause.into()) };
    let Some(ip) = peer.end.ip else {
        return Ok(vec![unknown(peer.name.clone(), "a route needs an IP address")]);
    };
    let sources: Vec<Option<IpAddr>> = match call.sources.as_slice() {
        [] => vec![None],
        sources => sources.iter().copied().map(Some).collect(),
    };
    let mut found = Vec::new();
    for source in sources {
        let name = source.map_or_else(|| peer.name.clone(), |source| format!("{} from {source}", peer.name));
        found.push(match hops(route, (ip, source), call.port, is_by_connection)? {
            Ok(ratios) => PeerLinks { peer: name, ratios, unknown: None },
            Err(cause) => unknown(name, cause),
        });
    }
    Ok(found)
}

/// Share of each hop of a route in the packets to an address, or why there are none.
fn hops(
    route: &HopRoute,
    (ip, source): (IpAddr, Option<IpAddr>),
    port: u16,
    is_by_connection: bool,
) -> Result<Result<Vec<f64>, &'static str>, RunError> {
    let ports = SAMPLED_PORTS.take(if is_by_connection { usize::MAX } else { 1 });
    let mut counts = vec![0u32; route.hops.len()];
    for client in ports {
        let ports = is_by_connection.then_some([port, client]);
        let hop = next_hop(ip, source, ports)?;
        let Some(hop) = hop else {
            return Ok(Err(match source {
                Some(_) => "there is no route to it from there; --source must be an address of this host",
                None => "there is no route to it",
            }));
        };
        let Some(taken) = route.hops.iter().position(|known| *known == hop) else {
            return Ok(Err("its packets take another route"));
        };
        counts[taken] += 1;
    }
    let sum = f64::from(counts.iter().sum::<u32>());
    Ok(Ok(counts.into_iter().map(|count| f64::from(count) / sum).collect()))
}

/// Aggregates, links, and peers of a host that are believed.
const MAX_AGGREGATES: usize = 64;
const MAX_LINKS: usize = 64;
const MAX_PEERS: usize = 1024;

/// Longest name that is believed. Unit: characters.
const MAX_NAME_CHARS: usize = 200;

/// What a host says of its aggregates, as far as it can be true: a run folder must stay readable, whoever wrote to it.
pub(crate) fn bounded(mut aggregates: Vec<LinkPrediction>) -> Vec<LinkPrediction> {
    let short = |text: &mut String| *text = text.chars().take(MAX_NAME_CHARS).collect();
    aggregates.truncate(MAX_AGGREGATES);
    for prediction in &mut aggregates {
        let aggregate = &mut prediction.aggregate;
        short(&mut aggregate.name);
        short(&mut aggregate.mode);
        aggregate.members.truncate(MAX_LINKS);
        aggregate.members.iter_mut().for_each(|member| {
            short(&mut member.name);
            short(&mut member.interface);
        });
        prediction.peers.truncate(MAX_PEERS);
        for peer in &mut prediction.peers {
            short(&mut peer.peer);
            peer.unknown.iter_mut().for_each(short);
            peer.ratios.truncate(MAX_LINKS);
        }
        prediction.ratios.truncate(MAX_LINKS);
        prediction.policies.truncate(MAX_LINKS);
        prediction.address.iter_mut().for_each(|(peer, _)| short(peer));
    }
    aggregates
}
