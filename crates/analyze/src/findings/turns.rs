//! Threads of one process that run one at a time: an interpreter with one lock around all code (Python, Ruby), or a lock in which a
//! program does most of its work.
//!
//! Such a process uses one CPU and never more, however many threads have requests, and no thread of it is busy all the time.
//! A quota of one CPU looks the same to the counters of CPU time, but many of its threads are ready to run; one that runs, and others
//! that wait for a lock, tell the difference. Where others use the CPUs too, the one that runs waits for a CPU in between.

use super::cpu::{MACHINE_BUSY, left_for_another};
use super::waits::AT_LOCK;
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{cpus, name, percent};
use crate::path::{address_text, path_of};
use crate::readings::{Window, process_scope};
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column;
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::path::WaitKind;

const USED: Threshold =
    Threshold::new("CPU that the process used on average, at least", 0.90, "ratio of a CPU", HOUSE);
const NEVER_MORE: Threshold =
    Threshold::new("CPU that it used in any half second, at most", 1.10, "ratio of a CPU", HOUSE);
const USED_LOCKED: Threshold = Threshold::new(
    "the same where others of its threads wait for a lock meanwhile",
    0.75,
    "ratio of a CPU",
    HOUSE,
);
const USED_SHARED: Threshold = Threshold::new(
    "the same where one of its threads is always running or ready to run",
    0.50,
    "ratio of a CPU",
    HOUSE,
);
const RUNNING: [Threshold; 2] = [
    Threshold::new(
        "threads of the process that run or are ready to, on average, to be one, at least",
        0.85,
        "count",
        HOUSE,
    ),
    Threshold::new(
        "threads of the process that run or are ready to, on average, to be one, at most",
        1.30,
        "count",
        HOUSE,
    ),
];
const SPREAD: Threshold =
    Threshold::new("CPU that its busiest thread used, at most", 0.80, "ratio of a CPU", HOUSE);

/// F17.
pub(super) const RULE: Rule = Rule {
    id: "F17",
    name: "one-at-a-time",
    meaning: "Of the threads of a server process only one runs at a time, while the others wait for a lock and other CPUs \
              are idle.",
    thresholds: &[
        USED,
        NEVER_MORE,
        USED_LOCKED,
        USED_SHARED,
        RUNNING[0],
        RUNNING[1],
        SPREAD,
        AT_LOCK,
        MACHINE_BUSY,
    ],
    place: Place::Server,
    needs: &[column::PROCESS_CPU, column::PROCESS_THREADS],
    remedy: "run several processes instead of more threads (Python and Ruby run one thread at a time), or do the work outside of \
             the lock",
    counterfactual: "a second process would not raise the rate",
    examine: Examination::By(examine),
};

/// What is measured for itself. Unit: seconds.
const PIECE_S: f64 = 0.5;

/// Fewer pieces say nothing of what is never exceeded.
const PIECES_MIN: usize = 4;

const SOURCE: &str = "/proc/PID/stat";

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let window = scene.focus.server_steady();
    let processes = scene.focus.processes(ProcessRole::Target);
    let is_of_many = |process: &&&WatchedProcess| {
        let threads = window.level(column::PROCESS_THREADS, &process_scope(process));
        threads.is_some_and(|threads| threads.mean >= 2.0)
    };
    let used = |process: &WatchedProcess| window.process_cpus(&[process]).unwrap_or(0.0);
    let many = processes.iter().filter(is_of_many).max_by(|one, other| used(one).total_cmp(&used(other)));
    let process = *many.or(processes.first())?;
    let (used, is_of_many) = (used(process), many.is_some());
    let who = called(process);
    let seen = |role, text: String| {
        seen_in(column::PROCESS_CPU.at(&process_scope(process)), evidence(role, &window, SOURCE, text))
    };
    let against =
        |text: String| excluded("Threads do not run one at a time", vec![seen(EvidenceRole::Against, text)]);
    if !is_of_many {
        window.level(column::PROCESS_THREADS, &process_scope(process))?;
        return against("no process of the server has several threads".to_owned());
    }
    let turns = one_is_ready(&window, process);
    let locked = at_lock(scene, &window, process);
    let is_held = locked.as_ref().is_some_and(|seen| seen.role == EvidenceRole::Confirmer);
    let least = if is_held { USED_LOCKED } else { USED };
    if used < least.value && turns.is_none() {
        return against(format!("{who} has several threads and used {} CPUs", cpus(used)));
    }
    let most = most_used(&window, process)?;
    if most > NEVER_MORE.value {
        return against(format!("threads of {who} used {} CPUs at a time", cpus(most)));
    }
    let busiest = window.threads(&[process]).first().map_or(0.0, |thread| thread.busy_ratio);
    if busiest > SPREAD.value {
        return against(format!("one thread of {who} used {} of a CPU", percent(busiest)));
    }
    let text = one_cpu(process, used, most);
    let mut found = vec![seen(EvidenceRole::Mechanism, text.clone())];
    // Who is ready to run and has not the lock yet need not wait for it.
    found.extend(locked.filter(|_| is_held || turns.is_none()));
    found.extend(turns);
    found.extend(left_for_another(&window).filter(|seen| seen.role == EvidenceRole::Against));
    let title = format!("Threads run one at a time: {text}; its busiest thread used {}", percent(busiest));
    Some(Case::new(title, found, Reach::used_up(&scene.focus, 1.0)))
}

fn called(process: &WatchedProcess) -> String {
    format!("{} (process {})", name(&process.command), process.pid)
}

fn one_cpu(process: &WatchedProcess, used: f64, most: f64) -> String {
    format!("{} used {} CPUs, and at most {} in any half second", called(process), cpus(used), cpus(most))
}

