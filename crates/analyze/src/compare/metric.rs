//! The table of compared metrics: which runs have one, which direction is better, and how large an effect must be to count.

use super::profile::RunProfile;
use super::size::frequency_ghz;
use crate::threshold::{HOUSE, Threshold};
use sysdyno_record::comparison::{RunValue, SideValues};
use sysdyno_record::effect::Better;
use sysdyno_record::load::LatencySummary;
use sysdyno_record::workload::OperationSummary;
use sysdyno_stats::descriptive::median;
use sysdyno_stats::order_statistics::COMPARED_TAIL_COUNT_MIN;

/// A metric of a run that can be compared.
#[derive(Debug)]
pub struct ComparedMetric {
    /// The name that the user types.
    pub name: &'static str,
    /// The name used in sentences.
    pub title: &'static str,
    /// What it measures, in which runs.
    pub meaning: &'static str,
    /// Unit of its values: `hz`, `ns`, or `per_joule`.
    pub unit: &'static str,
    /// Which way it gets better.
    pub better: Better,
    /// The smallest effect that matters, unless the user sets one.
    pub margin: Threshold,
    /// The assumed deviation between runs of the same server if it was not measured.
    pub deviation: Threshold,
    /// Whether a run of this kind has it.
    applies: fn(&RunProfile) -> bool,
    /// Whether it is known for each operation.
    is_by_operation: bool,
    /// Whether its value among requests that timed out is a lower bound of it; otherwise it is then not known.
    is_waiting: bool,
    of: fn(&Subject) -> Result<RunValue, String>,
}

const fn margin(value: f64) -> Threshold {
    Threshold::new("smallest effect that matters", value, "ratio", HOUSE)
}

/// Two runs of one server differ by a standard deviation of this, if nothing is known.
const RUN_DEVIATION: Threshold = Threshold::new(
    "assumed standard deviation between runs, if a side has a single run",
    0.035,
    "ratio",
    "the Phoronix Test Suite repeats tests whose runs deviate by more than 3.5%",
);
const TAIL_DEVIATION: Threshold = Threshold::new(
    "assumed standard deviation of a tail percentile between runs, if a side has a single run",
    0.10,
    "ratio",
    "house value, three times that for rates",
);

/// A server that used less of its cores did not show what each of them can deliver.
const BUSY: Threshold =
    Threshold::new("share of its cores from which on a server counts as busy", 0.8, "ratio", HOUSE);

const fn latency(
    name: &'static str,
    title: &'static str,
    margin_ratio: f64,
    deviation: Threshold,
    of: fn(&Subject) -> Result<RunValue, String>,
) -> ComparedMetric {
    ComparedMetric {
        name,
        title,
        meaning: "response time of an open load, or service time of a closed one; loads only, not searches",
        unit: "ns",
        better: Better::Lower,
        margin: margin(margin_ratio),
        deviation,
        applies: |run| !run.is_search(),
        is_by_operation: true,
        is_waiting: true,
        of,
    }
}

