//! Requests that lie in the server's sockets although CPUs are idle: nobody reads them, whatever those who should are doing.
//!
//! Threads that wait for something nameable, or fill their CPU, have diagnoses of their own, which come first. What is left are
//! threads that are stopped now and then (garbage collection, a debugger), and one that does everything and is busy at times.

use super::waits::{CPU_IDLE, WAITED, cpus_left, is_slow};
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{duration, percent};
use crate::path::{address_text, called, in_front, path_of, scope_of};
use crate::readings::{Window, process_scope, ratio};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::analysis::EvidenceRole;
use sysdyno_record::column;
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::path::{PathTier, WaitKind};

const UNREAD: Threshold =
    Threshold::new("time of a request in the server's sockets that is more than wake-ups", 1.0, "ms", HOUSE);
const LATE: Threshold = Threshold::new(
    "share of a request's time that it lies unread at a tier, to be why requests queue before that tier",
    0.25,
    "ratio",
    HOUSE,
);
const BUSY_AT_TIMES: Threshold =
    Threshold::new("CPU of the server's busiest thread, to be told", 0.2, "ratio of a CPU", HOUSE);

const COMPUTES: Threshold = Threshold::new(
    "CPU of a process in a fifth of a second, to compute without a break",
    0.8,
    "ratio of a CPU",
    HOUSE,
);
const BLOCKED: Threshold =
    Threshold::new("threads that wait for a disk, to be why others do not read", 0.4, "count", HOUSE);
const SEVERAL: Threshold = Threshold::new(
    "requests that a service works on at a time, to have a pool for them",
    1.5,
    "count",
    HOUSE,
);
const COMPUTING: Threshold =
    Threshold::new("CPUs ÷ requests that it works on, at most, to wait for something", 0.3, "ratio", HOUSE);
const MOSTLY: Threshold =
    Threshold::new("share of its CPU time in such pieces, to compute in bursts", 0.5, "ratio", HOUSE);
/// Length of such a piece, at least. Unit: seconds.
const PIECE_SECONDS: f64 = 0.2;

/// F18.
pub(super) const RULE: Rule = Rule {
    id: "F18",
    name: "left-unread",
    meaning: "Requests lie in the server's sockets for most of their time, although CPUs are idle: nobody reads them.",
    thresholds: &[
        WAITED,
        CPU_IDLE,
        UNREAD,
        LATE,
        BUSY_AT_TIMES,
        COMPUTES,
        MOSTLY,
        BLOCKED,
        SEVERAL,
        COMPUTING,
    ],
    place: Place::Server,
    needs: &[column::REQUESTS_UNREAD_TIME],
    remedy: "find out what stops its threads now and then: a garbage collection (its log tells), long work in an event loop, \
             one thread that does everything; then give it more processes, or move that work elsewhere",
    counterfactual: "with a second process of the server as many requests would lie unread",
    examine: Examination::By(examine),
};

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let path = path_of(view);
    let tiers = path.iter().filter_map(|tier| Some((tier, unread(tier)?)));
    let mean_ns = view.request_mean_ns()?;
    let most = tiers.max_by(|(_, one), (_, other)| one.total_cmp(other));
    let (tier, unread_ns, queued_ns) = deepest(&path, mean_ns).or(most.map(|(tier, ns)| (tier, ns, 0.0)))?;
    let window = view.server_steady();
    let who = called(&path, tier);
    let mut text = format!(
        "{} of a request's {} pass before {who} reads it",
        duration(unread_ns.min(mean_ns)),
        duration(mean_ns)
    );
    let queued_ns = queued_ns.min(mean_ns - unread_ns);
    if queued_ns > 0.0 {
        text.push_str(&format!(", and requests queue behind that for {}", duration(queued_ns)));
    }
    let column = column::REQUESTS_UNREAD_TIME.at(&scope_of(tier));
    let seen = |role| {
        seen_in(column.clone(), evidence(role, &window, "sk_data_ready, sock_recv_length", text.clone()))
    };
    let share = ratio(unread_ns + queued_ns, mean_ns)?.min(1.0);
    if share < WAITED.value || unread_ns < UNREAD.value * 1e6 || !is_slow(scene, mean_ns) {
        return excluded(&format!("{who} reads requests when they come"), vec![seen(EvidenceRole::Against)]);
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    found.extend(cpus_left(scene, &window));
    found.extend(super::stopped::against(scene));
    let mut processes = view.processes(ProcessRole::Target);
    let address = |process: &WatchedProcess| process.tier.as_ref().map(|tier| address_text(&tier.address));
    processes.retain(|process| address(process) == tier.address);
    let rate_hz = view.measured().achieved_hz;
    let why = at_disk(&window, &processes)
        .or_else(|| in_bursts(&window, &processes))
        .or_else(|| few_at_a_time(tier, rate_hz));
    if let Some((why, remedy)) = why {
        let title = format!("{who} leaves requests unread: {text}; {why}");
        return Some(Case { remedy: Some(remedy), ..Case::new(title, found, Reach::used_up(view, share)) });
    }
    let threads = window.threads(&processes);
    let busiest = threads.first().filter(|thread| thread.busy_ratio >= BUSY_AT_TIMES.value);
    let busy = busiest.map_or(String::new(), |thread| {
        format!("; its busiest thread used {} of a CPU", percent(thread.busy_ratio))
    });
    Some(Case::new(format!("{who} leaves requests unread: {text}{busy}"), found, Reach::used_up(view, share)))
}

