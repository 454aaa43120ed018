//! Aligns names that are assigned by chance, so that they are equal on both hosts: names of interrupts, and the name of an
//! interface or disk that is the only one of its kind missing on the other host.

use std::collections::{BTreeMap, BTreeSet};
use sysdyno_record::facts::{Fact, HostFacts};

/// First words of facts that belong to an object, whose name is what stands between them and the last word.
const OBJECTS: &[&str] = &["disk", "filesystem", "irq", "nic", "numa"];

/// Settings of an interface, whose name follows.
const OF_INTERFACES: &[&str] = &[
    "sysctl.net.ipv4.conf.",
    "sysctl.net.ipv4.neigh.",
    "sysctl.net.ipv6.conf.",
    "sysctl.net.ipv6.neigh.",
    "sysctl.net.mpls.conf.",
];

/// Facts by names that can be compared.
pub(super) type FactTable = BTreeMap<String, Fact>;

/// Both hosts with names that can be compared.
pub(super) fn aligned(a: &HostFacts, b: &HostFacts) -> [FactTable; 2] {
    let mut tables = [by_device(a), by_device(b)];
    let pairs = ["disk", "nic"].map(|kind| only_pair(kind, &tables));
    for (kind, pair) in ["disk", "nic"].into_iter().zip(pairs) {
        let Some([one, other]) = pair else { continue };
        let both = format!("{one}|{other}");
        let [a, b] = tables;
        tables = [rename(a, kind, &one, &both), rename(b, kind, &other, &both)];
    }
    tables
}

/// `nic.eth0` of `nic.eth0.mtu_bytes`; `None` of a fact that belongs to no object.
pub(super) fn object(name: &str) -> Option<&str> {
    if let Some(prefix) = OF_INTERFACES.iter().find(|prefix| name.starts_with(**prefix)) {
        let (interface, _) = name[prefix.len()..].split_once('.')?;
        return Some(&name[..prefix.len() + interface.len()]);
    }
    let (object, _) = name.rsplit_once('.')?;
    let (kind, rest) = object.split_once('.')?;
    (OBJECTS.contains(&kind) && !rest.is_empty()).then_some(object)
}

/// The names of the one object of a kind that each host has and the other lacks; `None`: there are more, or fewer.
/// Interfaces without a device (bridges, tunnels) are not looked at.
fn only_pair(kind: &str, [a, b]: &[FactTable; 2]) -> Option<[String; 2]> {
    let (a, b) = (devices(kind, a), devices(kind, b));
    let only = |ours: &BTreeSet<String>, theirs: &BTreeSet<String>| {
        let mut lone = ours.difference(theirs);
        let first = lone.next()?;
        lone.next().is_none().then(|| first.clone())
    };
    Some([only(&a, &b)?, only(&b, &a)?])
}

/// Names of the objects of a kind that are devices.
fn devices(kind: &str, table: &FactTable) -> BTreeSet<String> {
    let is_device =
        |object: &str| kind != "nic" || matches!(table.get(&format!("{object}.driver")), Some(Fact::Text(_)));
    let objects = table.keys().filter_map(|name| object(name));
    let names = objects.filter_map(|object| Some((object, object.strip_prefix(kind)?.strip_prefix('.')?)));
    names.filter(|(object, _)| is_device(object)).map(|(_, name)| name.to_owned()).collect()
}

/// The table with an object under another name.
fn rename(table: FactTable, kind: &str, from: &str, to: &str) -> FactTable {
    let own = format!("{kind}.");
    let settings: &[&str] = if kind == "nic" { OF_INTERFACES } else { &[] };
    // As sysctl(8) writes it: a point in the name of an interface is a slash.
    let dotted = from.replace('.', "/");
    let renamed = |name: &str| {
        let object = object(name)?;
        let rest = &name[object.len()..];
        if object.strip_prefix(&own) == Some(from) {
            return Some(format!("{own}{to}{rest}"));
        }
        let prefix = settings.iter().find(|prefix| object.strip_prefix(**prefix) == Some(&dotted))?;
        Some(format!("{prefix}{to}{rest}"))
    };
    table.into_iter().map(|(name, fact)| (renamed(&name).unwrap_or(name), fact)).collect()
}

/// The facts with `irq.41.cpus` and its device `PCI-MSI 2-edge eth0-rx` as `irq.eth0-rx.cpus`.
fn by_device(facts: &HostFacts) -> FactTable {
    let mut out = BTreeMap::new();
    let mut lines: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, fact) in &facts.facts {
        let line = name.strip_prefix("irq.").and_then(|rest| rest.split_once('.'));
        let Some((number, what)) = line else {
            out.insert(name.clone(), fact.clone());
            continue;
        };
        let device = facts.text(&format!("irq.{number}.device"));
        let device = device.and_then(|text| text.split_whitespace().next_back());
        if let (Some(device), "cpus", Fact::Text(cpus)) = (device, what, fact) {
            lines.entry(format!("irq.{device}.cpus")).or_default().push(cpus);
        }
    }
    for (name, mut cpus) in lines {
        cpus.sort_unstable();
        out.insert(name, Fact::Text(cpus.join("; ")));
    }
    out
}
