//! What the workers of a full pool do instead of taking up the next request: wait for whom.
//!
//! A pool whose workers ask a tier in front of them, which needs one of them to answer, waits for itself: at some rate all of
//! them wait for each other, however many they are.

use super::peer::Peer;
use super::taken_up::TakenUp;
use super::{Scene, evidence};
use crate::format::{counted, cpus, list, name};
use crate::path::{called, in_front, path_of};
use crate::readings::{Window, process_scope, ratio, sum_known};
use crate::threshold::{HOUSE, Threshold};
use std::collections::BTreeSet;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::{self, Quantity, ScopeKind};
use sysdyno_record::path::{PathTier, TierWait, WaitKind};

pub(super) const ALL_WAIT: Threshold = Threshold::new(
    "share of the threads that serve which wait for something, on average, for all requests to queue behind it",
    0.9,
    "ratio",
    HOUSE,
);
pub(super) const ASLEEP: Threshold =
    Threshold::new("share of server threads that are running, at most", 0.5, "ratio", HOUSE);

/// What to change where clients keep workers.
const HELD_BY_CLIENTS: &str = "close idle connections sooner (KeepAliveTimeout, keepalive_timeout), let one worker have many connections \
                               (mpm_event, a proxy in front), or add workers";

/// The same where clients are slow to send.
const HELD_BY_SENDERS: &str = "let a proxy in front take in whole requests before it passes them on, limit how long a request may take to \
                               come (client_body_timeout, RequestReadTimeout), or add workers";

/// Part of the time of a request inside a tier in which more of it has yet to come, for its client to be slow. Unit: ratio.
const SLOW_SENDER: f64 = 0.5;

/// What the threads of the processes that listen at an address did instead of taking up the next request.
pub(super) struct Workers {
    /// In a sentence.
    pub(super) text: String,
    pub(super) evidence: Vec<Evidence>,
    /// What to change instead of the rule's remedy.
    pub(super) remedy: Option<String>,
}

impl Workers {
    /// Those of the processes at the address of this scope.
    pub(super) fn of(scene: &Scene, window: &Window, scope: &str) -> Workers {
        let mut targets = scene.focus.listening_at(scope);
        targets.retain(|process| !process.is_log_reader);
        let sum = |gauge: Quantity| {
            sum_known(
                targets
                    .iter()
                    .map(|process| window.level(gauge, &process_scope(process)).map(|level| level.mean)),
            )
        };
        let threads = sum(column::PROCESS_THREADS).map(f64::round);
        let running = sum(column::PROCESS_RUNNING_THREADS);
        let blocked = sum(column::PROCESS_UNINTERRUPTIBLE_THREADS).unwrap_or(0.0);
        let mut programs: Vec<String> = targets.iter().map(|process| name(&process.command)).collect();
        let mut seen = BTreeSet::new();
        programs.retain(|program| seen.insert(program.clone()));
        let command = if programs.is_empty() { "the server".to_owned() } else { list(&programs) };
        let used = window.process_cpus(&targets);
        let busy = match threads {
            Some(1.0) => "its only thread is busy",
            _ => "all workers are busy",
        };
        let by_clients = TakenUp::at(&scene.focus, window, scope).filter(TakenUp::is_held_by_clients);
        let by_clients = by_clients.map(|_| {
            let (why, remedy) = match sends_slowly(scene, scope) {
                true => (", each held by a client that sends its request slowly", HELD_BY_SENDERS),
                false => (", each held by an idle client connection", HELD_BY_CLIENTS),
            };
            (why.to_owned(), Some(remedy.to_owned()))
        });
        let (waited_on, remedy) = by_clients.or_else(|| waited_on(scene, scope)).unwrap_or_default();
        let text = format!("{command}: {busy}{waited_on}");
        let mut found = Vec::new();
        if let (Some(threads), Some(running)) = (threads, running)
            && running <= ASLEEP.value * threads
        {
            let disk = if blocked >= 1.0 {
                format!(", and {blocked:.1} were blocked on I/O")
            } else {
                String::new()
            };
            let text = format!("{running:.1} of {} were running{disk}", counted(threads, "thread"));
            found.push(evidence(EvidenceRole::Confirmer, window, "/proc/PID/task/TID/stat", text));
        }
        if let (Some(used), Some(machine)) = (used, window.machine()) {
            let text = format!("{command} used {} of {} CPUs", cpus(used), machine.cpus);
            found.push(evidence(EvidenceRole::Confirmer, window, "/proc/PID/stat", text));
        }
        Workers { text, evidence: found, remedy }
    }
}

/// Whether requests at the tier that listens there come in pieces, for which it waits most of the time that it has them.
fn sends_slowly(scene: &Scene, scope: &str) -> bool {
    let path = path_of(&scene.focus);
    let requests = tier_at(&path, scope).and_then(|position| path[position].requests.as_ref());
    let part = requests.and_then(|requests| ratio(requests.partial_ns?, requests.inside_ns));
    part.is_some_and(|part| part >= SLOW_SENDER)
}

