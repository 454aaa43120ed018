//! Requests that wait for something other than CPU (a lock, a disk, a timer, another service), in the tier where they wait.
//!
//! The census of threads counts how many of them wait for what while they have a request; Little's law turns these counts
//! into times (`path`). A worker that waits also delays the requests in its own queue and in the tiers before it, so the
//! time in these queues belongs to whatever the workers wait for. The last tier that waits for no other tier therefore has
//! the cause; the ones before it only pass it on.

use super::effect::{NoticedEffect, Slow};
use super::neighbors::MOVED_LEAST;
use super::peer::Peer;
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{cpus, duration, name, percent, rate};
use crate::path::{called, in_front, path_of, scope_of};
use crate::readings::{Window, ratio};
use crate::threshold::{HOUSE, Threshold};
use crate::verdict::own_busy_ratio;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::{self, HOST};
use sysdyno_record::event::ProcessRole;
use sysdyno_record::path::{GaugeRange, PathTier, TierWait, WaitKind};
use sysdyno_record::plan::Objective;

pub(super) const WAITED: Threshold =
    Threshold::new("share of a request's time that it waits for this, queues included", 0.5, "ratio", HOUSE);
pub(super) const CPU_IDLE: Threshold =
    Threshold::new("idle share of the CPUs that confirms that they are not waited for", 0.30, "ratio", HOUSE);
const IO_PRESSURE: Threshold =
    Threshold::new("share of time in which some task waited for a disk (PSI)", 0.20, "ratio", HOUSE);
pub(super) const AT_LOCK: Threshold = Threshold::new(
    "threads with a request that wait for a lock, on average, to be named",
    0.5,
    "count",
    HOUSE,
);
const HOLDER_AT_DISK: Threshold = Threshold::new(
    "threads that wait for a disk, on average, for those that wait for a lock beside them to wait for its holder at the disk",
    0.8,
    "count",
    HOUSE,
);
pub(super) const ASKED: Threshold = Threshold::new(
    "requests at a time at the next tier, for a limit of them to be what the others are held for",
    0.9,
    "count",
    HOUSE,
);
/// Queues that come of a wait are told from this part of a request's time on.
const QUEUED_RATIO: f64 = 0.1;
const DISK_BUSY: Threshold =
    Threshold::new("share of time in which a disk that is waited for is busy", 0.05, "ratio", HOUSE);
const THRESHOLDS: &[Threshold] =
    &[WAITED, CPU_IDLE, IO_PRESSURE, HOLDER_AT_DISK, DISK_BUSY, ASKED, MOVED_LEAST];

/// F07.
pub(super) const LOCK: Rule = Rule {
    id: "F07",
    name: "lock-wait",
    meaning: "Threads of the server wait for each other: for a lock, or a row that another transaction changes.",
    thresholds: THRESHOLDS,
    place: Place::Server,
    needs: &[column::WAITS_LOCK],
    remedy: "find who holds the lock (for a database, its list of transactions), hold it for a shorter time, or \
             split what it protects",
    counterfactual: "with half as many requests at a time each would take as long",
    examine: Examination::By(|scene| examine(scene, WaitKind::Lock)),
};

/// F16.
pub(super) const PROCESS: Rule = Rule {
    id: "F16",
    name: "process-wait",
    meaning: "Threads of the server wait for another process: a program that they started, one at the other end of a pipe, or \
              one that has to allow each access to a file (a virus scanner).",
    thresholds: THRESHOLDS,
    place: Place::Server,
    needs: &[column::WAITS_PROCESS],
    remedy: "do that work in the server, keep the program running (FastCGI instead of CGI), or find out what the program \
             itself waits for; leave the server's files out of a virus scan",
    counterfactual: "without that program the responses would take as long",
    examine: Examination::By(|scene| examine(scene, WaitKind::Process)),
};

/// D03.
pub(super) const DISK: Rule = Rule {
    id: "D03",
    name: "disk-wait",
    meaning: "Threads of the server wait for a disk: for reads, or for writes and journals to be on it.",
    thresholds: THRESHOLDS,
    place: Place::Server,
    needs: &[column::WAITS_DISK],
    remedy: "fewer or larger writes and fewer fsyncs (group commit), a larger cache, or a faster disk; lift a limit \
             on I/O if there is one",
    counterfactual: "on a faster disk the responses would take as long",
    examine: Examination::By(|scene| examine(scene, WaitKind::Disk)),
};

/// F13.
pub(super) const SLEEP: Rule = Rule {
    id: "F13",
    name: "sleep",
    meaning: "Threads of the server sleep for a fixed time while they have a request.",
    thresholds: THRESHOLDS,
    place: Place::Server,
    needs: &[column::WAITS_TIMER],
    remedy: "find the sleep (a retry, a poll, a throttle) and wait for the event instead",
    counterfactual: "without the sleep the responses would take as long",
    examine: Examination::By(|scene| examine(scene, WaitKind::Timer)),
};

