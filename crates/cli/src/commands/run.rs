//! `sysdyno run`: the capacity of a server, and what limits it.

use super::load::profile_request;
use super::record::{Session, record};
use crate::args::{OutputForm, RunArgs};
use crate::exit::Exit;
use crate::fence;
use crate::here::Here;
use crate::settings::SettingsFile;
use crate::ui::{LiveOutput, Ui};
use std::cell::RefCell;
use sysdyno_plan::options::Combine;
use sysdyno_plan::{BaseDraft, Checked, SearchDraft, SearchUse, forecast};
use sysdyno_record::manifest::RunKind;
use sysdyno_record::plan::{Plan, RunPlan};
use sysdyno_run::execute;
use sysdyno_run::profiling::ProfileRequest;

pub fn run(args: RunArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let ui = &ui.quiet(args.quiet);
    let form = args.output.form();
    let settings = SettingsFile::read()?;
    let draft = SearchDraft {
        draft: BaseDraft {
            url: args.url,
            target: args.target.or(settings.target),
            workload: args.workload.or(settings.workload),
            origin: args.origin.or(settings.origin),
            probe: args.probe.or(settings.probe),
            servers: super::fleet::expanded(args.server.or(settings.server))?,
            is_in_lab: false,
        },
        capacity: args.capacity.or(settings.run),
        need: args.need.or(settings.need),
        used: SearchUse::Alone,
    };
    let Checked { plan, notes } = draft.finish(&Here)?;
    let is_profiled = args.profile && !args.dry_run;
    let profile = is_profiled.then(|| profile_request(&draft.draft.servers)).transpose()?;
    ui.notes(&notes);
    ui.note(&forecast::search(&plan));
    if args.dry_run {
        ui.print_json(&plan)?;
        return Ok(Exit::Done);
    }
    if profile.is_some() {
        ui.note(
            "afterwards, the highest load that met the objective, and a fifth of it, 10 s each, for profiles",
        );
    }
    let BaseDraft { target, probe, servers, .. } = draft.draft;
    let guard = RefCell::new(fence::guard(&target, args.fence, None)?);
    let runs_dir = args.record.or(settings.record).folder()?;
    let live = LiveOutput::start(&args.live, ui)?.with_lines(form == OutputForm::Jsonl);
    let live = RefCell::new(live);
    let session = Session {
        kind: RunKind::Run,
        runs_dir: &runs_dir,
        form,
        probe_log: probe.probe_log.as_deref(),
        server: &servers,
        behind: &[],
        guard: &guard,
        live: &live,
    };
    search(&session, &plan, profile.as_ref(), ui)
}

/// Looks for the capacity and prints it.
pub fn search(
    session: &Session<'_>,
    plan: &RunPlan,
    profile: Option<&ProfileRequest>,
    ui: &Ui,
) -> anyhow::Result<Exit> {
    record(session, &Plan::Run(plan.clone()), ui, |hosts, journal| {
        execute::run(plan, profile, hosts, journal)
    })
}
