//! Worker pool full: requests wait in the server's sockets while its workers wait for something other than CPU.

use super::effect::waiting_in_sockets;
use super::taken_up::{EACH, FREE, IDLE, QUEUED, TakenUp, idle_ratio};
use super::workers::{ALL_WAIT, ASLEEP, Workers, tier_at};
use super::{Case, ENGINE, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in, turns};
use crate::capacity::FLAT_SERVICE;
use crate::format::{counted, name, percent, whole};
use crate::path::{listener_name, path_of};
use crate::readings::{ThreadShare, Window, process_scope, ratio, sum_known};
use crate::threshold::{HOUSE, Threshold};
use crate::verdict::{own_busy_ratio, standstill_seconds};
use crate::view::TrialView;
use std::cmp::Ordering;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::{self, Quantity};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::load::LatencyKind;

const UNREAD_SHARE: Threshold = Threshold::new(
    "connections with a request that the server has not yet read ÷ requests in flight",
    0.25,
    "ratio",
    HOUSE,
);
const IN_FLIGHT: Threshold = Threshold::new("requests in flight, for waiting to matter", 4.0, "count", HOUSE);
const LASTING: Threshold = Threshold::new(
    "share of readings with a queue, so that short bursts do not count",
    0.50,
    "ratio",
    "house value: one burst or pause per second shows up in a few of ten readings",
);
const MACHINE_IDLE: Threshold = Threshold::new(
    "share of all CPUs that server, generator, and interrupts use, at most",
    0.70,
    "ratio",
    HOUSE,
);
const THREAD_IDLE: Threshold =
    Threshold::new("CPU that any server thread used or waited for, at most", 0.95, "ratio of a CPU", HOUSE);
const DOMINANT: Threshold = Threshold::new(
    "CPU of one thread, for the others to wait for what it does",
    0.4,
    "ratio of a CPU",
    HOUSE,
);
const DOMINATED: Threshold =
    Threshold::new("CPU of the next busiest thread ÷ that of the busiest, at most", 0.2, "ratio", HOUSE);
const STARVED: Threshold = Threshold::new(
    "CPU time that the server waited for ÷ waited for and used, to be short of CPU",
    0.5,
    "ratio",
    HOUSE,
);
const CROWDED: Threshold = Threshold::new(
    "the same where all CPUs are in use and the threads are awake, so that they run when others let them",
    0.25,
    "ratio",
    HOUSE,
);
const AWAKE: Threshold = Threshold::new(
    "share of server threads that use or wait for a CPU, to explain the queue",
    0.25,
    "ratio",
    HOUSE,
);
const MACHINE_FULL: Threshold = Threshold::new(
    "share of all CPUs in use, at which threads that are short of CPU explain the queue, however few they are",
    0.95,
    "ratio",
    HOUSE,
);
const MOST_WAIT: Threshold = Threshold::new(
    "the same where connections wait to be accepted, so that no thread that may is free: a master serves nothing",
    0.6,
    "ratio",
    HOUSE,
);

/// F04.
pub(super) const POOL_FULL: Rule = Rule {
    id: "F04",
    name: "worker-pool-full",
    meaning: "All workers of the server are busy waiting, without using CPU, and requests queue for a free \
              one.",
    thresholds: &[
        UNREAD_SHARE,
        IN_FLIGHT,
        QUEUED,
        LASTING,
        MACHINE_IDLE,
        THREAD_IDLE,
        DOMINANT,
        DOMINATED,
        STARVED,
        CROWDED,
        AWAKE,
        MACHINE_FULL,
        ALL_WAIT,
        MOST_WAIT,
        ASLEEP,
        IDLE,
        FREE,
        EACH[0],
        EACH[1],
    ],
    place: Place::Server,
    needs: &[column::CONNECTIONS_UNREAD, column::LISTENER_QUEUE],
    remedy: "add workers, or shorten what they wait for (a database, another service, a sleep)",
    counterfactual: "doubling the workers would not raise the capacity",
    examine: Examination::By(examine_pool),
};

