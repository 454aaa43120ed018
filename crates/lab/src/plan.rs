//! The plan of a lab: every name, address, and parameter is checked, but nothing has been created yet.
//!
//! It is written to the journal, and the other commands know the lab only from there.

use super::limits::ServiceLimits;
use super::outside::{Outside, ShareOf};
use super::plan_links::LabLink;
use super::recipe::HealthCheck;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

/// Longest name of a lab, host or service. Unit: bytes.
const MAX_NAME: usize = 24;

/// A lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabPlan {
    /// Its name.
    pub name: String,
    /// Names of its hosts.
    pub hosts: Vec<String>,
    /// Those of them that are switches: nothing runs there, and frames go from each link to the others.
    #[serde(default)]
    pub switches: BTreeSet<String>,
    /// Those of them that are no namespaces of the lab.
    #[serde(default)]
    pub outside: BTreeMap<String, Outside>,
    /// The part of it that this plan is carried out for; `None`: all that is on this machine.
    #[serde(default)]
    pub share: Option<ShareOf>,
    /// Its links.
    pub links: Vec<LabLink>,
    /// Its services, in the order in which they start.
    pub services: Vec<LabService>,
}

/// A service.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabService {
    /// Its name.
    pub name: String,
    /// Where it runs.
    pub host: String,
    /// How.
    pub recipe: String,
    /// Whether it is left out: what an experiment compares may be how many there are.
    #[serde(default)]
    pub is_off: bool,
    /// CPUs that it may run on; empty: all.
    #[serde(default)]
    pub cpus: Vec<u32>,
    /// What it may use at most.
    #[serde(default, skip_serializing_if = "ServiceLimits::is_none")]
    pub limits: ServiceLimits,
    /// What was chosen.
    pub with: BTreeMap<String, toml::Value>,
    /// What it serves.
    pub files: Vec<Data>,
    /// What is asked to see whether it is well; `None`: what its recipe asks.
    pub health: Option<HealthCheck>,
}

/// A file that a service serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Data {
    /// Below the folder of data.
    pub path: String,
    /// What it holds.
    pub content: FileContent,
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileContent {
    /// This text.
    Text(String),
    /// What this file or folder holds, beside lab.toml.
    Source(String),
    /// So many bytes that do not compress.
    Bytes(u64),
}

impl LabPlan {
    /// The address that others find a host at; 127.0.0.1 if it has no link.
    pub(super) fn address(&self, host: &str) -> IpAddr {
        if let Some(outside) = self.outside.get(host) {
            return outside.address;
        }
        let ends = self.links.iter().flat_map(|link| &link.ends).filter(|end| end.host == host);
        ends.filter_map(|end| end.address)
            .map(|address| address.ip)
            .next()
            .unwrap_or(IpAddr::from([127, 0, 0, 1]))
    }

    /// The address at which `from` finds `host`: that of a link between them if there is one.
    pub(super) fn address_from(&self, from: &str, host: &str) -> IpAddr {
        let between = self.links.iter().filter(|link| link.ends.iter().any(|end| end.host == from));
        let far = between.flat_map(|link| &link.ends).filter(|end| end.host == host && from != host);
        far.filter_map(|end| end.address)
            .map(|address| address.ip)
            .next()
            .unwrap_or_else(|| self.address(host))
    }

    pub(super) fn service(&self, name: &str) -> Option<&LabService> {
        self.services.iter().find(|service| service.name == name)
    }

    /// Has a service be as this one is.
    pub(super) fn replace(&mut self, now: &LabService) {
        let known = self.services.iter_mut().find(|known| known.name == now.name);
        known.into_iter().for_each(|known| known.clone_from(now));
    }
}

/// What is wrong with the name of a lab, a host or a service; `None` if nothing is.
pub fn wrong_name(name: &str) -> Option<&'static str> {
    let is_good = name.len() <= MAX_NAME && is_kept_name(name);
    (!is_good).then_some("a name has 1 to 24 characters (a-z, 0-9, and '-', but not at its ends)")
}

/// Whether a lab may be kept under this name: that of a share is made of two.
pub(super) fn is_kept_name(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=2 * MAX_NAME + 1).contains(&name.len())
        && name.bytes().all(is_allowed)
        && !name.starts_with('-')
        && !name.ends_with('-')
}
