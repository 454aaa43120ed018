//! Requests that the server has read but holds back: it does not compute, waits for no other service, and has threads that
//! wait for the next event.
//!
//! Where a thread hands requests on to a pool of others, those of the pool that have one and wait for a lock look like those that
//! have none: what was seen of such a wait is told, and is no proof.
//!
//! A proxy that does not read what it was answered holds the request as well: whoever limits bytes stops reading.
//!
//! Deliberate delays (rate limits, throttles, timers) look like this, and so does an event loop that missed an event.
//! Threads that work or are blocked, or responses that the client does not read, contradict it: these are other diagnoses.

use super::peer::Peer;
use super::waits::{ASKED, AT_LOCK, CPU_IDLE, WAITED, asked_at_a_time, cpus_left, is_slow};
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{counted, duration, name, percent};
use crate::path::{path_of, scope_of};
use crate::readings::{Window, ratio};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column;
use sysdyno_record::path::{PathTier, WaitKind};

const HELD: Threshold =
    Threshold::new("time of a request inside the server that is more than wake-ups", 1.0, "ms", HOUSE);
const ENGAGED: Threshold = Threshold::new(
    "threads of the server that work or are blocked ÷ threads, to be what is waited for",
    0.5,
    "ratio",
    HOUSE,
);
const COMPUTES: Threshold =
    Threshold::new("CPUs that the server uses, not to be called idle", 0.3, "count", HOUSE);
const UNSENT: Threshold = Threshold::new(
    "connections with bytes that the client has not taken ÷ requests in flight, to be what is waited for",
    0.5,
    "ratio",
    HOUSE,
);

const UNSENT_STEADILY: Threshold = Threshold::new(
    "share of readings with such connections: bursts are acknowledged late, and a few readings may hit them",
    0.9,
    "ratio",
    HOUSE,
);

/// A15.
pub(super) const RULE: Rule = Rule {
    id: "A15",
    name: "held",
    meaning: "The server has read the requests and holds them, although it neither computes nor waits for anybody.",
    thresholds: &[WAITED, CPU_IDLE, HELD, ENGAGED, COMPUTES, UNSENT, UNSENT_STEADILY, ASKED, AT_LOCK],
    place: Place::Server,
    needs: &[column::REQUESTS_INSIDE_TIME],
    remedy: "look for a delay in its configuration or code: a limit on the rate of requests or bytes, a throttle, a timer",
    counterfactual: "without that delay the responses would take as long",
    examine: Examination::By(examine),
};

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let path = path_of(view);
    let tier = path.first().filter(|tier| tier.address.is_none() && !tier.is_outside)?;
    let requests = tier.requests.as_ref()?;
    let rest_ns = requests.rest_ns?;
    let unread_ns: f64 = requests.asked.iter().map(|asked| asked.unread_ns).sum();
    let held_ns = rest_ns + unread_ns;
    let mean_ns = view.request_mean_ns()?;
    let window = view.server_steady();
    let who = name(&tier.name);
    let of_it = duration(held_ns.min(mean_ns));
    let answers = if unread_ns > rest_ns { ", most of them while answers to it lie unread" } else { "" };
    let text = format!("{of_it} of a request's {} pass inside {who}{answers}", duration(mean_ns));
    let column = column::REQUESTS_INSIDE_TIME.at(&scope_of(tier));
    let seen = |role| {
        let source = "sock_recv_length, sock_send_length";
        seen_in(column.clone(), evidence(role, &window, source, text.clone()))
    };
    let share = ratio(held_ns, mean_ns)?.min(1.0);
    if share < WAITED.value || held_ns < HELD.value * 1e6 || !is_slow(scene, mean_ns) {
        return excluded(&format!("{who} does not hold requests"), vec![seen(EvidenceRole::Against)]);
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    found.extend(cpus_left(scene, &window));
    found.extend(engaged(tier, &window));
    found.extend(unsent(scene, &window));
    // What waits for a thread that looks up a name waits for the name server, too.
    if let Some((server, count)) = Peer::name_server(&path, tier).filter(|(_, count)| *count >= ASKED.value) {
        let (_, remedy) = server.told_of(&who);
        let title = format!(
            "{who} holds requests: {text}, while {count:.1} of its threads wait for {}",
            server.name()
        );
        return Some(Case { remedy: Some(remedy), ..Case::new(title, found, Reach::used_up(view, share)) });
    }
    let is_at_lock = tier.threads_at(WaitKind::Lock) >= AT_LOCK.value;
    let locked = if is_at_lock { ", and threads were seen waiting for a lock" } else { "" };
    let Some(limited) = Limited::of(scene, tier, &path) else {
        let computes = tier.cpus.is_some_and(|cpus| cpus >= COMPUTES.value);
        let title = match is_at_lock || computes {
            true => format!("{who} holds requests: {text}{locked}"),
            false => format!("{who} holds requests, and neither computes nor waits for anybody: {text}"),
        };
        return Some(Case::new(title, found, Reach::used_up(view, share)));
    };
    let title = format!("{who} holds requests: {text}{}{locked}", limited.clause);
    Some(Case { remedy: Some(limited.remedy), ..Case::new(title, found, Reach::used_up(view, share)) })
}

