//! What must not get worse, whatever the primary metric says.
//!
//! Each guardrail is a test of its own that B is not worse by its margin (one-sided, 2.5 %). All must hold for a change
//! to count as proven, and by intersection–union that needs no correction for their number (R. Berger, *Technometrics*
//! 24, 1982).

use super::bounds::OpenPairs;
use super::effect::{LEVEL, effect_of};
use super::pairs::improvement;
use super::sentence;
use sysdyno_record::effect::{Comparison, EffectScale};
use sysdyno_record::tryout::{
    GuardrailOutcome, GuardrailPlan, GuardrailState, Metric, Pair, RatePlan, TryTrial,
};
use sysdyno_stats::signed_rank::hodges_lehmann;
use sysdyno_stats::verdict::{is_not_inferior, log_margin};

/// The guardrails of a tryout that names none.
///
/// Latency is compared at the same offered rate only: where B answers more, it may well answer later.
pub fn default_guardrails(metric: Metric, rate: RatePlan) -> Vec<GuardrailPlan> {
    let metrics: &[Metric] = match (metric, rate) {
        (Metric::Time | Metric::CpuTime, _) => &[Metric::Errors],
        (Metric::Cpu, RatePlan::ShareOfPilot(_) | RatePlan::Fixed(_)) => {
            &[Metric::Errors, Metric::P99, Metric::Retransmits, Metric::Memory]
        }
        (Metric::P99, _) => &[Metric::Errors, Metric::Cpu, Metric::Retransmits, Metric::Memory],
        (Metric::Capacity, _) => &[Metric::Memory],
        _ => &[Metric::Errors, Metric::Retransmits, Metric::Memory],
    };
    let plan = |metric: &Metric| GuardrailPlan { metric: *metric, margin: margin(*metric) };
    metrics.iter().map(plan).collect()
}

/// A guarded metric may get worse by more than one that is to get better. House values.
fn margin(metric: Metric) -> f64 {
    match metric {
        Metric::Cpu => 0.05,
        Metric::P99 | Metric::Memory => 0.10,
        other => other.default_margin(),
    }
}

/// What became of a guardrail over the pairs that count.
pub(super) fn judge(plan: &GuardrailPlan, pairs: &[&Pair], trials: &[TryTrial]) -> GuardrailOutcome {
    let metric = plan.metric;
    let value = |number: u32| {
        trials.iter().find(|trial| trial.trial == number).and_then(|trial| trial.values.get(&metric)).copied()
    };
    let one = |pair: &&Pair| improvement(metric, value(pair.a_trial)?, value(pair.b_trial)?);
    let improvements: Vec<f64> = pairs.iter().filter_map(one).collect();
    let margin = match metric.scale() {
        EffectScale::Ratio => log_margin(plan.margin).unwrap_or(0.0),
        EffectScale::Difference => plan.margin,
    };
    let open = OpenPairs::of(metric, pairs.iter().copied(), trials);
    let state = match hodges_lehmann(&improvements, LEVEL) {
        None if improvements.is_empty() => GuardrailState::Unknown,
        None => GuardrailState::Open,
        Some(wide) if is_not_inferior(&wide, margin) && open.supports(Comparison::Better) => {
            GuardrailState::Held
        }
        Some(wide) if wide.high < 0.0 && wide.point <= -margin && open.supports(Comparison::Worse) => {
            GuardrailState::Broken
        }
        Some(_) => GuardrailState::Open,
    };
    let effect = effect_of(metric, &improvements);
    let sentence = sentence::guardrail(plan, effect.as_ref(), state);
    GuardrailOutcome { metric, margin: plan.margin, effect, state, sentence }
}
