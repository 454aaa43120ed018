//! Every statistic against reference values computed by numpy, scipy, and statsmodels (`vectors.json` names the
//! routine of each).
//!
//! Each vector must have a check and each check a vector, and within a vector every expected value must be compared;
//! an exclusion would have to be written into [`EXCLUDED`] with its reason.

mod capacity;
mod case;
mod distributions;
mod paired;
mod planning;
mod series;

use case::Case;
use serde_json::Value;
use std::collections::BTreeSet;

type Check = fn(&Case);

const CHECKS: &[(&str, Check)] = &[
    ("special-quantiles", distributions::special_quantiles),
    ("order-stat-ci", distributions::order_statistics),
    ("percentile-merge", distributions::percentile_merge),
    ("proportions", distributions::proportions),
    ("paired-log-ratio-t", paired::paired_log_ratio_t),
    ("signed-rank-hl-positive", paired::signed_rank),
    ("signed-rank-hl-mixed", paired::signed_rank),
    ("signed-rank-critical", paired::critical_ranks),
    ("mann-whitney-hl", paired::mann_whitney),
    ("welch", paired::welch),
    ("verdicts", paired::verdicts),
    ("order-effect", paired::order_effect),
    ("holm", paired::holm),
    ("dunnett", paired::dunnett),
    ("mser5", series::mser5),
    ("mser5-ok", series::mser5),
    ("mann-kendall-theil-sen", series::trend),
    ("e-divisive", series::change_point),
    ("usl-fit-32", capacity::usl_linear),
    ("usl-fit-6", capacity::usl_six),
    ("usl-fit-exact", capacity::usl_exact),
    ("usl-fit-32-log", capacity::usl_logarithmic),
    ("pava-capacity", capacity::isotonic),
    ("capacity-inverse-regression", capacity::inverse_regression),
    ("kalibera-jones", planning::variance_components),
    ("sample-size", planning::sample_size),
    ("group-sequential", planning::group_sequential),
    ("schedule", planning::schedule),
];

/// Vectors that are not checked, with the reason.
const EXCLUDED: &[(&str, &str)] = &[];

fn vectors() -> Vec<Value> {
    let file: Value = serde_json::from_str(include_str!("../vectors.json")).expect("the file is JSON");
    file["vectors"].as_array().expect("the file has vectors").clone()
}

#[test]
fn every_vector_has_a_check_and_every_check_a_vector() {
    let vectors = vectors();
    let present: BTreeSet<&str> =
        vectors.iter().map(|vector| vector["id"].as_str().expect("an id")).collect();
    let known: BTreeSet<&str> =
        CHECKS.iter().map(|(id, _)| *id).chain(EXCLUDED.iter().map(|(id, _)| *id)).collect();
    assert_eq!(present, known);
    assert_eq!(present.len(), vectors.len(), "ids are unique");
}

#[test]
fn every_statistic_meets_its_reference_values() {
    for vector in vectors() {
        let id = vector["id"].as_str().expect("an id");
        let Some((_, check)) = CHECKS.iter().find(|(known, _)| *known == id) else { continue };
        let case = Case::of(&vector);
        check(&case);
        case.finish();
    }
}
