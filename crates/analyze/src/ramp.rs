//! Analyzes a load that rises until something gives way: at which rate did the objective break?
//!
//! Each second is judged separately, by its percentile and its share of failed requests. One bad second is an outlier; the
//! objective broke at the start of the first [`LASTING`] bad seconds in a row. Limits: a slowly growing queue is noticed
//! only once it has reached the objective's limit, so a steep ramp overestimates the rate. `run` measures it.

use crate::capacity::objective_text;
use crate::format::{duration, percent};
use crate::readings::ratio;
use crate::view::{TrialView, set_rates};
use sysdyno_record::load::{Counts, Interval, LatencyWindow, TrialEnd};
use sysdyno_record::plan::{LoadPlan, Objective, PhaseEnd};
use sysdyno_record::ramp::{RampBreak, RampOf, RampResult};
use sysdyno_record::units::{MonoNs, SpanNs};

/// Bad seconds in a row from which on the objective is broken for good.
const LASTING: usize = 3;

/// Intervals shorter than this are the remainders of phases. Unit: seconds.
const SECONDS_MIN: f64 = 0.5;

/// A second after the peak counts no more, where the load falls again. Unit: ratio of the peak.
const FALLEN: f64 = 0.98;

/// Fewer seconds after the break show nothing of what gave out.
const AFTER_MIN: usize = 2;

/// What a load that rises must meet.
pub(crate) fn objective_of(plan: &LoadPlan) -> Objective {
    plan.objective.unwrap_or_default()
}

/// One second of a ramp.
struct Second<'a> {
    interval: &'a Interval,
    offered: f64,
    /// Why the second missed the objective, if it did.
    missed: Option<String>,
}

/// What came of the rise; `None`: the load did not rise, or too little was measured.
pub(crate) fn result_of(view: &TrialView, windows: &[LatencyWindow]) -> Option<RampResult> {
    let of = view.plan().changes()?;
    let objective = objective_of(view.plan());
    let begin = begin_of(view)?;
    let mut seconds = seconds(view, of, begin, &objective, windows);
    let top = seconds.iter().map(|second| second.offered).fold(0.0, f64::max);
    let peak = seconds.iter().position(|second| second.offered >= top)?;
    let fallen = seconds[peak..].iter().position(|second| second.offered < FALLEN * top);
    seconds.truncate(fallen.map_or(seconds.len(), |fallen| peak + fallen));
    // Bursts at one rate may be offered much of the time, and none of it in the middle of a second.
    let is_rising = seconds.first()?.offered < top
        && seconds.windows(2).all(|pair| pair[1].offered >= FALLEN * pair[0].offered);
    if seconds.len() < LASTING || !is_rising {
        return None;
    }
    let broken = broken_at(&seconds);
    let met = &seconds[..broken.unwrap_or(seconds.len())];
    let broke = broken.map(|at| {
        let Second { interval, offered, missed } = &seconds[at];
        RampBreak {
            at: *offered,
            mono_ns: interval.begin_mono_ns,
            after_seconds: interval.begin_mono_ns.seconds_since(begin),
            text: missed.clone().unwrap_or_default(),
        }
    });
    let met_until = met.iter().rev().find(|second| second.missed.is_none()).map(|second| second.offered);
    let objective = objective_text(&objective);
    Some(RampResult { of, objective, top, met_until, broke, goodput_max_hz: goodput_max_hz(&seconds) })
}

/// When the load began, by the first interval of any phase.
fn begin_of(view: &TrialView) -> Option<MonoNs> {
    let first = view.intervals.first()?;
    let before = view.plan().phases.iter().take(first.phase_index as usize);
    let before_ns: u64 = before
        .map(|phase| match phase.end {
            PhaseEnd::After(span) => span.0,
            PhaseEnd::Requests(_) => 0,
        })
        .sum();
    Some(MonoNs(first.begin_mono_ns.0.saturating_sub(before_ns)))
}

/// The seconds of the measured phases, with what was offered in their middle and what they missed.
fn seconds<'a>(
    view: &TrialView<'a>,
    of: RampOf,
    begin: MonoNs,
    objective: &Objective,
    windows: &[LatencyWindow],
) -> Vec<Second<'a>> {
    let plan = view.plan();
    let is_whole = |interval: &&Interval| length(interval) >= SECONDS_MIN;
    let second = |interval: &'a Interval| {
        let middle =
            SpanNs(interval.begin_mono_ns.0.midpoint(interval.end_mono_ns.0).saturating_sub(begin.0));
        let offered = match of {
            RampOf::Rate => plan.offered_hz_at(middle)?,
            RampOf::Clients => plan.clients_at(middle)?,
        };
        let tail_ns = tail_ns(view, interval, objective, windows);
        offered.is_finite().then(|| Second {
            interval,
            offered,
            missed: missed(interval, tail_ns, objective),
        })
    };
    view.measured_intervals().filter(is_whole).filter_map(second).collect()
}

