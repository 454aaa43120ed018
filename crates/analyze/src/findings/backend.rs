//! Requests that wait for another service: an address that could not be looked into, or a tier that holds them for no
//! visible reason.
//!
//! The kernel's view of the connections comes first, because it also works for event loops; where it is missing, threads
//! that wait for a connection are counted. The time inside a tier excludes what the tier asked of others and what its
//! threads were seen waiting for. The remainder therefore belongs to the last tier of the path; the tiers before it only
//! pass it on.

use super::held::Limited;
use super::peer::CONNECTING;
use super::waits::{self, WAITED, cpus_left, is_slow};
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{cpus, duration, name};
use crate::path::{path_of, scope_of};
use crate::readings::{Window, ratio};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column;
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::path::{PathTier, WaitKind};

const TIER_BUSY: Threshold = Threshold::new(
    "CPUs for each process of a tier from which on its requests may wait for its own CPU time",
    0.5,
    "count",
    HOUSE,
);
const TIER_IDLE: Threshold =
    Threshold::new("CPUs of a tier that waits for a program beside it, at most", 0.1, "count", HOUSE);
const WORKER_FULL: Threshold =
    Threshold::new("CPU of a program beside the path that may be waited for", 0.9, "ratio of a CPU", HOUSE);
pub(super) const MANY: Threshold =
    Threshold::new("calls to one service for each request of the load, to batch them", 10.0, "count", HOUSE);
const THRESHOLDS: &[Threshold] =
    &[WAITED, waits::CPU_IDLE, MANY, TIER_BUSY, TIER_IDLE, WORKER_FULL, CONNECTING];

/// A05.
pub(super) const RULE: Rule = Rule {
    id: "A05",
    name: "backend-wait",
    meaning: "Requests wait for an answer from somewhere that could not be looked into, or in a tier that waits for something unseen.",
    thresholds: THRESHOLDS,
    place: Place::Server,
    needs: &[column::WAITS_NETWORK],
    remedy: "measure that service by itself; cache its answers, ask it less often, or ask it for several at once",
    counterfactual: "with that service answering at once the responses would take as long",
    examine: Examination::By(examine),
};

/// Where requests wait.
struct Wait<'a> {
    /// Who is waited for.
    at: &'a PathTier,
    /// Per request of the load. Unit: nanoseconds.
    time_ns: f64,
    /// How often it is asked for each request of the load.
    times: f64,
    /// The column that shows it.
    column: String,
    source: &'static str,
}

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let path = path_of(view);
    let mean_ns = view.request_mean_ns()?;
    let worst = all(&path).max_by(|one, other| one.time_ns.total_cmp(&other.time_ns));
    let by_threads = || waits::examine(scene, WaitKind::Network);
    let Some(worst) = worst else { return by_threads() };
    let window = view.server_steady();
    let share = ratio(worst.time_ns, mean_ns)?.min(1.0);
    let who = worst.at.address.as_deref().unwrap_or(&worst.at.name);
    let who =
        if worst.at.is_outside { name(who) } else { format!("{} at {}", name(&worst.at.name), name(who)) };
    let text =
        format!("{} of a request's {} pass there", duration(worst.time_ns.min(mean_ns)), duration(mean_ns));
    let seen = |role| seen_in(worst.column.clone(), evidence(role, &window, worst.source, text.clone()));
    if share < WAITED.value || !is_slow(scene, mean_ns) {
        return by_threads().or_else(|| {
            let title = format!("Waiting for {who} is not the bottleneck");
            excluded(&title, vec![seen(EvidenceRole::Against)])
        });
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    found.extend(cpus_left(scene, &window));
    found.extend(busy(worst.at, &window));
    let unseen = if worst.at.is_outside { ", which could not be looked into" } else { "" };
    let title = format!("Requests wait for {who}{unseen}: {text}");
    let case = Case::new(title, found, Reach::used_up(view, share));
    if worst.times >= MANY.value {
        let each = duration(worst.time_ns / worst.times);
        let title = format!("{}, in {:.0} requests of {each} each", case.title, worst.times);
        let remedy = format!(
            "batch the calls (a join, IN (…), a pipeline, one call for a list): each takes only {each}, but a request makes {:.0} of \
             them; or cache the answers",
            worst.times
        );
        return Some(Case { title, remedy: Some(remedy), ..case });
    }
    if let Some(limited) = Limited::of(scene, worst.at, &path).filter(|_| !worst.at.is_outside) {
        let title = format!("{}{}", case.title, limited.clause);
        return Some(Case { title, remedy: Some(limited.remedy), ..case });
    }
    let Some(worker) = full_beside(scene, worst.at, &window) else {
        let remedy = is_queue(worst.at).then(|| of_queue(&worst.at.name));
        return Some(Case { remedy, ..case });
    };
    let title = format!("{}, while {worker}, which is not on the path, kept a CPU busy", case.title);
    let remedy = format!(
        "if {worker} does that work (takes it out of a queue, for example), give it more processes or less to do; else {}",
        RULE.remedy
    );
    Some(Case { title, remedy: Some(remedy), ..case })
}

