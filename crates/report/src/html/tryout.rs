//! The data of a tryout's page: plan, trials, pairs, and conclusion, and the percentiles of each trial's load.
//!
//! Nothing is computed. Tryouts use the same page as runs; the schema decides which one is drawn.

use crate::tryout::TryInput;
use serde::Serialize;
use std::collections::HashMap;
use sysdyno_record::facts::HostFacts;
use sysdyno_record::load::{LatencyKind, LatencySummary};
use sysdyno_record::manifest::Manifest;
use sysdyno_record::store::Trial;
use sysdyno_record::tryout::{Metric, Settled, TrialArm, TryConclusion, TryPlan, TryTrial};

#[derive(Serialize)]
pub(super) struct TryPayload<'a> {
    schema: &'static str,
    folder: String,
    manifest: &'a Manifest,
    is_incomplete: bool,
    damage: &'a [String],
    plan: Option<&'a TryPlan>,
    facts: Option<&'a HostFacts>,
    conclusion: &'a TryConclusion,
    settled: Option<&'a Settled>,
    trials: Vec<&'a TryTrial>,
    latencies: Vec<TrialLatency>,
    /// Name, unit and direction of each metric, so that the page needs no list of its own.
    metrics: Vec<MetricRow>,
}

#[derive(Serialize)]
struct MetricRow {
    metric: Metric,
    title: &'static str,
    unit: &'static str,
    better: sysdyno_record::effect::Better,
    scale: sysdyno_record::effect::EffectScale,
}

/// The latency of a trial that is one load.
#[derive(Serialize)]
struct TrialLatency {
    trial: u32,
    stage: u32,
    arm: TrialArm,
    kind: LatencyKind,
    p50_ns: Option<u64>,
    p90_ns: Option<u64>,
    p99_ns: Option<u64>,
    p99_9_ns: Option<u64>,
}

pub(super) fn payload<'a>(input: &TryInput<'a>) -> TryPayload<'a> {
    let loads: HashMap<u32, &Trial> = input.loads.iter().map(|load| (load.begin.trial, load)).collect();
    TryPayload {
        schema: "sysdyno.report-experiment/1",
        folder: input.folder.path.to_string_lossy().into_owned(),
        manifest: input.folder.manifest,
        is_incomplete: input.folder.is_incomplete,
        damage: input.folder.damage,
        plan: input.plan,
        facts: input.facts,
        conclusion: input.conclusion,
        settled: input.settled(),
        trials: input.trials().collect(),
        latencies: input.trials().filter_map(|trial| latency(trial, &loads)).collect(),
        metrics: Metric::ALL.map(metric).into(),
    }
}

fn metric(metric: Metric) -> MetricRow {
    MetricRow {
        metric,
        title: metric.title(),
        unit: metric.unit(),
        better: metric.better(),
        scale: metric.scale(),
    }
}

/// The latency of the one load of a trial: the response time of an open one, the service time of a closed one.
fn latency(trial: &TryTrial, loads: &HashMap<u32, &Trial>) -> Option<TrialLatency> {
    let [number] = trial.load_trials[..] else { return None };
    let measured = &loads.get(&number)?.end.as_ref()?.summary.measured;
    let of = |kind| measured.latency.get(&kind).map(|summary: &LatencySummary| (kind, summary));
    let (kind, summary) = of(LatencyKind::Response).or_else(|| of(LatencyKind::Service))?;
    Some(TrialLatency {
        trial: trial.trial,
        stage: trial.stage,
        arm: trial.arm,
        kind,
        p50_ns: summary.p50,
        p90_ns: summary.p90,
        p99_ns: summary.p99,
        p99_9_ns: summary.p99_9,
    })
}
