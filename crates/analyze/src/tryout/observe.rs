//! The numbers of a trial, and its circumstances.
//!
//! Anything that the variant can have caused (errors, lost throughput, retransmits) is a number to compare. Anything that
//! it cannot have caused makes the trial invalid: the generator at its own limit, time stolen by the hypervisor, other
//! processes on the CPUs, a clock that stepped.

use super::pilot::PilotTrial;
use crate::format::percent;
use crate::readings::{Window, process_scope, ratio, sum_known};
use crate::verdict::{Concern, Culprit, foreign_cpus, is_about, is_blamed_on};
use crate::view::{TrialView, error_ratio};
use std::collections::BTreeMap;
use sysdyno_record::analysis::{Reason, Verdict, VerdictStatus};
use sysdyno_record::column::{self, NETNS};
use sysdyno_record::event::{ProcessRole, WatchedProcess};
use sysdyno_record::load::{LatencyKind, TrialEnding};
use sysdyno_record::series::Series;
use sysdyno_record::tryout::{Environment, EnvironmentLimits, Metric};
use sysdyno_record::units::{MonoNs, SpanNs};

/// Steps of the wall clock that make a trial invalid. Unit: nanoseconds. House value.
const CLOCK_STEP_MAX_NS: u64 = 100_000_000;

/// Responses below which a p99 is noted to rest on few: a hundred beyond it.
const P99_COUNT: u64 = 10_000;

/// What a trial showed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservedTrial {
    /// Its numbers; what could not be measured is left out.
    pub values: BTreeMap<Metric, f64>,
    /// Metrics whose value is only a lower bound.
    pub lower_bounds: Vec<Metric>,
    /// What was around it.
    pub environment: Environment,
    /// Why it has no value; `None`: it ran to its end.
    pub failure: Option<String>,
}

/// What a trial that sent a load showed.
pub fn observe_load(
    view: &TrialView,
    verdict: &Verdict,
    limits: &EnvironmentLimits,
    clock_step_ns: i64,
) -> ObservedTrial {
    let environment = environment_of_load(view, verdict, limits, clock_step_ns);
    let failure = match &view.end.ending {
        TrialEnding::Complete => None,
        TrialEnding::Interrupted => Some("interrupted".to_owned()),
        TrialEnding::HardStop(why) => Some(why.clone()),
    };
    let felt = view.summary(view.felt_kind());
    let is_bound = felt.p99.zip(felt.censored_min_ns).is_some_and(|(p99, bound_ns)| p99 >= bound_ns);
    let lower_bounds = is_bound.then_some(Metric::P99).into_iter().collect();
    ObservedTrial { values: values_of_load(view), lower_bounds, environment, failure }
}

fn values_of_load(view: &TrialView) -> BTreeMap<Metric, f64> {
    let (seconds, counts, steady) = (view.seconds(), view.counts(), view.steady());
    let targets = view.processes(ProcessRole::Target);
    // Half a response stands for none, so that a trial in which nothing came back is very bad and not without a number.
    let ok = (counts.ok as f64).max(0.5);
    let cpu = steady.process_cpus(&targets).map(|cpus| cpus * seconds / ok * 1e9);
    let felt = view.summary(view.felt_kind());
    let rss = |process: &&WatchedProcess| {
        steady.level(column::PROCESS_RSS, &process_scope(process)).map(|level| level.max)
    };
    let numbers = [
        (Metric::Cpu, cpu),
        (Metric::Goodput, ratio(ok, seconds)),
        (Metric::P99, felt.p99.map(|p99| p99 as f64)),
        (Metric::Errors, (counts.sent > 0).then(|| error_ratio(counts))),
        (Metric::Retransmits, retransmits(&steady)),
        (Metric::Memory, sum_known(targets.iter().map(rss))),
    ];
    let known = |(metric, value): (Metric, Option<f64>)| Some((metric, value?));
    numbers.into_iter().filter_map(known).filter(|(_, value)| value.is_finite()).collect()
}

fn retransmits(window: &Window) -> Option<f64> {
    let grown = |name| window.growth(name, NETNS).map(|growth| growth.amount);
    ratio(grown(column::TCP_RETRANS_SEGS)?, grown(column::TCP_OUT_SEGS)?)
}

fn environment_of_load(
    view: &TrialView,
    verdict: &Verdict,
    limits: &EnvironmentLimits,
    clock_step_ns: i64,
) -> Environment {
    let steady = view.steady();
    let machine = steady.machine();
    let foreign = foreign_cpus(view, &steady);
    let foreign = foreign.zip(machine).and_then(|(cpus, machine)| ratio(cpus.max(0.0), machine.cpus as f64));
    let lag = view.summary(LatencyKind::LoopSlip);
    let mut environment = Environment {
        steal_ratio: machine.map(|machine| machine.steal_ratio),
        foreign_ratio: foreign,
        clock_step_ns: Some(clock_step_ns),
        generator_lag_ns: lag.p99.filter(|_| view.is_open()),
        generator_ratio: Some(view.end.summary.generator.busiest_thread_ratio),
        invalid: Vec::new(),
        warnings: Vec::new(),
    };
    let is_accepted =
        |reason: &Reason| *limits == EnvironmentLimits::NOISY && is_about(&[Concern::Noise], reason);
    let is_ours = |reason: &Reason| {
        [Culprit::Generator, Culprit::Environment].iter().any(|culprit| is_blamed_on(*culprit, reason))
    };
    for reason in &verdict.reasons {
        if reason.status == VerdictStatus::Invalid && is_ours(reason) && !is_accepted(reason) {
            environment.invalid.push(format!("{} {}", reason.id, reason.text));
        }
    }
    check_limits(&mut environment, limits);
    let felt = view.summary(view.felt_kind());
    if felt.count < P99_COUNT {
        environment.warnings.push(format!("p99 of {} responses", felt.count));
    }
    environment
}

