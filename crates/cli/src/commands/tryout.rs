//! `sysdyno try`: one change, tried on the live server, proved or refuted, and undone.

use super::record::{fail as give_up, finish, new_run, read_back};
use crate::args::{ComparisonForm, TryArgs};
use crate::exit::Exit;
use crate::fence::{self, Others};
use crate::here::{Here, tuning};
use crate::settings::SettingsFile;
use crate::ui::{Console, LiveOutput, Onlookers, Signals, Ui};
use anyhow::Context;
use std::cell::RefCell;
use std::path::Path;
use sysdyno_analyze::tryout::{Around, Course, conclude};
use sysdyno_plan::options::{Combine, Word};
use sysdyno_plan::{Checked, TimedCommand, TryDraft, forecast};
use sysdyno_record::effect::Comparison;
use sysdyno_record::manifest::{RunKind, RunStatus};
use sysdyno_record::plan::Plan;
use sysdyno_record::store::{Run, RunWriter, list, read_tryout};
use sysdyno_record::tryout::{Action, Calibration, TryConclusion, TryLine, TryPlan};
use sysdyno_report::tryout::TryInput;
use sysdyno_report::{html, json, terminal};
use sysdyno_run::RunError;
use sysdyno_run::agent::{LoadGuard, LocalAgent};
use sysdyno_run::clock;
use sysdyno_run::execute::{RunJournal, TryEnd, TryOrder, Tuning, planned_changes, tryout as execute};
use sysdyno_tune::TuneError;

/// Earlier runs that are looked through for a comparison of this host with itself.
const RUNS_LOOKED_AT: usize = 200;

/// Boots are told apart by their instants, which the wall clock tells to about a minute. Unit: nanoseconds.
const BOOT_APART_NS: u64 = 60_000_000_000;

pub fn try_changes(args: TryArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let ui = &ui.quiet(args.quiet);
    let settings = SettingsFile::read()?;
    let draft = TryDraft {
        changes: args.changes,
        servers: args.servers,
        commands: args.command_a.zip(args.command_b).map(Into::into),
        command: args.command.map(|run| TimedCommand { run, prepare: args.prepare, clean: args.clean }),
        has_shell: args.shell,
        file: args.experiment,
        options: args.options.or(settings.tryout),
        target: args.target.or(settings.target),
        workload: args.workload.or(settings.workload),
    };
    let guard = fence::guard(&draft.target, args.fence, args.state_dir.as_deref())?;
    let Checked { plan, notes } = draft.finish(&Here)?;
    ui.notes(&notes);
    let tuning = tuning(args.root, args.state_dir)?;
    if let Err(error) = check(&plan, &tuning, ui) {
        return failed(error, ui);
    }
    if args.dry_run {
        ui.print_json(&plan)?;
        return Ok(Exit::Done);
    }
    let runs_dir = args.record.or(settings.record).folder()?;
    let form = args.output.form();
    let live = LiveOutput::start(&args.live, ui)?.with_lines(form == ComparisonForm::Jsonl);
    let session = TrySession {
        runs_dir: &runs_dir,
        tuning,
        form,
        live: RefCell::new(live),
        fail_if: &draft.options.fail_if,
        guard,
    };
    session.run(&plan, ui)
}

/// Says what will be changed and what it means, before anything is sent.
fn check(plan: &TryPlan, tuning: &Tuning, ui: &Ui) -> Result<(), RunError> {
    for change in planned_changes(plan, tuning)? {
        ui.note(&format!("{}: {} -> {} in B", change.key, change.before, change.after));
        for note in &change.notes {
            ui.note(&format!("  {note}"));
        }
        if change.key == "net.core.somaxconn" {
            ui.note("warning: a running server keeps its backlog until it calls listen() again");
            ui.note("hint: listener.backlog=N changes it on the running server");
        }
    }
    Ok(())
}

/// What a tryout needs besides its plan.
pub struct TrySession<'a> {
    /// Folder of all runs.
    pub runs_dir: &'a Path,
    /// How settings are changed.
    pub tuning: Tuning,
    /// Form of the result.
    pub form: ComparisonForm,
    /// Who looks on besides the console.
    pub live: RefCell<LiveOutput>,
    /// Words that fail.
    pub fail_if: &'a [Word<Comparison>],
    /// What may be loaded.
    pub guard: LoadGuard,
}

