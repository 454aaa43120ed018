//! An experiment: the next trial, the time that remains, and the result.
//!
//! Blocks come in twos: the second repeats the order of the first in reverse, so that every variant runs as early as late
//! and a linear drift of the host cancels out. The order is drawn at random for every two blocks. The comparison is that of
//! `compare`, with the variants as sides and without the remark that the runs were not interleaved.
//!
//! A trial whose run is INVALID because of a disturbance is repeated once, after the other trials of its block. Steadiness
//! and other activity on the host decide that, never how good the result was, so no variant is favored.

mod best;
mod resolution;
mod settle;
mod shown;
mod users;

pub use resolution::{ExperimentResolution, resolution};
pub use settle::{settled, settled_by_work};

use crate::compare::{
    COMPARED_METRICS, CompareOptions, RunProfile, Side, WorkCompareOptions, WorkProfile, compare,
    compare_work, interleave,
};
use crate::search::Search;
use rand::{Rng, SeedableRng};
use rand_xoshiro::SplitMix64;
use std::collections::BTreeMap;
use sysdyno_record::comparison::{ExperimentShown, RunsComparison, VariantShown};
use sysdyno_record::experiment::{
    ExperimentLine, ExperimentPlan, ExperimentVariant, MAX_TRIES, MeasuredCell, is_due, measured_cells,
};
use sysdyno_record::plan::{PhaseEnd, Plan};
use sysdyno_record::units::SpanNs;
use sysdyno_stats::descriptive::mean;

/// Most variants of an experiment: each is a side of a comparison.
pub use crate::compare::SIDES_MAX as VARIANTS_MAX;
/// Whether the run of a trial is made once more.
pub use crate::run_verdict::is_disturbed;

/// Gates that see what the factors are: plans and options differ because they are compared.
const OF_FACTORS: &[&str] = &["C08", "C09"];

/// Gates that see what others did on the host.
const OF_NOISE: &[&str] = &["C12", "C13"];

/// What a trial takes besides its load: facts, readings around it, its report. Unit: seconds.
const OVERHEAD_SECONDS: f64 = 2.0;

/// A trial that is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedCell {
    /// Its block, from 0.
    pub block: u32,
    /// Position of its variant.
    pub variant: u32,
}

/// All trials, in order.
pub fn order(plan: &ExperimentPlan) -> Vec<PlannedCell> {
    let mut random = SplitMix64::seed_from_u64(plan.seed);
    let mut variants: Vec<u32> = (0..plan.variants.len() as u32).collect();
    let mut cells = Vec::new();
    for block in 0..plan.blocks {
        if block % 2 == 0 {
            shuffle(&mut variants, &mut random);
        } else {
            variants.reverse();
        }
        cells.extend(variants.iter().map(|variant| PlannedCell { block, variant: *variant }));
    }
    cells
}

/// R. Fisher and F. Yates's shuffle.
fn shuffle(variants: &mut [u32], random: &mut SplitMix64) {
    for last in (1..variants.len()).rev() {
        let other = (u128::from(random.next_u64()) * (last as u128 + 1)) >> 64;
        variants.swap(last, other as usize);
    }
}

/// The trials that are missing, in order, but for those of variants that were settled before; in each block behind them those that are made once more.
pub fn missing(plan: &ExperimentPlan, lines: &[ExperimentLine]) -> Vec<PlannedCell> {
    let measured = measured_cells(lines);
    let tries = |cell: &PlannedCell| {
        let of_it = |one: &&MeasuredCell| (one.block, one.variant) == (cell.block, cell.variant);
        measured.iter().find(of_it).map_or(0, |one| if one.is_spoilt { one.tries } else { MAX_TRIES })
    };
    let mut cells: Vec<PlannedCell> = order(plan)
        .into_iter()
        .filter(|cell| is_due(lines, cell.block, cell.variant) && tries(cell) < MAX_TRIES)
        .collect();
    cells.sort_by_key(|cell| (cell.block, tries(cell)));
    cells
}

/// The plan of a trial: that of its variant, with the seed of its block.
pub fn trial_plan(variant: &ExperimentVariant, block: u32) -> Plan {
    let mut plan = variant.plan.clone();
    let add = |seed: &mut u64| *seed = seed.wrapping_add(u64::from(block));
    match &mut plan {
        Plan::Run(run) => {
            add(&mut run.seed);
            add(&mut run.load.seed);
        }
        Plan::Load(load) => add(&mut load.seed),
        Plan::Try(_) | Plan::Squeeze(_) | Plan::Work(_) | Plan::Probe(_) | Plan::Watch(_) => {}
    }
    plan
}

