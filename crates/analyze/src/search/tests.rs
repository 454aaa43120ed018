//! The search against servers whose capacity is known.

use super::*;
use crate::outcome::{FailCause, Judgement};
use crate::simulated::{Model, World, run_plan, search, trial};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use sysdyno_record::analysis::EndedBy;
use sysdyno_record::load::{LatencyKind, LatencySummary, TrialEnding};
use sysdyno_record::units::MonoNs;

const LIMIT_NS: f64 = 50e6;
const SEEDS: u64 = 60;

/// How a search fared over many seeds.
#[derive(Debug, Default)]
struct Score {
    /// Share of seeds in which the interval held the capacity.
    hit_ratio: f64,
    /// Mean width of the interval ÷ capacity.
    width_ratio: f64,
    trials_max: usize,
}

fn score(world: &World) -> Score {
    let truth = world.capacity_hz(LIMIT_NS);
    let mut score = Score::default();
    for seed in 0..SEEDS {
        let search = search(world, &run_plan(seed));
        let capacity = search.capacity();
        let (low, high) = (capacity.low_hz.unwrap_or(0.0), capacity.high_hz.unwrap_or(0.0));
        score.hit_ratio += f64::from(u8::from(low <= truth && truth <= high)) / SEEDS as f64;
        score.width_ratio += (high - low) / truth / SEEDS as f64;
        score.trials_max = score.trials_max.max(search.outcomes().len());
        assert!(capacity.rate_hz.is_some_and(|rate| low <= rate && rate <= high), "{capacity:?}");
        assert_eq!(capacity.ended_by, EndedBy::Objective, "{capacity:?}");
    }
    score
}

fn check(world: World, width_ratio: f64) {
    let score = score(&world);
    let is_good = score.hit_ratio >= 0.9 && score.width_ratio <= width_ratio && score.trials_max <= 60;
    assert!(is_good, "{world:?} {score:?}");
}

#[test]
fn the_highest_load_that_met_the_objective_can_be_repeated_and_lowered() {
    let world = World::quiet(Model::Queue { capacity_hz: 5000.0, floor_ns: 10e6 });
    let search = search(&world, &run_plan(1));
    let met = search.outcomes().iter().filter(|outcome| outcome.judgement == Judgement::Pass);
    let highest_hz = met.filter_map(|outcome| outcome.offered_hz).fold(0.0, f64::max);
    let highest = search.highest_met().expect("a rate met it");
    assert_eq!(highest.rate_hz, Some(highest_hz));
    let low = highest.scaled(0.2);
    assert_eq!((low.rate_hz, low.connections), (Some(highest_hz * 0.2), highest.connections));
    let closed = TrialRequest { rate_hz: None, connections: 8, ..highest };
    assert_eq!([0.2, 0.01].map(|ratio| closed.scaled(ratio).connections), [2, 1]);
    assert_eq!(Search::new(&run_plan(1)).highest_met(), None);
}

#[test]
fn the_interval_holds_the_capacity_of_a_queue() {
    for (floor_ns, noise, width_ratio) in
        [(1e6, 0.1, 0.12), (5e6, 0.1, 0.08), (10e6, 0.05, 0.05), (10e6, 0.2, 0.25)]
    {
        let model = Model::Queue { capacity_hz: 5000.0, floor_ns };
        check(World { noise, ..World::quiet(model) }, width_ratio);
    }
}

#[test]
fn the_interval_holds_the_capacity_at_a_cliff_and_says_so() {
    let cliff = World { noise: 0.1, ..World::quiet(Model::Cliff { capacity_hz: 1234.0 }) };
    check(cliff, 0.1);
    let method = search(&cliff, &run_plan(1)).capacity().method;
    assert!(method.contains("does not follow a line"), "{method}");
}

#[test]
fn a_trial_that_is_hit_now_and_then_does_not_decide() {
    let model = Model::Queue { capacity_hz: 800.0, floor_ns: 10e6 };
    let flaky = World { noise: 0.1, flake_ratio: 0.05, ..World::quiet(model) };
    let score = score(&flaky);
    assert!(score.hit_ratio >= 0.85 && score.trials_max <= 70, "{score:?}");
}

#[test]
fn disturbed_trials_are_repeated_and_not_for_ever() {
    let model = Model::Queue { capacity_hz: 800.0, floor_ns: 10e6 };
    check(World { noise: 0.1, disturbed_ratio: 0.1, ..World::quiet(model) }, 0.2);
    let hopeless = World { disturbed_ratio: 1.0, ..World::quiet(model) };
    let search = search(&hopeless, &run_plan(3));
    assert!(search.outcomes().len() < 30, "{}", search.outcomes().len());
    assert_eq!(search.capacity().rate_hz, None);
}

