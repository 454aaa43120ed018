//! Aggregates of links on this host: bonds, and routes over several next hops (ECMP).
//!
//! Sources: `/sys/class/net/NAME/bonding` and `bonding_slave` (`Documentation/networking/bonding.rst`); rtnetlink(7). Of a route the
//! kernel itself says where a packet goes, because its hash has a secret. Teams are not read: their user-space daemon decides.

mod bond;
mod hops;

pub use hops::{HopRoute, NextHop, hop_routes, next_hop};

use crate::roots::Roots;
use crate::source::read_once;
use std::net::IpAddr;
use std::path::Path;
use sysdyno_record::links::{AggregateKind, FlowEnd, LinkAggregate, LinkMember, MacAddress};

/// Interfaces that are looked at, at most.
const MAX_INTERFACES: usize = 4096;

/// The bonds, by name.
pub fn bonds(roots: &Roots) -> Vec<LinkAggregate> {
    let folder = roots.in_sys("class/net");
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten().take(MAX_INTERFACES);
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names.iter().filter_map(|name| bond::read(&folder, name)).collect()
}

/// The MAC address of an IPv4 neighbor; `None`: the kernel has not needed it lately.
///
/// Source: `/proc/net/arp`, flag 2 (complete).
pub fn neighbor_mac(roots: &Roots, address: IpAddr) -> Option<MacAddress> {
    let table = text(&roots.in_proc("net/arp"))?;
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [ip, _, flags, mac, ..] = fields[..] else { return None };
        let is_complete = u32::from_str_radix(flags.strip_prefix("0x")?, 16).ok()? & 2 != 0;
        (is_complete && ip.parse() == Ok(address)).then(|| mac.parse().ok())?
    })
}

/// Interfaces that lie on top of each other, at most: a bridge on a VLAN on a bond.
const MAX_LAYERS: usize = 4;

/// Whether what leaves over an interface leaves over another one below it, such as a bond below its VLAN.
///
/// Source: `/sys/class/net/NAME/lower_*`.
pub fn leads_over(roots: &Roots, interface: &str, below: &str) -> bool {
    let mut layer = vec![interface.to_owned()];
    for _ in 0..MAX_LAYERS {
        if layer.iter().any(|name| name == below) {
            return true;
        }
        layer = layer.iter().flat_map(|name| lower(roots, name)).collect();
    }
    false
}

fn lower(roots: &Roots, name: &str) -> Vec<String> {
    let entries = std::fs::read_dir(roots.in_sys("class/net").join(name)).into_iter().flatten().flatten();
    let lower =
        |entry: std::fs::DirEntry| Some(entry.file_name().to_str()?.strip_prefix("lower_")?.to_owned());
    entries.filter_map(lower).take(MAX_INTERFACES).collect()
}

/// An interface as a link.
fn member(folder: &Path, name: String, is_used: bool) -> LinkMember {
    let number = |file: &str| text(&folder.join(&name).join(file))?.parse::<i64>().ok();
    let bytes = |file: &str| number(file).and_then(|bytes| u64::try_from(bytes).ok());
    LinkMember {
        is_used,
        speed_mbps: number("speed").filter(|mbps| *mbps > 0).map(|mbps| mbps as f64),
        sent_bytes: bytes("statistics/tx_bytes"),
        received_bytes: bytes("statistics/rx_bytes"),
        interface: name.clone(),
        name,
    }
}

/// What a small file of the kernel says, without the end of its line.
fn text(path: &Path) -> Option<String> {
    let mut buffer = Vec::new();
    let bytes = read_once(path, &mut buffer).ok()?;
    Some(std::str::from_utf8(bytes).ok()?.trim_end().to_owned())
}

/// Next hops as an aggregate.
pub fn of_route(roots: &Roots, route: &HopRoute) -> LinkAggregate {
    let folder = roots.in_sys("class/net");
    let member = |hop: &NextHop| {
        let link = member(&folder, hop.interface.clone(), true);
        LinkMember { name: hop.to_string(), ..link }
    };
    LinkAggregate {
        kind: AggregateKind::Route,
        name: route.destination.clone(),
        mode: "ECMP".into(),
        policy: None,
        own: FlowEnd::default(),
        members: route.hops.iter().map(member).collect(),
    }
}