/// What the tiers wait for, of one kind.
struct Wait<'a> {
    tier: &'a PathTier,
    time_ns: f64,
    /// In queues that come of it, and at locks.
    queued_ns: f64,
    /// At locks whose holder waits so.
    locked_ns: f64,
    /// Of a request's time, queues that come of it included.
    share: f64,
    /// The address that is waited for most, where it is one that could not be looked into.
    outside: Option<&'a str>,
}

/// What the threads of the tiers wait for, of one kind.
pub(super) fn examine<'a>(scene: &Scene<'a>, kind: WaitKind) -> Option<Case<'a>> {
    let view = &scene.focus;
    let window = view.server_steady();
    let path = path_of(view);
    let mean_ns = view.request_mean_ns()?;
    let waits = (0..path.len()).filter_map(|position| wait(&path, position, kind, mean_ns));
    let worst = waits.max_by(|a, b| a.share.total_cmp(&b.share));
    let peer = worst.as_ref().and_then(|wait| Peer::of(view, kind, wait.tier, wait.outside));
    let what = peer.as_ref().map_or_else(|| what(kind).to_owned(), Peer::name);
    let worst = worst.filter(|wait| kind != WaitKind::Lock || !is_holder_at_disk(wait.tier));
    let Some(worst) = worst else {
        // Where no thread could be looked at, nothing is excluded.
        path.iter().find(|tier| tier.serving_count.is_some())?;
        let text = match path.iter().find(|tier| kind == WaitKind::Lock && is_holder_at_disk(tier)) {
            Some(tier) => format!("who holds the lock in {} waits for a disk", called(&path, tier)),
            None => format!("no thread with a request was seen waiting for {what}"),
        };
        let against = evidence(EvidenceRole::Against, &window, SOURCE, text);
        return excluded(&format!("Requests do not wait for {what}"), vec![against]);
    };
    let waited_ns = worst.time_ns.min(mean_ns);
    let mut text = format!(
        "{} waits for {what} {} of a request's {}",
        called(&path, worst.tier),
        duration(waited_ns),
        duration(mean_ns)
    );
    let locked_ns = worst.locked_ns.min(mean_ns - waited_ns);
    if locked_ns > 0.0 {
        text.push_str(&format!(", and for a lock whose holder waits for it {}", duration(locked_ns)));
    }
    let queued_ns = (worst.queued_ns - locked_ns).min(mean_ns - waited_ns - locked_ns);
    if queued_ns >= QUEUED_RATIO * mean_ns {
        text.push_str(&format!(", and requests queue behind that for {}", duration(queued_ns)));
    }
    let column = match &peer {
        Some(Peer::Outside(address)) => {
            column::WAITS_ASKING.at(&format!("{}>{address}", scope_of(worst.tier)))
        }
        Some(Peer::LogReader(_)) | None => column_of(kind, worst.tier),
    };
    let seen = |role| seen_in(column.clone(), evidence(role, &window, SOURCE, text.clone()));
    if worst.share < WAITED.value || !is_slow(scene, mean_ns) {
        return excluded(
            &format!("Waiting for {what} is not the bottleneck"),
            vec![seen(EvidenceRole::Against)],
        );
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    found.extend(cpus_left(scene, &window));
    found.extend((kind == WaitKind::Disk).then(|| disk_evidence(&window)).into_iter().flatten());
    let reach = Reach { slow: Slow::Share(worst.share), ..Reach::used_up(view, worst.share) };
    let case = Case::new(format!("Requests wait for {what}: {text}"), found, reach);
    let case = match kind {
        WaitKind::Lock => at_lock(scene, case, &path, worst.tier),
        WaitKind::Disk if is_no_disk_busy(&window) => beside_idle_disks(case, &text),
        _ => case,
    };
    Some(match &peer {
        Some(peer) => peer.told(case, (&path, worst.tier), &text, &window),
        None => case,
    })
}

/// Whether every disk rests for nearly all the time; it is also what a file system that another host has looks like.
fn is_no_disk_busy(window: &Window) -> bool {
    let busy = |scope: &str| Some(window.growth(column::DISK_IO, scope)?.per_second()? / 1e3);
    let mut known = window.scopes(column::DISK_IO).into_iter().filter_map(busy).peekable();
    known.peek().is_some() && known.all(|busy| busy < DISK_BUSY.value)
}

/// A wait for a file system whose disk does nothing.
fn beside_idle_disks<'a>(case: Case<'a>, text: &str) -> Case<'a> {
    let title = format!("Requests wait for a file system, while no disk is busy: {text}");
    let remedy = "check for a frozen file system (fsfreeze, a snapshot), a limit on I/O (blkio, io.max), or a file system over the \
                  network or in user space (NFS, FUSE), and find out what that waits for";
    Case { title, remedy: Some(remedy.to_owned()), ..case }
}

