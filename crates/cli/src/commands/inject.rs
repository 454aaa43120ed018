//! `sysdyno inject`: a known fault in a lab that is up, for a while.

use super::lab::{labs, name_of};
use crate::args::InjectArgs;
use crate::exit::Exit;
use crate::here::tuning;
use crate::ui::{Signals, Ui};
use anyhow::{Context, anyhow, ensure};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use sysdyno_lab::{FileContent, LabPlan, LabStage, StageSetting};
use sysdyno_plan::fault::{PlantedFault, find_fault};
use sysdyno_record::change::SettingChange;
use sysdyno_run::RunError;

/// Between two looks whether it is over.
const STEP: Duration = Duration::from_millis(100);

pub fn inject(args: &InjectArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let name = name_of(&args.lab)?;
    let is_file = Path::new(&args.lab).is_file();
    let beside = if is_file { Path::new(&args.lab).parent().map(Path::to_owned) } else { None };
    let labs = labs(args.state_dir.as_deref(), &args.ways)?;
    let stage = LabStage::of_running(labs, &name, beside.clone().unwrap_or_default()).map_err(said)?;
    let signals = Signals::listen().context("cannot listen to signals")?;
    if args.remove {
        stage.change(&[], &|| signals.is_interrupted()).map_err(said)?;
        ui.note(&format!("the services of lab '{name}' are what its file says"));
        return Ok(Exit::Done);
    }
    let typed = args.fault.as_deref().unwrap_or_default();
    let (bed, fault) = find_fault(typed)?;
    let known = stage.plan().services.iter().filter(|service| !service.is_off);
    let known: BTreeMap<String, String> =
        known.map(|service| (service.name.clone(), service.recipe.clone())).collect();
    let planted = fault.planted(&bed, usize::from(args.level), &known)?;
    check_files(stage.plan(), &planted, beside)?;
    ui.note(&fault.does);
    hold(args, (stage, &planted), &signals, ui)
}

/// Plants the fault, waits, and makes the lab what it was.
fn hold(
    args: &InjectArgs,
    (mut stage, planted): (LabStage, &PlantedFault),
    signals: &Signals,
    ui: &Ui,
) -> anyhow::Result<Exit> {
    let original = stage.plan().clone();
    let tuning = tuning(PathBuf::from("/"), args.state_dir.clone())?;
    stage.set_plan(original.with(&planted.services).map_err(said)?);
    let setting = StageSetting {
        service: &planted.service,
        again: &[],
        changes: &planted.settings,
        during: &planted.during,
        tuning: &tuning,
    };
    let what = described(planted);
    let wait = |_: &[_]| {
        ui.note(&format!(
            "planted in lab '{}': {what}; it is removed after {}, or by Ctrl-C",
            original.name, args.duration.0
        ));
        let end = Instant::now() + Duration::from_nanos(args.duration.0.0);
        while Instant::now() < end && !signals.is_interrupted() {
            std::thread::sleep(STEP);
        }
        Ok(())
    };
    let held = stage.hold(&setting, wait, &mut |line| ui.note(line), &|| false);
    stage.set_plan(original);
    let restored = stage.change(&[&planted.service], &|| false);
    let left = held.map_err(said)?;
    restored.map_err(said)?;
    if !left.is_empty() {
        ui.note(&format!("error: not restored, because somebody else changed it: {}", left.join(", ")));
        return Ok(Exit::NotRestored);
    }
    ui.note("removed: the services are what the lab's file says");
    Ok(Exit::Done)
}

/// What is changed, in words.
fn described(planted: &PlantedFault) -> String {
    let services = planted.services.iter().map(|change| change.text());
    let settings = planted.settings.iter().map(SettingChange::text);
    let during = planted.during.iter().map(|command| command.text.clone());
    services.chain(settings).chain(during).collect::<Vec<_>>().join("; ")
}

/// Services are made anew, with their files: those that lie beside the lab's file have to be found.
fn check_files(plan: &LabPlan, planted: &PlantedFault, beside: Option<PathBuf>) -> anyhow::Result<()> {
    let is_meant =
        |name: &str| name == planted.service || planted.services.iter().any(|change| change.service == name);
    let has_source = plan
        .services
        .iter()
        .filter(|service| is_meant(&service.name))
        .any(|service| service.files.iter().any(|file| matches!(file.content, FileContent::Source(_))));
    ensure!(
        !has_source || beside.is_some(),
        "cannot plant anything in lab '{}': its services have files that lie beside its file\nhint: give the file, \
         as in --lab lab.toml",
        plan.name
    );
    Ok(())
}

/// Errors of the lab have their cause in their text already.
fn said(error: RunError) -> anyhow::Error {
    anyhow!("{error}")
}
