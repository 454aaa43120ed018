//! Processes of the server that somebody has stopped: all their requests wait until the processes continue, whatever else
//! the requests would wait for.

use super::effect::Slow;
use super::{Case, ENGINE, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_in, tail_ns};
use crate::format::{duration, name, percent};
use crate::readings::{Level, Window, ratio};
use crate::threshold::{HOUSE, Threshold};
use crate::verdict::standstill_seconds;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column;
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::path::GaugeRange;

const STOPPED: Threshold =
    Threshold::new("share of readings in which a process of the server was stopped", 0.02, "ratio", HOUSE);
const GATHERED: Threshold = Threshold::new(
    "most requests unread at a time ÷ mean, which tells that they gathered and were read at once",
    2.0,
    "ratio",
    HOUSE,
);
const UNREAD: Threshold =
    Threshold::new("requests unread at a time, at most, to have gathered", 2.0, "count", HOUSE);
const SPREAD: Threshold = Threshold::new(
    "p99 ÷ p50 of the response time, for most responses to be fast and some slow",
    10.0,
    "ratio",
    HOUSE,
);
/// Who stood still for this part of the time that it was stopped for, stood still for that. Unit: ratio.
const STILL_RATIO: f64 = 0.3;

/// F14.
pub(super) const RULE: Rule = Rule {
    id: "F14",
    name: "stopped",
    meaning: "Processes of the server were stopped (SIGSTOP, a debugger, a freezer) while they had requests.",
    thresholds: &[STOPPED, GATHERED, UNREAD, SPREAD],
    place: Place::Server,
    needs: &[column::WAITS_STOPPED],
    remedy: "find who stops them: a freezer of control groups (a paused container), a debugger, a job control shell, a checkpoint or \
             backup tool",
    counterfactual: "the server would answer as slowly if nobody stopped it",
    examine: Examination::By(examine),
};

const SOURCE: &str = "/proc/PID/task/TID/stat, state T, or D in a call that sleeps in S";

/// That the server was stopped, which speaks against limits that look alike; `None`: it was not.
pub(super) fn against(scene: &Scene) -> Option<Evidence> {
    let window = scene.focus.server_steady();
    let (scope, level) = most(&window).filter(|(_, level)| level.present_ratio >= STOPPED.value)?;
    Some(evidence(EvidenceRole::Against, &window, SOURCE, text(scene, scope, level)))
}

/// The tier that was stopped most.
fn most<'a>(window: &Window<'a>) -> Option<(&'a str, Level)> {
    let scopes = window.scopes(column::WAITS_STOPPED).into_iter();
    let levels = scopes.filter_map(|scope| Some((scope, window.level(column::WAITS_STOPPED, scope)?)));
    levels.max_by(|(_, a), (_, b)| a.present_ratio.total_cmp(&b.present_ratio))
}

fn text(scene: &Scene, scope: &str, level: Level) -> String {
    format!("{} was stopped in {} of the readings", who(scene, scope), percent(level.present_ratio))
}

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let window = view.server_steady();
    let (scope, level) = most(&window)?;
    let seen = |role, text| seen_in(column::WAITS_STOPPED.at(scope), evidence(role, &window, SOURCE, text));
    if level.present_ratio < STOPPED.value {
        let text = "no process of the server was seen stopped".to_owned();
        return excluded("The server is not stopped", vec![seen(EvidenceRole::Against, text)]);
    }
    let text = text(scene, scope, level);
    let mut found = vec![seen(EvidenceRole::Mechanism, text.clone())];
    found.extend(still(scene, &window, level));
    found.extend(gathered(scene, &window));
    found.extend(two_kinds(scene));
    let idle = super::waits::cpus_left(scene, &window);
    found.extend(idle.filter(|evidence| evidence.role == EvidenceRole::Confirmer));
    // Each request that came meanwhile waited, and those that came just after it behind them.
    let count = 2.0 * level.present_ratio * view.counts().sent as f64;
    let slow = Slow::Delayed { count, most_ns: f64::INFINITY };
    let reach = Reach { slow, ..Reach::used_up(view, 1.0) };
    let case = Case::new(format!("The server is stopped again and again: {text}"), found, reach);
    let tracer = processes_of(scene, scope).find_map(|process| process.tracer.as_deref());
    let Some(tracer) = tracer.map(name) else { return Some(case) };
    Some(Case {
        title: format!("{tracer} is attached to the server and keeps stopping it: {text}"),
        remedy: Some(format!(
            "end {tracer}, or detach it; perf trace and sysdyno profile show what the server does without stopping it"
        )),
        ..case
    })
}