/// The queue just above the capacity comes and goes, and a short trial may read it while it is gone: there, a trial at a
/// higher rate in which requests wait says that the pool is full, too.
fn examine_pool<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let at_focus = examine_trial(scene);
    let shows_it =
        |case: &Case<'a>| case.evidence.iter().all(|evidence| evidence.role != EvidenceRole::Against);
    if at_focus.as_ref().is_none_or(shows_it) {
        return at_focus;
    }
    let offered = |view: &TrialView| view.measured().offered_hz;
    let mut beyond: Vec<&TrialView<'a>> =
        scene.trials.iter().filter(|view| offered(view) > offered(&scene.focus)).collect();
    beyond.sort_by(|a, b| offered(a).partial_cmp(&offered(b)).unwrap_or(Ordering::Equal));
    let at = |view: &TrialView<'a>| examine_trial(&Scene { focus: *view, ..*scene }).filter(shows_it);
    beyond.into_iter().find_map(at).or(at_focus)
}

fn examine_trial<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let window = scene.focus.server_steady();
    let not_full = "The worker pool is not the bottleneck";
    if let Some(against) = super::stopped::against(scene).or_else(|| busy_cpus(scene, &window)) {
        return excluded(not_full, vec![against]);
    }
    let in_flight = scene.focus.in_flight_mean().unwrap_or(0.0);
    let waiting = waiting(scene, &window, in_flight);
    let (shown, against): (Vec<_>, Vec<_>) =
        waiting.into_iter().partition(|(_, evidence)| evidence.role == EvidenceRole::Mechanism);
    let depth = |(scope, _): &(&str, Evidence)| {
        let first = scene.focus.listening_at(scope).first().and_then(|process| process.tier.as_ref());
        first.map_or(0, |tier| tier.depth)
    };
    // Where a tier waits for the next one, it is full as well: the last one is the cause.
    let Some(scope) = shown.iter().max_by_key(|waiting| depth(waiting)).map(|(scope, _)| *scope) else {
        return excluded(not_full, against.into_iter().map(|(_, evidence)| evidence).collect());
    };
    let of_scope = shown.into_iter().filter(|(other, _)| *other == scope);
    let mut found: Vec<Evidence> = of_scope.map(|(_, evidence)| evidence).collect();
    let workers = Workers::of(scene, &window, scope);
    found.extend(workers.evidence);
    found.extend(stood_still(scene, &window));
    found.extend(dominated(scene, &window, scope));
    found.extend(free(scene, &window, scope));
    let reason = found.first().map_or(String::new(), |evidence| format!("; {}", evidence.text));
    let title = format!("{}{reason}", workers.text);
    let reach = Reach::used_up(&scene.focus, waited_part(scene, &window, scope));
    let case = Case { shown_by: Some(scene.focus), ..Case::new(title, found, reach) };
    Some(Case { remedy: workers.remedy.or(case.remedy), ..case })
}

/// That one thread works and the others hardly do, as where it collects the garbage of all, or hands out all work: they wait for it.
fn dominated(scene: &Scene, window: &Window, scope: &str) -> Option<Evidence> {
    let threads = window.threads(&scene.focus.listening_at(scope));
    let [first, rest @ ..] = &threads[..] else { return None };
    let next = rest.first()?.wanted_ratio();
    let text = format!(
        "one thread used {} of a CPU, and each of the others at most {}",
        percent(first.busy_ratio),
        percent(next)
    );
    let dominates = first.busy_ratio >= DOMINANT.value && next <= first.busy_ratio * DOMINATED.value;
    dominates.then(|| {
        let seen = evidence(EvidenceRole::Against, window, "/proc/PID/task/TID/schedstat", text);
        seen_in(first.column.clone(), seen)
    })
}

/// That threads are free, and leave connections waiting, or requests on connections that they have accepted.
fn free(scene: &Scene, window: &Window, scope: &str) -> Option<Evidence> {
    let text = match TakenUp::at(&scene.focus, window, scope) {
        Some(waiting) if waiting.is_paced() => {
            format!("its threads are idle, with {:.1} connections open", waiting.accepted)
        }
        Some(_) => return None,
        None => {
            let idle = idle_ratio(&scene.focus, window, scope).filter(|idle| *idle >= IDLE.value)?;
            format!("its threads waited for something to do {} of the time", percent(idle))
        }
    };
    Some(evidence(EvidenceRole::Against, window, "/proc/PID/task/TID/syscall", text))
}

