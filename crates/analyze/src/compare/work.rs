//! Compares records of work: the time that their commands take or, where a service counts operations, the operations per
//! second and their cost.
//!
//! As with runs under load, each record gives one number per command, and intervals come from the differences among the
//! records of a side. A record in which nothing succeeded, or that was cut short, cannot be compared.

use super::blocks::{Blocks, Deciding};
use super::gate::sound::INVALID_RUN;
use super::headline::{NOT_INTERLEAVED_LIMIT, SINGLE_LIMIT};
use super::metric::{ComparedMetric, MeasuredSide, WORK_CPU, WORK_RATE, WORK_SERVER_CPU, WORK_TIME};
use super::{Family, Side, adjust};
use crate::format;
use sysdyno_record::analysis::VerdictStatus;
use sysdyno_record::comparison::{
    ComparedRun, GateOutcome, OperationComparison, RunValue, RunsComparison, Severity,
};
use sysdyno_record::units::WallNs;
use sysdyno_record::work::{ServedSummary, Spread, WorkSummary};

/// A record of work as comparisons see it.
#[derive(Clone, Debug)]
pub struct WorkProfile {
    /// Name of the run.
    pub id: String,
    /// When it began.
    pub started_unix_ns: WallNs,
    /// What it did, in words. Untrusted.
    pub described: String,
    /// Its result.
    pub summary: WorkSummary,
    /// Whether it ran to completion.
    pub is_whole: bool,
}

/// The options of a comparison of work.
#[derive(Clone, Copy, Debug, Default)]
pub struct WorkCompareOptions<'a> {
    /// The metric that decides; `None`: the most usual one.
    pub metric: Option<&'a str>,
    /// The smallest effect that matters; `None`: that of the metric.
    pub margin_ratio: Option<f64>,
}

/// Compares sides by each command and all together, each further one with the first.
pub fn compare_work(sides: &[Side<WorkProfile>], options: WorkCompareOptions<'_>) -> RunsComparison {
    let gates: Vec<GateOutcome> =
        sides.iter().enumerate().filter_map(|(side, one)| gate(side, one)).collect();
    let refused = super::refused(&gates, sides.len());
    let runs = sides.iter().map(|side| (side.name.as_str(), side.runs.iter().map(shown_run).collect()));
    let shown = super::shown(runs, &refused);
    let is_single = sides.iter().any(|side| side.runs.len() == 1);
    let limits = [Some(NOT_INTERLEAVED_LIMIT), is_single.then_some(SINGLE_LIMIT)];
    let limits = limits.into_iter().flatten().map(str::to_owned).collect();
    super::concluded(shown, gates, operations(sides, &refused, options), limits)
}

/// The model of the metric that decides; `None`: the sides have no blocks, or cannot be compared.
pub(crate) fn deciding_work(
    sides: &[Side<WorkProfile>],
    options: WorkCompareOptions<'_>,
) -> Option<Deciding> {
    let gates: Vec<GateOutcome> =
        sides.iter().enumerate().filter_map(|(side, one)| gate(side, one)).collect();
    let refused = super::refused(&gates, sides.len());
    let decides = *metrics(sides, options.metric).first()?;
    let measured: Vec<MeasuredSide> = sides.iter().map(|side| measure(side, None, decides)).collect();
    Some(Blocks::of(&measured, &refused, 1)?.into_deciding(decides.metric))
}

/// Why a side may not be compared.
fn gate(side: usize, one: &Side<WorkProfile>) -> Option<GateOutcome> {
    let wrong = one.runs.iter().find_map(|run| {
        let verdict = &run.summary.verdict;
        let cause = if verdict.status == VerdictStatus::Invalid {
            let reason = verdict.reasons.first().map_or("none of its commands succeeded", |one| &one.text);
            format!("is INVALID: {}", format::name(reason))
        } else if !run.is_whole {
            "did not finish".to_owned()
        } else if run.summary.wall_ns.is_none() {
            "has no round where all commands succeeded".to_owned()
        } else {
            return None;
        };
        Some(format!("{} {cause}", format::name(&run.id)))
    })?;
    let (id, name, remedy) = (INVALID_RUN.id, INVALID_RUN.name, INVALID_RUN.remedy);
    Some(GateOutcome { id, name, severity: Severity::Refused, side, text: wrong, remedy })
}

fn shown_run(run: &WorkProfile) -> ComparedRun {
    ComparedRun {
        id: run.id.clone(),
        started_unix_ns: run.started_unix_ns,
        url: run.described.clone(),
        status: run.summary.verdict.status,
        headline: run.summary.headline.clone(),
    }
}