/// That a tier passes on only so many requests at a time.
pub(super) struct Limited {
    /// `, while 2.0 at a time are at node`.
    pub(super) clause: String,
    pub(super) remedy: String,
}

impl Limited {
    /// Of this tier; `None`: it passes on none, or hardly any.
    pub(super) fn of(scene: &Scene, tier: &PathTier, path: &[PathTier]) -> Option<Limited> {
        let (asked, count) = asked_at_a_time(scene, tier, path)?;
        let (who, asked) = (name(&tier.name), name(&asked.name));
        let lock = match tier.threads_at(WaitKind::Lock) >= AT_LOCK.value {
            false => String::new(),
            true => {
                format!("find a lock that {who} holds while it asks {asked} (synchronized, a mutex), or ")
            }
        };
        let remedy = format!(
            "{lock}raise the number of requests that {who} sends to {asked} at a time (maxconn, the size of a connection pool, \
             worker threads); if that changes nothing, look in {who} for a lock that is held while it asks, a rate limit, a \
             throttle, or a timer"
        );
        Some(Limited { clause: format!(", while {count:.1} at a time are at {asked}"), remedy })
    }
}

/// What its threads were seen at: those that rest can take up the next event at once.
fn engaged(tier: &PathTier, window: &Window) -> Option<Evidence> {
    let threads = tier.threads_count.or(tier.serving_count).filter(|threads| *threads > 0.0)?;
    let is_engaged = |kind: WaitKind| !matches!(kind, WaitKind::Asking | WaitKind::Network);
    let engaged: f64 =
        tier.waits.iter().filter(|wait| is_engaged(wait.kind)).map(|wait| wait.threads_count).sum();
    let share = ratio(engaged, threads)?;
    let text = format!("{engaged:.1} of {} worked or were blocked", counted(threads.round(), "thread"));
    (share >= ENGAGED.value)
        .then(|| evidence(EvidenceRole::Against, window, "/proc/PID/task/TID/syscall", text))
}

