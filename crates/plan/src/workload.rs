//! Turns files that define what to send into a plan.

use crate::options::{NeedOptions, ReplayOptions, WorkloadOptions};
use anyhow::{Context, ensure};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use sysdyno_load::workload::log::{AccessLog, Wish};
use sysdyno_load::workload::urls;
use sysdyno_record::plan::{Arrival, LoadPlan, PhaseEnd, PhaseKind, PhasePlan};
use sysdyno_record::units::SpanNs;
use sysdyno_record::workload::NeedPlan;

/// Adds the requested mix to a load.
pub fn add(plan: &mut LoadPlan, options: &WorkloadOptions) -> anyhow::Result<()> {
    if let Some(path) = &options.urls {
        add_urls(plan, path)?;
    }
    if let Some(path) = &options.mix {
        add_log(plan, path, None)?;
    }
    Ok(())
}

/// Adds the log that is to be replayed; `longest` cuts it off.
pub fn add_replay(
    plan: &mut LoadPlan,
    options: &ReplayOptions,
    longest: Option<SpanNs>,
) -> anyhow::Result<()> {
    let Some(path) = &options.replay else {
        ensure!(options.speed.is_none(), "cannot set a speed without a log\nhint: add --replay access.log");
        return Ok(());
    };
    let speed = options.speed.map_or(1.0, |speed| speed.0);
    add_log(plan, path, Some(speed))?;
    let Some(log) = &plan.workload.log else { return Ok(()) };
    let span = longest.map_or(log.span, |longest| longest.min(log.span));
    let count = log.arrivals.partition_point(|arrival| arrival.offset_ns < span.0);
    plan.arrival = Arrival::Trace;
    plan.phases = vec![PhasePlan {
        kind: PhaseKind::Steady,
        rate_hz: Some(count as f64 / span.seconds()),
        end: PhaseEnd::After(span),
    }];
    Ok(())
}

/// The busiest times of the log that a capacity is to be held against.
pub fn need(options: &NeedOptions) -> anyhow::Result<Option<NeedPlan>> {
    let Some(path) = &options.need else { return Ok(None) };
    Ok(Some(read_log(path)?.need(&path.to_string_lossy())))
}

fn add_urls(plan: &mut LoadPlan, path: &Path) -> anyhow::Result<()> {
    let cannot = || format!("cannot read URLs '{}'", path.display());
    let text = read_text(path, urls::MAX_LIST_BYTES).with_context(cannot)?;
    let base = urls::Base { target: &plan.target, request: &plan.request, validators: &plan.validators };
    plan.workload.operations = urls::parse(&text, &base).with_context(cannot)?;
    Ok(())
}

fn add_log(plan: &mut LoadPlan, path: &Path, speed_ratio: Option<f64>) -> anyhow::Result<()> {
    ensure!(plan.request.body.is_empty(), "cannot send a body: requests from a log have none");
    let wish = Wish {
        file: &path.to_string_lossy(),
        speed_ratio,
        seed: plan.seed,
        request: &plan.request,
        validators: &plan.validators,
    };
    plan.workload = read_log(path)?.workload(&wish)?;
    Ok(())
}

fn read_log(path: &Path) -> anyhow::Result<AccessLog> {
    let cannot = || format!("cannot read access log '{}'", path.display());
    let file = File::open(path).with_context(cannot)?;
    ensure!(file.metadata().with_context(cannot)?.is_file(), "{}: not a regular file", cannot());
    AccessLog::read(BufReader::with_capacity(1 << 18, file)).with_context(cannot)
}

/// A file of text that is not longer than this.
fn read_text(path: &Path, max_bytes: u64) -> anyhow::Result<String> {
    let metadata = std::fs::metadata(path)?;
    ensure!(metadata.is_file(), "not a regular file");
    ensure!(metadata.len() <= max_bytes, "longer than {max_bytes} bytes");
    Ok(std::fs::read_to_string(path)?)
}