/// A metric of work, and where it stands in a summary.
#[derive(Clone, Copy)]
struct WorkMetric {
    metric: &'static ComparedMetric,
    of: fn(&Figures<'_>) -> Option<Spread>,
}

/// What is known of a command, or of all of a round.
struct Figures<'a> {
    wall_ns: Option<Spread>,
    served: Option<&'a ServedSummary>,
}

impl<'a> Figures<'a> {
    fn of(summary: &'a WorkSummary, name: Option<&str>) -> Option<Figures<'a>> {
        let Some(name) = name else {
            return Some(Figures { wall_ns: summary.wall_ns, served: summary.served.as_ref() });
        };
        let named = summary.commands.iter().find(|command| command.name == name)?;
        Some(Figures { wall_ns: named.wall_ns, served: named.served.as_ref() })
    }
}

static TIME: WorkMetric = WorkMetric { metric: &WORK_TIME, of: |figures| figures.wall_ns };

/// Of work whose operations are counted, some of which may be done for a time that is set.
static COUNTED: [WorkMetric; 3] = [
    WorkMetric { metric: &WORK_RATE, of: |figures| Some(figures.served?.rate_hz) },
    WorkMetric { metric: &WORK_CPU, of: |figures| figures.served?.cpu_ns },
    WorkMetric { metric: &WORK_SERVER_CPU, of: |figures| figures.served?.server_cpu_ns },
];

/// What these sides are compared by, that which decides first.
fn metrics(sides: &[Side<WorkProfile>], deciding: Option<&str>) -> Vec<WorkMetric> {
    let mut runs = sides.iter().flat_map(|side| &side.runs);
    if !runs.any(|run| run.summary.served.is_some()) {
        return vec![TIME];
    }
    let is_time = deciding == Some(WORK_TIME.name);
    let mut metrics: Vec<WorkMetric> = is_time.then_some(TIME).into_iter().chain(COUNTED).collect();
    metrics.sort_by_key(|one| Some(one.metric.name) != deciding);
    metrics
}

fn operations(
    sides: &[Side<WorkProfile>],
    refused: &[bool],
    options: WorkCompareOptions<'_>,
) -> Vec<OperationComparison> {
    let first = sides.first().and_then(|side| side.runs.first());
    let names =
        first.map_or(&[][..], |run| &run.summary.commands).iter().map(|command| Some(command.name.as_str()));
    let metrics = metrics(sides, options.metric);
    let count = (1 + names.len()) * metrics.len();
    let mut family = Family::of(count);
    let mut compared = |name: Option<&str>| {
        let metrics = metrics.iter().map(|one| {
            let measured = sides.iter().map(|side| measure(side, name, *one)).collect();
            super::compared(one.metric, measured, (refused, family.next()), options.margin_ratio)
        });
        let operation = name.map_or_else(|| "all commands".to_owned(), format::name);
        OperationComparison { operation, metrics: metrics.collect() }
    };
    let all = std::iter::once(None).chain(names);
    let mut operations: Vec<OperationComparison> = all.map(&mut compared).collect();
    adjust(&mut operations);
    operations
}

fn measure(side: &Side<WorkProfile>, name: Option<&str>, one: WorkMetric) -> MeasuredSide {
    let of_run = |run: &WorkProfile| {
        let spread = Figures::of(&run.summary, name).and_then(|figures| (one.of)(&figures));
        let sound = spread.filter(|spread| spread.median > 0.0 && spread.median.is_finite());
        sound.map(|spread| value(&spread)).ok_or_else(|| "a command failed, or was not counted".to_owned())
    };
    MeasuredSide::new(side.runs.iter().map(of_run), &side.blocks)
}

fn value(spread: &Spread) -> RunValue {
    let is_usable = |ends: &[f64; 2]| ends[0] > 0.0 && ends[0] <= spread.median && spread.median <= ends[1];
    let interval = spread.median_interval.filter(is_usable);
    RunValue { value: spread.median, interval, is_lower_bound: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use sysdyno_record::command::CommandSpec;
    use sysdyno_record::plan::PhaseEnd;
    use sysdyno_record::series::Series;
    use sysdyno_record::units::{MonoNs, SpanNs};
    use sysdyno_record::work::{
        CacheChoice, CommandRun, CommandWork, Ending, Step, WorkKind, WorkLine, WorkPlan,
    };

    fn profile(ms: [u64; 2], ending: Ending) -> WorkProfile {
        let named = |name: &str| CommandWork {
            name: Some(name.into()),
            run: CommandSpec { text: name.into(), words: vec![name.into()] },
            prepare: None,
            clean: None,
            expect_output: Vec::new(),
            reject_output: Vec::new(),
            then: Vec::new(),
        };
        let command = CommandWork { then: vec![named("read")], ..named("write") };
        let (end, timeout) = (PhaseEnd::Requests(1), SpanNs::from_secs(60));
        let (kind, cache) = (WorkKind::Command(Box::new(command)), CacheChoice::AsIs);
        let plan = WorkPlan { kind, workers: 1, end, timeout, cache, remounts: false, counter: None };
        let line = |name: &str, ms: u64| {
            WorkLine::Command(Box::new(CommandRun {
                number: 1,
                worker: 0,
                name: Some(name.into()),
                step: Step::Run,
                begin_mono_ns: MonoNs(1),
                end_mono_ns: MonoNs(1 + ms * 1_000_000),
                ending: ending.clone(),
                usage: None,
                served: None,
                waits: BTreeMap::new(),
            }))
        };
        let lines = [line("write", ms[0]), line("read", ms[1])];
        WorkProfile {
            id: format!("run-{}", ms[0]),
            started_unix_ns: WallNs(1),
            described: "work".into(),
            summary: crate::work::conclude(&plan, &lines, &Series::default()),
            is_whole: true,
        }
    }

    fn side(name: &str, times: &[[u64; 2]]) -> Side<WorkProfile> {
        let runs = times.iter().map(|ms| profile(*ms, Ending::Exit(0))).collect();
        Side { name: name.into(), runs, blocks: Vec::new() }
    }

    #[test]
    fn each_command_and_all_together_are_compared_by_time() {
        let one = side("one", &[[1000, 500], [1010, 502], [990, 498], [1005, 501]]);
        let two = side("two", &[[600, 500], [610, 502], [590, 499], [605, 501]]);
        let compared = compare_work(&[one, two], WorkCompareOptions::default());
        let medians = |operation: usize| -> Vec<Option<f64>> {
            compared.operations[operation].metrics[0].sides.iter().map(|side| side.median).collect()
        };
        let names: Vec<&str> = compared.operations.iter().map(|one| one.operation.as_str()).collect();
        assert_eq!(names, ["all commands", "write", "read"]);
        assert_eq!(medians(1), [Some(1002.5e6), Some(602.5e6)]);
        let better = &compared.verdicts[0].better;
        assert_eq!(better, &["time"], "{:?}", compared.verdicts);
        assert!(!compared.is_refused);
    }

    #[test]
    fn where_a_service_counts_the_rate_decides_and_not_the_time() {
        let counted = |name: &str, counts: [u64; 2]| {
            let run = |count: u64| {
                let mut profile = profile([1000, 1000], Ending::Exit(0));
                let one = |value: f64| crate::work::spread(&[value]).expect("is one");
                profile.summary.served = Some(ServedSummary {
                    service: "web".into(),
                    operations_count: one(count as f64),
                    rate_hz: one(count as f64 / 2.0),
                    cpu_ns: None,
                    server_cpu_ns: Some(one(1e9 / count as f64)),
                    busy_cpus: None,
                    server_busy_cpus: None,
                });
                profile
            };
            Side { name: name.into(), runs: counts.map(run).to_vec(), blocks: Vec::new() }
        };
        let sides = [counted("one", [10_000, 10_010]), counted("two", [20_000, 20_010])];
        let compared = |metric| compare_work(&sides, WorkCompareOptions { metric, margin_ratio: None });
        let names = |compared: &RunsComparison| -> Vec<&str> {
            compared.operations[0].metrics.iter().map(|metric| metric.metric).collect()
        };
        let usual = compared(None);
        assert_eq!(names(&usual), ["rate", "cpu", "server-cpu"]);
        assert_eq!(usual.verdicts[0].better, ["rate", "server-cpu"], "{:?}", usual.verdicts);
        assert!(usual.operations[0].metrics[1].sides[0].missing.is_some());
        assert_eq!(names(&compared(Some("cpu"))), ["cpu", "rate", "server-cpu"]);
        assert_eq!(names(&compared(Some("time")))[0], "time");
    }

    #[test]
    fn what_did_not_succeed_is_refused() {
        let failed =
            Side { name: "two".into(), runs: vec![profile([5, 5], Ending::Exit(1))], blocks: Vec::new() };
        let compared = compare_work(&[side("one", &[[1000, 500]]), failed], WorkCompareOptions::default());
        assert!(compared.is_refused && compared.operations[0].metrics[0].effects.is_empty());
        assert_eq!(compared.gates[0].id, "C01");
    }
}
