//! Who is in a group, and who descends from whom.

use super::hierarchy::GroupVersion;
use super::kernel::GroupKernel;
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::Path;

/// Most generations between a process and one that descends from it.
const MAX_GENERATIONS: usize = 64;

/// Who is in a group, itself: processes in version 1, threads in version 2, where a threaded group does not list processes.
/// The number of a thread stands for its process wherever one is moved. Those of another PID namespace have no number here
/// and are left out.
pub(super) fn pids_of(
    kernel: &dyn GroupKernel,
    group: &Path,
    version: GroupVersion,
) -> io::Result<BTreeSet<u32>> {
    let name = if version == GroupVersion::One { "cgroup.procs" } else { "cgroup.threads" };
    let text = kernel.read(&group.join(name))?;
    Ok(text.lines().filter_map(|line| line.trim().parse().ok()).filter(|pid| *pid != 0).collect())
}

/// A process and its descendants, those that are among `outside`; `inside` are processes of the family that were moved before.
pub(super) fn family(
    root: u32,
    outside: &BTreeSet<u32>,
    inside: &BTreeSet<u32>,
    kernel: &dyn GroupKernel,
) -> Vec<u32> {
    let mut parents = HashMap::new();
    let descends = |pid: &u32, parents: &mut HashMap<u32, Option<u32>>| {
        let mut at = *pid;
        for _ in 0..MAX_GENERATIONS {
            if at == root || inside.contains(&at) {
                return true;
            }
            match *parents.entry(at).or_insert_with(|| kernel.parent_pid(at)) {
                Some(parent) if parent > 1 => at = parent,
                _ => return false,
            }
        }
        false
    };
    outside.iter().copied().filter(|pid| descends(pid, &mut parents)).collect()
}