fn length(interval: &Interval) -> f64 {
    interval.end_mono_ns.seconds_since(interval.begin_mono_ns)
}

/// The objective's percentile of one second.
fn tail_ns(
    view: &TrialView,
    interval: &Interval,
    objective: &Objective,
    windows: &[LatencyWindow],
) -> Option<u64> {
    if (objective.percentile_ratio - 0.99).abs() < 1e-9 {
        return interval.p99_ns;
    }
    let felt = windows.iter().filter(|window| window.kind == view.felt_kind());
    let within = |window: &&LatencyWindow| {
        window.begin_mono_ns >= interval.begin_mono_ns && window.begin_mono_ns < interval.end_mono_ns
    };
    let mut steps: Vec<_> = felt.filter(within).flat_map(|window| &window.steps).collect();
    steps.sort_by_key(|step| step.up_to_ns);
    let all: u64 = steps.iter().map(|step| step.count).sum();
    let needed = (all as f64 * objective.percentile_ratio).ceil() as u64;
    let mut seen = 0;
    steps
        .iter()
        .find(|step| {
            seen += step.count;
            seen >= needed.max(1)
        })
        .map(|step| step.up_to_ns)
}

/// What a second missed of the objective.
fn missed(interval: &Interval, tail_ns: Option<u64>, objective: &Objective) -> Option<String> {
    let counts = &interval.counts;
    let bad = counts.failed as f64 + counts.timed_out as f64;
    let failed = ratio(bad, bad + counts.ok as f64).filter(|share| *share > objective.max_error_ratio);
    if let Some(share) = failed {
        return Some(format!("{} of the requests failed", percent(share)));
    }
    let name = objective_text(objective);
    let name = name.split('<').next().unwrap_or_default();
    let late = tail_ns.filter(|tail_ns| *tail_ns > objective.limit.0);
    late.map(|tail_ns| format!("{name} was {}", duration(tail_ns as f64)))
}

/// Where the first bad second of those that last is.
fn broken_at(seconds: &[Second]) -> Option<usize> {
    let is_bad = |second: &Second| second.missed.is_some();
    (0..seconds.len()).find(|at| {
        let next = &seconds[*at..seconds.len().min(at + LASTING)];
        next.len() >= AFTER_MIN && next.iter().all(is_bad)
    })
}

/// Greatest rate of completed and valid requests over three seconds.
fn goodput_max_hz(seconds: &[Second]) -> f64 {
    let rate = |some: &[Second]| {
        let ok: f64 = some.iter().map(|second| second.interval.counts.ok as f64).sum();
        ratio(ok, some.iter().map(|second| length(second.interval)).sum()).unwrap_or(0.0)
    };
    seconds.windows(LASTING).map(rate).fold(0.0, f64::max)
}

