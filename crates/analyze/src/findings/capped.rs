//! A limit on the number of connections that a server serves at a time: connections beyond it wait to be accepted, or are
//! closed.
//!
//! Event loops handle thousands of connections; if one stays at a number below what the load opens, it was configured to
//! (`worker_connections`, memcached's `-c`, `server.max-connections`). Servers with one worker per connection are `F04`'s.
//! With short-lived connections, the server's descriptors stay at a constant number instead.

use super::stopped;
use super::taken_up::{FREE, IDLE, QUEUED, TakenUp, idle_ratio, threads};
use super::waits::cpus_left;
use super::{Case, ENGINE, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{counted, name, percent, rate, whole};
use crate::path::listener_name;
use crate::readings::{Level, ThreadShare, Window, process_scope, ratio};
use crate::threshold::{HOUSE, Threshold};
use crate::view::{TrialView, error_ratio};
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column;
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::load::FailureClass;

const FLAT: Threshold = Threshold::new(
    "mean ÷ most connections of a listener, for the number to stand still",
    0.97,
    "ratio",
    HOUSE,
);
const WANTED: Threshold =
    Threshold::new("connections of the load ÷ those that the server holds, at least", 1.1, "ratio", HOUSE);
const EACH_THREAD: Threshold =
    Threshold::new("connections for each thread of the server, at least", 4.0, "count", HOUSE);
const LASTING: Threshold =
    Threshold::new("share of readings with connections that wait to be accepted", 0.25, "ratio", HOUSE);
const OPEN: Threshold = Threshold::new(
    "connections that were accepted ÷ descriptors, at least, for these to be connections",
    0.25,
    "ratio",
    HOUSE,
);
const CLOSED: Threshold =
    Threshold::new("share of requests on connections that the server closed", 0.01, "ratio", HOUSE);

const STARVED: Threshold = Threshold::new(
    "time in which the server's threads waited for a CPU ÷ time in which they could run, to be what connections wait for",
    0.5,
    "ratio",
    HOUSE,
);

const COMPUTING: Threshold = Threshold::new(
    "time in which the server's threads that work run or could run, to be what connections wait for",
    0.9,
    "ratio",
    HOUSE,
);

/// A thread that runs less than this does no work for connections. Unit: ratio.
const AT_WORK: f64 = 0.2;

/// Less waiting for CPUs than this keeps nobody from taking up connections. Unit: CPUs.
const STARVED_LEAST: f64 = 0.1;

/// F11.
pub(super) const CAPPED: Rule = Rule {
    id: "F11",
    name: "connections-capped",
    meaning: "The server serves a fixed number of connections at a time, or accepts a fixed number per second, fewer than the load opens.",
    thresholds: &[FLAT, WANTED, EACH_THREAD, QUEUED, LASTING, IDLE, FREE, OPEN, CLOSED, STARVED, COMPUTING],
    place: Place::Server,
    needs: &[column::CONNECTIONS_ESTABLISHED],
    remedy: "raise the server's own limit (worker_connections, -c, max-connections) together with its limit of file descriptors",
    counterfactual: "with a higher limit no more connections would be served",
    examine: Examination::By(examine),
};

/// What happens to connections beyond the limit.
const ENDS: &[FailureClass] = &[
    FailureClass::ConnectTimeout,
    FailureClass::ConnectReset,
    FailureClass::EofBeforeHead,
    FailureClass::Reset,
    FailureClass::HeadTimeout,
];

/// Connections that the server has at a time, by one of two counts.
struct Held {
    most: f64,
    mean: f64,
    text: String,
    column: String,
    source: &'static str,
}

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let first = examine_first(scene);
    let is_capped =
        |case: &Case| case.evidence.iter().any(|evidence| evidence.role == EvidenceRole::Mechanism);
    if first.as_ref().is_some_and(is_capped) {
        return first;
    }
    examine_tiers(scene).or(first)
}

