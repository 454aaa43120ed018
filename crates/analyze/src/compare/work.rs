//! Records of work side by side: the time that their commands take.
//!
//! As with runs under load, a record gives one number per command, and intervals come from how the records of a side
//! differ among themselves. A record in which nothing succeeded, or that was cut short, may not be compared.

use super::gate::sound::INVALID_RUN;
use super::headline::{NOT_INTERLEAVED_LIMIT, SINGLE_LIMIT};
use super::metric::{Measured, WORK_TIME};
use super::{adjust, effect, headline, letter, letters};
use crate::format;
use sysdyno_record::analysis::VerdictStatus;
use sysdyno_record::comparison::{
    ComparedRun, ComparedSide, GateOutcome, MetricComparison, MetricEffect, OperationComparison,
    RUNS_COMPARISON_SCHEMA, RunValue, RunsComparison, Severity,
};
use sysdyno_record::units::WallNs;
use sysdyno_record::work::{Spread, WorkSummary};

/// A record of work as comparisons see it.
#[derive(Clone, Debug)]
pub struct WorkProfile {
    /// Name of the run.
    pub id: String,
    /// When it began.
    pub started_unix_ns: WallNs,
    /// What it did, in words. Untrusted.
    pub described: String,
    /// What came of it.
    pub summary: WorkSummary,
    /// Whether it came to its end.
    pub is_whole: bool,
}

/// Records that repeat each other; at least one.
#[derive(Clone, Debug)]
pub struct WorkSide {
    /// What it is called. Untrusted.
    pub name: String,
    /// Its records.
    pub runs: Vec<WorkProfile>,
}

/// Compares sides by the time of each command and of all together, each further one with the first.
pub fn compare_work(sides: &[WorkSide], margin_ratio: Option<f64>) -> RunsComparison {
    let gates: Vec<GateOutcome> =
        sides.iter().enumerate().filter_map(|(side, one)| gate(side, one)).collect();
    let is_refused = |side: usize| gates.iter().any(|gate| gate.side == side);
    let refused: Vec<bool> = (0..sides.len()).map(|side| is_refused(0) || is_refused(side)).collect();
    let compared: Vec<ComparedSide> = sides
        .iter()
        .zip(&refused)
        .enumerate()
        .map(|(index, (side, refused))| shown(index, side, *refused))
        .collect();
    let operations = operations(sides, &refused, margin_ratio.unwrap_or(WORK_TIME.margin.value));
    let verdicts: Vec<_> =
        (1..sides.len()).map(|side| headline::side_verdict(&compared, &gates, &operations, side)).collect();
    let is_single = sides.iter().any(|side| side.runs.len() == 1);
    let limits = [Some(NOT_INTERLEAVED_LIMIT), is_single.then_some(SINGLE_LIMIT)];
    RunsComparison {
        schema: RUNS_COMPARISON_SCHEMA,
        headline: headline::headline(&compared, &verdicts),
        is_refused: refused.contains(&true),
        limits: limits.into_iter().flatten().map(str::to_owned).collect(),
        machines: Vec::new(),
        sides: compared,
        gates,
        verdicts,
        operations,
        trend: None,
        matrix: None,
    }
}

/// Why a side may not be compared.
fn gate(side: usize, one: &WorkSide) -> Option<GateOutcome> {
    let wrong = one.runs.iter().find_map(|run| {
        let cause = if run.summary.verdict.status == VerdictStatus::Invalid {
            "is INVALID: none of its commands succeeded"
        } else if !run.is_whole {
            "did not come to its end"
        } else if run.summary.wall_ns.is_none() {
            "has no round in which all commands succeeded"
        } else {
            return None;
        };
        Some(format!("{} {cause}", format::name(&run.id)))
    })?;
    let (id, name, remedy) = (INVALID_RUN.id, INVALID_RUN.name, INVALID_RUN.remedy);
    Some(GateOutcome { id, name, severity: Severity::Refused, side, text: wrong, remedy })
}

fn shown(index: usize, side: &WorkSide, is_refused: bool) -> ComparedSide {
    let run = |run: &WorkProfile| ComparedRun {
        id: run.id.clone(),
        started_unix_ns: run.started_unix_ns,
        url: run.described.clone(),
        status: run.summary.verdict.status,
        headline: run.summary.headline.clone(),
    };
    ComparedSide {
        letter: letter(index),
        name: side.name.clone(),
        is_refused,
        runs: side.runs.iter().map(run).collect(),
    }
}

