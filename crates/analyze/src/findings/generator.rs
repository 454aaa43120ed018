//! The load generator as the bottleneck: then nothing is known about the server's.

use super::effect::Slow;
use super::{Case, ENGINE, Examination, Place, Reach, Rule, Scene, evidence, excluded, tail_ns};
use crate::capacity::FLAT_SERVICE;
use crate::format::{counted, cpus, duration, percent};
use crate::readings::ratio;
use crate::verdict::{Culprit, LAG, SERVER_SATURATED, is_blamed_on, is_server_saturated};
use sysdyno_record::analysis::{EvidenceRole, Reason, VerdictStatus};
use sysdyno_record::event::ProcessRole;
use sysdyno_record::load::{Blame, LatencyKind};

/// G01.
pub(super) const GENERATOR_LIMITED: Rule = Rule {
    id: "G01",
    name: "generator-limited",
    meaning: "The load generator was saturated before the server was.",
    thresholds: &[SERVER_SATURATED],
    place: Place::Elsewhere,
    needs: &[],
    remedy: "give the generator more threads or CPUs, lift its quota, or send from another host",
    counterfactual: "a second generator host would not raise the rate",
    examine: Examination::By(examine_generator),
};

fn examine_generator<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let window = scene.focus.steady();
    let generator = &scene.focus.end.summary.generator;
    let Some(reason) = focus_reason(scene) else {
        let text = format!(
            "the generator's busiest thread used {} of a CPU",
            percent(generator.busiest_thread_ratio)
        );
        return excluded(
            "The generator is not the bottleneck",
            vec![evidence(EvidenceRole::Against, &window, ENGINE, text)],
        );
    };
    let mut found = vec![evidence(EvidenceRole::Mechanism, &window, ENGINE, reason.text.clone())];
    let window = scene.focus.server_steady();
    if is_server_saturated(&scene.focus) == Some(false) {
        let used = window.process_cpus(&scene.focus.processes(ProcessRole::Target));
        let used = used.map_or(String::new(), |used| format!(": the server used {} CPUs", cpus(used)));
        let idle = window.machine().map_or(0.0, |machine| 1.0 - machine.busy_ratio);
        let text = format!("the host was {} idle{used}", percent(idle));
        found.push(evidence(EvidenceRole::Confirmer, &window, "/proc/stat", text));
    }
    found.extend(super::packet_cost::of_sender(scene));
    let title = format!("The generator is the bottleneck: {}", reason.text);
    Some(Case { remedy: Some(reason.remedy.clone()), ..Case::new(title, found, reach(scene, reason)) })
}

/// What a generator at its limit does: it makes requests wait or late, and fails those that its own host refuses.
fn reach(scene: &Scene, reason: &Reason) -> Reach {
    let view = &scene.focus;
    let local: f64 = view.failures_blamed_on(Blame::Generator).iter().map(|(_, count)| *count as f64).sum();
    let share = if LAG.has_raised(reason) {
        // Lateness is no more of the response time than it is.
        ratio_of(tail_ns(view, LatencyKind::LoopSlip), tail_ns(view, LatencyKind::Response))
    } else {
        1.0
    };
    let of_cpu = Reach::used_up(view, share);
    Reach { failures: of_cpu.failures + local, ..of_cpu }
}

fn ratio_of(part: Option<f64>, whole: Option<f64>) -> f64 {
    part.zip(whole).and_then(|(part, whole)| ratio(part, whole)).unwrap_or(0.0).clamp(0.0, 1.0)
}

/// The check that says so of the focus.
fn focus_reason<'a>(scene: &Scene<'a>) -> Option<&'a Reason> {
    let index = scene.trials.iter().position(|view| view.begin.trial == scene.focus.begin.trial)?;
    let is_generator = |reason: &&Reason| {
        reason.status == VerdictStatus::Invalid && is_blamed_on(Culprit::Generator, reason)
    };
    scene.verdicts.get(index)?.reasons.iter().find(is_generator)
}

/// G02.
pub(super) const CONNECTION_LIMITED: Rule = Rule {
    id: "G02",
    name: "connection-limited",
    meaning: "All connections were busy while the server answered as fast as at low load, so their number \
              limits the rate.",
    thresholds: &[FLAT_SERVICE],
    place: Place::Elsewhere,
    needs: &[],
    remedy: "raise --connections and run again",
    counterfactual: "doubling the connections would not raise the rate",
    examine: Examination::By(examine_connections),
};

fn examine_connections<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    if !scene.is_connection_limited {
        return None;
    }
    let window = scene.focus.steady();
    let connections = counted(f64::from(scene.focus.plan().connections), "connection");
    let wait = tail_ns(&scene.focus, LatencyKind::PoolSlip)?;
    let text =
        format!("requests queued for a free connection: p99 {} (pool of {connections})", duration(wait));
    let mut found = vec![evidence(EvidenceRole::Mechanism, &window, ENGINE, text.clone())];
    let median = |view: &crate::view::TrialView| view.summary(LatencyKind::Service).p50.map(|ns| ns as f64);
    if let Some((full, light)) = median(&scene.focus).zip(scene.base.as_ref().and_then(median)) {
        let text = format!(
            "the median service time was {}, and {} at the lowest load",
            duration(full),
            duration(light)
        );
        found.push(evidence(EvidenceRole::Confirmer, &window, ENGINE, text));
    }
    let share = ratio_of(Some(wait), tail_ns(&scene.focus, LatencyKind::Response));
    let reach = Reach { slow: Slow::Share(share), ..Reach::default() };
    Some(Case::new(format!("The number of connections is the bottleneck: {text}"), found, reach))
}
