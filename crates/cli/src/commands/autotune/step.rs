//! One step: an experiment in its own folder, and what its runs say.

use crate::commands::compare;
use crate::commands::experiment::{Making, TrialPlace, conclusion, trials};
use crate::commands::record::is_living;
use crate::exit::Exit;
use crate::ui::Ui;
use anyhow::Context;
use std::path::Path;
use sysdyno_analyze::autotune::{ArmTrial, arms, arms_count, seen, step_plan};
use sysdyno_analyze::compare::RunProfile;
use sysdyno_lab::LabPlan;
use sysdyno_plan::resolve_again;
use sysdyno_record::autotune::{AutotunePlan, SeenServer, SeenSetting, StepBegan, StepEnded, StepKind};
use sysdyno_record::experiment::measured_cells;
use sysdyno_record::store::{AutotuneFolder, ExperimentFolder, Run};
use sysdyno_report::html;
use sysdyno_run::service::{descriptor_settings, found_settings, listener_setting, target_pids};

/// Makes the trials of a step that are missing; its experiment, and how the program has to end, if that is settled.
pub(super) fn take(
    folder: &AutotuneFolder,
    step: &StepBegan,
    place: &mut TrialPlace,
    making: &Making<'_>,
) -> anyhow::Result<(ExperimentFolder, Option<Exit>)> {
    let path = folder.steps().join(&step.folder);
    let mut experiment = match path.is_dir() {
        true => {
            let mut known = ExperimentFolder::open(&path)?;
            resolve_again(&mut known.plan)?;
            known
        }
        false => folder.create_step(&step.folder, step_plan(&folder.plan, step))?,
    };
    let exit = trials(&mut experiment, place, making)?;
    if step.kind != StepKind::Look && !measured_cells(&experiment.lines).is_empty() {
        // Where fewer than two variants were measured there is nothing to compare.
        if let Ok(comparison) = conclusion(&experiment, |path| compare::read(path, making.ui)) {
            experiment.write_report(&html::render_comparison(&comparison, None))?;
        }
    }
    Ok((experiment, exit))
}

/// What came of a step.
pub(super) fn ended(
    (plan, step): (&AutotunePlan, &StepBegan),
    experiment: &ExperimentFolder,
    elapsed_ns: u64,
    ui: &Ui,
) -> anyhow::Result<StepEnded> {
    let (mut trials, mut last) = (Vec::new(), None);
    // What is going to be changed next has all that is kept; the outcome has the server as it was found besides.
    let kept = u32::from(step.kind == StepKind::Outcome);
    for cell in measured_cells(&experiment.lines) {
        let path = experiment.runs().join(&cell.run);
        let profile = compare::read(&path, ui)?;
        let place = (cell.variant as usize, cell.block);
        trials.push(ArmTrial::of(place, &profile.analysis, plan.base.is_noisy));
        if cell.variant == kept {
            last = Some((path, profile));
        }
    }
    let (baseline, arms) = arms(&trials, arms_count(step), plan.effect_ratio);
    let seen = last.map(|(path, profile)| server(plan, step, (&path, &profile))).transpose()?;
    Ok(StepEnded { step: step.step, baseline, arms, seen, elapsed_ns })
}

/// The server as a run saw it; at first with the settings of its services, whose processes still run.
fn server(
    plan: &AutotunePlan,
    step: &StepBegan,
    (path, profile): (&Path, &RunProfile),
) -> anyhow::Result<SeenServer> {
    let run = Run::open(path, &is_living)?;
    let facts = run.server.as_ref().map_or(&profile.facts, |server| &server.facts);
    let mut server = seen(&profile.analysis, facts);
    if step.kind == StepKind::Look {
        let pids = target_pids(&run.events);
        server.settings.extend(found_settings(&pids));
        // The processes of a lab are others in the next trial.
        if plan.base.lab.is_none() {
            server.settings.extend(descriptor_settings(&pids));
        }
        server.settings.extend(parameters(plan)?);
        server.settings.extend(listener(plan));
    }
    Ok(server)
}

/// The accept queue of the server's own port.
fn listener(plan: &AutotunePlan) -> Option<SeenSetting> {
    listener_setting(&plan.base.variants[0].plan.load()?.target.endpoint)
}

/// The parameters of a lab's services.
fn parameters(plan: &AutotunePlan) -> anyhow::Result<Vec<SeenSetting>> {
    let Some(lab) = &plan.base.lab else { return Ok(Vec::new()) };
    let lab = LabPlan::parse(&lab.text, Path::new(&plan.base.source)).context("cannot read the lab again")?;
    let setting = |one: sysdyno_lab::ServiceParameter| SeenSetting {
        id: format!("{}.{}", one.recipe, one.name),
        key: format!("{}.{}", one.service, one.name),
        value: one.value,
        is_parameter: true,
    };
    Ok(lab.with(&plan.base.variants[0].services)?.parameters().into_iter().map(setting).collect())
}
