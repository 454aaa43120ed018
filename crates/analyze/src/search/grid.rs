//! The replicated grid: the trials that capacity is estimated from.
//!
//! Each replicate is a block with every rate once, in its own random order, so that a slow drift of the host hits all
//! rates alike. If the bracket was wrong and the grid has no pass or no fail, it is extended by a few rates on that side.

use super::SearchStep;
use super::bracket::Bracket;
use super::order::shuffled;
use crate::capacity::{group_by_rate, is_same_rate};
use crate::outcome::{Judgement, TrialOutcome};
use sysdyno_record::load::TrialPurpose;
use sysdyno_record::plan::RunPlan;

/// The grid reaches this far beyond the bracket. Unit: ratio.
const MARGIN: f64 = 0.05;
/// Most rates of a grid, whatever a plan says.
const RATES_MAX: u32 = 64;
/// Rates by which a grid that missed the capacity is extended.
const EXTENSIONS_MAX: usize = 4;
/// A rate that is greater by this lies beyond another, whatever was rounded. Unit: ratio.
const BEYOND: f64 = 1.0 + 1e-6;
/// Trials of one rate that may be repeated because they were disturbed.
const UNSOUND_REPEATS: usize = 2;

/// The rates of the grid, ascending. Unit: requests per second.
pub(super) fn rates(plan: &RunPlan, bracket: &Bracket) -> Vec<f64> {
    let Some(fail_hz) = bracket.fail_hz else { return Vec::new() };
    let count = plan.search.grid_rates.min(RATES_MAX) as usize;
    let (low, high) = (bracket.pass_hz * (1.0 - MARGIN), fail_hz * (1.0 + MARGIN));
    let high = plan.search.max_rate_hz.map_or(high, |ceiling| high.min(ceiling.max(low)));
    let step = |index: usize| if count < 2 { 0.5 } else { index as f64 / (count - 1) as f64 };
    (0..count).map(|index| low * (high / low).powf(step(index))).collect()
}

pub(super) fn next(plan: &RunPlan, bracket: &Bracket, outcomes: &[TrialOutcome]) -> Option<SearchStep> {
    let base = rates(plan, bracket);
    let replicates = plan.search.grid_replicates as usize;
    if base.is_empty() || replicates == 0 {
        return None;
    }
    let trials: Vec<&TrialOutcome> =
        outcomes.iter().filter(|outcome| outcome.purpose == TrialPurpose::Grid).collect();
    let rate = missing(&base, replicates, plan.seed, &trials).or_else(|| extension(plan, &base, &trials))?;
    Some(SearchStep {
        purpose: TrialPurpose::Grid,
        connections: plan.load.connections.max(1),
        rate_hz: Some(rate),
    })
}

/// The next rate of the first block that is not complete.
fn missing(rates: &[f64], replicates: usize, seed: u64, trials: &[&TrialOutcome]) -> Option<f64> {
    (0..replicates).find_map(|block| {
        let order = shuffled(rates.to_vec(), seed, block as u64);
        order.into_iter().find(|rate| {
            let at_rate = trials
                .iter()
                .filter(|outcome| outcome.offered_hz.is_some_and(|offered| is_same_rate(offered, *rate)));
            let (good, disturbed) =
                at_rate.fold((0, 0), |(good, disturbed), outcome| match outcome.judgement {
                    Judgement::Unsound => (good, disturbed + 1),
                    _ => (good + 1, disturbed),
                });
            good + usize::saturating_sub(disturbed, UNSOUND_REPEATS) <= block
        })
    })
}

/// A rate beyond the grid, when all of its rates passed or all failed.
fn extension(plan: &RunPlan, base: &[f64], trials: &[&TrialOutcome]) -> Option<f64> {
    let (first, last) = (*base.first()?, *base.last()?);
    let step = if base.len() < 2 { 1.0 + MARGIN } else { (last / first).powf(1.0 / (base.len() - 1) as f64) };
    let step = step.max(1.0 + MARGIN / 2.0);
    let groups = group_by_rate(trials);
    let passes = |outcomes: &[&TrialOutcome]| {
        let passed = outcomes.iter().filter(|outcome| outcome.judgement == Judgement::Pass).count();
        2 * passed > outcomes.len()
    };
    let is_limited = trials.iter().any(|outcome| outcome.judgement == Judgement::GeneratorLimited);
    let passed: Vec<bool> = groups.iter().map(|group| passes(&group.outcomes)).collect();
    let ceiling = plan.search.max_rate_hz.unwrap_or(f64::INFINITY);
    let extra: Vec<f64> = if passed.iter().all(|passed| *passed) || groups.last()?.rate_hz > last * BEYOND {
        (1..=EXTENSIONS_MAX)
            .map(|index| last * step.powi(index as i32))
            .filter(|rate| *rate <= ceiling)
            .collect()
    } else if passed.iter().all(|passed| !passed) || groups.first()?.rate_hz < first / BEYOND {
        (1..=EXTENSIONS_MAX).map(|index| first / step.powi(index as i32)).collect()
    } else {
        Vec::new()
    };
    if is_limited {
        return None;
    }
    extend_until_turned(&extra, plan.search.grid_replicates as usize, trials, passed.last() == Some(&true))
}

/// The first rate of `extra` that lacks replicates, stopping behind the first rate at which the result turned.
fn extend_until_turned(
    extra: &[f64],
    replicates: usize,
    trials: &[&TrialOutcome],
    is_upward: bool,
) -> Option<f64> {
    for rate in extra {
        let at_rate: Vec<_> = trials
            .iter()
            .filter(|outcome| outcome.offered_hz.is_some_and(|offered| is_same_rate(offered, *rate)))
            .collect();
        if at_rate.len() < replicates {
            return Some(*rate);
        }
        let passed = at_rate.iter().filter(|outcome| outcome.judgement == Judgement::Pass).count();
        if (2 * passed > at_rate.len()) != is_upward {
            return None;
        }
    }
    None
}