/// The compared metrics; the first one that both runs have decides.
pub const COMPARED_METRICS: &[ComparedMetric] = &[
    ComparedMetric {
        name: "capacity",
        title: "capacity",
        meaning: "highest rate that meets the objective; searches only",
        unit: "hz",
        better: Better::Higher,
        margin: margin(0.05),
        deviation: RUN_DEVIATION,
        applies: RunProfile::is_search,
        is_by_operation: false,
        is_waiting: false,
        of: |subject| capacity(subject.run),
    },
    ComparedMetric {
        name: "operations",
        title: "rate of operations",
        meaning: "completed operations of simulated users per second; sessions only",
        unit: "hz",
        better: Better::Higher,
        margin: margin(0.03),
        deviation: RUN_DEVIATION,
        applies: |run| run.analysis.session.is_some(),
        is_by_operation: false,
        is_waiting: false,
        of: |subject| match &subject.run.analysis.session {
            Some(session) => positive(session.rate_hz, None),
            None => Err("no users were simulated".to_owned()),
        },
    },
    ComparedMetric {
        name: "goodput",
        title: "goodput",
        meaning: "completed and valid requests per second; closed loads only, because an open load sets its \
                  rate",
        unit: "hz",
        better: Better::Higher,
        margin: margin(0.03),
        deviation: RUN_DEVIATION,
        applies: |run| !run.is_search() && !run.is_open(),
        is_by_operation: true,
        is_waiting: false,
        of: |subject| match subject.operation {
            None => positive(subject.run.analysis.rates.goodput_hz, None),
            Some(operation) => positive(operation.goodput_hz, None),
        },
    },
    latency("p99", "p99 latency", 0.10, TAIL_DEVIATION, |subject| {
        percentile(subject, 0.99, |summary| (summary.p99, summary.p99_interval))
    }),
    latency("p90", "p90 latency", 0.05, TAIL_DEVIATION, |subject| {
        percentile(subject, 0.90, |summary| (summary.p90, summary.p90_interval))
    }),
    latency("p50", "median latency", 0.05, RUN_DEVIATION, |subject| {
        percentile(subject, 0.50, |summary| (summary.p50, summary.p50_interval))
    }),
    ComparedMetric {
        name: "cpu",
        title: "CPU per request",
        meaning: "CPU time of the server's processes per valid response; loads on this host only, not \
                  searches",
        unit: "ns",
        better: Better::Lower,
        margin: margin(0.03),
        deviation: RUN_DEVIATION,
        applies: |run| !run.is_search(),
        is_by_operation: false,
        is_waiting: false,
        of: |subject| match subject.run.around.server_cpu_ns {
            Some(cpu_ns) => positive(cpu_ns, None),
            None => Err("the server's processes were not visible".to_owned()),
        },
    },
];

const fn divided(
    name: &'static str,
    title: &'static str,
    meaning: &'static str,
    of: fn(&Subject) -> Result<RunValue, String>,
) -> ComparedMetric {
    ComparedMetric {
        name,
        title,
        meaning,
        unit: "hz",
        better: Better::Higher,
        margin: margin(0.05),
        deviation: RUN_DEVIATION,
        applies: |run| run.is_search() || !run.is_open(),
        is_by_operation: false,
        is_waiting: false,
        of,
    }
}

/// What a comparison of machines has besides: rates divided by what each machine has for them.
pub const MACHINE_METRICS: &[ComparedMetric] = &[
    divided(
        "per-core",
        "rate per core",
        "capacity, or goodput of a closed load, divided by the cores that the server could use; a lower bound if the \
         server used less than 80% of them",
        |subject| divide(subject.run, cores(subject.run)?),
    ),
    divided("per-ghz", "rate per core and GHz", "the same, divided by the nominal frequency", |subject| {
        let ghz = frequency_ghz(subject.run.machine_facts());
        divide(subject.run, cores(subject.run)? * ghz.ok_or("the CPU's frequency is not known")?)
    }),
    ComparedMetric {
        unit: "per_joule",
        applies: |run| !run.is_search(),
        ..divided(
            "per-joule",
            "requests per joule",
            "valid responses per joule, that is requests per second and watt; loads only, not searches",
            |subject| {
                let size = &subject.run.size;
                let energy = size.energy.ok_or("no power was read, by RAPL or a meter's file")?;
                positive(size.ok_count as f64 / energy.joules, None)
            },
        )
    },
];

fn cores(run: &RunProfile) -> Result<f64, String> {
    run.size.cores.ok_or_else(|| "the number of cores is not known".to_owned())
}

/// The rate of a run, divided.
fn divide(run: &RunProfile, by: f64) -> Result<RunValue, String> {
    let rate = if run.is_search() { capacity(run) } else { positive(run.analysis.rates.goodput_hz, None) }?;
    let divided = positive(rate.value / by, rate.interval.map(|ends| ends.map(|end| end / by)))?;
    Ok(if underused_ratio(run).is_some() || rate.is_lower_bound { at_least(divided) } else { divided })
}

/// Share of its cores that the server used, if it was so little that it could have delivered more per core; `None`: it was busy,
/// or this is not known, or the run is a search, whose capacity is a limit by itself.
pub(super) fn underused_ratio(run: &RunProfile) -> Option<f64> {
    let cpu_ns = run.around.server_cpu_ns.filter(|_| !run.is_search())?;
    let used_ratio = run.analysis.rates.goodput_hz * cpu_ns / 1e9 / run.size.cores?;
    (used_ratio < BUSY.value).then_some(used_ratio)
}

