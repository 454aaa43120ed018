//! Whole analyses: the sentences that people read, and records that are broken.

mod claims;
mod hostile;
mod limit;
mod sentences;
mod two_hosts;

use crate::analyze;
use crate::corpus::*;
use crate::simulated::{Model, World, run_plan, search, trial};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;
use sysdyno_record::analysis::*;
use sysdyno_record::event::{Event, EventKind};
use sysdyno_record::facts::HostFacts;
use sysdyno_record::load::{
    Counts, FailureClass, LatencyKind, LatencySet, PhaseSummary, TrialEnding, TrialPurpose,
};
use sysdyno_record::plan::{PhaseKind, Plan, RunPlan, SearchMethod};
use sysdyno_record::series::Series;
use sysdyno_record::store::Trial;
use sysdyno_record::view::RunView;
use sysdyno_record::wire::Http2Plan;

/// The analysis of one `load` trial.
fn analyze_load(specimen: Specimen) -> Analysis {
    analyze_readings(&specimen, &specimen.readings.build())
}

/// The same with other readings.
fn analyze_readings(specimen: &Specimen, series: &Series) -> Analysis {
    let events = specimen.watched.iter().cloned().map(EventKind::Watched);
    let events: Vec<Event> = events.map(|event| Event { mono_ns: at(1.0), event }).collect();
    analyze(&RunView {
        plan: Some(&Plan::Load(specimen.begin.plan.clone())),
        facts: Some(&specimen.facts),
        trials: &[Trial { begin: specimen.begin.clone(), end: Some(specimen.end.clone()) }],
        intervals: &specimen.intervals,
        series,
        server: None,
        events: &events,
        probe: &specimen.probe,
        latency: &BTreeMap::from([(1, specimen.latency.clone())]),
        latency_windows: &BTreeMap::new(),
        proofs: &[],
    })
}

/// The trials of a search that ends by itself, or after so many trials.
fn trials(world: &World, plan: &RunPlan, count_max: usize) -> Vec<Trial> {
    let mut search = crate::search::Search::new(plan);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(plan.seed ^ 0xabcd);
    let mut trials = Vec::new();
    while let Some(request) = search.next().filter(|_| trials.len() < count_max) {
        let number = u32::try_from(trials.len()).expect("few") + 1;
        let (begin, end, verdict) = trial(world, number, &request, &mut rng);
        search.record(&begin, &end, &verdict);
        trials.push(Trial { begin, end: Some(end) });
    }
    trials
}

fn analyze_trials(plan: &RunPlan, trials: &[Trial]) -> Analysis {
    let analysis = analyze(&RunView {
        plan: Some(&Plan::Run(plan.clone())),
        facts: Some(&HostFacts::default()),
        trials,
        intervals: &[],
        series: &Series::default(),
        server: None,
        events: &[],
        probe: &[],
        latency: &BTreeMap::new(),
        latency_windows: &BTreeMap::new(),
        proofs: &[],
    });
    let json = serde_json::to_string(&analysis).expect("serialises");
    assert_eq!(serde_json::from_str::<Analysis>(&json).expect("parses"), analysis);
    analysis
}

fn analyze_run(world: &World) -> Analysis {
    let plan = run_plan(1);
    analyze_trials(&plan, &trials(world, &plan, 200))
}

fn ids(analysis: &Analysis, status: VerdictStatus) -> Vec<&str> {
    let reasons = analysis.verdict.reasons.iter().filter(|reason| reason.status == status);
    reasons.map(|reason| reason.id.as_str()).collect()
}

fn queue() -> World {
    World { noise: 0.1, ..World::quiet(Model::Queue { capacity_hz: 5000.0, floor_ns: 10e6 }) }
}

#[test]
fn a_clean_load_is_valid_and_says_what_it_measured() {
    let analysis = analyze_load(Specimen::open(2000.0, 10.0));
    assert_eq!(analysis.verdict.status, VerdictStatus::Valid);
    let headline = "nginx completed 20,000 of 20,000 requests at 2,000 req/s offered, response time p50 1.04 ms, p99 3.49 ms";
    assert_eq!(analysis.headline, headline);
    assert!(analysis.limit.starts_with("No bottleneck found on this host: "), "{}", analysis.limit);
    assert_eq!((analysis.shown_trial, analysis.capacity, analysis.curve.len()), (1, None, 1));
    assert_eq!(analysis.slip_ns.count, 20_000);
    let closed = analyze_load(Specimen::closed(64, 20_000.0, 10.0));
    assert!(
        closed.headline.starts_with("nginx completed 20,000 req/s with 64 connections, service time p50"),
        "{}",
        closed.headline
    );
    assert_eq!(closed.slip_ns.count, 0);
    let mut streams = Specimen::closed(4, 20_000.0, 10.0);
    streams.begin.plan.wire.http2 = Some(Http2Plan { streams: 32 });
    let headline = analyze_load(streams).headline;
    assert!(headline.contains(" with 4 connections with 32 streams each, "), "{headline}");
}

