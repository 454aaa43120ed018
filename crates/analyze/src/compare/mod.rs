//! Compares runs: may they be compared, and what can honestly be said about their difference?
//!
//! The unit of replication is the run: one number per metric and run. What lies within a run (seconds, requests, the
//! trials of a search) is no repetition, since all of it shares the same start of the server; taking it for one makes
//! intervals several times too narrow (T. Kalibera and R. Jones, ISMM 2013). Three ways of getting an interval follow from
//! how many runs there are; [`effect`] says which. Runs are not interleaved, so whatever changed between them besides the
//! thing under test is in the difference as well: the words "better" and "worse" of a comparison say that the runs
//! differ, and `capped_by` says that the cause is open. The proof is an experiment in alternating order.
//!
//! [`COMPARABILITY`] is the list of gates; one that refuses leaves no effect anywhere.

mod blocks;
mod change;
mod effect;
mod gate;
mod headline;
mod letters;
mod machines;
mod metric;
mod profile;
mod size;
mod trend;
mod work;

#[cfg(test)]
mod tests;

use effect::NOT_INTERLEAVED;
pub use effect::SINGLE_RUNS;
pub use gate::{COMPARABILITY, Gate};
pub use machines::{
    MachinesOptions, VariantOnMachines, compare_machines, compare_machines_at_work, experiments_apart,
};
pub(crate) use metric::WORK_TIME;
pub use metric::{COMPARED_METRICS, ComparedMetric, MACHINE_METRICS, WORK_METRICS};
pub use profile::RunProfile;
pub use trend::{TREND_RUNS_MAX, over_time};
pub(crate) use work::deciding_work;
pub use work::{WorkCompareOptions, WorkProfile, compare_work};

use blocks::Blocks;
pub(crate) use blocks::Deciding;
use gate::Allowed;
use metric::{MeasuredSide, applying};
use std::cmp::Reverse;
use sysdyno_record::comparison::{
    ComparedRun, ComparedSide, GateOutcome, MachineDifferences, MetricComparison, MetricEffect,
    OperationComparison, RUNS_COMPARISON_SCHEMA, RunsComparison, Severity,
};
use sysdyno_record::facts::{HostFacts, HostUse};
use sysdyno_record::workload::MAX_OPERATIONS;

/// Differences of machines that are kept.
const MACHINE_DIFFERENCES_MAX: usize = 50;

/// The letter of the last side that has one of its own.
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Maximum number of sides: each has a letter.
pub const SIDES_MAX: usize = LETTERS.len();

/// One side of a comparison: runs, or records of work, that repeat each other.
#[derive(Clone, Debug)]
pub struct Side<R = RunProfile> {
    /// The user's input. Untrusted.
    pub name: String,
    /// Its runs; at least one.
    pub runs: Vec<R>,
    /// The block of each, in an experiment; otherwise empty.
    pub blocks: Vec<u32>,
}

/// The options of a comparison.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// The smallest effect that matters; `None`: each metric's own.
    pub margin_ratio: Option<f64>,
    /// Names of the metrics that count, the one that decides first; empty: all.
    pub metrics: Vec<String>,
    /// Names or ids of gates that do not refuse.
    pub allowed: Vec<String>,
    /// The purpose of the hosts, by which their differences are ranked.
    pub workload: HostUse,
}

/// Compares sides, each further one with the first. There must be at least one, with at least one run each.
pub fn compare(mut sides: Vec<Side>, options: &CompareOptions) -> RunsComparison {
    label(&mut sides);
    let sides = sides.as_slice();
    let gates = gates(sides, &options.allowed);
    let refused = refused(&gates, sides.len());
    let runs = sides.iter().map(|side| (side.name.as_str(), side.runs.iter().map(shown_run).collect()));
    let shown = shown(runs, &refused);
    let operations = operations(sides, &refused, options);
    let machines = machines(sides, options.workload);
    RunsComparison { machines, ..concluded(shown, gates, operations, headline::limits(sides, &refused)) }
}

/// The model of the metric that decides; `None`: the sides have no blocks, or cannot be compared.
pub(crate) fn deciding(sides: Vec<Side>, options: &CompareOptions) -> Option<Deciding> {
    let refused = refused(&gates(&sides, &options.allowed), sides.len());
    let metric = *applying(sides.first()?.runs.first()?, None, &options.metrics).first()?;
    let measured: Vec<MeasuredSide> =
        sides.iter().map(|side| metric.measure(&side.runs, &side.blocks, None)).collect();
    Some(Blocks::of(&measured, &refused, 1)?.into_deciding(metric))
}