const fn of_work(
    name: &'static str,
    title: &'static str,
    (unit, better): (&'static str, Better),
    margin_ratio: f64,
) -> ComparedMetric {
    ComparedMetric {
        name,
        title,
        meaning: "commands only",
        unit,
        better,
        margin: margin(margin_ratio),
        deviation: RUN_DEVIATION,
        applies: |_| false,
        is_by_operation: true,
        is_waiting: false,
        of: |_| Err("runs under load do not have it".to_owned()),
    }
}

/// From the start of a command to its end.
pub(crate) static WORK_TIME: ComparedMetric = of_work("time", "time", ("ns", Better::Lower), 0.05);
/// Operations per second, where a service counts them.
pub(super) static WORK_RATE: ComparedMetric = of_work("rate", "rate", ("hz", Better::Higher), 0.03);
/// CPU time of the command for one of them.
pub(super) static WORK_CPU: ComparedMetric =
    of_work("cpu", "CPU per operation of the command", ("ns", Better::Lower), 0.03);
/// CPU time of the service for one of them.
pub(super) static WORK_SERVER_CPU: ComparedMetric =
    of_work("server-cpu", "CPU per operation of the service", ("ns", Better::Lower), 0.03);

/// What can decide a comparison of work, where operations are counted; otherwise only the first.
pub const WORK_METRICS: [&str; 4] = ["time", "rate", "cpu", "server-cpu"];

/// What a number is taken of: a run, or one operation of it.
struct Subject<'a> {
    run: &'a RunProfile,
    operation: Option<&'a OperationSummary>,
}

impl<'a> Subject<'a> {
    fn of(run: &'a RunProfile, operation: Option<&str>) -> Result<Subject<'a>, String> {
        let Some(name) = operation else { return Ok(Subject { run, operation: None }) };
        let found = run.analysis.operations.iter().find(|operation| operation.name == name);
        found
            .map(|operation| Subject { run, operation: Some(operation) })
            .ok_or_else(|| "a run does not have this operation".to_owned())
    }

    /// The latency that a user experiences.
    fn latency(&self) -> &'a LatencySummary {
        match self.operation {
            Some(operation) => &operation.latency,
            None if self.run.is_open() => &self.run.analysis.response_time_ns,
            None => &self.run.analysis.service_time_ns,
        }
    }
}

/// A metric in the runs of a side.
#[derive(Clone, Debug)]
pub(super) struct MeasuredSide {
    /// One value per run that has it.
    pub(super) runs: Vec<RunValue>,
    /// The blocks of these runs; empty: they are not those of an experiment.
    pub(super) blocks: Vec<u32>,
    /// Why a run lacks it.
    pub(super) missing: Option<String>,
}

impl ComparedMetric {
    /// Its values in these runs, of one operation or of all together; `blocks` as those of a side.
    pub(super) fn measure(
        &self,
        runs: &[RunProfile],
        blocks: &[u32],
        operation: Option<&str>,
    ) -> MeasuredSide {
        let value = |run| self.in_run(&Subject::of(run, operation)?);
        MeasuredSide::new(runs.iter().map(value), blocks)
    }

    /// Its value in one run; `None`: it has none, or only a bound.
    pub(super) fn value(&self, run: &RunProfile) -> Option<f64> {
        let value = self.in_run(&Subject { run, operation: None }).ok()?;
        (!value.is_lower_bound).then_some(value.value)
    }

    /// Its value, as far as requests that timed out leave one.
    fn in_run(&self, subject: &Subject) -> Result<RunValue, String> {
        let value = (self.of)(subject)?;
        match subject.run.has_timeouts() {
            false => Ok(value),
            true if self.is_waiting => Ok(at_least(value)),
            true => Err("requests timed out: only latencies are known, as lower bounds".to_owned()),
        }
    }
}

impl MeasuredSide {
    /// What was measured in each run, or why nothing was, with the blocks of the runs.
    pub(super) fn new(
        values: impl Iterator<Item = Result<RunValue, String>>,
        blocks: &[u32],
    ) -> MeasuredSide {
        let mut measured = MeasuredSide { runs: Vec::new(), blocks: Vec::new(), missing: None };
        for (number, value) in values.enumerate() {
            match value {
                Ok(value) => {
                    measured.runs.push(value);
                    measured.blocks.extend(blocks.get(number));
                }
                Err(reason) => measured.missing = Some(reason),
            }
        }
        measured
    }

