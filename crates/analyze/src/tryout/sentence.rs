//! A tryout in sentences. They are data of the record: made once, here, and shown unchanged everywhere.

use super::standing::Standing;
use crate::format::{duration, factor, rate};
use sysdyno_record::effect::{Better, ComparisonVerdict, Effect, EffectScale};
use sysdyno_record::tryout::{
    GuardrailPlan, GuardrailState, Metric, PairCaps, Resolution, StageKind, TryPlan,
};
use sysdyno_stats::verdict::{Comparison, Qualifier};

/// A change as a share with its sign: `+2.4 %`.
pub(super) fn share(change: f64) -> String {
    share_to(change, 0)
}

/// The same with so many digits more.
fn share_to(change: f64, more: usize) -> String {
    let percent = change * 100.0;
    let digits = match percent.abs() {
        size if size >= 9.95 => 0,
        size if size >= 0.095 => 1,
        _ => 2,
    };
    format!("{percent:+.0$}%", digits + more).replace('-', "−")
}

/// A point of an effect: `+2.4 %`, `+0.05 points`.
fn point(scale: EffectScale, value: f64) -> String {
    match scale {
        EffectScale::Difference => format!("{:+.2} points", value * 100.0).replace('-', "−"),
        EffectScale::Ratio => share(value - 1.0),
    }
}

/// An effect with its interval: `−2.4 % (95 % interval −3.0 % to −1.8 %)`, `÷ 193 (95 % interval 169 to 220)`.
pub(crate) fn effect(effect: &Effect) -> String {
    let level = effect.confidence_ratio * 100.0;
    if effect.low == effect.none() && effect.high == effect.none() {
        return "no difference in any pair".into();
    }
    let all = [effect.point, effect.low, effect.high];
    let [point, low, high] = match (effect.factor(), effect.scale) {
        (Some(found), _) => factor(&found),
        // Ends that would read alike have a digit more.
        (None, EffectScale::Ratio) if share(effect.low - 1.0) == share(effect.high - 1.0) => {
            all.map(|value| share_to(value - 1.0, 1))
        }
        (None, scale) => all.map(|value| point(scale, value)),
    };
    format!("{point} ({level:.0}% interval {low} to {high})")
}

/// The smallest effect that matters: `3%`, `0.05 points`.
pub(super) fn margin(metric: Metric, margin: f64) -> String {
    let text = match metric.scale() {
        EffectScale::Ratio => share(margin),
        EffectScale::Difference => point(EffectScale::Difference, margin),
    };
    text.trim_start_matches('+').replace(".0%", "%")
}

/// A value of a metric with its unit.
pub(crate) fn value(metric: Metric, value: f64) -> String {
    match metric.unit() {
        "ns" => duration(value),
        "hz" => format!("{} req/s", rate(value)),
        "s" => duration(value * 1e9),
        "bytes" => format!("{:.1} MiB", value / f64::from(1 << 20)),
        _ => format!("{:.3}%", value * 100.0),
    }
}

/// The input of the headline.
pub(super) struct HeadlineFacts<'a> {
    pub(super) metric: Metric,
    pub(super) effect_ratio: f64,
    pub(super) verdict: &'a ComparisonVerdict,
    pub(super) effect: Option<&'a Effect>,
    /// Medians of A and B.
    pub(super) medians: Option<[f64; 2]>,
    pub(super) pairs: usize,
    pub(super) resolution: Option<&'a Resolution>,
    pub(super) is_calibration: bool,
}

