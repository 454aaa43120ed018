//! `sysdyno load`: drive load, report what came back.

use super::record::{Session, record};
use crate::args::LoadArgs;
use crate::exit::Exit;
use crate::plan;
use crate::settings::{Combine, Settings};
use crate::ui::Ui;
use sysdyno_lab::execute::{self, Sampling};
use sysdyno_record::manifest::RunKind;
use sysdyno_record::plan::Plan;

pub fn load(args: LoadArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let settings = Settings::read()?;
    let target = args.target.or(settings.target);
    let probe = args.probe.or(settings.probe);
    let mut plan = plan::load(&args.url, &args.load.or(settings.load), &target)?;
    plan::add_probe(&mut plan, &probe)?;
    if args.dry_run {
        ui.note(&format!("would send {}", plan::worst_case(&plan)));
        ui.print(&serde_json::to_string_pretty(&plan)?);
        return Ok(Exit::Done);
    }
    ui.note(&format!("sends {}", plan::worst_case(&plan)));
    let runs_dir = args.record.or(settings.record).folder()?;
    let session = Session {
        kind: RunKind::Load,
        runs_dir: &runs_dir,
        is_json: args.json,
        probe_log: probe.probe_log.as_deref(),
    };
    let sampling = Sampling { hz: plan::SAMPLING_HZ, pids: target.watch_pid };
    record(&session, &Plan::Load(plan.clone()), ui, |agent, journal| {
        execute::load(&plan, &sampling, agent, journal)
    })
}
