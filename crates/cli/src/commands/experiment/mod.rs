//! `sysdyno experiment`: every combination of some factors, measured in blocks; can be gone on with after any end.

mod export;
mod import;
mod result;
mod stage;
#[cfg(test)]
mod tests;
mod trial;

pub(super) use self::result::conclusion;
use self::result::{Reported, report, settle};
use self::stage::described;
pub(super) use self::stage::{TrialPlace, provide_all};
use self::trial::trial;
use crate::args::{
    ComparisonForm, ExperimentArgs, ExperimentCommand, ExperimentFolderArgs, ExperimentHostArgs,
    ExperimentMeasureArgs, ExperimentRunArgs, ExperimentStreamArgs, LabHostOptions,
};
use crate::exit::Exit;
use crate::fence::{self, Others};
use crate::here::{Here, draw_seed, tuning};
use crate::settings::SettingsFile;
use crate::ui::{ExperimentEnding, LiveOutput, Signals, Ui, causes};
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
use sysdyno_record::RecordError;
use sysdyno_record::experiment::{
    ExperimentLine, ExperimentPlan, MeasuredCell, measured_cells, trials_count,
};
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
        ExperimentCommand::Report(args) => {
            let folder = ExperimentFolder::open(&args.folder)?;
            Ok(report(&folder, ComparisonForm::of_json(args.host.json), ui)?.exit)
        }
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

fn run(measure: &ExperimentMeasureArgs<ExperimentRunArgs>, ui: &Ui) -> anyhow::Result<Exit> {
    let ExperimentMeasureArgs { what: args, stream } = measure;
    let plan = read(args, ui)?;
    let tuning = tuning(args.host.root.clone(), args.host.state_dir.clone())?;
    check(&plan, &tuning, ui)?;
    let guard = guard(&plan, &tuning, &args.host, ui)?;
    let labs = provide_all(&plan, (&tuning, &args.host.ways), args.host.yes, ui)?;
    let parent = match &args.folder {
        Some(folder) => folder.clone(),
        None => beside(&args.record.clone().or(SettingsFile::read()?.record).folder()?),
    };
    let now = clock::wall().0 / 1_000_000_000;
    let folder = format!("{}-{now}-{:05x}", plan.name, draw_seed() & 0xf_ffff);
    ui.note(&sentence(&plan, &order(&plan)));
    let folder = ExperimentFolder::create(&parent, &folder, plan)?;
    ui.note(&format!("results in {}", folder.path().display()));
    Measurement { folder, labs, tuning, guard, host: &args.host, stream }.carry_out(ui)
}

fn resume(measure: &ExperimentMeasureArgs<ExperimentFolderArgs>, ui: &Ui) -> anyhow::Result<Exit> {
    let ExperimentMeasureArgs { what: args, stream } = measure;
    let mut folder = ExperimentFolder::open(&args.folder)?;
    resolve_again(&mut folder.plan)?;
    folder.damage.iter().for_each(|damage| ui.note(&format!("warning: {damage}")));
    let tuning = tuning(args.host.root.clone(), args.host.state_dir.clone())?;
    let cells = missing(&folder.plan, &folder.lines);
    let guard = guard(&folder.plan, &tuning, &args.host, ui)?;
    let mut labs = None;
    if !cells.is_empty() {
        check(&folder.plan, &tuning, ui)?;
        labs = provide_all(&folder.plan, (&tuning, &args.host.ways), args.host.yes, ui)?;
        ui.note(&sentence(&folder.plan, &cells));
    }
    Measurement { folder, labs, tuning, guard, host: &args.host, stream }.carry_out(ui)
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
    let in_blocks = if blocks == 1 { "1 block".to_owned() } else { format!("{most}{blocks} blocks") };
    let time = forecast(plan, cells, &Timed::new());
    let trials = cells.len();
    let can_tell =
        resolution(plan).map_or(String::new(), |resolution| format!("\n{}", told(&resolution, blocks)));
    format!("measuring {variants} variants in {in_blocks}: {trials} trials, about {time}{can_tell}")
}

/// What an experiment can detect, and what would make it detect more, in lines.
fn told(resolution: &ExperimentResolution, blocks: u32) -> String {
    let ExperimentResolution { title, deviation_ratio, difference_ratio, margin_ratio, .. } = resolution;
    let deviation = number::percent(*deviation_ratio);
    let mut text = match difference_ratio {
        Some(difference) => format!(
            "it can detect differences in {title} of about {} or more, if runs vary by {deviation}",
            number::percent(*difference)
        ),
        None => format!(
            "it can detect only large differences in {title}, because one block does not show how much runs vary"
        ),
    };
    if difference_ratio.is_none_or(|difference| difference > *margin_ratio) {
        let margin = number::percent(*margin_ratio);
        let needed =
            resolution.margin_blocks.map_or_else(|| "very many".to_owned(), |needed| needed.to_string());
        text.push_str(&format!("; to detect {margin}, it would need about {needed} blocks"));
    }
    if blocks < resolution.rank_blocks {
        let needed = resolution.rank_blocks;
        text.push_str(&format!(
            "\na single run that lies far off widens every interval: ranks that prevent this need at least {needed} \
             blocks"
        ));
    }
    text
}

fn name(plan: &ExperimentPlan, cell: PlannedCell) -> String {
    plan.variants.get(cell.variant as usize).map_or(String::new(), |variant| shown(&variant.name))
}

fn shown(text: &str) -> String {
    escape::terminal(text, 80)
}

/// An experiment that is to be measured.
struct Measurement<'a> {
    folder: ExperimentFolder,
    labs: Option<Labs>,
    tuning: Tuning,
    guard: RefCell<LoadGuard>,
    host: &'a ExperimentHostArgs,
    stream: &'a ExperimentStreamArgs,
}

