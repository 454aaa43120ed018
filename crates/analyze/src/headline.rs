//! The first sentence of a report: how much load the server can take.

use crate::capacity::objective_phrase;
use crate::format::{counted, duration, name, rate, whole};
use crate::ramp::objective_of;
use crate::run_verdict::is_doubted;
use crate::session;
use crate::verdict::CPU_BOUND;
use crate::view::TrialView;
use sysdyno_record::analysis::{Capacity, CapacityBasis, EndedBy, Reason, Verdict, VerdictStatus};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::plan::{LoadPlan, RunPlan, SearchMethod};
use sysdyno_record::ramp::{RampOf, RampResult};
use sysdyno_record::session::SessionResult;
use sysdyno_record::units::rounding_step;

/// What the server is called: its process, or just that.
fn server(watched: &[WatchedProcess]) -> String {
    let target = watched.iter().find(|process| process.role == ProcessRole::Target);
    target
        .map(|process| name(&process.command))
        .filter(|name| !name.is_empty())
        .unwrap_or("the server".to_owned())
}

/// The subject of a run's headline.
pub(crate) struct Context<'a> {
    pub(crate) plan: &'a RunPlan,
    /// The shown trial.
    pub(crate) view: &'a TrialView<'a>,
    pub(crate) verdict: &'a Verdict,
}

/// The headline of `run`.
pub(crate) fn headline_of_run(capacity: &Capacity, context: &Context) -> String {
    let Context { plan, view, verdict } = context;
    let who = server(view.watched);
    let with = match plan.search.method {
        SearchMethod::OfferedRate => format!(" with {}", objective_phrase(&plan.objective)),
        SearchMethod::Connections(_) => {
            format!(" with {}", connections(view.plan()))
        }
    };
    let Some(rate_hz) = capacity.rate_hz else {
        return match (capacity.ended_by, capacity.low_hz) {
            (EndedBy::Interrupted, Some(met_hz)) => stopped_early(&who, met_hz, capacity.high_hz, &with),
            _ => no_capacity(capacity, plan, verdict),
        };
    };
    if capacity.is_lower_bound {
        let why = match capacity.ended_by {
            EndedBy::Generator if is_doubted(verdict) && worst(verdict).is_none() => {
                "the generator may have been the bottleneck"
            }
            EndedBy::Generator => "the generator was the bottleneck",
            EndedBy::Ceiling => "no higher rate was allowed",
            _ => "the search was stopped early",
        };
        return format!("{who} carries at least {} req/s{with}; {why}", rate(rate_hz));
    }
    let (Some(low), Some(high)) = (capacity.low_hz, capacity.high_hz) else {
        return format!("{who} carries {} req/s{with}", rate(rate_hz));
    };
    // No more digits than the interval allows.
    let step = rounding_step(rate_hz, (high - low).abs() / 2.0);
    let round = |hz: f64| rate((hz / step).round() * step);
    let interval = match capacity.basis {
        CapacityBasis::Confidence => format!("95% interval {}–{}", round(low), round(high)),
        CapacityBasis::Enclosure => format!("between {} and {}", round(low), round(high)),
    };
    format!("{who} carries {} req/s ({interval}){with}", round(rate_hz))
}

/// The result of an interrupted search.
fn stopped_early(who: &str, met_hz: f64, missed_hz: Option<f64>, with: &str) -> String {
    let missed = match missed_hz {
        Some(missed_hz) => format!(", but not {} req/s", rate(missed_hz)),
        None => ", and no higher rate was missed".to_owned(),
    };
    format!("Stopped early: {who} carried {} req/s{missed}{with}; the capacity is not known", rate(met_hz))
}

fn no_capacity(capacity: &Capacity, plan: &RunPlan, verdict: &Verdict) -> String {
    let worst = worst(verdict).map(|reason| reason.text.clone());
    match (capacity.ended_by, worst) {
        (EndedBy::Interrupted, _) => {
            "No capacity yet: the search was stopped before any rate met the objective".to_owned()
        }
        (EndedBy::NothingCarried, None) => {
            format!("No capacity: no rate was carried with {}", objective_phrase(&plan.objective))
        }
        (_, Some(text)) => format!("No capacity: {text}"),
        (_, None) => "No capacity was found".to_owned(),
    }
}

