//! Reduces one trial to what a search needs: the load, the outcome, and who caused it.
//!
//! A pass is a pass even if the generator was at its limit: the server did carry the load. A fail counts against the server
//! only if nothing points to the generator or to an outside disturbance.

use crate::readings::ratio;
use crate::verdict::{ACHIEVED_RATE, CONTENT, Check, Culprit, FOREIGN_LOAD, LAG, is_blamed_on};
use crate::view::{WAITING_CLASSES, achieved_ratio, error_ratio, finite_or_zero};
use sysdyno_record::analysis::{Verdict, VerdictStatus};
use sysdyno_record::load::{
    Blame, FailureClass, LatencyKind, LatencySummary, PhaseSummary, TrialBegin, TrialEnd, TrialEnding,
    TrialPurpose,
};
use sysdyno_record::plan::{LoadPlan, Objective};
use sysdyno_record::units::MonoNs;

/// A trial as a point of the search.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialOutcome {
    /// Its number.
    pub trial: u32,
    /// What it was for.
    pub purpose: TrialPurpose,
    /// Connections.
    pub connections: u32,
    /// Offered rate; `None` in a closed process. Unit: requests per second.
    pub offered_hz: Option<f64>,
    /// Completed requests per second, valid or not.
    pub achieved_hz: f64,
    /// Completed and valid requests per second.
    pub goodput_hz: f64,
    /// Share of requests that failed or timed out.
    pub error_ratio: f64,
    /// The objective's percentile of response time (closed: service time), or the greatest value where the sample is too
    /// small for it. Unit: nanoseconds.
    pub percentile_ns: Option<f64>,
    /// Median service time. Unit: nanoseconds.
    pub service_p50_ns: Option<f64>,
    /// 99th percentile of the wait for a free connection. Unit: nanoseconds.
    pub pool_wait_p99_ns: Option<f64>,
    /// Median of what the percentile is of, or the mean without the greatest value where the sample is too small for a median.
    /// Unit: nanoseconds.
    pub middle_ns: Option<f64>,
    /// What the percentile is at least: itself, or the next lower one that the sample is large enough for, or the middle.
    /// Unit: nanoseconds.
    pub percentile_floor_ns: Option<f64>,
    /// What it says.
    pub judgement: Judgement,
    /// Whether the user stopped it.
    pub is_interrupted: bool,
    /// When it began.
    pub begin: MonoNs,
    /// When its drain was over.
    pub end: MonoNs,
}

/// What a trial says about the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The objective was met.
    Pass,
    /// It was not, and it was the server's doing.
    Fail(FailCause),
    /// It was not, and the generator was at its own limit.
    GeneratorLimited,
    /// Nothing: the trial was disturbed, cut off or empty.
    Unsound,
}

/// Which part of the objective was missed; of several, the first of this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailCause {
    /// Too many requests failed, or responses were wrong.
    Errors,
    /// The percentile was above the limit.
    Objective,
    /// Completions fell behind arrivals.
    AchievedRate,
}

impl TrialOutcome {
    /// The outcome of a trial under its verdict.
    pub fn of(begin: &TrialBegin, end: &TrialEnd, verdict: &Verdict, objective: &Objective) -> TrialOutcome {
        let measured = &end.summary.measured;
        let is_open = begin.plan.arrival.is_open();
        let felt = if is_open { LatencyKind::Response } else { LatencyKind::Service };
        let summary = |kind: LatencyKind| measured.latency.get(&kind).copied().unwrap_or_default();
        let pool = summary(LatencyKind::PoolSlip);
        let percentile_ns = percentile_of(&summary(felt), objective.percentile_ratio);
        let limited_ns = if is_open { percentile_ns } else { None };
        TrialOutcome {
            trial: begin.trial,
            purpose: begin.purpose,
            connections: begin.plan.connections,
            offered_hz: if is_open { offered_hz(&begin.plan, measured) } else { None },
            achieved_hz: finite_or_zero(measured.achieved_hz),
            goodput_hz: finite_or_zero(measured.goodput_hz),
            error_ratio: error_ratio(&measured.counts),
            percentile_ns,
            service_p50_ns: summary(LatencyKind::Service).p50.map(|ns| ns as f64),
            pool_wait_p99_ns: pool.p99.or(pool.max).map(|ns| ns as f64),
            middle_ns: middle_of(&summary(felt)),
            percentile_floor_ns: percentile_floor_of(&summary(felt), objective.percentile_ratio),
            judgement: judge(end, verdict, objective, limited_ns),
            is_interrupted: end.ending == TrialEnding::Interrupted,
            begin: begin.begin_mono_ns,
            end: end.end_mono_ns,
        }
    }

