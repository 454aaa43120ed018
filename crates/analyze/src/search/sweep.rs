//! The closed-loop curve: every number of connections once, ascending, then the best one again for its interval.

use super::SearchStep;
use crate::outcome::{Judgement, TrialOutcome};
use sysdyno_record::load::TrialPurpose;
use sysdyno_record::plan::{RunPlan, SearchMethod};

/// Trials of one number of connections that may be repeated because they were disturbed.
const UNSOUND_REPEATS: usize = 1;

pub(super) fn next(plan: &RunPlan, levels: &[u32], outcomes: &[TrialOutcome]) -> Option<SearchStep> {
    let connections = next_connections(plan, levels, outcomes)?;
    Some(SearchStep { purpose: TrialPurpose::Sweep, connections, rate_hz: None })
}

fn next_connections(plan: &RunPlan, levels: &[u32], outcomes: &[TrialOutcome]) -> Option<u32> {
    let at = |connections: u32| outcomes.iter().filter(move |outcome| outcome.connections == connections);
    let good =
        |connections: u32| at(connections).filter(|outcome| outcome.judgement != Judgement::Unsound).count();
    let mut levels: Vec<u32> = levels.iter().copied().filter(|connections| *connections > 0).collect();
    levels.sort_unstable();
    levels.dedup();
    let missing = levels.iter().find(|level| good(**level) == 0 && at(**level).count() <= UNSOUND_REPEATS);
    if let Some(level) = missing {
        return Some(*level);
    }
    // The best level is fixed by the first round, or repeats would chase the luckiest.
    let best = first_round_best(&levels, outcomes)?;
    let repeats = plan.search.grid_replicates as usize;
    (at(best).count() < repeats + UNSOUND_REPEATS && good(best) < repeats).then_some(best)
}

fn first_round_best(levels: &[u32], outcomes: &[TrialOutcome]) -> Option<u32> {
    let firsts = levels.iter().filter_map(|level| {
        outcomes.iter().find(|outcome| {
            outcome.connections == *level
                && matches!(outcome.judgement, Judgement::Pass | Judgement::GeneratorLimited)
        })
    });
    firsts.max_by(|a, b| a.goodput_hz.total_cmp(&b.goodput_hz)).map(|outcome| outcome.connections)
}

/// Trials that are still to come.
pub(super) fn left(plan: &RunPlan, outcomes: &[TrialOutcome]) -> f64 {
    let levels = match &plan.search.method {
        SearchMethod::Connections(levels) => levels.len(),
        SearchMethod::OfferedRate => 0,
    };
    let repeats = plan.search.grid_replicates.saturating_sub(1) as usize;
    (levels + repeats).saturating_sub(outcomes.len()).max(1) as f64
}