fn worst(verdict: &Verdict) -> Option<&Reason> {
    verdict.reasons.iter().find(|reason| reason.status == VerdictStatus::Invalid)
}

/// The headline of `load`.
pub(crate) fn headline_of_load(view: &TrialView, verdict: &Verdict, ramp: Option<&RampResult>) -> String {
    if let Some(reason) = worst(verdict) {
        let is_bound = CPU_BOUND.has_raised(reason) && view.goodput_hz() > 0.0;
        let goodput = rate(view.goodput_hz());
        return if is_bound {
            format!("At least {goodput} req/s: the generator was the bottleneck")
        } else {
            format!("Not to be trusted: {}", reason.text)
        };
    }
    if let Some(ramp) = ramp {
        return headline_of_ramp(ramp, view);
    }
    let counts = view.counts();
    let felt = view.summary(view.felt_kind());
    let latency = [("p50", felt.p50), ("p99", felt.p99)]
        .iter()
        .filter_map(|(name, value)| value.map(|value| format!("{name} {}", duration(value as f64))))
        .collect::<Vec<_>>()
        .join(", ");
    let latency = if latency.is_empty() { String::new() } else { format!(", {} {latency}", time_name(view)) };
    if let Some(session) = session::result_of(view) {
        return headline_of_session(&session, &latency);
    }
    match view.measured().offered_hz.filter(|_| view.is_open()) {
        Some(offered) => format!(
            "{} completed {} of {} at {} req/s offered{latency}",
            server(view.watched),
            whole(counts.ok as f64),
            counted(counts.scheduled as f64, "request"),
            rate(offered)
        ),
        None if is_doubted(verdict) => format!(
            "{} completed at least {} req/s with {}{latency}; the generator may have been the bottleneck",
            server(view.watched),
            rate(view.goodput_hz()),
            connections(view.plan())
        ),
        None => format!(
            "{} completed {} req/s with {}{latency}",
            server(view.watched),
            rate(view.goodput_hz()),
            connections(view.plan())
        ),
    }
}

fn headline_of_ramp(ramp: &RampResult, view: &TrialView) -> String {
    let who = server(view.watched);
    let phrase = objective_phrase(&objective_of(view.plan()));
    let offered = |amount: f64| match ramp.of {
        RampOf::Rate => format!("{} req/s", rate(amount)),
        RampOf::Clients => counted(amount.round(), "client"),
    };
    let best = format!("; it completed at most {} req/s", rate(ramp.goodput_max_hz));
    match (&ramp.broke, ramp.met_until) {
        (None, _) => format!("{who} met {phrase} to the end of the ramp, at {}", offered(ramp.top)),
        (Some(broke), Some(met)) => format!(
            "{who} met {phrase} up to {}; at {}, {:.0} s into the ramp, {}{best}",
            offered(met),
            offered(broke.at),
            broke.after_seconds,
            broke.text
        ),
        (Some(broke), None) => {
            format!("{who} never met {phrase}: at {}, {}{best}", offered(broke.at), broke.text)
        }
    }
}

/// `64 connections`, `4 connections of 32 streams`.
fn connections(plan: &LoadPlan) -> String {
    let connections = counted(f64::from(plan.connections), "connection");
    match plan.wire.http2 {
        Some(http2) => format!("{connections} with {} each", counted(f64::from(http2.streams), "stream")),
        None => connections,
    }
}

fn headline_of_session(session: &SessionResult, latency: &str) -> String {
    let who = match session.users {
        0 => "arriving sessions".to_owned(),
        users => counted(f64::from(users), "user"),
    };
    let missed = session.rules.iter().filter(|rule| !rule.passed).count();
    let word = match missed {
        0 => "passed".to_owned(),
        _ => format!("failed {missed} of {} rules", session.rules.len()),
    };
    format!("{}: {word}: {who} completed {} operations/s{latency}", session.name, rate(session.rate_hz))
}

fn time_name(view: &TrialView) -> &'static str {
    if view.is_open() { "response time" } else { "service time" }
}
