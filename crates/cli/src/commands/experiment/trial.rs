//! One trial of an experiment: what its variant needs is set, it is measured in a run folder of its own, and written down.

use super::stage::TrialPlace;
use super::{Making, shown};
use crate::args::OutputForm;
use crate::commands::load::{load_profile, profile_request};
use crate::commands::record::{Session, record_quietly};
use crate::commands::work::record as record_work;
use anyhow::{Context, bail};
use sysdyno_analyze::experiment::{PlannedCell, is_disturbed, is_profiled, trial_plan};
use sysdyno_plan::SAMPLING_HZ;
use sysdyno_plan::options::ServerOptions;
use sysdyno_record::analysis::Analysis;
use sysdyno_record::event::SettingHeld;
use sysdyno_record::experiment::{ExperimentLine, ExperimentVariant, TrialBegan, TrialEnded};
use sysdyno_record::load::FailureClass;
use sysdyno_record::manifest::RunKind;
use sysdyno_record::plan::Plan;
use sysdyno_record::store::ExperimentFolder;
use sysdyno_record::work::WorkPlan;
use sysdyno_report::escape;
use sysdyno_run::RunError;
use sysdyno_run::execute::{self, Conditions, Hosts, RunJournal, SamplingPlan};
use sysdyno_run::profiling::ProfileRequest;
use sysdyno_run::work::Manner;

/// Makes a trial in a run folder of its own.
pub(super) fn trial(
    folder: &mut ExperimentFolder,
    cell: PlannedCell,
    place: &mut TrialPlace,
    making: &Making<'_>,
) -> anyhow::Result<TrialEnded> {
    let Making { tuning, guard, live, signals, ui, .. } = *making;
    let variant = folder.plan.variants.get(cell.variant as usize).context("a variant is missing")?.clone();
    place.set(&folder.plan, &variant)?;
    let plan = trial_plan(&variant, cell.block);
    if let Plan::Work(work) = &plan {
        return work_trial(folder, (cell, &variant, work), place, making);
    }
    let kind = if matches!(plan, Plan::Run(_)) { RunKind::Run } else { RunKind::Load };
    let number = next_number(folder);
    let runs = folder.runs();
    let again = folder.plan.lab.as_ref().map_or(Vec::new(), |lab| lab.restart.clone());
    let hosts = place.hosts(&folder.plan, &variant)?;
    let behind = place.behind(&folder.plan, &variant)?;
    let profile = if is_profiled(&folder.plan, cell) { profile_of(&plan, &hosts)? } else { None };
    live.borrow_mut().begin_cell(number, cell);
    let session = Session {
        live,
        kind,
        runs_dir: &runs,
        form: OutputForm::Text,
        probe_log: None,
        server: &hosts,
        behind: &behind,
        guard,
    };
    // A lab has settings of its own.
    let settings = if matches!(place, TrialPlace::Here) { variant.settings.as_slice() } else { &[] };
    let conditions = Conditions { prepare: &variant.prepare, settings, tuning };
    let (mut not_restored, mut left) = (Vec::new(), Vec::new());
    let recorded = record_quietly(&session, &plan, ui, |hosts, journal| {
        let run = journal.run_id().to_owned();
        let (trial, block) = (number, cell.block);
        folder.append(ExperimentLine::Began(TrialBegan { trial, block, variant: cell.variant, run }))?;
        not_restored = conditions.hold(hosts, journal, |hosts, journal| {
            let ask = || place.readings();
            let Hosts { generator, server, behind, .. } = hosts;
            let hosts = Hosts { generator, server, behind, services: Some(&ask) };
            let mut held = Vec::new();
            let work = |settings: &[SettingHeld]| {
                held = settings.to_vec();
                journal.keep_settings(settings)?;
                carry_out(&plan, profile.as_ref(), hosts, journal)
            };
            left = place.hold((&variant, &again), tuning, signals, work)?;
            journal.mark_undone(&held, &left)
        })?;
        Ok(())
    })?;
    not_restored.append(&mut left);
    let status = recorded.run.manifest.status;
    let is_refused = is_refused(&recorded.analysis);
    // It is made again by whoever resumes.
    let is_spoilt = is_refused || is_disturbed(&recorded.analysis.verdict, folder.plan.is_noisy);
    let ended = TrialEnded { trial: number, status, not_restored, is_spoilt };
    making.append(folder, ExperimentLine::Ended(ended.clone()))?;
    ui.note(&format!("  {}", escape::terminal(&recorded.analysis.headline, 1000)));
    if is_refused {
        bail!("the server of variant '{}' refused every connection", shown(&variant.name));
    }
    Ok(ended)
}