/// What is told of a lock, and of what may be one: who waits for a free connection to the next tier waits in the same way.
fn at_lock<'a>(scene: &Scene, case: Case<'a>, path: &[PathTier], tier: &PathTier) -> Case<'a> {
    let remedy = lock_remedy(&tier.name);
    let others = scene.focus.processes(ProcessRole::Foreign);
    if let Some(holder) = others.into_iter().find(|process| process.holds_lock) {
        let (command, pid) = (name(&holder.command), holder.pid);
        let title = format!(
            "{}; '{command}' (process {pid}), which is not part of the server, holds a file lock that the server waits for",
            case.title
        );
        let remedy = format!(
            "let '{command}' hold its lock for a shorter time, or run it when there is less load; else {remedy}"
        );
        return Case { title, remedy: Some(remedy), ..case };
    }
    let Some((asked, count)) = asked_at_a_time(scene, tier, path) else {
        return Case { remedy: Some(remedy), ..case };
    };
    let asked = called(path, asked);
    let title = format!("{}, while {count:.1} at a time are at {asked}", case.title);
    let remedy = format!(
        "if {} has a pool of that many connections to {asked}, enlarge it or return them sooner; else {remedy}",
        called(path, tier)
    );
    Case { title, remedy: Some(remedy), ..case }
}

/// Where most of the requests are that the tier has passed on, and how many of them at a time, by Little's law.
pub(super) fn asked_at_a_time<'a>(
    scene: &Scene,
    tier: &PathTier,
    path: &'a [PathTier],
) -> Option<(&'a PathTier, f64)> {
    let asked = tier.requests.as_ref()?.asked.first()?;
    let count = scene.focus.measured().achieved_hz * asked.waiting_ns / 1e9;
    (count >= ASKED.value).then_some((path.get(asked.on)?, count))
}

/// What to change where threads of a program wait for a lock.
pub(super) fn lock_remedy(program: &str) -> String {
    let is_any = |names: &[&str]| names.iter().any(|name| program.starts_with(name));
    let first = match () {
        () if program.starts_with("php") => {
            "if requests share a session, end it early (session_write_close), since PHP locks its file for the whole script"
        }
        () if is_any(ONE_AT_A_TIME) => {
            "if its threads compute, run more processes, since the interpreter runs one thread of a process at a time"
        }
        () => return LOCK.remedy.to_owned(),
    };
    format!("{first}; else {}", LOCK.remedy)
}

/// Programs whose interpreter has a lock for all of its threads.
const ONE_AT_A_TIME: &[&str] = &["python", "gunicorn", "uwsgi", "ruby", "puma"];

/// Whether responses are too slow at all, or come as fast as they can.
pub(super) fn is_slow(scene: &Scene, mean_ns: f64) -> bool {
    let view = &scene.focus;
    !view.is_open() || NoticedEffect::of(scene).is_some() || mean_ns > Objective::default().limit.0 as f64
}

const SOURCE: &str = "/proc/PID/task/TID/syscall, Little's law";

/// What threads wait for, as a noun.
pub(crate) fn what(kind: WaitKind) -> &'static str {
    match kind {
        WaitKind::Running => "a CPU",
        WaitKind::Lock => "a lock",
        WaitKind::Process => "another process",
        WaitKind::Disk => "a disk",
        WaitKind::Timer => "a timer",
        WaitKind::Stopped => "a signal to go on",
        WaitKind::Asking => "the next tier",
        WaitKind::Network => "a service that was not looked into",
        WaitKind::Other => "something else",
    }
}

fn column_of(kind: WaitKind, tier: &PathTier) -> String {
    let gauge = match kind {
        WaitKind::Running => column::WAITS_RUNNING,
        WaitKind::Lock => column::WAITS_LOCK,
        WaitKind::Process => column::WAITS_PROCESS,
        WaitKind::Disk => column::WAITS_DISK,
        WaitKind::Timer => column::WAITS_TIMER,
        WaitKind::Stopped => column::WAITS_STOPPED,
        WaitKind::Asking => column::WAITS_ASKING,
        WaitKind::Network => column::WAITS_NETWORK,
        WaitKind::Other => column::WAITS_OTHER,
    };
    gauge.at(&scope_of(tier))
}

