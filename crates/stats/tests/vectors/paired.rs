//! Comparisons of two or more samples: effects, intervals, tests and verdicts.

use crate::case::{Case, floats};
use serde_json::Value;
use sysdyno_stats::estimate::Estimate;
use sysdyno_stats::signed_rank::{self, Direction};
use sysdyno_stats::verdict::{self, Comparison, Qualifier};
use sysdyno_stats::{multiplicity, rank_sum, t_test};

fn ends(interval: Estimate) -> [f64; 2] {
    [interval.low, interval.high]
}

pub fn paired_log_ratio_t(case: &Case) {
    let (a, b) = (case.input_list("/a"), case.input_list("/b"));
    let d = signed_rank::log_ratios(&a, &b, Direction::HigherIsBetter).expect("positive");
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
    let test = signed_rank::signed_rank_test(&d).expect("usable");
    case.number("/V_plus", test.positive_rank_sum);
    case.number("/p_exact_two_sided", test.p_two_sided);
    case.number("/hodges_lehmann", signed_rank::hodges_lehmann_point(&d).expect("usable"));
    for level in case.input_list("/confidence") {
        let percent = (level * 100.0).round();
        let critical = signed_rank::critical_rank(d.len(), level).expect("a level");
        case.value(&format!("/k{percent}"), critical.rank);
        case.number(&format!("/achieved{percent}"), critical.achieved_level);
        let interval = signed_rank::hodges_lehmann(&d, level).expect("enough pairs");
        case.numbers(&format!("/ci{percent}"), &ends(interval));
        if percent == 95.0 && case.id() == "signed-rank-hl-positive" {
            case.number("/ratio", interval.map(f64::exp).point);
            case.numbers("/ratio_ci95", &ends(interval.map(f64::exp)));
        }
    }
}

pub fn signed_rank_with_ties(case: &Case) {
    let d = case.input_list("/d");
    let test = signed_rank::signed_rank_test(&d).expect("usable");
    case.value("/n_nonzero", test.nonzero_count);
    case.numbers("/midranks", &test.ranks);
    case.number("/V_plus", test.positive_rank_sum);
    case.number("/p_signflip_two_sided", test.p_two_sided);
    case.number("/hodges_lehmann_all_n", signed_rank::hodges_lehmann_point(&d).expect("usable"));
}

pub fn critical_ranks(case: &Case) {
    for count in case.input_list("/n") {
        for alpha in case.input_list("/alpha") {
            let critical = signed_rank::critical_rank(count as usize, 1.0 - alpha).expect("a level");
            case.numbers(&format!("/{count}/{alpha}"), &[critical.rank as f64, critical.achieved_level]);
        }
    }
}

pub fn mann_whitney(case: &Case) {
    let (x, y) = (case.input_list("/x"), case.input_list("/y"));
    let test = rank_sum::mann_whitney(&x, &y).expect("usable");
    case.number("/U_y", test.u_y);
    case.number("/p_exact", test.p_exact.expect("no ties"));
    case.number("/p_asymptotic_cc", test.p_normal);
    case.number("/cles_P(y>x)", test.greater_ratio);
    let found = rank_sum::hodges_lehmann_shift(&x, &y, case.input_f64("/confidence")).expect("enough values");
    case.number("/hl_shift_y_minus_x", found.shift.point);
    case.value("/k95", found.rank);
    case.numbers("/ci95", &ends(found.shift));
    case.number("/achieved", found.achieved_level);
}

pub fn welch(case: &Case) {
    let test = t_test::welch(&case.input_list("/x"), &case.input_list("/y"), 0.95).expect("varies");
    case.number("/t", test.t);
    case.number("/df", test.freedom);
    case.number("/p", test.p_two_sided);
    case.numbers("/ci95_y_minus_x", &ends(test.mean));
}

pub fn equivalence(case: &Case) {
    let alpha = case.input_f64("/alpha");
    let margin = case.input_f64("/margin_log");
    let test = t_test::equivalence(&case.input_list("/d"), margin, alpha).expect("varies");
    case.number("/p_lower", test.p_low);
    case.number("/p_upper", test.p_high);
    case.number("/p_tost", test.p);
    case.numbers("/ci90", &ends(test.mean));
    case.value("/equivalent", test.p < alpha);
    assert_eq!(test.p < alpha, -margin < test.mean.low && test.mean.high < margin);
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

pub fn ratio_of_means(case: &Case) {
    let (a, b) = (case.input_list("/a"), case.input_list("/b"));
    assert_eq!(case.input_u64("/df") as usize, a.len() + b.len() - 2);
    let ratio = t_test::ratio_of_means(&a, &b, 0.95).expect("far from zero");
    case.number("/ratio", ratio.point);
    case.numbers("/ci95", &ends(ratio));
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

pub fn adjusted_p(case: &Case) {
    let p = case.input_list("/p");
    case.numbers("/holm", &multiplicity::holm(&p));
    case.numbers("/bh", &multiplicity::benjamini_hochberg(&p));
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
