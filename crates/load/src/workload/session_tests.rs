//! The walk and the times of a session, by simulation.

use super::*;
use sysdyno_record::units::SpanNs;

fn tables(rows: &[&[f64]]) -> Tables {
    let steps = |row: &&[f64]| Steps {
        page: 0,
        objects: Vec::new(),
        next: Walk::new(row).expect("is a row"),
        exit_ratio: 0.0,
        pace: Pace::Think(Distribution::Fixed(SpanNs::from_secs(1))),
        begins_session: false,
    };
    Tables { operations: rows.iter().map(steps).collect(), first: 0, cold_ratio: 0.4, objects_count: 2 }
}

/// The matrix of the Olio web application in Faban, `UIDriver.java`: rows are the operation before.
const OLIO: [&[f64]; 7] = [
    &[0.0, 11.0, 52.0, 36.0, 0.0, 1.0, 0.0],
    &[0.0, 0.0, 60.0, 20.0, 0.0, 0.0, 20.0],
    &[21.0, 6.0, 41.0, 31.0, 0.0, 1.0, 0.0],
    &[72.0, 21.0, 0.0, 0.0, 6.0, 1.0, 0.0],
    &[52.0, 6.0, 0.0, 31.0, 11.0, 0.0, 0.0],
    &[0.0, 0.0, 0.0, 0.0, 100.0, 0.0, 0.0],
    &[0.0, 0.0, 0.0, 100.0, 0.0, 0.0, 0.0],
];

/// Its stationary mix, by power iteration. Unit: per cent.
const OLIO_MIX: [f64; 7] = [26.15, 10.22, 33.45, 24.68, 2.61, 0.84, 2.05];

#[test]
fn users_walk_in_the_stationary_mix_of_their_matrix() {
    let tables = tables(&OLIO);
    let mut counts = [0u32; 7];
    for user in 0..1000 {
        let mut random = Tables::random_of(7, user);
        let mut operation = tables.first;
        for step in 0..600 {
            operation = tables.next(operation, &mut random);
            // The first steps remember that every user began with the same operation.
            counts[operation as usize] += u32::from(step >= 100);
        }
    }
    let all = counts.iter().sum::<u32>() as f64;
    for (count, expected) in counts.iter().zip(OLIO_MIX) {
        let percent = f64::from(*count) / all * 100.0;
        // Half a million dependent draws: a standard deviation is below 0.1.
        assert!((percent - expected).abs() < 0.35, "{counts:?}");
    }
}

#[test]
fn a_walk_depends_on_seed_and_user_only() {
    let tables = tables(&OLIO);
    let walk = |seed: u64, user: u64| {
        let mut random = Tables::random_of(seed, user);
        (0..50)
            .scan(0, |at, _| {
                *at = tables.next(*at, &mut random);
                Some(*at)
            })
            .collect::<Vec<u16>>()
    };
    assert_eq!(walk(1, 5), walk(1, 5));
    assert_ne!(walk(1, 5), walk(1, 6));
    assert_ne!(walk(1, 5), walk(2, 5));
}

#[test]
fn no_user_draws_what_another_one_has_drawn() {
    let mut drawn = std::collections::HashSet::new();
    for user in 0..1000 {
        let mut random = Tables::random_of(5, user);
        (0..50).for_each(|_| assert!(drawn.insert(random.random::<u64>()), "user {user}"));
    }
}

#[test]
fn users_begin_as_many_operations_as_independent_ones_do() {
    let cycle = Distribution::Exponential {
        mean: SpanNs::from_secs(5),
        min: SpanNs(0),
        max: SpanNs::from_secs(25),
        is_shifted: false,
    };
    for seed in 0..5 {
        let begun = |user: u64| {
            let mut random = Tables::random_of(seed, user);
            let mut at_ns = 0;
            std::iter::from_fn(|| {
                at_ns += draw_ns(&cycle, &mut random);
                (at_ns < 12_000_000_000).then_some(())
            })
            .count()
        };
        let count = (0..1000).map(begun).sum::<usize>();
        // 12 s at one in 5 s, 1,000 times: 2,400; standard deviation 49. The cut-off matters after 25 s only.
        assert!((2_150..2_650).contains(&count), "seed {seed}: {count}");
    }
}