/// The wait of one tier, with the part of its own queue and of the queues before it that comes of it.
fn wait<'a>(path: &'a [PathTier], position: usize, kind: WaitKind, mean_ns: f64) -> Option<Wait<'a>> {
    let tier = &path[position];
    let time = |wait: &TierWait| wait.time_ns.unwrap_or(0.0);
    let outside = |wait: &TierWait| {
        let at = wait.on.and_then(|on| path.get(on)).filter(|at| at.is_outside && kind == WaitKind::Network);
        at.and_then(|at| at.address.as_deref())
    };
    let of_kind = || tier.waits.iter().filter(|wait| wait.kind == kind || outside(wait).is_some());
    let time_ns: f64 = of_kind().map(time).sum();
    let is_holders = kind == WaitKind::Disk && is_holder_at_disk(tier);
    let locked = tier.waits.iter().filter(|wait| is_holders && wait.kind == WaitKind::Lock);
    let locked_ns: f64 = locked.map(time).sum();
    let queued = std::iter::once(position).chain(in_front(path, position)).filter_map(|position| {
        let tier = path.get(position)?;
        let busy_ns: f64 = tier.waits.iter().map(time).sum();
        let part = ratio(time_ns + locked_ns, busy_ns).unwrap_or(0.0).min(1.0);
        Some(part * queue_ns(tier))
    });
    let caused_ns = time_ns + locked_ns + queued.sum::<f64>();
    let share = ratio(caused_ns, mean_ns)?.min(1.0);
    let queued_ns = caused_ns - time_ns;
    // The longest is the first.
    let outside = of_kind().next().and_then(outside);
    (time_ns > 0.0).then_some(Wait { tier, time_ns, queued_ns, locked_ns, share, outside })
}

/// Whether a thread of a tier is at a disk nearly all the time, and more of them wait for a lock: it holds the lock (a log that
/// is written by one for all).
fn is_holder_at_disk(tier: &PathTier) -> bool {
    let at_disk = tier.threads_at(WaitKind::Disk);
    at_disk >= HOLDER_AT_DISK.value && tier.threads_at(WaitKind::Lock) > at_disk
}

/// The time of a request in front of a tier: to be accepted and, where the load is sent to it, to be read.
fn queue_ns(tier: &PathTier) -> f64 {
    let mean = |range: Option<GaugeRange>| range.map_or(0.0, |range| range.mean);
    let unread = mean(tier.unread.filter(|_| tier.address.is_none()));
    // By Little's law, one that waits all the time is this much of each request's.
    let each_ns = tier.waits.iter().find_map(|wait| ratio(wait.time_ns?, wait.threads_count));
    (mean(tier.queue) + unread) * each_ns.unwrap_or(0.0)
}

/// That CPUs were idle meanwhile, or were not.
pub(super) fn cpus_left(scene: &Scene, window: &Window) -> Option<Evidence> {
    let machine = window.machine()?;
    let own = own_busy_ratio(&scene.focus, window).unwrap_or(machine.busy_ratio);
    let used = window.process_cpus(&scene.focus.processes(ProcessRole::Target))?;
    let role = if 1.0 - own >= CPU_IDLE.value { EvidenceRole::Confirmer } else { EvidenceRole::Against };
    let text = format!("the server used {} of {} CPUs", cpus(used), machine.cpus);
    Some(evidence(role, window, "/proc/PID/stat", text))
}

/// What the disks and the kernel say of it.
fn disk_evidence(window: &Window) -> Vec<Evidence> {
    let per_second =
        |counter, scope: &str| window.growth(counter, scope).and_then(|growth| growth.per_second());
    let mut found = Vec::new();
    let pressure = per_second(column::PSI_IO_SOME, HOST).map(|rate| rate / 1e6);
    if let Some(share) = pressure.filter(|share| *share >= IO_PRESSURE.value) {
        let text = format!("some task waited for a disk {} of the time", percent(share));
        let seen = evidence(EvidenceRole::Confirmer, window, "/proc/pressure/io", text);
        found.push(seen_in(column::PSI_IO_SOME.at(HOST), seen));
    }
    let busy = |scope: &&str| per_second(column::DISK_IO, scope).unwrap_or(0.0);
    let busiest = window.scopes(column::DISK_IO).into_iter().max_by(|a, b| busy(a).total_cmp(&busy(b)));
    if let Some(scope) = busiest.filter(|scope| busy(scope) > 0.0) {
        let hz = |counter| rate(per_second(counter, scope).unwrap_or(0.0));
        let text = format!(
            "{} was busy {} of the time: {} reads/s, {} writes/s, {} flushes/s",
            name(scope.trim_start_matches("disk:")),
            percent((busy(&scope) / 1e3).min(1.0)),
            hz(column::DISK_READS),
            hz(column::DISK_WRITES),
            hz(column::DISK_FLUSHES)
        );
        let seen = evidence(EvidenceRole::Confirmer, window, "/proc/diskstats", text);
        found.push(seen_in(column::DISK_IO.at(scope), seen));
    }
    found
}

#[cfg(test)]
mod tests;
