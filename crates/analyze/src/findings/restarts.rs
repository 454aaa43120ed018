//! Processes of the server that end while they have requests: a crash, a kill, a supervisor that loses patience.
//!
//! Processes that come and go are no trouble by themselves: programs that serve one request each (CGI), workers with a limit,
//! pools that follow the load. What tells the difference is requests that lost their connection, or found nobody.

use super::effect::Slow;
use super::gateway::bad_gateways;
use super::signs::ENDS;
use super::{Case, ENGINE, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{counted, list, name};
use crate::readings::process_scope;
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use std::collections::BTreeMap;
use sysdyno_record::analysis::EvidenceRole;
use sysdyno_record::column;
use sysdyno_record::event::{ProcessRole, WatchedProcess};

// Less than one: processes of the whole trial are counted, and failures of its measured phases.
const LOST: Threshold = Threshold::new(
    "requests that lost their connection or found nobody, for each process that ended",
    0.5,
    "count",
    HOUSE,
);

/// F08.
pub(super) const RULE: Rule = Rule {
    id: "F08",
    name: "restarts",
    meaning: "Processes of the server ended while they had requests, most times to be started again.",
    thresholds: &[LOST],
    place: Place::Server,
    needs: &[column::PROCESS_CPU, column::PROCESS_THREADS],
    remedy: "find out what ends them: the kernel's log (segfault, out of memory), the supervisor's, a limit on time or \
             requests per worker, or a reload",
    counterfactual: "as many requests would fail with processes that stay",
    examine: Examination::By(examine),
};

const SOURCE: &str = "/proc/PID/stat";

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let window = view.server_whole();
    let targets = view.processes(ProcessRole::Target);
    let scope = |process: &WatchedProcess| process_scope(process);
    if !targets.iter().any(|process| window.level(column::PROCESS_THREADS, &scope(process)).is_some()) {
        return None;
    }
    let mut ended = view.leavers();
    ended.retain(|process| !is_program(process, view));
    let seen = |role, text: String| evidence(role, &window, SOURCE, text);
    let Some(first) = ended.first() else {
        let text = "no process of the server was seen to end".to_owned();
        return excluded("The server's processes stay", vec![seen(EvidenceRole::Against, text)]);
    };
    let begun = view.newcomers().count();
    let text = format!("{} ended, and {begun} began", list(&names(&ended)));
    let column = column::PROCESS_CPU.at(&scope(first));
    let mut found = vec![seen_in(column, seen(EvidenceRole::Mechanism, text.clone()))];
    let failures = view.failures_of(ENDS) as f64 + bad_gateways(view);
    if failures >= LOST.value * ended.len() as f64 {
        let text = format!("{} lost the connection or found nobody", counted(failures, "request"));
        found.push(evidence(EvidenceRole::Confirmer, &window, ENGINE, text));
    }
    let slow = Slow::Delayed { count: failures, most_ns: f64::INFINITY };
    let title = match (ended.len(), begun) {
        (1, _) => format!("A process of the server ended: {text}"),
        (_, 0) => format!("Processes of the server end: {text}"),
        _ => format!("Processes of the server end and are started again: {text}"),
    };
    Some(Case::new(title, found, Reach { failures, slow, events: None }))
}

/// Whether a process of the server started this one for a request, as another program than it is itself: that comes and goes. A
/// worker that is started again is what its parent is.
fn is_program(process: &WatchedProcess, view: &TrialView<'_>) -> bool {
    let is_parent = |other: &&WatchedProcess| Some(other.pid) == process.parent_pid;
    let parent = view.processes(ProcessRole::Target).into_iter().find(is_parent);
    parent.is_some_and(|parent| parent.command != process.command)
        && view.newcomers().any(|new| new.pid == process.pid)
}

/// How many of each program ended.
fn names(ended: &[&WatchedProcess]) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    ended.iter().for_each(|process| *counts.entry(name(&process.command)).or_default() += 1);
    counts.into_iter().map(|(name, count)| format!("{count} of {name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::conclude;
    use crate::corpus::{BEGIN, Specimen, TARGET, WARMUP, at};
    use sysdyno_record::analysis::{Confidence, Finding};
    use sysdyno_record::event::{Event, EventKind, ProcessRole, WatchedProcess};
    use sysdyno_record::load::FailureClass;

    /// A server with two workers, of which one dies and is replaced.
    fn replaced(lost: u64) -> Specimen {
        let worker =
            |pid| WatchedProcess { pid, ..WatchedProcess::new(pid, 99, "nginx", ProcessRole::Target) };
        Specimen::open(2000.0, 10.0).server(0.4).fail(FailureClass::Reset, lost).edit(|case| {
            let scope = format!("process:{}", TARGET + 1);
            case.readings = case.readings.clone().dying("process.cpu_us", &scope, 1e5);
            let event = EventKind::Watched(worker(TARGET + 2));
            case.watched.extend([worker(TARGET + 1), worker(TARGET + 2)]);
            case.events.push(Event { mono_ns: at(BEGIN + WARMUP + 3.0), event });
        })
    }

    fn find(case: Specimen) -> Option<Finding> {
        conclude(case).into_iter().find(|finding| finding.id == "F08")
    }

    /// A server that starts a program, which ends.
    fn programs(command: &str) -> Specimen {
        Specimen::open(2000.0, 10.0).server(0.4).fail(FailureClass::Reset, 900).edit(|case| {
            let scope = format!("process:{}", TARGET + 1);
            case.readings = case.readings.clone().dying("process.cpu_us", &scope, 1e5);
            let program = WatchedProcess {
                parent_pid: Some(TARGET),
                ..WatchedProcess::new(TARGET + 1, 99, command, ProcessRole::Target)
            };
            let event = EventKind::Watched(program.clone());
            case.watched.push(program);
            case.events.push(Event { mono_ns: at(BEGIN + WARMUP + 3.0), event });
        })
    }

    #[test]
    fn programs_that_the_server_starts_for_requests_come_and_go() {
        let of = |command: &str| find(programs(command)).expect("a finding").confidence;
        assert_eq!(of("convert"), Confidence::Excluded);
        assert!(of("nginx") >= Confidence::Likely, "a worker that began and ended");
    }

    #[test]
    fn workers_that_die_with_requests_are_named_and_others_come_and_go() {
        let finding = find(replaced(900)).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        assert!(finding.title.ends_with("1 of nginx ended, and 1 began"), "{}", finding.title);
        let unharmed = find(replaced(0)).expect("a finding");
        assert_eq!(unharmed.confidence, Confidence::Excluded, "{unharmed:?}");
        let stays = find(Specimen::open(2000.0, 10.0).server(0.4)).expect("a finding");
        assert_eq!(
            (stays.confidence, stays.title.as_str()),
            (Confidence::Excluded, "The server's processes stay")
        );
    }
}
