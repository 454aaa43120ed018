//! `sysdyno demo`: the main job against a built-in server whose bottleneck is known.

use super::record::Session;
use super::run::search;
use crate::args::{CapacityOptions, DemoArgs, Effort, Planted, TargetOptions};
use crate::exit::Exit;
use crate::plan;
use crate::settings::{Combine, Settings};
use crate::ui::Ui;
use anyhow::Context;
use sysdyno_lab::service::BuiltInTarget;
use sysdyno_record::manifest::RunKind;

pub fn demo(args: &DemoArgs, ui: &Ui) -> anyhow::Result<Exit> {
    let runs_dir = args.record.clone().or(Settings::read()?.record).folder()?;
    let program = std::env::current_exe().context("cannot find this program")?;
    let target = BuiltInTarget::start(&program, arguments(args.bottleneck))?;
    ui.note(&format!(
        "started a server at {} (process {}) with a planted bottleneck: {}",
        target.url(),
        target.pid(),
        description(args.bottleneck)
    ));
    let capacity = CapacityOptions { effort: Some(Effort::Quick), ..CapacityOptions::default() };
    let options = TargetOptions { watch_pid: vec![target.pid()], ..TargetOptions::default() };
    let plan = plan::run(target.url(), &capacity, &options)?;
    ui.note("looks for its capacity and for what limits it; takes about a minute");
    let session = Session { kind: RunKind::Demo, runs_dir: &runs_dir, is_json: args.json, probe_log: None };
    search(&session, &plan, ui)
}

fn arguments(planted: Planted) -> &'static [&'static str] {
    match planted {
        Planted::WorkerPool => &["target", "--workers", "8", "--hold-ms", "4"],
        Planted::SingleThread => &["target", "--work-us", "300"],
    }
}

fn description(planted: Planted) -> &'static str {
    match planted {
        Planted::WorkerPool => "8 workers, each of which holds a request for 4 ms",
        Planted::SingleThread => "one thread, which works 300 µs on each request",
    }
}
