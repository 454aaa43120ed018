//! Capacity from the outcomes of a search: the highest offered rate that meets the objective, with its interval.
//!
//! Definition: the greatest rate at which the objective's percentile of response time (from the intended send) is within
//! its limit, achieved ÷ offered is at least the objective's, and failures are at most the objective's. Two ways lead
//! to the number, in this order, and the record says which one was taken:
//!
//! 1. *line*: over the three rates of the replicated grid that are nearest to the crossing, latency is fitted by straight
//!    lines in two scales; the capacity is where they meet the limit, the interval is Fieller's (module `fit`). It needs lines
//!    that are straight as far as the replicates can tell.
//! 2. *enclosure*: latency jumps, or errors set the end: the interval reaches from the greatest rate at which all trials
//!    passed to the least at which none did.
//!
//! The answer depends on the outcomes and the plan only, so that the same record always gives it again.

mod alone;
mod enclosure;
mod fit;
mod sweep;

use crate::format::{counted, duration, percent, rate};
use crate::outcome::{FailCause, Judgement, TrialOutcome, recorded_ratio};
use crate::threshold::{HOUSE, Threshold};
use enclosure::Enclosure;
use sysdyno_record::analysis::{Capacity, CapacityBasis, EndedBy};
use sysdyno_record::load::TrialPurpose;
use sysdyno_record::plan::{Objective, RunPlan, SearchMethod};
use sysdyno_stats::estimate::Estimate;

pub(crate) use alone::{Alone, alone};
pub(crate) use enclosure::{RateGroup, group_by_rate, is_same_rate};

/// Service time that hardly grows from low load to overload is not that of a server that queues.
pub const FLAT_SERVICE: Threshold = Threshold::new(
    "median service time with all connections busy ÷ median service time at low load",
    1.2,
    "ratio",
    HOUSE,
);
/// A load is low up to this share of the rate that failed.
const LOW_LOAD: f64 = 0.75;
/// Waiting for a connection makes up at least this share of a percentile that it explains.
const POOL_SHARE: f64 = 0.5;

/// What the outcomes of a search say about the server's capacity.
pub fn estimate(outcomes: &[TrialOutcome], plan: &RunPlan) -> Capacity {
    match &plan.search.method {
        SearchMethod::OfferedRate => estimate_rate(outcomes, plan),
        SearchMethod::Connections(_) => sweep::estimate(outcomes, plan),
    }
}

/// The result of an interrupted search: the greatest rate that met the objective and the least that did not.
///
/// Short trials flatter a server, and those that would have contradicted them were not run: there is no estimate.
pub(crate) fn cut_short(capacity: &mut Capacity, outcomes: &[TrialOutcome]) {
    let open: Vec<&TrialOutcome> = outcomes.iter().filter(|outcome| outcome.offered_hz.is_some()).collect();
    let seen = Enclosure::of(&open);
    let (low_hz, high_hz) = match open.is_empty() {
        // A closed loop has no rate that it missed.
        true => (capacity.rate_hz, None),
        false => (seen.low_hz, seen.high_hz),
    };
    let trials = counted(outcomes.len() as f64, "trial");
    *capacity = Capacity {
        rate_hz: None,
        low_hz,
        high_hz,
        basis: CapacityBasis::Enclosure,
        ended_by: EndedBy::Interrupted,
        is_lower_bound: false,
        certified_hz: None,
        certified_passes: 0,
        method: format!("{}; stopped after {trials}, so only bounds are known", capacity.method),
        objective: std::mem::take(&mut capacity.objective),
    };
}

/// What is left of a capacity that may be the generator's: it is at least that.
pub(crate) fn bounded_by_generator(capacity: &mut Capacity) {
    if capacity.is_lower_bound || capacity.rate_hz.is_none() {
        return;
    }
    let sure_hz = [capacity.certified_hz, capacity.low_hz, capacity.rate_hz].into_iter().flatten();
    let sure_hz = sure_hz.reduce(f64::min);
    (capacity.rate_hz, capacity.low_hz, capacity.high_hz) = (sure_hz, sure_hz, None);
    (capacity.is_lower_bound, capacity.ended_by) = (true, EndedBy::Generator);
    capacity.method.push_str("; a lower bound, because the generator may have been the bottleneck");
}

/// The objective as a user types it: `p99<50ms`.
pub fn objective_text(objective: &Objective) -> String {
    let percentile = format!("{:.4}", objective.percentile_ratio * 100.0);
    let percentile = percentile.trim_end_matches('0').trim_end_matches('.');
    format!("p{percentile}<{}", objective.limit.to_string().replace(' ', ""))
}

