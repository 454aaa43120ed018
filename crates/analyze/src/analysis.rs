//! All conclusions from a record, in one value.

use crate::capacity::{bounded_by_generator, cut_short, estimate, is_connection_limited};
use crate::curve::{bands, curve, distribution};
use crate::examined::{Examined, Sorted};
use crate::fail_if::judge;
use crate::findings::{self, Scene, examine, with_proofs};
use crate::headline;
use crate::intervals;
use crate::limit::{self, LimitScene};
use crate::links::splits_of;
use crate::outcome::{Judgement, TrialOutcome};
use crate::path::path_of;
use crate::probe;
use crate::ramp;
use crate::readings::ratio;
use crate::run_verdict::{RunState, is_doubted, verdict_of_load, verdict_of_run};
use crate::session;
use crate::verdict::run::INCOMPLETE;
use crate::verdict::{Concern, NON_STATIONARY, Observation, arrival_fit, is_about, verdict_of};
use crate::view::{TrialView, finite_or_zero};
use crate::watched;
use sysdyno_record::analysis::{
    Analysis, Capacity, EndedBy, Finding, Rates, Unchecked, Verdict, VerdictStatus,
};
use sysdyno_record::load::{LatencyKind, TrialPurpose};
use sysdyno_record::path::PathTier;
use sysdyno_record::plan::{Plan, RunPlan};
use sysdyno_record::view::RunView;
use sysdyno_record::workload::{Headroom, NeedPlan};

/// The schema of the analysis that this program writes.
pub const SCHEMA: &str = "sysdyno.analysis/1";

/// A failing trial shows the limit best while it is not far beyond the capacity. Unit: ratio.
const JUST_ABOVE: f64 = 1.3;

/// Concludes from a record all that it supports.
///
/// Cost: linear in the series for each check and trial; well below a second for a run of an hour.
pub fn analyze(run: &RunView) -> Analysis {
    let Some(plan) = run.plan else { return nothing_recorded() };
    if let Plan::Watch(plan) = plan {
        return Analysis { schema: SCHEMA.to_owned(), ..watched::analyze(run, plan) };
    }
    let sorted = Sorted::new(run);
    let examined = Examined::new(run, &sorted);
    let mut analysis = match plan {
        _ if examined.views.is_empty() => nothing_ended(&examined),
        Plan::Run(plan) => analyze_run(&examined, run, plan),
        Plan::Load(_) | Plan::Try(_) | Plan::Squeeze(_) | Plan::Work(_) | Plan::Probe(_) | Plan::Watch(_) => {
            analyze_load(&examined, run)
        }
    };
    add_latencies(&mut analysis, &examined, run);
    analysis.headroom = match plan {
        Plan::Run(plan) => plan.need.as_ref().and_then(|need| headroom(need, &analysis)),
        Plan::Load(_) | Plan::Try(_) | Plan::Squeeze(_) | Plan::Work(_) | Plan::Probe(_) | Plan::Watch(_) => {
            None
        }
    };
    analysis.checks = judge(plan.fail_if(), &analysis);
    analysis
}

fn analyze_load(examined: &Examined, run: &RunView) -> Analysis {
    let shown = examined.views.len() - 1;
    let view = &examined.views[shown];
    let verdict = verdict_of_load(examined, shown);
    let ramp = ramp::result_of(view, run.windows(view.begin.trial));
    // What gave out shows after the objective broke; before, nothing did.
    let end = ramp.as_ref().and_then(|ramp| ramp::after_break(view, ramp));
    let after = end.as_ref().map(|(end, intervals)| TrialView { end, intervals, ..*view });
    let objective = ramp.as_ref().map(|_| ramp::objective_of(view.plan())).or(view.plan().objective);
    let mut scene = scene(examined, shown, None, false);
    scene.focus = after.unwrap_or(scene.focus);
    scene.objective = objective.as_ref();
    let findings = examine(&scene);
    let unchecked = findings::unchecked(&scene, &findings);
    let parts = Parts {
        headline: headline::headline_of_load(view, &verdict, ramp.as_ref()),
        limit: match ramp.as_ref().is_some_and(|ramp| ramp.broke.is_none()) {
            true => "No bottleneck was reached: the objective was met to the end of the ramp".to_owned(),
            false => limit::limit(&LimitScene {
                focus: &scene.focus,
                findings: &findings,
                noticed: findings::noticed(&scene),
                unchecked: &unchecked,
                capacity: None,
                verdict: &verdict,
            }),
        },
        verdict,
        capacity: None,
        findings,
        unchecked,
        path: path_of(&scene.focus),
    };
    Analysis { ramp, ..assemble(examined, view, parts) }
}