/// Which sides are refused: a refusal of the first side affects every comparison.
fn refused(gates: &[GateOutcome], sides_count: usize) -> Vec<bool> {
    let is_refused =
        |side: usize| gates.iter().any(|gate| gate.side == side && gate.severity == Severity::Refused);
    (0..sides_count).map(|side| is_refused(0) || is_refused(side)).collect()
}

/// Each further side against the first.
fn concluded(
    sides: Vec<ComparedSide>,
    gates: Vec<GateOutcome>,
    operations: Vec<OperationComparison>,
    limits: Vec<String>,
) -> RunsComparison {
    let verdict = |side| headline::side_verdict(&sides, &gates, &operations, side);
    let verdicts: Vec<_> = (1..sides.len()).map(verdict).collect();
    RunsComparison {
        schema: RUNS_COMPARISON_SCHEMA,
        headline: headline::headline(&sides, &verdicts),
        is_refused: sides.iter().any(|side| side.is_refused),
        limits,
        machines: Vec::new(),
        sides,
        gates,
        verdicts,
        operations,
        trend: None,
        experiment: None,
        hosts: None,
    }
}

/// Removes the remark that runs were not interleaved from runs that were measured in balanced order.
pub(crate) fn interleave(comparison: &mut RunsComparison) {
    let metrics = comparison.operations.iter_mut().flat_map(|operation| &mut operation.metrics);
    let effects = metrics.flat_map(|metric| &mut metric.effects).map(|effect| &mut effect.verdict);
    let verdicts = comparison.verdicts.iter_mut().map(|side| &mut side.verdict);
    effects.chain(verdicts).for_each(|verdict| verdict.capped_by.retain(|cause| cause != NOT_INTERLEAVED));
    comparison.limits.retain(|limit| limit != headline::NOT_INTERLEAVED_LIMIT);
}

/// Sentences call a run by the letter of its side, and by its number where there are several.
fn label(sides: &mut [Side]) {
    for (index, side) in sides.iter_mut().enumerate() {
        let is_single = side.runs.len() == 1;
        for (number, run) in side.runs.iter_mut().enumerate() {
            run.label = if is_single { letter(index) } else { format!("{}{}", letter(index), number + 1) };
        }
    }
}

fn letter(side: usize) -> String {
    LETTERS.get(side..=side).unwrap_or("Z").to_owned()
}

/// Every run against the first of all, gate by gate; of one side only the worst is kept.
fn gates(sides: &[Side], allowed: &[String]) -> Vec<GateOutcome> {
    let allowed = Allowed::new(allowed);
    let mut outcomes = Vec::new();
    let Some(reference) = sides.first().and_then(|side| side.runs.first()) else { return outcomes };
    for gate in COMPARABILITY {
        for (index, side) in sides.iter().enumerate() {
            let look = |(number, run): (usize, &RunProfile)| {
                let is_reference = (index, number) == (0, 0);
                gate.look((!is_reference).then_some(reference), run, &allowed)
            };
            let worst = side.runs.iter().enumerate().filter_map(look).max_by_key(|seen| seen.severity);
            outcomes.extend(worst.map(|seen| seen.outcome(gate, index)));
        }
    }
    outcomes.sort_by_key(|outcome| Reverse(outcome.severity));
    outcomes
}

/// Sides by name, under their letters.
fn shown<'a>(
    sides: impl Iterator<Item = (&'a str, Vec<ComparedRun>)>,
    refused: &[bool],
) -> Vec<ComparedSide> {
    let numbered = sides.zip(refused).enumerate();
    let side = |(index, ((name, runs), is_refused)): (usize, ((&str, Vec<ComparedRun>), &bool))| {
        ComparedSide { letter: letter(index), name: name.to_owned(), is_refused: *is_refused, runs }
    };
    numbered.map(side).collect()
}

fn shown_run(run: &RunProfile) -> ComparedRun {
    ComparedRun {
        id: run.id.clone(),
        started_unix_ns: run.started_unix_ns,
        url: run.load.target.url.clone(),
        status: run.analysis.verdict.status,
        headline: run.analysis.headline.clone(),
    }
}