fn mean_seconds(distribution: Distribution) -> (f64, f64, f64) {
    let mut random = Tables::random_of(1, 1);
    let times: Vec<f64> = (0..400_000).map(|_| draw_ns(&distribution, &mut random) as f64 / 1e9).collect();
    let (low, high) =
        times.iter().fold((f64::MAX, 0.0_f64), |(low, high), time| (low.min(*time), high.max(*time)));
    (times.iter().sum::<f64>() / times.len() as f64, low, high)
}

#[test]
fn times_have_the_means_and_ends_of_their_distributions() {
    let seconds = SpanNs::from_secs;
    let exponential = |mean, min, is_shifted| Distribution::Exponential {
        mean: seconds(mean),
        min: seconds(min),
        max: seconds(25),
        is_shifted,
    };
    let check = |distribution, mean: f64, low: f64| {
        let (found, least, most) = mean_seconds(distribution);
        // A standard deviation of the mean is below 8 ms.
        assert!((found - mean).abs() < 0.04, "{distribution:?}: mean {found}");
        assert!(least >= low && most <= 25.0, "{distribution:?}: {least} to {most}");
    };
    // Cut off at five means: 5 (1 − e⁻⁵).
    check(exponential(5, 0, false), 4.966, 0.0);
    // 3 s and an exponential time of mean 2 s, cut off 11 means of it later.
    check(exponential(5, 3, true), 5.0, 3.0);
    // What is below 3 s is 3 s: 3 + 5 e^(−3/5) − 5 e⁻⁵.
    check(exponential(5, 3, false), 5.710, 3.0);
    check(Distribution::Uniform { min: seconds(2), max: seconds(4) }, 3.0, 2.0);
    check(Distribution::Fixed(seconds(7)), 7.0, 7.0);
}

#[test]
fn a_cold_cache_fetches_once_and_a_warm_one_asks_each_time() {
    let mut tables = tables(&[&[1.0]]);
    tables.operations[0].objects = vec![
        Embedded { bit: 0, plain: 1, conditional: Some(2) },
        Embedded { bit: 1, plain: 3, conditional: None },
    ];
    let mut versions = Versions::new(2);
    let visit = |cache: &mut Cache, versions: &Versions| {
        let mut step = 0;
        std::iter::from_fn(|| {
            let (kind, after) = tables.request(0, step, cache, versions)?;
            step = after;
            Some(kind)
        })
        .collect::<Vec<RequestKind>>()
    };
    let mut cold = Cache::default();
    assert_eq!((visit(&mut cold, &versions), visit(&mut cold, &versions)), (vec![0, 1, 3], vec![0]));
    // There is nothing to ask by as long as the server has said nothing.
    let mut warm = Cache { is_warm: true, ..Cache::default() };
    assert_eq!((visit(&mut warm, &versions), visit(&mut warm, &versions)), (vec![0, 1, 3], vec![0, 1]));
    let one = versions.learn(0, b"HTTP/1.1 200 OK\r\nETag: \"1\"\r\n\r\n");
    warm.set_version(0, one, &versions);
    assert_eq!(visit(&mut warm, &versions), vec![0, 2]);
    // A cache that is warm from the begin has what the server gave last, and keeps that until it gets another.
    let mut other = Cache { is_warm: true, ..Cache::default() };
    assert_eq!((visit(&mut other, &versions), other.version(0)), (vec![0, 2, 3], one));
    let two = versions.learn(0, b"HTTP/1.1 200 OK\r\nETag: \"2\"\r\n\r\n");
    assert_eq!((visit(&mut other, &versions), other.version(0), versions.latest(0)), (vec![0, 2], one, two));
    let shares =
        (0..10_000).filter(|user| !tables.new_cache(&mut Tables::random_of(3, *user)).is_warm).count();
    // 4,000 expected, standard deviation 49.
    assert!((3_700..4_300).contains(&shares), "{shares}");
}