#[test]
fn every_request_is_in_one_range_of_latency() {
    let analysis = analyze_load(Specimen::open(2000.0, 10.0));
    let ends: Vec<_> = analysis.bands.iter().map(|band| band.up_to_ns).collect();
    assert!(ends.is_sorted_by(|one, other| one.is_some() && (other.is_none() || one < other)), "{ends:?}");
    let counted: u64 = analysis.bands.iter().map(|band| band.count).sum();
    assert_eq!(counted, analysis.response_time_ns.count);
    let most = analysis.bands.iter().max_by_key(|band| band.count).expect("there are some");
    let median = analysis.response_time_ns.p50.expect("is known");
    assert!(most.up_to_ns.is_some_and(|end| median <= end && median > end / 10), "{:?}", analysis.bands);
}

#[test]
fn a_distribution_holds_the_quantiles_that_the_sample_supports() {
    let points = analyze_load(Specimen::open(2000.0, 10.0)).distribution;
    assert_eq!((points.len(), points[0].ratio), (101, 0.0));
    let last = points.last().expect("has points");
    assert!((last.ratio - 0.9995).abs() < 1e-9, "{}", last.ratio);
    assert!(
        points.windows(2).all(|pair| pair[0].ratio < pair[1].ratio && pair[0].value_ns <= pair[1].value_ns)
    );
}

#[test]
fn a_load_at_the_generators_limit_is_at_least() {
    let analysis = analyze_load(Specimen::closed(64, 20_000.0, 10.0).generator(0.97));
    assert_eq!(
        (analysis.verdict.status, ids(&analysis, VerdictStatus::Invalid)),
        (VerdictStatus::Invalid, vec!["M01"])
    );
    assert_eq!(analysis.headline, "At least 20,000 req/s: the generator was the bottleneck");
    assert!(analysis.limit.starts_with("The generator is the bottleneck"), "{}", analysis.limit);
    let failing = Specimen::closed(64, 20_000.0, 10.0).generator(0.97).fail(FailureClass::Status, 100_000);
    let failing = analyze_load(failing);
    assert!(!failing.limit.starts_with("The generator"), "{}", failing.limit);
}

#[test]
fn a_load_of_failures_is_not_to_be_trusted() {
    let analysis = analyze_load(Specimen::open(2000.0, 10.0).fail(FailureClass::Status, 1000));
    assert_eq!(ids(&analysis, VerdictStatus::Invalid), ["M04"]);
    assert_eq!(analysis.headline, "Not to be trusted: 5.0% of the requests failed: 1,000 status");
    assert_eq!(analysis.failures.get(&FailureClass::Status), Some(&1000));
}

#[test]
fn a_record_gives_the_capacity_that_the_search_gave() {
    let (plan, world) = (run_plan(1), queue());
    let live = search(&world, &plan).capacity();
    let analysis = analyze_trials(&plan, &trials(&world, &plan, 200));
    assert_eq!(analysis.capacity, Some(live.clone()));
    assert_eq!(analysis.verdict.status, VerdictStatus::Valid, "{:?}", analysis.verdict);
    assert_eq!(
        analysis.headline,
        "the server carries 4,060 req/s (95% interval 3,970–4,140) with p99 below 50 ms"
    );
    let shown = &analysis.curve[analysis.shown_trial as usize - 1];
    assert_eq!(shown.met, Some(true));
    assert!(shown.offered_hz <= live.rate_hz);
}

#[test]
fn a_run_with_a_weak_generator_is_invalid_and_at_least() {
    let analysis = analyze_run(&World { generator_hz: Some(3000.0), ..queue() });
    assert_eq!(ids(&analysis, VerdictStatus::Invalid), ["M01"]);
    let capacity = analysis.capacity.expect("a run has one");
    let rate = crate::format::rate(capacity.rate_hz.expect("a rate was carried"));
    assert_eq!(
        analysis.headline,
        format!(
            "the server carries at least {rate} req/s with p99 below 50 ms; the generator was the \
                 bottleneck"
        )
    );
    assert!(
        analysis.verdict.reasons[0].text.ends_with(&format!("the server can carry at least {rate} req/s"))
    );
}

