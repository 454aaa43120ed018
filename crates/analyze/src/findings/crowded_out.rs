//! A server that waits for a CPU because other processes have them all: a batch job beside it, a neighbor with a larger share.

use super::cpu::{MACHINE_BUSY, OTHERS_MOST};
use super::run_queue::{CpuWait, DELAYED, OFTEN, THROTTLED, WAITED};
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{cpus, percent};
use crate::readings::{process_scope, ratio};
use crate::verdict::{foreign_cpus, named_others};
use sysdyno_record::analysis::EvidenceRole;
use sysdyno_record::column;
use sysdyno_record::event::ProcessRole;

/// C17.
pub(super) const RULE: Rule = Rule {
    id: "C17",
    name: "crowded-out",
    meaning: "Other processes have the CPUs, and threads of the server that could run wait for one.",
    thresholds: &[WAITED, DELAYED, OFTEN, MACHINE_BUSY, OTHERS_MOST, THROTTLED],
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
    let is_full = machine.busy_ratio >= MACHINE_BUSY.value;
    if !wait.is_long() || !is_full || part < OTHERS_MOST.value || wait.throttled > THROTTLED.value {
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

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::{Specimen, TARGET};
    use sysdyno_record::analysis::{Confidence, Finding};
    use sysdyno_record::column::CGROUP_TARGET;
    use sysdyno_record::event::{ProcessRole, WatchedProcess};

    const BATCH: u32 = TARGET + 50;

    /// A server that uses a little of two busy CPUs and waits for them for so much of the time, beside a batch job or not.
    fn crowded(delay: f64, batch: f64) -> Specimen {
        let used = if batch > 0.0 { 0.1 } else { 1.6 };
        let mut case = slow().cpu(0.9, 0.08, 0.0).server(used).generator(0.1);
        case = case.counter("process.run_delay_us", &format!("process:{TARGET}"), delay * 1e6);
        case = case.counter("thread.run_delay_us", &format!("thread:{TARGET}/{TARGET}"), delay * 1e6);
        case = case.counter("process.cpu_us", &format!("process:{BATCH}"), batch * 1e6);
        case.watched.push(WatchedProcess::new(BATCH, 1, "xz", ProcessRole::Foreign));
        case
    }

    fn find(case: Specimen) -> Option<Finding> {
        conclude(case).into_iter().find(|finding| finding.id == "C17")
    }

    #[test]
    fn a_server_that_others_leave_no_cpu_is_crowded_out() {
        let finding = find(crowded(0.8, 1.7)).expect("a finding");
        assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
        assert!(
            finding.title.starts_with("Other processes have the CPUs: threads of the server"),
            "{finding:?}"
        );
        assert!(finding.title.contains("'xz' (process "), "{finding:?}");
        let confidence = |found: Option<Finding>| found.map(|finding| finding.confidence);
        assert_eq!(confidence(find(crowded(0.05, 1.7))), Some(Confidence::Excluded), "it hardly waits");
        assert_eq!(confidence(find(crowded(0.8, 0.0))), Some(Confidence::Excluded), "it has the CPUs itself");
        let quota = crowded(0.8, 1.7).counter("cgroup.periods_count", CGROUP_TARGET, 10.0);
        let quota = quota.counter("cgroup.throttled_count", CGROUP_TARGET, 5.0);
        assert_eq!(confidence(find(quota)), Some(Confidence::Excluded), "its own quota stops it");
    }
}
