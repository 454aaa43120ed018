//! Do intervals cover what they promise, and do tests err as often as they say? Seeded simulations.
//!
//! Each rate that is measured must lie within four standard errors of the one that is promised (or on its safe side).
//! All is deterministic; with `SYSDYNO_SLOW_TESTS=1` there are 25 times more repetitions, and the bounds are five
//! times as tight.

mod block_model;
mod bounds;
mod errors;
mod experiment;
mod rate;
mod shapes;

use rate::{Random, Rate};
use sysdyno_stats::histogram::LatencyHistogram;
use sysdyno_stats::signed_rank::hodges_lehmann;
use sysdyno_stats::verdict::{Comparison, judge, log_margin, stop_reason};
use sysdyno_stats::{
    change_point, dependence, distribution, goodness, order_statistics, proportion, regression, steady,
};

#[test]
fn ranks_cover_the_quantile_as_often_as_the_binomial_says() {
    // R: pbinom(high − 1, n, q) − pbinom(low − 1, n, q).
    for (seed, count, ratio, coverage) in
        [(1, 100, 0.5, 0.964_800), (2, 1000, 0.99, 0.976_095), (3, 3000, 0.99, 0.957_070)]
    {
        let ranks = order_statistics::quantile_ranks(count, ratio, 0.95).expect("large enough");
        let truth = -(1.0 - ratio).ln();
        let covered = Rate::of(1000, seed, |random| {
            let mut values = random.many(count as usize, Random::exponential);
            values.sort_by(f64::total_cmp);
            values[ranks.low as usize - 1] <= truth && truth <= values[ranks.high as usize - 1]
        });
        covered.is_about(coverage);
    }
}

#[test]
fn the_interval_of_a_histogram_covers_in_spite_of_its_grain() {
    // A narrow distribution far out: the whole of it spans few buckets.
    let covered = Rate::of(400, 4, |random| {
        let mut histogram = LatencyHistogram::new();
        (0..2000).for_each(|_| histogram.record((1e9 + 2e6 * random.uniform()) as u64));
        let [low, high] = order_statistics::quantile_interval(&histogram, 0.9, 0.95).expect("large enough");
        low <= 1_001_800_000 && 1_001_800_000 <= high
    });
    covered.is_at_least(0.95);
}

#[test]
fn fieller_covers_the_capacity() {
    let rates: Vec<f64> = (0..15).map(|index| (4500.0 + 250.0 * f64::from(index / 3)).ln()).collect();
    let (slope, level) = (3.7, 10f64.ln());
    let truth = 5175f64.ln();
    for (seed, noise) in [(5, 0.05), (6, 0.2)] {
        let covered = Rate::of(2000, seed, |random| {
            let latencies: Vec<f64> =
                rates.iter().map(|rate| level + slope * (rate - truth) + noise * random.normal()).collect();
            let line = regression::ols(&rates, &latencies).expect("a line");
            regression::inverse_prediction(&line, level, 0.95).is_none_or(|found| found.contains(truth))
        });
        covered.is_about(0.95);
    }
}

#[test]
fn hodges_lehmann_covers_the_effect_whatever_the_noise() {
    let noises: [fn(&mut Random) -> f64; 2] = [Random::normal, Random::spiky];
    // The level that the exact ranks really have; R: 1 − 2·psignrank(k − 1, n).
    for (seed, count, promised) in [(7, 8, 0.960_938), (8, 12, 0.957_520), (9, 20, 0.951_559)] {
        for noise in noises {
            let covered = Rate::of(1500, seed, |random| {
                let d = random.many(count, |random| 0.3 + noise(random) - noise(random));
                hodges_lehmann(&d, 0.95).expect("enough pairs").contains(0.3)
            });
            covered.is_about(promised);
            let rejected = Rate::of(1500, seed + 10, |random| {
                is_significant(&random.many(count, |random| noise(random) - noise(random)))
            });
            rejected.is_about(1.0 - promised);
        }
    }
}

/// Whether the 95% interval excludes "no effect", which is to say that the signed-rank test has p < 0.05.
fn is_significant(d: &[f64]) -> bool {
    !hodges_lehmann(d, 0.95).expect("enough pairs").contains(0.0)
}

/// Adds pairs, two at a time as super-blocks do, until the rule says that they are enough or there are 40.
fn measured_until_enough(mei: f64, mut draw: impl FnMut() -> f64) -> Vec<f64> {
    let mut d: Vec<f64> = (0..8).map(|_| draw()).collect();
    while d.len() < 40 && stop_reason(&d, mei).is_none() {
        d.extend([draw(), draw()]);
    }
    d
}

