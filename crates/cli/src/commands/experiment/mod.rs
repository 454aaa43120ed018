//! `sysdyno experiment`: every combination of some factors, measured in blocks; can be gone on with after any end.

mod export;
mod import;
mod result;
mod stage;
mod trial;

pub(super) use self::result::conclusion;
use self::result::{report, settle};
pub(super) use self::stage::provide_all;
use self::stage::{TrialPlace, described};
use self::trial::trial;
use crate::args::{
    ExperimentArgs, ExperimentCommand, ExperimentFolderArgs, ExperimentHostArgs, ExperimentRunArgs,
    LabSshOptions,
};
use crate::exit::Exit;
use crate::fence::{self, Others};
use crate::here::{Here, draw_seed, tuning};
use crate::settings::SettingsFile;
use crate::ui::{Signals, Ui, causes};
use anyhow::{Context, anyhow};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Instant;
use sysdyno_analyze::experiment::{
    ExperimentResolution, PlannedCell, Timed, forecast, is_profiled, missing, order, resolution,
};
use sysdyno_lab::Labs;
use sysdyno_plan::options::Combine;
use sysdyno_plan::{Checked, ExperimentDraft, resolve_again};
use sysdyno_record::experiment::{ExperimentPlan, MeasuredCell, measured_cells, trials_count};
use sysdyno_record::manifest::RunStatus;
use sysdyno_record::store::ExperimentFolder;
use sysdyno_record::units::SpanNs;
use sysdyno_report::{escape, number};
use sysdyno_run::RunError;
use sysdyno_run::agent::LoadGuard;
use sysdyno_run::clock;
use sysdyno_run::execute::Tuning;
use sysdyno_run::fence::Goal;

pub fn experiment(args: ExperimentArgs, ui: &Ui) -> anyhow::Result<Exit> {
    match args.command {
        ExperimentCommand::Plan(args) => show_plan(&args, ui),
        ExperimentCommand::Run(args) => run(&args, ui),
        ExperimentCommand::Resume(args) => resume(&args, ui),
        ExperimentCommand::Report(args) => report(&ExperimentFolder::open(&args.folder)?, &args.host, ui),
        ExperimentCommand::Export(args) => export::export(&args, ui),
        ExperimentCommand::Import(args) => import::import(&args, ui),
    }
}

/// The plan that a file says.
fn read(args: &ExperimentRunArgs, ui: &Ui) -> anyhow::Result<ExperimentPlan> {
    let draft = ExperimentDraft { file: args.file.clone(), is_quick: args.quick };
    let Checked { plan, notes } = draft.finish(&Here)?;
    ui.notes(&notes);
    Ok(plan)
}

fn show_plan(args: &ExperimentRunArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let plan = read(args, ui)?;
    check(&plan, &tuning(args.host.root.clone(), args.host.state_dir.clone())?, ui)?;
    if args.host.json {
        ui.print_json(&plan)?;
        return Ok(Exit::Done);
    }
    let cells = order(&plan);
    ui.print(&sentence(&plan, &cells));
    described(&plan)?.iter().for_each(|line| ui.print(line));
    for (number, cell) in cells.iter().enumerate() {
        ui.print(&format!("{:4}  block {}  {}", number + 1, cell.block + 1, name(&plan, *cell)));
    }
    Ok(Exit::Done)
}

fn run(args: &ExperimentRunArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let plan = read(args, ui)?;
    let tuning = tuning(args.host.root.clone(), args.host.state_dir.clone())?;
    check(&plan, &tuning, ui)?;
    let guard = guard(&plan, &tuning, &args.host, ui)?;
    let labs = provide_all(&plan, (&tuning, &args.host.ssh), args.host.yes, ui)?;
    let parent = match &args.folder {
        Some(folder) => folder.clone(),
        None => beside(&args.record.clone().or(SettingsFile::read()?.record).folder()?),
    };
    let now = clock::wall().0 / 1_000_000_000;
    let folder = format!("{}-{now}-{:05x}", plan.name, draw_seed() & 0xf_ffff);
    ui.note(&sentence(&plan, &order(&plan)));
    let folder = ExperimentFolder::create(&parent, &folder, plan)?;
    ui.note(&format!("results in {}", folder.path().display()));
    measure(folder, (labs, &tuning, &guard), &args.host, ui)
}