/// Whether nobody listened: then the trials that are left tell no more.
fn is_refused(analysis: &Analysis) -> bool {
    let refused = analysis.failures.get(&FailureClass::ConnectRefused).copied().unwrap_or(0);
    analysis.counts.ok == 0 && refused > 0 && refused == analysis.counts.failed
}

/// The number of the next trial.
fn next_number(folder: &ExperimentFolder) -> u32 {
    folder.lines.iter().filter(|line| matches!(line, ExperimentLine::Began(_))).count() as u32 + 1
}

/// Makes a trial of commands in a run folder of its own.
fn work_trial(
    folder: &mut ExperimentFolder,
    (cell, variant, work): (PlannedCell, &ExperimentVariant, &WorkPlan),
    place: &mut TrialPlace,
    making: &Making<'_>,
) -> anyhow::Result<TrialEnded> {
    let Making { tuning, live, signals, ui, .. } = *making;
    let work = place.fill(work)?;
    let (number, runs) = (next_number(folder), folder.runs());
    let again = folder.plan.lab.as_ref().map_or(Vec::new(), |lab| lab.restart.clone());
    let mut not_restored = Vec::new();
    let (trial, block) = (number, cell.block);
    let place = &*place;
    let count = || place.count(work.counter.as_ref()?);
    let remount = || place.remount();
    let count = work.counter.as_ref().map(|_| &count as _);
    let manner = Manner { is_shown: false, count, remount: Some(&remount) };
    live.borrow_mut().begin_cell(number, cell);
    let recorded = record_work(&work, (&runs, manner, live), signals, ui, |run, do_work| {
        folder.append(ExperimentLine::Began(TrialBegan { trial, block, variant: cell.variant, run }))?;
        not_restored = place.hold((variant, &again), tuning, signals, do_work)?;
        Ok(not_restored.clone())
    })?;
    let status = recorded.run.manifest.status;
    let ended = TrialEnded { trial: number, status, not_restored, is_spoilt: false };
    making.append(folder, ExperimentLine::Ended(ended.clone()))?;
    ui.note(&format!("  {}", escape::terminal(&recorded.summary.headline, 1000)));
    Ok(ended)
}

/// The profile that follows a trial.
fn profile_of(plan: &Plan, hosts: &ServerOptions) -> anyhow::Result<Option<ProfileRequest>> {
    match plan {
        Plan::Load(load) => load_profile(load, hosts).map(Some),
        Plan::Run(_) => profile_request(hosts).map(Some),
        Plan::Try(_) | Plan::Squeeze(_) | Plan::Work(_) | Plan::Probe(_) | Plan::Watch(_) => Ok(None),
    }
}

fn carry_out(
    plan: &Plan,
    profile: Option<&ProfileRequest>,
    hosts: Hosts<'_>,
    journal: &mut RunJournal<'_>,
) -> Result<(), RunError> {
    match plan {
        Plan::Run(run) => execute::run(run, profile, hosts, journal),
        Plan::Load(load) => {
            execute::load(load, &SamplingPlan { hz: SAMPLING_HZ, pids: Vec::new() }, profile, hosts, journal)
        }
        Plan::Try(_) | Plan::Squeeze(_) | Plan::Work(_) | Plan::Probe(_) | Plan::Watch(_) => {
            unreachable!("work has a separate kind of trial, and the others are no variants")
        }
    }
}
