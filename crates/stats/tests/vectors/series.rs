//! Series in time: warm-up, drift, change points.

use crate::case::Case;
use sysdyno_stats::{change_point, regression, steady, t_test};

pub fn mser5(case: &Case) {
    let found = steady::mser5(&case.input_list("/x")).expect("enough values");
    case.value("/d_star_batches", found.cut as u64 / case.input_u64("/batch"));
    case.value("/truncate_samples", found.cut);
    case.value("/ok", !found.is_boundary);
    case.number("/mean_after", found.mean);
}

pub fn trend(case: &Case) {
    let x = case.input_list("/x");
    let test = regression::mann_kendall(&x).expect("enough values");
    case.number("/S", test.score as f64);
    case.number("/varS", test.variance);
    case.number("/z", test.z);
    case.number("/p", test.p_two_sided);
    case.number("/theil_sen_slope", regression::theil_sen_slope(&x).expect("enough values"));
    case.number("/drift_over_window_pct", steady::drift_ratio(&x).expect("positive") * 100.0);
}

pub fn change_point(case: &Case) {
    let x = case.input_list("/x");
    let found = change_point::best_split(&x, 2).expect("long enough");
    case.number("/q_hat", found.q);
    case.number("/q_at_tau7_kappa14", found.q);
    case.value("/tau", found.index);
    case.value("/kappa", found.end);
    let (before, after) = x.split_at(found.index);
    let welch = t_test::welch(before, after, 0.95).expect("varies");
    case.number("/welch_p", welch.p_two_sided);
}
