//! Limits set by the system on the server's processes: descriptors and CPU quota.

use super::effect::Slow;
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{cpus, name, percent, whole};
use crate::path::listener_name;
use crate::readings::{Window, process_scope, ratio};
use crate::threshold::{HOUSE, Threshold};
use crate::verdict::throttled_share;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::{self, CGROUP_GENERATOR, CGROUP_TARGET, cgroup_tier_scope};
use sysdyno_record::event::{ProcessRole, WatchedProcess};

const DESCRIPTORS_USED: Threshold = Threshold::new(
    "open descriptors of a server process ÷ its limit",
    0.95,
    "ratio",
    "netdata, file descriptor alarm",
);
const SPINNING: Threshold =
    Threshold::new("CPU of a thread that spins on accept", 0.95, "ratio of a CPU", HOUSE);

/// F01.
pub(super) const DESCRIPTORS: Rule = Rule {
    id: "F01",
    name: "fd-exhausted",
    meaning: "A server process ran out of file descriptors and cannot accept connections.",
    thresholds: &[DESCRIPTORS_USED, SPINNING],
    place: Place::Server,
    needs: &[column::PROCESS_FDS, column::PROCESS_FDS_LIMIT],
    remedy: "raise the process's limit (LimitNOFILE, ulimit -n), and keep its connection limit well below it",
    counterfactual: "raising the limit of the running process with prlimit would not stop the failures",
    examine: Examination::By(examine_descriptors),
};

struct Descriptors<'a> {
    process: &'a WatchedProcess,
    used: f64,
    limit: f64,
}

fn examine_descriptors<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let window = scene.focus.server_whole();
    let targets = scene.focus.processes(ProcessRole::Target);
    let known = targets.iter().filter_map(|process| {
        let scope = process_scope(process);
        let used = window.level(column::PROCESS_FDS, &scope)?.max;
        let limit = window.level(column::PROCESS_FDS_LIMIT, &scope)?.last;
        (limit > 0.0).then_some(Descriptors { process, used, limit })
    });
    let fullest = known.max_by(|a, b| (a.used / a.limit).total_cmp(&(b.used / b.limit)))?;
    let share = ratio(fullest.used, fullest.limit)?;
    let who = format!("{} (process {})", name(&fullest.process.command), fullest.process.pid);
    let (used, limit) = (whole(fullest.used), whole(fullest.limit));
    // A limit that was lowered closes no file.
    let text = match fullest.used > fullest.limit {
        true => format!("{who} had {used} file descriptors open, with a limit of {limit}"),
        false => format!("{who} had {used} of its {limit} file descriptors open"),
    };
    let column = column::PROCESS_FDS.at(&process_scope(fullest.process));
    let seen = |role: EvidenceRole| {
        seen_in(column.clone(), evidence(role, &window, "/proc/PID/fd, /proc/PID/limits", text.clone()))
    };
    if share < DESCRIPTORS_USED.value {
        return excluded("File descriptors are not the bottleneck", vec![seen(EvidenceRole::Against)]);
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    found.extend(not_accepting(scene, &window));
    let counts = scene.focus.counts();
    // A server without descriptors answers with errors, closes connections, or leaves them waiting.
    let failures = counts.failed as f64 + counts.timed_out as f64;
    let reach = Reach { failures, slow: Slow::Share(1.0), events: None };
    Some(Case::new(format!("The server ran out of file descriptors: {text}"), found, reach))
}

/// Signs that the server does not accept: connections that wait, or a thread that spins.
fn not_accepting(scene: &Scene, window: &Window) -> Vec<Evidence> {
    let mut found = Vec::new();
    for scope in window.scopes(column::LISTENER_QUEUE) {
        let Some(queue) = window.level(column::LISTENER_QUEUE, scope).filter(|queue| queue.max >= 1.0) else {
            continue;
        };
        let text = format!(
            "up to {} connections waited to be accepted on {}",
            whole(queue.max),
            listener_name(scope)
        );
        let seen = evidence(EvidenceRole::Confirmer, window, "sock_diag, idiag_rqueue", text);
        found.push(seen_in(column::LISTENER_QUEUE.at(scope), seen));
    }
    let threads = window.threads(&scene.focus.processes(ProcessRole::Target));
    if let Some(thread) = threads.first().filter(|thread| thread.busy_ratio >= SPINNING.value) {
        let text = format!("a thread of the server used {} of a CPU", percent(thread.busy_ratio));
        let seen = evidence(EvidenceRole::Confirmer, window, "/proc/PID/task/TID/schedstat", text);
        found.push(seen_in(thread.column.clone(), seen));
    }
    found
}