/// Whether a profile follows a trial: a variant needs one, and what comes after a trial delays the next one.
pub fn is_profiled(plan: &ExperimentPlan, cell: PlannedCell) -> bool {
    plan.is_profiled && cell.block == 0
}

/// How long trials of variants took that no profile followed, by position. Unit: seconds.
pub type Timed = BTreeMap<u32, Vec<f64>>;

/// How long these trials will take if nothing surprising happens: as long as those of their variant took, else as long as
/// the file says, else as long as their plan does.
pub fn forecast(plan: &ExperimentPlan, cells: &[PlannedCell], timed: &Timed) -> SpanNs {
    let said = |variant: &ExperimentVariant| {
        variant.takes.map_or_else(|| span(&variant.plan), |takes| takes.seconds())
    };
    let seconds = |cell: &PlannedCell| {
        let took = timed.get(&cell.variant).and_then(|seconds| mean(seconds));
        let trial = took.or_else(|| plan.variants.get(cell.variant as usize).map(said)).unwrap_or(0.0);
        trial + if is_profiled(plan, *cell) { profile_seconds(plan, *cell) } else { 0.0 }
    };
    SpanNs::from_secs(cells.iter().map(seconds).sum::<f64>().clamp(0.0, 1e9).round() as u64)
}

/// How long a trial takes. Unit: seconds.
fn span(plan: &Plan) -> f64 {
    let lasts = |end: &PhaseEnd| if let PhaseEnd::After(span) = end { span.seconds() } else { 0.0 };
    let load = match plan {
        Plan::Run(run) => Search::new(run).remaining().seconds(),
        Plan::Load(load) => load.phases.iter().map(|phase| lasts(&phase.end)).sum(),
        Plan::Try(_) | Plan::Squeeze(_) | Plan::Work(_) | Plan::Probe(_) | Plan::Watch(_) => 0.0,
    };
    OVERHEAD_SECONDS + load
}

/// How long the profiles after a trial take at most: one of a load, two of a search. Unit: seconds.
fn profile_seconds(plan: &ExperimentPlan, cell: PlannedCell) -> f64 {
    match plan.variants.get(cell.variant as usize).map(|variant| &variant.plan) {
        Some(Plan::Run(_)) => 20.0,
        _ => 10.0,
    }
}

/// The runs of a variant, or its records of work.
#[derive(Clone, Debug)]
pub struct MeasuredVariant<R> {
    /// Position of the variant in the plan.
    pub variant: usize,
    /// What was measured of it, at least one.
    pub runs: Vec<R>,
    /// The block of each.
    pub blocks: Vec<u32>,
    /// Runs of it that were disturbed, and were made once more.
    pub repeated_count: u64,
}

/// What came of an experiment, of so many trials that were planned; `None`: fewer than two of its variants were measured.
pub fn conclude(
    plan: &ExperimentPlan,
    planned_count: u64,
    measured: Vec<MeasuredVariant<RunProfile>>,
) -> Option<RunsComparison> {
    let repeated_count = measured.iter().map(|one| one.repeated_count).sum();
    let known = known(plan, measured)?;
    let experiment = experiment_shown(plan, [planned_count, repeated_count], &known, shown::variant);
    let mut comparison = compare(sides(known), &options(plan));
    comparison.gates.retain(|gate| !OF_FACTORS.contains(&gate.id));
    Some(of_experiment(comparison, experiment))
}

/// Variants with their runs as sides of a comparison.
fn sides<R>(known: Known<'_, R>) -> Vec<Side<R>> {
    let sides = known.into_iter().map(|(variant, MeasuredVariant { runs, blocks, .. })| Side {
        name: variant.name.clone(),
        runs,
        blocks,
    });
    sides.collect()
}

/// How the variants of an experiment are compared.
fn options(plan: &ExperimentPlan) -> CompareOptions {
    let noise = if plan.is_noisy { OF_NOISE } else { &[] };
    let allowed = OF_FACTORS.iter().chain(noise).copied();
    CompareOptions {
        margin_ratio: plan.effect_ratio,
        metrics: metrics(plan.metric.as_deref()),
        allowed: allowed.map(str::to_owned).collect(),
        workload: sysdyno_record::facts::HostUse::Web,
    }
}