/// A tier behind the first one whose event loop has work left, while connections wait in front of it.
fn examine_tiers<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let window = view.server_steady();
    window.scopes(column::LISTENER_QUEUE).into_iter().find_map(|scope| {
        let mut processes = view.listening_at(scope);
        processes.retain(|process| process.tier.is_some());
        let queue = window.level(column::LISTENER_QUEUE, scope)?;
        let held = by_descriptors(&processes, &window)?;
        let idle = idle_ratio(view, &window, scope)?;
        // Where each connection has a worker, whose descriptors are few and always the same, the workers are the limit.
        let connections = window.level(column::CONNECTIONS_ESTABLISHED, scope).map(|level| level.max);
        let each = connections.and_then(|connections| ratio(connections, threads(&processes, &window)?));
        let is_capped = each.is_none_or(|each| each >= EACH_THREAD.value)
            && queue.mean >= QUEUED.value
            && queue.present_ratio >= LASTING.value
            && held.mean >= FLAT.value * held.most
            && idle >= IDLE.value;
        let text = format!("{}, and {:.1} connections waited to be accepted", held.text, queue.mean);
        let seen = evidence(EvidenceRole::Mechanism, &window, held.source, text.clone());
        let idle = format!("its threads waited for something to do {} of the time", percent(idle));
        let mut found = vec![
            seen_in(held.column, seen),
            evidence(EvidenceRole::Confirmer, &window, "/proc/PID/task/TID/syscall", idle),
        ];
        // Whoever is stopped takes up no connection meanwhile.
        found.extend(stopped::against(scene));
        let title = format!("A tier of the server limits its connections: {text}");
        let reach = Reach::used_up(view, 1.0);
        is_capped.then(|| Case::new(title, found, reach))
    })
}

fn examine_first<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let window = view.server_steady();
    let wanted = f64::from(view.plan().connections);
    let scope = busiest_listener(view, &window)?;
    let waiting = TakenUp::at(view, &window, scope);
    if let Some(waiting) = waiting.as_ref().filter(|waiting| is_lasting(&waiting.queue) && waiting.is_paced())
    {
        return Some(paced(scene, waiting, scope));
    }
    let processes = view.listening_at("");
    let is_open = |held: &Held| waiting.as_ref().is_none_or(|open| open.accepted >= OPEN.value * held.mean);
    let held = [by_sockets(&window, scope), by_descriptors(&processes, &window).filter(is_open)];
    let threads = threads(&processes, &window)?;
    let is_capped = |held: &&Held| {
        held.mean >= FLAT.value * held.most
            && wanted >= WANTED.value * held.most
            && held.most >= EACH_THREAD.value * threads
    };
    let kept_out = kept_out(view, &window, scope);
    let known = held.iter().flatten();
    let Some(capped) = known.clone().find(is_capped).filter(|_| !kept_out.is_empty()) else {
        let first = known.clone().next()?;
        let against = seen_in(
            first.column.clone(),
            evidence(EvidenceRole::Against, &window, first.source, first.text.clone()),
        );
        return excluded("The number of connections is not limited", vec![against]);
    };
    let text = format!("{}, and the load opens {}", capped.text, whole(wanted));
    let seen = evidence(EvidenceRole::Mechanism, &window, capped.source, text.clone());
    let mut found = vec![seen_in(capped.column.clone(), seen)];
    found.extend(kept_out);
    // Where no CPU is left, event loops take up connections as late as everything else.
    let is_busy = |evidence: &Evidence| evidence.role == EvidenceRole::Against;
    found.extend(cpus_left(scene, &window).filter(is_busy));
    found.extend(starved(&processes, &window));
    found.extend(computing(&processes, &window));
    let failures = view.failures_of(ENDS) as f64 + view.counts().timed_out as f64;
    let reach = Reach { failures, ..Reach::used_up(view, 1.0 - capped.most / wanted) };
    Some(Case::new(format!("The server limits its connections: {text}"), found, reach))
}

