//! Certification: fresh trials at the chosen rate, because the search may have chosen it for its luck.

use super::SearchStep;
use super::bracket::Bracket;
use super::grid;
use crate::capacity::{self, is_same_rate};
use crate::outcome::{Judgement, TrialOutcome};
use sysdyno_record::load::TrialPurpose;
use sysdyno_record::plan::RunPlan;

/// Rates that are tried, each lower than the one before.
const CANDIDATES_MAX: usize = 2;
/// Trials of one rate that may be repeated because they were disturbed.
const UNSOUND_REPEATS: usize = 2;
/// Step to a lower rate where there is no grid. Unit: ratio.
const DOWN: f64 = 0.95;

pub(super) fn next(plan: &RunPlan, bracket: &Bracket, outcomes: &[TrialOutcome]) -> Option<SearchStep> {
    let needed = plan.search.certify_passes as usize;
    if needed == 0 {
        return None;
    }
    let search: Vec<TrialOutcome> =
        outcomes.iter().filter(|outcome| outcome.purpose != TrialPurpose::Certify).cloned().collect();
    let candidates = candidates(plan, bracket, &search);
    for rate in candidates {
        let trials: Vec<&TrialOutcome> = outcomes
            .iter()
            .filter(|outcome| {
                outcome.purpose == TrialPurpose::Certify
                    && outcome.offered_hz.is_some_and(|offered| is_same_rate(offered, rate))
            })
            .collect();
        let has_failed = trials
            .iter()
            .any(|outcome| matches!(outcome.judgement, Judgement::Fail(_) | Judgement::GeneratorLimited));
        if has_failed {
            continue;
        }
        let passes = trials.iter().filter(|outcome| outcome.judgement == Judgement::Pass).count();
        let is_open = passes < needed && trials.len() < needed + UNSOUND_REPEATS;
        return is_open.then(|| SearchStep {
            purpose: TrialPurpose::Certify,
            connections: plan.load.connections.max(1),
            rate_hz: Some(rate),
        });
    }
    None
}

/// The greatest rates that were tried and lie at or below the interval's lower end, descending.
fn candidates(plan: &RunPlan, bracket: &Bracket, search: &[TrialOutcome]) -> Vec<f64> {
    let Some(low) = capacity::estimate(search, plan).low_hz else { return Vec::new() };
    let mut rates = grid::rates(plan, bracket);
    rates.push(bracket.pass_hz);
    rates.retain(|rate| *rate <= low);
    rates.sort_by(|a, b| b.total_cmp(a));
    if rates.is_empty() {
        rates.push(low);
    }
    if let Some(last) = rates.last().copied() {
        rates.push(last * DOWN);
    }
    rates.truncate(CANDIDATES_MAX);
    rates
}