fn analyze_run(examined: &Examined, run: &RunView, plan: &RunPlan) -> Analysis {
    let mut capacity = estimate(&examined.outcomes, plan);
    let shown = shown_trial(&examined.outcomes, &capacity);
    let focus = focus_trial(examined, &capacity, shown);
    let open: Vec<&TrialOutcome> =
        examined.outcomes.iter().filter(|outcome| outcome.offered_hz.is_some()).collect();
    let is_connection_limited = capacity.ended_by == EndedBy::Generator && is_connection_limited(&open);
    let state = RunState {
        capacity: &capacity,
        shown,
        focus,
        plan,
        is_finished: examined.is_finished(plan),
        is_out_of_time: examined.is_out_of_time(plan),
        is_connection_limited,
    };
    let verdict = verdict_of_run(examined, &state);
    let is_finished = state.is_finished;
    withhold(&mut capacity, &verdict);
    if !is_finished && capacity.ended_by != EndedBy::NothingCarried {
        cut_short(&mut capacity, &examined.outcomes);
    } else if is_doubted(&verdict) {
        bounded_by_generator(&mut capacity);
    }
    let scene = scene(examined, focus, Some(plan), is_connection_limited);
    let findings = with_proofs(examine(&scene), run.proofs);
    let unchecked = findings::unchecked(&scene, &findings);
    let view = &examined.views[shown];
    let context = headline::Context { plan, view, verdict: &verdict };
    let parts = Parts {
        headline: headline::headline_of_run(&capacity, &context),
        limit: limit::limit(&LimitScene {
            focus: &scene.focus,
            findings: &findings,
            noticed: findings::noticed(&scene),
            unchecked: &unchecked,
            capacity: Some(&capacity),
            verdict: &verdict,
        }),
        verdict,
        capacity: Some(capacity),
        findings,
        unchecked,
        path: path_of(&scene.focus),
    };
    Analysis { proofs: run.proofs.to_vec(), ..assemble(examined, view, parts) }
}

/// A rate that is not the server's is not handed on, unless it is a lower bound.
fn withhold(capacity: &mut Capacity, verdict: &Verdict) {
    if verdict.status == VerdictStatus::Invalid && !capacity.is_lower_bound {
        (capacity.rate_hz, capacity.low_hz, capacity.high_hz, capacity.certified_hz) =
            (None, None, None, None);
        capacity.certified_passes = 0;
        capacity.method.push_str("; no rate is given because the run is not valid");
    }
}

fn scene<'a>(
    examined: &'a Examined,
    focus: usize,
    plan: Option<&'a RunPlan>,
    is_connection_limited: bool,
) -> Scene<'a> {
    let rate = |index: &usize| examined.outcomes[*index].offered_hz.unwrap_or(f64::INFINITY);
    let passes = (0..examined.outcomes.len())
        .filter(|index| *index != focus && examined.outcomes[*index].judgement == Judgement::Pass)
        .filter(|index| examined.outcomes[*index].offered_hz.is_some());
    let base = passes.min_by(|a, b| rate(a).total_cmp(&rate(b)));
    Scene {
        focus: examined.diagnosed(focus),
        base: base.map(|index| examined.views[index]),
        trials: &examined.views,
        verdicts: &examined.verdicts,
        objective: plan.map(|plan| &plan.objective),
        is_connection_limited,
    }
}

