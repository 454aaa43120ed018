//! What an experiment can tell before it is made: how small a difference, if its runs scatter as runs usually do.

use crate::compare::{COMPARED_METRICS, ComparedMetric, WORK_TIME};
use sysdyno_record::experiment::ExperimentPlan;
use sysdyno_record::plan::Plan;
use sysdyno_stats::block_model;

/// Level of the intervals that decide.
const LEVEL: f64 = 0.95;

/// What an experiment will be able to tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExperimentResolution {
    /// The metric that decides, in the words of a sentence.
    pub title: &'static str,
    /// How much runs are taken to scatter, as a ratio.
    pub deviation_ratio: f64,
    /// The difference from the first variant from which on it is told in half of all such experiments, as a ratio; `None`: there
    /// is one block, which tells large differences only.
    pub difference_ratio: Option<f64>,
    /// The smallest difference that matters, as a ratio.
    pub margin_ratio: f64,
    /// The blocks with which that is told in half of all such experiments; `None`: more than [`BLOCKS_MAX`].
    pub margin_blocks: Option<u32>,
    /// The blocks from which on runs that lie far off are told by ranks and do not widen all intervals.
    pub rank_blocks: u32,
}

/// More blocks are not forecast.
const BLOCKS_MAX: u32 = 100;

/// What these variants in these blocks can tell. `None`: the metric that decides is none of those of loads and commands.
pub fn resolution(plan: &ExperimentPlan) -> Option<ExperimentResolution> {
    let name = plan.metric.as_deref().or_else(|| usual_metric(&plan.variants.first()?.plan))?;
    let metric = COMPARED_METRICS.iter().chain([&WORK_TIME]).find(|metric| metric.name == name)?;
    Some(of_metric(metric, plan))
}

fn of_metric(metric: &ComparedMetric, plan: &ExperimentPlan) -> ExperimentResolution {
    let (variants, deviation_ratio) = (plan.variants.len(), metric.deviation.value);
    let with = |blocks: u32| block_model::resolution([variants, blocks as usize], deviation_ratio, LEVEL);
    let margin_ratio = plan.effect_ratio.unwrap_or(metric.margin.value);
    let is_told = |blocks: &u32| with(*blocks).is_some_and(|reach| reach <= margin_ratio.ln_1p());
    ExperimentResolution {
        title: metric.title,
        deviation_ratio,
        difference_ratio: with(plan.blocks).map(f64::exp_m1),
        margin_ratio,
        margin_blocks: least(is_told),
        rank_blocks: block_model::rank_blocks_min(variants.saturating_sub(1), LEVEL) as u32,
    }
}

/// The fewest blocks of which something holds that holds of all larger numbers, too.
fn least(holds: impl Fn(&u32) -> bool) -> Option<u32> {
    let (mut low, mut high) = (1, BLOCKS_MAX);
    if !holds(&high) {
        return None;
    }
    while high - low > 1 {
        let middle = (low + high) / 2;
        if holds(&middle) { high = middle } else { low = middle }
    }
    Some(high)
}

/// The metric that decides where none is named.
fn usual_metric(plan: &Plan) -> Option<&'static str> {
    match plan {
        Plan::Run(_) => Some("capacity"),
        Plan::Load(load) if load.arrival.is_open() => Some("p99"),
        Plan::Load(_) => Some("goodput"),
        Plan::Work(_) => Some("time"),
        Plan::Try(_) | Plan::Squeeze(_) | Plan::Probe(_) | Plan::Watch(_) => None,
    }
}
