//! Finds events that happen in the seconds in which the server stalls, and in no others.

use super::stalls::{STALLS, Stalls};
use super::{Case, ENGINE, Examination, Place, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{bytes, cpus, duration, name, percent};
use crate::readings::{Window, ratio};
use crate::threshold::{HOUSE, Threshold};
use crate::verdict::foreign_cpus;
use crate::view::TrialView;
use std::collections::BTreeSet;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::{self, CGROUP_TARGET, Quantity};
use sysdyno_record::event::{ProcessRole, WatchedProcess};

const ALIGNED: Threshold = Threshold::new(
    "share of pairs of a stall and an interval apart from stalls in which the reading is higher in the stall",
    0.95,
    "ratio",
    "house value; Mann and Whitney 1947: it is 0.5 by chance",
);
const HIGHER: Threshold =
    Threshold::new("reading in the median stall ÷ reading in the median other interval", 3.0, "ratio", HOUSE);
const LEAST_BYTES: Threshold = Threshold::new("written in the median stall, at least", 1e6, "bytes/s", HOUSE);
const LEAST_CPUS: Threshold = Threshold::new("CPU used in the median stall, at least", 0.2, "CPUs", HOUSE);

/// D07.
pub(super) const WRITES: Rule = Rule {
    id: "D07",
    name: "write-bursts",
    meaning: "A disk writes in bursts, and the server stalls in the same seconds.",
    thresholds: &[STALLS, ALIGNED, HIGHER, LEAST_BYTES],
    place: Place::Server,
    needs: &[column::DISK_WRITTEN_BYTES],
    remedy: "spread the writes: lower vm.dirty_background_bytes and the checkpoint interval of the database, or give logs \
             and data separate disks",
    counterfactual: "with evenly spread writes the server would stall as often",
    examine: Examination::By(|scene| of_stalls(scene, "Stalls do not coincide with writes", examine_writes)),
};

/// A10.
pub(super) const OWN_CPU: Rule = Rule {
    id: "A10",
    name: "cpu-bursts",
    meaning: "The server itself uses more CPU in the seconds in which it stalls: garbage collection, a cache rebuilt, a \
              periodic job.",
    thresholds: &[STALLS, ALIGNED, HIGHER, LEAST_CPUS],
    place: Place::Server,
    needs: &[column::PROCESS_CPU],
    remedy: "look at its garbage collector's log and its timers; collect concurrently or with a larger heap, and move \
             periodic jobs out of the server",
    counterfactual: "without the periodic work the server would stall as often",
    examine: Examination::By(|scene| {
        of_stalls(scene, "Stalls do not coincide with CPU bursts of the server", examine_own_cpu)
    }),
};

/// C16.
pub(super) const NEIGHBORS: Rule = Rule {
    id: "C16",
    name: "neighbor-bursts",
    meaning: "Other processes use CPU in bursts, and the server stalls in the same seconds.",
    thresholds: &[STALLS, ALIGNED, HIGHER, LEAST_CPUS],
    place: Place::Server,
    needs: &[column::CPU_IDLE],
    remedy: "find them by their period (cron, systemd timers, monitoring agents, backups); give them a lower weight \
             (CPUWeight=, nice) or other CPUs",
    counterfactual: "without these processes the server would stall as often",
    examine: Examination::By(|scene| {
        of_stalls(scene, "Stalls do not coincide with other processes", examine_neighbors)
    }),
};

/// A reading of each interval, and what it comes to in stalls and in the rest.
struct Burst {
    in_stalls: f64,
    in_rest: f64,
    is_aligned: bool,
}

impl Burst {
    /// `None`: it was not read in enough of them.
    fn of(stalls: &Stalls, view: &TrialView, read: impl Fn(&Window) -> Option<f64>) -> Option<Burst> {
        let (mut high, mut beside, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for (at, interval) in stalls.intervals.iter().enumerate() {
            let window = Window::new(view.server_series(), interval.begin_mono_ns, interval.end_mono_ns);
            let Some(value) = read(&window) else { continue };
            if stalls.is_stall[at] {
                high.push(value);
            } else if stalls.is_beside_stall(at) {
                beside.push(value);
            } else {
                rest.push(value);
            }
        }
        // Where stalls follow each other closely, there are no others.
        if rest.len() < high.len() {
            rest.extend(beside);
        }
        if (high.len() as f64) < STALLS.value || rest.len() < high.len() {
            return None;
        }
        let won = high.iter().map(|value| rest.iter().filter(|other| value > other).count()).sum::<usize>();
        let part = ratio(won as f64, (high.len() * rest.len()) as f64)?;
        let (in_stalls, in_rest) = (median(high), median(rest));
        let is_aligned = part >= ALIGNED.value && in_stalls >= HIGHER.value * in_rest;
        Some(Burst { in_stalls, in_rest, is_aligned })
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

fn per_second(window: &Window, counter: Quantity, scope: &str) -> Option<f64> {
    // Some counters are read twice a second only, so that the readings next to the interval belong to it.
    ratio(window.occurrences(counter, scope)?, window.seconds())
}

/// What the stalls of the focus, if they are clear, have in common by one of these rules.
fn of_stalls<'a>(scene: &Scene<'a>, not: &str, examine: Examine<'a>) -> Option<Case<'a>> {
    let stalls = Stalls::of(&scene.focus)?;
    if stalls.count() == 0.0 {
        let text = format!("p99 was near {} in all intervals", duration(stalls.usual_ns));
        let seen = evidence(EvidenceRole::Against, &scene.focus.steady(), ENGINE, text);
        return excluded(not, vec![seen]);
    }
    if stalls.is_clear() { examine(&scene.focus, &stalls, not) } else { None }
}

/// What a rule says of a trial with clear stalls, and the conclusion if it is not that.
type Examine<'a> = fn(&TrialView<'a>, &Stalls<'a>, &str) -> Option<Case<'a>>;

fn examine_writes<'a>(view: &TrialView<'a>, stalls: &Stalls<'a>, not: &str) -> Option<Case<'a>> {
    let window = view.server_steady();
    let written = column::DISK_WRITTEN_BYTES;
    let of_disk = |scope: &'a str| {
        let burst = Burst::of(stalls, view, |window| per_second(window, written, scope))?;
        Some((scope, burst))
    };
    let bursts: Vec<(&str, Burst)> = window.scopes(written).into_iter().filter_map(of_disk).collect();
    let (scope, burst) = bursts
        .iter()
        .max_by(|(_, a), (_, b)| a.is_aligned.cmp(&b.is_aligned).then(a.in_stalls.total_cmp(&b.in_stalls)))?;
    let text = format!(
        "{} wrote {}/s in these intervals, {}/s in the others",
        name(scope.trim_start_matches("disk:")),
        bytes(burst.in_stalls),
        bytes(burst.in_rest)
    );
    let seen = |role| seen_in(written.at(scope), evidence(role, &window, "/proc/diskstats", text.clone()));
    if !burst.is_aligned || burst.in_stalls < LEAST_BYTES.value {
        return excluded(not, vec![seen(EvidenceRole::Against)]);
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    found.extend(confirmed(stalls, view, &DISK_WAITS, |window| {
        let scopes = window.scopes(column::WAITS_DISK);
        let waiting = scopes.into_iter().filter_map(|scope| window.level(column::WAITS_DISK, scope));
        waiting.map(|level| level.mean).reduce(f64::max)
    }));
    found.extend(confirmed(stalls, view, &DISK_PRESSURE, |window| {
        per_second(window, column::CGROUP_PSI_IO, CGROUP_TARGET).map(|rate| rate / 1e6)
    }));
    Some(Case::new(format!("The server stalls while a disk writes: {text}"), found, stalls.reach(view)))
}

/// A reading that confirms: what it is, where it was read, and how its amount is written.
struct Second {
    what: &'static str,
    source: &'static str,
    say: fn(f64) -> String,
}

const DISK_WAITS: Second = Second {
    what: "threads of the server waited for a disk",
    source: "/proc/PID/task/TID/syscall",
    say: |count| format!("{count:.2}"),
};
const DISK_PRESSURE: Second = Second {
    what: "of the time some task of its group waited for a disk",
    source: "io.pressure",
    say: percent,
};
const CPU_EACH: Second =
    Second { what: "of CPU went into each answer", source: "/proc/PID/stat, load engine", say: duration };
const RUN_DELAY: Second = Second {
    what: "threads of the server waited for a CPU",
    source: "/proc/PID/task/TID/schedstat",
    say: |count| format!("{count:.2}"),
};

/// Another reading of the server that is high in the same intervals.
fn confirmed(
    stalls: &Stalls,
    view: &TrialView,
    second: &Second,
    read: impl Fn(&Window) -> Option<f64>,
) -> Option<Evidence> {
    let burst = Burst::of(stalls, view, read).filter(|burst| burst.is_aligned)?;
    let Second { what, source, say } = second;
    let text =
        format!("{} {what} in these intervals, {} in the others", say(burst.in_stalls), say(burst.in_rest));
    Some(evidence(EvidenceRole::Confirmer, &view.server_steady(), source, text))
}

fn examine_own_cpu<'a>(view: &TrialView<'a>, stalls: &Stalls<'a>, not: &str) -> Option<Case<'a>> {
    let targets = view.processes(ProcessRole::Target);
    let burst = Burst::of(stalls, view, |window| window.process_cpus(&targets))?;
    let (who, burst) = busiest(stalls, view, &targets).unwrap_or(("the server".to_owned(), burst));
    let text = used_text(&who, &burst);
    let found = of_cpu(view, "/proc/PID/stat", &text, &burst);
    if found.role == EvidenceRole::Against {
        return excluded(not, vec![found]);
    }
    let mut found = vec![found];
    // Requests that queued up need more CPU afterwards, too: work without answers is the server's own.
    let answered = |window: &Window| {
        let interval = stalls.intervals.iter().find(|one| one.begin_mono_ns == window.begin)?;
        let used = window.process_cpus(&targets)?;
        ratio(used * window.seconds() * 1e9, (interval.counts.ok as f64).max(1.0))
    };
    found.extend(confirmed(stalls, view, &CPU_EACH, answered));
    Some(Case::new(
        format!("The server stalls while it is busy with itself: {text}"),
        found,
        stalls.reach(view),
    ))
}

/// The processes of one name whose own CPU rises most in the stalls; `None`: no name's does by itself.
fn busiest(stalls: &Stalls, view: &TrialView, targets: &[&WatchedProcess]) -> Option<(String, Burst)> {
    let commands: BTreeSet<&str> = targets.iter().map(|process| process.command.as_str()).collect();
    let of = |command: &str| {
        let group: Vec<&WatchedProcess> =
            targets.iter().filter(|process| process.command == command).copied().collect();
        let burst = Burst::of(stalls, view, |window| window.process_cpus(&group))?;
        (burst.is_aligned && burst.in_stalls >= LEAST_CPUS.value).then(|| (name(command), burst))
    };
    let bursts = commands.into_iter().filter_map(of);
    bursts.max_by(|(_, one), (_, other)| {
        (one.in_stalls - one.in_rest).total_cmp(&(other.in_stalls - other.in_rest))
    })
}

fn examine_neighbors<'a>(view: &TrialView<'a>, stalls: &Stalls<'a>, not: &str) -> Option<Case<'a>> {
    let targets = view.processes(ProcessRole::Target);
    let foreign = |window: &Window| foreign_cpus(view, window).map(|cpus| cpus.max(0.0));
    let burst = Burst::of(stalls, view, foreign)?;
    let text = used_text("other processes", &burst);
    let found = of_cpu(view, "/proc/stat, /proc/PID/stat", &text, &burst);
    if found.role == EvidenceRole::Against {
        return excluded(not, vec![found]);
    }
    let mut found = vec![found];
    found.extend(confirmed(stalls, view, &RUN_DELAY, |window| window.process_run_delay(&targets)));
    Some(Case::new(format!("The server stalls while others are busy: {text}"), found, stalls.reach(view)))
}

fn used_text(who: &str, burst: &Burst) -> String {
    format!(
        "{who} used {} CPUs in these intervals, {} in the others",
        cpus(burst.in_stalls),
        cpus(burst.in_rest)
    )
}

fn of_cpu(view: &TrialView, source: &str, text: &str, burst: &Burst) -> Evidence {
    let is_it = burst.is_aligned && burst.in_stalls >= LEAST_CPUS.value;
    let role = if is_it { EvidenceRole::Mechanism } else { EvidenceRole::Against };
    evidence(role, &view.server_steady(), source, text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::tests::conclude;
    use crate::corpus::{Specimen, TARGET};
    use sysdyno_record::analysis::{Confidence, Finding};
    use sysdyno_record::load::LatencyKind;

    /// Seconds of the trial.
    const SECONDS: usize = 30;

    fn is_fifth(second: usize) -> bool {
        second % 5 == 3
    }

    /// A trial that stalls in these seconds for 400 ms.
    fn stalling(is_stall: fn(usize) -> bool) -> Specimen {
        Specimen::open(2_000.0, SECONDS as f64).edit(|case| {
            let mut times = crate::corpus::spread(54_000, 1e6);
            times.record_many(400_000_000, 6_000);
            case.fill(LatencyKind::Response, times);
            case.set_intervals(|second| (2_000.0, if is_stall(second) { 130_000_000 } else { 1_000_000 }, 2));
        })
    }

    /// A counter that grows by so much per second in the seconds of a trial, ten rows each.
    fn bursting(case: Specimen, name: &str, scope: &str, of: impl Fn(usize) -> f64) -> Specimen {
        case.edit(|case| {
            // Rows begin half a second before the trial, whose warm-up takes two.
            let mut total = 1e6;
            let values = (0..(SECONDS + 4) * 10).map(|row| {
                total += of((row / 10).saturating_sub(2).min(SECONDS)) / 10.0;
                Some(total)
            });
            let values = std::iter::repeat_n(Some(1e6), 5).chain(values).take((SECONDS + 4) * 10).collect();
            case.readings = case.readings.clone().set(name, scope, values);
        })
    }

    fn find(id: &str, case: Specimen) -> Option<Finding> {
        conclude(case).into_iter().find(|finding| finding.id == id)
    }

    fn confidence(id: &str, case: Specimen) -> Option<Confidence> {
        find(id, case).map(|finding| finding.confidence)
    }

    fn in_stalls(high: f64, low: f64) -> impl Fn(usize) -> f64 {
        move |second| if is_fifth(second) { high } else { low }
    }

    #[test]
    fn regular_stalls_are_seen_with_their_period_and_nobody_is_blamed() {
        let finding = find("A12", stalling(is_fifth)).expect("a finding");
        assert_eq!(finding.confidence, Confidence::Possible);
        assert!(
            finding.title.contains("in 6 of 30 intervals, one every 5 s, p99 was 390 ms"),
            "{}",
            finding.title
        );
        let irregular =
            find("A12", stalling(|second| [2, 3, 9, 20, 22].contains(&second))).expect("a finding");
        assert!(!irregular.title.contains("one every"), "{}", irregular.title);
        let often = find("A12", stalling(|second| second % 3 == 1)).expect("a finding");
        assert!(often.title.contains("in 10 of 30 intervals, one every 3 s"), "{}", often.title);
    }

    #[test]
    fn a_server_that_is_always_slow_or_never_does_not_stall() {
        assert_eq!(confidence("A12", stalling(|_| false)), None);
        assert_eq!(confidence("A12", stalling(|_| true)), None);
        assert_eq!(confidence("A12", stalling(|second| second % 2 == 0)), None);
        assert_eq!(confidence("A12", stalling(|second| second == 7)), None, "once is an accident");
    }

    #[test]
    fn writes_in_the_same_seconds_need_the_servers_own_wait_to_be_the_cause() {
        let writing =
            |of: &dyn Fn(usize) -> f64| bursting(stalling(is_fifth), "disk.written_bytes", "disk:sda", of);
        assert_eq!(confidence("D07", writing(&in_stalls(80e6, 1e5))), Some(Confidence::Possible));
        assert_eq!(
            confidence("D07", writing(&|_| 80e6)),
            Some(Confidence::Excluded),
            "it writes all the time"
        );
        let elsewhere = |second: usize| if second % 5 == 1 { 80e6 } else { 1e5 };
        assert_eq!(confidence("D07", writing(&elsewhere)), Some(Confidence::Excluded), "at other times");
        assert_eq!(
            confidence("D07", writing(&in_stalls(8e5, 1e5))),
            Some(Confidence::Excluded),
            "too little"
        );
        let waiting = writing(&in_stalls(80e6, 1e5));
        let waiting = bursting(waiting, "cgroup.psi_io_some_us", "cgroup:target", in_stalls(6e5, 1e3));
        let finding = find("D07", waiting).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        assert!(finding.title.starts_with("The server stalls while a disk writes: sda wrote"), "{finding:?}");
    }

    #[test]
    fn work_of_its_own_shows_in_the_servers_cpu_and_a_neighbors_in_the_rest() {
        let process = format!("process:{TARGET}");
        let collecting = bursting(stalling(is_fifth), "process.cpu_us", &process, in_stalls(9e5, 1e5));
        assert!(confidence("A10", collecting.clone()) >= Some(Confidence::Likely));
        assert_eq!(confidence("C16", collecting), Some(Confidence::Excluded), "the kernel counted no more");
        let backup = |case: Specimen| {
            let case = bursting(case, "cpu.user_us", "cpu:0", in_stalls(9e5, 1e5));
            bursting(case, "cpu.idle_us", "cpu:0", in_stalls(5e4, 8e5))
        };
        assert_eq!(confidence("C16", backup(stalling(is_fifth))), Some(Confidence::Possible), "did it wait?");
        let waiting = bursting(stalling(is_fifth), "process.run_delay_us", &process, in_stalls(5e5, 1e3));
        assert!(confidence("C16", backup(waiting)) >= Some(Confidence::Likely));
        assert_eq!(confidence("A10", backup(stalling(is_fifth))), Some(Confidence::Excluded));
    }

    #[test]
    fn a_burst_that_reaches_into_the_next_second_is_one_burst() {
        let process = format!("process:{TARGET}");
        let of = |second: usize| if matches!(second % 5, 3 | 4) { 4e5 } else { 2e4 };
        let collecting = bursting(stalling(is_fifth), "process.cpu_us", &process, of);
        assert!(confidence("A10", collecting) >= Some(Confidence::Likely));
    }

    #[test]
    fn bursts_that_leave_no_interval_apart_from_them_are_seen_and_their_process_is_named() {
        let process = format!("process:{TARGET}");
        let is_third = |second: usize| second % 3 == 1;
        let of = move |second: usize| if is_third(second) { 4e5 } else { 2e4 };
        let found = find("A10", bursting(stalling(is_third), "process.cpu_us", &process, of));
        let found = found.expect("a finding");
        assert!(found.confidence >= Confidence::Likely, "{found:?}");
        assert!(found.title.contains(": nginx used 0.40 CPUs in these intervals"), "{}", found.title);
    }
}
