//! `sysdyno demo`: the main job against a built-in server whose bottleneck is known.
//!
//! Where the bottleneck is one that a setting moves, the loop is closed: it is measured and named, its remedy is tried on
//! the server while it runs, proved, and undone. That needs no rights, since the server is a child of this process.

use super::record::{Session, print, record_quietly};
use super::run::search;
use super::tryout::{TrySession, print as print_tryout};
use crate::args::{ComparisonForm, DemoArgs, FenceOptions, OutputForm, Planted};
use crate::exit::Exit;
use crate::fence;
use crate::here::{Here, program, tuning};
use crate::settings::SettingsFile;
use crate::ui::Ui;
use anyhow::Context;
use std::cell::RefCell;
use std::str::FromStr;
use sysdyno_plan::options::{
    CapacityOptions, Combine, Effort, LoadOptions, ServerOptions, TargetOptions, TryOptions, Typed, Word,
};
use sysdyno_plan::{BaseDraft, Checked, LoadDraft, SAMPLING_HZ, SearchDraft, TryDraft};
use sysdyno_record::manifest::RunKind;
use sysdyno_record::plan::{LoadPlan, Plan};
use sysdyno_record::route::{AllowList, Network};
use sysdyno_record::tryout::{Metric, TryPlan};
use sysdyno_record::units::{RateHz, SpanNs};
use sysdyno_report::tryout::TryInput;
use sysdyno_report::{ReportInput, json};
use sysdyno_run::agent::LoadGuard;
use sysdyno_run::execute::{self, SamplingPlan};
use sysdyno_run::service::BuiltInTarget;

/// What the remedy makes of the planted queue.
const REMEDY: &str = "listener.backlog=1024";

/// Rate of its loads: half of what the server takes, so that only the queue can be too short. Unit: requests per second.
const RATE_HZ: f64 = 450.0;

/// Connections of its loads.
const CONNECTIONS: u32 = 256;

/// How long the tryout may take.
const BUDGET: SpanNs = SpanNs::from_secs(110);

/// How long a request is waited for: longer than two repeated SYNs take, in the trials one.
const PATIENCE: SpanNs = SpanNs::from_secs(9);
const TRIAL_PATIENCE: SpanNs = SpanNs::from_secs(3);

pub fn demo(args: &DemoArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let settings = SettingsFile::read()?;
    let guard = guard(&settings.target)?;
    let runs_dir = args.record.clone().or(settings.record).folder()?;
    let program = program()?;
    let target = BuiltInTarget::start(&program, arguments(args.bottleneck))?;
    ui.note(&format!(
        "started a server at {} (process {}) with a planted bottleneck: {}",
        target.url(),
        target.pid(),
        description(args.bottleneck)
    ));
    let form = OutputForm::of_json(args.json);
    let server = ServerOptions::default();
    let live = RefCell::default();
    let session = Session {
        live: &live,
        kind: RunKind::Demo,
        runs_dir: &runs_dir,
        form,
        probe_log: None,
        server: &server,
        behind: &[],
        guard: &guard,
    };
    if args.bottleneck == Planted::AcceptQueue {
        return close_the_loop(&session, &target, ui);
    }
    ui.note("searching for its capacity and its bottleneck (about a minute)");
    let draft = draft(&target, request(args.bottleneck, target.pid()));
    let search_draft = SearchDraft { draft, capacity: capacity(), ..SearchDraft::default() };
    let Checked { plan, notes } = search_draft.finish(&Here)?;
    ui.notes(&notes);
    search(&session, &plan, None, ui)
}

/// The demo loads this host, and nothing else.
fn guard(target: &TargetOptions) -> anyhow::Result<RefCell<LoadGuard>> {
    let mut guard = fence::guard(target, FenceOptions::default(), None)?;
    let loopback = Network::from_str("127.0.0.0/8").context("cannot read the demo's own fence")?;
    guard.fence.lists.push(AllowList { networks: vec![loopback], source: "the demo".into() });
    Ok(RefCell::new(guard))
}

