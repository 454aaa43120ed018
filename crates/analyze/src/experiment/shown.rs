//! What the report shows about a variant: its changes, the findings of its runs, its CPUs, and its trials.

use super::users::{self, UsersRun};
use crate::compare::{RunProfile, WorkProfile};
use crate::format;
use crate::readings::CpuShare;
use std::collections::BTreeMap;
use sysdyno_record::analysis::{Analysis, Confidence, CurvePoint, VerdictStatus};
use sysdyno_record::change::SettingChange;
use sysdyno_record::comparison::{FoundShown, VariantCpu, VariantPoint, VariantShown};
use sysdyno_record::experiment::{ExperimentVariant, ServiceChange};
use sysdyno_record::work::CpuSummary;
use sysdyno_stats::descriptive::median;

/// A variant as its report shows it.
pub(super) fn variant(side: usize, variant: &ExperimentVariant, runs: &[RunProfile]) -> VariantShown {
    let settings = variant.settings.iter().map(SettingChange::text);
    VariantShown {
        side,
        levels: variant.levels.clone(),
        settings: variant.services.iter().map(ServiceChange::text).chain(settings).collect(),
        prepare: variant.prepare.iter().map(|command| command.text.clone()).collect(),
        failed_ratio: median(&runs.iter().map(RunProfile::error_ratio).collect::<Vec<f64>>()),
        cpus: cpus(runs),
        found: found(runs.iter().map(|run| &run.analysis)),
        curve: curve(runs.iter().flat_map(|run| &run.analysis.curve)),
        scoreboard: users::scoreboard(runs.iter().filter_map(|run| UsersRun::of(&run.analysis))),
    }
}

/// A variant of commands as its report shows it.
pub(super) fn work(side: usize, variant: &ExperimentVariant, runs: &[WorkProfile]) -> VariantShown {
    VariantShown { found: found_at_work(runs), cpus: cpus_at_work(runs), ..self::variant(side, variant, &[]) }
}

/// What each CPU of the machine did: medians over the records, each share by itself.
fn cpus_at_work(runs: &[WorkProfile]) -> Vec<VariantCpu> {
    let Some(first) = runs.first() else { return Vec::new() };
    let cpu = |cpu: &CpuSummary| {
        let of_run =
            |run: &WorkProfile| run.summary.cpus.iter().find(|one| one.number == cpu.number).copied();
        let all: Vec<CpuSummary> = runs.iter().filter_map(of_run).collect();
        let share = |of: fn(&CpuSummary) -> f64| median(&all.iter().map(of).collect::<Vec<f64>>());
        let (busy_ratio, softirq_ratio) = (share(|one| one.busy_ratio)?, share(|one| one.softirq_ratio)?);
        Some(VariantCpu { number: cpu.number, busy_ratio, softirq_ratio })
    };
    first.summary.cpus.iter().filter_map(cpu).collect()
}

/// What the machine had least of in each command, counted by what it was, with the numbers of the first record.
fn found_at_work(runs: &[WorkProfile]) -> Vec<FoundShown> {
    let mut found: BTreeMap<String, FoundShown> = BTreeMap::new();
    for run in runs {
        let each = run.summary.commands.iter().filter_map(|one| {
            let limit = one.limit.as_deref()?;
            let name = format::name(&one.name);
            Some([of_kind(limit), limit].map(|text| format!("{name}: {text}")))
        });
        let mut said: Vec<[String; 2]> = each.collect();
        if said.is_empty() {
            let limit = run.summary.limit.as_deref();
            said.extend(limit.map(|limit| [of_kind(limit), limit].map(str::to_owned)));
        }
        if said.is_empty() {
            continue;
        }
        let joined = |at: usize| said.iter().map(|texts| texts[at].clone()).collect::<Vec<_>>().join("; ");
        let nothing = || FoundShown { title: joined(1), id: None, runs_count: 0 };
        found.entry(joined(0)).or_insert_with(nothing).runs_count += 1;
    }
    let mut found: Vec<FoundShown> = found.into_values().collect();
    found.sort_by_key(|found| std::cmp::Reverse(found.runs_count));
    found
}

/// What a limit is called, without its numbers.
fn of_kind(limit: &str) -> &str {
    limit.split(':').next().unwrap_or(limit)
}

/// What each run says first of its limit, counted.
fn found<'a>(analyses: impl Iterator<Item = &'a Analysis>) -> Vec<FoundShown> {
    let mut found: BTreeMap<Option<String>, FoundShown> = BTreeMap::new();
    for analysis in analyses {
        let first = analysis.findings.first().filter(|finding| finding.confidence >= Confidence::Likely);
        let id = first.map(|finding| finding.id.clone());
        let entry = found.entry(id.clone()).or_insert(FoundShown {
            title: analysis.limit.clone(),
            id,
            runs_count: 0,
        });
        entry.runs_count += 1;
    }
    let mut found: Vec<FoundShown> = found.into_values().collect();
    found.sort_by_key(|found| std::cmp::Reverse(found.runs_count));
    found
}

fn curve<'a>(points: impl Iterator<Item = &'a CurvePoint>) -> Vec<VariantPoint> {
    let sound = points.filter(|point| point.status != VerdictStatus::Invalid);
    let mut curve: Vec<VariantPoint> = sound
        .map(|point| VariantPoint {
            connections: point.connections,
            offered_hz: point.offered_hz,
            goodput_hz: point.goodput_hz,
            p99_ns: point.p99_ns,
            met: point.met,
        })
        .collect();
    let place = |point: &VariantPoint| point.offered_hz.unwrap_or(f64::from(point.connections));
    curve.sort_by(|one, other| place(one).total_cmp(&place(other)));
    curve
}

/// What each CPU of the server's host did: medians over the runs, each share by itself.
fn cpus(runs: &[RunProfile]) -> Vec<VariantCpu> {
    let Some(first) = runs.first() else { return Vec::new() };
    let shares = |scope: &str, share: fn(&CpuShare) -> f64| -> Option<f64> {
        let of_run = |run: &RunProfile| run.cpus.iter().find(|cpu| cpu.scope == scope).map(share);
        median(&runs.iter().filter_map(of_run).collect::<Vec<f64>>())
    };
    let cpu = |cpu: &CpuShare| {
        Some(VariantCpu {
            number: cpu.number().parse().ok()?,
            busy_ratio: shares(&cpu.scope, |cpu| cpu.busy_ratio)?,
            softirq_ratio: shares(&cpu.scope, |cpu| cpu.softirq_ratio)?,
        })
    };
    first.cpus.iter().filter_map(cpu).collect()
}
