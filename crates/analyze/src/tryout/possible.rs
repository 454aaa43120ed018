//! Whether a tryout can reach an answer at all, reported before its first trial, with what would be enough.
//!
//! A p99 is published from 1,000 responses on: ten of them lie beyond it. Trials with fewer responses have no number to
//! compare, however many trials there are. And a budget that ends before the minimum number of pairs gives no verdict.

use super::forecast::forecast;
use super::pilot::WARMUP_MIN;
use crate::format::{counted, duration, rate, whole};
use sysdyno_record::tryout::{Metric, TryPlan, TryWorkload};
use sysdyno_record::units::SpanNs;
use sysdyno_stats::order_statistics::TAIL_COUNT_MIN;

/// The percentile that trials are compared by.
const RATIO: f64 = 0.99;

/// Reserve over the least number of responses, since arrivals vary.
const RESERVE: f64 = 1.1;

/// A tryout that cannot give its answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {verb}: {cause}\nhint: {hint}")]
pub struct Impossible {
    verb: &'static str,
    cause: String,
    hint: String,
}

/// Checks a plan before anything is sent.
///
/// # Errors
/// Its trials are too short for its metric, or its budget is too short for its pairs, as far as that is known.
pub fn check_plan(plan: &TryPlan, rate_hz: Option<f64>) -> Result<(), Impossible> {
    if !matches!(plan.workload, TryWorkload::Load(_)) {
        return Ok(());
    }
    rate_hz.map_or(Ok(()), |rate_hz| check_samples(plan, rate_hz))?;
    check_budget(plan)
}

/// Checks that a trial at this rate has responses enough for the metric.
///
/// # Errors
/// It has not.
pub fn check_samples(plan: &TryPlan, rate_hz: f64) -> Result<(), Impossible> {
    let least = TAIL_COUNT_MIN / (1.0 - RATIO);
    let count = rate_hz * plan.window.seconds();
    // What the arithmetic has lost is not missing.
    if plan.metric != Metric::P99 || count >= RESERVE * least - 1e-6 {
        return Ok(());
    }
    let seconds = (RESERVE * least / rate_hz.max(1e-3)).ceil();
    let needed_hz = (RESERVE * least / plan.window.seconds().max(1e-3)).ceil();
    Err(Impossible {
        verb: "compare p99",
        cause: format!(
            "a trial of {} at {} req/s has {}, but p99 needs {}",
            duration(plan.window.0 as f64),
            rate(rate_hz),
            counted(count.floor(), "response"),
            whole(RESERVE * least)
        ),
        hint: format!("use --window {seconds:.0}s, or --rate {needed_hz:.0} if the server can carry it"),
    })
}

fn check_budget(plan: &TryPlan) -> Result<(), Impossible> {
    // What is around a trial comes on top.
    let trial = SpanNs(plan.window.0.saturating_add(plan.warmup.unwrap_or(WARMUP_MIN).0));
    let forecast = forecast(plan, trial, SpanNs(0));
    if !forecast.is_budget_short {
        return Ok(());
    }
    let minutes = |span: SpanNs| (span.seconds() / 60.0).ceil();
    let least = counted(minutes(forecast.shortest), "minute");
    Err(Impossible {
        verb: "reach a verdict",
        cause: format!(
            "{} of trials of {} take at least {least}, but --budget is {}",
            counted(f64::from(forecast.pairs_min), "pair"),
            duration(trial.0 as f64),
            plan.budget
        ),
        hint: format!("use --budget {:.0}m, or a shorter --window", 1.25 * minutes(forecast.shortest)),
    })
}
