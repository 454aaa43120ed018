//! Turns differences into an effect in the metric's own direction, and picks the word for it.

use sysdyno_record::effect::{Better, ComparisonVerdict, Effect, EffectScale};
use sysdyno_record::tryout::Metric;
use sysdyno_stats::estimate::Estimate;
use sysdyno_stats::signed_rank::hodges_lehmann;
use sysdyno_stats::verdict::judge;

/// Confidence of the intervals that are shown.
pub(super) const LEVEL: f64 = 0.95;
/// Confidence of the interval that decides whether it is the same.
const NARROW_LEVEL: f64 = 0.90;

/// The effect that improvements amount to; `None`: too few for an interval.
pub(crate) fn effect_of(metric: Metric, improvements: &[f64]) -> Option<Effect> {
    let wide = own_direction(metric, hodges_lehmann(improvements, LEVEL)?);
    let narrow = hodges_lehmann(improvements, NARROW_LEVEL).map(|narrow| own_direction(metric, narrow));
    Some(Effect {
        scale: metric.scale(),
        point: wide.point,
        low: wide.low,
        high: wide.high,
        confidence_ratio: LEVEL,
        narrow: narrow.map(|narrow| [narrow.low, narrow.high]),
        pairs_count: improvements.len() as u32,
    })
}

/// An estimate of the improvement as one of B ÷ A, or B − A.
fn own_direction(metric: Metric, estimate: Estimate) -> Estimate {
    let signed = if metric.better() == Better::Higher { estimate } else { estimate.negated() };
    match metric.scale() {
        EffectScale::Ratio => signed.map(f64::exp),
        EffectScale::Difference => signed,
    }
}

/// The word on improvements of a metric that has ratios.
pub(super) fn verdict_of(improvements: &[f64], effect_ratio: f64, pairs_min: u32) -> ComparisonVerdict {
    if improvements.len() < pairs_min as usize {
        return ComparisonVerdict::cannot_tell(format!(
            "only {} pairs count; a verdict needs {pairs_min}",
            improvements.len()
        ));
    }
    match judge(improvements, effect_ratio) {
        None => ComparisonVerdict::cannot_tell("no trial produced a number"),
        Some(judgement) => ComparisonVerdict {
            word: judgement.comparison,
            qualifier: judgement.qualifier,
            is_outlier_sensitive: judgement.is_outlier_sensitive,
            capped_by: Vec::new(),
        },
    }
}
