//! `sysdyno load`: drive load, report what came back.

use super::record::{Session, record};
use crate::args::{LoadArgs, OutputForm};
use crate::exit::Exit;
use crate::fence;
use crate::here::Here;
use crate::settings::SettingsFile;
use crate::ui::{LiveOutput, Ui};
use anyhow::bail;
use std::cell::RefCell;
use sysdyno_plan::options::{Combine, ServerOptions, Typed};
use sysdyno_plan::{BaseDraft, Checked, LoadDraft, SAMPLING_HZ, forecast};
use sysdyno_record::manifest::RunKind;
use sysdyno_record::place::{HostPlace, HostWay};
use sysdyno_record::plan::{LoadPlan, PhaseKind, Plan};
use sysdyno_run::execute::{self, SamplingPlan};
use sysdyno_run::profiling::{ProfileRequest, check_profile};

/// Samples of each CPU per second, beside what happens a hundred times a second.
const RATE_HZ: u32 = 99;

pub fn load(args: LoadArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let ui = &ui.quiet(args.quiet);
    if args.work.is_asked() {
        return super::work::work(args, ui);
    }
    let form = args.output.form();
    let settings = SettingsFile::read()?;
    let draft = LoadDraft {
        draft: BaseDraft {
            url: args.url.unwrap_or_default(),
            target: args.target.or(settings.target),
            workload: args.workload.or(settings.workload),
            origin: args.origin.or(settings.origin),
            probe: args.probe.or(settings.probe),
            servers: super::fleet::expanded(args.server.or(settings.server))?,
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
    forecast::few_samples(&plan).iter().for_each(|line| ui.note(line));
    if args.dry_run {
        ui.note(&format!("would send {}", forecast::load(&plan)));
        ui.print_json(&plan)?;
        return Ok(Exit::Done);
    }
    let profile = args.profile.then(|| load_profile(&plan, &draft.draft.servers)).transpose()?;
    let forecast = forecast::load(&plan);
    let BaseDraft { target, probe, servers, .. } = draft.draft;
    let guard = RefCell::new(fence::guard(&target, args.fence, None)?);
    let runs_dir = args.record.or(settings.record).folder()?;
    let live = LiveOutput::start(&args.live, ui)?.with_lines(form == OutputForm::Jsonl);
    ui.note(&format!("sending {forecast}"));
    if profile.is_some() {
        ui.note("afterwards, the same load once more for a profile, at most 10 s");
    }
    let live = RefCell::new(live);
    let session = Session {
        kind: RunKind::Load,
        runs_dir: &runs_dir,
        form,
        probe_log: probe.probe_log.as_deref(),
        server: &servers,
        behind: &[],
        guard: &guard,
        live: &live,
    };
    let sampling = SamplingPlan { hz: SAMPLING_HZ, pids: target.watch_pid };
    record(&session, &Plan::Load(plan.clone()), ui, |hosts, journal| {
        execute::load(&plan, &sampling, profile.as_ref(), hosts, journal)
    })
}

/// The profile of a load, where one can be taken: it has one rate, and all of it is on this host.
pub fn load_profile(plan: &LoadPlan, servers: &ServerOptions) -> anyhow::Result<ProfileRequest> {
    let steady = plan.phases.iter().filter(|phase| phase.kind == PhaseKind::Steady).count();
    let is_level = plan.workload.slopes.is_empty() && plan.workload.clients.is_empty();
    if steady != 1 || !is_level {
        bail!(
            "cannot profile this load: its rate changes\nhint: use --profile with a single rate, or without --rate"
        );
    }
    profile_request(servers)
}

/// A profile of the server's host: of this one, unless ssh or a fleet leads to it.
pub fn profile_request(servers: &ServerOptions) -> anyhow::Result<ProfileRequest> {
    let is_elsewhere = |place: &Typed<HostPlace>| matches!(place.0.way, HostWay::Ssh(_) | HostWay::Fleet(_));
    if !servers.server.as_ref().is_some_and(is_elsewhere) {
        check_profile(&ProfileRequest::of_host(RATE_HZ))?;
    }
    Ok(ProfileRequest::of_host(RATE_HZ))
}
