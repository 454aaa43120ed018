//! Whether the generator may spin: only where that takes CPU from nobody.

use sysdyno_load::generator_cpus;
use sysdyno_load::target::is_home;
use sysdyno_observe::allowed_cpus;
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::plan::{LoadPlan, SpinChoice};

/// What a plan that leaves it open comes to on this host.
///
/// A server on this host must be known, and may not be allowed on any CPU of the generator. For one on another host the
/// generator must leave a CPU to the rest of this host.
pub(super) fn resolve(plan: &LoadPlan, watched: &[WatchedProcess]) -> SpinChoice {
    if plan.spin != SpinChoice::Auto || !plan.arrival.is_open() {
        return plan.spin;
    }
    let generator: Option<Vec<u32>> = generator_cpus(plan.threads).into_iter().collect();
    let servers: Option<Vec<Vec<u32>>> = watched
        .iter()
        .filter(|process| process.role == ProcessRole::Target)
        .map(|process| allowed_cpus(process.pid))
        .collect();
    let may = match (generator, servers) {
        (Some(generator), Some(servers)) if !servers.is_empty() => are_apart(&generator, &servers),
        (Some(generator), _) if !is_home(&plan.target.endpoint) => {
            allowed_cpus(std::process::id()).is_some_and(|allowed| allowed.len() > generator.len())
        }
        _ => false,
    };
    if may { SpinChoice::On } else { SpinChoice::Off }
}

fn are_apart(generator: &[u32], servers: &[Vec<u32>]) -> bool {
    servers.iter().flatten().all(|cpu| !generator.contains(cpu))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_may_use_the_generators_cpu_forbids_it() {
        assert!(are_apart(&[3], &[vec![0], vec![0, 1]]));
        assert!(!are_apart(&[3], &[vec![0], vec![2, 3]]));
    }
}