/// Adds to what makes a trial invalid what lies beyond the limits.
fn check_limits(environment: &mut Environment, limits: &EnvironmentLimits) {
    let beyond = |value: Option<f64>, limit: f64| value.filter(|value| *value > limit);
    if let Some(share) = beyond(environment.steal_ratio, limits.steal_ratio) {
        environment.invalid.push(format!("the hypervisor stole {} of the CPU time", percent(share)));
    }
    if let Some(share) = beyond(environment.foreign_ratio, limits.foreign_ratio) {
        environment.invalid.push(format!("other processes used {} of the CPUs", percent(share)));
    }
    if environment.clock_step_ns.is_some_and(|step| step.unsigned_abs() > CLOCK_STEP_MAX_NS) {
        environment.invalid.push("the wall clock was stepped".into());
    }
}

/// What a command came to.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandOutcome {
    /// When it was started.
    pub begin: MonoNs,
    /// When it had ended.
    pub end: MonoNs,
    /// User and system time of it and the children that it waited for. Unit: seconds. `None`: not known.
    pub cpu_seconds: Option<f64>,
    /// Why it counts as failed; `None`: it ended well.
    pub failure: Option<String>,
}

/// What a trial that ran a command showed.
pub fn observe_command(
    outcome: &CommandOutcome,
    series: &Series,
    limits: &EnvironmentLimits,
    clock_step_ns: i64,
) -> ObservedTrial {
    let seconds = outcome.end.seconds_since(outcome.begin);
    let window = Window::new(series, outcome.begin, outcome.end);
    let machine = window.machine();
    let foreign = machine.zip(outcome.cpu_seconds).and_then(|(machine, cpu)| {
        let busy = (machine.user_ratio + machine.system_ratio) * machine.cpus as f64;
        ratio((busy - cpu / seconds.max(1e-9)).max(0.0), machine.cpus as f64)
    });
    let mut environment = Environment {
        steal_ratio: machine.map(|machine| machine.steal_ratio),
        foreign_ratio: foreign,
        clock_step_ns: Some(clock_step_ns),
        ..Environment::default()
    };
    check_limits(&mut environment, limits);
    let failed = if outcome.failure.is_some() { 1.0 } else { 0.0 };
    let mut values = BTreeMap::from([(Metric::Errors, failed)]);
    // What failed took no time that could be compared.
    if outcome.failure.is_none() {
        values.insert(Metric::Time, seconds);
        values.extend(outcome.cpu_seconds.filter(|cpu| *cpu > 0.0).map(|cpu| (Metric::CpuTime, cpu)));
    }
    ObservedTrial { values, lower_bounds: Vec::new(), environment, failure: outcome.failure.clone() }
}

/// What a trial that looked for the capacity showed: the worst of what was around its loads.
pub fn observe_capacity(loads: &[ObservedTrial], capacity_hz: Option<f64>) -> ObservedTrial {
    let worst = |of: fn(&Environment) -> Option<f64>| {
        loads.iter().filter_map(|load| of(&load.environment)).reduce(f64::max)
    };
    let environment = Environment {
        steal_ratio: worst(|environment| environment.steal_ratio),
        foreign_ratio: worst(|environment| environment.foreign_ratio),
        generator_ratio: worst(|environment| environment.generator_ratio),
        clock_step_ns: loads
            .iter()
            .filter_map(|load| load.environment.clock_step_ns)
            .max_by_key(|step| step.abs()),
        // Loads that were disturbed were repeated by the search; only what spoilt most of them spoils it.
        invalid: most_frequent(loads),
        ..Environment::default()
    };
    let memory = loads.iter().filter_map(|load| load.values.get(&Metric::Memory).copied()).reduce(f64::max);
    let numbers = [(Metric::Capacity, capacity_hz), (Metric::Memory, memory)];
    let values = numbers.into_iter().filter_map(|(metric, value)| Some((metric, value?))).collect();
    let failure = capacity_hz.is_none().then(|| "no rate met the objective".to_owned());
    ObservedTrial { values, lower_bounds: Vec::new(), environment, failure }
}

/// What made more than half of the loads invalid.
fn most_frequent(loads: &[ObservedTrial]) -> Vec<String> {
    let invalid: Vec<&String> = loads.iter().filter_map(|load| load.environment.invalid.first()).collect();
    let is_most = invalid.len() * 2 > loads.len();
    invalid.first().filter(|_| is_most).map(|first| (*first).clone()).into_iter().collect()
}

/// Steps of time of a pilot: two readings of ten in a second.
const PILOT_STEP: SpanNs = SpanNs::from_millis(200);

/// What a pilot showed.
pub fn observe_pilot(view: &TrialView) -> PilotTrial {
    let targets = view.processes(ProcessRole::Target);
    let measured = view.measured();
    let steps = measured.end_mono_ns.since(measured.begin_mono_ns) / PILOT_STEP.0;
    let at = |step: u64| MonoNs(measured.begin_mono_ns.0 + step * PILOT_STEP.0);
    // A window that is wider by a reading on each side has at least two of them.
    let step = |step: u64| {
        Window::new(view.series, at(step), MonoNs(at(step + 1).0 + PILOT_STEP.0 / 2)).process_cpus(&targets)
    };
    let progress: Option<Vec<f64>> = (0..steps).map(step).collect();
    PilotTrial { goodput_hz: view.goodput_hz(), progress: progress.unwrap_or_default(), step: PILOT_STEP }
}
