//! The contents of lab.toml as typed. [`super::plan`] decides what they mean.

use super::limits::ServiceLimits;
use super::recipe::HealthCheck;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// Most hosts, links and services of a lab, each.
pub(super) const MAX_COUNT: usize = 64;

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LabFile {
    pub(super) name: Spanned<String>,
    #[serde(default)]
    pub(super) host: Vec<HostFile>,
    #[serde(default)]
    pub(super) link: Vec<LinkFile>,
    #[serde(default)]
    pub(super) service: Vec<ServiceEntry>,
}

/// A host.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HostFile {
    pub(super) name: Spanned<String>,
    pub(super) ssh: Option<Spanned<String>>,
    pub(super) fleet: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) here: bool,
    pub(super) address: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) switch: bool,
}

/// A link between two hosts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LinkFile {
    pub(super) between: Spanned<Vec<Spanned<String>>>,
    pub(super) addresses: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) names: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) queues: Option<Spanned<u32>>,
    pub(super) mtu: Option<Spanned<u32>>,
    pub(super) rate: Option<Spanned<String>>,
    pub(super) delay: Option<Spanned<String>>,
    pub(super) loss: Option<Spanned<String>>,
    pub(super) seed: Option<Spanned<u64>>,
}

/// A service.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ServiceEntry {
    pub(super) name: Spanned<String>,
    pub(super) host: Spanned<String>,
    pub(super) recipe: Spanned<String>,
    pub(super) cpus: Option<Spanned<String>>,
    pub(super) limits: Option<Spanned<ServiceLimits>>,
    #[serde(default)]
    pub(super) with: BTreeMap<Spanned<String>, Spanned<toml::Value>>,
    #[serde(default)]
    pub(super) files: Vec<DataFile>,
    pub(super) health: Option<Spanned<HealthCheck>>,
}

/// A file that a service serves.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DataFile {
    pub(super) path: Spanned<String>,
    pub(super) text: Option<String>,
    pub(super) source: Option<Spanned<String>>,
    pub(super) size: Option<Spanned<String>>,
}
