//! `sysdyno load`: drive load, report what came back.

use super::record::{Session, record};
use crate::args::LoadArgs;
use crate::exit::Exit;
use crate::fence;
use crate::here::Here;
use crate::settings::SettingsFile;
use crate::ui::Ui;
use std::cell::RefCell;
use sysdyno_plan::options::Combine;
use sysdyno_plan::{BaseDraft, Checked, LoadDraft, SAMPLING_HZ, forecast};
use sysdyno_record::manifest::RunKind;
use sysdyno_record::plan::Plan;
use sysdyno_run::execute::{self, SamplingPlan};

pub fn load(args: LoadArgs, ui: &Ui) -> anyhow::Result<Exit> {
    if args.work.is_asked() {
        return super::work::work(args, ui);
    }
    let settings = SettingsFile::read()?;
    let draft = LoadDraft {
        draft: BaseDraft {
            url: args.url.unwrap_or_default(),
            target: args.target.or(settings.target),
            workload: args.workload.or(settings.workload),
            origin: args.origin.or(settings.origin),
            probe: args.probe.or(settings.probe),
            servers: args.server.or(settings.server),
            is_in_lab: false,
        },
        load: args.load.or(settings.load),
        replay: args.replay.or(settings.replay),
        session: args.session.or(settings.session),
        work: args.work,
    };
    let Checked { plan, notes } = draft.finish(&Here)?;
    ui.notes(&notes);
    forecast::ramp(&plan).iter().for_each(|line| ui.note(line));
    if args.dry_run {
        ui.note(&format!("would send {}", forecast::load(&plan)));
        ui.print_json(&plan)?;
        return Ok(Exit::Done);
    }
    ui.note(&format!("sending {}", forecast::load(&plan)));
    let BaseDraft { target, probe, servers, .. } = draft.draft;
    let guard = RefCell::new(fence::guard(&target, args.fence, None)?);
    let runs_dir = args.record.or(settings.record).folder()?;
    let session = Session {
        kind: RunKind::Load,
        runs_dir: &runs_dir,
        form: args.output.form(),
        probe_log: probe.probe_log.as_deref(),
        server: &servers,
        behind: &[],
        guard: &guard,
    };
    let sampling = SamplingPlan { hz: SAMPLING_HZ, pids: target.watch_pid };
    record(&session, &Plan::Load(plan.clone()), ui, |hosts, journal| {
        execute::load(&plan, &sampling, hosts, journal)
    })
}
