//! One JSON document per command, for programs. The names are stable: they are added to, never renamed.
//!
//! The contract: `verdict`, `counts`, `failures`, `rates`, `response_time_ns`, `service_time_ns`, `slip_ns`,
//! `generator`, `findings` and `run` for `load`; for `run` also `capacity`. All else in a document is more, not other.
//! A number that is not known is `null`. Of a run that is INVALID `capacity` holds no estimate, at most a lower bound.

use crate::input::{CapacityClaim, ReportInput, capacity_claim};
use crate::squeeze::SqueezeInput;
use crate::tryout::TryInput;
use serde_json::{Value, json};
use sysdyno_record::analysis::{Analysis, Finding};
use sysdyno_record::load::LatencyKind;
use sysdyno_record::manifest::RunStatus;
use sysdyno_record::plan::Plan;
use sysdyno_record::probe::{ProbeConclusion, ProbeSummary};
use sysdyno_record::spread::GeneratorShare;
use sysdyno_record::view::FolderView;
use sysdyno_record::wire::CacheCounts;
use sysdyno_record::workload::OperationSummary;

/// Schema of all documents.
pub const SCHEMA: &str = "sysdyno.result/1";

/// What `sysdyno load --json` prints.
pub fn load_document(input: &ReportInput<'_>) -> Value {
    let analysis = input.analysis;
    let generator = &analysis.generator;
    json!({
        "schema": SCHEMA,
        "kind": input.folder.manifest.kind,
        "run": input.folder.path.to_string_lossy(),
        "url": input.url(),
        "status": status(&input.folder),
        "verdict": analysis.verdict,
        "headline": analysis.headline,
        "shown_trial": analysis.shown_trial,
        "counts": analysis.counts,
        "failures": analysis.failures,
        "failure_texts": failure_texts(input),
        "statuses": analysis.statuses,
        "received_bytes_hz": analysis.received_bytes_hz,
        "handshakes": analysis.handshakes,
        "cache": analysis.cache.as_ref().map(cache),
        "rates": analysis.rates,
        "response_time_ns": analysis.response_time_ns,
        "service_time_ns": analysis.service_time_ns,
        "slip_ns": analysis.slip_ns,
        "loop_slip_ns": analysis.loop_slip_ns,
        "pool_slip_ns": analysis.pool_slip_ns,
        "connect_time_ns": analysis.connect_time_ns,
        "handshake_time_ns": analysis.handshake_time_ns,
        "first_byte_time_ns": analysis.first_byte_time_ns,
        "failure_time_ns": analysis.failure_time_ns,
        "generator": {
            "cpu_seconds": generator.cpu_seconds,
            "threads": generator.threads,
            "busiest_thread_ratio": generator.busiest_thread_ratio,
            "timer_error_ns": { "p50": generator.timer_error.p50_ns, "p99": generator.timer_error.p99_ns },
            "io": generator.io,
            "io_fallback": generator.io_fallback,
            "spin_seconds": generator.spin_seconds,
            "spin_ended": generator.spin_ended,
        },
        "generators": input.shares().iter().map(share).collect::<Vec<_>>(),
        "arrival_fit": analysis.arrival_fit,
        "checks": analysis.checks,
        "probe": analysis.probe.as_ref().map(probe),
        "probes": analysis.probes.as_ref().map(probes),
        "operations": analysis.operations.iter().map(operation).collect::<Vec<_>>(),
        "session": analysis.session,
        "limit": analysis.limit,
        "findings": analysis.findings.iter().map(finding).collect::<Vec<_>>(),
        "unchecked": analysis.unchecked,
        "path": analysis.path,
        "links": analysis.links,
        "ramp": analysis.ramp,
        "seed": seed(input),
        "damage": input.folder.damage,
    })
}

/// Each class that occurred in full sentences: what it means, what is known of its first failure, and what to try.
fn failure_texts(input: &ReportInput<'_>) -> Value {
    let occurred = input.analysis.failures.iter().filter(|(_, count)| **count > 0);
    occurred.map(|(class, _)| (class.name().to_owned(), json!(input.failure_sentence(*class)))).collect()
}

fn cache(counts: &CacheCounts) -> Value {
    let mut document = json!(counts);
    document["hit_ratio"] = json!(counts.hit_ratio());
    document
}

/// The numbers of a target of a probe.
pub(crate) fn probe(summary: &ProbeSummary) -> Value {
    let mut document = json!(summary);
    document["lost_count"] = json!(summary.lost_count());
    document
}

/// All targets of a probe, and the windows in which they lost.
pub(crate) fn probes(conclusion: &ProbeConclusion) -> Value {
    let mut document = json!(conclusion);
    let targets = document["targets"].as_array_mut().into_iter().flatten();
    for (target, known) in targets.zip(&conclusion.targets) {
        target["lost_count"] = json!(known.summary.lost_count());
    }
    document
}

/// What `sysdyno run --json` prints: the document of `load`, of the shown trial, with the answers of the search.
pub fn run_document(input: &ReportInput<'_>) -> Value {
    let analysis = input.analysis;
    let mut document = load_document(input);
    document["capacity"] = capacity(analysis);
    document["headroom"] = json!(analysis.headroom);
    document["curve"] = json!(analysis.curve);
    document
}

