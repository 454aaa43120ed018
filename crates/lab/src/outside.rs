//! Hosts of a lab that are not namespaces: this machine in its own network, and other machines, behind ssh or in a fleet.
//!
//! Another machine builds its share of the lab itself, as its own lab named `LAB-HOST`: from the same plan, in which that
//! host is the local machine and nothing else is created.

use super::file::{HostFile, LinkFile};
use super::problem::FileProblem;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::IpAddr;
use sysdyno_record::fleet::FleetSelector;
use sysdyno_record::place::{HostPlace, HostWay};
use toml::Spanned;

/// A host that the lab does not make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outside {
    /// Where it is.
    pub seat: HostSeat,
    /// At which address others find it.
    pub address: IpAddr,
}

/// Where a host is that the lab does not make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostSeat {
    /// This machine, in the network namespace of this program.
    Here,
    /// Behind ssh, as it was typed.
    Ssh(String),
    /// An agent of a fleet: `fleet:NAME`.
    Fleet(String),
}

/// Which part of a lab a plan is carried out for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareOf {
    /// The host whose share it is.
    pub host: String,
    /// The lab that it is a share of, as no other lab is called.
    pub of: String,
}

/// The hosts of a file that are no namespaces, by name.
///
/// # Errors
/// Whatever is wrong with one of them.
pub(super) fn understand(files: &[HostFile]) -> Result<BTreeMap<String, Outside>, FileProblem> {
    let mut known: BTreeMap<String, Outside> = BTreeMap::new();
    for file in files {
        let Some(outside) = outside(file)? else { continue };
        if outside.seat == HostSeat::Here && known.values().any(|other| other.seat == HostSeat::Here) {
            return Err(FileProblem::with(&file.name, "another host is already this machine"));
        }
        known.insert(file.name.get_ref().clone(), outside);
    }
    Ok(known)
}

fn outside(file: &HostFile) -> Result<Option<Outside>, FileProblem> {
    let (seat, named) = match (&file.ssh, &file.fleet, file.here) {
        (Some(typed), _, true) | (None, Some(typed), true) | (Some(_), Some(typed), false) => {
            return Err(FileProblem::with(typed, "a host is one of 'here', 'ssh', and 'fleet'"));
        }
        (Some(ssh), None, false) => ssh_seat(ssh)?,
        (None, Some(agent), false) => (fleet_seat(agent)?, None),
        (None, None, true) => (HostSeat::Here, None),
        (None, None, false) => {
            let wrong =
                |address| FileProblem::with(address, "a network namespace gets its addresses from its links");
            return file.address.as_ref().map_or(Ok(None), |address| Err(wrong(address)));
        }
    };
    if file.switch {
        return Err(FileProblem::with(
            &file.name,
            "a switch is a network namespace; it cannot be 'here', behind 'ssh', or in a 'fleet'",
        ));
    }
    let address = file.address.as_ref().map(address).transpose()?.or(named).ok_or_else(|| {
        FileProblem::with(
            &file.name,
            "it needs an 'address' where the other hosts can reach it, such as \
                                   192.0.2.7",
        )
    })?;
    Ok(Some(Outside { seat, address }))
}

/// A host behind ssh, and its address if its name is one.
fn ssh_seat(typed: &Spanned<String>) -> Result<(HostSeat, Option<IpAddr>), FileProblem> {
    let place = typed.get_ref().parse::<HostPlace>().map(|place| place.way);
    let Ok(HostWay::Ssh(address)) = place else {
        return Err(FileProblem::with(
            typed,
            "this is not a host for ssh: write USER@HOST or ssh://USER@HOST:PORT",
        ));
    };
    Ok((HostSeat::Ssh(typed.get_ref().clone()), address.host.parse().ok()))
}

/// An agent of a fleet; its address is asked for, since the broker knows agents by name only.
fn fleet_seat(typed: &Spanned<String>) -> Result<HostSeat, FileProblem> {
    let place = format!("fleet:{}", typed.get_ref());
    match place.parse::<HostPlace>().map(|place| place.way) {
        Ok(HostWay::Fleet(FleetSelector::Name(_))) => Ok(HostSeat::Fleet(place)),
        _ => Err(FileProblem::with(typed, "this is not the name of an agent, such as web1")),
    }
}

fn address(typed: &Spanned<String>) -> Result<IpAddr, FileProblem> {
    let address = typed.get_ref().parse::<IpAddr>().ok();
    let is_good = |address: &IpAddr| !address.is_unspecified() && !address.is_multicast();
    address
        .filter(is_good)
        .ok_or_else(|| FileProblem::with(typed, "this is not an address, such as 192.0.2.7"))
}

/// Links are made between namespaces only: the network of other hosts is not touched.
pub(super) fn check_links(links: &[LinkFile], known: &BTreeMap<String, Outside>) -> Result<(), FileProblem> {
    let mut ends = links.iter().flat_map(|link| link.between.get_ref());
    match ends.find(|host| known.contains_key(host.get_ref())) {
        None => Ok(()),
        Some(host) => {
            let cause = "links only connect network namespaces: the network of this host is left alone";
            Err(FileProblem::with(host, cause))
        }
    }
}
