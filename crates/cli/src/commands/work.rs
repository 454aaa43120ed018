//! `sysdyno load --command` and `--files`: work on this host, recorded as any run.

use super::record::{fail, finish, is_living, new_run, read_back};
use crate::args::{LoadArgs, OutputForm};
use crate::exit::Exit;
use crate::settings::SettingsFile;
use crate::ui::{LiveOutput, Signals, Ui};
use anyhow::{Context, bail, ensure};
use std::cell::RefCell;
use std::path::Path;
use sysdyno_analyze::compare::WorkProfile;
use sysdyno_analyze::work::conclude;
use sysdyno_plan::options::Combine;
use sysdyno_plan::{WorkDraft, forecast};
use sysdyno_record::analysis::VerdictStatus;
use sysdyno_record::event::{Event, EventKind, SettingHeld, undone};
use sysdyno_record::manifest::{RunKind, RunStatus};
use sysdyno_record::plan::Plan;
use sysdyno_record::store::{Remains, Run, RunWriter};
use sysdyno_record::work::{Ending, Step, WorkLine, WorkPlan, WorkSummary};
use sysdyno_report::escape;
use sysdyno_report::work::{WorkInput, document, page, screen};
use sysdyno_run::RunError;
use sysdyno_run::clock;
use sysdyno_run::work::{Manner, Overseer, run};

/// Does the work that was asked for, and prints what came of it.
pub fn work(args: LoadArgs, ui: &Ui) -> anyhow::Result<Exit> {
    // Settings of loads are not meant for it.
    let LoadArgs { work, load, target, server: servers, .. } = args;
    let is_shown = work.show_output;
    let plan = WorkDraft { work, load, target, servers }.finish()?;
    let form = form(args.output.form())?;
    if args.dry_run {
        ui.note(&format!("dry run: {}", escape::terminal(&forecast::work(&plan), 1000)));
        ui.print_json(&plan)?;
        return Ok(Exit::Done);
    }
    ui.note(&escape::terminal(&forecast::work(&plan), 1000));
    let runs_dir = args.record.or(SettingsFile::read()?.record).folder()?;
    let signals = Signals::listen().context("cannot listen to signals")?;
    let manner = Manner { is_shown, ..Manner::default() };
    let live = RefCell::default();
    let worked = record(&plan, (&runs_dir, manner, &live), &signals, ui, |_, do_work| {
        do_work(&[])?;
        Ok(Vec::new())
    })?;
    print(&worked.run, &plan, form, ui)?;
    Ok(match exit(&worked.summary) {
        _ if signals.is_interrupted() => Exit::Interrupted,
        Exit::Done | Exit::CheckFailed if worked.run.manifest.status == RunStatus::Failed => Exit::Untrusted,
        exit => exit,
    })
}

/// Work that is done.
pub struct Worked {
    /// As its folder tells it.
    pub run: Run,
    /// What came of it.
    pub summary: WorkSummary,
}

/// Does work under settings that are held.
pub type DoWork<'a> = &'a mut dyn FnMut(&[SettingHeld]) -> Result<(), RunError>;