    /// Whether one of its values is a lower bound.
    pub(super) fn is_bounded(&self) -> bool {
        self.runs.iter().any(|run| run.is_lower_bound)
    }

    /// Logarithms of the values; all of them are positive.
    pub(super) fn logs(&self) -> Vec<f64> {
        self.runs.iter().map(|run| run.value.ln()).collect()
    }

    pub(super) fn shown(self) -> SideValues {
        let values: Vec<f64> = self.runs.iter().map(|run| run.value).collect();
        // With all bounds as far off as they may be: the same median is no bound.
        let open = |run: &RunValue| if run.is_lower_bound { f64::MAX.sqrt() } else { run.value };
        let most: Vec<f64> = self.runs.iter().map(open).collect();
        let is_lower_bound = self.is_bounded() && middle(&most) != middle(&values);
        SideValues { median: median(&values), is_lower_bound, runs: self.runs, missing: self.missing }
    }
}

/// The metrics that runs of this kind have, of one operation or of all, in the order in which they were wanted; all if
/// none was named.
pub(super) fn applying(
    run: &RunProfile,
    operation: Option<&str>,
    wanted: &[String],
) -> Vec<&'static ComparedMetric> {
    let has =
        |metric: &&ComparedMetric| (metric.applies)(run) && (operation.is_none() || metric.is_by_operation);
    if wanted.is_empty() {
        return COMPARED_METRICS.iter().filter(has).collect();
    }
    let known = || COMPARED_METRICS.iter().chain(MACHINE_METRICS);
    let named = |name: &String| known().find(|metric| metric.name == name);
    wanted.iter().filter_map(named).filter(has).collect()
}

/// The median of values of any size; `None`: there is none.
fn middle(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let upper = values.get(values.len() / 2)?;
    let lower = values.get((values.len() - 1) / 2)?;
    Some(lower / 2.0 + upper / 2.0)
}

/// The value as a lower bound, whose interval has no upper end.
fn at_least(value: RunValue) -> RunValue {
    RunValue { interval: None, is_lower_bound: true, ..value }
}

fn positive(value: f64, interval: Option<[f64; 2]>) -> Result<RunValue, String> {
    if value > 0.0 && value.is_finite() {
        let is_usable =
            |ends: &[f64; 2]| ends[0] > 0.0 && ends[0] <= value && value <= ends[1] && ends[1].is_finite();
        Ok(RunValue { value, interval: interval.filter(is_usable), is_lower_bound: false })
    } else {
        Err("the record has no value".to_owned())
    }
}

fn capacity(run: &RunProfile) -> Result<RunValue, String> {
    let capacity = run.analysis.capacity.as_ref().ok_or("no capacity search was run")?;
    let rate_hz = capacity.rate_hz.ok_or("no rate met the objective, or the run is not valid")?;
    if capacity.is_lower_bound {
        return positive(rate_hz, None).map(at_least);
    }
    // The ends of an enclosure hold the capacity, wherever between them it is: that says no less than an interval does.
    let ends = capacity.low_hz.zip(capacity.high_hz).map(|(low, high)| [low, high]);
    positive(rate_hz, ends.filter(|[low, _]| *low > 0.0))
}

type Statistic = fn(&LatencySummary) -> (Option<u64>, Option<[u64; 2]>);

fn percentile(subject: &Subject, at: f64, of: Statistic) -> Result<RunValue, String> {
    let summary = subject.latency();
    if summary.count as f64 * (1.0 - at) < COMPARED_TAIL_COUNT_MIN * (1.0 - 1e-9) {
        let needed = crate::format::whole(COMPARED_TAIL_COUNT_MIN / (1.0 - at));
        let samples = crate::format::counted(summary.count as f64, "sample");
        return Err(format!("too few samples to compare: {samples}, {needed} needed"));
    }
    let (value, interval) = of(summary);
    let value_ns = value.ok_or("the record has no value")? as f64;
    // It lies among requests that timed out, were never sent, or were still open at the end.
    if summary.censored_min_ns.is_some_and(|bound_ns| value_ns >= bound_ns as f64) {
        return positive(value_ns, None).map(at_least);
    }
    positive(value_ns, interval.map(|ends| ends.map(|ns| ns as f64)))
}
