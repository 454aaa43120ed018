//! `sysdyno probe`: what an outsider waits, operation by operation.
//!
//! Each target has a thread, so that neither a terminal that is slow to print nor another target delays an operation.

mod kept;
mod watch;

pub use kept::{page, page_of_lines, show, show_lines};

use crate::args::ProbeArgs;
use crate::exit::Exit;
use crate::fence::{self, Others};
use crate::here::Here;
use crate::settings::SettingsFile;
use crate::ui::{ProbeLog, Signals, Ui};
use anyhow::Context;
use kept::Keeper;
use sysdyno_load::LoadError;
use sysdyno_load::probe::Probe;
use sysdyno_plan::options::Combine;
use sysdyno_plan::{PlannedProbe, ProbeDraft};
use sysdyno_record::probe::ProbeConclusion;
use sysdyno_report::probe::{self as text, ProbeInput};
use sysdyno_run::clock;
use watch::ProbeConsole;

pub fn probe(args: ProbeArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let settings = SettingsFile::read()?;
    let draft = ProbeDraft {
        targets: args.targets,
        kind: args.kind,
        count: args.count,
        duration: args.duration.map(|span| span.0),
        interval: args.interval.map(|span| span.0),
        timeout: args.timeout.map(|span| span.0),
    };
    let PlannedProbe { plan, jobs } = draft.finish(&Here)?;
    let mut guard = fence::guard(&settings.target, args.fence, None)?;
    let goals: Vec<_> = plan.targets.iter().map(|probed| fence::probe_goal(probed, "probe")).collect();
    fence::pass(&goals, &mut guard, Others::default(), ui)?;
    let signals = Signals::listen().context("cannot listen to signals")?;
    let mut log = args.log.as_deref().map(ProbeLog::create).transpose()?;
    let probes = jobs.iter().map(Probe::open).collect::<Result<Vec<Probe>, LoadError>>()?;
    let runs_dir = args.kept.record.then(|| args.kept.folder.or(settings.record).folder()).transpose()?;
    let mut keeper = runs_dir.map(|runs_dir| Keeper::begin(&runs_dir, &plan)).transpose()?;
    let opening = text::opening(&plan.targets);
    if !args.json {
        ui.print(&opening);
    }
    log.iter_mut().for_each(|log| log.write(&opening));
    let console = ProbeConsole { ui, signals: &signals, is_quiet: args.json };
    let conclusion = console.watch(&plan.targets, probes, log.as_mut(), keeper.as_mut())?;
    let logged = log.map_or(Ok(()), ProbeLog::finish);
    let is_interrupted = signals.is_interrupted();
    let kept = keeper.map(|keeper| keeper.end(&conclusion, is_interrupted, ui)).transpose()?;
    let input = ProbeInput {
        path: kept.as_ref().map(|run| run.path()),
        tool: None,
        clock: clock::pair(),
        targets: &plan.targets,
        replies: &[],
        conclusion: &conclusion,
        is_interrupted,
        damage: &[],
    };
    print(&input, args.json, ui);
    logged?;
    Ok(exit(&conclusion, is_interrupted))
}

fn print(input: &ProbeInput<'_>, is_json: bool, ui: &Ui) {
    if is_json {
        ui.print(&format!("{:#}", text::document(input)));
    } else {
        ui.print(&text::result(input, &ui.style()));
    }
}

/// A target that never answered is a failed check, unless nobody waited for it.
fn exit(conclusion: &ProbeConclusion, is_interrupted: bool) -> Exit {
    let is_silent = |received_count: u64| received_count == 0;
    let mut received = conclusion.targets.iter().map(|target| target.summary.received_count);
    match (received.any(is_silent), is_interrupted) {
        (true, true) => Exit::Interrupted,
        (true, false) => Exit::CheckFailed,
        _ => Exit::Done,
    }
}
