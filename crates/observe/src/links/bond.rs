//! A bond, by `/sys/class/net/NAME/bonding`.

use super::{member, text};
use std::path::Path;
use sysdyno_record::links::{AggregateKind, FlowEnd, HashPolicy, LinkAggregate};

/// Modes in which a packet's link is computed from its addresses.
const HASHED: [&str; 2] = ["balance-xor", "802.3ad"];

/// The interface of that name in the folder, if it is a bond.
pub(super) fn read(folder: &Path, name: &str) -> Option<LinkAggregate> {
    let of_bond = |file: &str| text(&folder.join(name).join("bonding").join(file));
    // A word and its number: `802.3ad 4`.
    let word = |file: &str| Some(of_bond(file)?.split(' ').next()?.to_owned());
    let mode = word("mode")?;
    let policy = word("xmit_hash_policy").filter(|_| HASHED.contains(&mode.as_str()));
    let active = of_bond("active_slave").filter(|_| mode == "active-backup");
    let aggregator = of_bond("ad_aggregator").filter(|_| mode == "802.3ad");
    let is_used = |link: &str| {
        let of_link = |file: &str| text(&folder.join(link).join("bonding_slave").join(file));
        of_link("mii_status").as_deref() == Some("up")
            && active.as_deref().is_none_or(|active| active == link)
            && (aggregator.is_none() || of_link("ad_aggregator_id") == aggregator)
    };
    let links = of_bond("slaves").unwrap_or_default();
    let links = links.split_ascii_whitespace().map(str::to_owned);
    Some(LinkAggregate {
        kind: AggregateKind::Bond,
        name: name.to_owned(),
        policy: policy.as_deref().and_then(policy_of),
        own: FlowEnd {
            mac: text(&folder.join(name).join("address")).and_then(|mac| mac.parse().ok()),
            ip: None,
        },
        members: links
            .map(|link| {
                let is_used = is_used(&link);
                member(folder, link, is_used)
            })
            .collect(),
        mode: policy.map_or_else(|| mode.clone(), |policy| format!("{mode}, {policy}")),
    })
}

fn policy_of(word: &str) -> Option<HashPolicy> {
    HashPolicy::ALL.into_iter().find(|policy| policy.name() == word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::links::{bonds, leads_over, neighbor_mac};
    use crate::roots::Roots;
    use std::net::IpAddr;

    /// A tree as the kernel makes it for a bond of three links, one of which is in no aggregate. These machines have no bonding
    /// module: the files are those of `Documentation/networking/bonding.rst` and `Documentation/ABI/testing/sysfs-class-net`.
    fn roots() -> Roots {
        Roots::at(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/bonding"))
    }

    #[test]
    fn an_lacp_bond_uses_the_links_of_its_aggregate() {
        let found = bonds(&roots());
        let names: Vec<_> = found.iter().map(|bond| (bond.name.as_str(), bond.mode.as_str())).collect();
        assert_eq!(names, [("bond0", "802.3ad, layer2"), ("bond1", "active-backup")]);
        assert_eq!((found[0].policy, found[1].policy), (Some(HashPolicy::Layer2), None));
        let used = |at: usize| found[at].used().map(|link| link.name.clone()).collect::<Vec<_>>();
        assert_eq!(used(0), ["eth0", "eth1"]);
        assert_eq!(used(1), ["eth4"]);
        let [first, ..] = &found[0].members[..] else { panic!("it has links: {found:?}") };
        assert_eq!((first.sent_bytes, first.speed_mbps), (Some(9_000_000), Some(1000.0)));
        assert_eq!(found[0].own.mac.map(|mac| mac.to_string()).as_deref(), Some("02:00:00:00:00:01"));
    }

    #[test]
    fn a_vlan_leads_over_the_bond_below_it() {
        assert!(leads_over(&roots(), "bond0", "bond0") && leads_over(&roots(), "bond0.10", "bond0"));
        assert!(!leads_over(&roots(), "bond0.10", "bond1") && !leads_over(&roots(), "eth9", "bond0"));
    }

    #[test]
    fn a_neighbor_without_an_answer_has_no_mac() {
        let mac =
            |last: u8| neighbor_mac(&roots(), IpAddr::from([10, 0, 0, last])).map(|mac| mac.to_string());
        assert_eq!(mac(10).as_deref(), Some("02:00:00:00:00:0a"));
        assert_eq!((mac(11), mac(12)), (None, None));
    }
}