/// What most threads of the tier that listens there wait for: `, most waiting for mariadbd`; and what to change, if that is not
/// what it mostly is. `None`: it is not known.
fn waited_on(scene: &Scene, scope: &str) -> Option<(String, Option<String>)> {
    let path = path_of(&scene.focus);
    let position = tier_at(&path, scope)?;
    let tier = &path[position];
    let all: f64 = tier.waits.iter().map(|wait| wait.threads_count).sum();
    let is_most = |wait: &&TierWait| ratio(wait.threads_count, all).is_some_and(|part| part >= 0.5);
    let first = tier.waits.first().filter(is_most).filter(|wait| wait.kind != WaitKind::Running);
    let first = first?;
    Some(match first.on.and_then(|on| Some((on, path.get(on)?))) {
        Some((on, asked)) if in_front(&path, position).any(|front| front == on) => {
            let (asked, own) = (called(&path, asked), called(&path, tier));
            let remedy = format!(
                "do not let {own} ask {asked} for what {own} itself has to answer: call that code directly, or give such \
                 requests to another pool; more workers only raise the rate at which all of them wait for each other"
            );
            (format!(", most waiting for {asked}, which needs {own} itself to answer"), Some(remedy))
        }
        Some((_, asked)) => (format!(", most waiting for {}", called(&path, asked)), None),
        None => match Peer::of(&scene.focus, first.kind, tier, None) {
            Some(peer) => {
                let (why, remedy) = peer.told_of(&called(&path, tier));
                (format!(", most waiting for {}, {why}", peer.name()), Some(remedy))
            }
            None => {
                let remedy = (first.kind == WaitKind::Lock).then(|| {
                    format!(
                        "{}; more workers would wait for it as well",
                        super::waits::lock_remedy(&tier.name)
                    )
                });
                (format!(", most waiting for {}", super::waits::what(first.kind)), remedy)
            }
        },
    })
}

