//! Where a squeeze takes place: the CPUs of this process, the network namespace of the server, and limited disks.

use sysdyno_analyze::TrialView;
use sysdyno_analyze::squeeze::{GeneratorCpus, PilotSurroundings, ServerNetwork, SqueezableDisk};
use sysdyno_record::event::ProcessRole;
use sysdyno_record::plan::LoadPlan;
use sysdyno_tune::{LimitedDisk, TuneRoots, limited_disks};

/// What is around a pilot with this load.
pub(super) fn surroundings(load: &LoadPlan, view: &TrialView, roots: &TuneRoots) -> PilotSurroundings {
    let limited = limited_disks(roots).into_iter();
    let disks = limited.map(|LimitedDisk { disk, limits }| SqueezableDisk { disk, limits }).collect();
    PilotSurroundings { generator: generator(load), network: network(view), disks }
}

/// Where this process sends a load from.
fn generator(load: &LoadPlan) -> GeneratorCpus {
    let cpus = sysdyno_load::generator_cpus(load.threads.min(load.connections));
    let mut cpus: Vec<u32> = match cpus.iter().copied().collect::<Option<Vec<u32>>>() {
        Some(cpus) => cpus,
        None => sysdyno_observe::allowed_cpus(std::process::id()).unwrap_or_default(),
    };
    cpus.sort_unstable();
    cpus.dedup();
    GeneratorCpus { pid: std::process::id(), cpus }
}

/// Where the interfaces are that were sampled: those that the first process of the server has.
fn network(view: &TrialView) -> ServerNetwork {
    let first = view.processes(ProcessRole::Target).first().map(|process| process.pid);
    let own = sysdyno_observe::own_network();
    match first.map(sysdyno_observe::network_namespace) {
        None => ServerNetwork::Own,
        Some(inode) if inode.is_some() && inode == own => ServerNetwork::Own,
        Some(inode) => inode
            .and_then(sysdyno_observe::network_namespace_name)
            .map_or(ServerNetwork::Unnamed, ServerNetwork::Named),
    }
}