/// Position of the trial at the greatest rate that met the objective and is not beyond the capacity, or of the last one.
fn shown_trial(outcomes: &[TrialOutcome], capacity: &Capacity) -> usize {
    let positions = 0..outcomes.len();
    let last = outcomes.len().saturating_sub(1);
    let load = |outcome: &TrialOutcome| outcome.offered_hz.unwrap_or(outcome.goodput_hz);
    let is_sweep = outcomes.iter().any(|outcome| outcome.purpose == TrialPurpose::Sweep);
    let carried = positions.filter(|index| {
        let outcome = &outcomes[*index];
        let is_carried = outcome.judgement == Judgement::Pass || (is_sweep && outcome.met().is_some());
        is_carried && outcome.purpose != TrialPurpose::Pilot
    });
    let carried: Vec<usize> = carried.collect();
    let up_to = |limit: f64| {
        let within = carried.iter().copied().filter(|index| is_sweep || load(&outcomes[*index]) <= limit);
        within.max_by(|a, b| load(&outcomes[*a]).total_cmp(&load(&outcomes[*b])))
    };
    up_to(capacity.rate_hz.unwrap_or(f64::INFINITY)).or_else(|| up_to(f64::INFINITY)).unwrap_or(last)
}

/// Position of the trial that shows what stops the server: the first beyond the capacity that failed, if possible one
/// in which nobody else used the CPUs.
fn focus_trial(examined: &Examined, capacity: &Capacity, shown: usize) -> usize {
    let outcomes = &examined.outcomes;
    let limit = capacity.rate_hz.unwrap_or(0.0);
    let rate = |index: &usize| outcomes[*index].offered_hz.unwrap_or(f64::INFINITY);
    let is_limited = |index: &usize| outcomes[*index].judgement == Judgement::GeneratorLimited;
    let is_wanted = |index: &usize| {
        let is_failed = matches!(outcomes[*index].judgement, Judgement::Fail(_));
        is_failed || (capacity.ended_by == EndedBy::Generator && is_limited(index))
    };
    let is_calm = |index: &usize| {
        let reasons = &examined.verdicts[*index].reasons;
        !reasons
            .iter()
            .any(|reason| reason.status >= VerdictStatus::Suspect && is_about(&[Concern::OthersCpu], reason))
    };
    let is_measured =
        |index: &usize| outcomes[*index].purpose == TrialPurpose::Grid && rate(index) <= limit * JUST_ABOVE;
    let beyond = (0..outcomes.len()).filter(is_wanted).filter(|index| rate(index) >= limit);
    // Of the better kind first, then the nearest.
    let rank = |index: &usize| [!is_limited(index), !is_measured(index), !is_calm(index)];
    beyond.min_by(|a, b| rank(a).cmp(&rank(b)).then(rate(a).total_cmp(&rate(b)))).unwrap_or(shown)
}

/// The latencies of the shown trial, with intervals as wide as the dependence of its samples makes them.
fn add_latencies(analysis: &mut Analysis, examined: &Examined, run: &RunView) {
    let shown = examined.views.iter().find(|view| view.begin.trial == analysis.shown_trial);
    let Some(view) = shown else { return };
    let windows = run.windows(analysis.shown_trial);
    let of = |kind: LatencyKind| intervals::summary(view, windows, kind);
    analysis.response_time_ns = of(LatencyKind::Response);
    analysis.service_time_ns = of(LatencyKind::Service);
    analysis.slip_ns = of(LatencyKind::Slip);
    analysis.loop_slip_ns = of(LatencyKind::LoopSlip);
    analysis.pool_slip_ns = of(LatencyKind::PoolSlip);
    analysis.connect_time_ns = of(LatencyKind::Connect);
    analysis.handshake_time_ns = of(LatencyKind::Handshake);
    analysis.first_byte_time_ns = of(LatencyKind::FirstByte);
    analysis.failure_time_ns = of(LatencyKind::Failure);
    let felt = if view.is_open() { &analysis.response_time_ns } else { &analysis.service_time_ns };
    let reasons = &mut analysis.verdict.reasons;
    // What kept changing depends on itself: that is told already.
    if !reasons.iter().any(|reason| NON_STATIONARY.has_raised(reason)) {
        reasons.extend(intervals::examine_dependence(felt));
    }
}

