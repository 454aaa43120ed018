//! What resources are called.

use crate::format::name;
use sysdyno_record::squeeze::{ResourceKind, SqueezedResource};

/// A resource in words; where others have the same name, with the address of its tier.
pub fn resource_name(resource: &SqueezedResource, all: &[SqueezedResource]) -> String {
    let tier = resource.tier.as_deref().map(name).unwrap_or_default();
    let is_like = |other: &&SqueezedResource| (other.kind, &other.tier) == (resource.kind, &resource.tier);
    let is_only = all.iter().filter(is_like).count() < 2;
    let tier = match &resource.address {
        Some(address) if !is_only => format!("{tier} at {}", name(address)),
        _ => tier,
    };
    match resource.kind {
        ResourceKind::Cpu => format!("{tier} CPU"),
        ResourceKind::HostCpu => "all CPUs (check)".into(),
        ResourceKind::Link => format!("link {tier}"),
        ResourceKind::Disk => format!("disk {tier}"),
        ResourceKind::Connections => "connections".into(),
        ResourceKind::Generator => "generator CPU".into(),
        ResourceKind::Placebo => "(placebo)".into(),
    }
}