const PERIODS_THROTTLED: Threshold =
    Threshold::new("share of quota periods in which the server was throttled", 0.05, "ratio", HOUSE);
const QUOTA_USED: Threshold = Threshold::new("CPU of the server ÷ its quota", 0.80, "ratio", HOUSE);
const PERIOD_NS: Threshold = Threshold::new(
    "longest time that a server below its quota is throttled",
    1e8,
    "ns",
    "usual period of a CPU quota, 100 ms (cpu.max, cpu.cfs_period_us)",
);

/// C03.
pub(super) const THROTTLED: Rule = Rule {
    id: "C03",
    name: "cfs-throttled",
    meaning: "The server used up its CPU quota and was throttled until the next period.",
    thresholds: &[PERIODS_THROTTLED, QUOTA_USED, PERIOD_NS],
    place: Place::Server,
    needs: &[column::CGROUP_THROTTLED],
    remedy: "raise the quota (cpu.max, CPUQuota=, the container's CPU limit), or run fewer threads",
    counterfactual: "removing the quota would not raise the capacity",
    examine: Examination::By(examine_throttled),
};

/// The control group of the server, or of a tier of it, that was throttled most: in what share of its quota periods, and its scope.
pub(super) fn most_throttled<'a>(window: &Window<'a>) -> Option<(f64, &'a str)> {
    let groups =
        window.scopes(column::CGROUP_THROTTLED).into_iter().filter(|scope| *scope != CGROUP_GENERATOR);
    let shares = groups.filter_map(|scope| Some((throttled_share(window, scope)?, scope)));
    shares.max_by(|(a, _), (b, _)| a.total_cmp(b))
}

fn examine_throttled<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let window = scene.focus.server_steady();
    let (share, scope) = most_throttled(&window)?;
    let processes = of_group(scene, scope);
    let first = processes.first().filter(|_| scope != CGROUP_TARGET);
    let who = first.map_or_else(|| "the server".to_owned(), |process| name(&process.command));
    let column = column::CGROUP_THROTTLED.at(scope);
    let text = format!("{who} was throttled in {} of its CPU quota periods", percent(share));
    let seen = |role: EvidenceRole| {
        seen_in(column.clone(), evidence(role, &window, "cpu.stat nr_throttled, nr_periods", text.clone()))
    };
    if share < PERIODS_THROTTLED.value {
        return excluded("The CPU quota is not the bottleneck", vec![seen(EvidenceRole::Against)]);
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    let used = window.process_cpus(&processes);
    let quota = window.level(column::CGROUP_QUOTA, scope).map(|level| level.last);
    let used_up = used.zip(quota).filter(|(used, quota)| *used >= QUOTA_USED.value * quota);
    if let Some((used, quota)) = used_up {
        let text = format!("it used {} of its quota of {} CPUs", cpus(used), cpus(quota));
        found.push(evidence(EvidenceRole::Confirmer, &window, "/proc/PID/stat, cpu.max", text));
    }
    let reach = Reach::used_up(&scene.focus, 1.0);
    // A server with a reserve is stopped now and then: that many of its requests are late, by a period at most.
    let count = share * scene.focus.counts().ok as f64;
    let reach = match used_up {
        Some(_) => reach,
        None => Reach { slow: Slow::Delayed { count, most_ns: PERIOD_NS.value }, ..reach },
    };
    let quota = quota.map_or(String::new(), |quota| format!(" of {} CPUs", cpus(quota)));
    let title = format!("The CPU quota{quota} is the bottleneck: {text}");
    Some(Case::new(title, found, reach))
}

/// The processes of a tier's control group; all of the server for the target's.
fn of_group<'a>(scene: &Scene<'a>, scope: &str) -> Vec<&'a WatchedProcess> {
    let mut processes = scene.focus.processes(ProcessRole::Target);
    if scope != CGROUP_TARGET {
        let is_in = |process: &&WatchedProcess| {
            process.tier.as_ref().is_some_and(|tier| cgroup_tier_scope(&tier.address) == scope)
        };
        processes.retain(is_in);
    }
    processes
}
