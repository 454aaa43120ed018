//! Quantiles, distributions of single samples, proportions.

use crate::case::{Case, floats};
use sysdyno_stats::histogram::LatencyHistogram;
use sysdyno_stats::proportion::Tally;
use sysdyno_stats::{
    bootstrap, descriptive, distribution, goodness, order_statistics, proportion, quantile, queueing,
};

pub fn special_quantiles(case: &Case) {
    let pairs = |pointer: &str| -> Vec<[f64; 2]> {
        case.input_list(pointer).chunks(2).map(|pair| [pair[0], pair[1]]).collect()
    };
    let t: Vec<f64> =
        pairs("/t").iter().map(|[p, freedom]| distribution::student_t_quantile(*p, *freedom)).collect();
    case.numbers("/t", &t);
    let chi: Vec<f64> =
        pairs("/chi2").iter().map(|[p, freedom]| distribution::chi_squared_quantile(*p, *freedom)).collect();
    case.numbers("/chi2", &chi);
    let normal: Vec<f64> =
        case.input_list("/normal").into_iter().map(distribution::normal_quantile).collect();
    case.numbers("/normal", &normal);
}

pub fn order_statistics(case: &Case) {
    for index in 0..case.input_count() {
        let at = |field: &str| format!("/{index}/{field}");
        let (count, ratio) = (case.input_u64(&at("n")), case.input_f64(&at("p")));
        case.number(&at("n"), count as f64);
        case.number(&at("p"), ratio);
        let exact = order_statistics::quantile_ranks(count, ratio, 0.95).expect("large enough");
        case.value(&at("j_exact"), exact.low);
        case.value(&at("k_exact"), exact.high);
        let coverage = distribution::binomial_cdf(exact.high - 1, count, ratio)
            - distribution::binomial_cdf(exact.low - 1, count, ratio);
        case.number(&at("coverage_exact"), coverage);
        let normal = order_statistics::quantile_ranks_normal(count, ratio, 0.95).expect("large enough");
        case.value(&at("j_normal"), normal.low);
        case.value(&at("k_normal"), normal.high);
    }
}

pub fn quantile_definitions(case: &Case) {
    let x = case.input_list("/x");
    let by = |definition: fn(&[f64], f64) -> Option<f64>| -> Vec<f64> {
        case.input_list("/p").into_iter().map(|ratio| definition(&x, ratio).expect("usable")).collect()
    };
    case.numbers("/type7_linear", &by(quantile::linear));
    case.numbers("/nearest_rank_ceil(np)", &by(quantile::nearest_rank));
    case.numbers("/harrell_davis", &by(quantile::harrell_davis));
}

/// By the sorted values and by histograms, whose grain of one part in a thousand does not show below 2048.
pub fn percentile_merge(case: &Case) {
    let shards = [case.input_list("/shard1"), case.input_list("/shard2")];
    let ratios = case.input_list("/p");
    let ranks = |values: &[f64]| -> Vec<f64> {
        ratios.iter().map(|ratio| quantile::nearest_rank(values, *ratio).expect("usable")).collect()
    };
    case.numbers("/shard1", &ranks(&shards[0]));
    case.numbers("/shard2", &ranks(&shards[1]));
    case.numbers("/merged", &ranks(&shards.concat()));
    let [mut merged, other] = shards.map(|shard| {
        let mut histogram = LatencyHistogram::new();
        shard.iter().for_each(|value| histogram.record(*value as u64));
        histogram
    });
    merged.merge(&other);
    let merged: Vec<f64> =
        ratios.iter().map(|ratio| merged.quantile(*ratio).expect("has values") as f64).collect();
    case.numbers("/merged", &merged);
    case.is_not("/averaged(WRONG)", &merged);
}