/// Does work in a run folder of its own, tells `live`, and writes its report. `around` is given the name of the run and what does it,
/// under settings that are written down; it returns those that were not restored.
pub fn record(
    plan: &WorkPlan,
    (runs_dir, manner, live): (&Path, Manner<'_>, &RefCell<LiveOutput>),
    signals: &Signals,
    ui: &Ui,
    around: impl FnOnce(String, DoWork<'_>) -> anyhow::Result<Vec<String>>,
) -> anyhow::Result<Worked> {
    let mut writer = RunWriter::create(runs_dir, new_run(RunKind::Load)?)?;
    if let Err(error) = writer.plan(&Plan::Work(plan.clone())) {
        return Err(fail(writer, error.into()));
    }
    live.borrow_mut().begin(writer.id(), RunKind::Load);
    let (mut operations, mut held) = (Vec::new(), Vec::new());
    let name = writer.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let done = around(name, &mut |settings| {
        held = settings.to_vec();
        mark(&mut writer, live, held.iter().cloned().map(EventKind::Setting))?;
        operations = run(plan, manner, &mut writer, &mut Foreman { ui, signals, live })?;
        Ok(())
    });
    let undone = done.and_then(|left| Ok(mark(&mut writer, live, undone(&held, &left))?));
    if let Err(error) = undone {
        live.borrow_mut().fail(writer.manifest(), &error.to_string(), ui);
        return Err(fail(writer, error));
    }
    // What cannot be written any more is remembered by the writer, and told at the end.
    let _ = writer.close();
    let mut run = read_back(&writer, Some(Remains { operations, ..Remains::default() }))?;
    run.plan.get_or_insert_with(|| Plan::Work(plan.clone()));
    let summary = conclude(plan, &run.operations, &run.series);
    let _ = writer.work(&summary);
    run.work = Some(summary.clone());
    let is_interrupted = signals.is_interrupted();
    let status = if is_interrupted { RunStatus::Interrupted } else { RunStatus::Complete };
    let reason = is_interrupted.then(|| "interrupted by a signal".into());
    let page = |run: &Run| page(&WorkInput::new(run, plan, &summary));
    finish(writer, &mut run, (status, reason), Some(page), ui);
    live.borrow_mut().end(&run.manifest, None, ui);
    Ok(Worked { run, summary })
}

/// Writes marks down, and tells them.
fn mark(
    writer: &mut RunWriter,
    live: &RefCell<LiveOutput>,
    events: impl Iterator<Item = EventKind>,
) -> Result<(), RunError> {
    for event in events {
        let event = Event { mono_ns: clock::monotonic(), event };
        writer.event(&event)?;
        live.borrow_mut().mark(&event);
    }
    Ok(())
}

/// A record of work as comparisons see it.
pub fn profile(path: &Path) -> anyhow::Result<WorkProfile> {
    let run = Run::open(path, &is_living)?;
    let Some(Plan::Work(plan)) = &run.plan else {
        bail!("cannot compare '{}': it is not a record of work", path.display())
    };
    Ok(WorkProfile {
        id: run.manifest.id.clone(),
        started_unix_ns: run.manifest.started_unix_ns,
        described: String::new(),
        summary: summary(&run, plan),
        is_whole: run.manifest.status == RunStatus::Complete && !run.is_incomplete,
    })
}

/// Prints a record of work as `load` and `show` do.
pub fn print(run: &Run, plan: &WorkPlan, form: OutputForm, ui: &Ui) -> anyhow::Result<()> {
    let form = self::form(form)?;
    let summary = summary(run, plan);
    let input = WorkInput::new(run, plan, &summary);
    ui.print(&match form {
        OutputForm::Json => format!("{:#}", document(&input)),
        _ => screen(&input, &ui.style()),
    });
    Ok(())
}

/// The page of a record of work.
pub fn report(run: &Run, plan: &WorkPlan) -> String {
    page(&WorkInput::new(run, plan, &summary(run, plan)))
}

/// The exit code that a record of work has again.
pub fn exit_of(run: &Run, plan: &WorkPlan) -> Exit {
    exit(&summary(run, plan))
}

fn summary(run: &Run, plan: &WorkPlan) -> WorkSummary {
    run.work.clone().unwrap_or_else(|| conclude(plan, &run.operations, &run.series))
}

fn exit(summary: &WorkSummary) -> Exit {
    match summary.verdict.status {
        VerdictStatus::Invalid => Exit::Untrusted,
        VerdictStatus::Valid | VerdictStatus::Suspect => Exit::Done,
    }
}

fn form(form: OutputForm) -> anyhow::Result<OutputForm> {
    let is_known = matches!(form, OutputForm::Text | OutputForm::Json);
    ensure!(
        is_known,
        "cannot print work in this format: it is for requests\nhint: --output json has every run"
    );
    Ok(form)
}

/// Looks on, and says what did not succeed as it happens, once for each way.
struct Foreman<'a> {
    ui: &'a Ui,
    signals: &'a Signals,
    live: &'a RefCell<LiveOutput>,
}

impl Overseer for Foreman<'_> {
    fn line(&mut self, line: &WorkLine) {
        self.live.borrow_mut().operation(line);
        let WorkLine::Command(run) = line else { return };
        let is_bad = !matches!(run.ending, Ending::Exit(0) | Ending::Interrupted);
        if run.step == Step::WarmUp && is_bad {
            self.ui.note("note: the warm-up run failed");
        }
    }

    fn left(&mut self, told: &str) {
        self.ui.note(&format!("note: {}", escape::terminal(told, 1000)));
    }

    fn is_interrupted(&mut self) -> bool {
        self.signals.is_interrupted()
    }
}
