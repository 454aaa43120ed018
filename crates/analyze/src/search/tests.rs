//! The search against servers whose capacity is known.

use super::*;
use crate::outcome::{FailCause, Judgement};
use crate::simulated::{Model, World, run_plan, search, trial};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use sysdyno_record::analysis::EndedBy;
use sysdyno_record::load::TrialEnding;

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
    let slow = World::quiet(Model::Queue { capacity_hz: 100.0, floor_ns: 60e6 });
    let slow = search(&slow, &run_plan(1));
    assert_eq!((slow.capacity().rate_hz, slow.capacity().ended_by), (None, EndedBy::NothingCarried));
    assert!(slow.outcomes().len() <= 31, "{}", slow.outcomes().len());
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
        Search::with_outcomes(&run_plan(2), search.outcomes()[..1].to_vec()).next().expect("a bracket trial");
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