/// The result in one sentence.
pub(super) fn headline(told: &HeadlineFacts) -> String {
    let title = told.metric.title();
    let numbers = told.effect.map(|found| format!("{title} {}", effect(found)));
    let numbers = numbers.unwrap_or_else(|| format!("{title}: too few pairs for an interval"));
    let medians = told.medians.map_or(String::new(), |[a, b]| {
        format!(" ({} instead of {})", value(told.metric, b), value(told.metric, a))
    });
    let band = margin(told.metric, told.effect_ratio);
    let qualified = match (told.verdict.word, told.verdict.qualifier) {
        // The effect that follows says by how much.
        (_, Some(Qualifier::ByAtLeastMei)) => String::new(),
        (_, Some(Qualifier::SizeUncertain)) => format!(", though perhaps by less than {band}"),
        (_, Some(Qualifier::RealButNegligible)) => "for practical purposes, although a small difference is \
                                                    real"
            .to_owned(),
        (_, None) => String::new(),
    };
    let pairs = format!("{} pairs", told.pairs);
    let subject = if told.is_calibration { "The host compared with itself" } else { "B" };
    match told.verdict.word {
        Comparison::Better => format!("{subject} is better{qualified}: {numbers}{medians}, {pairs}"),
        Comparison::Worse => format!("{subject} is worse{qualified}: {numbers}{medians}, {pairs}"),
        Comparison::Same => {
            format!("{subject} is the same{qualified}: {numbers}, within ±{band}, {pairs}")
        }
        Comparison::CannotTell => format!("Can't tell: {}{numbers}, {pairs}{}", cap(told), more(told)),
    }
}

fn cap(told: &HeadlineFacts) -> String {
    told.verdict.capped_by.first().map_or(String::new(), |reason| format!("{reason}; "))
}

/// What it would take to tell.
fn more(told: &HeadlineFacts) -> String {
    let Some(resolution) = told.resolution.filter(|_| told.verdict.capped_by.is_empty()) else {
        return String::new();
    };
    let seen = format!(
        "; an effect of {} would have been detected",
        margin(told.metric, resolution.detectable_ratio)
    );
    match resolution.pairs_needed.zip(resolution.needed_ns) {
        Some((pairs, ns)) => {
            format!("{seen}; about {pairs} pairs ({:.0} min) would settle it", (ns as f64 / 60e9).max(1.0))
        }
        None => seen,
    }
}

/// What became of a guardrail.
pub(super) fn guardrail(plan: &GuardrailPlan, found: Option<&Effect>, state: GuardrailState) -> String {
    let title = plan.metric.title();
    let band = margin(plan.metric, plan.margin);
    let numbers = found.map_or(String::new(), |found| format!(": {}", effect(found)));
    let worse = if plan.metric.better() == Better::Higher { "lower" } else { "higher" };
    match state {
        GuardrailState::Held => format!("{title} is not worse by {band}{numbers}"),
        GuardrailState::Broken => format!("{title} is {worse} by {band} or more{numbers}"),
        GuardrailState::Open => format!("{title}: can't tell if it is {worse} by {band}{numbers}"),
        GuardrailState::Unknown => format!("{title}: not measured"),
    }
}

/// How a comparison stands, in a line.
pub(super) fn standing(plan: &TryPlan, standing: &Standing, found: Option<&Effect>) -> String {
    let PairCaps { min_count, max_count } = standing.caps;
    let name = |index: u32| plan.variants.get(index as usize).map_or("?", |variant| variant.name.as_str());
    let sides = match standing.stage.kind {
        StageKind::Proof => String::new(),
        StageKind::Squeeze => format!("{}: ", name(standing.stage.b)),
        _ => format!("{} against {}: ", name(standing.stage.b), name(standing.stage.a)),
    };
    let counted = standing.counted;
    let is_known = counted < min_count || min_count == max_count;
    let goal = if is_known { format!("{min_count}") } else { format!("at most {max_count}") };
    let dropped =
        if standing.dropped > 0 { format!(", {} discarded", standing.dropped) } else { String::new() };
    let numbers = found.map_or_else(
        || "no interval yet".to_owned(),
        |found| match standing.stage.kind {
            StageKind::Squeeze => effect(found),
            _ => format!("{}, band ±{}", effect(found), margin(plan.metric, plan.effect_ratio)),
        },
    );
    format!("{sides}pair {counted} of {goal}{dropped} · {} {numbers}", plan.metric.title())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_that_would_read_alike_have_a_digit_more() {
        let told = |[low, point, high]: [f64; 3]| {
            let scale = EffectScale::Ratio;
            effect(&Effect { scale, point, low, high, confidence_ratio: 0.95, narrow: None, pairs_count: 8 })
        };
        assert_eq!(told([0.8353, 0.8390, 0.8446]), "−16.1% (95% interval −16.5% to −15.5%)");
        assert_eq!(told([0.80, 0.84, 0.88]), "−16% (95% interval −20% to −12%)");
    }
}