/// A capacity with nothing in it yet.
fn blank(plan: &RunPlan, ended_by: EndedBy, method: String) -> Capacity {
    Capacity {
        rate_hz: None,
        low_hz: None,
        high_hz: None,
        basis: CapacityBasis::Confidence,
        ended_by,
        is_lower_bound: false,
        certified_hz: None,
        certified_passes: 0,
        method,
        objective: objective_text(&plan.objective),
    }
}

fn estimate_rate(outcomes: &[TrialOutcome], plan: &RunPlan) -> Capacity {
    let open: Vec<&TrialOutcome> = outcomes.iter().filter(|outcome| outcome.offered_hz.is_some()).collect();
    let enclosure = Enclosure::of(&open);
    let definition = definition(&plan.objective);
    let Some(low) = enclosure.low_hz else {
        if let Some(text) = too_slow_text(outcomes, plan) {
            return blank(plan, EndedBy::NothingCarried, format!("{definition}; {text}"));
        }
        let ended_by = match (enclosure.limited_hz, enclosure.high_hz) {
            (Some(_), None) => EndedBy::Generator,
            _ if is_cut_short(outcomes) => EndedBy::Interrupted,
            _ => EndedBy::NothingCarried,
        };
        let tried = counted(outcomes.len() as f64, "trial");
        return blank(plan, ended_by, format!("{definition}; none of {tried} met it"));
    };
    let mut capacity = match bound(&open, &enclosure, plan) {
        Some(ended_by) => at_least(low, ended_by, plan, &definition),
        None => between(&open, &enclosure, plan, &definition),
    };
    certify(&mut capacity, &open, plan);
    capacity
}

/// That the objective cannot be met, where one connection alone has shown it.
pub(crate) fn too_slow_text(outcomes: &[TrialOutcome], plan: &RunPlan) -> Option<String> {
    let is_search = matches!(plan.search.method, SearchMethod::OfferedRate);
    let Alone::TooSlow(floor_ns) = alone(plan, outcomes) else { return None };
    let least = duration(floor_ns);
    let objective = objective_phrase(&plan.objective);
    is_search.then(|| {
        format!(
            "a single connection already waits {least} or more for a response, so no rate can meet \
                 {objective}"
        )
    })
}

/// Why the passes are only a lower bound; `None` if the server's own limit was found.
fn bound(open: &[&TrialOutcome], enclosure: &Enclosure, plan: &RunPlan) -> Option<EndedBy> {
    let is_first = |limited: f64| enclosure.high_hz.is_none_or(|high| limited <= high);
    if enclosure.limited_hz.is_some_and(is_first) || is_connection_limited(open) {
        return Some(EndedBy::Generator);
    }
    if enclosure.high_hz.is_some() {
        return None;
    }
    let is_ceiling =
        plan.search.max_rate_hz.zip(enclosure.low_hz).is_some_and(|(ceiling, low)| low >= ceiling * 0.999);
    Some(if is_ceiling { EndedBy::Ceiling } else { EndedBy::Interrupted })
}

fn at_least(low_hz: f64, ended_by: EndedBy, plan: &RunPlan, definition: &str) -> Capacity {
    let why = match ended_by {
        EndedBy::Generator => "above it, the generator was the bottleneck",
        EndedBy::Ceiling => "it is the highest rate that the plan allowed",
        _ => "the search got no further",
    };
    let method = format!("{definition}; the highest rate at which every trial met it: {why}");
    let bound = blank(plan, ended_by, method);
    Capacity { rate_hz: Some(low_hz), low_hz: Some(low_hz), is_lower_bound: true, ..bound }
}

fn between(open: &[&TrialOutcome], enclosure: &Enclosure, plan: &RunPlan, definition: &str) -> Capacity {
    let cause = enclosure.cause;
    let ended_by = match cause {
        FailCause::Errors => EndedBy::Errors,
        FailCause::Objective => EndedBy::Objective,
        FailCause::AchievedRate => EndedBy::AchievedRate,
    };
    let grid: Vec<&TrialOutcome> = open
        .iter()
        .copied()
        .filter(|outcome| outcome.purpose == TrialPurpose::Grid && outcome.is_sound())
        .collect();
    let limit_ns = plan.objective.limit.0 as f64;
    let fitted = if cause == FailCause::Objective { fit::crossing(&grid, limit_ns) } else { None };
    let basis = if fitted.is_some() { CapacityBasis::Confidence } else { CapacityBasis::Enclosure };
    let (estimate, how) = match fitted {
        Some(fitted) => (fitted.estimate, fitted.method),
        None => enclosed(enclosure, &grid, limit_ns),
    };
    let method = format!("{definition}; {how}");
    Capacity {
        rate_hz: Some(estimate.point),
        low_hz: Some(estimate.low),
        high_hz: Some(estimate.high),
        basis,
        ..blank(plan, ended_by, method)
    }
}

