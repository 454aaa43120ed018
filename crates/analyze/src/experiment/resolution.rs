//! What an experiment can tell before it is made: how small a difference, if its runs scatter as runs usually do.

use crate::compare::{COMPARED_METRICS, ComparedMetric, WORK_TIME};
use sysdyno_record::experiment::ExperimentPlan;
use sysdyno_record::plan::Plan;
use sysdyno_stats::block_model;

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
}

/// What these variants in these blocks can tell. `None`: the metric that decides is none of those of loads and commands.
pub fn resolution(plan: &ExperimentPlan) -> Option<ExperimentResolution> {
    let name = plan.metric.as_deref().or_else(|| usual_metric(&plan.variants.first()?.plan))?;
    let metric = COMPARED_METRICS.iter().chain([&WORK_TIME]).find(|metric| metric.name == name)?;
    Some(of_metric(metric, [plan.variants.len(), plan.blocks as usize]))
}

fn of_metric(metric: &ComparedMetric, matrix: [usize; 2]) -> ExperimentResolution {
    let deviation_ratio = metric.deviation.value;
    let reach = block_model::resolution(matrix, deviation_ratio, 0.95);
    ExperimentResolution { title: metric.title, deviation_ratio, difference_ratio: reach.map(f64::exp_m1) }
}

/// The metric that decides where none is named.
fn usual_metric(plan: &Plan) -> Option<&'static str> {
    match plan {
        Plan::Run(_) => Some("capacity"),
        Plan::Load(load) if load.arrival.is_open() => Some("p99"),
        Plan::Load(_) => Some("goodput"),
        Plan::Work(_) => Some("time"),
        Plan::Try(_) | Plan::Watch(_) => None,
    }
}
