//! Hosts of a lab that are no namespaces of it: this machine in its own network, and machines behind ssh.
//!
//! A machine behind ssh carries out its share of the lab itself, as a lab of its own that is called `LAB-HOST`: the same
//! plan, in which that host is this machine, and nothing else is made.

use super::file::{HostFile, LinkFile};
use super::plan::{LabPlan, Service};
use super::problem::Problem;
use crate::agent::{HostPlace, Way};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::IpAddr;
use toml::Spanned;

/// A host that the lab does not make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outside {
    /// Where it is.
    pub seat: Seat,
    /// At which address others find it.
    pub address: IpAddr,
}

/// Where a host is that the lab does not make.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seat {
    /// This machine, in the network namespace of this program.
    Here,
    /// Behind ssh, as it was typed.
    Ssh(String),
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
pub(super) fn understand(files: &[HostFile]) -> Result<BTreeMap<String, Outside>, Problem> {
    let mut known: BTreeMap<String, Outside> = BTreeMap::new();
    for file in files {
        let Some(outside) = outside(file)? else { continue };
        if outside.seat == Seat::Here && known.values().any(|other| other.seat == Seat::Here) {
            return Err(Problem::with(&file.name, "another host is this machine already"));
        }
        known.insert(file.name.get_ref().clone(), outside);
    }
    Ok(known)
}

fn outside(file: &HostFile) -> Result<Option<Outside>, Problem> {
    let (seat, named) = match (&file.ssh, file.here) {
        (Some(ssh), true) => return Err(Problem::with(ssh, "a host is 'here' or behind 'ssh', not both")),
        (Some(ssh), false) => ssh_seat(ssh)?,
        (None, true) => (Seat::Here, None),
        (None, false) => {
            let wrong =
                |address| Problem::with(address, "a network namespace has the addresses of its links");
            return file.address.as_ref().map_or(Ok(None), |address| Err(wrong(address)));
        }
    };
    if file.switch {
        return Err(Problem::with(
            &file.name,
            "a switch is a network namespace, neither 'here' nor behind 'ssh'",
        ));
    }
    let address = file.address.as_ref().map(address).transpose()?.or(named).ok_or_else(|| {
        Problem::with(&file.name, "it takes an 'address' at which the other hosts find it, as in 192.0.2.7")
    })?;
    Ok(Some(Outside { seat, address }))
}

/// A host behind ssh, and its address if its name is one.
fn ssh_seat(typed: &Spanned<String>) -> Result<(Seat, Option<IpAddr>), Problem> {
    let place = typed.get_ref().parse::<HostPlace>().map(|place| place.way);
    let Ok(Way::Ssh(address)) = place else {
        return Err(Problem::with(
            typed,
            "this is no host behind ssh, as in USER@HOST or ssh://USER@HOST:PORT",
        ));
    };
    Ok((Seat::Ssh(typed.get_ref().clone()), address.host.parse().ok()))
}

fn address(typed: &Spanned<String>) -> Result<IpAddr, Problem> {
    let address = typed.get_ref().parse::<IpAddr>().ok();
    let is_good = |address: &IpAddr| !address.is_unspecified() && !address.is_multicast();
    address.filter(is_good).ok_or_else(|| Problem::with(typed, "this is no address, as in 192.0.2.7"))
}

/// Links are made between namespaces only: the network of other hosts is not touched.
pub(super) fn check_links(links: &[LinkFile], known: &BTreeMap<String, Outside>) -> Result<(), Problem> {
    let mut ends = links.iter().flat_map(|link| link.between.get_ref());
    match ends.find(|host| known.contains_key(host.get_ref())) {
        None => Ok(()),
        Some(host) => {
            let cause = "links are between network namespaces: the network of this host is left as it is";
            Err(Problem::with(host, cause))
        }
    }
}

impl LabPlan {
    /// Whom ssh reaches for a host; `None`: it is on this machine, or there is no such host.
    pub fn ssh(&self, host: &str) -> Option<&str> {
        match &self.outside.get(host)?.seat {
            Seat::Ssh(place) => Some(place),
            Seat::Here => None,
        }
    }

    /// Whether a host is this machine in its own network.
    pub fn is_here(&self, host: &str) -> bool {
        self.outside.get(host).is_some_and(|outside| outside.seat == Seat::Here)
    }

    /// Whether what belongs to a host is made by this machine.
    pub(super) fn is_own(&self, host: &str) -> bool {
        match &self.share {
            Some(share) => share.host == host,
            None => self.ssh(host).is_none(),
        }
    }

    /// Hosts that this machine makes, or gives a name.
    pub(super) fn own_hosts(&self) -> impl Iterator<Item = &String> {
        self.hosts.iter().filter(move |host| self.is_own(host))
    }

    /// Services that this machine starts.
    pub(super) fn own_services(&self) -> impl Iterator<Item = &Service> {
        self.services.iter().filter(move |service| self.is_own(&service.host))
    }

    /// Places of the links that this machine makes.
    pub(super) fn own_links(&self) -> std::ops::Range<usize> {
        if self.share.is_some() { 0..0 } else { 0..self.links.len() }
    }

    /// Hosts that are behind ssh for this machine, in the order of the file, with whom ssh reaches.
    pub(super) fn ssh_hosts(&self) -> impl Iterator<Item = (&str, &str)> {
        let hosts = self.hosts.iter().filter(move |host| self.share.is_none() && !self.is_own(host));
        hosts.filter_map(move |host| Some((host.as_str(), self.ssh(host)?)))
    }

    /// What a share is called on its host.
    pub(super) fn share_name(&self, host: &str) -> String {
        format!("{}-{host}", self.name)
    }

    /// The plan as a host behind ssh carries it out.
    pub(super) fn share(&self, host: &str, of: &str) -> LabPlan {
        let mut plan = self.clone();
        plan.name = self.share_name(host);
        plan.share = Some(ShareOf { host: host.to_owned(), of: of.to_owned() });
        plan.outside.entry(host.to_owned()).and_modify(|outside| outside.seat = Seat::Here);
        plan
    }

    /// Whether one host has a way to another: namespaces have links, and no way out.
    pub(super) fn check_way(&self, from: &str, to: &str) -> Result<(), String> {
        let is_outside = |host: &str| self.outside.contains_key(host);
        if is_outside(from) == is_outside(to) {
            return Ok(());
        }
        let inner = if is_outside(from) { to } else { from };
        Err(format!(
            "there is no way between '{from}' and '{to}': '{inner}' is a network namespace, which has links to others of the lab only"
        ))
    }

    /// Whether two hosts have the same files.
    pub(super) fn check_files(&self, from: &str, to: &str) -> Result<(), String> {
        let machine = |host| self.ssh(host).map(|_| host);
        let is_same = from == to || machine(from) == machine(to) && self.share.is_none();
        if is_same {
            Ok(())
        } else {
            Err(format!("its files are on '{to}', and '{from}' is another machine"))
        }
    }
}