#[test]
fn a_weak_generator_gives_a_lower_bound_and_ends_the_search() {
    for seed in 0..SEEDS {
        let model = Model::Queue { capacity_hz: 50_000.0, floor_ns: 1e6 };
        let weak = World { noise: 0.1, generator_hz: Some(9_000.0), ..World::quiet(model) };
        let search = search(&weak, &run_plan(seed));
        let capacity = search.capacity();
        assert_eq!((capacity.ended_by, capacity.is_lower_bound), (EndedBy::Generator, true), "{capacity:?}");
        let rate = capacity.rate_hz.expect("a rate was carried");
        assert!((6_500.0..=9_000.0).contains(&rate), "{rate}");
        assert_eq!((capacity.high_hz, capacity.certified_hz), (None, Some(rate)));
        assert!(search.outcomes().len() <= 20, "{}", search.outcomes().len());
    }
}

#[test]
fn too_few_connections_give_a_lower_bound() {
    let search = search(&World::quiet(Model::Connections { service_ns: 20e6 }), &run_plan(5));
    let capacity = search.capacity();
    assert_eq!((capacity.ended_by, capacity.is_lower_bound), (EndedBy::Generator, true), "{capacity:?}");
    assert!(capacity.rate_hz.is_some_and(|rate| (2_700.0..=3_200.0).contains(&rate)), "{capacity:?}");
}

#[test]
fn errors_set_the_end_where_the_excess_is_refused() {
    for seed in 0..SEEDS {
        let search = search(&World::quiet(Model::Refuses { capacity_hz: 700.0 }), &run_plan(seed));
        let capacity = search.capacity();
        assert_eq!(capacity.ended_by, EndedBy::Errors);
        let (low, high) = (capacity.low_hz.expect("a pass"), capacity.high_hz.expect("a fail"));
        assert!(low <= 700.0 && 700.0 <= high && high / low < 1.12, "{low} {high}");
    }
}

#[test]
fn where_everything_fails_there_is_no_capacity_and_few_trials() {
    for model in [Model::NotFound { capacity_hz: 900.0 }, Model::Dead] {
        let search = search(&World::quiet(model), &run_plan(1));
        let capacity = search.capacity();
        assert_eq!((capacity.rate_hz, capacity.ended_by), (None, EndedBy::NothingCarried), "{model:?}");
        assert!(search.outcomes().len() <= 6, "{model:?} {}", search.outcomes().len());
    }
}

#[test]
fn an_objective_below_what_one_connection_alone_waits_is_answered_by_the_first_trial() {
    let slow = search(&World::quiet(Model::Queue { capacity_hz: 1000.0, floor_ns: 160e6 }), &run_plan(1));
    let capacity = slow.capacity();
    assert_eq!((capacity.rate_hz, capacity.ended_by), (None, EndedBy::NothingCarried));
    assert_eq!(slow.outcomes().len(), 1);
    assert_eq!((slow.outcomes()[0].connections, slow.outcomes()[0].offered_hz), (1, None));
    let text = "a single connection already waits 60.0 ms or more for a response, so no rate can meet p99 below 50 \
         ms";
    assert!(capacity.method.contains(text), "{}", capacity.method);
    assert!(!slow.is_out_of_time());
    // Of a percentile alone three trials decide, by their median.
    for (floor_ns, trials, is_answer) in [(52e6, 3, true), (120e6, 3, true), (40e6, 1, false)] {
        let world = World::quiet(Model::Queue { capacity_hz: 1e9, floor_ns });
        let search = search(&world, &run_plan(1));
        let alone = search.outcomes().iter().take_while(|outcome| outcome.connections == 1).count();
        assert_eq!((alone, search.outcomes().len() == trials), (trials, is_answer), "{floor_ns}");
    }
}

#[test]
fn a_sample_that_is_too_small_for_a_median_has_a_middle_that_one_value_does_not_move() {
    let world = World::quiet(Model::Queue { capacity_hz: 5000.0, floor_ns: 5e6 });
    let request = Search::new(&run_plan(1)).next().expect("goes on");
    let alone = |mean_ns: f64, max_ns: u64, count: u64| {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let (begin, mut end, verdict) = trial(&world, 1, &request, &mut rng);
        let service = end.summary.measured.latency.get_mut(&LatencyKind::Service).expect("is there");
        let (mean, max) = (Some(mean_ns), Some(max_ns));
        *service = LatencySummary { mean, max, count, ..LatencySummary::default() };
        let mut search = Search::new(&run_plan(1));
        search.record(&begin, &end, &verdict);
        search.capacity().rate_hz.is_none() && search.next().is_none()
    };
    assert!(alone(80e6, 95_000_000, 15), "80 ms each");
    assert!(!alone(60e6, 800_000_000, 15), "one of 800 ms, the others of 7 ms");
    assert!(!alone(800e6, 800_000_000, 1), "only one");
    assert!(!alone(0.0, 0, 0));
}