#[test]
fn stopping_by_width_keeps_false_verdicts_rare_and_finds_real_effects() {
    let mei = 0.03;
    let margin = log_margin(mei).expect("positive");
    for (seed, noise) in [(20, 0.5), (21, 1.0), (22, 1.5)] {
        let verdict = |random: &mut Random, effect: f64| {
            let d = measured_until_enough(mei, || effect + noise * margin * random.normal());
            judge(&d, mei).expect("usable").comparison
        };
        let false_verdicts = Rate::of(300, seed, |random| {
            matches!(verdict(random, 0.0), Comparison::Better | Comparison::Worse)
        });
        false_verdicts.is_at_most(0.04);
        let found = Rate::of(300, seed + 10, |random| verdict(random, 2.0 * margin) == Comparison::Better);
        found.is_at_least(0.99);
        let opposite = Rate::of(300, seed + 20, |random| verdict(random, margin) == Comparison::Worse);
        assert_eq!(opposite.hits, 0);
    }
}

#[test]
fn stopping_at_the_first_small_p_errs_far_more_often() {
    let fooled = Rate::of(300, 50, |random| {
        let mut d = random.many(8, Random::normal);
        while d.len() < 40 && !is_significant(&d) {
            d.extend([random.normal(), random.normal()]);
        }
        is_significant(&d)
    });
    assert!(fooled.ratio() > 0.10, "{}", fooled.ratio());
}

/// Whether gaps that were planned to have a mean of 1 are told apart from those of a Poisson process.
fn is_not_poisson(gaps: &[f64]) -> bool {
    let shares: Option<Vec<f64>> = gaps.iter().map(|gap| goodness::gamma_share(*gap, 1, 1.0)).collect();
    let statistic = goodness::anderson_darling_uniform(&shares.expect("gaps are positive"));
    statistic.expect("enough gaps") > goodness::CRITICAL_KNOWN_1_PERCENT
}

#[test]
fn exponential_gaps_are_rejected_as_often_as_promised() {
    for (seed, count) in [(60, 50), (61, 400)] {
        let rejected =
            Rate::of(1500, seed, |random| is_not_poisson(&random.many(count, Random::exponential)));
        rejected.is_about(0.01);
    }
}

#[test]
fn arrivals_that_are_not_poisson_are_found() {
    let jittered =
        Rate::of(200, 70, |random| is_not_poisson(&random.many(50, |random| 0.8 + 0.4 * random.uniform())));
    assert_eq!(jittered.hits, jittered.tries, "constant arrivals with 20% of jitter");
    let batched = Rate::of(200, 71, |random| {
        let in_batches =
            |random: &mut Random| if random.uniform() < 0.3 { 1e-6 } else { random.exponential() / 0.7 };
        is_not_poisson(&random.many(400, in_batches))
    });
    batched.is_at_least(0.99);
    let uniform =
        Rate::of(200, 72, |random| is_not_poisson(&random.many(400, |random| 2.0 * random.uniform())));
    uniform.is_at_least(0.99);
}

#[test]
fn the_warm_up_is_cut_near_its_end() {
    // Throughput climbs by 1 − e^(−t/20) and is noise around 1000 after about 100 of 600 values.
    let run = |random: &mut Random, length: u32, time: f64| -> Vec<f64> {
        (0..length).map(|t| 1000.0 * (1.0 - (-f64::from(t) / time).exp()) + 10.0 * random.normal()).collect()
    };
    let cut_well = Rate::of(400, 80, |random| {
        let found = steady::mser5(&run(random, 600, 20.0)).expect("enough values");
        !found.is_boundary && (60..=200).contains(&found.cut) && (found.mean - 1000.0).abs() < 3.0
    });
    cut_well.is_at_least(0.95);
    let unsettled = Rate::of(400, 81, |random| {
        steady::mser5(&run(random, 100, 60.0)).expect("enough values").is_boundary
    });
    unsettled.is_at_least(0.99);
    let flat_mostly_kept = Rate::of(400, 82, |random| {
        let series = random.many(200, Random::normal);
        steady::mser5(&series).expect("enough values").cut <= 50
    });
    flat_mostly_kept.is_at_least(0.70);
}