/// The tier that listens at the address of this scope, or else the one that the load reaches.
pub(super) fn tier_at(path: &[PathTier], scope: &str) -> Option<usize> {
    let address = scope.strip_prefix(ScopeKind::Listener.prefix());
    let there = path.iter().position(|tier| tier.address.is_some() && tier.address.as_deref() == address);
    there.or_else(|| path.iter().position(|tier| tier.address.is_none()))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::{TARGET, spread, with_tier};
    use sysdyno_record::analysis::{Confidence, Finding};
    use sysdyno_record::event::{ProcessRole, WatchedProcess};
    use sysdyno_record::load::LatencyKind;

    const POOL: &str = "127.0.0.1:9000";

    /// Requests queue for three workers, which wait for an address.
    fn full(asked: &str, listening: &[&str]) -> Finding {
        let case = with_tier(slow(), "php-fpm", POOL, 1, TARGET).cpu(0.05, 0.05, 0.01).server(0.05);
        let scope = format!("tier:{POOL}");
        let case = case
            .gauge("listener.queue_count", &format!("listener:{POOL}"), 20.0)
            .gauge("waits.threads_count", &scope, 3.0)
            .gauge("waits.asking_count", &format!("{scope}>{asked}"), 3.0);
        let listen = |case: crate::corpus::Specimen, address: &&str| {
            case.gauge("listener.queue_count", &format!("listener:{address}"), 0.0)
        };
        let case = listening.iter().fold(case, listen);
        conclude(case).into_iter().find(|finding| finding.id == "F04").expect("a finding")
    }

    #[test]
    fn workers_that_write_into_a_pipe_wait_for_who_reads_it() {
        let title = |is_log_reader: bool| {
            let case = slow()
                .cpu(0.05, 0.05, 0.01)
                .server(0.05)
                .gauge("waits.threads_count", "tier:target", 1.0)
                .gauge("waits.process_count", "tier:target", 1.0)
                .gauge("listener.queue_count", "listener:127.0.0.1:8080", 20.0);
            let mut case = case;
            let child = WatchedProcess::new(TARGET + 1, 1, "logship", ProcessRole::Target);
            case.watched.push(WatchedProcess { is_log_reader, ..child });
            let found = conclude(case).into_iter().find(|finding| finding.id == "F04").expect("a finding");
            found.title
        };
        let begin =
            "nginx: its only thread is busy, most waiting for logship, which takes the log from a pipe; ";
        assert!(title(true).starts_with(begin), "{}", title(true));
        let begin = "nginx and logship: its only thread is busy, most waiting for another process; ";
        assert!(title(false).starts_with(begin), "{}", title(false));
    }

    #[test]
    fn workers_that_clients_keep_are_told_from_those_that_wait_for_a_service() {
        let title = |connections: f64| {
            let listener = "listener:127.0.0.1:8080";
            let case = slow().cpu(0.05, 0.05, 0.01).server(0.05);
            let case = case
                .gauge("process.threads_count", &format!("process:{TARGET}"), 10.0)
                .gauge("waits.threads_count", "tier:target", 10.0)
                .gauge("waits.idle_count", "tier:target", 9.0)
                .gauge("waits.other_count", "tier:target", 1.0)
                .gauge("connections.established_count", listener, connections)
                .gauge("listener.queue_count", listener, 20.0);
            conclude(case).into_iter().find(|finding| finding.id == "F04").expect("a finding").title
        };
        let kept = title(30.0);
        assert!(kept.contains("busy, each held by an idle client connection; "), "{kept}");
        assert!(!title(24.0).contains("client"), "most of them have none");
    }

    #[test]
    fn a_pool_whose_threads_are_free_or_take_turns_is_not_full() {
        let confidence = |idle: f64, running: f64, [used, locked]: [f64; 2]| {
            let (listener, process) = ("listener:127.0.0.1:8080", format!("process:{TARGET}"));
            let third = |thread: u32| format!("thread:{TARGET}/{thread}");
            let case = slow().cpu(0.25, 0.05, 0.01).server(used);
            let case = case
                .counter("thread.cpu_us", &third(TARGET), used * 0.35e6)
                .counter("thread.cpu_us", &third(2), used * 0.35e6)
                .gauge("process.threads_count", &process, 10.0)
                .gauge("process.running_threads_count", &process, running)
                .gauge("waits.threads_count", "tier:target", 10.0)
                .gauge("waits.idle_count", "tier:target", idle)
                .gauge("waits.lock_count", "tier:target", locked)
                .gauge("connections.established_count", listener, 21.0)
                .gauge("listener.queue_count", listener, 20.0)
                .edit(|case| case.fill(LatencyKind::Service, spread(20_000, 12e6)));
            let found = conclude(case).into_iter().find(|finding| finding.id == "F04");
            found.expect("a finding").confidence
        };
        assert!(confidence(2.0, 0.0, [0.6, 0.0]) >= Confidence::Likely);
        assert_eq!(
            confidence(9.0, 0.0, [0.6, 0.0]),
            Confidence::Possible,
            "connections wait for another reason"
        );
        assert_eq!(confidence(2.0, 1.0, [0.6, 0.0]), Confidence::Excluded, "one thread runs at a time");
        assert_eq!(confidence(2.0, 2.5, [0.98, 4.0]), Confidence::Excluded, "others are woken for nothing");
        assert!(confidence(2.0, 2.5, [0.6, 4.0]) >= Confidence::Likely);
    }

    #[test]
    fn an_event_loop_that_leaves_requests_unread_is_no_full_pool() {
        let confidence = |idle: f64| {
            let case = slow()
                .cpu(0.05, 0.05, 0.01)
                .server(0.05)
                .gauge("waits.threads_count", "tier:target", 4.0)
                .gauge("waits.idle_count", "tier:target", idle)
                .gauge("connections.unread_count", "listener:127.0.0.1:8080", 50.0)
                .gauge("listener.queue_count", "listener:127.0.0.1:8080", 0.0)
                .edit(|case| case.set_intervals(|_| (2000.0, 100_000_000, 64)));
            conclude(case).into_iter().find(|finding| finding.id == "F04").expect("a finding").confidence
        };
        assert!(confidence(1.0) >= Confidence::Likely);
        assert_eq!(confidence(3.8), Confidence::Possible);
    }

    #[test]
    fn a_pool_that_asks_whoever_asks_it_waits_for_itself() {
        let own = full("127.0.0.1:8081", &["127.0.0.1:8081"]);
        assert!(
            own.title.contains("most waiting for nginx, which needs php-fpm itself to answer"),
            "{own:?}"
        );
        assert!(own.remedy.is_some_and(|remedy| remedy.starts_with("do not let php-fpm ask nginx")));
        let other = full("10.1.2.3:80", &[]);
        assert!(other.title.contains("most waiting for 10.1.2.3:80;"), "{other:?}");
        assert!(other.remedy.is_some_and(|remedy| remedy.starts_with("add workers")));
    }

    #[test]
    fn more_workers_do_not_help_those_that_wait_for_a_lock() {
        let scope = format!("tier:{POOL}");
        let case = with_tier(slow(), "php-fpm", POOL, 1, TARGET).cpu(0.05, 0.05, 0.01).server(0.05);
        let case = case
            .gauge("listener.queue_count", &format!("listener:{POOL}"), 20.0)
            .gauge("waits.threads_count", &scope, 3.0)
            .gauge("waits.lock_count", &scope, 3.0);
        let found = conclude(case).into_iter().find(|finding| finding.id == "F04").expect("a finding");
        let remedy = found.remedy.expect("something can be changed");
        assert!(remedy.ends_with("; more workers would wait for it as well"), "{remedy}");
    }
}
