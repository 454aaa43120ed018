//! Signs that the assumptions of the method did not hold, printed next to every verdict.

use super::bounds::OpenPairs;
use super::course::Course;
use super::pairs::too_many_dropped;
use super::sentence::share;
use sysdyno_record::effect::Better;
use sysdyno_record::tryout::{Calibration, Diagnostic, DiagnosticKind, Pair, TrialArm, TryPlan};
use sysdyno_stats::descriptive::median;
use sysdyno_stats::regression::mann_kendall;
use sysdyno_stats::signed_rank::hodges_lehmann_point;
use sysdyno_stats::t_test::order_effect;
use sysdyno_stats::verdict::{Comparison, log_margin};

/// Level of the test for an order effect. House value.
const ORDER_LEVEL: f64 = 0.05;
/// Level of the test for a drift of the effect. House value.
const DRIFT_LEVEL: f64 = 0.01;
/// A trial so many times worse than the median of its arm is a stall. House value.
const STALL_FACTOR: f64 = 2.0;
/// Stalls that one arm must have more than the other to be worth a word. House value.
const STALLS_APART: usize = 3;
/// Age of a calibration after which it is old. Unit: seconds. House value.
const CALIBRATION_OLD_S: u64 = 7 * 24 * 3600;

/// What is looked at over the pairs of a comparison.
pub(super) struct DiagnosedStage<'a> {
    pub(super) plan: &'a TryPlan,
    pub(super) course: &'a Course,
    pub(super) stage: u32,
    pub(super) calibration: Option<&'a Calibration>,
    pub(super) is_outlier_sensitive: bool,
    /// What the intervals alone say.
    pub(super) word: Comparison,
}

/// All diagnostics, and why the verdict is no better than "can't tell".
pub(super) fn diagnose(evidence: &DiagnosedStage) -> (Vec<Diagnostic>, Vec<String>) {
    let (drift, is_unstable) = drift(evidence);
    let (dropped, reason) = dropped(evidence);
    let mut capped: Vec<String> = reason.into_iter().collect();
    if is_unstable {
        capped.push("the effect changed its sign during the experiment".into());
    }
    let (bounds, reason) = bounds(evidence);
    capped.extend(reason);
    let found = [
        order(evidence),
        drift,
        stalls(evidence),
        Some(dropped),
        calibration(evidence),
        outliers(evidence),
        bounds,
    ];
    (found.into_iter().flatten().collect(), capped)
}

fn said(kind: DiagnosticKind, is_warning: bool, sentence: impl Into<String>) -> Option<Diagnostic> {
    Some(Diagnostic { kind, is_warning, sentence: sentence.into() })
}

fn counted<'a>(evidence: &'a DiagnosedStage) -> Vec<&'a Pair> {
    evidence.course.counted(evidence.stage).filter(|pair| pair.improvement.is_some()).collect()
}

fn order(evidence: &DiagnosedStage) -> Option<Diagnostic> {
    let pairs = counted(evidence);
    let is_a_first: Vec<bool> = pairs.iter().map(|pair| pair.first == TrialArm::A).collect();
    let found = order_effect(&evidence.course.improvements(evidence.stage), &is_a_first)?;
    let margin = log_margin(evidence.plan.effect_ratio)?;
    if found.order.abs() > margin / 2.0 && found.p_two_sided < ORDER_LEVEL {
        let sentence = format!(
            "the order within pairs mattered ({}): one trial affects the next",
            share(found.order.exp_m1())
        );
        return said(DiagnosticKind::Order, true, sentence);
    }
    said(DiagnosticKind::Order, false, "the order within pairs did not matter")
}

fn drift(evidence: &DiagnosedStage) -> (Option<Diagnostic>, bool) {
    let improvements = evidence.course.improvements(evidence.stage);
    let Some(found) = mann_kendall(&improvements) else { return (None, false) };
    if found.p_two_sided >= DRIFT_LEVEL {
        return (said(DiagnosticKind::Drift, false, "the effect was stable over time"), false);
    }
    let (first, second) = improvements.split_at(improvements.len() / 2);
    let signs = hodges_lehmann_point(first).zip(hodges_lehmann_point(second));
    let is_unstable = signs.is_some_and(|(first, second)| first.signum() != second.signum());
    let way = if found.z > 0.0 { "better" } else { "worse" };
    (said(DiagnosticKind::Drift, true, format!("the effect got {way} over time")), is_unstable)
}

