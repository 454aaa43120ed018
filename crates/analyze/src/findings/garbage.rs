//! Java virtual machines that stop their program to collect garbage.
//!
//! They count that themselves. Each pause stops all threads, so that requests which come meanwhile wait for its end, and others queue
//! behind these; where pauses take a large part of the time, they are what the CPU time goes to.

use super::effect::{NoticedEffect, Slow};
use super::{Case, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in};
use crate::format::{counted, cpus, duration, name, percent};
use crate::readings::{Window, process_scope, ratio};
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column;
use sysdyno_record::event::{ProcessRole, WatchedProcess};

const OFTEN: Threshold = Threshold::new(
    "share of the time that collections stop a virtual machine for, to be a bottleneck by itself",
    0.3,
    "ratio",
    HOUSE,
);
const NOW_AND_THEN: Threshold = Threshold::new(
    "share of the time that collections stop a virtual machine for, to delay requests",
    0.02,
    "ratio",
    HOUSE,
);
/// The CPU time of a virtual machine that confirms its pauses, at least: that of one thread that collects. Unit: ratio.
const AT_WORK: f64 = 0.5;
/// The longest pause is not known: up to this multiple of the mean one.
const LONGEST: f64 = 5.0;
/// For each request that comes in a pause, that many more wait behind it.
const BEHIND: f64 = 2.0;

/// F22.
pub(super) const RULE: Rule = Rule {
    id: "F22",
    name: "garbage-collection",
    meaning: "A Java virtual machine stops its program again and again to collect garbage.",
    thresholds: &[OFTEN, NOW_AND_THEN],
    place: Place::Server,
    needs: &[column::JVM_PAUSED],
    remedy: "give it a larger heap (-Xmx, in a container -XX:MaxRAMPercentage), or allocate less for each request; if few pauses are \
             long, use a collector that works beside the program (-XX:+UseZGC); -Xlog:gc tells of each collection",
    counterfactual: "with twice the heap it would stop as often and as long",
    examine: Examination::By(examine),
};

const SOURCE: &str = "hsperfdata, sun.gc.collector";

/// What collections did to a process.
struct Paused<'a> {
    process: &'a WatchedProcess,
    share: f64,
    count: f64,
    mean_ns: f64,
}

impl<'a> Paused<'a> {
    fn of(process: &'a WatchedProcess, window: &Window) -> Option<Paused<'a>> {
        let scope = process_scope(process);
        let paused = window.growth(column::JVM_PAUSED, &scope)?;
        let count = window.growth(column::JVM_COLLECTIONS, &scope)?.amount;
        let mean_ns = ratio(paused.amount * 1e3, count).unwrap_or(0.0);
        Some(Paused { process, share: (paused.per_second()? / 1e6).min(1.0), count, mean_ns })
    }

    fn text(&self) -> String {
        format!(
            "{} stopped {} {} of the time, for {} on average",
            counted(self.count, "collection"),
            name(&self.process.command),
            percent(self.share),
            duration(self.mean_ns)
        )
    }

    fn reach(&self, view: &TrialView) -> Reach {
        if self.share >= OFTEN.value {
            return Reach::used_up(view, 1.0);
        }
        let count = view.counts().sent as f64 * self.share * (1.0 + BEHIND);
        let slow = Slow::Delayed { count, most_ns: self.mean_ns * LONGEST };
        Reach { slow, events: Some(self.count), ..Reach::used_up(view, self.share) }
    }
}

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let window = view.server_steady();
    let jvms = view.processes(ProcessRole::Target).into_iter().filter_map(|one| Paused::of(one, &window));
    let worst = jvms.max_by(|one, other| one.share.total_cmp(&other.share))?;
    let text = worst.text();
    let column = column::JVM_PAUSED.at(&process_scope(worst.process));
    let seen = |role| seen_in(column.clone(), evidence(role, &window, SOURCE, text.clone()));
    let is_often = worst.share >= OFTEN.value;
    if !is_often && (worst.share < NOW_AND_THEN.value || NoticedEffect::of(scene).is_none()) {
        return excluded("Collecting garbage takes little time", vec![seen(EvidenceRole::Against)]);
    }
    let mut found = vec![seen(EvidenceRole::Mechanism)];
    found.extend(at_work(&worst, &window));
    Some(Case::new(format!("A Java virtual machine collects garbage: {text}"), found, worst.reach(view)))
}

/// Whoever collects computes.
fn at_work(paused: &Paused, window: &Window) -> Option<Evidence> {
    let used = window.process_cpus(&[paused.process]).filter(|used| *used >= AT_WORK * paused.share)?;
    let text = format!("{} used {} CPUs", name(&paused.process.command), cpus(used));
    Some(evidence(EvidenceRole::Confirmer, window, "clock_getcpuclockid", text))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::{Specimen, TARGET};
    use sysdyno_record::analysis::{Confidence, Finding};

    /// A virtual machine that so many collections a second stop for so long in all. Unit: seconds per second.
    fn collecting(case: Specimen, count_hz: f64, paused: f64) -> Specimen {
        let scope = format!("process:{TARGET}");
        let case = case.counter("jvm.collections_count", &scope, count_hz);
        case.counter("jvm.paused_us", &scope, paused * 1e6).counter("process.cpu_us", &scope, 1.5e6)
    }

    fn find(case: Specimen) -> Option<Finding> {
        conclude(case).into_iter().find(|finding| finding.id == "F22")
    }

    #[test]
    fn a_virtual_machine_that_mostly_collects_has_that_as_its_bottleneck() {
        let found = find(collecting(slow(), 12.0, 0.6)).expect("a finding");
        assert!(found.confidence >= Confidence::Likely, "{found:?}");
        assert!(found.title.starts_with("A Java virtual machine collects garbage: "), "{found:?}");
        assert!(found.title.ends_with(" of the time, for 50.0 ms on average"), "{found:?}");
    }

    #[test]
    fn few_short_collections_are_none() {
        for case in [collecting(slow(), 2.0, 0.005), collecting(Specimen::open(2000.0, 10.0), 3.0, 0.05)] {
            assert_eq!(find(case).map(|found| found.confidence), Some(Confidence::Excluded));
        }
        assert!(find(slow()).is_none(), "there is no virtual machine");
    }
}