/// A server that answers nothing for a while has stopped as a whole: full workers go on answering.
fn stood_still(scene: &Scene, window: &Window) -> Option<Evidence> {
    let seconds = standstill_seconds(&scene.focus);
    let text =
        format!("no request was answered for {seconds:.1} s: the whole server stalled, not just its workers");
    (seconds > 0.0).then(|| evidence(EvidenceRole::Against, window, ENGINE, text))
}

/// The part of the slowness that the wait for a worker can have made. By Little's law the requests that wait are to those in flight
/// as their wait is to the service time, and the service time without a wait is that of the lowest load.
fn waited_part(scene: &Scene, window: &Window, scope: &str) -> f64 {
    let waiting = waiting_in_sockets(&scene.focus, window).unwrap_or(0.0);
    if let Some(behind) = behind_workers(scene, window, scope) {
        return behind.max(waiting).min(1.0);
    }
    let mean = |view: &TrialView| view.summary(LatencyKind::Service).mean;
    let alone = scene.base.as_ref().and_then(mean).zip(mean(&scene.focus));
    // Where it has hardly grown, the time went elsewhere.
    let grown = alone.and_then(|(alone, now)| ratio(now, alone)).filter(|times| *times > FLAT_SERVICE.value);
    let grown = grown.map(|times| 1.0 - 1.0 / times);
    ratio(waiting, grown.unwrap_or(1.0)).unwrap_or(0.0).min(1.0)
}

/// The part of a request's time at the tier that listens there, whose workers wait all the time: what is not waited for is queued
/// behind it, in its sockets or read already. `None`: they do not, or nobody saw it.
fn behind_workers(scene: &Scene, window: &Window, scope: &str) -> Option<f64> {
    let view = &scene.focus;
    let path = path_of(view);
    let tier = &path[tier_at(&path, scope)?];
    let requests = tier.requests.as_ref()?;
    let mean_ns = view.request_mean_ns()?;
    let queue = window.level(column::LISTENER_QUEUE, scope).filter(|queue| queue.mean >= QUEUED.value);
    let needed = if queue.is_some() { MOST_WAIT } else { ALL_WAIT };
    (tier.waiting_ratio()? >= needed.value)
        .then(|| ratio(requests.unread_ns + requests.inside_ns, mean_ns))?
}

/// CPU that explains the waiting without a pool.
fn busy_cpus(scene: &Scene, window: &Window) -> Option<Evidence> {
    let against = |source: &str, text: String| Some(evidence(EvidenceRole::Against, window, source, text));
    let busy = own_busy_ratio(&scene.focus, window).filter(|busy| *busy > MACHINE_IDLE.value);
    if let Some(busy) = busy {
        return against("/proc/stat", format!("this load kept the CPUs {} busy", percent(busy)));
    }
    if let Some(text) = starved(scene, window) {
        return against("/proc/PID/task/TID/schedstat", text);
    }
    let targets = scene.focus.processes(ProcessRole::Target);
    let is_spread = |process: &&&WatchedProcess| {
        let busiest = window.threads(&[process]).first().map(ThreadShare::wanted_ratio);
        busiest.is_none_or(|wanted| wanted < DOMINANT.value)
    };
    let turns = targets.iter().filter(is_spread).find_map(|process| turns::in_turns(scene, window, process));
    if let Some(turns) = turns {
        return Some(Evidence { role: EvidenceRole::Against, ..turns });
    }
    let threads = window.threads(&targets);
    let full = threads.iter().find(|thread| thread.wanted_ratio() >= THREAD_IDLE.value)?;
    let text = format!(
        "a server thread used {} of a CPU and waited for it {} of the time",
        percent(full.busy_ratio),
        percent(full.run_delay_ratio.unwrap_or(0.0))
    );
    against("/proc/PID/task/TID/schedstat", text)
}

/// That the threads are awake, and others have the CPUs.
fn starved(scene: &Scene, window: &Window) -> Option<String> {
    let targets = scene.focus.processes(ProcessRole::Target);
    let waited = window.process_run_delay(&targets)?;
    let wanted = waited + window.process_cpus(&targets)?;
    let share = ratio(waited, wanted)?;
    let threads = sum_known(targets.iter().map(|process| {
        window.level(column::PROCESS_THREADS, &process_scope(process)).map(|level| level.mean)
    }))?;
    let is_full = window.machine().is_some_and(|machine| machine.busy_ratio >= MACHINE_FULL.value);
    let is_awake = wanted >= AWAKE.value * threads;
    let is_starved = share >= STARVED.value && (is_full || is_awake);
    let is_crowded = share >= CROWDED.value && is_full && is_awake;
    (is_starved || is_crowded)
        .then(|| format!("server threads that could run waited for a CPU {} of the time", percent(share)))
}