fn operations(sides: &[WorkSide], refused: &[bool], margin_ratio: f64) -> Vec<OperationComparison> {
    let first = sides.first().and_then(|side| side.runs.first());
    let names =
        first.map_or(&[][..], |run| &run.summary.commands).iter().map(|command| Some(command.name.as_str()));
    let all = std::iter::once(None).chain(names);
    let compared = |name: Option<&str>| OperationComparison {
        operation: name.map_or_else(|| "all commands".to_owned(), format::name),
        metrics: vec![time(sides, refused, name, margin_ratio)],
    };
    let mut operations: Vec<OperationComparison> = all.map(compared).collect();
    adjust(&mut operations);
    operations
}

/// The time of a command, or of all of a round, in all sides.
fn time(sides: &[WorkSide], refused: &[bool], name: Option<&str>, margin_ratio: f64) -> MetricComparison {
    let measured: Vec<Measured> = sides.iter().map(|side| measure(side, name)).collect();
    let others = measured.iter().enumerate().skip(1).filter(|(side, _)| !refused[*side]);
    let effects: Vec<MetricEffect> = others
        .map(|(side, other)| effect::effect(&measured[0], other, &WORK_TIME, margin_ratio).of_side(side))
        .collect();
    MetricComparison {
        metric: WORK_TIME.name,
        title: WORK_TIME.title,
        unit: WORK_TIME.unit,
        better: WORK_TIME.better,
        margin_ratio,
        letters: letters::letters(&measured, refused, &WORK_TIME),
        sides: measured.into_iter().map(Measured::shown).collect(),
        effects,
    }
}

fn measure(side: &WorkSide, name: Option<&str>) -> Measured {
    let mut measured = Measured { runs: Vec::new(), missing: None };
    for run in &side.runs {
        let spread = match name {
            None => run.summary.wall_ns,
            Some(name) => {
                let named = run.summary.commands.iter().find(|command| command.name == name);
                named.and_then(|command| command.wall_ns)
            }
        };
        match spread.filter(|spread| spread.median > 0.0 && spread.median.is_finite()) {
            Some(spread) => measured.runs.push(value(&spread)),
            None => measured.missing = Some("a command did not succeed".to_owned()),
        }
    }
    measured
}

fn value(spread: &Spread) -> RunValue {
    let is_usable = |ends: &[f64; 2]| ends[0] > 0.0 && ends[0] <= spread.median && spread.median <= ends[1];
    RunValue { value: spread.median, interval: spread.median_interval.filter(is_usable) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::experiment::CommandSpec;
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
            then: Vec::new(),
        };
        let command = CommandWork { then: vec![named("read")], ..named("write") };
        let (end, timeout) = (PhaseEnd::Requests(1), SpanNs::from_secs(60));
        let plan =
            WorkPlan { kind: WorkKind::Command(command), workers: 1, end, timeout, cache: CacheChoice::AsIs };
        let line = |name: &str, ms: u64| {
            WorkLine::Command(CommandRun {
                number: 1,
                worker: 0,
                name: Some(name.into()),
                step: Step::Run,
                begin_mono_ns: MonoNs(1),
                end_mono_ns: MonoNs(1 + ms * 1_000_000),
                ending: ending.clone(),
                usage: None,
            })
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

    fn side(name: &str, times: &[[u64; 2]]) -> WorkSide {
        let runs = times.iter().map(|ms| profile(*ms, Ending::Exit(0))).collect();
        WorkSide { name: name.into(), runs }
    }

    #[test]
    fn each_command_and_all_together_are_compared_by_time() {
        let one = side("one", &[[1000, 500], [1010, 502], [990, 498], [1005, 501]]);
        let two = side("two", &[[600, 500], [610, 502], [590, 499], [605, 501]]);
        let compared = compare_work(&[one, two], None);
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
    fn what_did_not_succeed_is_refused() {
        let failed = WorkSide { name: "two".into(), runs: vec![profile([5, 5], Ending::Exit(1))] };
        let compared = compare_work(&[side("one", &[[1000, 500]]), failed], None);
        assert!(compared.is_refused && compared.operations[0].metrics[0].effects.is_empty());
        assert_eq!(compared.gates[0].id, "C01");
    }
}
