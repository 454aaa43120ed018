//! Profiles this host: for how long, which processes, and at what cost.

use crate::clock;
use crate::descriptors::raise_descriptor_limit;
use crate::error::RunError;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use sysdyno_observe::{HostProcess, cgroup_processes, clock as observe_clock, host_processes};
use sysdyno_profile::{ProfileError, ProfilePlan, Recording, Symbols};
use sysdyno_record::profile::{Profile, ProfileCost, ProfileKind, SampledEvent};
use sysdyno_record::units::SpanNs;

/// Between two looks at the rings: what ends sooner after its first sample, and was there before, has no names.
const TICK: Duration = Duration::from_millis(100);

/// What is to be profiled, and for how long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileRequest {
    /// CPU time or waits.
    pub kind: ProfileKind,
    /// When code is sampled; `None`: by cycles, or by `cpu-clock` on a machine that does not count those.
    #[serde(default)]
    pub event: Option<SampledEvent>,
    /// Samples of each CPU. Unit: per second.
    pub rate_hz: u32,
    /// Processes, with their descendants; without any, and without tiers and cgroups, the whole host.
    pub pids: Vec<u32>,
    /// Beginnings of the names of more processes.
    pub tiers: Vec<String>,
    /// Control groups of more processes: a path, or the beginning of the name of a unit or a container's id.
    pub cgroups: Vec<String>,
    /// How long. It ends sooner if all of the processes do.
    pub duration: SpanNs,
}

impl ProfileRequest {
    /// The CPU time of the whole host; always time, so that it can be divided by responses and compared between machines.
    pub fn of_host(rate_hz: u32) -> ProfileRequest {
        let (pids, tiers, cgroups) = (Vec::new(), Vec::new(), Vec::new());
        let (kind, event) = (ProfileKind::OnCpu, Some(SampledEvent::CpuClock));
        ProfileRequest { kind, event, rate_hz, pids, tiers, cgroups, duration: SpanNs(0) }
    }

    /// The processes; empty: the whole host.
    fn all_pids(&self, processes: &[HostProcess]) -> Result<Vec<u32>, RunError> {
        let missing = self.pids.iter().find(|pid| processes.iter().all(|process| process.pid != **pid));
        if let Some(pid) = missing {
            return Err(ProfileError::NoProcess { pid: *pid }.into());
        }
        let mut pids = self.pids.clone();
        for tier in &self.tiers {
            pids.extend(pids_of(tier, processes)?);
        }
        for cgroup in &self.cgroups {
            pids.extend(pids_in(cgroup)?);
        }
        pids.sort_unstable();
        pids.dedup();
        Ok(pids)
    }
}

/// The processes whose name begins with this. The kernel keeps 15 bytes of a name.
fn pids_of(tier: &str, processes: &[HostProcess]) -> Result<Vec<u32>, RunError> {
    let end = (0..=tier.len().min(15)).rev().find(|end| tier.is_char_boundary(*end)).unwrap_or(0);
    let found = processes.iter().filter(|process| process.command.starts_with(&tier[..end]));
    let pids = others(found.map(|process| process.pid));
    if tier.is_empty() || pids.is_empty() {
        let tier = tier.escape_debug();
        return Err(RunError::Refused(format!(
            "cannot profile tier '{tier}': no process has such a name\nhint: `ps -e` lists processes"
        )));
    }
    Ok(pids)
}

fn pids_in(cgroup: &str) -> Result<Vec<u32>, RunError> {
    let pids = others(cgroup_processes(cgroup).into_iter());
    if pids.is_empty() {
        let cgroup = cgroup.escape_debug();
        return Err(RunError::Refused(format!(
            "cannot profile control group '{cgroup}': it has no processes\nhint: `ps -e -o pid,cgroup,comm` lists the groups \
             of all processes"
        )));
    }
    Ok(pids)
}

/// All but this process.
fn others(pids: impl Iterator<Item = u32>) -> Vec<u32> {
    let own = std::process::id();
    pids.filter(|pid| *pid != own).collect()
}