pub fn proportions(case: &Case) {
    let first = Tally { successes: case.input_u64("/x"), count: case.input_u64("/n") };
    let second = Tally { successes: case.input_u64("/x2"), count: case.input_u64("/n2") };
    let ends = |interval: Option<sysdyno_stats::estimate::Estimate>| {
        let interval = interval.expect("trials");
        [interval.low, interval.high]
    };
    case.numbers("/wilson", &ends(proportion::wilson(first.successes, first.count, 0.95)));
    case.numbers("/clopper_pearson", &ends(proportion::clopper_pearson(first.successes, first.count, 0.95)));
    let none = proportion::clopper_pearson(0, first.count, 0.95).expect("trials");
    case.number("/zero_of_20000_upper95_two_sided", none.high);
    case.number("/rule_of_three", proportion::rule_of_three(first.count).expect("trials"));
    case.number("/fisher_p_two_sided", proportion::fisher_exact_p(first, second).expect("trials"));
    for passes in [3, 5, 10, 14, 29, 59] {
        let low = proportion::all_passed_low(passes, 0.95).expect("trials");
        case.number(&format!("/pass_k_of_k_lower95/{passes}"), low);
    }
}

pub fn anderson_darling(case: &Case) {
    let fit = goodness::anderson_darling_exponential(&case.input_list("/x")).expect("enough gaps");
    case.number("/A2", fit.a_squared);
    case.number("/A2_star_(1+0.6~1n)", fit.a_squared_star);
    for (name, critical) in [
        ("15%", goodness::CRITICAL_15_PERCENT),
        ("10%", goodness::CRITICAL_10_PERCENT),
        ("5%", goodness::CRITICAL_5_PERCENT),
        ("2.5%", goodness::CRITICAL_2_5_PERCENT),
        ("1%", goodness::CRITICAL_1_PERCENT),
    ] {
        case.number(&format!("/crit_for_A2_star/{name}"), critical);
    }
}

pub fn descriptive(case: &Case) {
    let x = case.input_list("/x");
    case.number("/median", descriptive::median(&x).expect("usable"));
    case.number("/mad", descriptive::median_absolute_deviation(&x).expect("usable"));
    case.numbers("/robust_z", &descriptive::robust_scores(&x).expect("varies"));
    case.number("/cov", descriptive::variation_ratio(&x).expect("usable"));
    case.number("/geomean", descriptive::geometric_mean(&x).expect("positive"));
}

pub fn littles_law(case: &Case) {
    for index in 0..case.input_count() {
        let at = |field: &str| format!("/{index}/{field}");
        let (rate, latency) = (case.input_f64(&at("rate_ok")), case.input_f64(&at("mean_latency_s")));
        let connections = case.input_u64(&at("connections")) as u32;
        case.number(&at("L"), queueing::in_flight_mean(rate, latency));
        let share = queueing::busy_connections_ratio(rate, latency, connections).expect("connections");
        case.number(&at("L_over_connections"), share);
    }
}

pub fn bca_exhaustive(case: &Case) {
    let x = case.input_list("/x");
    let mean = |values: &[f64]| descriptive::mean(values).expect("usable");
    let replicates = bootstrap::exhaustive_replicates(&x, mean).expect("small");
    let level = case.input_f64("/confidence");
    let found = bootstrap::bca(&x, mean, &replicates, level).expect("varies");
    let point = found.estimate.point;
    case.number("/theta", point);
    case.value("/B", replicates.len());
    case.value("/count_less", replicates.iter().filter(|value| **value < point - 1e-12).count());
    case.value("/count_equal", replicates.iter().filter(|value| (**value - point).abs() <= 1e-12).count());
    case.number("/z0", found.bias);
    case.numbers("/jackknife", &found.jackknife);
    case.number("/acceleration", found.acceleration);
    case.number("/alpha_lo", found.ratios[0]);
    case.number("/alpha_hi", found.ratios[1]);
    case.numbers("/ci_type7", &[found.estimate.low, found.estimate.high]);
    let percentile = bootstrap::percentile_interval(&replicates, point, level).expect("usable");
    case.numbers("/percentile_ci_type7", &[percentile.low, percentile.high]);
    case.number("/rep_mean", mean(&replicates));
    let squares: Vec<f64> = replicates.iter().map(|value| (value - mean(&replicates)).powi(2)).collect();
    case.number("/rep_sd_pop", mean(&squares).sqrt());
    assert_eq!(floats(case.peek("/jackknife")).len(), x.len());
}