/// That threads of the processes wait for a disk, and what to change.
fn at_disk(window: &Window, processes: &[&WatchedProcess]) -> Option<(String, String)> {
    let gauge = column::PROCESS_UNINTERRUPTIBLE_THREADS;
    let blocked = |process: &&WatchedProcess| Some(window.level(gauge, &process_scope(process))?.mean);
    let blocked: f64 = processes.iter().filter_map(blocked).sum();
    let text = format!("{blocked:.1} of its threads wait for a disk meanwhile");
    let remedy = "find what it writes or reads in the thread that serves (strace -f -e fsync,fdatasync, lsof), let another thread do it or \
                  do it less often (for Redis, appendfsync everysec), or use a faster disk";
    (blocked >= BLOCKED.value).then(|| (text, remedy.to_owned()))
}

/// That a tier works on a few requests and leaves the others, without using the CPU; and what to change.
fn few_at_a_time(tier: &PathTier, rate_hz: f64) -> Option<(String, String)> {
    let requests = tier.requests.as_ref()?;
    let [inside, unread] = [requests.inside_ns, requests.unread_ns].map(|ns| rate_hz * ns / 1e9);
    let is_idle = tier.cpus.is_some_and(|cpus| cpus < COMPUTING.value * inside);
    let text = format!("it works on {inside:.1} at a time, and hardly computes");
    let remedy = "let it work on more at a time (the size of its thread pool, its workers), or find what these requests wait for there";
    (inside >= SEVERAL.value && unread >= inside && is_idle).then(|| (text, remedy.to_owned()))
}

/// That a process computes without a break now and then, and what to change.
fn in_bursts(window: &Window, processes: &[&WatchedProcess]) -> Option<(String, String)> {
    let bursts = |process: &WatchedProcess| {
        let pieces = window.pieces(column::PROCESS_CPU, &process_scope(process), PIECE_SECONDS);
        let used = |piece: &Window| piece.process_cpus(&[process]).map(|cpus| (cpus, piece.seconds()));
        let pieces: Vec<(f64, f64)> = pieces.iter().filter_map(used).collect();
        let sum = |least: f64| {
            let busy = pieces.iter().filter(|(cpus, _)| *cpus >= least);
            busy.map(|(cpus, seconds)| cpus * seconds).sum::<f64>()
        };
        let all: f64 = pieces.iter().map(|(_, seconds)| seconds).sum();
        let part = ratio(sum(COMPUTES.value), sum(0.0))?;
        (part >= MOSTLY.value).then(|| ratio(sum(0.0), all))?
    };
    let cpus = processes.iter().filter_map(|process| bursts(process)).max_by(f64::total_cmp)?;
    let text = format!("it computes without a break now and then ({} of a CPU on average)", percent(cpus));
    let remedy = "find what it computes in these bursts (a long command or script: its slow log, a profile), and make that shorter, \
                  split it, or give it a process of its own";
    Some((text, remedy.to_owned()))
}

fn unread(tier: &PathTier) -> Option<f64> {
    tier.requests.as_ref().map(|requests| requests.unread_ns)
}

