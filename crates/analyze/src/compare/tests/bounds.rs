//! Runs of which only lower bounds are known: what is said of them, from the gates to the headline.

use super::*;
use sysdyno_record::comparison::EffectBound;
use sysdyno_record::effect::BoundSide;
use sysdyno_record::load::{LatencyKind, LatencySummary};
use sysdyno_stats::censored::LowerBounds;

/// What every request of these runs waits for at most. Unit: nanoseconds.
const TIMEOUT_NS: u64 = 40_000_000;

/// A closed load whose median takes this long, and of which so many of 40,000 requests timed out.
fn timing_out(median_ns: f64, timed_out: u64) -> Specimen {
    let mut case = clean().time_out(timed_out);
    let mut histogram = spread(40_000 - timed_out, median_ns);
    (0..timed_out).for_each(|_| histogram.record(TIMEOUT_NS));
    let bounds = LowerBounds { count: timed_out, min_ns: TIMEOUT_NS };
    case.end.summary.measured.latency.insert(LatencyKind::Service, LatencySummary::of(&histogram, bounds));
    *case.latency.get_mut(LatencyKind::Service) = histogram;
    case
}

fn one(name: &str, specimen: &Specimen) -> Side {
    side(name, vec![profile_of(name, specimen)])
}

fn metric<'a>(found: &'a RunsComparison, name: &str) -> &'a MetricComparison {
    found.operations[0].metrics.iter().find(|metric| metric.metric == name).expect("a closed load has it")
}

fn bound(effect: &MetricEffect) -> EffectBound {
    assert_eq!(effect.effect, None, "only one end is known");
    effect.bound.expect("a bound is known")
}

#[test]
fn requests_that_timed_out_make_latencies_at_least_so_much_worse_and_leave_nothing_else() {
    let found = compare(vec![one("a", &timing_out(0.3e6, 0)), one("b", &timing_out(0.3e6, 2_000))], &OPTIONS);
    assert!(!found.is_refused && !found.sides[1].is_refused, "{:?}", found.gates);
    let told: Vec<(&str, Severity)> = found.gates.iter().map(|gate| (gate.id, gate.severity)).collect();
    assert!(
        told.contains(&("C01", Severity::Bounded)) && told.contains(&("C03", Severity::Bounded)),
        "{told:?}"
    );
    let p99 = metric(&found, "p99");
    let effect = &p99.effects[0];
    let EffectBound { side, ratio, .. } = bound(effect);
    assert_eq!((side, effect.verdict.word), (BoundSide::AtLeast, Comparison::Worse));
    // Two single runs: what a tail is assumed to vary by, 10%, is taken off of 40 ms ÷ 1.05 ms.
    assert!((25.0..35.0).contains(&ratio), "{ratio}");
    assert!(p99.sides[1].is_lower_bound && !p99.sides[0].is_lower_bound);
    let p50 = metric(&found, "p50");
    assert_eq!(p50.effects[0].verdict.word, Comparison::CannotTell, "it is about the same, or any more");
    assert!(bound(&p50.effects[0]).ratio < 1.0);
    for name in ["goodput", "cpu"] {
        let reason = metric(&found, name).sides[1].missing.as_ref().expect("not known");
        assert!(reason.contains("timed out") || name == "cpu", "{reason}");
        assert_eq!(metric(&found, name).effects[0].bound, None);
    }
    assert!(found.headline.starts_with("P99 latency of B is worse: at least × "), "{}", found.headline);
    assert_eq!(found.verdicts[0].worse, ["p99"]);
}

#[test]
fn a_baseline_that_timed_out_makes_the_other_better_and_two_that_did_say_nothing() {
    let [bad, good] = [timing_out(0.3e6, 2_000), timing_out(0.3e6, 0)];
    let found = compare(vec![one("a", &bad), one("b", &good)], &OPTIONS);
    let effect = &metric(&found, "p99").effects[0];
    assert_eq!((bound(effect).side, effect.verdict.word), (BoundSide::AtMost, Comparison::Better));
    assert!(found.headline.contains("is better: at least ÷ "), "{}", found.headline);
    let both = compare(vec![one("a", &bad), one("b", &bad)], &OPTIONS);
    for metric in &both.operations[0].metrics {
        let effect = &metric.effects[0];
        assert_eq!((effect.verdict.word, effect.bound), (Comparison::CannotTell, None), "{}", metric.metric);
    }
}

