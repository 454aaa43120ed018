//! The range of rates that contains the capacity, from passes and fails alone.
//!
//! The share of fails is made non-decreasing in the rate (isotonic regression), so that one disturbed trial far below
//! the end does not decide. The lower end is the greatest rate up to which no trial failed, the upper end the least from
//! which on none passed. A server that fails now and then at any rate has no such rates: then a quarter and three
//! quarters take their place, and at last the least rate that passed and the greatest that was tried.

use crate::outcome::{FailCause, Judgement, TrialOutcome};
use sysdyno_stats::isotonic::non_decreasing;

/// Up to this share of fails a rate still counts as carried, if no rate had none.
const FLAKY_SHARE: f64 = 0.25;

/// Trials at one offered rate.
pub(crate) struct RateGroup<'a> {
    /// The rate. Unit: requests per second.
    pub(crate) rate_hz: f64,
    /// Its trials, in order.
    pub(crate) outcomes: Vec<&'a TrialOutcome>,
}

/// Rates that differ by less than this are one rate that was written down and read back. Unit: ratio.
const SAME_RATE: f64 = 1e-9;

/// Whether two rates are the same.
pub(crate) fn is_same_rate(first_hz: f64, second_hz: f64) -> bool {
    (first_hz - second_hz).abs() <= SAME_RATE * first_hz.abs()
}

/// Trials by offered rate, ascending; closed ones are left out.
pub(crate) fn group_by_rate<'a>(outcomes: &[&'a TrialOutcome]) -> Vec<RateGroup<'a>> {
    let mut groups: Vec<RateGroup> = Vec::new();
    for outcome in outcomes {
        let Some(rate_hz) = outcome.offered_hz else { continue };
        match groups.iter_mut().find(|group| is_same_rate(group.rate_hz, rate_hz)) {
            Some(group) => group.outcomes.push(outcome),
            None => groups.push(RateGroup { rate_hz, outcomes: vec![outcome] }),
        }
    }
    groups.sort_by(|a, b| a.rate_hz.total_cmp(&b.rate_hz));
    groups
}

/// The rates that enclose the capacity. Unit: requests per second.
pub(crate) struct Enclosure {
    /// The greatest rate that was carried; `None` if none was.
    pub(crate) low_hz: Option<f64>,
    /// The least rate above it that was not, by the server's doing; `None` if there is none.
    pub(crate) high_hz: Option<f64>,
    /// The least rate at which the generator was at its limit.
    pub(crate) limited_hz: Option<f64>,
    /// What was missed at the upper end.
    pub(crate) cause: FailCause,
}

impl Enclosure {
    pub(crate) fn of(open: &[&TrialOutcome]) -> Enclosure {
        let sound: Vec<&TrialOutcome> = open.iter().copied().filter(|outcome| outcome.is_sound()).collect();
        let groups = group_by_rate(&sound);
        let shares: Vec<f64> = groups.iter().map(fail_share).collect();
        let weights: Vec<f64> = groups.iter().map(|group| group.outcomes.len() as f64).collect();
        let fitted = non_decreasing(&shares, &weights);
        let last_up_to = |limit: f64| fitted.iter().rposition(|share| *share <= limit);
        let passing = groups.iter().position(|group| fail_share(group) < 1.0);
        let low = last_up_to(0.0).or_else(|| last_up_to(FLAKY_SHARE)).or(passing);
        let first_from = |limit: f64| fitted.iter().position(|share| *share >= limit);
        let last = fitted.len().checked_sub(1).filter(|last| fitted[*last] > FLAKY_SHARE);
        let high = first_from(1.0).or_else(|| first_from(1.0 - FLAKY_SHARE)).or(last);
        let limited = open.iter().filter(|outcome| outcome.judgement == Judgement::GeneratorLimited);
        let limited_hz = limited.filter_map(|outcome| outcome.offered_hz).min_by(f64::total_cmp);
        let low_hz = low.map(|index| groups[index].rate_hz);
        Enclosure {
            low_hz,
            high_hz: high
                .map(|index| groups[index].rate_hz)
                .filter(|high| low_hz.is_none_or(|low| *high > low)),
            limited_hz,
            cause: high.map_or(FailCause::Objective, |index| commonest_cause(&groups[index..])),
        }
    }
}

fn fail_share(group: &RateGroup) -> f64 {
    let fails = group.outcomes.iter().filter(|outcome| outcome.judgement != Judgement::Pass).count();
    fails as f64 / group.outcomes.len() as f64
}

/// What was missed most often at the first of these rates; the next decide between equals.
fn commonest_cause(groups: &[RateGroup]) -> FailCause {
    let mut counts = [(FailCause::Errors, 0), (FailCause::Objective, 0), (FailCause::AchievedRate, 0)];
    for outcome in groups.first().iter().flat_map(|group| &group.outcomes) {
        for (cause, count) in &mut counts {
            *count += i32::from(outcome.judgement == Judgement::Fail(*cause));
        }
    }
    counts.iter().max_by_key(|(_, count)| *count).map_or(FailCause::Objective, |(cause, _)| *cause)
}
