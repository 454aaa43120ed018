//! The staircase of repeated SYNs: connects that take 1, 3, 7 s because their first packet was dropped.
//!
//! Ticks of a Linux client: from kernel 6.5 on the first four timeouts are linear (`tcp_syn_linear_timeouts`, 1 s each), so that a
//! connect ends after 1, 2, 3, 4, 5, 7, 11 … s; from 3.1 to 6.4 they double: 1, 3, 7, 15, 31 s; before 3.1 they begin with 3 s
//! (RFC 1122). Source: `net/ipv4/tcp_timer.c`, `include/net/tcp.h`.

use super::accept::drops;
use super::effect::SLOW_CONNECT_NS;
use super::{Case, ENGINE, Examination, Place, Reach, Rule, Scene, evidence, excluded, seen_by_generator};
use crate::format::{counted, list, percent};
use crate::readings::{Window, ratio, sum_known};
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::{self, NETNS, Quantity};
use sysdyno_record::facts::HostFacts;
use sysdyno_record::load::LatencyKind;

const REPEATED: Threshold =
    Threshold::new("retransmitted SYN packets, more than", 0.0, "count", column::TCP_SYN_RETRANS.name);
const CLUSTERED: Threshold =
    Threshold::new("share of slow connects that match the retransmission timer", 0.5, "ratio", HOUSE);
/// A connect at a tick takes the tick, and up to this much more. Unit: seconds.
const TICK_EARLY: f64 = 0.05;
const TICK_LATE: f64 = 0.35;
const LOST: Threshold = Threshold::new(
    "retransmitted ÷ sent TCP segments, without SYNs and what an accept queue dropped, at which packets are lost in the \
     network rather than SYNs dropped",
    0.01,
    "ratio",
    HOUSE,
);

/// T04.
pub(super) const SYN_STAIRCASE: Rule = Rule {
    id: "T04",
    name: "syn-staircase",
    meaning: "SYN packets were lost or dropped and retransmitted, so some connects took whole seconds.",
    thresholds: &[REPEATED, CLUSTERED, LOST],
    place: Place::Elsewhere,
    needs: &[column::TCP_SYN_RETRANS],
    remedy: "fix the cause of the drops (a full accept queue, a full SYN queue, a rule of a firewall that limits connections, packet loss), not the timer",
    counterfactual: "keeping connections alive from the start would not remove the slow requests",
    examine: Examination::By(examine_staircase),
};

fn examine_staircase<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let repeated = |view: &TrialView| view.whole().occurrences(column::TCP_SYN_RETRANS, NETNS);
    let total = sum_known(scene.trials.iter().map(repeated))?;
    let worst = scene
        .trials
        .iter()
        .max_by(|a, b| repeated(a).unwrap_or(0.0).total_cmp(&repeated(b).unwrap_or(0.0)))?;
    let window = worst.whole();
    let source = "/proc/PID/net/netstat TcpExt TCPSynRetrans";
    let seen = |role: EvidenceRole, text: String| {
        seen_by_generator(worst, &column::TCP_SYN_RETRANS.at(NETNS), evidence(role, &window, source, text))
    };
    if total <= REPEATED.value {
        let against = seen(EvidenceRole::Against, "no SYN packet was retransmitted".to_owned());
        return excluded("No connect was delayed by a retransmitted SYN", vec![against]);
    }
    let mut found = vec![seen(
        EvidenceRole::Mechanism,
        format!("retransmitted {}", counted(total.round(), "SYN packet")),
    )];
    let steps = scene.trials.iter().filter_map(|view| Some((view, steps(view, scene.focus.facts)?)));
    let steps = steps.max_by(|(_, a), (_, b)| a.slow.total_cmp(&b.slow));
    let (view, steps) = steps.map_or((worst, None), |(view, steps)| (view, Some(steps)));
    let ticks = steps.as_ref().map_or(String::new(), |steps| {
        format!(": {} took {}", counted(steps.slow, "connect"), list(&steps.ticks))
    });
    let here = repeated(view).unwrap_or(0.0);
    let reach = Reach::of_connects(view, here, steps.as_ref().map_or(0.0, |steps| steps.slow));
    found.extend(steps.map(|steps| steps.evidence));
    let title = format!("SYN packets were dropped and retransmitted{ticks}");
    let case = Case { shown_by: Some(*view), ..Case::new(title, found, reach) };
    Some(match Lost::of(view).filter(|lost| lost.share >= LOST.value) {
        Some(lost) => of_loss(case, lost.share, &view.steady()),
        None => case,
    })
}

/// TCP segments that either host sent again although nobody's accept queue refused them; of the one that sent more again.
pub(super) struct Lost {
    pub count: f64,
    /// Of all segments that this host sent.
    pub share: f64,
}

impl Lost {
    /// A full accept queue drops SYNs, and also the first data of connections that only the client believes to be open; each drop
    /// makes the client send one segment again. SYNs are left out in any case.
    pub(super) fn of(view: &TrialView) -> Option<Lost> {
        let refused = drops(&view.server_whole()).unwrap_or(0.0);
        let of = |window: Window| {
            let count = |counter: Quantity| window.occurrences(counter, NETNS);
            let explained = count(column::TCP_SYN_RETRANS).unwrap_or(0.0).max(refused);
            let again = (count(column::TCP_RETRANS_SEGS)? - explained).max(0.0);
            Some(Lost { count: again, share: ratio(again, count(column::TCP_OUT_SEGS)?)? })
        };
        [of(view.whole()), of(view.server_whole())]
            .into_iter()
            .flatten()
            .max_by(|a, b| a.share.total_cmp(&b.share))
    }
}

/// The case where packets of all kinds are lost: then SYNs are only some of them, and nobody drops these.
fn of_loss<'a>(mut case: Case<'a>, share: f64, window: &Window) -> Case<'a> {
    let text = format!(
        "{} of other TCP segments were retransmitted too: packets are lost in the network",
        percent(share)
    );
    let source = "/proc/PID/net/snmp Tcp RetransSegs, OutSegs";
    case.evidence.push(evidence(EvidenceRole::Against, window, source, text));
    let remedy = "find the loss: interface errors and drops, a firewall, a full queue on the path";
    let title = format!(
        "Packets are lost in the network: {} of TCP segments were retransmitted, and SYN packets too",
        percent(share)
    );
    Case { title, remedy: Some(remedy.to_owned()), ..case }
}

struct Steps {
    slow: f64,
    ticks: Vec<String>,
    evidence: Evidence,
}

/// The slow connects of a trial and the ticks that they lie at; `None` if none was slow, or they lie elsewhere.
fn steps(view: &TrialView, facts: &HostFacts) -> Option<Steps> {
    let histogram = view.latency.get(LatencyKind::Connect);
    let slow = histogram.as_hdr().count_between(SLOW_CONNECT_NS, u64::MAX) as f64;
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
        "{} of {} match the retransmission timer: {}",
        percent(clustered.min(1.0)),
        counted(slow, "slow connect"),
        list(&named)
    );
    Some(Steps { slow, ticks: named, evidence: evidence(EvidenceRole::Confirmer, &window, ENGINE, text) })
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