/// The estimate where no line fits: the enclosure, and in it the crossing of the isotonic curve if there is one.
fn enclosed(enclosure: &Enclosure, grid: &[&TrialOutcome], limit_ns: f64) -> (Estimate, String) {
    let low = enclosure.low_hz.unwrap_or(0.0);
    let high = enclosure.high_hz.unwrap_or(low).max(low);
    let crossing = fit::isotonic_crossing(grid, limit_ns).filter(|_| enclosure.cause == FailCause::Objective);
    let point = crossing.map_or(low, |crossing| crossing.clamp(low, high));
    let why = match enclosure.cause {
        FailCause::Objective => "latency does not follow a line",
        FailCause::Errors => "failures ended the search",
        FailCause::AchievedRate => "completions fell behind",
    };
    let how = format!(
        "{why}, so the interval spans from the highest rate at which all trials met the objective to the \
         lowest at which none did"
    );
    (Estimate { point, low, high, level: 0.95 }, how)
}

fn definition(objective: &Objective) -> String {
    let percentile = recorded_ratio(objective.percentile_ratio);
    let stand_in = if percentile > objective.percentile_ratio + 1e-9 {
        format!(" (judged by the next recorded percentile, {})", percent(percentile))
    } else {
        String::new()
    };
    format!(
        "highest offered rate with {}{stand_in} for response time from the intended send, achieved/offered \
         at least {}, and failures at most {}",
        objective_text(objective),
        percent(objective.min_achieved_ratio),
        percent(objective.max_error_ratio)
    )
}

fn is_cut_short(outcomes: &[TrialOutcome]) -> bool {
    let has_fail = outcomes.iter().any(|outcome| matches!(outcome.judgement, Judgement::Fail(_)));
    outcomes.iter().any(|outcome| outcome.is_interrupted) || !has_fail
}

/// Whether the connections, and not the server, set the end: all were in use while the server answered as fast as at
/// low load.
pub fn is_connection_limited(open: &[&TrialOutcome]) -> bool {
    let fails = open.iter().filter(|outcome| {
        matches!(outcome.judgement, Judgement::Fail(FailCause::Objective | FailCause::AchievedRate))
    });
    let Some(fail) = fails.min_by(|a, b| a.offered_hz.unwrap_or(0.0).total_cmp(&b.offered_hz.unwrap_or(0.0)))
    else {
        return false;
    };
    let fail_hz = fail.offered_hz.unwrap_or(0.0);
    let low = open
        .iter()
        .filter(|outcome| outcome.judgement == Judgement::Pass && outcome.connections == fail.connections)
        .filter(|outcome| outcome.offered_hz.is_some_and(|offered| offered <= LOW_LOAD * fail_hz))
        .min_by(|a, b| a.offered_hz.unwrap_or(0.0).total_cmp(&b.offered_hz.unwrap_or(0.0)));
    let Some(low) = low else { return false };
    let is_flat = match (fail.service_p50_ns, low.service_p50_ns) {
        (Some(full), Some(light)) => full <= FLAT_SERVICE.value * light,
        _ => false,
    };
    let waits = match (fail.pool_wait_p99_ns, fail.percentile_ns) {
        (Some(wait), Some(percentile)) => wait >= POOL_SHARE * percentile,
        _ => false,
    };
    is_flat && waits
}

/// The highest rate at which every certification pass met the objective.
fn certify(capacity: &mut Capacity, open: &[&TrialOutcome], plan: &RunPlan) {
    let passes: Vec<&TrialOutcome> =
        open.iter().copied().filter(|outcome| outcome.purpose == TrialPurpose::Certify).collect();
    let needed = plan.search.certify_passes.max(1) as usize;
    let proven = group_by_rate(&passes).into_iter().rev().find(|group| {
        let sound: Vec<_> = group.outcomes.iter().filter(|outcome| outcome.is_sound()).collect();
        sound.len() >= needed && sound.iter().all(|outcome| outcome.judgement == Judgement::Pass)
    });
    if let Some(group) = proven {
        let count = group.outcomes.iter().filter(|outcome| outcome.is_sound()).count();
        capacity.certified_hz = Some(group.rate_hz);
        capacity.certified_passes = u32::try_from(count).unwrap_or(u32::MAX);
        let text = format!("; {} of {count} fresh trials met it at {} req/s", count, rate(group.rate_hz));
        capacity.method.push_str(&text);
    }
}

/// The objective's limit as it is read: `p99 below 50 ms`.
pub(crate) fn objective_phrase(objective: &Objective) -> String {
    let text = objective_text(objective);
    let percentile = text.split('<').next().unwrap_or_default().to_owned();
    format!(
        "{percentile} below {}",
        duration(objective.limit.0 as f64).replace(".00", "").replace(".0 ", " ")
    )
}
