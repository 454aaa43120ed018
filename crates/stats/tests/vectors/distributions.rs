//! Quantiles, distributions of single samples, proportions.

use crate::case::Case;
use sysdyno_stats::histogram::LatencyHistogram;
use sysdyno_stats::{distribution, order_statistics, proportion};

pub fn special_quantiles(case: &Case) {
    let pairs = |pointer: &str| -> Vec<[f64; 2]> {
        case.input_list(pointer).chunks(2).map(|pair| [pair[0], pair[1]]).collect()
    };
    let t: Vec<f64> =
        pairs("/t").iter().map(|[p, freedom]| distribution::student_t_quantile(*p, *freedom)).collect();
    case.numbers("/t", &t);
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
    }
}

/// Histograms have a grain of one part in a thousand, which does not show below 2048.
pub fn percentile_merge(case: &Case) {
    let [mut first, second] = ["/shard1", "/shard2"].map(|shard| {
        let mut histogram = LatencyHistogram::new();
        case.input_list(shard).iter().for_each(|value| histogram.record(*value as u64));
        histogram
    });
    let quantiles = |histogram: &LatencyHistogram| -> Vec<f64> {
        let ratios = case.input_list("/p").into_iter();
        ratios.map(|ratio| histogram.quantile(ratio).expect("has values") as f64).collect()
    };
    case.numbers("/shard1", &quantiles(&first));
    case.numbers("/shard2", &quantiles(&second));
    first.merge(&second);
    let merged = quantiles(&first);
    case.numbers("/merged", &merged);
    case.is_not("/averaged(WRONG)", &merged);
}

pub fn proportions(case: &Case) {
    let interval = proportion::wilson(case.input_u64("/x"), case.input_u64("/n"), 0.95).expect("trials");
    case.numbers("/wilson", &[interval.low, interval.high]);
}