    /// Whether the trial says something about the server.
    pub fn is_sound(&self) -> bool {
        matches!(self.judgement, Judgement::Pass | Judgement::Fail(_))
    }

    /// Whether the objective was met; `None` if the trial cannot say.
    pub fn met(&self) -> Option<bool> {
        match self.judgement {
            Judgement::Pass => Some(true),
            Judgement::Fail(_) | Judgement::GeneratorLimited => Some(false),
            Judgement::Unsound => None,
        }
    }
}

/// The offered rate of the measured phases: as planned, else as recorded.
fn offered_hz(plan: &LoadPlan, measured: &PhaseSummary) -> Option<f64> {
    let planned = plan.phases.iter().find(|phase| phase.kind.is_measured()).and_then(|phase| phase.rate_hz);
    planned.or(measured.offered_hz).filter(|rate| rate.is_finite() && *rate > 0.0)
}

/// The percentiles that a record holds, and the ratios up to which each stands in.
const PERCENTILES: [Percentile; 5] = [
    Percentile { ratio: 0.50, of: |summary| summary.p50 },
    Percentile { ratio: 0.90, of: |summary| summary.p90 },
    Percentile { ratio: 0.95, of: |summary| summary.p95 },
    Percentile { ratio: 0.99, of: |summary| summary.p99 },
    Percentile { ratio: 0.999, of: |summary| summary.p99_9 },
];

struct Percentile {
    ratio: f64,
    of: fn(&LatencySummary) -> Option<u64>,
}

/// The recorded percentile at this ratio or, if it is not recorded, at the next greater one.
pub(crate) fn recorded_ratio(percentile_ratio: f64) -> f64 {
    recorded(percentile_ratio).map_or(1.0, |percentile| percentile.ratio)
}

fn recorded(percentile_ratio: f64) -> Option<&'static Percentile> {
    PERCENTILES.iter().find(|percentile| percentile.ratio >= percentile_ratio - 1e-9)
}

fn percentile_of(summary: &LatencySummary, percentile_ratio: f64) -> Option<f64> {
    let value = recorded(percentile_ratio).and_then(|percentile| (percentile.of)(summary));
    value.or(summary.max).filter(|_| summary.count > 0).map(|ns| ns.max(1) as f64)
}

/// The greatest of the recorded percentiles up to this ratio that the sample is large enough for, or its middle.
fn percentile_floor_of(summary: &LatencySummary, percentile_ratio: f64) -> Option<f64> {
    let up_to = PERCENTILES.iter().rev().filter(|percentile| percentile.ratio <= percentile_ratio + 1e-9);
    let supported = up_to.filter_map(|percentile| (percentile.of)(summary)).map(|ns| ns as f64).next();
    supported.or_else(|| middle_of(summary))
}

fn middle_of(summary: &LatencySummary) -> Option<f64> {
    let others = summary.count.saturating_sub(1) as f64;
    let rest = |mean: f64, max: u64| (mean * summary.count as f64 - max as f64) / others;
    let without_greatest = summary.mean.zip(summary.max).filter(|_| others >= 1.0);
    summary.p50.map(|p50| p50 as f64).or(without_greatest.map(|(mean, max)| rest(mean, max)))
}