/// The processes of a tier.
fn processes_of<'a>(scene: &Scene<'a>, scope: &'a str) -> impl Iterator<Item = &'a WatchedProcess> {
    scene.focus.processes(ProcessRole::Target).into_iter().filter(move |process| {
        let address = process.tier.as_ref().map(|tier| &tier.address);
        column::tier_scope(address) == scope
    })
}

/// The program of a tier, or each program that is counted as part of it.
fn who(scene: &Scene, scope: &str) -> String {
    let mut names: Vec<String> = processes_of(scene, scope).map(|process| name(&process.command)).collect();
    names.sort();
    names.dedup();
    if names.is_empty() { "a process of the server".to_owned() } else { names.join(" or ") }
}

/// That nothing was answered for so long.
fn still(scene: &Scene, window: &Window, level: Level) -> Option<Evidence> {
    let seconds = standstill_seconds(&scene.focus);
    let stopped = level.present_ratio * scene.focus.seconds();
    let text = format!("no request was answered for {seconds:.1} s altogether");
    (seconds > 0.0 && seconds >= STILL_RATIO * stopped)
        .then(|| evidence(EvidenceRole::Confirmer, window, ENGINE, text))
}

/// That requests gathered unread, and were read at once.
fn gathered(scene: &Scene, window: &Window) -> Option<Evidence> {
    let path = crate::path::path_of(&scene.focus);
    let ranges = path.iter().flat_map(|tier| [tier.unread, tier.queue]).flatten();
    let GaugeRange { mean, max } = ranges.max_by(|a, b| a.max.total_cmp(&b.max))?;
    let times = ratio(max, mean).filter(|times| *times >= GATHERED.value && max >= UNREAD.value)?;
    let text = format!("up to {max:.0} requests at a time were unread, {times:.1} times the mean");
    Some(evidence(EvidenceRole::Confirmer, window, "sock_diag", text))
}

/// That most responses were fast, and some very slow.
fn two_kinds(scene: &Scene) -> Option<Evidence> {
    let view = &scene.focus;
    let half = view.summary(view.felt_kind()).p50? as f64;
    let tail = tail_ns(view, view.felt_kind())?;
    let text =
        format!("half of the responses took at most {}, and p99 is {}", duration(half), duration(tail));
    (tail >= SPREAD.value * half).then(|| evidence(EvidenceRole::Confirmer, &view.steady(), ENGINE, text))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{conclude, slow};
    use crate::corpus::Specimen;
    use sysdyno_record::analysis::{Confidence, Finding};

    fn find(case: Specimen) -> Option<Finding> {
        conclude(case).into_iter().find(|finding| finding.id == "F14")
    }

    #[test]
    fn a_server_that_was_seen_stopped_is_and_one_that_was_not_is_not() {
        let stopped = slow().gauge("waits.stopped_count", "tier:target", 1.0);
        let finding = find(stopped).expect("a finding");
        assert!(finding.confidence >= Confidence::Possible, "{finding:?}");
        assert!(finding.title.contains("was stopped in 100% of the readings"), "{}", finding.title);
        let never = slow().gauge("waits.stopped_count", "tier:target", 0.0);
        assert_eq!(find(never).map(|finding| finding.confidence), Some(Confidence::Excluded));
        assert!(find(slow()).is_none(), "nobody looked");
        let mut traced = slow().gauge("waits.stopped_count", "tier:target", 1.0);
        traced.watched.iter_mut().for_each(|process| process.tracer = Some("strace".into()));
        let title = find(traced).expect("a finding").title;
        assert!(title.starts_with("strace is attached to the server and keeps stopping it: "), "{title}");
    }
}