fn resume(args: &ExperimentFolderArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let mut folder = ExperimentFolder::open(&args.folder)?;
    resolve_again(&mut folder.plan)?;
    folder.damage.iter().for_each(|damage| ui.note(&format!("warning: {damage}")));
    let tuning = tuning(args.host.root.clone(), args.host.state_dir.clone())?;
    let cells = missing(&folder.plan, &folder.lines);
    let guard = guard(&folder.plan, &tuning, &args.host, ui)?;
    let mut labs = None;
    if !cells.is_empty() {
        check(&folder.plan, &tuning, ui)?;
        labs = provide_all(&folder.plan, (&tuning, &args.host.ssh), args.host.yes, ui)?;
        ui.note(&sentence(&folder.plan, &cells));
    }
    measure(folder, (labs, &tuning, &guard), &args.host, ui)
}

/// Folder of experiments beside that of runs.
pub(super) fn beside(runs: &Path) -> PathBuf {
    runs.parent().unwrap_or(runs).join("experiments")
}

/// Says what each variant changes, before anything is sent. What a lab will be like is not known yet.
fn check(plan: &ExperimentPlan, tuning: &Tuning, ui: &Ui) -> anyhow::Result<()> {
    if plan.lab.is_some() {
        return Ok(());
    }
    for variant in &plan.variants {
        for change in tuning.planned(&variant.settings)? {
            let (before, after) = (&change.before, &change.after);
            ui.note(&format!("{}: {before} -> {after} in '{}'", change.key, shown(&variant.name)));
        }
    }
    Ok(())
}

fn sentence(plan: &ExperimentPlan, cells: &[PlannedCell]) -> String {
    let (variants, blocks) = (plan.variants.len(), plan.blocks);
    let most = if plan.until_decided { "at most " } else { "" };
    let blocks = if blocks == 1 { "1 block".to_owned() } else { format!("{most}{blocks} blocks") };
    let time = forecast(plan, cells, &Timed::new());
    let trials = cells.len();
    let can_tell = resolution(plan).map_or(String::new(), |resolution| format!("\n{}", told(&resolution)));
    format!("measuring {variants} variants in {blocks}: {trials} trials, about {time}{can_tell}")
}

/// What an experiment can detect, as a line.
fn told(ExperimentResolution { title, deviation_ratio, difference_ratio }: &ExperimentResolution) -> String {
    match difference_ratio {
        Some(difference) => format!(
            "it can detect differences in {title} of about {} or more, if runs vary by {}",
            number::percent(*difference),
            number::percent(*deviation_ratio)
        ),
        None => format!(
            "it can detect only large differences in {title}, because one block does not show how much runs vary"
        ),
    }
}

fn name(plan: &ExperimentPlan, cell: PlannedCell) -> String {
    plan.variants.get(cell.variant as usize).map_or(String::new(), |variant| shown(&variant.name))
}

fn shown(text: &str) -> String {
    escape::terminal(text, 80)
}

/// Makes the trials that are missing, and says what came of all.
fn measure(
    mut folder: ExperimentFolder,
    (labs, tuning, guard): (Option<Labs>, &Tuning, &RefCell<LoadGuard>),
    args: &ExperimentHostArgs,
    ui: &Ui,
) -> anyhow::Result<Exit> {
    let signals = Signals::listen().context("cannot listen to signals")?;
    let end = make(&mut folder, (labs, tuning, guard), &args.ssh, &signals, &ui.quiet(args.quiet))?;
    if !missing(&folder.plan, &folder.lines).is_empty() {
        hint(&folder, ui);
    }
    if let Some(exit) = end {
        return Ok(exit);
    }
    if signals.is_interrupted() && measured_cells(&folder.lines).is_empty() {
        return Ok(Exit::Interrupted);
    }
    let exit = report(&folder, args, ui)?;
    Ok(if signals.is_interrupted() { Exit::Interrupted } else { exit })
}

/// Makes the trials that are missing, in the lab that is put up for them; how the program has to end, if that is settled.
pub(super) fn make(
    folder: &mut ExperimentFolder,
    (labs, tuning, guard): (Option<Labs>, &Tuning, &RefCell<LoadGuard>),
    ssh: &LabSshOptions,
    signals: &Signals,
    ui: &Ui,
) -> anyhow::Result<Option<Exit>> {
    if missing(&folder.plan, &folder.lines).is_empty() {
        return Ok(None);
    }
    let place = TrialPlace::of(folder, (labs, ssh), signals, ui);
    let Some(mut place) = place.map_err(|error| stopped(folder, "", &error))? else { return Ok(None) };
    let measured = trials(folder, (&mut place, tuning, guard), signals, ui);
    let left = place.end(ui);
    let end = match measured {
        Err(_) if signals.is_interrupted() => None,
        Err(error) => {
            left.inspect_err(|left| ui.note(&format!("warning: {}", causes(left)))).unwrap_or_default();
            return Err(error);
        }
        Ok(end) => end,
    };
    left.map(|()| end)
}