/// What `sysdyno try --json` prints.
pub fn tryout_document(input: &TryInput<'_>) -> Value {
    let conclusion = input.conclusion;
    let settled = input.settled();
    json!({
        "schema": SCHEMA,
        "kind": input.folder.manifest.kind,
        "run": input.folder.path.to_string_lossy(),
        "url": input.url(),
        "status": status(&input.folder),
        "verdict": conclusion.verdict,
        "headline": conclusion.headline,
        "metric": conclusion.metric,
        "unit": conclusion.metric.unit(),
        "better": conclusion.better,
        "effect_ratio": conclusion.effect_ratio,
        "effect": conclusion.effect,
        "a_median": conclusion.a_median,
        "b_median": conclusion.b_median,
        "guardrails": conclusion.guardrails,
        "is_proven": conclusion.is_proven,
        "is_kept": conclusion.is_kept,
        "changes": conclusion.changes,
        "variants": input.plan.map(|plan| &plan.variants),
        "stages": conclusion.stages,
        "pairs": conclusion.pairs,
        "diagnostics": conclusion.diagnostics,
        "resolution": conclusion.resolution,
        "calibration": conclusion.calibration,
        "settled": settled,
        "elapsed_ns": conclusion.elapsed_ns,
        "seed": input.plan.map(|plan| plan.seed),
        "damage": input.folder.damage,
    })
}

/// What `sysdyno squeeze --json` prints.
pub fn squeeze_document(input: &SqueezeInput<'_>) -> Value {
    let conclusion = input.conclusion;
    json!({
        "schema": SCHEMA,
        "kind": input.folder.manifest.kind,
        "run": input.folder.path.to_string_lossy(),
        "url": input.url(),
        "status": status(&input.folder),
        "headline": conclusion.headline,
        "metric": conclusion.metric,
        "unit": conclusion.metric.unit(),
        "baseline": conclusion.baseline,
        "rows": conclusion.rows,
        "sum": conclusion.sum,
        "void": conclusion.void,
        "diagnostics": conclusion.diagnostics,
        "left_out": input.found().map(|found| &found.left_out),
        "pairs": conclusion.pairs,
        "elapsed_ns": conclusion.elapsed_ns,
        "seed": input.plan.map(|plan| plan.tryout.seed),
        "damage": input.folder.damage,
    })
}

/// How far a run got.
pub(crate) fn status(folder: &FolderView) -> &'static str {
    match folder.manifest.status {
        _ if folder.is_incomplete => "incomplete",
        RunStatus::Running => "running",
        RunStatus::Complete => "complete",
        RunStatus::Interrupted => "interrupted",
        RunStatus::Failed => "failed",
    }
}

/// The seed that sends the same load again: of the search if there is one, else of the load.
fn seed(input: &ReportInput<'_>) -> Option<u64> {
    match input.run.plan {
        Some(Plan::Run(run)) => Some(run.seed),
        Some(Plan::Load(load)) => Some(load.seed),
        Some(Plan::Try(tryout)) => Some(tryout.seed),
        Some(Plan::Squeeze(squeeze)) => Some(squeeze.tryout.seed),
        Some(Plan::Probe(probes)) => Some(probes.seed),
        Some(Plan::Work(_) | Plan::Watch(_)) => None,
        None => input.run.load().map(|load| load.seed),
    }
}

fn operation(operation: &OperationSummary) -> Value {
    let mut document = json!(operation);
    let latency = document.as_object_mut().and_then(|fields| fields.remove("latency"));
    document["latency_ns"] = json!(latency);
    document
}

fn share(share: &GeneratorShare) -> Value {
    let measured = &share.measured;
    let slip = measured.latency.get(&LatencyKind::LoopSlip).copied().unwrap_or_default();
    json!({
        "name": share.name,
        "connections": share.connections,
        "counts": measured.counts,
        "failures": measured.failures,
        "total": share.total,
        "goodput_hz": measured.goodput_hz,
        "received_bytes": measured.received_bytes,
        "loop_slip_ns": slip,
        "threads": share.generator.threads,
        "cpu_seconds": share.generator.cpu_seconds,
        "busiest_thread_ratio": share.generator.busiest_thread_ratio,
        "clock": share.clock,
        "lost": share.lost,
    })
}

fn capacity(analysis: &Analysis) -> Value {
    let (capacity, is_withheld) = match capacity_claim(analysis) {
        CapacityClaim::NotSought => return Value::Null,
        CapacityClaim::Estimate(capacity, _)
        | CapacityClaim::AtLeast(capacity, _)
        | CapacityClaim::Bounds(capacity, _) => (capacity, false),
        CapacityClaim::Withheld(capacity) => (capacity, true),
    };
    let unless_withheld = |value: Option<f64>| value.filter(|_| !is_withheld);
    json!({
        "rate_hz": unless_withheld(capacity.rate_hz),
        "low_hz": unless_withheld(capacity.low_hz),
        "high_hz": unless_withheld(capacity.high_hz),
        "basis": capacity.basis,
        "ended_by": capacity.ended_by,
        "is_lower_bound": capacity.is_lower_bound,
        "certified_hz": unless_withheld(capacity.certified_hz),
        "certified_passes": capacity.certified_passes,
        "objective": capacity.objective,
        "method": capacity.method,
    })
}

fn finding(finding: &Finding) -> Value {
    let mut document = json!(finding);
    document["explained_ratio"] = json!(finding.explained_ratio);
    document
}