/// A tryout that was run.
pub struct TriedChanges {
    /// How the program ends.
    pub exit: Exit,
    /// As its folder tells it; `None`: it could not be run.
    pub run: Option<Run>,
    /// What came of it; `None`: it ended before its first trial.
    pub conclusion: Option<TryConclusion>,
}

impl TrySession<'_> {
    /// Runs a tryout from beginning to end, and prints the result.
    pub fn run(&self, plan: &TryPlan, ui: &Ui) -> anyhow::Result<Exit> {
        let tried = self.carry_out(plan, ui)?;
        if let (Some(run), Some(conclusion)) = (&tried.run, &tried.conclusion) {
            print(run, conclusion, self.form, ui);
        }
        Ok(tried.exit)
    }

    /// Runs a tryout from beginning to end, and writes its report.
    pub fn carry_out(&self, plan: &TryPlan, ui: &Ui) -> anyhow::Result<TriedChanges> {
        let signals = Signals::listen().context("cannot listen to signals")?;
        let mut guard = self.guard.clone();
        let goals = fence::goals(&Plan::Try(Box::new(plan.clone())), "try");
        fence::pass(&goals, &mut guard, Others::default(), ui)?;
        ui.note(&forecast::tryout(plan));
        let calibration = last_calibration(plan, self.runs_dir);
        let mut writer = RunWriter::create(self.runs_dir, new_run(RunKind::Try)?)?;
        let recorded = Plan::Try(Box::new(plan.clone()));
        if let Err(error) = writer.plan(&recorded) {
            return Err(give_up(writer, error.into()));
        }
        let mut console = Console::new(*ui, signals.clone()).of_tryout(plan);
        let order = TryOrder { plan, tuning: self.tuning.clone(), calibration };
        let live = &mut *self.live.borrow_mut();
        live.begin_tryout(writer.id(), plan);
        let (executed, remains) = {
            let mut onlookers = Onlookers { console: &mut console, live };
            let mut journal = RunJournal::new(&mut writer, &mut onlookers);
            let executed = execute(&order, &mut LocalAgent::guarded(guard), &mut journal);
            (executed, journal.remains())
        };
        console.clear();
        let end = match executed {
            Ok(end) => end,
            Err(error) => {
                live.fail(writer.manifest(), &error.to_string(), ui);
                writer.finish(RunStatus::Failed, Some(error.to_string()), clock::wall())?;
                return Ok(TriedChanges { exit: failed(error, ui)?, run: None, conclusion: None });
            }
        };
        let is_interrupted = signals.is_interrupted();
        let status = if is_interrupted { RunStatus::Interrupted } else { RunStatus::Complete };
        let reason = is_interrupted.then(|| "interrupted by a signal".into());
        let _ = writer.close();
        let mut run = read_back(&writer, remains)?;
        run.plan.get_or_insert(recorded);
        run.conclusion.clone_from(&end.conclusion);
        let report = end.conclusion.as_ref().map(|conclusion| |run: &Run| page(run, conclusion));
        finish(writer, &mut run, (status, reason), report, ui);
        live.end_tryout(&run.manifest, end.conclusion.as_ref(), ui);
        let exit = match self.exit(&end, ui) {
            _ if is_interrupted => Exit::Interrupted,
            Exit::Done | Exit::CheckFailed if run.manifest.status == RunStatus::Failed => Exit::Untrusted,
            exit => exit,
        };
        Ok(TriedChanges { exit, run: Some(run), conclusion: end.conclusion })
    }

    fn exit(&self, end: &TryEnd, ui: &Ui) -> Exit {
        if !end.not_restored.is_empty() {
            ui.note(&format!(
                "error: not restored, because somebody else changed it: {}",
                end.not_restored.join(", ")
            ));
            return Exit::NotRestored;
        }
        let Some(conclusion) = &end.conclusion else { return Exit::CannotRun };
        exit_of(conclusion, self.fail_if)
    }
}

/// The exit of a conclusion: what could not be told for the environment's sake is not to be trusted.
pub fn exit_of(conclusion: &TryConclusion, fail_if: &[Word<Comparison>]) -> Exit {
    let word = conclusion.verdict.word;
    if word == Comparison::CannotTell && !conclusion.verdict.capped_by.is_empty() {
        return Exit::Untrusted;
    }
    match fail_if.contains(&Word(word)) {
        true => Exit::CheckFailed,
        false => Exit::Done,
    }
}

