//! `sysdyno load`: drive load, report what came back.

use super::record::{Session, record};
use crate::args::{LoadArgs, WorkOptions};
use crate::exit::Exit;
use crate::settings::{Combine, Settings};
use crate::ui::Ui;
use crate::workload;
use crate::{fence, plan, ramp, spread};
use anyhow::ensure;
use std::cell::RefCell;
use sysdyno_record::manifest::RunKind;
use sysdyno_record::plan::Plan;
use sysdyno_run::execute::{self, Sampling};

pub fn load(args: LoadArgs, ui: &Ui) -> anyhow::Result<Exit> {
    if args.work.is_asked() {
        ensure!(
            args.server.load_from.is_empty(),
            "cannot spread commands or file operations over several hosts\nhint: leave out --load-from"
        );
        return super::work::work(args, ui);
    }
    ensure!(
        args.work.workers.is_none(),
        "cannot use --workers for requests\nhint: -c sets connections, -t threads"
    );
    ensure!(
        args.work == WorkOptions::default(),
        "cannot use options for commands and files with a URL\nhint: --command or --files replaces the URL"
    );
    let url = args.url.as_deref().unwrap_or_default();
    let settings = Settings::read()?;
    let target = args.target.or(settings.target);
    let probe = args.probe.or(settings.probe);
    let load = args.load.or(settings.load);
    let mut plan = plan::load(url, &load, &target)?;
    workload::add(&mut plan, &args.workload.or(settings.workload))?;
    workload::add_replay(
        &mut plan,
        &args.replay.or(settings.replay),
        load.duration.map(|duration| duration.0),
    )?;
    ramp::add(&mut plan, &load)?;
    ramp::add_objective(&mut plan, &load)?;
    crate::session::add(&mut plan, &args.session.or(settings.session), &load)?;
    crate::values::add(&mut plan)?;
    plan::add_origin(&mut plan, &args.origin.or(settings.origin), ui)?;
    plan::add_probe(&mut plan, &probe)?;
    let server = args.server.or(settings.server);
    spread::add(&mut plan, &server)?;
    ramp::lines(&plan).iter().for_each(|line| ui.note(line));
    if args.dry_run {
        ui.note(&format!("would send {}", plan::worst_case(&plan)));
        ui.print(&serde_json::to_string_pretty(&plan)?);
        return Ok(Exit::Done);
    }
    ui.note(&format!("sending {}", plan::worst_case(&plan)));
    let guard = RefCell::new(fence::guard(&target, args.fence, None)?);
    let runs_dir = args.record.or(settings.record).folder()?;
    let session = Session {
        kind: RunKind::Load,
        runs_dir: &runs_dir,
        form: args.output.form(),
        probe_log: probe.probe_log.as_deref(),
        server: &server,
        behind: &[],
        guard: &guard,
    };
    let sampling = Sampling { hz: plan::SAMPLING_HZ, pids: target.watch_pid };
    record(&session, &Plan::Load(plan.clone()), ui, |hosts, journal| {
        execute::load(&plan, &sampling, hosts, journal)
    })
}