/// Connections wait although threads are free to accept them.
fn paced<'a>(scene: &Scene<'a>, waiting: &TakenUp, scope: &str) -> Case<'a> {
    let view = &scene.focus;
    let window = view.server_steady();
    let queued = format!("{:.1} connections wait to be accepted", waiting.queue.mean);
    let source = "sock_diag, idiag_rqueue of LISTEN sockets";
    let seen = evidence(EvidenceRole::Mechanism, &window, source, queued.clone());
    let open = format!("it has {:.1} open and its threads are idle", waiting.accepted);
    let mut found = vec![
        seen_in(column::LISTENER_QUEUE.at(scope), seen),
        evidence(EvidenceRole::Confirmer, &window, "/proc/PID/task/TID/syscall", open.clone()),
    ];
    found.extend(stopped::against(scene));
    let rate = rate(view.measured().achieved_hz);
    let title = format!(
        "The server limits its rate of new connections: {queued} at {rate} requests per second, although {open}"
    );
    let remedy = "raise its limit on new connections per second (rate-limit sessions, maxconnrate), or keep connections open";
    let part = view.in_flight_mean().and_then(|in_flight| ratio(waiting.queue.mean, in_flight));
    let reach = Reach::used_up(view, part.unwrap_or(1.0).min(1.0));
    Case { remedy: Some(remedy.to_owned()), ..Case::new(title, found, reach) }
}

/// A burst waits for a moment, and then nobody.
fn is_lasting(queue: &Level) -> bool {
    queue.mean >= QUEUED.value && queue.present_ratio >= LASTING.value
}

/// That those who would take up connections wait for a CPU instead, whoever else has it.
fn starved(processes: &[&WatchedProcess], window: &Window) -> Option<Evidence> {
    let waited = window.process_run_delay(processes)?;
    let share = window.run_delay_ratio(processes)?;
    let text = format!("its threads waited for a CPU {} of the time that they could run", percent(share));
    (share >= STARVED.value && waited >= STARVED_LEAST)
        .then(|| evidence(EvidenceRole::Against, window, "/proc/PID/task/TID/schedstat", text))
}

/// That those who would take up connections compute all the time.
fn computing(processes: &[&WatchedProcess], window: &Window) -> Option<Evidence> {
    let threads = window.threads(processes);
    let at_work = threads.iter().map(ThreadShare::wanted_ratio).filter(|wanted| *wanted >= AT_WORK);
    let (sum, count) = at_work.fold((0.0, 0.0), |(sum, count), wanted| (sum + wanted, count + 1.0));
    let share = ratio(sum, count).filter(|share| *share >= COMPUTING.value)?;
    let text = format!("its threads ran, or were ready to, {} of the time", percent(share.min(1.0)));
    Some(evidence(EvidenceRole::Against, window, "/proc/PID/task/TID/stat", text))
}

/// The address of those that the load reaches that has most connections.
fn busiest_listener<'a>(view: &TrialView, window: &Window<'a>) -> Option<&'a str> {
    let is_first = |scope: &&str| view.listening_at(scope).iter().all(|process| process.tier.is_none());
    let most =
        |scope: &&str| window.level(column::CONNECTIONS_ESTABLISHED, scope).map_or(0.0, |level| level.max);
    let scopes = window.scopes(column::CONNECTIONS_ESTABLISHED).into_iter().filter(is_first);
    scopes.max_by(|a, b| most(a).total_cmp(&most(b)))
}

fn by_sockets(window: &Window, scope: &str) -> Option<Held> {
    let level = window.level(column::CONNECTIONS_ESTABLISHED, scope).filter(|level| level.max > 0.0)?;
    let place = listener_name(scope);
    Some(Held {
        most: level.max,
        mean: level.mean,
        text: format!("{place} held up to {}", counted(level.max, "connection")),
        column: column::CONNECTIONS_ESTABLISHED.at(scope),
        source: "sock_diag, ESTABLISHED sockets",
    })
}