fn judge(end: &TrialEnd, verdict: &Verdict, objective: &Objective, limited_ns: Option<f64>) -> Judgement {
    let measured = &end.summary.measured;
    let is_at_least = |status: VerdictStatus, check: &Check| {
        verdict.reasons.iter().any(|reason| reason.status >= status && check.has_raised(reason))
    };
    let is_invalid_by = |check: &Check| is_at_least(VerdictStatus::Invalid, check);
    let invalid = || verdict.reasons.iter().filter(|reason| reason.status == VerdictStatus::Invalid);
    let is_doing_of = |culprit: Culprit| invalid().any(|reason| is_blamed_on(culprit, reason));
    if end.ending == TrialEnding::Interrupted
        || is_doing_of(Culprit::Environment)
        || measured.counts.scheduled == 0
    {
        return Judgement::Unsound;
    }
    let local = measured.failures.iter().filter(|(class, _)| class.blame() == Blame::Generator);
    let local =
        ratio(local.map(|(_, count)| *count as f64).sum(), measured.counts.sent as f64).unwrap_or(0.0);
    let is_generator = is_doing_of(Culprit::Generator) || local > objective.max_error_ratio;
    // However little the generator could send: what the server answered wrongly, it answered wrongly.
    let is_server = answered_wrongly(measured) > objective.max_error_ratio;
    let wrong = is_invalid_by(&CONTENT).then_some(FailCause::Errors);
    match missed(end, objective, limited_ns).or(wrong) {
        // Late because others took the CPU: neither the generator's limit nor the server's.
        Some(_) if is_invalid_by(&LAG) && is_at_least(VerdictStatus::Suspect, &FOREIGN_LOAD) => {
            Judgement::Unsound
        }
        Some(FailCause::Errors) if is_server => Judgement::Fail(FailCause::Errors),
        Some(_) if is_generator || is_invalid_by(&ACHIEVED_RATE) => Judgement::GeneratorLimited,
        Some(cause) => Judgement::Fail(cause),
        // Fewer requests were sent than offered: this rate was not tried.
        None if is_invalid_by(&ACHIEVED_RATE) => Judgement::GeneratorLimited,
        // A closed loop runs as fast as it can: at the generator's limit its rate is the generator's.
        None if is_generator && limited_ns.is_none() => Judgement::GeneratorLimited,
        None => Judgement::Pass,
    }
}

/// Share of the requests that failed in a way that no generator that is slow or late can bring about: all of the server's failures
/// but those of time.
fn answered_wrongly(measured: &PhaseSummary) -> f64 {
    let is_of_server =
        |class: &FailureClass| class.blame() == Blame::Server && !WAITING_CLASSES.contains(class);
    let failures = measured.failures.iter().filter(|(class, _)| is_of_server(class));
    ratio(failures.map(|(_, count)| *count as f64).sum(), measured.counts.sent as f64).unwrap_or(0.0)
}

/// The first part of the objective that was missed.
///
/// `limited_ns` is the percentile that the objective limits; a closed process has none, since its service time says
/// nothing about what users of an open system feel.
fn missed(end: &TrialEnd, objective: &Objective, limited_ns: Option<f64>) -> Option<FailCause> {
    let measured = &end.summary.measured;
    let is_stopped = matches!(end.ending, TrialEnding::HardStop(_));
    if is_stopped || measured.counts.ok == 0 || error_ratio(&measured.counts) > objective.max_error_ratio {
        return Some(FailCause::Errors);
    }
    if limited_ns.is_some_and(|value| value > objective.limit.0 as f64) {
        return Some(FailCause::Objective);
    }
    let achieved = achieved_ratio(measured).unwrap_or(0.0);
    (limited_ns.is_some() && achieved < objective.min_achieved_ratio).then_some(FailCause::AchievedRate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Specimen;
    use crate::verdict::check_trial;

    fn judged(case: Specimen) -> Judgement {
        let case = case.generator(0.97).build();
        let verdict = check_trial(&case.view());
        assert!(verdict.reasons.iter().any(|reason| reason.id == "M01"), "{verdict:?}");
        TrialOutcome::of(&case.begin, &case.end, &verdict, &Objective::default()).judgement
    }

    #[test]
    fn wrong_answers_are_the_servers_however_busy_the_generator_was() {
        let open = || Specimen::open(2000.0, 10.0);
        assert_eq!(judged(open().fail(FailureClass::Status, 10_000)), Judgement::Fail(FailCause::Errors));
        assert_eq!(judged(open().fail(FailureClass::Reset, 10_000)), Judgement::Fail(FailCause::Errors));
        assert_eq!(judged(open().fail(FailureClass::HeadTimeout, 10_000)), Judgement::GeneratorLimited);
        assert_eq!(judged(open().time_out(10_000)), Judgement::GeneratorLimited);
    }
}
