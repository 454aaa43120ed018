//! `sysdyno squeeze`: what a server loses with a little less of each resource.

use super::agent::reach;
use super::record::{fail as give_up, finish, new_run, read_back};
use super::tryout::failed;
use crate::args::SqueezeArgs;
use crate::exit::Exit;
use crate::fence::{self, Others};
use crate::here::{Here, tuning};
use crate::settings::SettingsFile;
use crate::ui::{Console, Signals, Ui};
use anyhow::{Context, ensure};
use std::path::Path;
use sysdyno_analyze::squeeze::{conclude, follow};
use sysdyno_plan::options::{Combine, ServerOptions};
use sysdyno_plan::{Checked, SqueezeDraft, forecast};
use sysdyno_record::manifest::{RunKind, RunStatus};
use sysdyno_record::plan::Plan;
use sysdyno_record::squeeze::{SqueezeConclusion, SqueezePlan};
use sysdyno_record::store::{Remains, Run, RunWriter};
use sysdyno_report::{SqueezeInput, html, json, terminal};
use sysdyno_run::RunError;
use sysdyno_run::agent::{LoadGuard, LocalAgent, RemoteAgent};
use sysdyno_run::clock;
use sysdyno_run::execute::{RunJournal, SqueezeEnd, SqueezeOrder, Tuning, squeeze as execute};

pub fn squeeze(args: SqueezeArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let ui = &ui.quiet(args.quiet);
    let settings = SettingsFile::read()?;
    let draft = SqueezeDraft {
        url: args.url,
        options: args.options.or(settings.squeeze),
        target: args.target.or(settings.target),
        workload: args.workload.or(settings.workload),
    };
    let mut guard = fence::guard(&draft.target, args.fence, args.state_dir.as_deref())?;
    let Checked { plan, notes } = draft.finish(&Here)?;
    ui.notes(&notes);
    if args.dry_run {
        ui.print_json(&plan)?;
        return Ok(Exit::Done);
    }
    ensure!(
        rustix::process::geteuid().is_root(),
        "cannot squeeze: only root can take resources from a server\nhint: run with sudo"
    );
    let tuning = tuning("/".into(), args.state_dir)?;
    let runs_dir = args.record.or(settings.record).folder()?;
    let recorded = Plan::Squeeze(Box::new(plan.clone()));
    let hosts = ServerOptions { server: args.server, ..ServerOptions::default() };
    let mut server = reach(&hosts, plan.tryout.load().map(|load| &load.target.endpoint), ui)?;
    let others = Others { server: server.as_mut(), ..Others::default() };
    fence::pass(&fence::goals(&recorded, "squeeze"), &mut guard, others, ui)?;
    ui.note(&forecast::squeeze(&plan));
    let session = SqueezeSession { tuning: &tuning, guard, runs_dir: &runs_dir, is_json: args.json };
    session.run(&plan, server, ui)
}

/// What a squeeze needs besides its plan.
struct SqueezeSession<'a> {
    /// How settings are changed.
    tuning: &'a Tuning,
    /// What may be loaded.
    guard: LoadGuard,
    /// Folder of all runs.
    runs_dir: &'a Path,
    /// Whether the result is one JSON document.
    is_json: bool,
}