/// Whether such a profile of this whole host can be taken.
///
/// # Errors
/// This user may not, or the kernel cannot.
pub fn check_profile(request: &ProfileRequest) -> Result<(), ProfileError> {
    let ProfileRequest { kind, event, rate_hz, .. } = *request;
    let plan = ProfilePlan { kind, event, rate_hz, scope_pids: Vec::new(), tree_pids: Vec::new() };
    Recording::begin(plan, clock::monotonic()).map(drop)
}

/// Takes a profile; `goes_on` is asked ten times a second and ends it early.
///
/// # Errors
/// This user may not, the kernel cannot, or there is no such process.
pub fn take_profile(
    request: &ProfileRequest,
    mut goes_on: impl FnMut() -> bool,
) -> Result<Profile, RunError> {
    let processes = host_processes();
    let pids = request.all_pids(&processes)?;
    if !pids.is_empty() {
        // Who may not sample whole CPUs needs one per thread and CPU.
        raise_descriptor_limit();
    }
    let plan = ProfilePlan {
        kind: request.kind,
        event: request.event,
        rate_hz: request.rate_hz,
        tree_pids: with_descendants(&processes, &pids),
        scope_pids: pids,
    };
    let reading_begin_ns = observe_clock::thread_cpu_ns();
    let symbols = Symbols::of_kernel();
    let cpu_begin_ns = observe_clock::thread_cpu_ns();
    let begin = clock::monotonic();
    let mut recording = Recording::begin(plan, begin)?;
    loop {
        let left_ns = request.duration.0.saturating_sub(clock::monotonic().since(begin));
        if left_ns == 0 || recording.is_over() || !goes_on() {
            break;
        }
        recording.read(TICK.min(Duration::from_nanos(left_ns)));
    }
    let stopped = recording.stop(clock::monotonic());
    let cpu_end_ns = observe_clock::thread_cpu_ns();
    let mut profile = stopped.named(&symbols);
    let reading_cpu_ns = cpu_begin_ns.saturating_sub(reading_begin_ns);
    profile.cost = ProfileCost {
        sampling_cpu_ns: cpu_end_ns.saturating_sub(cpu_begin_ns),
        naming_cpu_ns: reading_cpu_ns + observe_clock::thread_cpu_ns().saturating_sub(cpu_end_ns),
    };
    Ok(profile)
}

/// These processes and all that descend from them.
fn with_descendants(all: &[HostProcess], roots: &[u32]) -> Vec<u32> {
    let mut found = roots.to_vec();
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        next += 1;
        let children = all.iter().filter(|process| process.parent_pid == parent);
        let new: Vec<u32> = children.map(|process| process.pid).filter(|pid| !found.contains(pid)).collect();
        found.extend(new);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_all_that_descends_and_loops_end() {
        let process = |pid, parent_pid| HostProcess {
            pid,
            parent_pid,
            session_id: 0,
            start_ticks: 0,
            cpu_ticks: 0,
            reaped_ticks: 0,
            threads_count: 1,
            is_blocked: false,
            command: String::new(),
        };
        let all = [
            process(1, 0),
            process(10, 1),
            process(11, 10),
            process(12, 11),
            process(20, 1),
            process(30, 31),
            process(31, 30),
        ];
        assert_eq!(with_descendants(&all, &[10]), [10, 11, 12]);
        assert_eq!(with_descendants(&all, &[30]), [30, 31]);
        assert!(with_descendants(&all, &[]).is_empty());
    }

    #[test]
    fn a_process_that_does_not_exist_is_refused() {
        let request = ProfileRequest {
            pids: vec![u32::MAX],
            duration: SpanNs::from_millis(1),
            ..ProfileRequest::of_host(99)
        };
        let error = take_profile(&request, || true).expect_err("there is no such process");
        assert!(matches!(error, RunError::Profile(ProfileError::NoProcess { pid: u32::MAX })), "{error}");
    }
}
