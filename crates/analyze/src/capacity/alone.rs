//! One connection alone, before anything else: how long the server takes for a request when it has nothing else to do.
//!
//! No rate can meet an objective below that. Trials at ever lower rates would only show the same again.
//!
//! A disturbance of one trial moves its tail but hardly its median. A median beyond the limit therefore decides at once,
//! because the percentile is above it; a percentile alone is repeated, and the median of the trials decides.

use crate::outcome::{Judgement, TrialOutcome};
use sysdyno_record::load::TrialPurpose;
use sysdyno_record::plan::RunPlan;
use sysdyno_stats::descriptive::median;

/// Trials of a percentile beyond the limit whose median decides.
const TRIALS: usize = 3;

/// What the trials of one connection say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Alone {
    /// There is to be another one.
    Open,
    /// The objective can be met, or nothing is known against it.
    Possible,
    /// It is beyond the objective's limit: the percentile, or a lower bound of it. Unit: nanoseconds.
    TooSlow(f64),
}

/// What one connection alone reveals about a search's objective.
pub(crate) fn alone(plan: &RunPlan, outcomes: &[TrialOutcome]) -> Alone {
    // Streams of one connection are several requests at a time.
    if plan.load.streams() > 1 {
        return Alone::Possible;
    }
    let trials: Vec<&TrialOutcome> = outcomes
        .iter()
        .take_while(|outcome| outcome.purpose == TrialPurpose::Pilot && outcome.connections == 1)
        .collect();
    let Some(first) = trials.first() else {
        // Records of searches that did not begin like this are followed as they are.
        return if outcomes.is_empty() { Alone::Open } else { Alone::Possible };
    };
    let limit_ns = plan.objective.limit.0 as f64;
    let beyond = |value: Option<f64>| value.filter(|ns| *ns > limit_ns);
    let is_half = plan.objective.percentile_ratio >= 0.5;
    match (beyond(first.middle_ns), beyond(first.percentile_floor_ns)) {
        _ if first.judgement != Judgement::Pass => Alone::Possible,
        (Some(middle_ns), _) if is_half => Alone::TooSlow(middle_ns),
        (_, None) => Alone::Possible,
        _ if trials.len() < TRIALS && trials.len() == outcomes.len() => Alone::Open,
        _ => {
            let floors: Vec<f64> = trials.iter().filter_map(|outcome| outcome.percentile_floor_ns).collect();
            beyond(median(&floors)).map_or(Alone::Possible, Alone::TooSlow)
        }
    }
}
