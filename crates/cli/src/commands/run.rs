//! `sysdyno run`: the capacity of a server, and what limits it.

use super::load::profile_request;
use super::prove::{ProveSession, announce, list_changes, may_prove};
use super::record::{Recorded, Session, print, record, record_quietly, say_incomplete};
use crate::args::{OutputForm, RunArgs};
use crate::exit::Exit;
use crate::fence;
use crate::here::{Here, tuning};
use crate::settings::SettingsFile;
use crate::ui::{LiveOutput, Ui};
use std::cell::RefCell;
use sysdyno_analyze::analyze;
use sysdyno_plan::options::Combine;
use sysdyno_plan::{BaseDraft, Checked, SearchDraft, SearchUse, forecast};
use sysdyno_record::manifest::RunKind;
use sysdyno_record::plan::{Plan, RunPlan};
use sysdyno_record::proof::FindingProof;
use sysdyno_record::view::RunView;
use sysdyno_report::{ReportInput, html};
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
        prove: args.prove,
        used: SearchUse::Alone,
    };
    let Checked { plan, notes } = draft.finish(&Here)?;
    let is_profiled = args.profile && !args.dry_run;
    let profile = is_profiled.then(|| profile_request(&draft.draft.servers)).transpose()?;
    ui.notes(&notes);
    ui.note(&forecast::search(&plan));
    plan.prove.iter().for_each(|prove| announce(prove, ui));
    if args.dry_run {
        plan.prove.iter().for_each(|_| list_changes(ui));
        ui.print_json(&plan)?;
        return Ok(Exit::Done);
    }
    if profile.is_some() {
        ui.note(
            "afterwards, the highest load that met the objective, and a fifth of it, 10 s each, for profiles",
        );
    }
    let tuning = match plan.prove {
        Some(_) => Some(may_prove().and_then(|()| tuning("/".into(), args.state_dir.clone()))?),
        None => None,
    };
    let BaseDraft { target, workload, probe, servers, .. } = draft.draft;
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
    let Some(tuning) = tuning else { return search(&session, &plan, profile.as_ref(), ui) };
    let prover = ProveSession {
        runs_dir: &runs_dir,
        tuning: &tuning,
        guard: &guard,
        target: &target,
        workload: &workload,
    };
    search_and_prove((&session, &prover), &plan, profile.as_ref(), ui)
}

/// Looks for the capacity, tries what was found, and prints all of it.
fn search_and_prove(
    (session, prover): (&Session<'_>, &ProveSession<'_>),
    plan: &RunPlan,
    profile: Option<&ProfileRequest>,
    ui: &Ui,
) -> anyhow::Result<Exit> {
    let mut recorded = record_quietly(session, &Plan::Run(plan.clone()), ui, |hosts, journal| {
        execute::run(plan, profile, hosts, journal)
    })?;
    let mut exit = None;
    match (recorded.exit(), &plan.prove) {
        (Exit::Done | Exit::CheckFailed, Some(prove)) => {
            let proved = prover.prove((plan, prove), (&recorded.run, &recorded.analysis), ui);
            exit = proved.exit;
            conclude_again(&mut recorded, proved.proofs, ui);
        }
        (Exit::Interrupted, _) => {}
        _ => ui.note("nothing was tried: a run that is not to be trusted has nothing to prove"),
    }
    print(&recorded.run, &ReportInput::new(&recorded.run, &recorded.analysis), session.form, ui);
    Ok(exit.unwrap_or_else(|| recorded.exit()))
}

/// Concludes from a run and from what was tried after it. What cannot be written is said, and the result stays.
fn conclude_again(recorded: &mut Recorded, proofs: Vec<FindingProof>, ui: &Ui) {
    recorded.analysis = analyze(&RunView { proofs: &proofs, ..recorded.run.view() });
    let page = html::render(&ReportInput::new(&recorded.run, &recorded.analysis));
    let written = recorded.run.prove(proofs, &recorded.analysis);
    if let Err(error) = written.and_then(|()| recorded.run.write_report(&page)) {
        say_incomplete(&error.to_string(), ui);
        // Whether the folder can still say so changes nothing for whoever reads the result now.
        let _ = recorded.run.fail(error.to_string());
    }
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