/// The capacity against real traffic; `None` where no rate is given.
fn headroom(need: &NeedPlan, analysis: &Analysis) -> Option<Headroom> {
    let capacity = analysis.capacity.as_ref()?;
    let rate_hz = capacity.rate_hz.filter(|rate_hz| rate_hz.is_finite())?;
    let times = |need_hz: f64| ratio(rate_hz, need_hz).filter(|times| times.is_finite());
    Some(Headroom {
        need: need.clone(),
        rate_hz,
        is_lower_bound: capacity.is_lower_bound,
        second_ratio: times(need.second_hz)?,
        minute_ratio: need.minute_hz.and_then(times),
        hour_ratio: need.hour_hz.and_then(times),
    })
}

/// What differs between `run` and `load`.
struct Parts {
    verdict: Verdict,
    headline: String,
    limit: String,
    capacity: Option<Capacity>,
    findings: Vec<Finding>,
    unchecked: Vec<Unchecked>,
    path: Vec<PathTier>,
}

fn assemble(examined: &Examined, view: &TrialView, parts: Parts) -> Analysis {
    let measured = view.measured();
    Analysis {
        schema: SCHEMA.to_owned(),
        verdict: parts.verdict,
        headline: parts.headline,
        limit: parts.limit,
        capacity: parts.capacity,
        curve: curve(examined),
        shown_trial: view.begin.trial,
        counts: measured.counts,
        failures: measured.failures.clone(),
        statuses: measured.statuses.clone(),
        received_bytes_hz: ratio(measured.received_bytes as f64, view.seconds())
            .filter(|rate| rate.is_finite()),
        cache: measured.cache,
        handshakes: measured.handshakes,
        rates: Rates {
            offered_hz: measured.offered_hz.filter(|rate| view.is_open() && rate.is_finite()),
            achieved_hz: finite_or_zero(measured.achieved_hz),
            goodput_hz: view.goodput_hz(),
        },
        generator: view.end.summary.generator.clone(),
        findings: parts.findings,
        unchecked: parts.unchecked,
        path: parts.path,
        distribution: distribution(view),
        bands: bands(view, examined.sought.or(view.begin.plan.objective)),
        arrival_fit: arrival_fit(view),
        probe: probe::summary_of(view),
        probes: probe::conclusion_of(view),
        links: splits_of(view),
        operations: view.end.summary.operations.clone(),
        session: session::result_of(view),
        ..Analysis::default()
    }
}

/// The analysis of a record that was cut off before its plan, or before its first trial.
pub(crate) fn nothing_recorded() -> Analysis {
    let observation = Observation::invalid("no trial was recorded".to_owned());
    nothing(verdict_of(INCOMPLETE.raise(observation).into_iter().collect()))
}

/// The analysis of a record in which no trial has ended.
fn nothing_ended(examined: &Examined) -> Analysis {
    let verdict = verdict_of_load(examined, 0);
    if verdict.reasons.is_empty() { nothing_recorded() } else { nothing(verdict) }
}

fn nothing(verdict: Verdict) -> Analysis {
    Analysis {
        schema: SCHEMA.to_owned(),
        headline: "Nothing was measured".to_owned(),
        limit: "No bottleneck can be named: no trial was completed".to_owned(),
        verdict,
        ..Analysis::default()
    }
}