/// The last tier of a path in which requests lie unread for long although its threads wait for nothing, with the time that they do,
/// and that in which others queue before it for that reason. `None`: there is none behind the first tier.
fn deepest(path: &[PathTier], mean_ns: f64) -> Option<(&PathTier, f64, f64)> {
    let is_cause = |tier: &PathTier| {
        let waits = tier.waits.iter().filter(|wait| wait.kind != WaitKind::Running);
        let waited_ns: f64 = waits.filter_map(|wait| wait.time_ns).sum();
        let unread_ns = unread(tier).unwrap_or(0.0);
        let inside_ns = tier.requests.as_ref().map_or(0.0, |requests| requests.inside_ns);
        tier.address.is_some()
            && unread_ns >= LATE.value * mean_ns
            && unread_ns >= inside_ns
            && waited_ns <= inside_ns
    };
    let position = path.iter().rposition(is_cause)?;
    let queued_ns = in_front(path, position).filter_map(|front| unread(path.get(front)?)).sum();
    Some((&path[position], unread(&path[position])?, queued_ns))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{LISTENER, conclude, slow};
    use crate::corpus::{Specimen, TARGET, with_tier};
    use sysdyno_record::analysis::{Confidence, Finding};

    /// This share of a request's time passes before the server reads it; the server is idle.
    fn unread(case: Specimen, share: f64) -> Option<Finding> {
        unread_beside(case, share, 0.001)
    }

    /// The same, and it has each request for this share of its time.
    fn unread_beside(case: Specimen, share: f64, inside: f64) -> Option<Finding> {
        let mean_ns = case.view().request_mean_ns().expect("was filled");
        let case = case.cpu(0.05, 0.05, 0.01).server(0.3).requests("tier:target", [1e4, inside * mean_ns]);
        let case = case.counter("requests.unread_ns", "tier:target", 1e4 * share * mean_ns);
        conclude(case).into_iter().find(|finding| finding.id == "F18")
    }

    #[test]
    fn requests_that_nobody_reads_are_told_where_they_are_slow() {
        let finding = unread(slow(), 0.9).expect("a finding");
        assert_eq!(finding.confidence, Confidence::Likely, "{finding:?}");
        assert!(finding.title.contains("leaves requests unread: "), "{finding:?}");
        assert!(finding.title.contains("; its busiest thread used "), "{finding:?}");
        let quick = unread(slow(), 0.05).expect("a finding");
        assert_eq!(quick.confidence, Confidence::Excluded, "{quick:?}");
        let fast = unread(Specimen::open(2000.0, 10.0), 0.9).expect("a finding");
        assert_eq!(fast.confidence, Confidence::Excluded, "{fast:?}");
    }

    #[test]
    fn what_the_threads_do_meanwhile_is_told() {
        let few = unread_beside(slow(), 0.9, 0.05).expect("a finding");
        assert!(few.title.contains(" at a time, and hardly computes"), "{few:?}");
        assert!(few.remedy.is_some_and(|remedy| remedy.contains("thread pool")));
        let scope = format!("process:{TARGET}");
        let blocked = slow().gauge("process.uninterruptible_threads_count", &scope, 0.9);
        let blocked = unread(blocked, 0.9).expect("a finding");
        assert!(blocked.title.contains("0.9 of its threads wait for a disk meanwhile"), "{blocked:?}");
    }

    #[test]
    fn the_last_tier_that_leaves_requests_unread_is_why_they_queue_before_it() {
        let mean_ns = slow().view().request_mean_ns().expect("was filled");
        let of = "tier:127.0.0.1:6379";
        let case = |share: f64| {
            let case = with_tier(slow(), "redis-server", "127.0.0.1:6379", 1, TARGET);
            let case =
                case.counter("requests.read_count", of, 2000.0).counter("requests.merged_count", of, 0.0);
            let case = case.counter("requests.inside_ns", of, 2000.0 * 0.01 * mean_ns);
            let case = case.counter("requests.unread_ns", of, 2000.0 * share * mean_ns);
            unread(case, 0.1).expect("a finding").title
        };
        let title = case(0.4);
        assert!(title.starts_with("redis-server leaves requests unread: "), "{title}");
        assert!(title.contains(", and requests queue behind that for "), "{title}");
        assert!(case(0.1).contains("nginx"), "it is no cause of the queue");
    }

    #[test]
    fn what_else_stops_the_server_is_why_they_lie_unread() {
        let blocked = slow().gauge("waits.threads_count", "tier:target", 250.0);
        let blocked = blocked.gauge("waits.disk_count", "tier:target", 250.0);
        let case = blocked.gauge("connections.unread_count", LISTENER, 100.0);
        assert_eq!(unread(case, 0.9), None);
    }
}