fn stalls(evidence: &DiagnosedStage) -> Option<Diagnostic> {
    let pairs = counted(evidence);
    let lower = evidence.plan.metric.better() == Better::Lower;
    let stalls = |of: fn(&Pair) -> Option<f64>| {
        let values: Vec<f64> = pairs.iter().filter_map(|pair| of(pair)).collect();
        let middle = median(&values)?;
        let is_stall = |value: &&f64| {
            if lower { **value > STALL_FACTOR * middle } else { **value < middle / STALL_FACTOR }
        };
        Some(values.iter().filter(is_stall).count())
    };
    let (a, b) = (stalls(|pair| pair.a)?, stalls(|pair| pair.b)?);
    let is_apart = a.abs_diff(b) >= STALLS_APART;
    let sentence = match a + b {
        0 => "no trial was twice as bad as its arm's median".to_owned(),
        _ => format!("trials twice as bad as their arm's median: {a} of A, {b} of B"),
    };
    said(DiagnosticKind::Stalls, is_apart, sentence)
}

fn dropped(evidence: &DiagnosedStage) -> (Diagnostic, Option<String>) {
    let pairs: Vec<&Pair> = evidence.course.pairs_of(evidence.stage).collect();
    let count = pairs.iter().filter(|pair| pair.dropped.is_some()).count();
    let reason = too_many_dropped(&pairs, evidence.course.trials());
    let sentence = match (&reason, count) {
        (Some(reason), _) => reason.clone(),
        (None, 0) => "no pair was discarded".to_owned(),
        (None, count) => format!("{count} of {} pairs were discarded for outside interference", pairs.len()),
    };
    (Diagnostic { kind: DiagnosticKind::Dropped, is_warning: reason.is_some(), sentence }, reason)
}

fn calibration(evidence: &DiagnosedStage) -> Option<Diagnostic> {
    if evidence.plan.is_calibration {
        return None;
    }
    let Some(found) = evidence.calibration else {
        let sentence = "this host is not calibrated yet: `sysdyno try --calibrate` finds the smallest effect that it \
             can resolve";
        return said(DiagnosticKind::Calibration, false, sentence);
    };
    let is_wrong = matches!(found.verdict.word, Comparison::Better | Comparison::Worse);
    let minutes = found.elapsed_ns as f64 / 60e9;
    let mut sentence = format!(
        "by its calibration, this host resolves an effect of {} in {minutes:.1} min",
        share(found.detectable_ratio).trim_start_matches('+')
    );
    if is_wrong {
        sentence = "calibration found this host to differ from itself: its verdicts cannot be trusted".into();
    } else if found.is_of_earlier_boot || found.age_s > CALIBRATION_OLD_S {
        sentence.push_str("; but the calibration is old, or from before the last boot");
    }
    said(DiagnosticKind::Calibration, is_wrong, sentence)
}

/// That values are lower bounds, and whether the word does not hold for all that may lie beyond them.
fn bounds(evidence: &DiagnosedStage) -> (Option<Diagnostic>, Option<String>) {
    let metric = evidence.plan.metric;
    let open = OpenPairs::of(metric, counted(evidence).into_iter(), evidence.course.trials());
    if open.trials_count == 0 {
        return (None, None);
    }
    let sentence = format!(
        "requests timed out: in {}, {} is only a lower bound",
        crate::format::counted(open.trials_count as f64, "trial"),
        metric.title()
    );
    let reason = (!open.supports(evidence.word)).then(|| sentence.clone());
    (said(DiagnosticKind::Bounds, true, sentence), reason)
}

fn outliers(evidence: &DiagnosedStage) -> Option<Diagnostic> {
    let sentence = "a few trials decide the verdict: with means instead of ranks, it would be different";
    if evidence.is_outlier_sensitive { said(DiagnosticKind::Outliers, true, sentence) } else { None }
}