#[test]
fn a_single_trial_of_one_connection_that_is_hit_by_something_does_not_decide() {
    let world = World::quiet(Model::Queue { capacity_hz: 5000.0, floor_ns: 5e6 });
    let mut search = Search::new(&run_plan(1));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for (number, flake_ratio) in [(1, 1.0), (2, 0.0), (3, 0.0)] {
        let request = search.next().expect("goes on");
        assert_eq!(request.connections, 1, "{number}");
        let (begin, end, verdict) = trial(&World { flake_ratio, ..world }, number, &request, &mut rng);
        search.record(&begin, &end, &verdict);
    }
    let next = search.next().expect("goes on");
    assert_eq!((next.purpose, next.connections), (TrialPurpose::Pilot, 64));
}

/// A search whose trials have the instants that they would have on a host: half a second before each, and after it.
fn timed_search(world: &World, plan: &RunPlan) -> (Search, f64) {
    let mut search = Search::new(plan);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(plan.seed);
    let (mut at_ns, mut number) = (5_000_000_000, 0);
    while let Some(request) = search.next() {
        number += 1;
        let (mut begin, mut end, verdict) = trial(world, number, &request, &mut rng);
        begin.begin_mono_ns = MonoNs(at_ns + 500_000_000);
        at_ns = begin.begin_mono_ns.0 + request.warmup.0 + request.window.0 + 500_000_000;
        end.end_mono_ns = MonoNs(at_ns);
        search.record(&begin, &end, &verdict);
        assert!(search.remaining() <= plan.search.limit.unwrap_or(SpanNs(u64::MAX)));
    }
    (search, (at_ns - 5_500_000_000) as f64 / 1e9)
}

#[test]
fn a_search_keeps_its_time_or_ends_with_what_it_has() {
    let mut plan = run_plan(0);
    plan.search.probe = SpanNs::from_millis(1_500);
    plan.search.window = SpanNs::from_millis(2_500);
    plan.search.warmup = SpanNs::from_millis(500);
    (plan.search.grid_rates, plan.search.grid_replicates, plan.search.certify_passes) = (4, 2, 1);
    let limit = SpanNs((1.25 * Search::new(&plan).remaining().seconds() * 1e9) as u64);
    let noisy = |model| World { noise: 0.2, flake_ratio: 0.05, ..World::quiet(model) };
    let quick = noisy(Model::Queue { capacity_hz: 5000.0, floor_ns: 5e6 });
    // Windows for a percentile at such a rate are four times as long.
    let slow = noisy(Model::Queue { capacity_hz: 60.0, floor_ns: 5e6 });
    for seed in 0..SEEDS {
        for world in [quick, slow] {
            plan.seed = seed;
            plan.search.limit = None;
            let (free, free_s) = timed_search(&world, &plan);
            plan.search.limit = Some(limit);
            let (search, seconds) = timed_search(&world, &plan);
            assert!(seconds <= limit.seconds(), "{world:?}: {seconds} s of {} s", limit.seconds());
            let capacity = search.capacity();
            let (low, high) = (capacity.low_hz.expect("a pass"), capacity.high_hz.expect("a fail"));
            assert!(low <= high && capacity.ended_by == EndedBy::Objective, "{capacity:?}");
            let is_shorter = search.outcomes().len() < free.outcomes().len();
            assert!(!is_shorter || search.is_out_of_time() || search.outcomes().len() > 10, "{search:?}");
            assert!(!free.is_out_of_time());
            if world.model == slow.model {
                assert!(free_s > 1.5 * limit.seconds(), "{free_s} s is what it takes");
                assert!(search.is_out_of_time(), "{seconds} s");
                let again = Search::with_outcomes(&plan, search.outcomes().to_vec());
                assert_eq!((again.next(), again.is_out_of_time()), (None, true));
            }
        }
    }
}

#[test]
fn a_ceiling_is_never_exceeded_and_ends_the_search() {
    let world = World::quiet(Model::Queue { capacity_hz: 5000.0, floor_ns: 5e6 });
    let mut plan = run_plan(2);
    plan.search.max_rate_hz = Some(1000.0);
    let search = search(&world, &plan);
    assert!(search.outcomes().iter().all(|outcome| outcome.offered_hz.is_none_or(|rate| rate <= 1000.0)));
    let capacity = search.capacity();
    assert_eq!(
        (capacity.ended_by, capacity.rate_hz, capacity.is_lower_bound),
        (EndedBy::Ceiling, Some(1000.0), true)
    );
    assert_eq!((capacity.certified_hz, capacity.certified_passes), (Some(1000.0), 3));
}