#[test]
fn a_run_of_404s_has_no_capacity() {
    let analysis = analyze_run(&World::quiet(Model::NotFound { capacity_hz: 900.0 }));
    assert_eq!(ids(&analysis, VerdictStatus::Invalid), ["M04", "V34"]);
    assert!(
        analysis.headline.starts_with("No capacity: 100% of the requests failed: "),
        "{}",
        analysis.headline
    );
    assert!(analysis.headline.ends_with("status (404)"), "{}", analysis.headline);
    assert_eq!(analysis.capacity.and_then(|capacity| capacity.rate_hz), None);
    let dead = analyze_run(&World::quiet(Model::Dead));
    assert_eq!(
        dead.capacity.map(|capacity| (capacity.rate_hz, capacity.ended_by)),
        Some((None, EndedBy::NothingCarried))
    );
    assert_eq!(dead.verdict.status, VerdictStatus::Invalid);
}

#[test]
fn a_search_that_was_cut_short_says_so() {
    let (plan, world) = (run_plan(1), queue());
    let early = analyze_trials(&plan, &trials(&world, &plan, 5));
    assert_eq!(ids(&early, VerdictStatus::Suspect), ["V33"]);
    let late = analyze_trials(&plan, &trials(&world, &plan, 20));
    assert_eq!(ids(&late, VerdictStatus::Suspect), ["V33"]);
    let whole = analyze_trials(&plan, &trials(&world, &plan, 200)).capacity.expect("a run has one");
    for cut in 2..40 {
        let stopped = analyze_trials(&plan, &trials(&world, &plan, cut));
        let capacity = stopped.capacity.expect("a run has one");
        if capacity.ended_by != EndedBy::Interrupted {
            break;
        }
        // Bounds of what was seen, never a capacity with an interval.
        assert_eq!((capacity.rate_hz, capacity.is_lower_bound, capacity.certified_hz), (None, false, None));
        assert!(
            !stopped.headline.contains(" takes ") && !stopped.headline.contains("95%"),
            "{}",
            stopped.headline
        );
        if let (Some(met), Some(missed)) = (capacity.low_hz, capacity.high_hz) {
            assert!(met < missed, "{}", stopped.headline);
            assert!(
                stopped.headline.starts_with("Stopped early: the server carried "),
                "{}",
                stopped.headline
            );
        }
    }
    assert!(late.capacity.is_some_and(|capacity| {
        capacity.low_hz.zip(capacity.high_hz).is_some_and(|(low, high)| {
            low <= whole.high_hz.unwrap_or(low) && high >= whole.low_hz.unwrap_or(high)
        })
    }));
    let mut cut_off = trials(&world, &plan, 20);
    cut_off[19].end = None;
    assert_eq!(ids(&analyze_trials(&plan, &cut_off), VerdictStatus::Suspect), ["V32", "V33"]);
    let mut stopped = trials(&world, &plan, 3);
    if let Some(end) = &mut stopped[2].end {
        end.ending = TrialEnding::Interrupted;
    }
    let stopped = analyze_trials(&plan, &stopped);
    assert!(ids(&stopped, VerdictStatus::Suspect).contains(&"V33"));
    let pilot = analyze_trials(&plan, &trials(&world, &plan, 1));
    assert_eq!(pilot.headline, "No capacity yet: the search was stopped before any rate met the objective");
    assert_eq!(pilot.capacity.map(|capacity| capacity.ended_by), Some(EndedBy::Interrupted));
}

#[test]
fn a_headline_never_gives_as_the_servers_what_may_be_the_generators() {
    let doubtful = Specimen::closed(64, 20_000.0, 10.0).generator(0.97).server(1.0).cpu(0.6, 0.3, 0.08);
    let load = analyze_load(doubtful.build());
    assert!(ids(&load, VerdictStatus::Suspect).contains(&"M01"), "{:?}", load.verdict);
    assert!(
        load.headline.contains("at least")
            && load.headline.ends_with("the generator may have been the bottleneck"),
        "{}",
        load.headline
    );
    let (plan, world) = (run_plan(1), queue());
    let mut all = trials(&world, &plan, 200);
    for trial in &mut all {
        if let Some(end) = &mut trial.end {
            end.summary.generator.busiest_thread_ratio = 0.95;
        }
    }
    let run = analyze_trials(&plan, &all);
    let capacity = run.capacity.expect("a run has one");
    assert!(capacity.is_lower_bound || capacity.rate_hz.is_none(), "{}", run.headline);
    assert!(!run.headline.contains("95%"), "{}", run.headline);
}

#[test]
fn a_record_without_a_trial_is_invalid() {
    let empty = analyze_trials(&run_plan(1), &[]);
    assert_eq!(
        (empty.verdict.status, empty.headline.as_str()),
        (VerdictStatus::Invalid, "Nothing was measured")
    );
    let mut begun = trials(&queue(), &run_plan(1), 1);
    begun[0].end = None;
    let begun = analyze_trials(&run_plan(1), &begun);
    assert_eq!(ids(&begun, VerdictStatus::Invalid), ["V32"]);
}