/// The trial from the break on, as if nothing had been measured before; `None`: nothing broke, or too late to be seen.
pub(crate) fn after_break<'a>(view: &TrialView<'a>, ramp: &RampResult) -> Option<(TrialEnd, &'a [Interval])> {
    let broke = ramp.broke.as_ref()?;
    let first = view.intervals.iter().position(|interval| interval.begin_mono_ns >= broke.mono_ns)?;
    let after = &view.intervals[first..];
    let measured: Vec<&Interval> = after.iter().filter(|interval| interval.phase.is_measured()).collect();
    if measured.len() < AFTER_MIN {
        return None;
    }
    let mut end = view.end.clone();
    let summary = &mut end.summary.measured;
    summary.begin_mono_ns = broke.mono_ns;
    summary.counts = Counts::default();
    measured.iter().for_each(|interval| summary.counts.add(&interval.counts));
    set_rates(summary, view.is_open());
    Some((end, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::Specimen;
    use crate::verdict::check_trial;
    use sysdyno_record::analysis::VerdictStatus;
    use sysdyno_record::load::LatencyKind;
    use sysdyno_record::workload::{ClientPoint, Slope};

    /// 100 to 2,100 requests per second in 20 s, of a server whose p99 is so many milliseconds in each second.
    fn ramp(p99_ms: impl Fn(usize) -> u64) -> Specimen {
        let mut case = Specimen::open(1_100.0, 20.0);
        case.begin.plan.workload.slopes = vec![Slope { phase: 1, begin_hz: 100.0, end_hz: 2_100.0 }];
        let offered = |second: usize| 150.0 + 100.0 * second as f64;
        case.set_intervals(|second| (offered(second).min(1_200.0), 400_000 * p99_ms(second), 1));
        for (second, interval) in case.intervals.iter_mut().enumerate() {
            interval.p99_ns = Some(p99_ms(second) * 1_000_000);
        }
        case.build()
    }

    fn result(case: &Specimen) -> RampResult {
        result_of(&case.view(), &[]).expect("rises")
    }

    #[test]
    fn a_ramp_says_at_which_rate_the_objective_broke() {
        let found = result(&ramp(|second| if second < 12 { 3 } else { 40 * second as u64 }));
        assert_eq!((found.of, found.top, found.met_until), (RampOf::Rate, 2_050.0, Some(1_250.0)));
        let broke = found.broke.as_ref().expect("breaks");
        assert_eq!((broke.at, broke.text.as_str()), (1_350.0, "p99 was 480 ms"));
        assert!((broke.after_seconds - 14.0).abs() < 0.01, "two seconds of warm-up count: {broke:?}");
        assert!((found.goodput_max_hz - 1_200.0).abs() < 1.0, "{found:?}");
    }

    #[test]
    fn one_bad_second_is_an_outlier_and_a_ramp_may_meet_its_objective_to_the_end() {
        let found = result(&ramp(|second| if second == 5 { 900 } else { 3 }));
        assert_eq!((found.broke, found.met_until), (None, Some(2_050.0)));
        let never = result(&ramp(|_| 80));
        assert_eq!((never.met_until, never.broke.map(|broke| broke.at)), (None, Some(150.0)));
    }

    #[test]
    fn what_does_not_rise_from_second_to_second_is_no_ramp() {
        let mut bursts = ramp(|_| 3);
        bursts.begin.plan.workload.slopes = vec![Slope { phase: 1, begin_hz: 200.0, end_hz: 200.0 }];
        assert_eq!(result_of(&bursts.view(), &[]), None);
    }

    #[test]
    fn failed_requests_break_a_ramp_too() {
        let mut case = ramp(|_| 3);
        for interval in &mut case.intervals[15..] {
            (interval.counts.ok, interval.counts.failed) = (1_000, 200);
        }
        let broke = result(&case).broke.expect("breaks");
        assert_eq!((broke.at, broke.text.as_str()), (1_650.0, "17% of the requests failed"));
    }

    #[test]
    fn clients_rise_as_rates_do_and_what_falls_again_is_left_out() {
        let mut case = ramp(|second| if second == 17 || second == 18 { 99 } else { 3 });
        case.begin.plan.workload.slopes.clear();
        let point = |seconds, clients| ClientPoint { at: SpanNs::from_secs(seconds), clients };
        case.begin.plan.workload.clients = vec![point(0, 0), point(2, 10), point(12, 110), point(22, 10)];
        let found = result(&case);
        assert_eq!((found.of, found.broke.as_ref()), (RampOf::Clients, None));
        assert!((100.0..=110.0).contains(&found.top), "{found:?}");
    }

    #[test]
    fn what_changes_by_plan_is_not_called_non_stationary() {
        let saturated = ramp(|second| if second < 10 { 2 } else { 500 * second as u64 }).edit(|case| {
            let measured = &mut case.end.summary.measured;
            measured.counts.ok /= 2;
            measured.counts.unsent = measured.counts.scheduled - measured.counts.ok;
            measured.counts.sent = measured.counts.ok;
            measured.counts.written = measured.counts.ok;
            case.end.summary.total = measured.counts;
        });
        let verdict = check_trial(&saturated.view());
        let ids: Vec<&str> = verdict.reasons.iter().map(|reason| reason.id.as_str()).collect();
        assert!(!ids.contains(&"M10") && !ids.contains(&"V05"), "{ids:?}");
        assert!(verdict.status < VerdictStatus::Invalid, "{verdict:?}");
        let mut even = saturated;
        even.begin.plan.workload.slopes.clear();
        let verdict = check_trial(&even.view());
        let is_there = |id: &str| verdict.reasons.iter().any(|reason| reason.id == id);
        assert!(is_there("M10") && is_there("V05"), "without a ramp it is: {verdict:?}");
    }

    #[test]
    fn what_gave_out_is_looked_for_after_the_break() {
        let case = ramp(|second| if second < 12 { 3 } else { 500 });
        let found = result(&case);
        let (end, intervals) = after_break(&case.view(), &found).expect("breaks");
        assert_eq!(intervals.len(), 8);
        let measured = &end.summary.measured;
        assert_eq!(measured.begin_mono_ns, case.intervals[12].begin_mono_ns);
        assert_eq!(measured.counts.ok, 8 * 1_200);
        assert!(measured.latency.contains_key(&LatencyKind::Response));
    }
}
