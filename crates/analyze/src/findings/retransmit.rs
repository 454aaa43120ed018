//! The staircase of repeated SYNs: connects that take 1, 3, 7 s because their first packet was dropped.
//!
//! Ticks of a Linux client: from kernel 6.5 on the first four timeouts are linear (`tcp_syn_linear_timeouts`, 1 s each), so that a
//! connect ends after 1, 2, 3, 4, 5, 7, 11 … s; from 3.1 to 6.4 they double: 1, 3, 7, 15, 31 s; before 3.1 they begin with 3 s
//! (RFC 1122). Source: `net/ipv4/tcp_timer.c`, `include/net/tcp.h`.

use super::{Case, ENGINE, Place, Rule, Scene, evidence, excluded, seen_by_generator};
use crate::format::{counted, list, percent, whole};
use crate::readings::{ratio, sum_known};
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::facts::HostFacts;
use sysdyno_record::load::LatencyKind;

const REPEATED: Threshold =
    Threshold::new("SYN packets sent again, more than", 0.0, "count", "TcpExt.TCPSynRetrans");
const CLUSTERED: Threshold =
    Threshold::new("share of the slow connects that lie at the ticks of the timer", 0.5, "ratio", HOUSE);
/// A connect at a tick takes the tick, and up to this much more. Unit: seconds.
const TICK_EARLY: f64 = 0.05;
const TICK_LATE: f64 = 0.35;
/// Faster connects were not repeated. Unit: nanoseconds.
const SLOW_NS: u64 = 900_000_000;

/// T04.
pub(super) const SYN_STAIRCASE: Rule = Rule {
    id: "T04",
    name: "syn-staircase",
    meaning: "SYN packets were lost or dropped and sent again, so that some connects take whole seconds.",
    thresholds: &[REPEATED, CLUSTERED],
    place: Place::Elsewhere,
    remedy: "remove the cause of the drops (a full accept queue, a full SYN queue, loss on the link), not the timer",
    counterfactual: "with connections kept alive from the start the slow requests would stay",
    examine: examine_staircase,
};

fn examine_staircase(scene: &Scene) -> Option<Case> {
    let repeated = |view: &TrialView| view.whole().occurrences("TcpExt.TCPSynRetrans", "netns:target");
    let total = sum_known(scene.trials.iter().map(repeated))?;
    let worst = scene
        .trials
        .iter()
        .max_by(|a, b| repeated(a).unwrap_or(0.0).total_cmp(&repeated(b).unwrap_or(0.0)))?;
    let window = worst.whole();
    let source = "/proc/PID/net/netstat TcpExt TCPSynRetrans";
    let seen = |role: EvidenceRole, text: String| {
        seen_by_generator(worst, "TcpExt.TCPSynRetrans@netns:target", evidence(role, &window, source, text))
    };
    if total <= REPEATED.value {
        let against = seen(EvidenceRole::Against, "no SYN packet was sent again".to_owned());
        return excluded("No connect was delayed by a repeated SYN", vec![against]);
    }
    let mut found =
        vec![seen(EvidenceRole::Mechanism, format!("{} SYN packets were sent again", whole(total)))];
    let steps = scene
        .trials
        .iter()
        .filter_map(|view| steps(view, scene.focus.facts))
        .max_by(|a, b| a.slow.total_cmp(&b.slow));
    let ticks = steps.as_ref().map_or(String::new(), |steps| {
        format!(": {} took {}", counted(steps.slow, "connect"), list(&steps.ticks))
    });
    found.extend(steps.iter().flat_map(|steps| steps.evidence.clone()));
    Some(Case {
        title: format!("SYN packets were dropped and sent again{ticks}"),
        evidence: found,
        remedy: None,
    })
}

struct Steps {
    slow: f64,
    ticks: Vec<String>,
    evidence: Vec<Evidence>,
}

/// The slow connects of a trial and the ticks that they lie at; `None` if none was slow, or they lie elsewhere.
fn steps(view: &TrialView, facts: &HostFacts) -> Option<Steps> {
    let histogram = view.latency.get(LatencyKind::Connect);
    let slow = histogram.as_hdr().count_between(SLOW_NS, u64::MAX) as f64;
    let at = |tick: f64| {
        let (low, high) = ((tick - TICK_EARLY) * 1e9, (tick + TICK_LATE) * 1e9);
        histogram.as_hdr().count_between(low as u64, high as u64) as f64
    };
    let hits: Vec<(f64, f64)> =
        ticks(facts).iter().map(|tick| (*tick, at(*tick))).filter(|(_, count)| *count > 0.0).collect();
    let clustered =
        ratio(hits.iter().map(|(_, count)| count).sum(), slow).filter(|share| *share >= CLUSTERED.value)?;
    let named: Vec<String> = hits.iter().map(|(tick, _)| format!("{tick} s")).collect();
    let window = view.steady();
    let text = format!(
        "{} of {} lie at the ticks of the timer: {}",
        percent(clustered.min(1.0)),
        counted(slow, "slow connect"),
        list(&named)
    );
    let all = histogram.count() as f64;
    let effect = format!("{} of the connects took 0.9 s or more", percent(ratio(slow, all)?));
    let evidence = vec![
        evidence(EvidenceRole::Confirmer, &window, ENGINE, text),
        evidence(EvidenceRole::Effect, &window, ENGINE, effect),
    ];
    Some(Steps { slow, ticks: named, evidence })
}

/// Seconds after which a connect ends whose first SYNs were lost, by kernel.
fn ticks(facts: &HostFacts) -> &'static [f64] {
    let mut numbers = facts
        .text("kernel.release")
        .unwrap_or("")
        .split(['.', '-'])
        .map_while(|part| part.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(major), Some(minor)) if (major, minor) < (3, 1) => &[3.0, 9.0, 21.0, 45.0],
        (Some(major), Some(minor)) if (major, minor) < (6, 5) => &[1.0, 3.0, 7.0, 15.0, 31.0],
        _ => &[1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 11.0, 19.0, 35.0],
    }
}
