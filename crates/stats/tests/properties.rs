//! Laws that must hold for all inputs: symmetry, nesting, invariance, and no answer that is not a finite number.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sysdyno_stats::estimate::Estimate;
use sysdyno_stats::histogram::LatencyHistogram;
use sysdyno_stats::signed_rank::hodges_lehmann;
use sysdyno_stats::usl::Usl;
use sysdyno_stats::verdict::{Comparison, judge, log_margin, stop_reason};
use sysdyno_stats::{isotonic, order_statistics, regression, steady};

fn histogram_of(values: &[u64]) -> LatencyHistogram {
    let mut histogram = LatencyHistogram::new();
    values.iter().for_each(|value| histogram.record(*value));
    histogram
}

/// Everything that a histogram can be asked for.
fn contents(histogram: &LatencyHistogram) -> (Vec<(u64, u64)>, u64, u64) {
    let steps = histogram.as_hdr().iter_recorded();
    let buckets = steps.map(|step| (step.value_iterated_to(), step.count_at_value())).collect();
    (buckets, histogram.count(), histogram.clamped_count())
}

fn differences() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(-0.5..0.5_f64, 8..41)
}

/// Positive measurements of two arms.
fn arms() -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    prop::collection::vec((1.0..1e5_f64, 1.0..1e5_f64), 8..25).prop_map(|pairs| pairs.into_iter().unzip())
}

/// Paired differences of `b` against `a` for a metric of which more is better.
fn log_ratios(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| (b / a).ln()).collect()
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * (1.0 + a.abs().max(b.abs()))
}

fn is_within(inner: &Estimate, outer: &Estimate) -> bool {
    outer.low <= inner.low && inner.high <= outer.high
}

