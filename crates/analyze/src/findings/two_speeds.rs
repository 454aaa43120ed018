//! Responses of two kinds, fast and slow, with nothing in between: hits and misses of a cache, or one slow backend among
//! several.
//!
//! If the slow ones waited in a queue, their times would spread out; a gap in the middle means that they do something else.
//! Other causes of such a gap (a retransmitted packet, a delayed acknowledgement) have their own rules.

use super::effect::{Slow, slow_connects};
use super::{Case, ENGINE, Examination, Place, Reach, Rule, Scene, evidence};
use crate::format::{duration, percent};
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::analysis::{Evidence, EvidenceRole};
use sysdyno_record::column::{self, NETNS, Quantity};
use sysdyno_record::load::LatencyKind;

const GAP: Threshold = Threshold::new(
    "service time of the slow ones ÷ that of the fast ones, at the ends of the gap",
    3.0,
    "ratio",
    HOUSE,
);
const IN_GAP: Threshold = Threshold::new("share of responses in the gap, at most", 0.002, "ratio", HOUSE);
const SLOW_PART: Threshold = Threshold::new("share of slow responses", 0.02, "ratio", HOUSE);
const SLOW_COUNT: Threshold =
    Threshold::new("slow responses, so that the first ones alone are no kind", 50.0, "count", HOUSE);
const SAME: Threshold = Threshold::new(
    "share and time of the slow ones ÷ the same at the lowest load, at most and as its inverse at least",
    2.0,
    "ratio",
    HOUSE,
);
const OTHERWISE: Threshold = Threshold::new(
    "retransmissions, delayed acknowledgements, or slow connects ÷ slow responses, at most",
    0.1,
    "ratio",
    HOUSE,
);

/// A13.
pub(super) const TWO_SPEEDS: Rule = Rule {
    id: "A13",
    name: "two-speeds",
    meaning: "Some responses take several times as long as the rest, with hardly any in between, at low load as well.",
    thresholds: &[GAP, IN_GAP, SLOW_PART, SLOW_COUNT, SAME, OTHERWISE],
    place: Place::Elsewhere,
    needs: &[],
    remedy: "find what the slow responses have in common (their URL, a cache miss, one of several backends), and make that part \
             rarer or faster",
    counterfactual: "at another load the slow responses would be as fast as the rest",
    examine: Examination::By(examine),
};

/// Each step of the search for a gap is so many times the one before.
const STEP: f64 = 1.25;
/// Where the search begins and ends. Unit: nanoseconds.
const RANGE_NS: [f64; 2] = [1e4, 3e10];

/// The slow ones of a trial.
#[derive(Clone, Copy, Debug)]
struct SlowKind {
    share: f64,
    count: f64,
    /// Where the gap begins and ends. Unit: nanoseconds.
    gap_ns: [f64; 2],
}

fn examine<'a>(scene: &Scene<'a>) -> Option<Case<'a>> {
    let view = &scene.focus;
    let slow = slow_kind(view)?;
    if has_another_reason(view, &slow) {
        return None;
    }
    let text = format!(
        "{} of the responses took {} or more, the rest {} or less",
        percent(slow.share),
        duration(slow.gap_ns[1]),
        duration(slow.gap_ns[0])
    );
    let mut found = vec![evidence(EvidenceRole::Mechanism, &view.steady(), ENGINE, text.clone())];
    found.extend(scene.base.as_ref().and_then(|base| also_at_low_load(base, &slow)));
    let most_ns = slow.gap_ns[1];
    let reach = Reach { slow: Slow::Delayed { count: slow.count, most_ns }, ..Reach::default() };
    Some(Case::new(format!("Responses are of two speeds: {text}"), found, reach))
}

/// The widest gap between responses; `None`: there is none that is wide enough.
fn slow_kind(view: &TrialView) -> Option<SlowKind> {
    let histogram = view.latency.get(LatencyKind::Service).as_hdr();
    let steps = std::iter::successors(Some(RANGE_NS[0]), |at| Some(at * STEP));
    let steps: Vec<f64> = steps.take_while(|at| *at < RANGE_NS[1]).collect();
    // So many responses took more than each step.
    let above: Vec<f64> =
        steps.iter().map(|at| histogram.count_between(*at as u64 + 1, u64::MAX) as f64).collect();
    let all = view.latency.get(LatencyKind::Service).count() as f64;
    let gaps = (0..steps.len()).filter_map(|low| {
        let is_gap = |high: &usize| above[low] - above[*high] <= IN_GAP.value * all;
        let high = (low + 1..steps.len()).take_while(is_gap).last()?;
        let share = ratio(above[high], all)?;
        let is_wide = steps[high] >= GAP.value * steps[low] && (SLOW_PART.value..=0.5).contains(&share);
        (is_wide && above[high] >= SLOW_COUNT.value).then_some(SlowKind {
            share,
            count: above[high],
            gap_ns: [steps[low], steps[high]],
        })
    });
    let width = |kind: &SlowKind| kind.gap_ns[1] / kind.gap_ns[0];
    gaps.max_by(|a, b| width(a).total_cmp(&width(b)))
}

