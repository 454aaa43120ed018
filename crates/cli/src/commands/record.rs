//! What `load`, `run` and `demo` have in common: a folder is made, a plan is run, conclusions are drawn and printed.

use super::agent::{reach, reach_generators};
use crate::args::OutputForm;
use crate::exit::Exit;
use crate::fence::{self, Others};
use crate::here::draw_seed;
use crate::ui::{Console, LiveOutput, Onlookers, ProbeLog, Signals, Ui};
use anyhow::Context;
use std::cell::RefCell;
use std::net::SocketAddr;
use std::path::Path;
use sysdyno_analyze::analyze;
use sysdyno_observe::describe_process;
use sysdyno_plan::options::ServerOptions;
use sysdyno_record::analysis::Analysis;
use sysdyno_record::event::{EventKind, ProcessRole};
use sysdyno_record::load::LatencySet;
use sysdyno_record::manifest::{Manifest, RunKind, RunStatus, Tool};
use sysdyno_record::plan::{LoadPlan, Plan};
use sysdyno_record::store::{NewRun, Remains, Run, RunWriter};
use sysdyno_report::output::{ab, csv, spectrum};
use sysdyno_report::{ReportInput, escape, html, json, terminal};
use sysdyno_run::RunError;
use sysdyno_run::agent::{Generator, LoadGuard, LocalAgent};
use sysdyno_run::clock;
use sysdyno_run::execute::{Hosts, RunJournal};

/// What a session needs besides its plan.
pub struct Session<'a> {
    /// The command.
    pub kind: RunKind,
    /// Folder of all runs.
    pub runs_dir: &'a Path,
    /// Form of the result.
    pub form: OutputForm,
    /// File for the lines of the probes.
    pub probe_log: Option<&'a Path>,
    /// The hosts of the server and of the generators.
    pub server: &'a ServerOptions,
    /// Addresses of services that the server asks, on its host.
    pub behind: &'a [SocketAddr],
    /// What may be loaded; a word of the user that was asked for is kept.
    pub guard: &'a RefCell<LoadGuard>,
    /// Who looks on besides the console.
    pub live: &'a RefCell<LiveOutput>,
}

impl Session<'_> {
    /// The command that sends such a load, for hints.
    fn command(&self) -> &'static str {
        if self.kind == RunKind::Run { "run" } else { "load" }
    }
}

/// A run that is over.
pub struct Recorded {
    /// As its folder tells it.
    pub run: Run,
    /// What was concluded.
    pub analysis: Analysis,
    /// Whether a signal ended it.
    pub is_interrupted: bool,
}

impl Recorded {
    /// How the program ends.
    pub fn exit(&self) -> Exit {
        match self.run.manifest.status {
            _ if self.is_interrupted => Exit::Interrupted,
            // A host was lost, or the record is not complete.
            RunStatus::Failed => Exit::Untrusted,
            _ => Exit::of(&self.analysis),
        }
    }
}

/// Runs a plan from beginning to end, and prints the result.
pub fn record(
    session: &Session<'_>,
    plan: &Plan,
    ui: &Ui,
    execute: impl FnOnce(Hosts<'_>, &mut RunJournal<'_>) -> Result<(), RunError>,
) -> anyhow::Result<Exit> {
    let recorded = record_quietly(session, plan, ui, execute)?;
    print(&recorded.run, &ReportInput::new(&recorded.run, &recorded.analysis), session.form, ui);
    Ok(recorded.exit())
}