/// Everything that requests wait for: answers from outside, and in tiers behind the first one what has no other reason.
fn all<'a>(path: &'a [PathTier]) -> impl Iterator<Item = Wait<'a>> {
    path.iter().flat_map(|tier| {
        let requests = tier.requests.as_ref();
        let outside = requests.into_iter().flat_map(|requests| &requests.asked).filter_map(|asked| {
            let at = path.get(asked.on).filter(|at| at.is_outside)?;
            let scope = format!("{}>{}", scope_of(tier), at.address.as_deref()?);
            let column = column::ASKED_WAITING_TIME.at(&scope);
            let times = asked.sent_count;
            Some(Wait {
                at,
                time_ns: asked.waiting_ns,
                times,
                column,
                source: "sock_send_length, sk_data_ready",
            })
        });
        let rest_ns = requests.and_then(|requests| requests.rest_ns).filter(|_| tier.address.is_some());
        let inside = rest_ns.map(|time_ns| {
            let column = column::REQUESTS_INSIDE_TIME.at(&scope_of(tier));
            let times = requests.map_or(0.0, |requests| requests.read_count);
            Wait { at: tier, time_ns, times, column, source: "sock_recv_length, sock_send_length" }
        });
        outside.chain(inside)
    })
}

/// A program outside the path that kept a CPU busy while a tier had requests and did nothing: it may be what works for it.
fn full_beside(scene: &Scene, tier: &PathTier, window: &Window) -> Option<String> {
    tier.cpus.filter(|used| !tier.is_outside && *used <= TIER_IDLE.value)?;
    let foreign = scene.focus.processes(ProcessRole::Foreign);
    let is_full = |process: &&&WatchedProcess| {
        window.process_cpus(&[process]).is_some_and(|used| used >= WORKER_FULL.value)
    };
    let process = foreign.iter().find(is_full)?;
    Some(format!("{} (process {})", name(&process.command), process.pid))
}

/// Programs through which other programs hand on work, and wait for each other there.
const QUEUES: [&str; 8] = [
    "redis-server",
    "valkey-server",
    "beam.smp",
    "nats-server",
    "beanstalkd",
    "gearmand",
    "mosquitto",
    "kafka",
];

/// Whether requests may wait there for what others bring, and not for the program itself.
fn is_queue(tier: &PathTier) -> bool {
    !tier.is_outside
        && QUEUES.contains(&tier.name.as_str())
        && tier.cpus.is_some_and(|used| used <= TIER_IDLE.value)
}

fn of_queue(program: &str) -> String {
    let program = name(program);
    format!(
        "{program} is idle: if requests wait there for workers (a blocking read of a queue), add workers or make them faster; \
         otherwise, measure {program} by itself"
    )
}

