//! Two adjacent trials as a pair, and whether the pair counts.
//!
//! A pair is discarded for a disturbance that its variant cannot have caused, and always as a whole: a single trial would
//! have no partner under the same circumstances.

use crate::format::percent;
use sysdyno_record::effect::{Better, EffectScale};
use sysdyno_record::tryout::{EnvironmentLimits, Metric, Pair, TrialArm, TryTrial};

/// Share of dropped pairs above which nothing can be told. House value.
pub(super) const DROPPED_MAX: f64 = 0.20;
/// Dropped trials of one arm from which on it is looked at whether they are mostly of that arm. House value.
const LOPSIDED_COUNT: usize = 4;
/// Share of one arm that is "mostly". House value.
const LOPSIDED_SHARE: f64 = 0.80;

/// The improvement of B over A on the metric's scale; positive is better. `None`: it has none on that scale.
pub(super) fn improvement(metric: Metric, a: f64, b: f64) -> Option<f64> {
    let sign = if metric.better() == Better::Higher { 1.0 } else { -1.0 };
    let difference = match metric.scale() {
        EffectScale::Ratio if a > 0.0 && b > 0.0 => (b / a).ln(),
        EffectScale::Ratio => return None,
        EffectScale::Difference => b - a,
    };
    difference.is_finite().then_some(sign * difference)
}

/// The pair of two trials, in the order in which they ran.
pub(super) fn pair_of(metric: Metric, limits: &EnvironmentLimits, [first, second]: [&TryTrial; 2]) -> Pair {
    let (a, b) = if first.arm == TrialArm::A { (first, second) } else { (second, first) };
    let value = |trial: &TryTrial| trial.values.get(&metric).copied().filter(|value| value.is_finite());
    let (a_value, b_value) = (value(a), value(b));
    Pair {
        stage: first.stage,
        pair: first.pair,
        a_trial: a.trial,
        b_trial: b.trial,
        first: first.arm,
        end_mono_ns: second.end_mono_ns,
        a: a_value,
        b: b_value,
        improvement: a_value.zip(b_value).and_then(|(a, b)| improvement(metric, a, b)),
        dropped: why_dropped(limits, a, b),
    }
}

fn why_dropped(limits: &EnvironmentLimits, a: &TryTrial, b: &TryTrial) -> Option<String> {
    for (name, trial) in [("A", a), ("B", b)] {
        if let Some(reason) = trial.environment.invalid.first() {
            return Some(format!("{name}: {reason}"));
        }
    }
    let apart = |of: fn(&TryTrial) -> Option<f64>| Some((of(a)? - of(b)?).abs());
    let beyond = |difference: Option<f64>, limit: f64| difference.filter(|difference| *difference > limit);
    let steal = beyond(apart(|trial| trial.environment.steal_ratio), limits.steal_difference_ratio);
    let foreign = beyond(apart(|trial| trial.environment.foreign_ratio), limits.foreign_difference_ratio);
    let steal = steal.map(|share| {
        format!("the hypervisor stole {} more CPU time from one trial than from the other", percent(share))
    });
    steal.or_else(|| {
        foreign.map(|share| {
            format!("other processes used {} more CPU during one trial than during the other", percent(share))
        })
    })
}

/// Why the dropped pairs let nothing be told; `None`: they are few, and of both arms.
pub(super) fn too_many_dropped(pairs: &[&Pair], trials: &[TryTrial]) -> Option<String> {
    let dropped: Vec<&&Pair> = pairs.iter().filter(|pair| pair.dropped.is_some()).collect();
    if dropped.len() as f64 > DROPPED_MAX * pairs.len() as f64 {
        let reason = dropped.first().and_then(|pair| pair.dropped.as_deref()).unwrap_or(
            "outside \
                                                                                         interference",
        );
        return Some(format!(
            "{} of {} pairs were discarded, for example: {reason}",
            dropped.len(),
            pairs.len()
        ));
    }
    let is_bad = |number: u32| {
        trials.iter().any(|trial| trial.trial == number && !trial.environment.invalid.is_empty())
    };
    let bad_a = dropped.iter().filter(|pair| is_bad(pair.a_trial)).count();
    let bad_b = dropped.iter().filter(|pair| is_bad(pair.b_trial)).count();
    let (most, name) = if bad_a > bad_b { (bad_a, "A") } else { (bad_b, "B") };
    let is_lopsided = most >= LOPSIDED_COUNT && most as f64 >= LOPSIDED_SHARE * (bad_a + bad_b) as f64;
    is_lopsided.then(|| {
        format!(
            "{most} pairs were discarded because of trials of {name}, too many to be \
                                 chance"
        )
    })
}
