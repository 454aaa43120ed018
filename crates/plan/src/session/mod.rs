//! Sessions from files: users that move from operation to operation.
//!
//! `web20` is built in; any other name is that of a file. Errors in a file are reported with their line, before anything is
//! sent.

mod compile;
mod file;
mod objects;
mod problem;
mod upload;
mod values;

use crate::file::read as read_file;
use crate::options::{LoadOptions, SessionOptions};
use anyhow::{Context, ensure};
use file::{SessionFile, SessionWish};
use std::path::Path;
use sysdyno_record::plan::{Arrival, LoadPlan, PhaseEnd, PhaseKind, PhasePlan, SpinChoice};
use sysdyno_record::units::SpanNs;

/// The name of the built-in session.
const WEB20: &str = "web20";

/// Its definition.
const WEB20_FILE: &str = include_str!("web20.toml");

/// Default maximum number of connections that simulated users share.
const MAX_CONNECTIONS: u32 = 1024;

/// Default length of the measured phase.
const DEFAULT_STEADY: SpanNs = SpanNs::from_secs(60);

/// Adds the requested users to a load.
pub fn add(plan: &mut LoadPlan, options: &SessionOptions, load: &LoadOptions) -> anyhow::Result<()> {
    let Some(name) = &options.session else {
        let is_alone = options.users.is_none() && options.pages_only != Some(true);
        ensure!(is_alone, "cannot use --users without a session\nhint: add --session web20");
        return Ok(());
    };
    ensure!(
        load.steps.is_empty() && load.ramp.is_none() && load.requests.is_none() && load.arrival.is_none(),
        "cannot combine a session with a number of requests, steps, or an arrival process\nhint: use \
         --duration for the length, and --users or --rate (new sessions per second)"
    );
    ensure!(plan.workload.is_single(), "cannot combine a session with URLs or a log");
    let cannot = || format!("cannot read session '{name}'");
    let text = read(name).with_context(cannot)?;
    let file: SessionFile = toml::from_str(&text).with_context(cannot)?;
    let wish = SessionWish {
        name,
        text: &text,
        users: options.users,
        sessions_hz: load.rate.map(|rate| rate.0.0),
        pages_only: options.pages_only == Some(true),
    };
    let phase = |kind: PhaseKind, span: SpanNs| PhasePlan { kind, rate_hz: None, end: PhaseEnd::After(span) };
    let ramp_up = match load.warmup {
        Some(typed) => typed.0,
        None => file.ramp_up.map(|span| span.0),
    };
    let steady = load.duration.or(file.steady).map_or(DEFAULT_STEADY, |span| span.0);
    let ramp_down = file.ramp_down.map(|span| span.0);
    plan.phases = [
        ramp_up.map(|span| phase(PhaseKind::Warmup, span)),
        Some(phase(PhaseKind::Steady, steady)),
        ramp_down.map(|span| phase(PhaseKind::RampDown, span)),
    ]
    .into_iter()
    .flatten()
    .collect();
    compile::compile(plan, &file, &wish).with_context(cannot)?;
    plan.arrival = Arrival::Sessions;
    if let (None, Some(session)) = (load.connections, &plan.workload.session) {
        let users = if session.users > 0 { session.users } else { MAX_CONNECTIONS };
        plan.connections = users.clamp(plan.threads, MAX_CONNECTIONS);
    }
    if plan.spin == SpinChoice::Auto {
        // Users who think do not need their requests sent to the microsecond.
        plan.spin = SpinChoice::Off;
    }
    Ok(())
}

fn read(name: &str) -> anyhow::Result<String> {
    if name == WEB20 {
        return Ok(WEB20_FILE.to_owned());
    }
    read_file(Path::new(name))
}

#[cfg(test)]
mod tests;
