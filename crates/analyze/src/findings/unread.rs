//! Requests that lie in the server's sockets although CPUs are idle: nobody reads them, whatever those who should are doing.
//!
//! Threads that wait for something nameable, or fill their CPU, have diagnoses of their own, which come first. What is left are
//! threads that are stopped now and then (garbage collection, a debugger), and one that does everything and is busy at times.

use super::waits::{CPU_IDLE, WAITED, cpus_left, is_slow};
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{duration, percent};
use crate::path::{address_text, called, in_front, path_of, scope_of};
use crate::readings::ratio;
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

/// F18.
pub(super) const RULE: Rule = Rule {
    id: "F18",
    name: "left-unread",
    meaning: "Requests lie in the server's sockets for most of their time, although CPUs are idle: nobody reads them.",
    thresholds: &[WAITED, CPU_IDLE, UNREAD, LATE, BUSY_AT_TIMES],
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
    let threads = window.threads(&processes);
    let busiest = threads.first().filter(|thread| thread.busy_ratio >= BUSY_AT_TIMES.value);
    let busy = busiest.map_or(String::new(), |thread| {
        format!("; its busiest thread used {} of a CPU", percent(thread.busy_ratio))
    });
    Some(Case::new(format!("{who} leaves requests unread: {text}{busy}"), found, Reach::used_up(view, share)))
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
        let mean_ns = case.view().request_mean_ns().expect("was filled");
        let case = case.cpu(0.05, 0.05, 0.01).server(0.3).requests("tier:target", [1e4, 0.01 * mean_ns]);
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
