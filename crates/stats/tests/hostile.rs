//! No sample of any numbers, however absurd, makes a statistic panic or answer with something that is not a finite
//! number.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sysdyno_stats::dependence::{WindowCount, dependence};
use sysdyno_stats::estimate::Estimate;
use sysdyno_stats::usl::ResidualScale;
use sysdyno_stats::{
    change_point, descriptive, goodness, isotonic, multiplicity, order_statistics, proportion, rank_sum,
    regression, sample_size, signed_rank, steady, t_test, usl, variance_components, verdict,
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
    fn descriptions(x in sample(), gap in number(), terms in any::<u32>(), mean_gap in number()) {
        for describe in [descriptive::mean, descriptive::standard_deviation, descriptive::median] {
            check_some(describe(&x))?;
        }
        for terms in [terms, terms % 40] {
            check_some(goodness::gamma_share(gap, terms, mean_gap))?;
        }
        check_some(goodness::anderson_darling_uniform(&x))?;
        let shares: Vec<f64> = x.iter().filter_map(|gap| goodness::gamma_share(*gap, 1, mean_gap)).collect();
        check_some(goodness::anderson_darling_uniform(&shares))?;
    }

    #[test]
    fn effects_and_verdicts(x in sample(), y in sample(), level in number()) {
        for level in [level, 0.95] {
            check_estimate(signed_rank::hodges_lehmann(&x, level))?;
            check_estimate(rank_sum::hodges_lehmann_shift(&x, &y, level))?;
            let tests = [t_test::paired_t(&x, level), t_test::welch(&x, &y, level)];
            for test in tests.into_iter().flatten() {
                check_estimate(Some(test.mean))?;
                check(&[test.t, test.p_two_sided, test.standard_error, test.freedom])?;
            }
        }
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
    fn series(x in sample(), part in 0..5_usize, counts in prop::collection::vec(any::<(u64, u64)>(), 0..40)) {
        check(&steady::mser5(&x).map_or(vec![], |found| vec![found.mean]))?;
        check_some(steady::drift_ratio(&x))?;
        check_some(regression::theil_sen_slope(&x))?;
        check(&regression::mann_kendall(&x).map_or(vec![], |found| vec![found.z, found.p_two_sided]))?;
        check(&change_point::best_split(&x, part).map_or(vec![], |found| vec![found.q]))?;
        let windows = counts.iter().map(|(count, above)| WindowCount { count: *count, above: *above.min(count) });
        let found = dependence(&windows.collect::<Vec<_>>()).ok();
        check(&found.map_or(vec![], |found| vec![found.window_rho, found.batch_rho, found.variance_factor]))?;
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
        for scale in [ResidualScale::Linear, ResidualScale::Logarithmic] {
            let Some(fit) = usl::fit(x, y, scale, 0.95) else { continue };
            check(&[fit.law.lambda_hz, fit.law.sigma, fit.law.kappa, fit.residual_sd])?;
            check_estimate(fit.intervals.map(|intervals| intervals.kappa))?;
            check_estimate(fit.intervals.and_then(|intervals| intervals.peak_clients))?;
            check_some(fit.law.clients_at_latency(level))?;
        }
    }

    #[test]
    fn counts(successes in any::<u64>(), count in any::<u64>(), ratio in number(), level in number()) {
        for level in [level, 0.95] {
            check_estimate(proportion::wilson(successes, count, level))?;
            check_estimate(proportion::wilson(successes % 50, count % 50, level))?;
            order_statistics::quantile_ranks(count, ratio, level);
            order_statistics::quantile_ranks(count % 100_000, ratio, level);
        }
        order_statistics::is_quantile_supported(count, ratio);
        let rates = sample_size::ErrorRates { alpha: level, power: ratio };
        sample_size::pairs_to_prove_same(ratio, rates);
        sample_size::pairs_to_end(ratio.abs(), 0.05);
        check_some(sample_size::power(count % 1000, ratio, 0.05))?;
    }
}
