//! Series in time: warm-up, drift, dependence, change points.

use crate::case::Case;
use sysdyno_stats::{autocorrelation, change_point, descriptive, rank, regression, steady, t_test};

pub fn mser5(case: &Case) {
    let x = case.input_list("/x");
    assert_eq!(case.input_u64("/batch") as usize, steady::BATCH_COUNT);
    let batches: Vec<f64> =
        x.chunks(5).map(|batch| descriptive::mean(batch).expect("whole batches")).collect();
    case.numbers("/batch_means", &batches);
    case.numbers("/mser", &steady::mser_scores(&batches));
    let found = steady::mser5(&x).expect("enough values");
    case.value("/d_star_batches", found.cut / steady::BATCH_COUNT);
    case.value("/truncate_samples", found.cut);
    case.value("/ok", !found.is_boundary);
    case.number("/mean_after", found.mean);
}

pub fn autocorrelation(case: &Case) {
    let x = case.input_list("/x");
    assert_eq!(case.input_u64("/window_c"), 5);
    case.numbers("/rho_1..5", &autocorrelation::autocorrelations(&x, 5).expect("varies"));
    let time = autocorrelation::integrated_time(&x).expect("varies");
    case.number("/tau_int", time.tau);
    case.value("/window_M", time.window);
    case.number("/n_eff", autocorrelation::effective_count(&x).expect("varies"));
    case.number("/von_neumann", autocorrelation::von_neumann_ratio(&x).expect("varies"));
    let test = autocorrelation::ljung_box(&x, case.input_u64("/lb_lags") as usize).expect("varies");
    case.number("/lb_Q10", test.q);
    case.number("/lb_p10", test.p);
}

pub fn batch_means(case: &Case) {
    let x = case.input_list("/x");
    let found =
        autocorrelation::batch_means(&x, case.input_u64("/batches") as usize, 0.95).expect("enough values");
    case.numbers("/means", &found.means);
    case.number("/se", found.standard_error);
    let deviation = descriptive::standard_deviation(&x).expect("usable");
    case.number("/naive_se", deviation / (x.len() as f64).sqrt());
    case.numbers("/ci95", &[found.mean.low, found.mean.high]);
}

pub fn spearman(case: &Case) {
    let found = rank::spearman_lag_one(&case.input_list("/x")).expect("varies");
    case.number("/rho", found.rho);
    case.number("/p_t_approx", found.p_two_sided);
}

pub fn trend(case: &Case) {
    let x = case.input_list("/x");
    let test = regression::mann_kendall(&x).expect("enough values");
    case.number("/S", test.score as f64);
    case.number("/varS", test.variance);
    case.number("/z", test.z);
    case.number("/p", test.p_two_sided);
    case.number("/theil_sen_slope", regression::theil_sen_slope(&x).expect("enough values"));
    let slope = regression::theil_sen(&x, 0.95).expect("enough values");
    case.numbers("/slope_ci95", &[slope.low, slope.high]);
    case.number("/drift_over_window_pct", steady::drift_ratio(&x).expect("positive") * 100.0);
}

pub fn kpss(case: &Case) {
    let x = case.input_list("/x");
    let lags = case.input_u64("/lags") as usize;
    case.number("/eta_mu", steady::kpss(&x, lags).expect("varies").eta);
    for (name, critical) in [
        ("10%", steady::KPSS_CRITICAL_10_PERCENT),
        ("5%", steady::KPSS_CRITICAL_5_PERCENT),
        ("2.5%", steady::KPSS_CRITICAL_2_5_PERCENT),
        ("1%", steady::KPSS_CRITICAL_1_PERCENT),
    ] {
        case.number(&format!("/crit/{name}"), critical);
    }
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
    let student = t_test::student(before, after, 0.95).expect("varies");
    case.number("/student_t_p", student.p_two_sided);
    case.is_not("/p_if_population_sd_is_passed(BUG)", &[student.p_two_sided]);
}
