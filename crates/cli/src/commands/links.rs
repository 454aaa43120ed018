//! `sysdyno links`: which link of an aggregate carries the traffic of whom.

use crate::args::LinksArgs;
use crate::exit::Exit;
use crate::ui::Ui;
use anyhow::{Context, bail};
use std::net::IpAddr;
use sysdyno_analyze::links::{LinkPeer, predict, predicted};
use sysdyno_observe::{
    HopRoute, Roots, bonds, hop_routes, host_addresses, leads_over, neighbor_mac, next_hop, of_route, sysctl,
};
use sysdyno_record::links::{
    AggregateKind, FlowEnd, HashPolicy, LinkAggregate, LinkMember, LinkPrediction, PeerLinks,
};
use sysdyno_report::links as text;

/// Ports of the other end that stand for all: what the kernel chooses for a connection is not known before.
const SAMPLED_PORTS: std::ops::Range<u16> = 40_000..40_256;

pub fn links(args: &LinksArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let peers = args.peers.iter().map(|typed| peer(typed)).collect::<anyhow::Result<Vec<LinkPeer>>>()?;
    let found = match &args.hash {
        Some(policy) => vec![predict(described(args, policy)?, &peers, args.port)],
        None => here(args, &peers)?,
    };
    match args.json {
        true => ui.print(&format!("{:#}", text::document(&found))),
        false => ui.print(&text::screen(&found, &ui.style())),
    }
    Ok(Exit::Done)
}

/// A peer as it is typed.
fn peer(typed: &str) -> anyhow::Result<LinkPeer> {
    let (ip, mac) = match typed.split_once('@') {
        Some((ip, mac)) => (ip.parse().map(Some).ok(), mac.parse().map(Some).ok()),
        None => match typed.parse::<IpAddr>() {
            Ok(ip) => (Some(Some(ip)), Some(None)),
            Err(_) => (Some(None), typed.parse().map(Some).ok()),
        },
    };
    let (Some(ip), Some(mac)) = (ip, mac) else {
        let typed = typed.escape_debug();
        bail!(
            "cannot read host '{typed}': it is not an address\nhint: 10.0.0.9, 02:00:5e:10:00:09, or 10.0.0.9@02:00:5e:10:00:09"
        );
    };
    Ok(LinkPeer { name: typed.to_owned(), end: FlowEnd { mac, ip } })
}

/// A device that is not this host.
fn described(args: &LinksArgs, policy: &str) -> anyhow::Result<LinkAggregate> {
    let (Some(count), Some(own)) = (args.links, &args.own) else { bail!("--hash needs --links and --own") };
    if args.peers.is_empty() {
        bail!(
            "cannot divide traffic: --hash needs the peers\nhint: sysdyno links PEER… --hash POLICY --links N --own HOST"
        );
    }
    let member = |number: u8| LinkMember {
        name: format!("link {number}"),
        is_used: true,
        speed_mbps: None,
        sent_bytes: None,
        received_bytes: None,
    };
    Ok(LinkAggregate {
        kind: AggregateKind::Described,
        name: own.clone(),
        mode: policy.to_owned(),
        policy: HashPolicy::ALL.into_iter().find(|known| known.name() == policy),
        own: peer(own)?.end,
        members: (1..=count).map(member).collect(),
    })
}

/// The aggregates of this host.
fn here(args: &LinksArgs, peers: &[LinkPeer]) -> anyhow::Result<Vec<LinkPrediction>> {
    let roots = Roots::host();
    let addresses = host_addresses()?;
    let peers: Vec<LinkPeer> = peers.iter().map(|peer| completed(&roots, peer)).collect();
    let of_bond = |mut bond: LinkAggregate| {
        let own = addresses.iter().filter(|own| own.interface == bond.name).map(|own| own.address);
        bond.own.ip = args.source.first().copied().or_else(|| own.min_by_key(|address| address.is_ipv6()));
        let (over, elsewhere): (Vec<LinkPeer>, Vec<LinkPeer>) =
            peers.iter().cloned().partition(|peer| is_over(&roots, &bond.name, peer));
        let mut prediction = predict(bond, &over, args.port);
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
            known.extend(ways_to(&route, peer, args, is_by_connection)?);
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
    args: &LinksArgs,
    is_by_connection: bool,
) -> anyhow::Result<Vec<PeerLinks>> {
    let unknown = |peer: String, cause: &str| PeerLinks { peer, ratios: vec![], unknown: Some(cause.into()) };
    let Some(ip) = peer.end.ip else {
        return Ok(vec![unknown(peer.name.clone(), "a route needs an IP address")]);
    };
    let sources: Vec<Option<IpAddr>> = match args.source.as_slice() {
        [] => vec![None],
        sources => sources.iter().copied().map(Some).collect(),
    };
    let mut found = Vec::new();
    for source in sources {
        let name = source.map_or_else(|| peer.name.clone(), |source| format!("{} from {source}", peer.name));
        found.push(match hops(route, (ip, source), args.port, is_by_connection)? {
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
) -> anyhow::Result<Result<Vec<f64>, &'static str>> {
    let ports = SAMPLED_PORTS.take(if is_by_connection { usize::MAX } else { 1 });
    let mut counts = vec![0u32; route.hops.len()];
    for client in ports {
        let ports = is_by_connection.then_some([port, client]);
        let hop = next_hop(ip, source, ports).with_context(|| format!("cannot look up '{ip}'"))?;
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