#[test]
fn changes_are_found_where_they_are_and_not_where_they_are_not() {
    let false_alarm = Rate::of(150, 100, |random| {
        let series = random.many(40, Random::normal);
        change_point::permutation_p(&series, 5, 19, &mut random.bits).expect("long enough") <= 0.05
    });
    false_alarm.is_about(0.05);
    let located = Rate::of(150, 101, |random| {
        let mut series = random.many(60, Random::normal);
        series[25..].iter_mut().for_each(|value| *value += 3.0);
        change_point::best_split(&series, 5).expect("long enough").index.abs_diff(25) <= 2
    });
    located.is_at_least(0.95);
}

#[test]
fn error_ratios_are_covered() {
    let covered = Rate::of(800, 110, |random| {
        let errors = (0..2000).filter(|_| random.uniform() < 0.004).count() as u64;
        proportion::wilson(errors, 2000, 0.95).expect("trials").contains(0.004)
    });
    covered.is_at_least(0.94);
}

/// A run of windows of `per_window` latencies each, whose level wanders: ln latency = level + noise, both of variance 1.
fn wandering(random: &mut Random, windows: usize, per_window: usize, memory: f64) -> Vec<LatencyHistogram> {
    let scale = (1.0 - memory * memory).sqrt();
    let levels = random.autoregressive(windows, memory);
    let window = |level: &f64| {
        let mut histogram = LatencyHistogram::new();
        (0..per_window).for_each(|_| {
            histogram.record((1e6 * (level * scale + random.normal()).exp()) as u64);
        });
        histogram
    };
    levels.iter().map(window).collect()
}

/// How often an interval is given that holds the true quantile, how often one that does not, and how often the interval
/// for independent values does not.
struct Coverage {
    right: Rate,
    wrong: Rate,
    naive_wrong: Rate,
}

fn coverage(seed: u64, windows: usize, memory: f64, ratio: f64) -> Coverage {
    // The sum of two standard normal values.
    let truth = (1e6 * (2f64.sqrt() * distribution::normal_quantile(ratio)).exp()) as u64;
    let holds = |interval: [u64; 2]| interval[0] <= truth && truth <= interval[1];
    let none = || Rate { hits: 0, tries: 0 };
    let (mut wrong, mut naive_wrong) = (none(), none());
    let right = Rate::of(100, seed, |random| {
        let histograms = wandering(random, windows, 100, memory);
        let mut all = LatencyHistogram::new();
        histograms.iter().for_each(|histogram| all.merge(histogram));
        let at = all.quantile(ratio).expect("has values");
        let counts: Vec<dependence::WindowCount> = histograms
            .iter()
            .map(|histogram| dependence::WindowCount {
                count: histogram.count(),
                above: histogram.count() - histogram.as_hdr().count_between(0, at),
            })
            .collect();
        let naive = order_statistics::quantile_interval(&all, ratio, 0.95).expect("large enough");
        let found = dependence::dependence(&counts).ok();
        let given = found.and_then(|found| dependence::dependent_interval(&all, ratio, 0.95, &found));
        naive_wrong.hits += u32::from(!holds(naive));
        wrong.hits += u32::from(given.is_some_and(|interval| !holds(interval)));
        (wrong.tries, naive_wrong.tries) = (wrong.tries + 1, naive_wrong.tries + 1);
        given.is_some_and(holds)
    });
    Coverage { right, wrong, naive_wrong }
}

#[test]
fn intervals_of_dependent_values_cover_where_those_of_independent_ones_fail() {
    for (seed, memory, ratio) in [(31, 0.0, 0.5), (32, 0.0, 0.9), (33, 0.5, 0.5)] {
        let found = coverage(seed, 120, memory, ratio);
        found.right.is_at_least(0.92);
        assert!(found.naive_wrong.ratio() > 0.5, "{memory} {ratio}: {}", found.naive_wrong.ratio());
    }
}

#[test]
fn no_interval_is_better_than_a_wrong_one() {
    for (seed, windows, memory, ratio) in
        [(41, 15, 0.5, 0.5), (42, 30, 0.8, 0.9), (43, 60, 0.8, 0.99), (44, 60, 0.8, 0.5)]
    {
        let found = coverage(seed, windows, memory, ratio);
        found.wrong.is_at_most(0.08);
        assert!(found.naive_wrong.ratio() > 0.5, "{memory} {ratio}: {}", found.naive_wrong.ratio());
    }
    coverage(45, 10, 0.8, 0.5).wrong.is_at_most(0.11);
}