/// That answers lie in the server's sockets until the client's side takes them.
fn unsent(scene: &Scene, window: &Window) -> Option<Evidence> {
    let in_flight = scene.focus.in_flight_mean()?;
    let levels = window.scopes(column::CONNECTIONS_UNSENT).into_iter();
    let (scope, level) = levels
        .filter_map(|scope| Some((scope, window.level(column::CONNECTIONS_UNSENT, scope)?)))
        .max_by(|(_, one), (_, other)| one.mean.total_cmp(&other.mean))?;
    let share = ratio(level.mean, in_flight)?;
    let text = format!(
        "on {} of the connections in flight, the client had not taken the whole response",
        percent(share)
    );
    let against =
        evidence(EvidenceRole::Against, window, "sock_diag, idiag_wqueue of ESTABLISHED sockets", text);
    let is_steady = level.present_ratio >= UNSENT_STEADILY.value;
    (is_steady && share >= UNSENT.value).then(|| seen_in(column::CONNECTIONS_UNSENT.at(scope), against))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{LISTENER, conclude, slow};
    use crate::corpus::Specimen;
    use sysdyno_record::analysis::{Confidence, Finding};

    fn find(case: Specimen) -> Option<Finding> {
        conclude(case).into_iter().find(|finding| finding.id == "A15")
    }

    /// The server has each request for this share of its time, and is idle.
    fn holding(case: Specimen, share: f64) -> Specimen {
        let view = case.view();
        let mean_ns = view.request_mean_ns().expect("was filled");
        case.cpu(0.05, 0.05, 0.01).server(0.05).requests("tier:target", [1e4, share * mean_ns])
    }

    #[test]
    fn an_idle_server_that_has_read_the_requests_holds_them() {
        let finding = find(holding(slow(), 0.9)).expect("a finding");
        assert_eq!(finding.confidence, Confidence::Likely, "{finding:?}");
        assert!(finding.title.contains("holds requests"), "{finding:?}");
        let quick = find(holding(slow(), 0.1)).expect("a finding");
        assert_eq!(quick.confidence, Confidence::Excluded, "{quick:?}");
        let fast = find(holding(Specimen::open(2000.0, 10.0), 0.9)).expect("a finding");
        assert_eq!(fast.confidence, Confidence::Excluded, "{fast:?}");
    }

    #[test]
    fn who_holds_requests_while_its_threads_look_up_names_waits_for_the_name_server() {
        let case = holding(slow(), 0.9).gauge("waits.threads_count", "tier:target", 5.0);
        let case = case.gauge("waits.asking_count", "tier:target>10.1.2.3:53", 4.0);
        let found = find(case).expect("a finding");
        assert!(found.title.ends_with(" of its threads wait for name server 10.1.2.3"), "{found:?}");
        assert!(found.remedy.is_some_and(|remedy| remedy.contains("/etc/resolv.conf")));
    }

    #[test]
    fn answers_that_a_proxy_leaves_unread_are_held() {
        let case = |share: f64| {
            let mean_ns = slow().view().request_mean_ns().expect("was filled");
            let scope = "tier:target>127.0.0.1:9000";
            let counts = [("asked.sent_count", 1.0), ("asked.merged_count", 0.0), ("asked.trailing_ns", 0.0)];
            let case = holding(slow(), 0.95).per_request(scope, &counts);
            let times = [("asked.waiting_ns", (0.9 - share) * mean_ns), ("asked.unread_ns", share * mean_ns)];
            find(case.per_request(scope, &times)).expect("a finding")
        };
        let held = case(0.8);
        assert_eq!(held.confidence, Confidence::Likely, "{held:?}");
        assert!(held.title.contains(", most of them while answers to it lie unread"), "{held:?}");
        assert_eq!(case(0.01).confidence, Confidence::Excluded);
    }

    #[test]
    fn threads_that_were_seen_at_a_lock_are_told() {
        let locked = |count: f64| {
            let case = holding(slow(), 0.9).gauge("waits.threads_count", "tier:target", 9.0);
            find(case.gauge("waits.lock_count", "tier:target", count)).expect("a finding").title
        };
        assert!(locked(0.9).ends_with("threads were seen waiting for a lock"), "{}", locked(0.9));
        assert!(!locked(0.9).contains("waits for anybody"), "{}", locked(0.9));
        assert!(!locked(0.1).contains("lock"), "{}", locked(0.1));
    }

    #[test]
    fn blocked_threads_and_slow_readers_speak_against_it() {
        let blocked = holding(slow(), 0.9).gauge("waits.threads_count", "tier:target", 1.0).gauge(
            "waits.disk_count",
            "tier:target",
            0.9,
        );
        let readers = |unsent: f64| holding(slow(), 0.9).gauge("connections.unsent_count", LISTENER, unsent);
        for case in [blocked, readers(1000.0)] {
            let finding = find(case).expect("a finding");
            assert_eq!(finding.confidence, Confidence::Possible, "{finding:?}");
        }
        assert_eq!(find(readers(0.0)).map(|finding| finding.confidence), Some(Confidence::Likely));
        let bursts = holding(slow(), 0.9).bursts("connections.unsent_count", LISTENER, 2000.0, 2);
        assert_eq!(find(bursts).map(|finding| finding.confidence), Some(Confidence::Likely));
    }
}
