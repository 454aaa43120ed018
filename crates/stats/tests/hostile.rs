//! No sample of any numbers, however absurd, makes a statistic panic or answer with something that is not a finite
//! number.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use sysdyno_stats::estimate::Estimate;
use sysdyno_stats::knee::Bend;
use sysdyno_stats::proportion::Tally;
use sysdyno_stats::signed_rank::Direction;
use sysdyno_stats::usl::ResidualScale;
use sysdyno_stats::{
    autocorrelation, bootstrap, change_point, descriptive, goodness, isotonic, knee, multiplicity,
    order_statistics, proportion, quantile, rank, rank_sum, regression, sample_size, signed_rank, steady,
    t_test, usl, variance_components, verdict,
};

/// Numbers of every kind: ordinary, huge, tiny, zero, infinite, not a number; and many ties.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -10.0..10.0_f64,
        2 => 0.0..1e9_f64,
        1 => any::<f64>(),
        1 => prop::sample::select(vec![0.0, -0.0, 1.0, 1e300, -1e300, 1e-300, f64::MIN_POSITIVE, 5e-324]),
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN]),
    ]
}

/// Samples of ordinary numbers only, and samples with anything in them.
fn sample() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        prop::collection::vec(number(), 0..40),
        prop::collection::vec(prop::sample::select(vec![0.0, 1.0, 2.0, 5e-324, 1e-300, 1e-160]), 0..40),
        prop::collection::vec(prop::sample::select(vec![1e300, -1e300, 1e160, 3.0, 1e74]), 0..40),
        prop::collection::vec(0.001..1000.0_f64, 0..40),
    ]
}

fn check(values: &[f64]) -> Result<(), TestCaseError> {
    prop_assert!(values.iter().all(|value| value.is_finite()), "not finite: {values:?}");
    Ok(())
}

fn check_some(value: Option<f64>) -> Result<(), TestCaseError> {
    check(value.as_slice())
}

fn check_estimate(estimate: Option<Estimate>) -> Result<(), TestCaseError> {
    let Some(Estimate { point, low, high, level }) = estimate else { return Ok(()) };
    check(&[point, low, high, level])?;
    prop_assert!(low <= high, "{low} {high}");
    Ok(())
}