/// The same cases in every run; with `SYSDYNO_SLOW_TESTS=1` many more, and others each time.
fn config() -> ProptestConfig {
    let is_slow = std::env::var_os("SYSDYNO_SLOW_TESTS").is_some_and(|value| value == "1");
    let (cases, rng_seed) = if is_slow { (20_000, RngSeed::Random) } else { (200, RngSeed::Fixed(1)) };
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn histograms_merge_to_the_same_in_any_order(
        shards in prop::collection::vec(prop::collection::vec(0..u64::MAX, 0..30), 1..6),
        turn in 0..6_usize,
    ) {
        let whole = histogram_of(&shards.concat());
        let mut order: Vec<usize> = (0..shards.len()).collect();
        order.rotate_left(turn % shards.len());
        for order in [order.clone(), order.into_iter().rev().collect()] {
            let mut merged = LatencyHistogram::new();
            order.iter().for_each(|shard| merged.merge(&histogram_of(&shards[*shard])));
            prop_assert_eq!(contents(&merged), contents(&whole));
        }
    }

    #[test]
    fn swapping_a_and_b_mirrors_the_interval((a, b) in arms()) {
        let (forth, back) = (log_ratios(&a, &b), log_ratios(&b, &a));
        let forth_interval = hodges_lehmann(&forth, 0.95).expect("enough pairs");
        let mirrored = hodges_lehmann(&back, 0.95).expect("enough pairs").negated();
        prop_assert!(is_near(forth_interval.point, mirrored.point));
        prop_assert!(is_near(forth_interval.low, mirrored.low) && is_near(forth_interval.high, mirrored.high));
        let verdicts = [&forth, &back].map(|d| judge(d, 0.03).expect("usable").comparison);
        let expected = match verdicts[0] {
            Comparison::Better => Comparison::Worse,
            Comparison::Worse => Comparison::Better,
            other => other,
        };
        prop_assert_eq!(verdicts[1], expected);
    }

    #[test]
    fn intervals_of_higher_levels_hold_those_of_lower_ones(d in differences()) {
        let [ninety, ninety_five, ninety_nine] =
            [0.90, 0.95, 0.99].map(|level| hodges_lehmann(&d, level).expect("eight pairs are enough"));
        prop_assert!(is_within(&ninety, &ninety_five) && is_within(&ninety_five, &ninety_nine));
        prop_assert!(ninety.contains(ninety.point));
    }

    #[test]
    fn the_order_of_pairs_does_not_matter(d in differences(), turn in 0..40_usize) {
        let mut turned = d.clone();
        turned.rotate_left(turn % d.len());
        turned.reverse();
        prop_assert_eq!(judge(&turned, 0.03), judge(&d, 0.03).map(|mut found| {
            // Sums for Student's t depend on the order in the last digit; the verdict does not rest on them.
            found.is_outlier_sensitive = judge(&turned, 0.03).expect("usable").is_outlier_sensitive;
            found
        }));
    }

    #[test]
    fn a_narrow_interval_always_ends_in_a_verdict(d in differences(), shift in -0.2..0.2_f64, mei in 0.001..0.5_f64) {
        let shifted: Vec<f64> = d.iter().map(|difference| difference * 0.2 + shift).collect();
        let wide = hodges_lehmann(&shifted, 0.95).expect("enough pairs");
        if wide.width() < log_margin(mei).expect("positive") {
            prop_assert_ne!(judge(&shifted, mei).expect("usable").comparison, Comparison::CannotTell);
        }
        if stop_reason(&shifted, mei).is_some() {
            prop_assert_ne!(judge(&shifted, mei).expect("usable").comparison, Comparison::CannotTell);
        }
    }

    #[test]
    fn the_scalability_law_obeys_littles_law(
        lambda_hz in 1.0..1e6_f64,
        sigma in 0.0..0.9_f64,
        kappa in 0.0..0.1_f64,
        clients in 1.0..1e4_f64,
    ) {
        let law = Usl { lambda_hz, sigma, kappa };
        let latency = law.latency_s(clients);
        prop_assert!(is_near(law.throughput_hz(clients) * latency / clients, 1.0));
        // Below σ ≈ κ ≈ 0 the latency hardly depends on the clients, so that they cannot be had back from it.
        if sigma + kappa * clients > 1e-6 {
            let back = law.clients_at_latency(latency).expect("reached");
            prop_assert!((back / clients - 1.0).abs() < 1e-6, "{} instead of {}", back, clients);
            let throughput = law.throughput_at_latency_hz(latency).expect("reached");
            prop_assert!(is_near(throughput * latency / back, 1.0));
        }
    }

    #[test]
    fn the_warm_up_does_not_depend_on_unit_or_origin(
        series in prop::collection::vec(0.0..100.0_f64, 10..200),
        power in -3..4_i32,
        shift in -64..64_i32,
    ) {
        let found = steady::mser5(&series).expect("enough values");
        // Powers of two and small whole shifts leave the order of the scores but for rounding.
        let moved: Vec<f64> = series.iter().map(|value| (value + f64::from(shift)) * 2f64.powi(power)).collect();
        let again = steady::mser5(&moved).expect("enough values");
        prop_assert_eq!((found.cut, found.is_boundary), (again.cut, again.is_boundary));
        prop_assert!(is_near(again.mean, (found.mean + f64::from(shift)) * 2f64.powi(power)));
    }

    #[test]
    fn isotonic_values_rise_and_keep_the_weighted_sum(
        points in prop::collection::vec((-10.0..10.0_f64, 0.1..5.0_f64), 1..60),
    ) {
        let (y, weights): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
        let fitted = isotonic::non_decreasing(&y, &weights);
        prop_assert!(fitted.windows(2).all(|pair| pair[0] <= pair[1]));
        let sum = |values: &[f64]| values.iter().zip(&weights).map(|(value, weight)| value * weight).sum::<f64>();
        prop_assert!(is_near(sum(&fitted), sum(&y)));
        let again = isotonic::non_decreasing(&fitted, &weights);
        prop_assert!(again.iter().zip(&fitted).all(|(a, b)| is_near(*a, *b)));
    }

    #[test]
    fn ranks_enclose_the_quantile_and_widen_with_the_level(count in 1..5_000_000_u64, ratio in 0.001..0.999_f64) {
        let ranks = [0.90, 0.95, 0.99].map(|level| order_statistics::quantile_ranks(count, ratio, level));
        for pair in ranks.windows(2) {
            if let [Some(narrow), Some(wide)] = pair {
                prop_assert!(wide.low <= narrow.low && narrow.high <= wide.high);
                let middle = count as f64 * ratio;
                prop_assert!(narrow.low as f64 <= middle + 1.0 && middle <= narrow.high as f64);
            }
            prop_assert!(pair[0].is_some() || pair[1].is_none());
        }
    }

    #[test]
    fn an_inverse_prediction_lies_on_its_line(
        noise in prop::collection::vec(-0.3..0.3_f64, 15),
        slope in prop_oneof![-9.0..-1.0_f64, 1.0..9.0_f64],
        level in 2.0..4.0_f64,
    ) {
        let x: Vec<f64> = (0..15).map(|index| f64::from(index / 3)).collect();
        let y: Vec<f64> = x.iter().zip(&noise).map(|(x, noise)| slope * x + noise).collect();
        let line = regression::ols(&x, &y).expect("a line");
        let found = regression::inverse_prediction(&line, slope * level, 0.95).expect("steep");
        prop_assert!(is_near(line.at(found.point), slope * level));
        prop_assert!(found.contains(found.point));
        let wider = regression::inverse_prediction(&line, slope * level, 0.99).expect("steep");
        prop_assert!(is_within(&found, &wider));
    }
}