/// That the tier has hardly a CPU to spare: requests may wait for that.
fn busy(tier: &PathTier, window: &Window) -> Option<Evidence> {
    let used = tier.cpus.filter(|_| !tier.is_outside)?;
    let each = ratio(used, tier.processes_count as f64)?;
    let text = format!("{} used {} CPUs", name(&tier.name), cpus(used));
    (each >= TIER_BUSY.value).then(|| evidence(EvidenceRole::Against, window, "/proc/PID/stat", text))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::{Specimen, TARGET, with_tier};
    use sysdyno_record::analysis::{Confidence, Finding};
    use sysdyno_record::event::{ProcessRole, WatchedProcess};

    const LATE: &str = "127.0.0.1:9000";

    fn find(case: Specimen) -> Option<Finding> {
        conclude(case).into_iter().find(|finding| finding.id == "A05")
    }

    /// nginx has requests for so long, of which the address that it asks takes a part. Unit: nanoseconds.
    fn asking(case: Specimen, inside_ns: f64, asked: &str, waiting_ns: f64) -> Specimen {
        let case = case.cpu(0.05, 0.05, 0.01).server(0.05).requests("tier:target", [1e4, inside_ns]);
        let counts = [("asked.sent_count", 1.0), ("asked.merged_count", 0.0), ("asked.trailing_ns", 0.0)];
        let scope = format!("tier:target>{asked}");
        let case = case.per_request(&scope, &counts);
        case.per_request(&scope, &[("asked.waiting_ns", waiting_ns), ("asked.unread_ns", 0.0)])
    }

    fn mean_ns(case: &Specimen) -> f64 {
        let view = case.view();
        view.request_mean_ns().expect("was filled")
    }

    #[test]
    fn who_asks_again_and_again_is_told_to_batch() {
        let ns = mean_ns(&slow());
        let many = asking(slow(), 0.95 * ns, "10.1.2.3:3306", 0.9 * ns);
        let many = many.per_request("tier:target>10.1.2.3:3306", &[("asked.sent_count", 57.0)]);
        let finding = find(many).expect("a finding");
        assert!(finding.title.contains(", in 5") && finding.title.ends_with(" each"), "{finding:?}");
        assert!(finding.remedy.is_some_and(|remedy| remedy.starts_with("batch the calls")));
    }

    #[test]
    fn an_event_loop_that_waits_for_another_host_is_seen_by_its_connections() {
        let ns = mean_ns(&slow());
        let finding = find(asking(slow(), 0.95 * ns, "10.1.2.3:3306", 0.9 * ns)).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        let begin = "Requests wait for '10.1.2.3:3306', which could not be looked into: ";
        assert!(finding.title.replace('\'', "").starts_with(&begin.replace('\'', "")), "{finding:?}");
        let column = finding.evidence[0].column.as_deref();
        assert_eq!(column, Some("asked.waiting_ns@tier:target>10.1.2.3:3306"));
        let quick = find(asking(slow(), 0.95 * ns, "10.1.2.3:3306", 0.1 * ns)).expect("a finding");
        assert_eq!(quick.confidence, Confidence::Excluded, "{quick:?}");
    }

    /// The same in front of a tier that holds the requests itself.
    fn behind(case: Specimen, cpus: f64) -> Specimen {
        let ns = mean_ns(&case);
        let case = with_tier(asking(case, 0.95 * ns, LATE, 0.9 * ns), "node", LATE, 1, TARGET);
        let case = case.requests(&format!("tier:{LATE}"), [0.0, 0.9 * ns]);
        case.counter("process.cpu_us", &format!("process:{}", TARGET + 100), cpus * 1e6)
    }

    #[test]
    fn the_last_tier_has_what_no_other_one_has() {
        let finding = find(behind(slow(), 0.02)).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        assert!(finding.title.contains("node") && finding.title.contains(LATE), "{finding:?}");
        let busy = find(behind(slow(), 0.9)).expect("a finding");
        assert_eq!(busy.confidence, Confidence::Possible, "{busy:?}");
        let passed_on = behind(slow(), 0.02).per_request(
            &format!("tier:{LATE}>10.1.2.3:3306"),
            &[
                ("asked.sent_count", 2.0),
                ("asked.merged_count", 0.0),
                ("asked.trailing_ns", 0.0),
                ("asked.unread_ns", 0.0),
                ("asked.waiting_ns", 0.85 * mean_ns(&slow())),
            ],
        );
        let passed_on = find(passed_on).expect("a finding");
        assert!(passed_on.title.contains("10.1.2.3:3306"), "{passed_on:?}");
    }

    #[test]
    fn a_tier_that_passes_on_a_few_at_a_time_has_a_pool_and_an_idle_queue_has_workers() {
        let ns = mean_ns(&slow());
        let asked = |part: f64| {
            let at = format!("tier:{LATE}>10.1.2.3:5432");
            let none = [("asked.sent_count", 1.0), ("asked.merged_count", 0.0), ("asked.unread_ns", 0.0)];
            let case = behind(slow(), 0.02).per_request(&at, &none);
            case.per_request(&at, &[("asked.waiting_ns", part * ns), ("asked.trailing_ns", 0.0)])
        };
        let pooled = find(asked(0.2)).expect("a finding");
        assert!(pooled.title.contains("node at 127.0.0.1:9000"), "{pooled:?}");
        assert!(pooled.title.contains(" at a time are at 10.1.2.3:5432"), "{pooled:?}");
        assert!(pooled.remedy.is_some_and(|remedy| remedy.contains("the size of a connection pool")));
        let of_queue = |name: &str| {
            let mut case = behind(slow(), 0.02);
            case.watched.last_mut().expect("the tier").command = name.to_owned();
            find(case).expect("a finding").remedy.expect("something can be changed")
        };
        assert!(of_queue("redis-server").starts_with("redis-server is idle: if requests wait there"));
        assert!(of_queue("node").starts_with("measure that service by itself"));
    }

    #[test]
    fn what_cannot_be_told_apart_or_is_fast_enough_is_no_finding() {
        let ns = mean_ns(&slow());
        let shared =
            behind(slow(), 0.02).per_request(&format!("tier:{LATE}"), &[("requests.merged_count", 0.9)]);
        assert!(find(shared).is_none_or(|finding| finding.confidence == Confidence::Excluded));
        let fast = asking(Specimen::open(2000.0, 10.0), 9e5, "10.1.2.3:3306", 8e5);
        assert_eq!(find(fast).map(|finding| finding.confidence), Some(Confidence::Excluded));
        assert!(ns > 1e6);
    }

    #[test]
    fn a_program_beside_an_idle_tier_that_keeps_a_cpu_busy_is_told() {
        let ns = mean_ns(&slow());
        let case = |used: f64| {
            let case = with_tier(slow(), "redis-server", LATE, 1, TARGET).cpu(0.05, 0.05, 0.01).server(0.05);
            let counts =
                [("requests.read_count", 1.0), ("requests.merged_count", 0.0), ("requests.unread_ns", 0.0)];
            let scope = format!("tier:{LATE}");
            let case =
                case.per_request(&scope, &counts).per_request(&scope, &[("requests.inside_ns", 0.9 * ns)]);
            let tier = case.watched.last().map_or(0, |process| process.pid);
            let mut case = case.counter("process.cpu_us", &format!("process:{tier}"), 1e4);
            case.watched.push(WatchedProcess::new(77, 1, "worker", ProcessRole::Foreign));
            find(case.counter("process.cpu_us", "process:77", used * 1e6)).expect("a finding")
        };
        let full = case(0.98);
        assert!(
            full.title.ends_with(", while worker (process 77), which is not on the path, kept a CPU busy"),
            "{full:?}"
        );
        assert!(full.remedy.is_some_and(|remedy| remedy.contains("takes it out of a queue")));
        assert!(!case(0.3).title.contains("worker"));
    }
}