impl SqueezeSession<'_> {
    /// Runs a squeeze from beginning to end, writes its report, and prints the result.
    fn run(&self, plan: &SqueezePlan, server: Option<RemoteAgent>, ui: &Ui) -> anyhow::Result<Exit> {
        let signals = Signals::listen().context("cannot listen to signals")?;
        let recorded = Plan::Squeeze(Box::new(plan.clone()));
        let mut writer = RunWriter::create(self.runs_dir, new_run(RunKind::Squeeze)?)?;
        if let Err(error) = writer.plan(&recorded) {
            return Err(give_up(writer, error.into()));
        }
        let Executed { ended, lost, remains } = self.execute(plan, (server, &mut writer), &signals, ui);
        let end = match ended {
            Ok(end) => end,
            Err(error) => {
                writer.finish(RunStatus::Failed, Some(error.to_string()), clock::wall())?;
                return failed(error, ui);
            }
        };
        let is_interrupted = signals.is_interrupted();
        let ending = match lost {
            _ if is_interrupted => (RunStatus::Interrupted, Some("interrupted by a signal".to_owned())),
            Some(lost) => (RunStatus::Failed, Some(lost)),
            None => (RunStatus::Complete, None),
        };
        let _ = writer.close();
        let mut run = read_back(&writer, remains)?;
        run.plan.get_or_insert(recorded);
        run.squeeze.clone_from(&end.conclusion);
        let report = end.conclusion.as_ref().map(|conclusion| |run: &Run| page(run, conclusion));
        finish(writer, &mut run, ending, report, ui);
        if let Some(conclusion) = &end.conclusion {
            print(&run, conclusion, self.is_json, ui);
        }
        Ok(match exit_of_end(&end, ui) {
            _ if is_interrupted => Exit::Interrupted,
            Exit::Done if run.manifest.status == RunStatus::Failed => Exit::Untrusted,
            exit => exit,
        })
    }

    fn execute(
        &self,
        plan: &SqueezePlan,
        (mut server, writer): (Option<RemoteAgent>, &mut RunWriter),
        signals: &Signals,
        ui: &Ui,
    ) -> Executed {
        let mut console = Console::new(*ui, signals.clone()).of_tryout(&plan.tryout);
        let order = SqueezeOrder { plan, tuning: self.tuning.clone() };
        let mut journal = RunJournal::new(writer, &mut console);
        let mut agent = LocalAgent::guarded(self.guard.clone());
        let ended = execute(&order, (&mut agent, server.as_mut()), &mut journal);
        let (lost, remains) = (journal.lost().map(str::to_owned), journal.remains());
        console.clear();
        Executed { ended, lost, remains }
    }
}

/// What became of the trials.
struct Executed {
    ended: Result<SqueezeEnd, RunError>,
    /// Why the agent in the server's namespace was lost; `None`: it was not.
    lost: Option<String>,
    /// What could not be written.
    remains: Option<Remains>,
}

fn exit_of_end(end: &SqueezeEnd, ui: &Ui) -> Exit {
    if !end.not_restored.is_empty() {
        ui.note(&format!(
            "error: not restored, because somebody else changed it: {}",
            end.not_restored.join(", ")
        ));
        return Exit::NotRestored;
    }
    end.conclusion.as_ref().map_or(Exit::CannotRun, exit_of)
}

/// The exit of a conclusion: of a void one nothing is to be trusted.
pub fn exit_of(conclusion: &SqueezeConclusion) -> Exit {
    if conclusion.void.is_empty() { Exit::Done } else { Exit::Untrusted }
}

/// Prints a squeeze as `squeeze` and `show` do.
pub fn print(run: &Run, conclusion: &SqueezeConclusion, is_json: bool, ui: &Ui) {
    let input = SqueezeInput::new(run, conclusion);
    match is_json {
        true => ui.print(&format!("{:#}", json::squeeze_document(&input))),
        false => ui.print(&terminal::render_squeeze(&input, &ui.style())),
    }
}

/// The page of a squeeze.
pub fn page(run: &Run, conclusion: &SqueezeConclusion) -> String {
    html::render_squeeze(&SqueezeInput::new(run, conclusion))
}

/// The conclusion of a folder, or what follows from its lines where there is none; `None`: it is no squeeze, or nothing was
/// settled.
pub fn conclusion_of(run: &Run) -> Option<SqueezeConclusion> {
    let Some(Plan::Squeeze(plan)) = &run.plan else { return None };
    if let Some(conclusion) = &run.squeeze {
        return Some(conclusion.clone());
    }
    let (found, course) = follow(plan, &run.tryout)?;
    let last = course.trials().last().map_or(run.manifest.clock.mono_ns, |trial| trial.end_mono_ns);
    Some(conclude(plan, &found, &course, last.since(run.manifest.clock.mono_ns)))
}