/// Runs a plan from beginning to end, and writes its report.
pub fn record_quietly(
    session: &Session<'_>,
    plan: &Plan,
    ui: &Ui,
    execute: impl FnOnce(Hosts<'_>, &mut RunJournal<'_>) -> Result<(), RunError>,
) -> anyhow::Result<Recorded> {
    let signals = Signals::listen().context("cannot listen to signals")?;
    let probe_log = session.probe_log.map(ProbeLog::create).transpose()?;
    let mut server = reach(session.server, plan.load().map(|load| &load.target.endpoint), ui)?;
    let mut fleet = reach_generators(session.server, ui)?;
    let others = Others { fleet: fleet.as_mut(), server: server.as_mut() };
    fence::pass(&fence::goals(plan, session.command()), &mut session.guard.borrow_mut(), others, ui)?;
    let guard = session.guard.borrow().clone();
    fleet.iter_mut().for_each(|fleet| fleet.guard(guard.clone()));
    let described = fleet.as_mut().map(|fleet| fleet.describe_hosts()).transpose()?;
    let mut writer = RunWriter::create(session.runs_dir, new_run(session.kind)?)?;
    let begun = writer.plan(plan);
    let begun = begun.and_then(|()| described.iter().try_for_each(|hosts| writer.generators(hosts)));
    if let Err(error) = begun {
        return Err(fail(writer, error.into()));
    }
    let mut console = Console::new(*ui, signals.clone())
        .with_probes(plan.load().map_or_else(Vec::new, LoadPlan::probed), probe_log);
    let live = &mut *session.live.borrow_mut();
    live.begin(writer.id(), session.kind);
    let (executed, lost, remains) = {
        let mut onlookers = Onlookers { console: &mut console, live };
        let mut journal = RunJournal::new(&mut writer, &mut onlookers);
        let mut local = LocalAgent::guarded(guard);
        let generator: &mut dyn Generator = match &mut fleet {
            Some(fleet) => fleet,
            None => &mut local,
        };
        let hosts = Hosts { generator, server: server.as_mut(), behind: session.behind, services: None };
        let executed = execute(hosts, &mut journal);
        (executed, journal.lost().map(str::to_owned), journal.remains())
    };
    let at_end = fleet.as_mut().zip(described).map(|(fleet, hosts)| fleet.at_end(hosts));
    drop((server, fleet));
    console.clear();
    let logged = console.take_probe_log().map_or(Ok(()), ProbeLog::finish);
    if let Err(error) = executed {
        live.fail(writer.manifest(), &error.to_string(), ui);
        return Err(fail(writer, error.into()));
    }
    // From here on there is a result. What cannot be written any more is remembered by the writer, and told at the end.
    let _ = at_end.iter().try_for_each(|hosts| writer.generators(hosts)).and_then(|()| writer.close());
    let mut run = read_back(&writer, remains)?;
    run.plan.get_or_insert_with(|| plan.clone());
    let analysis = analyze(&run.view());
    let _ = writer.analysis(&analysis);
    let is_interrupted = signals.is_interrupted();
    let ending = match lost {
        _ if is_interrupted => (RunStatus::Interrupted, Some("interrupted by a signal".to_owned())),
        Some(lost) => (RunStatus::Failed, Some(lost)),
        None => (RunStatus::Complete, None),
    };
    let page = |run: &Run| html::render(&ReportInput::new(run, &analysis));
    finish(writer, &mut run, ending, Some(page), ui);
    warn_of_missing_target(&run, ui);
    if let Err(error) = logged {
        ui.note(&format!("warning: {error:#}"));
        run.manifest.status = RunStatus::Failed;
    }
    live.end(&run.manifest, Some(&ReportInput::new(&run, &analysis)), ui);
    Ok(Recorded { run, analysis, is_interrupted })
}

/// Marks a run as failed that came to no result; the error is handed back.
pub fn fail(writer: RunWriter, error: anyhow::Error) -> anyhow::Error {
    // If the folder cannot be written, it is the error that says so, too.
    let _ = writer.finish(RunStatus::Failed, Some(format!("{error:#}")), clock::wall());
    error
}

/// A run as its folder tells it, with what could not be written.
pub fn read_back(writer: &RunWriter, remains: Option<Remains>) -> anyhow::Result<Run> {
    let mut run = Run::open(writer.path(), &is_living)?;
    if let Some(remains) = remains {
        run.complete_with(remains);
    }
    Ok(run)
}

