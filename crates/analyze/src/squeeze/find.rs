//! Finds what can be squeezed, from a pilot that loaded the server as much as it takes.

use super::link::limited_links;
use super::list::List;
use super::surroundings::PilotSurroundings;
use super::threshold::thresholds;
use super::tier::tiers;
use crate::readings::Window;
use crate::view::TrialView;
use std::collections::BTreeSet;
use sysdyno_record::squeeze::{BurnKind, ResourceKind, SqueezePlan, SqueezedResources};

/// What a plan can squeeze of the server that a pilot loaded.
pub fn find(view: &TrialView, plan: &SqueezePlan, around: &PilotSurroundings) -> SqueezedResources {
    let PilotSurroundings { generator, network, disks } = around;
    let mut list = List::new(plan);
    let window = view.server_steady();
    let online = online(&window);
    let mut tiers = tiers(view, &window, &online);
    if tiers.is_empty() {
        list.leave_out(
            "the server's CPU",
            "its processes are not known: run as root, or name one with --watch-pid",
        );
    }
    tiers.sort_by(|one, other| other.used_cpus.unwrap_or(0.0).total_cmp(&one.used_cpus.unwrap_or(0.0)));
    let placed: Vec<u32> =
        tiers.iter().map(|tier| list.variant(format!("{} placed", tier.name()), tier.action(0.0))).collect();
    if let (Some(first), Some(a)) = (tiers.first(), placed.first()) {
        list.placebo(first, *a);
    }
    let all: BTreeSet<u32> = tiers.iter().flat_map(|tier| tier.cpus.iter().copied()).collect();
    list.burnt(ResourceKind::Generator, &generator.cpus, BurnKind::Follow(vec![generator.pid]));
    let wanted = if list.is_wanted(ResourceKind::Cpu) { tiers.as_slice() } else { &[] };
    let resources: Vec<usize> = wanted.iter().map(|tier| list.tier(tier)).collect();
    let depths = list.depths.clone();
    for (level, depth) in depths.iter().enumerate() {
        for ((tier, a), resource) in tiers.iter().zip(&placed).zip(&resources) {
            list.squeeze(*resource, (*a, tier.action(*depth)), *depth);
        }
        if level == 0 {
            list.burnt(ResourceKind::HostCpu, &all.iter().copied().collect::<Vec<_>>(), BurnKind::Duty);
        }
    }
    if list.is_wanted(ResourceKind::Link) {
        limited_links(&window).iter().for_each(|link| list.link(link, network));
    }
    if list.is_wanted(ResourceKind::Disk) {
        disks.iter().for_each(|disk| list.disk(disk, &window));
    }
    list.connections(view.plan().connections);
    list.found.thresholds = thresholds(view);
    list.found
}

/// The CPUs that are read.
fn online(window: &Window) -> Vec<u32> {
    window.cpus().iter().filter_map(|cpu| cpu.number().parse().ok()).collect()
}