#[test]
fn what_is_wrong_beside_timeouts_still_refuses() {
    let reference = timing_out(0.3e6, 0);
    let refused = |case: Specimen| compare(vec![one("a", &reference), one("b", &case)], &OPTIONS).is_refused;
    assert!(!refused(timing_out(0.3e6, 2_000)));
    assert!(
        refused(timing_out(0.3e6, 2_000).fail(FailureClass::Reset, 400)),
        "failures are in no percentile"
    );
    assert!(
        refused(timing_out(0.3e6, 2_000).generator(0.999).cpu(0.5, 0.1, 0.1)),
        "the generator was the limit"
    );
    let mut unfinished = profile_of("b", &timing_out(0.3e6, 2_000));
    unfinished.is_whole = false;
    assert!(compare(vec![one("a", &reference), side("b", vec![unfinished])], &OPTIONS).is_refused);
}

#[test]
fn a_few_requests_that_timed_out_leave_all_percentiles_below_them() {
    let found = compare(vec![one("a", &timing_out(0.3e6, 0)), one("b", &timing_out(0.3e6, 20))], &OPTIONS);
    assert!(metric(&found, "p99").effects[0].effect.is_some(), "{:?}", found.gates);
}

#[test]
fn a_capacity_that_is_a_lower_bound_is_compared_as_one() {
    let search = |rate_hz: f64, is_lower_bound: bool| {
        searched(rate_hz, (0.97, 1.03), CapacityBasis::Confidence, is_lower_bound)
    };
    let told = |a: Side, b: Side| {
        let found = compare(vec![a, b], &OPTIONS);
        assert!(!found.is_refused, "{:?}", found.gates);
        assert!(found.gates.iter().any(|gate| (gate.id, gate.severity) == ("C02", Severity::Bounded)));
        (found.verdicts[0].verdict.word, found.headline)
    };
    let (word, headline) = told(search(2_000.0, false), search(5_000.0, true));
    assert_eq!(word, Comparison::Better);
    assert!(headline.starts_with("Capacity of B is better: at least 12"), "{headline}");
    assert_eq!(told(search(2_000.0, false), search(1_300.0, true)).0, Comparison::CannotTell);
    assert_eq!(told(search(5_000.0, true), search(2_000.0, false)).0, Comparison::Worse);
    assert_eq!(told(search(5_000.0, true), search(2_000.0, true)).0, Comparison::CannotTell);
}

#[test]
fn a_variant_of_an_experiment_that_times_out_is_worse_after_two_blocks_and_the_others_are_compared_as_ever() {
    let variant = |number: usize, medians: [f64; 2], timed_out: u64| {
        let name = format!("v{number}");
        let runs = medians.map(|median_ns| profile_of(&name, &timing_out(median_ns, timed_out)));
        Side { blocks: vec![0, 1], ..side(&name, runs.to_vec()) }
    };
    let sides = vec![
        variant(0, [0.300e6, 0.390e6], 0),
        variant(1, [0.240e6, 0.315e6], 0),
        variant(2, [0.300e6, 0.390e6], 2_000),
        variant(3, [0.453e6, 0.579e6], 0),
    ];
    let found = compare(sides.clone(), &CompareOptions { metrics: vec!["p99".into()], ..OPTIONS });
    let p99 = metric(&found, "p99");
    let words: Vec<Comparison> = p99.effects.iter().map(|effect| effect.verdict.word).collect();
    assert_eq!(words, [Comparison::Better, Comparison::Worse, Comparison::Worse], "{p99:?}");
    assert!(bound(&p99.effects[1]).ratio > 20.0, "{p99:?}");
    assert!(p99.effects.iter().all(|effect| effect.method == Some(EffectMethod::Blocks)));
    assert!(p99.letters[2].chars().all(|letter| !p99.letters[1].contains(letter)), "{:?}", p99.letters);
    let without = compare(
        [&sides[..2], &sides[3..]].concat(),
        &CompareOptions { metrics: vec!["p99".into()], ..OPTIONS },
    );
    let points = |found: &RunsComparison, sides: [usize; 2]| {
        sides.map(|side| metric(found, "p99").effects[side].effect.expect("both ends are known").point)
    };
    assert_eq!(points(&found, [0, 2]), points(&without, [0, 1]), "a variant without an end moves no other");
}
