//! Which parts of a lab belong to this machine and which to other machines; which hosts are connected or share files.

use super::outside::{HostSeat, ShareOf};
use super::plan::{LabPlan, LabService};

impl LabPlan {
    /// The way to a host that is another machine, as [`HostPlace`](sysdyno_record::place::HostPlace) reads it; `None`: it is on
    /// this machine, or there is no such host.
    pub fn far(&self, host: &str) -> Option<&str> {
        match &self.outside.get(host)?.seat {
            HostSeat::Ssh(place) | HostSeat::Fleet(place) => Some(place),
            HostSeat::Here => None,
        }
    }

    /// Whether a host is this machine in its own network.
    pub fn is_here(&self, host: &str) -> bool {
        self.outside.get(host).is_some_and(|outside| outside.seat == HostSeat::Here)
    }

    /// Whether what belongs to a host is made by this machine.
    pub(super) fn is_own(&self, host: &str) -> bool {
        match &self.share {
            Some(share) => share.host == host,
            None => self.far(host).is_none(),
        }
    }

    /// Hosts that this machine makes, or gives a name.
    pub(super) fn own_hosts(&self) -> impl Iterator<Item = &String> {
        self.hosts.iter().filter(move |host| self.is_own(host))
    }

    /// Services that this machine starts.
    pub(super) fn own_services(&self) -> impl Iterator<Item = &LabService> {
        self.services.iter().filter(move |service| self.is_own(&service.host))
    }

    /// Places of the links that this machine makes.
    pub(super) fn own_links(&self) -> std::ops::Range<usize> {
        if self.share.is_some() { 0..0 } else { 0..self.links.len() }
    }

    /// Hosts that are other machines for this one, in the order of the file, with the ways to them.
    pub(super) fn far_hosts(&self) -> impl Iterator<Item = (&str, &str)> {
        let hosts = self.hosts.iter().filter(move |host| self.share.is_none() && !self.is_own(host));
        hosts.filter_map(move |host| Some((host.as_str(), self.far(host)?)))
    }

    /// What a share is called on its host.
    pub(super) fn share_name(&self, host: &str) -> String {
        format!("{}-{host}", self.name)
    }

    /// The plan as another machine carries it out.
    pub(super) fn share(&self, host: &str, of: &str) -> LabPlan {
        let mut plan = self.clone();
        plan.name = self.share_name(host);
        plan.share = Some(ShareOf { host: host.to_owned(), of: of.to_owned() });
        plan.outside.entry(host.to_owned()).and_modify(|outside| outside.seat = HostSeat::Here);
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
            "'{from}' cannot reach '{to}': '{inner}' is a network namespace, which only has links within the \
             lab"
        ))
    }

    /// Whether two hosts have the same files.
    pub(super) fn check_files(&self, from: &str, to: &str) -> Result<(), String> {
        let machine = |host| self.far(host).map(|_| host);
        let is_same = from == to || machine(from) == machine(to) && self.share.is_none();
        if is_same {
            Ok(())
        } else {
            Err(format!("its files are on '{to}', but '{from}' is another machine"))
        }
    }
}