#[test]
fn an_interruption_ends_the_search_with_what_there_is() {
    let world = World::quiet(Model::Queue { capacity_hz: 5000.0, floor_ns: 5e6 });
    let mut search = Search::new(&run_plan(2));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for number in 1..=4 {
        let request = search.next().expect("goes on");
        let (begin, mut end, verdict) = trial(&world, number, &request, &mut rng);
        if number == 4 {
            end.ending = TrialEnding::Interrupted;
        }
        search.record(&begin, &end, &verdict);
    }
    assert_eq!(search.next(), None);
    assert_eq!(search.remaining(), SpanNs(0));
    assert_eq!(search.outcomes()[3].judgement, Judgement::Unsound);
}

#[test]
fn the_same_outcomes_lead_to_the_same_trials() {
    let world = World { noise: 0.2, ..World::quiet(Model::Queue { capacity_hz: 5000.0, floor_ns: 5e6 }) };
    let (first, again) = (search(&world, &run_plan(7)), search(&world, &run_plan(7)));
    assert_eq!(first.outcomes(), again.outcomes());
    let followed = Search::with_outcomes(&run_plan(7), first.outcomes().to_vec());
    assert_eq!(followed.next(), None);
    assert_eq!(followed.capacity(), first.capacity());
    let mut rounded = first.outcomes().to_vec();
    for rate in rounded.iter_mut().filter_map(|outcome| outcome.offered_hz.as_mut()) {
        *rate = rate.next_up();
    }
    assert_eq!(Search::with_outcomes(&run_plan(7), rounded).next(), None);
    let cut = Search::with_outcomes(&run_plan(7), first.outcomes()[..9].to_vec());
    assert!(cut.next().is_some());
    let other = search(&world, &run_plan(8));
    assert_ne!(first.outcomes(), other.outcomes());
}

#[test]
fn the_time_left_shrinks_to_nothing() {
    let world = World::quiet(Model::Queue { capacity_hz: 5000.0, floor_ns: 5e6 });
    let mut search = Search::new(&run_plan(2));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let at_first = search.remaining().seconds();
    assert!((200.0..400.0).contains(&at_first), "{at_first}");
    let mut number = 0;
    while let Some(request) = search.next() {
        assert!(search.remaining().0 >= request.window.0);
        number += 1;
        let (begin, end, verdict) = trial(&world, number, &request, &mut rng);
        search.record(&begin, &end, &verdict);
    }
    assert_eq!(search.remaining(), SpanNs(0));
}

#[test]
fn a_slow_server_gets_windows_long_enough_for_its_percentile() {
    let world = World::quiet(Model::Queue { capacity_hz: 60.0, floor_ns: 5e6 });
    let search = search(&world, &run_plan(2));
    let request =
        Search::with_outcomes(&run_plan(2), search.outcomes()[..2].to_vec()).next().expect("a bracket trial");
    assert_eq!((request.purpose, request.window), (TrialPurpose::Bracket, SpanNs::from_secs(12)));
    assert!(search.capacity().rate_hz.is_some());
}

#[test]
fn a_sweep_finds_where_the_rate_stops_growing() {
    let sweep = |levels: &[u32], world: &World| {
        let mut plan = run_plan(4);
        plan.search.method = SearchMethod::Connections(levels.to_vec());
        search(world, &plan)
    };
    let queue = World::quiet(Model::Queue { capacity_hz: 5000.0, floor_ns: 1e6 });
    let growing = sweep(&[1, 2, 4, 8], &queue);
    assert_eq!(growing.capacity().ended_by, EndedBy::Ceiling);
    assert!(growing.capacity().is_lower_bound);
    assert_eq!(growing.outcomes().len(), 6);
    let flat = sweep(&[300, 10, 700, 700, 0], &queue);
    let capacity = flat.capacity();
    assert_eq!((capacity.ended_by, capacity.is_lower_bound), (EndedBy::Saturation, false), "{capacity:?}");
    assert!((4_850.0..5_000.0).contains(&capacity.rate_hz.expect("a rate")), "{capacity:?}");
    let order: Vec<u32> = flat.outcomes().iter().map(|outcome| outcome.connections).collect();
    assert_eq!(order, [10, 300, 700, 700, 700]);
    let limited = sweep(&[10, 100], &World { generator_hz: Some(1000.0), ..queue });
    assert_eq!(limited.capacity().ended_by, EndedBy::Generator);
    let nothing = sweep(&[10], &World::quiet(Model::NotFound { capacity_hz: 100.0 }));
    assert_eq!(nothing.outcomes()[0].judgement, Judgement::Fail(FailCause::Errors));
    assert_eq!((nothing.capacity().rate_hz, nothing.capacity().ended_by), (None, EndedBy::NothingCarried));
}