/// Each connection is a descriptor; those that wait to be accepted are none yet.
fn by_descriptors(processes: &[&WatchedProcess], window: &Window) -> Option<Held> {
    let level = |process: &&WatchedProcess| window.level(column::PROCESS_FDS, &process_scope(process));
    let levels: Vec<Level> = processes.iter().filter_map(level).collect();
    let most: f64 = levels.iter().map(|level| level.max).sum();
    let first = processes.first()?;
    (most > 0.0).then(|| Held {
        most,
        mean: levels.iter().map(|level| level.mean).sum(),
        text: format!("{} never had more than {} open", name(&first.command), counted(most, "descriptor")),
        column: column::PROCESS_FDS.at(&process_scope(first)),
        source: "/proc/PID/fd",
    })
}

/// Connections that wait in front of it, or that it closed.
fn kept_out(view: &TrialView, window: &Window, scope: &str) -> Vec<Evidence> {
    let queue = window.level(column::LISTENER_QUEUE, scope).filter(is_lasting);
    let queued = queue.map(|queue| {
        let text = format!("{:.1} connections waited to be accepted", queue.mean);
        let seen =
            evidence(EvidenceRole::Confirmer, window, "sock_diag, idiag_rqueue of LISTEN sockets", text);
        seen_in(column::LISTENER_QUEUE.at(scope), seen)
    });
    let share = ratio(view.failures_of(ENDS) as f64, view.counts().sent as f64);
    let share = share.filter(|share| *share >= CLOSED.value && error_ratio(view.counts()) >= CLOSED.value);
    let closed = share.map(|share| {
        let text = format!(
            "{} of the requests were on connections that the server closed or left waiting",
            percent(share)
        );
        evidence(EvidenceRole::Confirmer, window, ENGINE, text)
    });
    queued.into_iter().chain(closed).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::{Specimen, TARGET, with_tier};
    use sysdyno_record::analysis::Confidence;
    use sysdyno_record::load::FailureClass;

    const LISTENER: &str = "listener:127.0.0.1:8080";

    fn holding(connections: f64, threads: f64, queue: f64) -> Specimen {
        slow()
            .cpu(0.1, 0.05, 0.0)
            .server(0.1)
            .gauge("process.threads_count", &format!("process:{TARGET}"), threads)
            .gauge("connections.established_count", LISTENER, connections)
            .gauge("listener.queue_count", LISTENER, queue)
    }

    fn confidence(case: Specimen) -> Option<Confidence> {
        conclude(case).into_iter().find(|finding| finding.id == "F11").map(|finding| finding.confidence)
    }

    #[test]
    fn descriptors_that_stand_still_tell_of_the_limit_while_connections_come_and_go() {
        let closing = |descriptors: f64| {
            let case = holding(64.0, 2.0, 0.0).fail(FailureClass::EofBeforeHead, 7_000);
            case.gauge("process.fds_count", &format!("process:{TARGET}"), descriptors)
        };
        assert!(confidence(closing(40.0)) >= Some(Confidence::Likely));
        assert_eq!(confidence(closing(80.0)), Some(Confidence::Excluded));
    }

    #[test]
    fn a_tier_whose_threads_have_nothing_to_do_while_connections_wait_for_it_is_capped() {
        let waiting = |idle: f64, queue: f64| {
            let case = with_tier(holding(64.0, 2.0, 0.0), "lighttpd", "127.0.0.1:9000", 1, TARGET);
            let pid = case.watched.last().map_or(0, |process| process.pid);
            case.gauge("process.fds_count", &format!("process:{pid}"), 30.0)
                .gauge("process.threads_count", &format!("process:{pid}"), 1.0)
                .gauge("waits.threads_count", "tier:127.0.0.1:9000", 1.0)
                .gauge("waits.idle_count", "tier:127.0.0.1:9000", idle)
                .gauge("listener.queue_count", "listener:127.0.0.1:9000", queue)
        };
        let finding = conclude(waiting(1.0, 20.0)).into_iter().find(|finding| finding.id == "F11");
        let finding = finding.expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        assert!(finding.title.contains("lighttpd never had more than 30 descriptors"), "{}", finding.title);
        let stopped = waiting(1.0, 20.0).gauge("waits.stopped_count", "tier:127.0.0.1:9000", 1.0);
        assert_eq!(confidence(stopped), Some(Confidence::Possible), "it cannot take up any");
        assert_eq!(confidence(waiting(0.0, 20.0)), Some(Confidence::Excluded), "its threads are busy");
        assert_eq!(confidence(waiting(1.0, 0.0)), Some(Confidence::Excluded), "nobody waits");
    }

    #[test]
    fn an_event_loop_that_holds_fewer_connections_than_wait_is_capped() {
        assert!(confidence(holding(32.0, 2.0, 32.0)) >= Some(Confidence::Likely), "the load opens 64");
        let busy = holding(32.0, 2.0, 32.0).cpu(0.6, 0.35, 0.02).server(1.9);
        assert_eq!(confidence(busy), Some(Confidence::Possible), "its event loops are late");
        let starved =
            holding(32.0, 2.0, 32.0).counter("process.run_delay_us", &format!("process:{TARGET}"), 0.9e6);
        assert_eq!(confidence(starved), Some(Confidence::Possible), "others have its CPU");
        assert_eq!(confidence(holding(64.0, 2.0, 0.0)), Some(Confidence::Excluded), "it holds all");
        assert_eq!(confidence(holding(32.0, 2.0, 0.0)), Some(Confidence::Excluded), "none waits");
        assert_eq!(confidence(holding(32.0, 32.0, 32.0)), Some(Confidence::Excluded), "each has a worker");
    }

    #[test]
    fn connections_that_wait_while_threads_are_free_come_faster_than_they_may() {
        let find = |accepted: f64| {
            let case = holding(40.0 + accepted, 2.0, 40.0).gauge("waits.threads_count", "tier:target", 2.0);
            let case = case.gauge("waits.idle_count", "tier:target", 2.0);
            let case = case.gauge("process.fds_count", &format!("process:{TARGET}"), 11.0);
            conclude(case).into_iter().find(|finding| finding.id == "F11").expect("a finding")
        };
        let paced = find(0.0);
        assert!(paced.confidence >= Confidence::Likely, "{paced:?}");
        let begin = "The server limits its rate of new connections: 40.0 connections wait to be accepted at ";
        assert!(paced.title.starts_with(begin), "{}", paced.title);
        assert!(paced.remedy.is_some_and(|remedy| remedy.contains("maxconnrate")));
        assert!(!find(20.0).title.contains("its rate"), "they have some");
        let few = find(1.5).title;
        assert!(!few.contains("descriptors"), "these are no connections: {few}");
    }

    #[test]
    fn event_loops_that_compute_all_the_time_and_workers_with_a_connection_each_are_not_capped() {
        let running = |count: f64| {
            let scope = format!("process:{TARGET}");
            confidence(holding(32.0, 1.0, 32.0).server(0.6).gauge(
                "process.running_threads_count",
                &scope,
                count,
            ))
        };
        assert!(running(0.6) >= Some(Confidence::Likely));
        assert_eq!(running(1.0), Some(Confidence::Possible), "it takes them up when it can");
        let tier = |connections: f64| {
            let case = with_tier(holding(64.0, 2.0, 0.0), "php-fpm", "127.0.0.1:9000", 1, TARGET);
            let pid = case.watched.last().map_or(0, |process| process.pid);
            let case = case
                .gauge("process.fds_count", &format!("process:{pid}"), 34.0)
                .gauge("process.threads_count", &format!("process:{pid}"), 2.0)
                .gauge("waits.threads_count", "tier:127.0.0.1:9000", 2.0)
                .gauge("waits.idle_count", "tier:127.0.0.1:9000", 2.0)
                .gauge("connections.established_count", "listener:127.0.0.1:9000", connections)
                .gauge("listener.queue_count", "listener:127.0.0.1:9000", 20.0);
            confidence(case)
        };
        assert!(tier(20.0) >= Some(Confidence::Likely));
        assert_eq!(tier(2.0), Some(Confidence::Excluded), "each worker has one");
    }
}
