//! Finds which running lab has an address, as far as this user may look.
//!
//! Everybody can list the names of labs' namespaces and read the file in a lab's folder, so users who may not enter a lab can
//! also learn that an address belongs to it.

use super::plan::LabPlan;
use super::plan_links::LabLink;
use super::{labs::STATE, namespace, plan};
use std::collections::BTreeSet;
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use sysdyno_run::agent::{LabAddresses, LabHost};

/// Maximum number of namespace names to examine.
const MAX_NAMES: usize = 4096;

/// Longest file of a lab. Unit: bytes.
const MAX_FILE: u64 = 1 << 20;

/// The labs below a state folder; `None`: that of the system.
#[derive(Clone, Debug)]
pub struct AddressesBelow(pub Option<PathBuf>);

impl LabAddresses for AddressesBelow {
    fn host_with(&self, address: IpAddr) -> Option<LabHost> {
        let address = address.to_canonical();
        lab_names().iter().find_map(|name| host_with(&read(self.0.as_deref(), name)?, address))
    }
}

/// Names that a lab may have whose namespaces are there: where `a-b-c` names lab and host, the lab is `a` or `a-b`.
fn lab_names() -> BTreeSet<String> {
    let Ok(entries) = fs::read_dir(namespace::NAMED) else { return BTreeSet::new() };
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).take(MAX_NAMES);
    let mut found = BTreeSet::new();
    for name in names {
        let Some(rest) = name.strip_prefix("sysdyno-") else { continue };
        let labs = rest.match_indices('-').map(|(end, _)| &rest[..end]);
        found.extend(labs.filter(|lab| plan::is_kept_name(lab)).map(str::to_owned));
    }
    found
}

fn read(state: Option<&Path>, lab: &str) -> Option<LabPlan> {
    let path = state.unwrap_or(Path::new(STATE)).join("lab").join(lab).join("lab.toml");
    fs::metadata(&path).ok().filter(|found| found.is_file() && found.len() <= MAX_FILE)?;
    let read = LabPlan::parse(&fs::read_to_string(&path).ok()?, &path).ok()?;
    (read.name == lab).then_some(read)
}

/// The host of a lab that has an address on one of its links.
fn host_with(plan: &LabPlan, address: IpAddr) -> Option<LabHost> {
    let has = |link: &&LabLink| {
        let mut ends = link.ends.iter();
        ends.any(|end| end.address.is_some_and(|own| own.ip == address))
    };
    let link = plan.links.iter().find(has)?;
    let host = link.ends.iter().find(|end| end.address.is_some_and(|own| own.ip == address))?.host.clone();
    let from = neighbors(plan, &host);
    let is_idle = |other: &&&str| !plan.services.iter().any(|service| service.host == ***other);
    let from = from.iter().find(is_idle).or(from.first()).map_or(host.clone(), |other| (*other).to_owned());
    Some(LabHost { lab: plan.name.clone(), host, from })
}

/// Hosts that a link joins with a host, or a link and a switch.
fn neighbors<'a>(plan: &'a LabPlan, host: &str) -> Vec<&'a str> {
    let beside = |host: &str| {
        let links = plan.links.iter().filter(|link| link.ends.iter().any(|end| end.host == host));
        links.flat_map(|link| &link.ends).map(|end| end.host.as_str()).collect::<Vec<_>>()
    };
    let near = beside(host);
    let switched = near.iter().filter(|near| plan.switches.contains(**near)).flat_map(|near| beside(near));
    let mut all: Vec<&str> = near.iter().copied().chain(switched).collect();
    all.retain(|other| *other != host && !plan.switches.contains(*other));
    let mut known = BTreeSet::new();
    all.retain(|other| known.insert(*other));
    // Borrowed from the plan, and not from the name that was asked for.
    all.iter().filter_map(|name| plan.hosts.iter().find(|host| host == name)).map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(text: &str) -> LabPlan {
        LabPlan::parse(text, Path::new("lab.toml")).expect("is a lab")
    }

    fn of(plan: &LabPlan, address: &str) -> Option<(String, String)> {
        host_with(plan, address.parse().expect("an address")).map(|found| (found.host, found.from))
    }

    fn some(host: &str, from: &str) -> Option<(String, String)> {
        Some((host.to_owned(), from.to_owned()))
    }

    #[test]
    fn an_address_belongs_to_a_host_and_an_idle_neighbor_reaches_it() {
        let shop = plan(
            "name = 'shop'\n[[host]]\nname = 'db'\n[[host]]\nname = 'web'\n[[host]]\nname = 'client'\n\
             [[link]]\nbetween = ['web', 'db']\naddresses = ['10.78.0.1/24', '10.78.0.2/24']\n\
             [[link]]\nbetween = ['client', 'web']\naddresses = ['10.77.0.1/24', '10.77.0.2/24']\n\
             [[service]]\nname = 'front'\nhost = 'db'\nrecipe = 'nginx'\nwith = { port = 8080 }\n",
        );
        assert_eq!(of(&shop, "10.77.0.2"), some("web", "client"));
        assert_eq!(of(&shop, "10.78.0.1"), some("web", "client"));
        assert_eq!(of(&shop, "10.78.0.2"), some("db", "web"));
        assert_eq!(of(&shop, "10.77.0.3"), None);
    }

    #[test]
    fn a_switch_joins_hosts_and_is_none() {
        let star = plan(
            "name = 'star'\n[[host]]\nname = 'a'\n[[host]]\nname = 'b'\n[[host]]\nname = 'hub'\nswitch = true\n\
             [[link]]\nbetween = ['a', 'hub']\naddresses = ['10.77.0.1/24']\n\
             [[link]]\nbetween = ['b', 'hub']\naddresses = ['10.77.0.2/24']\n",
        );
        assert_eq!(of(&star, "10.77.0.2"), some("b", "a"));
    }
}