/// Prints a tryout as `try` and `show` do.
pub fn print(run: &Run, conclusion: &TryConclusion, form: ComparisonForm, ui: &Ui) {
    let input = TryInput::new(run, conclusion);
    match form {
        ComparisonForm::Text => ui.print(&terminal::render_tryout(&input, &ui.style())),
        ComparisonForm::Json => ui.print(&format!("{:#}", json::tryout_document(&input))),
        // Was printed while it happened.
        ComparisonForm::Jsonl => {}
    }
}

/// The page of a tryout.
pub fn page(run: &Run, conclusion: &TryConclusion) -> String {
    html::render_tryout(&TryInput::new(run, conclusion))
}

/// The conclusion of a folder, or what follows from its lines where there is none; `None`: it is no tryout, or
/// nothing was settled.
pub fn conclusion_of(run: &Run) -> Option<TryConclusion> {
    let Some(Plan::Try(plan)) = &run.plan else { return None };
    if let Some(conclusion) = &run.conclusion {
        return Some(conclusion.clone());
    }
    let settled = run.tryout.iter().find_map(|line| match line {
        TryLine::Settled(settled) => Some(settled),
        _ => None,
    })?;
    let course = Course::follow(plan, &run.tryout)?;
    let last = course.trials().last().map_or(run.manifest.clock.mono_ns, |trial| trial.end_mono_ns);
    let elapsed_ns = last.since(run.manifest.clock.mono_ns);
    Some(conclude(plan, settled, &course, Around { elapsed_ns, ..Around::default() }))
}

/// Prints an error with the exit code that is its own.
pub(super) fn failed(error: RunError, ui: &Ui) -> anyhow::Result<Exit> {
    let exit = match &error {
        RunError::Tune(TuneError::NotDurable { .. }) => Exit::NotDurable,
        RunError::Tune(TuneError::Write { is_restored: false, .. }) => Exit::NotRestored,
        RunError::Tune(_) | RunError::Command { .. } | RunError::Pilot { .. } | RunError::Impossible(_) => {
            Exit::CannotRun
        }
        _ => return Err(error.into()),
    };
    ui.note(&format!("error: {error}"));
    Ok(exit)
}

/// The newest comparison of this host with itself by the same metric under the same load.
fn last_calibration(plan: &TryPlan, runs_dir: &Path) -> Option<Calibration> {
    let now = clock::pair();
    let listed = list(runs_dir).ok()?;
    for listing in listed.into_iter().take(RUNS_LOOKED_AT) {
        let Ok(manifest) = listing.manifest else { continue };
        if manifest.kind != RunKind::Try || manifest.status != RunStatus::Complete {
            continue;
        }
        let Ok(Some((earlier, conclusion))) = read_tryout(&listing.path) else { continue };
        if !earlier.is_calibration || !is_alike(&earlier, plan) {
            continue;
        }
        let boot = |mono_ns: u64, unix_ns: u64| unix_ns.saturating_sub(mono_ns);
        let (then, today) =
            (boot(manifest.clock.mono_ns.0, manifest.clock.unix_ns.0), boot(now.mono_ns.0, now.unix_ns.0));
        return Some(Calibration {
            run: manifest.id,
            age_s: now.unix_ns.0.saturating_sub(manifest.started_unix_ns.0) / 1_000_000_000,
            detectable_ratio: conclusion.resolution?.detectable_ratio,
            elapsed_ns: conclusion.elapsed_ns,
            verdict: conclusion.verdict,
            is_of_earlier_boot: then.abs_diff(today) > BOOT_APART_NS,
        });
    }
    None
}

/// Whether two tryouts measure the same thing under the same load.
fn is_alike(one: &TryPlan, other: &TryPlan) -> bool {
    let load = |plan: &TryPlan| {
        plan.load().map(|load| {
            (load.target.url.clone(), load.connections, load.keep_alive, load.request.method.clone())
        })
    };
    let command = |plan: &TryPlan| match &plan.variants[0].action {
        Action::Command(command) => Some(command.text.clone()),
        _ => plan.command.as_ref().map(|command| command.run.text.clone()),
    };
    one.metric == other.metric
        && one.rate == other.rate
        && load(one) == load(other)
        && command(one) == command(other)
}
