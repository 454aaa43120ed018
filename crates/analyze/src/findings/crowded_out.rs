//! A server that waits for a CPU because other processes have them all: a batch job beside it, a neighbor with a larger share.

use super::cpu::MACHINE_BUSY;
use super::run_queue::{CpuWait, DELAYED, OFTEN, WAITED};
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{cpus, percent};
use crate::readings::{Window, process_scope, ratio};
use crate::threshold::{HOUSE, Threshold};
use crate::verdict::{foreign_cpus, named_others};
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column;
use sysdyno_record::event::{ProcessRole, WatchedProcess};

const OTHERS: Threshold =
    Threshold::new("share of other processes in the busy time of the CPUs, at least", 0.5, "ratio", HOUSE);
const THROTTLED: Threshold =
    Threshold::new("share of quota periods in which the server was throttled, at most", 0.05, "ratio", HOUSE);

/// C17.
pub(super) const RULE: Rule = Rule {
    id: "C17",
    name: "crowded-out",
    meaning: "Other processes have the CPUs, and threads of the server that could run wait for one.",
    thresholds: &[WAITED, DELAYED, OFTEN, MACHINE_BUSY, OTHERS, THROTTLED],
    place: Place::Server,
    needs: &[column::PROCESS_RUN_DELAY, column::CPU_IDLE],
    remedy: "move the other processes to other CPUs (cpuset, AllowedCPUs=) or hosts, or give the server a larger share than theirs \
             (CPUWeight=, cpu.shares, nice); if they work for the service, add them with --watch-pid",
    counterfactual: "without the other processes the responses would take as long",
    examine: Examination::By(examine),
};

const SOURCE: &str = "/proc/PID/task/TID/schedstat, /proc/stat";

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let window = view.server_steady();
    let machine = window.machine()?;
    let targets = view.processes(ProcessRole::Target);
    let wait = CpuWait::of(view, &window)?;
    let others = foreign_cpus(view, &window)?;
    let part = ratio(others, machine.busy_ratio * machine.cpus as f64)?;
    let text = format!(
        "threads of the server that could run waited for a CPU {} of the time, and other processes used {} of {} CPUs",
        percent(wait.share),
        cpus(others.max(0.0)),
        machine.cpus
    );
    let column = column::PROCESS_RUN_DELAY.at(&process_scope(targets.first()?));
    let seen = |role| seen_in(column.clone(), evidence(role, &window, SOURCE, text.clone()));
    let busy = wait.busy.unwrap_or(machine.busy_ratio);
    let is_full = busy >= MACHINE_BUSY.value && machine.busy_ratio >= MACHINE_BUSY.value;
    if !wait.is_long() || !is_full || part < OTHERS.value || wait.throttled > THROTTLED.value {
        return excluded("Other processes leave the server its CPUs", vec![seen(EvidenceRole::Against)]);
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    let who = named_others(view, &window);
    let named = evidence(EvidenceRole::Confirmer, &window, "/proc/PID/stat", who.clone());
    found.extend((!who.is_empty()).then_some(named));
    let who = if who.is_empty() { who } else { format!(" ({who})") };
    let title = format!("Other processes have the CPUs: {text}{who}");
    Some(Case::new(title, found, Reach::used_up(view, wait.delayed)))
}

/// That threads of these processes wait for a CPU longer than they run: what they leave undone is not for another reason.
pub(super) fn against(window: &Window, processes: &[&WatchedProcess]) -> Option<Evidence> {
    let share = window.run_delay_ratio(processes).filter(|share| *share >= WAITED.value)?;
    window.process_run_delay(processes).filter(|waiting| *waiting >= OFTEN.value)?;
    let text = format!("its threads that could run waited for a CPU {} of the time", percent(share));
    Some(evidence(EvidenceRole::Against, window, SOURCE, text))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::TARGET;
    use sysdyno_record::analysis::{Confidence, Finding};
    use sysdyno_record::event::{ProcessRole, WatchedProcess};

    const BATCH: u32 = TARGET + 50;

    /// A server that uses a little of two busy CPUs and waits for them for so much of the time, beside a batch job or not.
    fn find(delay: f64, batch: f64) -> Option<Finding> {
        let used = if batch > 0.0 { 0.1 } else { 1.6 };
        let mut case = slow().cpu(0.9, 0.08, 0.0).server(used).generator(0.1);
        case = case.counter("process.run_delay_us", &format!("process:{TARGET}"), delay * 1e6);
        case = case.counter("thread.run_delay_us", &format!("thread:{TARGET}/{TARGET}"), delay * 1e6);
        case = case.counter("process.cpu_us", &format!("process:{BATCH}"), batch * 1e6);
        case.watched.push(WatchedProcess::new(BATCH, 1, "xz", ProcessRole::Foreign));
        conclude(case).into_iter().find(|finding| finding.id == "C17")
    }

    #[test]
    fn a_server_that_others_leave_no_cpu_is_crowded_out() {
        let finding = find(0.8, 1.7).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        assert!(
            finding.title.starts_with("Other processes have the CPUs: threads of the server"),
            "{finding:?}"
        );
        assert!(finding.title.contains("'xz' (process "), "{finding:?}");
        let confidence = |found: Option<Finding>| found.map(|finding| finding.confidence);
        assert_eq!(confidence(find(0.05, 1.7)), Some(Confidence::Excluded), "it hardly waits");
        assert_eq!(confidence(find(0.8, 0.0)), Some(Confidence::Excluded), "it has the CPUs itself");
    }
}
