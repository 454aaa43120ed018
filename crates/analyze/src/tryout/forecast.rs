//! Predicts how long a tryout takes, before its first trial.

use super::stages::expected_pairs;
use sysdyno_record::tryout::TryPlan;
use sysdyno_record::units::SpanNs;

/// What a tryout may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// Fewest pairs after which there is a verdict.
    pub pairs_min: u32,
    /// Most pairs.
    pub pairs_max: u32,
    /// How long the fewest take.
    pub shortest: SpanNs,
    /// How long the most take, or the budget.
    pub longest: SpanNs,
    /// Whether the budget ends before there can be a verdict.
    pub is_budget_short: bool,
}

/// The forecast for trials that take so long with all around them; `elapsed` has passed already.
pub fn forecast(plan: &TryPlan, trial: SpanNs, elapsed: SpanNs) -> Forecast {
    let caps = expected_pairs(plan);
    let pairs_min: u32 = caps.iter().map(|caps| caps.min_count).sum();
    let pairs_max: u32 = caps.iter().map(|caps| caps.max_count).sum();
    let lasting =
        |pairs: u32| SpanNs(elapsed.0.saturating_add((2 * u64::from(pairs)).saturating_mul(trial.0)));
    let (shortest, longest) = (lasting(pairs_min), lasting(pairs_max));
    let longest = longest.min(plan.budget).max(SpanNs(0));
    Forecast { pairs_min, pairs_max, shortest, longest, is_budget_short: shortest > plan.budget }
}