impl Measurement<'_> {
    /// Makes the trials that are missing, says what came of all, and tells whoever looks on.
    fn carry_out(mut self, ui: &Ui) -> anyhow::Result<Exit> {
        let form = self.stream.output.unwrap_or(ComparisonForm::of_json(self.host.json));
        let signals = Signals::listen().context("cannot listen to signals")?;
        let live = LiveOutput::start(&self.stream.live, ui)?.with_lines(form == ComparisonForm::Jsonl);
        let live = RefCell::new(live);
        let left = missing(&self.folder.plan, &self.folder.lines).len();
        live.borrow_mut().begin_experiment(self.folder.path(), &self.folder.plan, left);
        let measured = self.measure(form, (&live, &signals), ui);
        let interrupted = || signals.is_interrupted().then(|| "interrupted by a signal".to_owned());
        let reason = measured.as_ref().err().map(causes).or_else(interrupted);
        let status = match &measured {
            _ if signals.is_interrupted() => RunStatus::Interrupted,
            Ok(_) => RunStatus::Complete,
            Err(_) => RunStatus::Failed,
        };
        let comparison = measured.as_ref().ok().and_then(|reported| reported.comparison.as_ref());
        let ending = ExperimentEnding { status, reason: reason.as_deref(), comparison };
        live.borrow_mut().end_experiment(self.folder.path(), &ending, ui);
        Ok(measured?.exit)
    }

    fn measure(
        &mut self,
        form: ComparisonForm,
        (live, signals): (&RefCell<LiveOutput>, &Signals),
        ui: &Ui,
    ) -> anyhow::Result<Reported> {
        let Measurement { folder, labs, tuning, guard, host, .. } = self;
        let making = Making {
            tuning: &*tuning,
            guard: &*guard,
            live,
            signals,
            ui: &ui.quiet(host.quiet),
            resume: None,
        };
        let end = make(folder, (labs.take(), &host.ways), &making)?;
        if !missing(&folder.plan, &folder.lines).is_empty() {
            hint(folder, ui);
        }
        if let Some(exit) = end {
            return Ok(Reported { exit, comparison: None });
        }
        if signals.is_interrupted() && measured_cells(&folder.lines).is_empty() {
            return Ok(Reported { exit: Exit::Interrupted, comparison: None });
        }
        let reported = report(folder, form, ui)?;
        let exit = if signals.is_interrupted() { Exit::Interrupted } else { reported.exit };
        Ok(Reported { exit, ..reported })
    }
}

/// What trials are made with.
pub(super) struct Making<'a> {
    /// How settings are changed.
    pub(super) tuning: &'a Tuning,
    /// What may be loaded.
    pub(super) guard: &'a RefCell<LoadGuard>,
    /// Who looks on besides the console.
    pub(super) live: &'a RefCell<LiveOutput>,
    pub(super) signals: &'a Signals,
    pub(super) ui: &'a Ui,
    /// The command that goes on with it; `None`: that of the experiment.
    pub(super) resume: Option<&'a str>,
}

impl Making<'_> {
    /// Writes a line of the experiment, and tells it.
    fn append(&self, folder: &mut ExperimentFolder, line: ExperimentLine) -> Result<(), RecordError> {
        folder.append(line.clone())?;
        self.live.borrow_mut().noted(&line);
        Ok(())
    }
}

/// Makes the trials that are missing, in the lab that is put up for them; how the program has to end, if that is settled.
pub(super) fn make(
    folder: &mut ExperimentFolder,
    (labs, ways): (Option<Labs>, &LabHostOptions),
    making: &Making<'_>,
) -> anyhow::Result<Option<Exit>> {
    if missing(&folder.plan, &folder.lines).is_empty() {
        return Ok(None);
    }
    let Making { signals, ui, .. } = *making;
    let place = TrialPlace::of((&folder.plan, folder.path()), (labs, ways), signals, ui);
    let Some(mut place) = place.map_err(|error| stopped(folder, making, "", &error))? else {
        return Ok(None);
    };
    let measured = trials(folder, &mut place, making);
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
pub(super) fn trials(
    folder: &mut ExperimentFolder,
    place: &mut TrialPlace,
    making: &Making<'_>,
) -> anyhow::Result<Option<Exit>> {
    let Making { signals, ui, .. } = *making;
    let (began, mut timed) = (Instant::now(), Timed::new());
    loop {
        settle(folder, making)?;
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
        let end = trial(folder, cell, place, making);
        let end =
            end.map_err(|error| stopped(folder, making, &format!(" at trial {number} of {all}"), &error))?;
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
fn stopped(
    folder: &ExperimentFolder,
    making: &Making<'_>,
    place: &str,
    error: &anyhow::Error,
) -> anyhow::Error {
    let lost = error.chain().find_map(|cause| match cause.downcast_ref()? {
        RunError::Lost { host, .. } | RunError::Reach { host, .. } => Some(host),
        _ => None,
    });
    let once = lost.map_or(String::new(), |host| format!(" once '{host}' can be reached"));
    let (path, cause) = (folder.path().display(), causes(error));
    let resume = making.resume.map_or_else(|| format!("sysdyno experiment resume '{path}'"), str::to_owned);
    anyhow!("cannot continue experiment '{path}'{place}: {cause}\nhint: resume it with `{resume}`{once}")
}

/// What is said of a trial that is made once more.
fn again(folder: &ExperimentFolder, cell: PlannedCell) -> &'static str {
    let is_it = |one: &MeasuredCell| (one.block, one.variant) == (cell.block, cell.variant);
    match measured_cells(&folder.lines).iter().any(is_it) {
        true => ", repeated because it was disturbed",
        false => "",
    }
}
