//! `sysdyno autotune`: measure, diagnose, try what fits, keep what is proven, and again.

mod step;
mod told;

use self::step::{ended, take};
use self::told::{dry_run, finish, say_step};
pub(super) use self::told::{remedy_line, show};
use super::experiment::{Making, TrialPlace, beside, guard, provide_all};
use crate::args::AutotuneArgs;
use crate::exit::Exit;
use crate::here::{Here, draw_seed, tuning};
use crate::settings::SettingsFile;
use crate::ui::{LiveOutput, Signals, Ui};
use anyhow::{Context, ensure};
use std::cell::RefCell;
use std::time::Instant;
use sysdyno_analyze::autotune::{AutotuneCourse, step_plan};
use sysdyno_analyze::experiment::{Timed, forecast, order};
use sysdyno_lab::Labs;
use sysdyno_plan::options::Combine;
use sysdyno_plan::{AutotuneDraft, Checked, resolve_again};
use sysdyno_record::autotune::{AutotuneLine, AutotunePlan, StepBegan, StepKind};
use sysdyno_record::store::AutotuneFolder;
use sysdyno_record::units::SpanNs;
use sysdyno_report::escape;
use sysdyno_run::clock;

pub fn autotune(args: AutotuneArgs, ui: &Ui) -> anyhow::Result<Exit> {
    if let Some(path) = &args.resume {
        let mut folder = AutotuneFolder::open(path)?;
        folder.damage.iter().for_each(|damage| ui.note(&format!("warning: {damage}")));
        resolve_again(&mut folder.plan.base)?;
        return measure(folder, &args, ui);
    }
    let settings = SettingsFile::read()?;
    let draft = AutotuneDraft {
        server: args.server.clone().unwrap_or_default(),
        options: args.options.clone().or(settings.autotune),
        target: args.target.clone().or(settings.target),
    };
    let Checked { plan, notes } = draft.finish(&Here)?;
    ui.notes(&notes);
    ensure!(
        !plan.keeps || plan.base.lab.is_none(),
        "cannot keep changes in a lab: it is torn down at the end\nhint: leave out --keep"
    );
    if args.dry_run {
        return dry_run(&plan, args.host.json, ui);
    }
    let parent = match &args.folder {
        Some(folder) => folder.clone(),
        None => beside(&args.record.clone().or(settings.record).folder()?),
    };
    may_tune(&args)?;
    let now = clock::wall().0 / 1_000_000_000;
    let name = format!("{}-{now}-{:05x}", plan.base.name, draw_seed() & 0xf_ffff);
    let folder = AutotuneFolder::create(&parent, &name, plan)?;
    measure(folder, &args, ui)
}

/// Whether this user may change settings at all.
fn may_tune(args: &AutotuneArgs) -> anyhow::Result<()> {
    ensure!(
        rustix::process::geteuid().is_root() || args.host.root != *"/",
        "cannot tune: only root can change settings\nhint: run with sudo"
    );
    Ok(())
}

/// Makes the steps that are missing, and says what came of all.
fn measure(mut folder: AutotuneFolder, args: &AutotuneArgs, ui: &Ui) -> anyhow::Result<Exit> {
    may_tune(args)?;
    let tuning = tuning(args.host.root.clone(), args.host.state_dir.clone())?;
    let guard = guard(&folder.plan.base, &tuning, &args.host, ui)?;
    let labs = provide_all(&folder.plan.base, (&tuning, &args.host.ways), args.host.yes, ui)?;
    let signals = Signals::listen().context("cannot listen to signals")?;
    let live = RefCell::new(LiveOutput::start(&args.live, ui)?);
    ui.note(&format!("results in {}", folder.path().display()));
    let quiet = ui.quiet(args.host.quiet);
    let resume = format!("sysdyno autotune --resume '{}'", folder.path().display());
    let making = Making {
        tuning: &tuning,
        guard: &guard,
        live: &live,
        signals: &signals,
        ui: &quiet,
        resume: Some(&resume),
    };
    let exit = steps(&mut folder, (labs, args), &making, ui)?;
    match exit {
        Some(exit) => Ok(exit),
        None => finish(&folder, (&tuning, args.host.json), signals.is_interrupted(), ui),
    }
}

/// Makes all steps; how the program has to end, if that is settled by something that went wrong.
fn steps(
    folder: &mut AutotuneFolder,
    (labs, args): (Option<Labs>, &AutotuneArgs),
    making: &Making<'_>,
    ui: &Ui,
) -> anyhow::Result<Option<Exit>> {
    let base = &folder.plan.base;
    let place = TrialPlace::of((base, folder.path()), (labs, &args.host.ways), making.signals, ui)?;
    let Some(mut place) = place else { return Ok(None) };
    let made = all_steps(folder, &mut place, making, ui);
    let left = place.end(ui);
    let made = made?;
    left.map(|()| made)
}

fn all_steps(
    folder: &mut AutotuneFolder,
    place: &mut TrialPlace,
    making: &Making<'_>,
    ui: &Ui,
) -> anyhow::Result<Option<Exit>> {
    let plan = folder.plan.clone();
    while !making.signals.is_interrupted() {
        let course = AutotuneCourse::follow(&plan, &folder.lines);
        let is_spent = course.elapsed_ns().saturating_add(round_ns(&plan)) > plan.budget.0;
        let Some(step) = pending(folder).or_else(|| course.next(is_spent)) else { break };
        say_step(&step, SpanNs(course.elapsed_ns()), &plan, ui);
        if pending(folder).is_none() {
            folder.append(AutotuneLine::Began(step.clone()))?;
        }
        let began = Instant::now();
        let (experiment, exit) = take(folder, &step, place, making)?;
        if exit.is_some() {
            return Ok(exit);
        }
        if making.signals.is_interrupted() {
            break;
        }
        let elapsed_ns = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let ended = ended((&plan, &step), &experiment, elapsed_ns, ui)?;
        told::say_result(&step, &ended, ui);
        folder.append(AutotuneLine::Ended(Box::new(ended)))?;
    }
    Ok(None)
}

/// The step that was begun and not ended; `None`: all were.
fn pending(folder: &AutotuneFolder) -> Option<StepBegan> {
    match folder.lines.last() {
        Some(AutotuneLine::Began(step)) => Some(step.clone()),
        _ => None,
    }
}

/// How long a round takes at most: a race with all its candidates, and a proof. Unit: nanoseconds.
fn round_ns(plan: &AutotunePlan) -> u64 {
    let step = |kind, count: usize| StepBegan {
        step: 1,
        round: 1,
        kind,
        candidates: vec![told::unnamed(); count],
        kept: Vec::new(),
        folder: String::new(),
    };
    let span = |step: &StepBegan| {
        let plan = step_plan(plan, step);
        forecast(&plan, &order(&plan), &Timed::new()).0
    };
    span(&step(StepKind::Race, plan.candidates as usize)).saturating_add(span(&step(StepKind::Proof, 1)))
}

fn shown(text: &str) -> String {
    escape::terminal(text, 200)
}
