//! Comparisons of two or more samples: effects, intervals, tests and verdicts.

use crate::case::{Case, floats};
use serde_json::Value;
use sysdyno_stats::estimate::Estimate;
use sysdyno_stats::signed_rank;
use sysdyno_stats::verdict::{self, Comparison, Qualifier};
use sysdyno_stats::{multiplicity, rank_sum, t_test};

fn ends(interval: Estimate) -> [f64; 2] {
    [interval.low, interval.high]
}

pub fn paired_log_ratio_t(case: &Case) {
    let (a, b) = (case.input_list("/a"), case.input_list("/b"));
    let d: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (b / a).ln()).collect();
    let test = t_test::paired_t(&d, case.input_f64("/confidence")).expect("varies");
    case.numbers("/d", &d);
    case.number("/mean", test.mean.point);
    case.number("/sd", test.standard_error * (d.len() as f64).sqrt());
    case.number("/se", test.standard_error);
    case.value("/df", test.freedom as u64);
    case.number("/t", test.t);
    case.number("/p_two_sided", test.p_two_sided);
    case.numbers("/ci_log", &ends(test.mean));
    let ratio = test.mean.map(f64::exp);
    case.number("/ratio", ratio.point);
    case.numbers("/ratio_ci", &ends(ratio));
    case.number("/pct", test.mean.point.exp_m1() * 100.0);
}

pub fn signed_rank(case: &Case) {
    let d = case.input_list("/d");
    case.number("/hodges_lehmann", signed_rank::hodges_lehmann_point(&d).expect("usable"));
    for level in case.input_list("/confidence") {
        let percent = (level * 100.0).round();
        case.value(&format!("/k{percent}"), critical_rank(&d, level));
        let interval = signed_rank::hodges_lehmann(&d, level).expect("enough pairs");
        case.numbers(&format!("/ci{percent}"), &ends(interval));
        if percent == 95.0 && case.id() == "signed-rank-hl-positive" {
            case.number("/ratio", interval.map(f64::exp).point);
            case.numbers("/ratio_ci95", &ends(interval.map(f64::exp)));
        }
    }
}

pub fn critical_ranks(case: &Case) {
    for count in case.input_list("/n") {
        // Powers of two: no two of them have the same mean.
        let d: Vec<f64> = (0..count as i32).map(|exponent| 2f64.powi(exponent)).collect();
        for alpha in case.input_list("/alpha") {
            case.value(&format!("/{count}/{alpha}"), critical_rank(&d, 1.0 - alpha));
        }
    }
}

/// The rank of the lower end of the interval among all means of two differences, from 1; 0 where there is no interval.
fn critical_rank(d: &[f64], level: f64) -> usize {
    let Some(interval) = signed_rank::hodges_lehmann(d, level) else { return 0 };
    let means = d.iter().enumerate().flat_map(|(index, a)| d[index..].iter().map(move |b| (a + b) / 2.0));
    let (below, above): (Vec<f64>, Vec<f64>) =
        means.filter(|mean| *mean != interval.low).partition(|mean| *mean < interval.low);
    assert_eq!(below.len() + above.len() + 1, d.len() * (d.len() + 1) / 2, "the end is one mean only");
    below.len() + 1
}

pub fn mann_whitney(case: &Case) {
    let (x, y) = (case.input_list("/x"), case.input_list("/y"));
    let test = rank_sum::mann_whitney(&x, &y).expect("usable");
    case.number("/U_y", test.u_y);
    case.number("/p_exact", test.p_exact.expect("no ties"));
    case.number("/p_asymptotic_cc", test.p_normal);
    let found = rank_sum::hodges_lehmann_shift(&x, &y, case.input_f64("/confidence")).expect("enough values");
    case.number("/hl_shift_y_minus_x", found.point);
    case.numbers("/ci95", &ends(found));
}

pub fn welch(case: &Case) {
    let test = t_test::welch(&case.input_list("/x"), &case.input_list("/y"), 0.95).expect("varies");
    case.number("/t", test.t);
    case.number("/df", test.freedom);
    case.number("/p", test.p_two_sided);
    case.numbers("/ci95_y_minus_x", &ends(test.mean));
}

pub fn verdicts(case: &Case) {
    for index in 0..case.input_count() {
        let id = case.input(&format!("/{index}/id")).as_str().expect("an id");
        let at = |field: &str| format!("/{id}/{field}");
        let d = case.input_list(&format!("/{index}/d"));
        let found = verdict::judge(&d, case.input_f64(&format!("/{index}/mei"))).expect("usable");
        let comparison = match found.comparison {
            Comparison::Better => "better",
            Comparison::Worse => "worse",
            Comparison::Same => "same",
            Comparison::CannotTell => "cant-tell",
        };
        case.value(&at("verdict"), comparison);
        let qualifier = match found.qualifier {
            None => "",
            Some(Qualifier::ByAtLeastMei) => "at-least-MEI",
            Some(Qualifier::SizeUncertain) => "size-uncertain",
            Some(Qualifier::RealButNegligible) => "real-but-negligible",
        };
        case.value(&at("qualifier"), qualifier);
        for (field, interval) in [("ci95", found.intervals.wide), ("ci90", found.intervals.narrow)] {
            match interval {
                Some(interval) => case.numbers(&at(field), &ends(interval)),
                None => case.value(&at(field), Value::Null),
            }
        }
        case.number(&at("hl"), signed_rank::hodges_lehmann_point(&d).expect("usable"));
    }
}

pub fn order_effect(case: &Case) {
    let is_a_first: Vec<bool> = case.input_list("/o").iter().map(|order| *order > 0.0).collect();
    let found = t_test::order_effect(&case.input_list("/d"), &is_a_first).expect("varies");
    case.number("/theta", found.effect);
    case.number("/delta", found.order);
    case.number("/se_theta", found.effect_se);
    case.number("/se_delta", found.order_se);
    case.number("/t_delta", found.t);
    case.number("/p_delta", found.p_two_sided);
}

pub fn holm(case: &Case) {
    case.numbers("/holm", &multiplicity::holm(&case.input_list("/p")));
}

/// The reference p is itself an integration by random points, good to 0.002.
pub fn dunnett(case: &Case) {
    let samples = [case.input_list("/v1"), case.input_list("/v2")];
    let samples: Vec<&[f64]> = samples.iter().map(Vec::as_slice).collect();
    let tests = multiplicity::dunnett(&case.input_list("/control"), &samples).expect("varies");
    for (index, test) in tests.iter().enumerate() {
        case.number_within(&format!("/statistic/{index}"), test.t, 1e-9);
        case.number_within(&format!("/p_approx/{index}"), test.p, 2e-3);
    }
    assert_eq!(floats(case.peek("/statistic")).len(), tests.len());
}