#[test]
fn a_sweep_is_told_as_a_closed_loop() {
    let mut plan = run_plan(1);
    plan.search.method = SearchMethod::Connections(vec![10, 300, 700]);
    let world = World::quiet(Model::Queue { capacity_hz: 5000.0, floor_ns: 1e6 });
    let analysis = analyze_trials(&plan, &trials(&world, &plan, 200));
    assert!(analysis.headline.starts_with("the server carries 4,94"), "{}", analysis.headline);
    assert!(analysis.headline.ends_with("with 700 connections"), "{}", analysis.headline);
    assert!(analysis.curve.iter().all(|point| point.purpose == TrialPurpose::Sweep && point.met.is_none()));
}

#[test]
fn a_run_whose_responses_are_wrong_gives_no_rate() {
    let (plan, world) = (run_plan(1), queue());
    let mut trials = trials(&world, &plan, 200);
    for trial in &mut trials {
        let summary = &mut trial.end.as_mut().expect("ended").summary;
        for counts in [&mut summary.measured.counts, &mut summary.total] {
            (counts.ok, counts.failed) = (counts.ok - 1, counts.failed + 1);
        }
        summary.measured.failures.insert(FailureClass::WrongBody, 1);
    }
    let analysis = analyze_trials(&plan, &trials);
    assert!(ids(&analysis, VerdictStatus::Invalid).contains(&"M05"));
    assert_eq!(analysis.capacity.and_then(|capacity| capacity.rate_hz), None);
}

#[test]
fn a_capacity_that_moved_during_the_search_is_told() {
    let plan = run_plan(1);
    let slower = World::quiet(Model::Cliff { capacity_hz: 1000.0 });
    let mut search = crate::search::Search::new(&plan);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(9);
    let mut trials = Vec::new();
    while let Some(request) = search.next() {
        let number = u32::try_from(trials.len()).expect("few") + 1;
        let world = if number <= 12 { queue() } else { slower };
        let (begin, end, verdict) = trial(&world, number, &request, &mut rng);
        search.record(&begin, &end, &verdict);
        trials.push(Trial { begin, end: Some(end) });
    }
    let moved = analyze_trials(&plan, &trials);
    assert!(ids(&moved, VerdictStatus::Suspect).contains(&"V36"), "{:?}", moved.verdict);
    assert!(!moved.headline.contains("none of"), "{}", moved.headline);
    let steady = analyze_run(&queue());
    assert!(!steady.verdict.reasons.iter().any(|reason| reason.id == "V36"));
}

#[test]
fn one_disturbed_trial_in_five_makes_a_run_suspect() {
    let (plan, world) = (run_plan(1), queue());
    let mut trials = trials(&world, &plan, 200);
    for trial in trials.iter_mut().step_by(3) {
        trial.end.as_mut().expect("ended").summary.total.unsent = 7;
    }
    let analysis = analyze_trials(&plan, &trials);
    assert!(ids(&analysis, VerdictStatus::Suspect).contains(&"V35"), "{:?}", analysis.verdict);
}

#[test]
fn the_summary_of_a_kind_that_was_not_measured_has_count_zero() {
    let analysis = analyze_load(Specimen::closed(8, 1000.0, 10.0));
    assert_eq!((analysis.response_time_ns.count, analysis.connect_time_ns.count), (0, 0));
    assert_eq!(analysis.service_time_ns.count, 10_000);
    assert!(LatencySet::default().get(LatencyKind::Connect).is_empty());
}

#[test]
fn what_stopped_a_load_in_its_warm_up_is_named_with_what_failed_there() {
    let status = FailureClass::Status;
    let analysis = analyze_load(Specimen::open(1.0, 10.0).fail(status, 10).edit(|case| {
        case.end.ending = TrialEnding::HardStop("80% of the last 200 requests failed".into());
        let summary = &mut case.end.summary;
        summary.measured.statuses = [(429, 10)].into();
        summary.phases[0] = PhaseSummary {
            kind: PhaseKind::Warmup,
            begin_mono_ns: at(BEGIN),
            end_mono_ns: at(BEGIN + WARMUP),
            counts: Counts { scheduled: 200, sent: 200, ok: 40, failed: 160, ..Counts::default() },
            failures: [(status, 160)].into(),
            statuses: [(200, 40), (429, 160)].into(),
            ..PhaseSummary::default()
        };
    }));
    let found = analysis.findings.iter().find(|finding| finding.id == "A11").expect("a finding");
    assert!(found.title.contains("170 requests got status 429"), "{}", found.title);
}