/// Requests that wait in sockets, as mechanism; sockets in which none waits, as contradiction.
fn waiting<'a>(scene: &Scene<'a>, window: &Window<'a>, in_flight: f64) -> Vec<(&'a str, Evidence)> {
    let mut found = Vec::new();
    for scope in window.scopes(column::CONNECTIONS_UNREAD) {
        let Some(unread) = window.level(column::CONNECTIONS_UNREAD, scope) else { continue };
        // A worker that has one connection may leave the end of a request unread until it has answered.
        if scene.focus.listening_at(scope).iter().any(|process| process.tier.is_some()) {
            continue;
        }
        let is_waiting = in_flight >= IN_FLIGHT.value && unread.mean >= UNREAD_SHARE.value * in_flight;
        let role = if is_waiting && unread.present_ratio >= LASTING.value {
            EvidenceRole::Mechanism
        } else {
            EvidenceRole::Against
        };
        let text = format!(
            "{} unread in the server's sockets, {} in flight",
            counted(unread.mean.round(), "request"),
            whole(in_flight)
        );
        let column = column::CONNECTIONS_UNREAD.at(scope);
        let evidence = evidence(role, window, "sock_diag, idiag_rqueue of ESTABLISHED sockets", text);
        found.push((scope, seen_in(column, evidence)));
    }
    for scope in window.scopes(column::LISTENER_QUEUE) {
        let Some(queue) = window.level(column::LISTENER_QUEUE, scope) else { continue };
        let is_waiting = queue.mean >= QUEUED.value && queue.present_ratio >= LASTING.value;
        let role = if is_waiting { EvidenceRole::Mechanism } else { EvidenceRole::Against };
        let text =
            format!("{:.1} connections waiting in the accept queue of {}", queue.mean, listener_name(scope));
        let column = column::LISTENER_QUEUE.at(scope);
        let evidence = evidence(role, window, "sock_diag, idiag_rqueue of LISTEN sockets", text);
        found.push((scope, seen_in(column, evidence)));
    }
    found
}

/// That requests wait while CPUs are idle, as times the least number that is a sign; and the same in a sentence. Without a load of
/// ours, nobody knows how many requests there are: waiting ones have to be there in most readings.
pub(super) fn queue_sign(view: &TrialView) -> Option<(f64, String)> {
    let window = view.server_steady();
    let machine = window.machine().filter(|machine| machine.busy_ratio <= MACHINE_IDLE.value)?;
    let threads = window.threads(&view.processes(ProcessRole::Target));
    if threads.iter().any(|thread| thread.wanted_ratio() >= THREAD_IDLE.value) {
        return None;
    }
    let waiting = |gauge: Quantity, what: &'static str| {
        let scopes = window.scopes(gauge).into_iter();
        let lasting = scopes.filter_map(|scope| Some((scope, window.level(gauge, scope)?)));
        lasting
            .filter(|(_, level)| level.mean >= QUEUED.value && level.present_ratio >= LASTING.value)
            .map(move |(scope, level)| (scope, level.mean, what))
            .collect::<Vec<_>>()
    };
    let mut seen = waiting(column::LISTENER_QUEUE, "connection");
    let is_first = |scope: &str| view.listening_at(scope).iter().all(|process| process.tier.is_none());
    seen.extend(
        waiting(column::CONNECTIONS_UNREAD, "request").into_iter().filter(|(scope, ..)| is_first(scope)),
    );
    let (scope, mean, what) = seen.into_iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let owner = view.listening_at(scope).first().map(|process| format!("{}, ", name(&process.command)));
    let title = format!(
        "{}{}: {} wait for a worker, while the CPUs are {} busy",
        owner.unwrap_or_default(),
        listener_name(scope),
        counted(mean.round(), what),
        percent(machine.busy_ratio)
    );
    Some((mean / QUEUED.value, title))
}