/// What came of an experiment of work, as [`conclude`].
pub fn conclude_work(
    plan: &ExperimentPlan,
    planned_count: u64,
    measured: Vec<MeasuredVariant<WorkProfile>>,
) -> Option<RunsComparison> {
    let repeated_count = measured.iter().map(|one| one.repeated_count).sum();
    let known = known(plan, measured)?;
    let experiment = experiment_shown(plan, [planned_count, repeated_count], &known, shown::work);
    let options = WorkCompareOptions { metric: plan.metric.as_deref(), margin_ratio: plan.effect_ratio };
    Some(of_experiment(compare_work(&sides(known), options), experiment))
}

/// Variants of a plan with what was measured of each.
type Known<'a, R> = Vec<(&'a ExperimentVariant, MeasuredVariant<R>)>;

/// The variants that were measured; `None`: fewer than two.
fn known<R>(plan: &ExperimentPlan, measured: Vec<MeasuredVariant<R>>) -> Option<Known<'_, R>> {
    let known = measured.into_iter().filter_map(|one| Some((plan.variants.get(one.variant)?, one)));
    let known: Known<'_, R> = known.collect();
    (known.len() >= 2).then_some(known)
}

fn experiment_shown<R>(
    plan: &ExperimentPlan,
    [planned_count, repeated_count]: [u64; 2],
    known: &Known<'_, R>,
    show: impl Fn(usize, &ExperimentVariant, &[R]) -> VariantShown,
) -> ExperimentShown {
    let variants = known.iter().enumerate().map(|(side, (variant, one))| show(side, variant, &one.runs));
    ExperimentShown {
        name: plan.name.clone(),
        planned_count,
        measured_count: known.iter().map(|(_, one)| one.runs.len() as u64).sum(),
        repeated_count,
        variants: variants.collect(),
    }
}

/// A comparison whose runs were made in blocks, and that says first which variant is best.
fn of_experiment(mut comparison: RunsComparison, experiment: ExperimentShown) -> RunsComparison {
    interleave(&mut comparison);
    if let Some(headline) = users::headline(&experiment).or_else(|| best::headline(&comparison)) {
        comparison.headline = headline;
    }
    comparison.experiment = Some(experiment);
    comparison
}