/// The same cases in every run; with `SYSDYNO_SLOW_TESTS=1` many more, and others each time.
fn config() -> ProptestConfig {
    let is_slow = std::env::var_os("SYSDYNO_SLOW_TESTS").is_some_and(|value| value == "1");
    let (cases, rng_seed) = if is_slow { (20_000, RngSeed::Random) } else { (400, RngSeed::Fixed(1)) };
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn descriptions_and_quantiles(x in sample(), ratio in number()) {
        for describe in [
            descriptive::mean,
            descriptive::standard_deviation,
            descriptive::median,
            descriptive::median_absolute_deviation,
            descriptive::variation_ratio,
            descriptive::geometric_mean,
        ] {
            check_some(describe(&x))?;
        }
        check(&descriptive::robust_scores(&x).unwrap_or_default())?;
        for ratio in [ratio, 0.5, 0.99] {
            check_some(quantile::nearest_rank(&x, ratio))?;
            check_some(quantile::linear(&x, ratio))?;
            check_some(quantile::harrell_davis(&x, ratio))?;
        }
        let fit = goodness::anderson_darling_exponential(&x);
        check(&fit.map_or(vec![], |fit| vec![fit.a_squared, fit.a_squared_star, fit.mean_gap]))?;
    }

    #[test]
    fn effects_and_verdicts(x in sample(), y in sample(), level in number()) {
        let d = signed_rank::log_ratios(&x, &y, Direction::LowerIsBetter);
        check(&d.unwrap_or_default())?;
        for level in [level, 0.95] {
            check_estimate(signed_rank::hodges_lehmann(&x, level))?;
            check_estimate(rank_sum::hodges_lehmann_shift(&x, &y, level).map(|found| found.shift))?;
            check_estimate(t_test::ratio_of_means(&x, &y, level))?;
            let tests = [t_test::paired_t(&x, level), t_test::welch(&x, &y, level), t_test::student(&x, &y, level)];
            for test in tests.into_iter().flatten() {
                check_estimate(Some(test.mean))?;
                check(&[test.t, test.p_two_sided, test.standard_error, test.freedom])?;
            }
            let found = t_test::equivalence(&x, 0.1, level);
            check(&found.map_or(vec![], |found| vec![found.p_low, found.p_high, found.p]))?;
        }
        check(&signed_rank::signed_rank_test(&x).map_or(vec![], |test| vec![test.p_two_sided]))?;
        check(&rank_sum::mann_whitney(&x, &y).map_or(vec![], |test| vec![test.p_normal, test.u_y]))?;
        if let Some(found) = verdict::judge(&x, level) {
            check_estimate(found.intervals.wide)?;
            check_estimate(found.intervals.narrow)?;
        }
        verdict::stop_reason(&x, level);
        let is_first: Vec<bool> = y.iter().map(|value| *value > 1.0).collect();
        let order = t_test::order_effect(&x, &is_first);
        check(&order.map_or(vec![], |order| vec![order.effect, order.order, order.t, order.p_two_sided]))?;
        let compared = multiplicity::dunnett(&x, &[&y]).unwrap_or_default();
        compared.iter().try_for_each(|test| check(&[test.t, test.p]))?;
        let starts = [x.clone(), y.clone()];
        let levels = variance_components::variance_components(&starts, 0.95);
        check_estimate(levels.map(|levels| levels.mean))?;
        check_some(levels.and_then(|levels| levels.design_effect()))?;
    }

    #[test]
    fn series(x in sample(), lag in 0..50_usize) {
        check(&steady::mser5(&x).map_or(vec![], |found| vec![found.mean]))?;
        check_some(steady::half_shift(&x))?;
        check_some(steady::drift_ratio(&x))?;
        check(&steady::kpss(&x, lag).map_or(vec![], |found| vec![found.eta]))?;
        check_some(autocorrelation::rho(&x, lag))?;
        check_some(autocorrelation::tau(&x))?;
        check_some(autocorrelation::effective_count(&x))?;
        check_some(autocorrelation::von_neumann_ratio(&x))?;
        check(&autocorrelation::ljung_box(&x, lag).map_or(vec![], |test| vec![test.q, test.p]))?;
        check_estimate(autocorrelation::batch_means(&x, lag, 0.95).map(|found| found.mean))?;
        check(&rank::spearman_lag_one(&x).map_or(vec![], |found| vec![found.rho, found.p_two_sided]))?;
        check_estimate(regression::theil_sen(&x, 0.95))?;
        check(&regression::mann_kendall(&x).map_or(vec![], |found| vec![found.z, found.p_two_sided]))?;
        check(&change_point::best_split(&x, lag / 10).map_or(vec![], |found| vec![found.q]))?;
    }

    #[test]
    fn curves(x in sample(), y in sample(), level in number()) {
        let length = x.len().min(y.len());
        let (x, y) = (&x[..length], &y[..length]);
        if let Some(line) = regression::ols(x, y) {
            check(&[line.intercept, line.slope, line.residual_sd, line.slope_se, line.mean_x, line.sxx])?;
            check_estimate(regression::inverse_prediction(&line, level, 0.95))?;
            check_estimate(regression::inverse_prediction(&line, 1.0, level))?;
        }
        check_some(isotonic::crossing(x, y, level))?;
        for bend in [Bend::Concave, Bend::Convex] {
            check(&knee::kneedle(x, y, bend, 1.0).map_or(vec![], |found| vec![found.x, found.threshold]))?;
        }
        for scale in [ResidualScale::Linear, ResidualScale::Logarithmic] {
            let Some(fit) = usl::fit(x, y, scale, 0.95) else { continue };
            check(&[fit.law.lambda_hz, fit.law.sigma, fit.law.kappa, fit.residual_sd])?;
            check_estimate(fit.intervals.map(|intervals| intervals.kappa))?;
            check_estimate(fit.intervals.and_then(|intervals| intervals.peak_clients))?;
            check_some(fit.law.clients_at_latency(level))?;
        }
    }

    #[test]
    fn resamples(x in prop::collection::vec(number(), 0..7), seed in any::<u64>()) {
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        for replicates in [
            bootstrap::exhaustive_replicates(&x, mean).filter(|_| x.len() < 5),
            bootstrap::random_replicates(&x, mean, 50, &mut rng),
        ] {
            let replicates = replicates.unwrap_or_default();
            check_estimate(bootstrap::bca(&x, mean, &replicates, 0.9).map(|found| found.estimate))?;
        }
    }

    #[test]
    fn counts(successes in any::<u64>(), count in any::<u64>(), ratio in number(), level in number()) {
        for level in [level, 0.95] {
            check_estimate(proportion::wilson(successes, count, level))?;
            check_estimate(proportion::wilson(successes % 50, count % 50, level))?;
            check_estimate(proportion::clopper_pearson(successes % 50, count % 1_000_000, level))?;
            order_statistics::quantile_ranks(count, ratio, level);
            order_statistics::quantile_ranks(count % 100_000, ratio, level);
            check_some(sample_size::sd_upper(ratio, count, level))?;
        }
        order_statistics::is_quantile_supported(count, ratio);
        let tallies = [successes, count].map(|seed| Tally { successes: seed % 40, count: (seed >> 8) % 5000 });
        check_some(proportion::fisher_exact_p(tallies[0], tallies[1]))?;
        let rates = sample_size::ErrorRates { alpha: level, power: ratio };
        sample_size::pairs_to_see(ratio, rates);
        sample_size::pairs_to_end(ratio.abs(), 0.05);
        check_some(sample_size::power(count % 1000, ratio, 0.05))?;
    }
}
