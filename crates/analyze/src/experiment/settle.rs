//! When an experiment that is measured until it is decided has measured a variant often enough.
//!
//! After every second block, in which each variant ran as early as late, each is looked at by the metric that decides
//! ([`BlockModel::settled`]). One that is decided against the first, and that some other surely beats, is measured no more; once
//! all are decided against the first, the experiment ends. Variants that may not be compared wait for nothing.

use super::{MeasuredVariant, known, options, sides};
use crate::compare::{Deciding, RunProfile, WorkCompareOptions, WorkProfile, deciding, deciding_work};
use sysdyno_record::effect::Better;
use sysdyno_record::experiment::ExperimentPlan;
use sysdyno_stats::verdict::log_margin;

#[cfg(doc)]
use sysdyno_stats::block_model::BlockModel;

/// Positions of the variants that need no further block; all of the plan: there is nothing left to decide.
pub fn settled(plan: &ExperimentPlan, measured: Vec<MeasuredVariant<RunProfile>>) -> Vec<u32> {
    let variants: Vec<usize> = measured.iter().map(|one| one.variant).collect();
    let model = known(plan, measured).and_then(|known| deciding(sides(known), &options(plan)));
    of_model(plan, &variants, model)
}

/// The same of work.
pub fn settled_by_work(plan: &ExperimentPlan, measured: Vec<MeasuredVariant<WorkProfile>>) -> Vec<u32> {
    let variants: Vec<usize> = measured.iter().map(|one| one.variant).collect();
    let options = WorkCompareOptions { metric: plan.metric.as_deref(), margin_ratio: plan.effect_ratio };
    let model = known(plan, measured).and_then(|known| deciding_work(&sides(known), options));
    of_model(plan, &variants, model)
}

fn of_model(plan: &ExperimentPlan, variants: &[usize], deciding: Option<Deciding>) -> Vec<u32> {
    let Some(Deciding { model, metric }) = deciding else { return Vec::new() };
    let sign = if metric.better == Better::Higher { 1.0 } else { -1.0 };
    let margin = log_margin(plan.effect_ratio.unwrap_or(metric.margin.value));
    let settled = margin.map_or_else(Vec::new, |margin| model.settled(0, margin, sign));
    if settled.len() == model.variants().len() {
        return (0..plan.variants.len() as u32).collect();
    }
    settled.into_iter().filter_map(|side| u32::try_from(*variants.get(side)?).ok()).collect()
}