/// Ends the folder of a run, whose result is known, and writes its page, if it has one. What cannot be written is said, and is in the
/// manifest of `run`.
pub fn finish(
    writer: RunWriter,
    run: &mut Run,
    (status, reason): (RunStatus, Option<String>),
    page: Option<impl FnOnce(&Run) -> String>,
    ui: &Ui,
) {
    let mut failure = writer.failure().map(str::to_owned);
    let manifest = writer.manifest().clone();
    run.manifest = match writer.finish(status, reason, clock::wall()) {
        Ok(ended) => ended,
        Err(error) => {
            let reason = failure.get_or_insert(error.to_string()).clone();
            Manifest { status: RunStatus::Failed, reason: Some(reason), ..manifest }
        }
    };
    // The last lines are written when the folder is ended.
    if failure.is_none() && status == RunStatus::Complete && run.manifest.status == RunStatus::Failed {
        failure.clone_from(&run.manifest.reason);
    }
    if failure.is_none()
        && let Some(page) = page
        && let Err(error) = run.write_report(&page(run))
    {
        failure = Some(error.to_string());
        // Whether the folder can still say so changes nothing for whoever reads the result now.
        let _ = run.fail(error.to_string());
    }
    if let Some(failure) = failure {
        say_incomplete(&failure, ui);
    }
}

/// Says that the folder of a run does not hold all of its result.
pub(super) fn say_incomplete(failure: &str, ui: &Ui) {
    ui.note(&format!("error: the record of this run is incomplete: {failure}"));
    ui.note("hint: the result above is valid; free some disk space, or use another --runs-dir");
}

/// Says so when the server's processes were not found: without root, those of other users are not.
fn warn_of_missing_target(run: &Run, ui: &Ui) {
    let is_target =
        |kind: &EventKind| matches!(kind, EventKind::Watched(process) if process.role == ProcessRole::Target);
    if !run.events.iter().any(|event| is_target(&event.event)) {
        ui.note("note: the server's processes were not found, so the analysis does not cover them");
        ui.note(match (rustix::process::geteuid().is_root(), run.server.is_some()) {
            (_, true) => {
                "hint: use --server-sudo to look as root there, or --watch-pid for processes on \
                          that host"
            }
            (true, false) => {
                "hint: use --server HOST for another host (over ssh, or as netns:NAME), or \
                              --watch-pid for processes on this one"
            }
            (false, false) => {
                "hint: use sudo to see processes of other users, --watch-pid to name them, or \
                               --server HOST for another host"
            }
        });
    }
}

/// Prints a run as `run`, `load` and `show` do.
pub fn print(run: &Run, input: &ReportInput<'_>, form: OutputForm, ui: &Ui) {
    let nothing = LatencySet::default();
    let latency = run.latency.get(&input.analysis.shown_trial).unwrap_or(&nothing);
    let text = match form {
        OutputForm::Text => return ui.print(&terminal::render(input, &ui.style())),
        // Was printed while it happened.
        OutputForm::Jsonl => None,
        OutputForm::Json => Some(format!("{:#}", document(input))),
        OutputForm::Csv => Some(csv::render(input)),
        OutputForm::Hdr => Some(spectrum::render(input, latency)),
        OutputForm::Ab => Some(ab::render(input, latency)),
    };
    text.iter().for_each(|text| ui.print(text));
    let failed = input.analysis.checks.iter().filter(|check| !check.passed);
    failed.for_each(|check| ui.note(&format!("FAILED {}", escape::terminal(&check.sentence, 200))));
}

fn document(input: &ReportInput<'_>) -> serde_json::Value {
    match input.run.plan {
        Some(Plan::Load(_)) => json::load_document(input),
        Some(
            Plan::Run(_) | Plan::Try(_) | Plan::Squeeze(_) | Plan::Work(_) | Plan::Probe(_) | Plan::Watch(_),
        )
        | None => json::run_document(input),
    }
}

/// Whether the process with this pid and start time still runs.
pub fn is_living(pid: u32, start_ticks: u64) -> bool {
    describe_process(pid, ProcessRole::Generator).is_ok_and(|process| process.start_ticks == start_ticks)
}

/// This program.
pub fn tool() -> Tool {
    Tool { version: env!("CARGO_PKG_VERSION").into(), target: env!("SYSDYNO_TARGET").into() }
}

/// A run of this process that begins now.
pub(super) fn new_run(kind: RunKind) -> anyhow::Result<NewRun> {
    let own = describe_process(std::process::id(), ProcessRole::Generator)?;
    let command = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    Ok(NewRun {
        kind,
        tool: tool(),
        clock: clock::pair(),
        command,
        pid: own.pid,
        pid_start_ticks: own.start_ticks,
        suffix: draw_seed() as u32,
    })
}