/// Measures, explains, changes, proves.
fn close_the_loop(session: &Session<'_>, target: &BuiltInTarget, ui: &Ui) -> anyhow::Result<Exit> {
    ui.note("finding its bottleneck, then trying the remedy (about 90 seconds)");
    let Checked { plan, notes } = load(target)?;
    ui.notes(&notes);
    let sampling = SamplingPlan { hz: SAMPLING_HZ, pids: vec![target.pid()] };
    let recorded = record_quietly(session, &Plan::Load(plan.clone()), ui, |hosts, journal| {
        execute::load(&plan, &sampling, None, hosts, journal)
    })?;
    let is_json = session.form == OutputForm::Json;
    let input = ReportInput::new(&recorded.run, &recorded.analysis);
    if !is_json {
        print(&recorded.run, &input, session.form, ui);
    }
    if recorded.is_interrupted {
        return Ok(recorded.exit());
    }
    ui.note(&format!("trying {REMEDY} on the running server; it will be undone"));
    // Journals beside the runs: only a process of our own is changed, and everybody may write there.
    let tuning = tuning("/".into(), Some(session.runs_dir.join(".state")))?;
    let tried = TrySession {
        runs_dir: session.runs_dir,
        tuning,
        form: ComparisonForm::of_json(is_json),
        live: RefCell::default(),
        fail_if: &[],
        guard: session.guard.borrow().clone(),
    }
    .carry_out(&remedy(target)?.plan, ui)?;
    let shown = tried.run.as_ref().zip(tried.conclusion.as_ref());
    if is_json {
        let mut document = json::run_document(&input);
        document["remedy"] = shown.map_or(serde_json::Value::Null, |(run, conclusion)| {
            json::tryout_document(&TryInput::new(run, conclusion))
        });
        ui.print(&format!("{document:#}"));
    } else if let Some((run, conclusion)) = shown {
        print_tryout(run, conclusion, ComparisonForm::Text, ui);
    }
    Ok(if recorded.exit() == Exit::Done { tried.exit } else { recorded.exit() })
}

/// The tryout that proves the remedy: p99 at a rate that the server takes either way.
fn remedy(target: &BuiltInTarget) -> anyhow::Result<Checked<TryPlan>> {
    let options = TryOptions {
        metric: Some(Word(Metric::P99)),
        rate: Some(Typed(RateHz(RATE_HZ))),
        // Enough requests for a p99.
        window: Some(Typed(SpanNs::from_millis(2_500))),
        warmup: Some(Typed(SpanNs::from_millis(300))),
        pairs: Some(8),
        connections: Some(CONNECTIONS),
        budget: Some(Typed(BUDGET)),
        // The effect is large, and a demo has to come to its end where others work too.
        noisy: Some(true),
        ..TryOptions::default()
    };
    let request =
        TargetOptions { timeout: Some(Typed(TRIAL_PATIENCE)), ..request(Planted::AcceptQueue, target.pid()) };
    let (changes, servers) = (vec![REMEDY.to_owned()], vec![target.url().to_owned()]);
    TryDraft { changes, servers, options, target: request, ..TryDraft::default() }.finish(&Here)
}

fn capacity() -> CapacityOptions {
    let window = Some(Typed(SpanNs::from_millis(1_500)));
    CapacityOptions { effort: Some(Effort::Quick), window, ..CapacityOptions::default() }
}

/// A load that the server takes, and its planted queue does not.
fn load(target: &BuiltInTarget) -> anyhow::Result<Checked<LoadPlan>> {
    let load = LoadOptions {
        connections: Some(CONNECTIONS),
        rate: Some(Typed(RateHz(RATE_HZ))),
        duration: Some(Typed(SpanNs::from_secs(8))),
        ..LoadOptions::default()
    };
    let draft = draft(target, request(Planted::AcceptQueue, target.pid()));
    LoadDraft { draft, load, ..LoadDraft::default() }.finish(&Here)
}

fn draft(target: &BuiltInTarget, request: TargetOptions) -> BaseDraft {
    BaseDraft { url: target.url().to_owned(), target: request, ..BaseDraft::default() }
}

fn request(planted: Planted, pid: u32) -> TargetOptions {
    let options = TargetOptions { watch_pid: vec![pid], ..TargetOptions::default() };
    match planted {
        // Only new connections stand in the queue.
        Planted::AcceptQueue => {
            TargetOptions { no_keepalive: Some(true), timeout: Some(Typed(PATIENCE)), ..options }
        }
        Planted::WorkerPool | Planted::SingleThread => options,
    }
}

fn arguments(planted: Planted) -> &'static [&'static str] {
    match planted {
        Planted::AcceptQueue => &["target", "--backlog", "1", "--accept-delay-ms", "1"],
        Planted::WorkerPool => &["target", "--workers", "8", "--hold-ms", "4"],
        Planted::SingleThread => &["target", "--work-us", "300"],
    }
}

fn description(planted: Planted) -> &'static str {
    match planted {
        Planted::AcceptQueue => "an accept queue of two connections, accepting one per millisecond",
        Planted::WorkerPool => "8 workers, each holding a request for 4 ms",
        Planted::SingleThread => "one thread, working 300 µs on each request",
    }
}
