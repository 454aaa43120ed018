//! Whether the generator may spin: only where that takes CPU from nobody.

use sysdyno_load::generator_cpus;
use sysdyno_load::target::is_home;
use sysdyno_observe::{allowed_cpus, parent_pid};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::plan::{LoadPlan, SpinChoice};

/// What a plan that leaves it open comes to on this host.
///
/// A server on this host must be known, and may not be allowed on any CPU of the generator; a master process that only
/// minds its workers may. For one on another host the
/// generator must leave a CPU to the rest of this host.
pub(super) fn resolve(plan: &LoadPlan, watched: &[WatchedProcess]) -> SpinChoice {
    if plan.spin != SpinChoice::Auto || !plan.arrival.is_open() {
        return plan.spin;
    }
    let generator: Option<Vec<u32>> = generator_cpus(plan.threads).into_iter().collect();
    let targets = watched.iter().filter(|process| process.role == ProcessRole::Target);
    let parents: Vec<(u32, Option<u32>)> =
        targets.map(|process| (process.pid, parent_pid(process.pid))).collect();
    let servers: Option<Vec<Vec<u32>>> = workers(&parents).into_iter().map(allowed_cpus).collect();
    let may = match (generator, servers) {
        (Some(generator), Some(servers)) if !servers.is_empty() => are_apart(&generator, &servers),
        (Some(generator), _) if !is_home(&plan.target.endpoint) => {
            allowed_cpus(std::process::id()).is_some_and(|allowed| allowed.len() > generator.len())
        }
        _ => false,
    };
    if may { SpinChoice::On } else { SpinChoice::Off }
}

/// Those of the processes that are not the parent of another one of them.
fn workers(parents: &[(u32, Option<u32>)]) -> Vec<u32> {
    let is_parent = |pid: u32| parents.iter().any(|(_, parent)| *parent == Some(pid));
    parents.iter().map(|(pid, _)| *pid).filter(|pid| !is_parent(*pid)).collect()
}

fn are_apart(generator: &[u32], servers: &[Vec<u32>]) -> bool {
    servers.iter().flatten().all(|cpu| !generator.contains(cpu))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_master_that_minds_workers_is_none() {
        assert_eq!(workers(&[(10, Some(1)), (11, Some(10)), (12, Some(10))]), [11, 12]);
        assert_eq!(workers(&[(10, Some(1))]), [10]);
    }

    #[test]
    fn a_server_that_may_use_the_generators_cpu_forbids_it() {
        assert!(are_apart(&[3], &[vec![0], vec![0, 1]]));
        assert!(!are_apart(&[3], &[vec![0], vec![2, 3]]));
    }
}