/// All metrics, that which decides first.
fn metrics(deciding: Option<&str>) -> Vec<String> {
    let others = COMPARED_METRICS.iter().map(|metric| metric.name).filter(|name| Some(*name) != deciding);
    deciding.into_iter().chain(others).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::experiment::{EXPERIMENT_SCHEMA, TrialBegan, TrialEnded};
    use sysdyno_record::manifest::RunStatus;
    use sysdyno_record::plan::Arrival;

    fn plan(variants: usize, blocks: u32, seed: u64) -> ExperimentPlan {
        let variant = |number: usize| ExperimentVariant {
            name: format!("v{number}"),
            levels: Vec::new(),
            settings: Vec::new(),
            prepare: Vec::new(),
            during: Vec::new(),
            services: Vec::new(),
            service: None,
            takes: None,
            plan: Plan::Load(crate::corpus::load_plan(Arrival::Poisson, 4, Some(100.0), 5.0)),
        };
        ExperimentPlan {
            schema: EXPERIMENT_SCHEMA.into(),
            name: "m".into(),
            variants: (0..variants).map(variant).collect(),
            blocks,
            seed,
            ..ExperimentPlan::default()
        }
    }

    #[test]
    fn every_variant_is_in_every_block_once_and_two_blocks_cancel_a_drift() {
        for seed in 0..50 {
            let cells = order(&plan(5, 4, seed));
            for block in cells.chunks(5) {
                let mut variants: Vec<u32> = block.iter().map(|cell| cell.variant).collect();
                variants.sort_unstable();
                assert_eq!(variants, [0, 1, 2, 3, 4]);
            }
            for two in cells.chunks(10) {
                let places = |variant: u32| -> usize {
                    two.iter()
                        .enumerate()
                        .filter(|(_, cell)| cell.variant == variant)
                        .map(|(place, _)| place)
                        .sum()
                };
                assert!((0..5).all(|variant| places(variant) == 9), "{two:?}");
            }
        }
        let first = |seed| order(&plan(5, 1, seed)).first().map(|cell| cell.variant);
        let firsts: std::collections::BTreeSet<_> = (0..50).map(first).collect();
        assert_eq!(firsts.len(), 5, "the seed draws the order");
    }

    #[test]
    fn what_is_missing_is_what_was_not_measured_to_its_end_in_the_same_order() {
        let plan = plan(3, 2, 7);
        let all = order(&plan);
        let mut lines = Vec::new();
        for (number, cell) in all.iter().enumerate().take(3) {
            let trial = number as u32 + 1;
            let status = if number == 1 { RunStatus::Failed } else { RunStatus::Complete };
            lines.push(ExperimentLine::Began(TrialBegan {
                trial,
                block: cell.block,
                variant: cell.variant,
                run: format!("run-{trial}"),
            }));
            let not_restored = Vec::new();
            lines.push(ExperimentLine::Ended(TrialEnded { trial, status, not_restored, is_spoilt: false }));
        }
        let left = missing(&plan, &lines);
        assert_eq!(left, [&all[1..2], &all[3..]].concat());
        let spoil = |lines: &mut Vec<ExperimentLine>, number: usize| {
            if let Some(ExperimentLine::Ended(end)) = lines.get_mut(2 * number + 1) {
                end.is_spoilt = true;
            }
        };
        let mut spoilt = lines.clone();
        spoil(&mut spoilt, 0);
        let expected = [&all[1..2], &all[..1], &all[3..]].concat();
        assert_eq!(missing(&plan, &spoilt), expected, "it is made once more, behind its block");
        let again = spoilt.iter().take(2).cloned().map(|line| match line {
            ExperimentLine::Began(began) => ExperimentLine::Began(TrialBegan { trial: 4, ..began }),
            ExperimentLine::Ended(ended) => ExperimentLine::Ended(TrialEnded { trial: 4, ..ended }),
            settled @ ExperimentLine::Settled(_) => settled,
        });
        let twice: Vec<ExperimentLine> = spoilt.iter().cloned().chain(again).collect();
        assert_eq!(missing(&plan, &twice), left, "and not a third time");
        let nothing = Timed::new();
        assert!(forecast(&plan, &left, &nothing) < forecast(&plan, &all, &nothing));
        let slow = Timed::from([(all[0].variant, vec![90.0, 110.0])]);
        let told = |timed: &Timed| forecast(&plan, &all[..1], timed).seconds();
        assert!(told(&nothing) < 50.0 && told(&slow) == 100.0);
    }

    #[test]
    fn the_profile_after_a_first_trial_takes_time_too() {
        let plain = plan(2, 2, 7);
        let profiled = ExperimentPlan { is_profiled: true, ..plain.clone() };
        let told = |plan: &ExperimentPlan, cell| forecast(plan, &[cell], &Timed::new()).seconds();
        for cell in order(&plain) {
            let more = if cell.block == 0 { 10.0 } else { 0.0 };
            assert_eq!(told(&profiled, cell), told(&plain, cell) + more);
        }
    }

    #[test]
    fn a_plan_says_what_it_can_tell() {
        let told = |variants, blocks| resolution(&plan(variants, blocks, 7)).expect("has a metric");
        assert_eq!(told(4, 1).difference_ratio, None);
        let few = told(4, 2).difference_ratio.expect("two blocks");
        let many = told(4, 8).difference_ratio.expect("eight blocks");
        assert!(many < few / 3.0, "{few} {many}");
        let two = told(4, 2);
        assert_eq!(two.rank_blocks, 7);
        let needed = two.margin_blocks.expect("few enough");
        assert!(
            told(4, needed).difference_ratio <= Some(two.margin_ratio)
                && told(4, needed - 1).difference_ratio > Some(two.margin_ratio)
        );
        let fine = ExperimentPlan { effect_ratio: Some(0.001), ..plan(4, 2, 7) };
        assert_eq!(resolution(&fine).expect("has a metric").margin_blocks, None, "thousands");
    }

    #[test]
    fn all_variants_of_a_block_get_the_same_arrivals_and_blocks_different_ones() {
        let plan = plan(2, 2, 7);
        let seed =
            |variant: usize, block| trial_plan(&plan.variants[variant], block).load().map(|load| load.seed);
        assert_eq!(seed(0, 1), seed(1, 1));
        assert_ne!(seed(0, 0), seed(0, 1));
    }
}