/// That the threads of a process run one at a time: by those that are ready to run, or by the CPU that they use while others wait for
/// a lock, since those may be woken again and again to see that it is taken.
pub(super) fn in_turns(scene: &Scene, window: &Window, process: &WatchedProcess) -> Option<Evidence> {
    let by_lock = || {
        window
            .level(column::PROCESS_THREADS, &process_scope(process))
            .filter(|threads| threads.mean >= 2.0)?;
        let used = window.process_cpus(&[process]).filter(|used| *used >= USED_LOCKED.value)?;
        let most = most_used(window, process).filter(|most| *most <= NEVER_MORE.value)?;
        let locked = at_lock(scene, window, process).filter(|seen| seen.role == EvidenceRole::Confirmer)?;
        let text = format!("{}; {}", one_cpu(process, used, most), locked.text);
        Some(evidence(EvidenceRole::Confirmer, window, SOURCE, text))
    };
    one_is_ready(window, process).or_else(by_lock)
}

/// That one thread of a process of many is always running or ready to run, and hardly ever two.
fn one_is_ready(window: &Window, process: &WatchedProcess) -> Option<Evidence> {
    let scope = process_scope(process);
    let used = window.process_cpus(&[process])?;
    let running = window.level(column::PROCESS_RUNNING_THREADS, &scope)?.mean;
    let threads = window.level(column::PROCESS_THREADS, &scope)?.mean;
    let [least, most] = RUNNING.map(|limit| limit.value);
    let is_one = threads >= 2.0 && used >= USED_SHARED.value && (least..=most).contains(&running);
    let text = format!(
        "{running:.1} of {threads:.0} threads of {} were running or ready to run",
        name(&process.command)
    );
    is_one.then(|| {
        let seen = evidence(EvidenceRole::Confirmer, window, "/proc/PID/task/TID/stat", text);
        seen_in(column::PROCESS_RUNNING_THREADS.at(&scope), seen)
    })
}

/// The most CPU that a process used in any piece of the window; `None`: it was read too rarely.
fn most_used(window: &Window, process: &WatchedProcess) -> Option<f64> {
    let scope = process_scope(process);
    let pieces = window.pieces(column::PROCESS_CPU, &scope, PIECE_S);
    let used = pieces.iter().filter_map(|piece| piece.process_cpus(&[process]));
    let used: Vec<f64> = used.collect();
    (used.len() >= PIECES_MIN).then(|| used.into_iter().fold(0.0, f64::max))
}

/// That threads with a request wait for a lock, or hardly any do.
fn at_lock(scene: &Scene, window: &Window, process: &WatchedProcess) -> Option<Evidence> {
    let address = process.tier.as_ref().map(|tier| address_text(&tier.address));
    let path = path_of(&scene.focus);
    let tier = path.iter().find(|tier| tier.address == address && tier.serving_count.is_some())?;
    let waiting = tier.threads_at(WaitKind::Lock);
    let role = match waiting >= AT_LOCK.value {
        true => EvidenceRole::Confirmer,
        false => EvidenceRole::Against,
    };
    let text = format!("{waiting:.1} threads with a request waited for a lock, on average");
    Some(evidence(role, window, "/proc/PID/task/TID/syscall", text))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::{Specimen, TARGET};
    use sysdyno_record::analysis::{Confidence, Finding};

    /// A server of many threads that uses so much CPU, half of it by one thread, while so many threads wait for a lock.
    fn threaded(used: f64, locked: f64) -> Specimen {
        let process = format!("process:{TARGET}");
        slow()
            .cpu(0.4, 0.1, 0.01)
            .server(used)
            .gauge("process.threads_count", &process, 30.0)
            .counter("thread.cpu_us", &format!("thread:{TARGET}/{TARGET}"), used * 0.5e6)
            .counter("thread.cpu_us", &format!("thread:{TARGET}/2"), used * 0.5e6)
            .gauge("waits.threads_count", "tier:target", 10.0)
            .gauge("waits.lock_count", "tier:target", locked)
    }

    fn find(case: Specimen) -> Option<Finding> {
        conclude(case).into_iter().find(|finding| finding.id == "F17")
    }

    #[test]
    fn one_cpu_for_many_threads_that_wait_for_a_lock_is_named() {
        let confidence = |used, locked| find(threaded(used, locked)).map(|finding| finding.confidence);
        assert_eq!(confidence(0.98, 4.0), Some(Confidence::Likely));
        assert_eq!(confidence(0.98, 0.0), Some(Confidence::Possible), "it may be a quota");
        assert_eq!(confidence(0.8, 4.0), Some(Confidence::Likely), "the others had the CPU for a while");
        assert_eq!(confidence(0.8, 0.0), Some(Confidence::Excluded));
        assert_eq!(confidence(0.7, 4.0), Some(Confidence::Excluded));
        assert_eq!(confidence(1.6, 4.0), Some(Confidence::Excluded));
        let full = threaded(0.98, 4.0).cpu(0.8, 0.15, 0.02);
        assert_eq!(
            find(full).map(|finding| finding.confidence),
            Some(Confidence::Possible),
            "no CPU is left"
        );
        let shared = |running| {
            let case = threaded(0.7, 0.0).gauge(
                "process.running_threads_count",
                &format!("process:{TARGET}"),
                running,
            );
            find(case).map(|finding| finding.confidence)
        };
        assert_eq!(shared(1.0), Some(Confidence::Likely), "others have the CPU in between");
        assert_eq!(shared(3.0), Some(Confidence::Excluded), "several could run");
        let single = find(slow().server(0.98)).map(|finding| finding.confidence);
        assert_eq!(single, Some(Confidence::Excluded), "it has one thread");
    }
}
