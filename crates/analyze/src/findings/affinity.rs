//! A server that may use only some of the CPUs and has saturated them.

use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{counted, name, percent};
use crate::readings::{CpuShare, ratio};
use crate::threshold::{HOUSE, Threshold};
use std::collections::BTreeSet;
use sysdyno_record::analysis::EvidenceRole;
use sysdyno_record::column;
use sysdyno_record::event::ProcessRole;

const FULL: Threshold =
    Threshold::new("busy share of the CPUs that the server may use", 0.90, "ratio", HOUSE);
const OTHERS_IDLE: Threshold =
    Threshold::new("busy share of the CPUs that it may not use, at most", 0.60, "ratio", HOUSE);
const WAITED: Threshold = Threshold::new(
    "time that server threads waited for a CPU ÷ time that they were runnable",
    0.10,
    "ratio",
    HOUSE,
);
const OWN: Threshold = Threshold::new("CPU of the server ÷ CPUs that it may use", 0.60, "ratio", HOUSE);

const NOT: &str = "The server may use enough CPUs";

/// C04.
pub(super) const NARROW: Rule = Rule {
    id: "C04",
    name: "affinity-too-narrow",
    meaning: "The server may run on some CPUs only (taskset, CPUAffinity=, a cpuset), and these are full while others are idle.",
    thresholds: &[FULL, OTHERS_IDLE, WAITED, OWN],
    place: Place::Server,
    needs: &[column::CPU_IDLE],
    remedy: "let the server use more CPUs: process.PID.cpus, CPUAffinity= of its unit, or the cpuset of its container",
    counterfactual: "on all CPUs the rate would be the same",
    examine: Examination::By(examine),
};

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let window = scene.focus.server_steady();
    let all = window.cpus();
    if all.is_empty() {
        return None;
    }
    let targets = scene.focus.processes(ProcessRole::Target);
    let narrow = targets.iter().filter_map(|process| {
        let cpus = process.cpus.as_ref().filter(|cpus| !cpus.is_empty() && cpus.len() < all.len())?;
        Some((*process, cpus))
    });
    let used = |cpus: &[u32]| {
        let numbers: BTreeSet<String> = cpus.iter().map(u32::to_string).collect();
        let (own, rest): (Vec<&CpuShare>, Vec<&CpuShare>) =
            all.iter().partition(|cpu| numbers.contains(cpu.number()));
        (mean(&own), mean(&rest), own.first().map_or(String::new(), |cpu| cpu.scope.clone()))
    };
    let judged = narrow.map(|(process, cpus)| (process, cpus, used(cpus)));
    let Some((process, cpus, (own, rest, scope))) = judged.max_by(|a, b| a.2.0.total_cmp(&b.2.0)) else {
        let text = "no process of the server is known to be bound to some of the CPUs".to_owned();
        let against = evidence(EvidenceRole::Against, &window, "sched_getaffinity", text);
        return excluded(NOT, if targets.is_empty() { vec![] } else { vec![against] });
    };
    let text = format!(
        "{} may use {} of {}, which {} {} busy; the others were {} busy",
        name(&process.command),
        cpus.len(),
        counted(all.len() as f64, "CPU"),
        if cpus.len() == 1 { "was" } else { "were" },
        percent(own),
        percent(rest)
    );
    let seen = |role, text: String| {
        seen_in(column::CPU_IDLE.at(&scope), evidence(role, &window, "sched_getaffinity, /proc/stat", text))
    };
    if own < FULL.value || rest > OTHERS_IDLE.value {
        return excluded(NOT, vec![seen(EvidenceRole::Against, text)]);
    }
    let mut found = vec![seen(EvidenceRole::Mechanism, text.clone())];
    let waited = window.run_delay_ratio(&targets).filter(|share| *share >= WAITED.value);
    found.extend(waited.map(|share| {
        let text = format!("its threads waited for a CPU {} of the time that they could run", percent(share));
        evidence(EvidenceRole::Confirmer, &window, "/proc/PID/task/TID/schedstat", text)
    }));
    let ran = window.process_cpus(&targets);
    let part = ran.and_then(|ran| ratio(ran, cpus.len() as f64)).filter(|part| *part >= OWN.value);
    found.extend(part.map(|part| {
        let text = format!("it used {} of them itself", percent(part.min(1.0)));
        evidence(EvidenceRole::Confirmer, &window, "/proc/PID/stat", text)
    }));
    let reach = Reach::used_up(&scene.focus, 1.0);
    Some(Case::new(format!("The server may use too few CPUs: {text}"), found, reach))
}

fn mean(cpus: &[&CpuShare]) -> f64 {
    cpus.iter().map(|cpu| cpu.busy_ratio).sum::<f64>() / cpus.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::{Specimen, TARGET};
    use sysdyno_record::analysis::Confidence;

    /// One of two CPUs is this busy, the other that.
    fn on_one(case: Specimen, own: f64, other: f64) -> Specimen {
        let cpu = |case: Specimen, scope: &str, busy: f64| {
            case.counter("cpu.user_us", scope, busy * 1e6).counter("cpu.idle_us", scope, (1.0 - busy) * 1e6)
        };
        cpu(cpu(case.cpu(0.0, 0.0, 0.0), "cpu:0", own), "cpu:1", other).server(own)
    }

    fn confidence(case: Specimen) -> Option<Confidence> {
        conclude(case).into_iter().find(|finding| finding.id == "C04").map(|finding| finding.confidence)
    }

    fn bound(case: Specimen) -> Specimen {
        case.edit(|case| {
            let server = case.watched.iter_mut().find(|process| process.pid == TARGET).expect("is there");
            server.cpus = Some(vec![0]);
        })
    }

    #[test]
    fn a_full_cpu_is_its_bounds_fault_only_if_another_is_free_and_forbidden() {
        assert!(confidence(bound(on_one(slow(), 0.98, 0.2))) >= Some(Confidence::Likely));
        assert_eq!(confidence(bound(on_one(slow(), 0.98, 0.9))), Some(Confidence::Excluded), "none is free");
        assert_eq!(confidence(bound(on_one(slow(), 0.5, 0.2))), Some(Confidence::Excluded), "it is not full");
        assert_eq!(confidence(on_one(slow(), 0.98, 0.2)), Some(Confidence::Excluded), "it may use both");
    }
}
