//! The time budget of a search whose plan limits it.
//!
//! The budget follows from the plan and the times of the outcomes alone, so a search replayed from its record ends where it
//! ended.

use super::{Search, TrialRequest};
use sysdyno_record::load::TrialPurpose;
use sysdyno_record::units::SpanNs;

/// Time that a trial takes besides warm-up and window: connecting, drain, rest. Unit: seconds.
pub(super) const OVERHEAD_SECONDS: f64 = 1.0;

/// What is left of the limit; `None`: there is none.
pub(super) fn left(search: &Search) -> Option<SpanNs> {
    let limit = search.plan.search.limit?;
    let gone_ns = match (search.outcomes.first(), search.outcomes.last()) {
        (Some(first), Some(last)) => last.end.since(first.begin),
        _ => 0,
    };
    Some(SpanNs(limit.0.saturating_sub(gone_ns)))
}

/// Whether a trial ends in time, also if its drain takes as long as it may. The first always does.
pub(super) fn has_time_for(search: &Search, request: &TrialRequest) -> bool {
    let Some(left) = left(search).filter(|_| !search.outcomes.is_empty()) else { return true };
    let drain = search.plan.load.deadlines.drain.seconds();
    request.warmup.seconds() + request.window.seconds() + OVERHEAD_SECONDS.max(drain) <= left.seconds()
}

/// Whether the rest of the time is needed for what comes after the bracket.
pub(super) fn is_haste(search: &Search) -> bool {
    let Some(left) = left(search) else { return false };
    let plan = &search.plan.search;
    let brackets = search.outcomes.iter().filter(|outcome| outcome.purpose == TrialPurpose::Bracket);
    let rate_hz = brackets.filter_map(|outcome| outcome.offered_hz).next_back();
    let windows =
        f64::from(plan.grid_rates) * f64::from(plan.grid_replicates) + f64::from(plan.certify_passes);
    let probe = search.trial_seconds(plan.probe, rate_hz);
    left.seconds() < probe + windows * search.trial_seconds(plan.window, rate_hz)
}
