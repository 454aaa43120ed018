//! `sysdyno run`: the capacity of a server, and what limits it.

use super::record::{Session, record};
use crate::args::{OutputForm, RunArgs};
use crate::exit::Exit;
use crate::fence;
use crate::plan;
use crate::settings::{Combine, Settings};
use crate::spread;
use crate::ui::Ui;
use crate::workload;
use std::cell::RefCell;
use sysdyno_analyze::search::Search;
use sysdyno_record::manifest::RunKind;
use sysdyno_record::plan::{Plan, RunPlan};
use sysdyno_record::units::SpanNs;
use sysdyno_run::execute;

pub fn run(args: RunArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let settings = Settings::read()?;
    let capacity = args.capacity.or(settings.run);
    let probe = args.probe.or(settings.probe);
    let target = args.target.or(settings.target);
    let mut plan = plan::run(&args.url, &capacity, &target)?;
    workload::add(&mut plan.load, &args.workload.or(settings.workload))?;
    crate::values::add(&mut plan.load)?;
    plan.need = workload::need(&args.need.or(settings.need))?.map(Box::new);
    plan::add_origin(&mut plan.load, &args.origin.or(settings.origin), ui)?;
    plan::add_probe(&mut plan.load, &probe)?;
    let server = args.server.or(settings.server);
    spread::add_to_search(&mut plan, &server)?;
    plan::limit_time(&mut plan, capacity.effort.unwrap_or_default());
    ui.note(&forecast(&plan));
    if args.dry_run {
        ui.print(&serde_json::to_string_pretty(&plan)?);
        return Ok(Exit::Done);
    }
    let guard = RefCell::new(fence::guard(&target, args.fence, None)?);
    let runs_dir = args.record.or(settings.record).folder()?;
    let session = Session {
        kind: RunKind::Run,
        runs_dir: &runs_dir,
        form: OutputForm::of_json(args.json),
        probe_log: probe.probe_log.as_deref(),
        server: &server,
        behind: &[],
        guard: &guard,
    };
    search(&session, &plan, ui)
}

/// Looks for the capacity and prints it.
pub fn search(session: &Session<'_>, plan: &RunPlan, ui: &Ui) -> anyhow::Result<Exit> {
    record(session, &Plan::Run(plan.clone()), ui, |hosts, journal| execute::run(plan, hosts, journal))
}

/// What a search will do, before its first request.
fn forecast(plan: &RunPlan) -> String {
    let left: SpanNs = Search::new(plan).remaining();
    let ceiling = plan
        .search
        .max_rate_hz
        .map_or("its capacity".into(), |rate| format!("{rate:.0} requests per second"));
    let at_most =
        plan.search.limit.map_or(String::new(), |limit| format!(", at most {:.0} s", limit.seconds()));
    format!(
        "searching for the capacity of {} over {} connections, up to {ceiling}; takes about {:.0} s{at_most}",
        plan.load.target.url,
        plan.load.connections,
        left.seconds()
    )
}