/// Whether as many packets were sent again, acknowledged late, or connects slow.
fn has_another_reason(view: &TrialView, slow: &SlowKind) -> bool {
    let counted = |counter: Quantity| {
        let windows = [view.whole(), view.server_whole()];
        windows.iter().filter_map(|window| window.occurrences(counter, NETNS)).fold(0.0, f64::max)
    };
    let most = [column::TCP_RETRANS_SEGS, column::DELAYED_ACKS].map(counted);
    most.into_iter().chain([slow_connects(view)]).any(|count| count > OTHERWISE.value * slow.count)
}

/// That the lowest load had the same two kinds: then it is not the load that makes some slow.
fn also_at_low_load(base: &TrialView, slow: &SlowKind) -> Option<Evidence> {
    let before = slow_kind(base)?;
    let is_same = |now: f64, before: f64| {
        ratio(now, before).is_some_and(|times| (1.0 / SAME.value..=SAME.value).contains(&times))
    };
    let text = format!(
        "at the lowest load {} took {} or more as well",
        percent(before.share),
        duration(before.gap_ns[1])
    );
    let is_it = is_same(slow.share, before.share) && is_same(slow.gap_ns[1], before.gap_ns[1]);
    is_it.then(|| evidence(EvidenceRole::Confirmer, &base.steady(), ENGINE, text))
}

#[cfg(test)]
mod tests {
    use super::super::tests::slow;
    use super::*;
    use crate::corpus::{Specimen, spread};
    use crate::findings::confidence;
    use sysdyno_record::analysis::Confidence;
    use sysdyno_stats::histogram::LatencyHistogram;

    fn of_two(case: Specimen, slow: u64, slow_ns: f64) -> Specimen {
        let all = case.begin.plan.phases[1].rate_hz.map_or(0, |rate| (rate * 10.0) as u64);
        let mut times: LatencyHistogram = LatencyHistogram::new();
        (0..all - all * slow / 100).for_each(|at| times.record(900_000 + at % 300_000));
        (0..all * slow / 100)
            .for_each(|at| times.record((slow_ns * (1.0 + (at % 20) as f64 / 100.0)) as u64));
        case.edit(|case| case.fill(LatencyKind::Service, times))
    }

    fn judged(base: Specimen, focus: Specimen) -> Option<Confidence> {
        let (base, focus) = (base.build(), focus.build());
        let trials = [base.view(), focus.view()];
        let scene = Scene {
            focus: trials[1],
            base: Some(trials[0]),
            trials: &trials,
            verdicts: &[],
            objective: None,
            is_connection_limited: false,
        };
        confidence(&examine(&scene)?.evidence)
    }

    #[test]
    fn misses_are_told_from_hits_if_they_are_so_at_low_load_too() {
        let quiet = || Specimen::open(200.0, 10.0);
        let both = judged(of_two(quiet(), 10, 80e6), of_two(slow(), 10, 80e6));
        assert_eq!(both, Some(Confidence::Likely));
        assert_eq!(judged(quiet(), of_two(slow(), 10, 80e6)), Some(Confidence::Possible), "the load did it");
        assert_eq!(judged(of_two(quiet(), 40, 80e6), of_two(slow(), 5, 80e6)), Some(Confidence::Possible));
    }

    #[test]
    fn one_kind_of_responses_or_packets_sent_again_are_not_two_speeds() {
        let quiet = || Specimen::open(200.0, 10.0);
        assert_eq!(judged(quiet(), slow()), None);
        let queue = slow().edit(|case| case.fill(LatencyKind::Service, spread(20_000, 50e6)));
        assert_eq!(judged(quiet(), queue), None, "times that spread have no gap");
        assert_eq!(judged(quiet(), of_two(slow(), 1, 80e6)), None, "too few");
        let short = of_two(Specimen::open(40.0, 10.0), 10, 80e6);
        assert_eq!(judged(quiet(), short), None, "40 slow ones may be the first ones");
        let lossy = of_two(slow(), 10, 200e6).counter("Tcp.RetransSegs", NETNS, 200.0);
        assert_eq!(judged(of_two(quiet(), 10, 200e6), lossy), None);
        let acks = of_two(slow(), 10, 41e6).counter("TcpExt.DelayedACKs", NETNS, 200.0);
        assert_eq!(judged(of_two(quiet(), 10, 41e6), acks), None);
    }
}