/// What may be loaded; of an experiment on this host, all of it is judged before anything is made.
pub(super) fn guard(
    plan: &ExperimentPlan,
    tuning: &Tuning,
    args: &ExperimentHostArgs,
    ui: &Ui,
) -> anyhow::Result<RefCell<LoadGuard>> {
    let mut guard = fence::guard(&SettingsFile::read()?.target, args.fence, tuning.state.as_deref())?;
    if plan.lab.is_none() {
        fence::pass(&goals(plan), &mut guard, Others::default(), ui)?;
    }
    Ok(RefCell::new(guard))
}

/// Where the loads of all variants go.
fn goals(plan: &ExperimentPlan) -> Vec<Goal> {
    plan.variants.iter().flat_map(|variant| fence::goals(&variant.plan, "load")).collect()
}

/// Makes the trials that are missing, one after the other; how the program has to end, if that is settled.
fn trials(
    folder: &mut ExperimentFolder,
    (place, tuning, guard): (&mut TrialPlace, &Tuning, &RefCell<LoadGuard>),
    signals: &Signals,
    ui: &Ui,
) -> anyhow::Result<Option<Exit>> {
    let (began, mut timed) = (Instant::now(), Timed::new());
    loop {
        settle(folder, ui)?;
        let all = trials_count(&folder.plan, &folder.lines) as usize;
        let left = missing(&folder.plan, &folder.lines);
        let Some(cell) = left.first().copied() else { break };
        let this = forecast(&folder.plan, &[cell], &timed);
        let is_spent =
            |budget: SpanNs| began.elapsed().as_nanos() > u128::from(budget.0.saturating_sub(this.0));
        if signals.is_interrupted() || folder.plan.budget.is_some_and(is_spent) {
            break;
        }
        let number = all - left.len() + 1;
        let most = if folder.plan.until_decided { "at most " } else { "" };
        ui.note(&format!(
            "trial {number} of {most}{all}, block {}: {}{} ({} left)",
            cell.block + 1,
            name(&folder.plan, cell),
            again(folder, cell),
            forecast(&folder.plan, &left, &timed)
        ));
        let start = Instant::now();
        let end = trial(folder, cell, (place, tuning, guard), signals, ui);
        let end = end.map_err(|error| stopped(folder, &format!(" at trial {number} of {all}"), &error))?;
        if !is_profiled(&folder.plan, cell) {
            timed.entry(cell.variant).or_default().push(start.elapsed().as_secs_f64());
        }
        if !end.not_restored.is_empty() {
            ui.note(&format!(
                "error: not restored, because somebody else changed it: {}",
                end.not_restored.join(", ")
            ));
            return Ok(Some(Exit::NotRestored));
        }
        if end.status == RunStatus::Interrupted {
            break;
        }
    }
    Ok(None)
}

fn hint(folder: &ExperimentFolder, ui: &Ui) {
    ui.note(&format!(
        "hint: sysdyno experiment resume '{}' measures the missing trials",
        folder.path().display()
    ));
}

/// Why an experiment ends before its trials are made, and what goes on with it.
fn stopped(folder: &ExperimentFolder, place: &str, error: &anyhow::Error) -> anyhow::Error {
    let lost = error.chain().find_map(|cause| match cause.downcast_ref()? {
        RunError::Lost { host, .. } | RunError::Reach { host, .. } => Some(host),
        _ => None,
    });
    let once = lost.map_or(String::new(), |host| format!(" once '{host}' can be reached"));
    let (path, cause) = (folder.path().display(), causes(error));
    anyhow!(
        "cannot continue experiment '{path}'{place}: {cause}\nhint: resume it with `sysdyno experiment \
         resume '{path}'`{once}"
    )
}

/// What is said of a trial that is made once more.
fn again(folder: &ExperimentFolder, cell: PlannedCell) -> &'static str {
    let is_it = |one: &MeasuredCell| (one.block, one.variant) == (cell.block, cell.variant);
    match measured_cells(&folder.lines).iter().any(is_it) {
        true => ", repeated because it was disturbed",
        false => "",
    }
}
