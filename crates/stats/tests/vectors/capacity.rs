//! Curves over load: the scalability law, isotonic and inverse regression.

use crate::case::Case;
use sysdyno_stats::estimate::Estimate;
use sysdyno_stats::usl::{self, ResidualScale, UslFit};
use sysdyno_stats::{isotonic, regression};

fn ends(interval: Estimate) -> [f64; 2] {
    [interval.low, interval.high]
}

fn fitted(case: &Case, scale: ResidualScale) -> UslFit {
    usl::fit(&case.input_list("/N"), &case.input_list("/X"), scale, 0.95).expect("enough loads")
}

fn coefficients(case: &Case, fit: &UslFit) {
    case.number("/sigma", fit.law.sigma);
    case.number("/kappa", fit.law.kappa);
    case.number("/lambda", fit.law.lambda_hz);
}

pub fn usl_linear(case: &Case) {
    let fit = fitted(case, ResidualScale::Linear);
    let start = usl::starting_point(&case.input_list("/N"), &case.input_list("/X")).expect("a law");
    case.number("/linearized_start/sigma", start.sigma);
    case.number("/linearized_start/kappa", start.kappa);
    case.number("/linearized_start/lambda", start.lambda_hz);
    coefficients(case, &fit);
    let intervals = fit.intervals.expect("inside the bounds");
    case.numbers("/se", &intervals.standard_errors);
    case.value("/df", fit.freedom as u64);
    case.number("/resid_sd", fit.residual_sd);
    case.numbers("/ci95_sigma", &ends(intervals.sigma));
    case.numbers("/ci95_kappa", &ends(intervals.kappa));
    case.numbers("/ci95_lambda", &ends(intervals.lambda_hz));
    let peak = intervals.peak_clients.expect("a peak");
    case.number("/N_max", peak.point);
    let t = sysdyno_stats::distribution::student_t_quantile(0.975, fit.freedom);
    case.number("/N_max_se_delta", peak.width() / 2.0 / t);
    case.number("/X_max", fit.law.peak_throughput_hz().expect("a peak"));
    case.number("/X_asymptote_lambda_over_sigma", fit.law.asymptote_hz().expect("contention"));
    case.number("/N_at_R_30ms", fit.law.clients_at_latency(0.03).expect("reached"));
    let throughput = fit.law.throughput_at_latency_hz(0.03).expect("reached");
    case.number("/X_at_R_30ms_correct", throughput);
    case.is_not("/X_at_R_30ms_usl_rs_formula(BUG)", &[throughput]);
}

pub fn usl_six(case: &Case) {
    let fit = fitted(case, ResidualScale::Linear);
    coefficients(case, &fit);
    let intervals = fit.intervals.expect("inside the bounds");
    case.numbers("/se", &intervals.standard_errors);
    case.value("/df", fit.freedom as u64);
    let all = [ends(intervals.sigma), ends(intervals.kappa), ends(intervals.lambda_hz)].concat();
    case.numbers("/ci95_correct", &all);
    case.is_not("/ci_as_printed_by_R_usl_3.0(BUG)", &all);
    case.number("/N_max", fit.law.peak_clients().expect("a peak"));
}

pub fn usl_exact(case: &Case) {
    coefficients(case, &fitted(case, ResidualScale::Linear));
}

pub fn usl_logarithmic(case: &Case) {
    let fit = fitted(case, ResidualScale::Logarithmic);
    coefficients(case, &fit);
    case.numbers("/se", &fit.intervals.expect("inside the bounds").standard_errors);
    case.number("/resid_sd_log", fit.residual_sd);
    case.number("/N_max", fit.law.peak_clients().expect("a peak"));
}

pub fn isotonic(case: &Case) {
    let fitted = isotonic::non_decreasing(&case.input_list("/y"), &case.input_list("/w"));
    case.numbers("/isotonic", &fitted);
    let crossing = isotonic::crossing(&case.input_list("/rate"), &fitted, case.input_f64("/slo_y"));
    case.number("/crossing_rate", crossing.expect("crossed"));
}

pub fn inverse_regression(case: &Case) {
    let logs =
        |pointer: &str| -> Vec<f64> { case.input_list(pointer).iter().map(|value| value.ln()).collect() };
    let line = regression::ols(&logs("/rate"), &logs("/p99_ms")).expect("a line");
    case.number("/a", line.intercept);
    case.number("/b", line.slope);
    case.number("/s", line.residual_sd);
    case.value("/df", line.freedom() as u64);
    let level = case.input_f64("/slo_ms").ln();
    let capacity = regression::inverse_prediction(&line, level, 0.95).expect("significant").map(f64::exp);
    case.number("/C", capacity.point);
    case.numbers("/C_ci95", &ends(capacity));
}