/// All operations together and, where there are several, each by itself.
fn operations(sides: &[Side], refused: &[bool], options: &CompareOptions) -> Vec<OperationComparison> {
    let reference = &sides[0].runs[0];
    let names = reference.analysis.operations.iter().map(|operation| Some(operation.name.as_str()));
    let all = std::iter::once(None).chain(names.take(MAX_OPERATIONS));
    let wanted: Vec<_> = all.map(|name| (name, applying(reference, name, &options.metrics))).collect();
    let mut family = Family::of(wanted.iter().map(|(_, metrics)| metrics.len()).sum());
    let mut compared = |(name, metrics): (Option<&str>, Vec<&'static ComparedMetric>)| {
        let metrics = metrics.into_iter().map(|metric| {
            let measure = |side: &Side| metric.measure(&side.runs, &side.blocks, name);
            let measured = sides.iter().map(measure).collect();
            self::compared(metric, measured, (refused, family.next()), options.margin_ratio)
        });
        OperationComparison {
            operation: name.map_or_else(|| reference.operation(), crate::format::name),
            metrics: metrics.collect(),
        }
    };
    let mut operations: Vec<OperationComparison> = wanted.into_iter().map(&mut compared).collect();
    adjust(&mut operations);
    operations
}

/// How many metrics share an error rate: the first has one for itself, all others another one.
struct Family {
    next: usize,
    others: usize,
}

impl Family {
    fn of(metrics_count: usize) -> Family {
        Family { next: 1, others: metrics_count.saturating_sub(1) }
    }

    /// How many share that of the next metric.
    fn next(&mut self) -> usize {
        std::mem::replace(&mut self.next, self.others)
    }
}

/// Two families: the metric that decides, over all sides; and all others of all operations, of which one or the other
/// would differ by chance.
fn adjust(operations: &mut [OperationComparison]) {
    let mut metrics = operations.iter_mut().flat_map(|operation| &mut operation.metrics);
    let primary = metrics.next();
    effect::adjust(&mut primary.into_iter().flat_map(effects).collect::<Vec<_>>());
    effect::adjust(&mut metrics.flat_map(effects).collect::<Vec<_>>());
}

fn effects(metric: &mut MetricComparison) -> impl Iterator<Item = &mut MetricEffect> {
    metric.effects.iter_mut()
}

/// The effects of a metric on each side that is not refused, against the first one; without a margin, with the metric's own.
/// So many metrics share its error rate.
fn compared(
    metric: &'static ComparedMetric,
    measured: Vec<MeasuredSide>,
    (refused, sharing_count): (&[bool], usize),
    margin_ratio: Option<f64>,
) -> MetricComparison {
    let margin_ratio = margin_ratio.unwrap_or(metric.margin.value);
    let others = measured.iter().enumerate().skip(1).filter(|(side, _)| !refused[*side]);
    let blocks = Blocks::of(&measured, refused, sharing_count);
    let found = |(side, other): (usize, &MeasuredSide)| {
        let in_blocks = blocks.as_ref().and_then(|blocks| blocks.effect(side, metric, margin_ratio));
        let found = in_blocks.unwrap_or_else(|| effect::effect(&measured[0], other, metric, margin_ratio));
        found.of_side(side)
    };
    let effects: Vec<MetricEffect> = others.map(found).collect();
    MetricComparison {
        metric: metric.name,
        title: metric.title,
        unit: metric.unit,
        better: metric.better,
        margin_ratio,
        letters: letters::letters(&measured, refused, metric, blocks.as_ref()),
        scatter: blocks.as_ref().and_then(Blocks::scatter),
        sides: measured.into_iter().map(MeasuredSide::shown).collect(),
        effects,
    }
}

/// The differences between the first host and each other one.
fn machines(sides: &[Side], workload: HostUse) -> Vec<MachineDifferences> {
    let facts = |side: &Side| side.runs.first().map(|run| run.facts.clone()).unwrap_or_default();
    differences(&sides.iter().map(facts).collect::<Vec<HostFacts>>(), workload)
}

/// The differences between the facts of the first host and those of each other one.
fn differences(hosts: &[HostFacts], workload: HostUse) -> Vec<MachineDifferences> {
    let Some(first) = hosts.first() else { return Vec::new() };
    let differences = |(side, other): (usize, &HostFacts)| {
        let mut found = crate::facts::compare(first, other, workload).differences;
        let count = found.len() as u64;
        found.truncate(MACHINE_DIFFERENCES_MAX);
        MachineDifferences { side, differences: found, count }
    };
    let all = hosts.iter().enumerate().skip(1).map(differences);
    all.filter(|machine| machine.count > 0).collect()
}
