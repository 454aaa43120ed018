//! The request of a load: the server, the request itself, the connections, and what must come back.

use crate::host::PlanHost;
use crate::options::{Field, TargetOptions, TimeoutOrType};
use crate::wire;
use anyhow::{Context, bail, ensure};
use std::path::Path;
use sysdyno_load::protocol::http1::limits::DEFAULT_MAX_BODY_BYTES;
use sysdyno_record::plan::{
    Arrival, Deadlines, ExpectedHeader, HardStops, HeaderField, IoChoice, KeepAlive, LoadPlan, PhasePlan,
    RequestSpec, SpinChoice, StampChoice, Validators,
};
use sysdyno_record::units::{Bytes, SpanNs};
use sysdyno_record::wire::WirePlan;

const DEFAULT_DRAIN: SpanNs = SpanNs::from_secs(5);

/// Connections in a row that may fail before a load gives up.
const MAX_FAILED_CONNECTIONS: u32 = 20;

/// Samples of the kernel per second.
pub const SAMPLING_HZ: f64 = 10.0;

/// Most connections that a plan may ask for.
const MAX_CONNECTIONS: u32 = 1_000_000;

/// Longest request body that is read from a file. Unit: bytes.
const MAX_REQUEST_BODY_BYTES: u64 = 256 * 1024 * 1024;

/// What differs between the kinds of loads from the start.
pub struct LoadShape {
    /// How requests arrive.
    pub arrival: Arrival,
    /// Connections.
    pub connections: u32,
    /// Its phases.
    pub phases: Vec<PhasePlan>,
}

/// A load of one request, without anything that its kind adds.
pub fn plan(
    url: &str,
    options: &TargetOptions,
    shape: LoadShape,
    here: &dyn PlanHost,
) -> anyhow::Result<LoadPlan> {
    ensure!(
        (1..=MAX_CONNECTIONS).contains(&shape.connections),
        "cannot use {} connections: use 1 to {MAX_CONNECTIONS}",
        shape.connections
    );
    let threads = options.threads.unwrap_or_else(|| (here.cpus_count() / 2).max(1)).min(shape.connections);
    ensure!(threads > 0, "cannot use 0 threads");
    let body = options.body_file.as_deref().map(read_body).transpose()?.unwrap_or_default();
    let default_method = if body.is_empty() { "GET" } else { "POST" };
    let request = RequestSpec {
        method: options.method.clone().unwrap_or_else(|| default_method.into()).to_ascii_uppercase(),
        headers: headers(options)?,
        body_bytes: body.len() as u64,
        body: body.into(),
    };
    // First, since it knows what of a URL may be shown.
    let target = sysdyno_load::target::resolve(url)?;
    let wire = wire::plan(url, &options.wire)?;
    Ok(LoadPlan {
        request,
        validators: validators(options, &wire)?,
        arrival: shape.arrival,
        connections: shape.connections,
        keep_alive: keep_alive(options),
        phases: shape.phases,
        deadlines: deadlines(options),
        max_body: options.max_body.map_or(Bytes(DEFAULT_MAX_BODY_BYTES), |size| size.0),
        hard_stops: HardStops {
            connect_failures_in_a_row: Some(MAX_FAILED_CONNECTIONS),
            failure_ratio: None,
        },
        threads,
        seed: options.seed.unwrap_or_else(|| here.seed()),
        io: options.io.map_or(IoChoice::Auto, |word| word.0),
        spin: options.spin.map_or(SpinChoice::Auto, |word| word.0),
        stamps: options.stamps.map_or(StampChoice::Kernel, |word| word.0),
        wire,
        ..LoadPlan::plain(target)
    })
}

fn deadlines(options: &TargetOptions) -> Deadlines {
    let default = Deadlines::default();
    let total = options.typed_timeout().or(options.timeout.map(|span| span.0)).unwrap_or(default.total);
    Deadlines {
        total,
        connect: options.connect_timeout.map_or(default.connect, |span| span.0),
        idle: options.idle_timeout.map_or(total, |span| span.0),
        drain: total.min(DEFAULT_DRAIN),
    }
}

fn keep_alive(options: &TargetOptions) -> KeepAlive {
    let is_closed = options.no_keepalive == Some(true) && !options.keep_alive;
    match (is_closed, options.requests_per_connection) {
        (true, _) => KeepAlive::Requests(1),
        (false, Some(count)) => KeepAlive::Requests(count),
        (false, None) => KeepAlive::Unlimited,
    }
}

fn validators(options: &TargetOptions, wire: &WirePlan) -> anyhow::Result<Validators> {
    if let Some(status) = options.expect_status.iter().find(|status| !(200..600).contains(*status)) {
        bail!("cannot expect status {status}: final responses have status 200 to 599");
    }
    let expected = |field: &Field| ExpectedHeader { name: field.name.clone(), value: field.value.clone() };
    Ok(Validators {
        statuses: options.expect_status.clone(),
        body_bytes: options.expect_length,
        header: options.expect_header.as_ref().map(expected),
        body_contains: options.expect_body.clone(),
        same_body: (options.same_body || options.any_body != Some(true)) && wire.memcached.is_none(),
        may_vary: !options.same_body && options.any_body.is_none() && wire.memcached.is_none(),
    })
}

/// The header fields of the request; a content type goes before them, unless one of them says it.
fn headers(options: &TargetOptions) -> anyhow::Result<Vec<HeaderField>> {
    let mut headers = options.header.iter().map(header).collect::<anyhow::Result<Vec<_>>>()?;
    let typed = options.timeout_or_type.as_ref().and_then(TimeoutOrType::content_type);
    let is_said = headers.iter().any(|field| field.name.eq_ignore_ascii_case("content-type"));
    if let Some(value) = typed.or(options.content_type.as_deref()).filter(|_| !is_said) {
        headers.insert(0, HeaderField { name: "Content-Type".into(), value: value.into() });
    }
    Ok(headers)
}

fn header(field: &Field) -> anyhow::Result<HeaderField> {
    let value = field.value.clone();
    let value =
        value.with_context(|| format!("cannot read header '{}': write it as 'Name: value'", field.name))?;
    Ok(HeaderField { name: field.name.clone(), value })
}

fn read_body(path: &Path) -> anyhow::Result<Vec<u8>> {
    let cannot = || format!("cannot read body file '{}'", path.display());
    let length = std::fs::metadata(path).with_context(cannot)?.len();
    ensure!(length <= MAX_REQUEST_BODY_BYTES, "{}: longer than 256 MiB", cannot());
    std::fs::read(path).with_context(cannot)
}
