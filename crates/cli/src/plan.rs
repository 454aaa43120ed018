//! From what was typed to what will be done: every default is filled in here.

use crate::args::{
    CapacityOptions, ConnectionsOption, Effort, FailIfOption, Field, LoadOptions, OriginOptions, ProbeArgs,
    ProbeOptions, TargetOptions, TimeoutOrType, Typed,
};
use crate::ui::Ui;
use crate::wire;
use anyhow::{Context, bail, ensure};
use std::path::Path;
use sysdyno_analyze::fail_if::validate;
use sysdyno_analyze::search::Search;
use sysdyno_load::http1::limits::DEFAULT_MAX_BODY_BYTES;
use sysdyno_load::probe::{self, Probe, ProbeJob, ProbeTarget, Way};
use sysdyno_load::target::is_home;
use sysdyno_record::origin::OriginPlan;
use sysdyno_record::plan::{
    Arrival, Deadlines, ExpectedHeader, HardStops, HeaderField, IoChoice, KeepAlive, LoadPlan, Objective,
    PhaseEnd, PhaseKind, PhasePlan, RequestSpec, RunPlan, SearchMethod, SearchPlan, SpinChoice, StampChoice,
    Validators,
};
use sysdyno_record::probe::{ProbeKind, ProbePlan};
use sysdyno_record::units::{Bytes, RateHz, SpanNs};
use sysdyno_record::wire::WirePlan;
use sysdyno_record::workload::Workload;
use sysdyno_run::check_origin;

const DEFAULT_CONNECTIONS: u32 = 64;
const DEFAULT_POOL: u32 = 256;

/// Port of a TCP probe that is given none.
const DEFAULT_PORT: u16 = 80;

const DEFAULT_DURATION: SpanNs = SpanNs::from_secs(10);
const DEFAULT_DRAIN: SpanNs = SpanNs::from_secs(5);

/// Connections in a row that may fail before a load gives up.
const MAX_FAILED_CONNECTIONS: u32 = 20;

/// Share of failures over ten seconds at which a load gives up a server that is not on this host.
const MAX_FAILURE_RATIO: f64 = 0.5;

/// A quick search takes this many times as long as was said before it, at most.
const QUICK_OVERTIME: f64 = 1.25;

/// Samples of the kernel per second.
pub const SAMPLING_HZ: f64 = 10.0;

/// Most connections that a plan may ask for.
const MAX_CONNECTIONS: u32 = 1_000_000;

/// Longest request body that is read from a file. Unit: bytes.
const MAX_REQUEST_BODY_BYTES: u64 = 256 * 1024 * 1024;

/// The plan of `load`.
pub fn load(url: &str, load: &LoadOptions, target: &TargetOptions) -> anyhow::Result<LoadPlan> {
    let connections = load.connections.unwrap_or(DEFAULT_CONNECTIONS);
    let is_open = load.rate.is_some() || !load.steps.is_empty();
    ensure!(
        is_open || load.arrival.is_none() || load.ramp.is_some(),
        "cannot set an arrival process: a load without --rate is closed"
    );
    let arrival = if is_open { load.arrival.map_or(Arrival::Poisson, Into::into) } else { Arrival::Closed };
    ensure!(load.requests != Some(0), "cannot send 0 requests");
    let duration = load.duration.map_or(DEFAULT_DURATION, |duration| duration.0);
    let end = load.requests.map_or(PhaseEnd::After(duration), PhaseEnd::Requests);
    let first_rate = load.steps.first().copied().or(load.rate).map(|rate| rate.0.0);
    let warmup = load.warmup.and_then(|warmup| warmup.0).map(|span| PhasePlan {
        kind: PhaseKind::Warmup,
        rate_hz: first_rate,
        end: PhaseEnd::After(span),
    });
    let step = |rate: &Typed<RateHz>| PhasePlan {
        kind: PhaseKind::Step,
        rate_hz: Some(rate.0.0),
        end: PhaseEnd::After(duration),
    };
    let steady = PhasePlan { kind: PhaseKind::Steady, rate_hz: load.rate.map(|rate| rate.0.0), end };
    let measured: Vec<PhasePlan> =
        if load.steps.is_empty() { vec![steady] } else { load.steps.iter().map(step).collect() };
    let phases = warmup.into_iter().chain(measured).collect();
    let mut plan = base(url, target, Base { arrival, connections, phases })?;
    plan.fail_if = checks(&load.fail_if, false)?;
    plan.hard_stops.failure_ratio = (!is_home(&plan.target.endpoint)).then_some(MAX_FAILURE_RATIO);
    Ok(plan)
}

/// The plan of `run`.
pub fn run(url: &str, capacity: &CapacityOptions, target: &TargetOptions) -> anyhow::Result<RunPlan> {
    let chosen = capacity.connections.clone().unwrap_or(ConnectionsOption::Pool(DEFAULT_POOL));
    let (connections, method) = match chosen {
        ConnectionsOption::Pool(pool) => (pool, SearchMethod::OfferedRate),
        ConnectionsOption::Curve(points) => {
            (points.last().copied().unwrap_or(1), SearchMethod::Connections(points))
        }
    };
    let mut search = effort(capacity.effort.unwrap_or_default());
    search.method = method;
    search.max_rate_hz = capacity.max_rate.map(|rate| rate.0.0);
    search.window = capacity.window.map_or(search.window, |window| window.0);
    let arrival = capacity.arrival.map_or(Arrival::Poisson, Into::into);
    let phases =
        vec![PhasePlan { kind: PhaseKind::Steady, rate_hz: Some(1.0), end: PhaseEnd::After(search.window) }];
    let load = base(url, target, Base { arrival, connections, phases })?;
    Ok(RunPlan {
        objective: capacity.objective.map_or_else(Objective::default, |option| option.0),
        search,
        watch_pids: target.watch_pid.clone(),
        sampling_hz: SAMPLING_HZ,
        seed: load.seed,
        fail_if: checks(&capacity.fail_if, true)?,
        need: None,
        load,
    })
}

/// Holds a search to the time that is said before it, if it is to be quick. Searches that are compared with each other are
/// not: they would end at different stages.
pub fn limit_time(run: &mut RunPlan, effort: Effort) {
    let expected = Search::new(run).remaining().seconds();
    let limit = SpanNs((QUICK_OVERTIME * expected * 1e9) as u64);
    run.search.limit = (effort == Effort::Quick).then_some(limit);
}

/// Adds where connections come from to a load, and checks that they can.
pub fn add_origin(plan: &mut LoadPlan, options: &OriginOptions, ui: &Ui) -> anyhow::Result<()> {
    plan.origin = options.plan();
    let churns = plan.origin.churn_hz.is_some();
    ensure!(
        !churns || plan.keep_alive != KeepAlive::Requests(1),
        "cannot combine --churn with --no-keepalive: each connection already carries a single request\nhint: \
         leave out one of them"
    );
    if let Some(warning) = check_origin(plan)? {
        ui.note(&format!("note: {warning}"));
    }
    Ok(())
}

/// Adds the probe that was asked for to a load.
pub fn add_probe(plan: &mut LoadPlan, options: &ProbeOptions) -> anyhow::Result<()> {
    let Some(kind) = options.probe else {
        ensure!(
            options.probe_log.is_none(),
            "cannot write a probe log without a probe\nhint: add --probe http"
        );
        return Ok(());
    };
    let kind = ProbeKind::from(kind);
    plan.probe = Some(ProbePlan { kind, interval: probe::BESIDE_INTERVAL, timeout: probe::TIMEOUT });
    // What cannot be probed is to be said before anything is sent or written.
    if let Some(job) = ProbeJob::beside(plan, 1)? {
        Probe::open(&job)?;
    }
    Ok(())
}

/// The probe of `probe`.
pub fn probe(args: &ProbeArgs) -> anyhow::Result<ProbeJob> {
    let target = ProbeTarget::parse(&args.target)?;
    let kind = args.kind.map_or(target.kind, ProbeKind::from);
    let interval = args.interval.map_or(probe::ALONE_INTERVAL, |span| span.0);
    let timeout = args.timeout.map_or(probe::TIMEOUT, |span| span.0);
    let way = match kind {
        ProbeKind::Http => {
            let url = ["tcp://", "icmp://"].iter().find_map(|scheme| args.target.strip_prefix(scheme));
            let url = url.unwrap_or(&args.target);
            Way::Http(Box::new(load(url, &LoadOptions::default(), &TargetOptions::default())?))
        }
        _ if target.host.is_empty() => bail!("cannot probe a Unix socket by {}", kind.name()),
        ProbeKind::Tcp => Way::Tcp(target.resolve(target.port.unwrap_or(DEFAULT_PORT))?),
        ProbeKind::Icmp => Way::Icmp(target.resolve(0)?),
    };
    let in_time = args.duration.map(|span| span.0.0.div_ceil(interval.0));
    let count = [args.count, in_time].into_iter().flatten().min();
    let plan = ProbePlan { kind, interval, timeout };
    Ok(ProbeJob { plan, way, count, trial: 0, seed: draw_seed(), generator_threads: 0 })
}

/// The search of an effort; windows and counts of `Thorough` are those of the method's proof runs.
fn effort(effort: Effort) -> SearchPlan {
    let plan = |probe_ms, window_ms, warmup_ms, grid: [u32; 2], certify_passes| SearchPlan {
        method: SearchMethod::OfferedRate,
        probe: SpanNs::from_millis(probe_ms),
        window: SpanNs::from_millis(window_ms),
        warmup: SpanNs::from_millis(warmup_ms),
        grid_rates: grid[0],
        grid_replicates: grid[1],
        certify_passes,
        max_rate_hz: None,
        limit: None,
    };
    match effort {
        Effort::Quick => plan(1_500, 2_500, 500, [4, 2], 1),
        Effort::Standard => plan(3_000, 8_000, 1_000, [5, 3], 3),
        Effort::Thorough => plan(10_000, 30_000, 3_000, [5, 3], 5),
    }
}

/// The checks of a plan, all of which this kind of run can answer.
fn checks(typed: &[FailIfOption], has_search: bool) -> anyhow::Result<Vec<String>> {
    let texts: Vec<String> = typed.iter().map(|check| check.0.clone()).collect();
    validate(texts.iter().map(String::as_str), has_search).map_err(anyhow::Error::msg)?;
    Ok(texts)
}

/// What differs between the two kinds of plan.
struct Base {
    arrival: Arrival,
    connections: u32,
    phases: Vec<PhasePlan>,
}

fn base(url: &str, options: &TargetOptions, base: Base) -> anyhow::Result<LoadPlan> {
    ensure!(
        (1..=MAX_CONNECTIONS).contains(&base.connections),
        "cannot use {} connections: use 1 to {MAX_CONNECTIONS}",
        base.connections
    );
    let threads = options.threads.unwrap_or_else(default_threads).min(base.connections);
    ensure!(threads > 0, "cannot use 0 threads");
    let body = options.body_file.as_deref().map(read_body).transpose()?.unwrap_or_default();
    let default_method = if body.is_empty() { "GET" } else { "POST" };
    let request = RequestSpec {
        method: options.method.clone().unwrap_or_else(|| default_method.into()).to_ascii_uppercase(),
        headers: headers(options)?,
        body_bytes: body.len() as u64,
        body,
    };
    let total =
        options.typed_timeout().or(options.timeout.map(|span| span.0)).unwrap_or(Deadlines::default().total);
    let deadlines = Deadlines {
        total,
        connect: options.connect_timeout.map_or(Deadlines::default().connect, |span| span.0),
        idle: options.idle_timeout.map_or(total, |span| span.0),
        drain: total.min(DEFAULT_DRAIN),
    };
    let is_closed = options.no_keepalive == Some(true) && !options.keep_alive;
    let keep_alive = match (is_closed, options.requests_per_connection) {
        (true, _) => KeepAlive::Requests(1),
        (false, Some(count)) => KeepAlive::Requests(count),
        (false, None) => KeepAlive::Unlimited,
    };
    // First, since it knows what of a URL may be shown.
    let target = sysdyno_load::target::resolve(url)?;
    let wire = wire::plan(url, &options.wire)?;
    Ok(LoadPlan {
        target,
        request,
        validators: validators(options, &wire)?,
        arrival: base.arrival,
        connections: base.connections,
        keep_alive,
        phases: base.phases,
        deadlines,
        max_body: options.max_body.map_or(Bytes(DEFAULT_MAX_BODY_BYTES), |size| size.0),
        hard_stops: HardStops {
            connect_failures_in_a_row: Some(MAX_FAILED_CONNECTIONS),
            failure_ratio: None,
        },
        threads,
        seed: options.seed.unwrap_or_else(draw_seed),
        fail_if: Vec::new(),
        objective: None,
        probe: None,
        io: options.io.map_or(IoChoice::Auto, IoChoice::from),
        spin: options.spin.map_or(SpinChoice::Auto, SpinChoice::from),
        stamps: options.stamps.map_or(StampChoice::Kernel, StampChoice::from),
        workload: Workload::default(),
        wire,
        origin: OriginPlan::default(),
    })
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

fn default_threads() -> u32 {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u32;
    (cpus / 2).max(1)
}

/// A seed from the system's randomness, small enough to be typed again.
pub fn draw_seed() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(std::process::id()) >> 32
}

/// The most that a load plan can send, in a sentence: what a careful user reads before the first request.
pub fn worst_case(plan: &LoadPlan) -> String {
    let seconds: f64 = plan
        .phases
        .iter()
        .map(|phase| match phase.end {
            PhaseEnd::After(span) => span.seconds(),
            PhaseEnd::Requests(_) => 0.0,
        })
        .sum();
    let open: Option<f64> = plan
        .phases
        .iter()
        .map(|phase| match (phase.end, phase.rate_hz) {
            (PhaseEnd::After(span), Some(rate_hz)) => Some(rate_hz * span.seconds()),
            (PhaseEnd::Requests(count), _) => Some(count as f64),
            (PhaseEnd::After(_), None) => None,
        })
        .sum();
    let requests = match &plan.workload.session {
        Some(session) if session.users > 0 => format!("the requests of {} users", session.users),
        Some(session) => {
            format!("the requests of {} sessions per second", session.sessions_hz.unwrap_or(0.0))
        }
        None => open.map_or("as many requests as the server answers".into(), |count| {
            format!("about {}", counted(count, "request"))
        }),
    };
    let time = if seconds > 0.0 { format!(" in {seconds:.0} s") } else { String::new() };
    let connections = counted(plan.connections.into(), "connection");
    format!("{requests}{time} over {connections} to {}", plan.target.url)
}

fn counted(count: f64, noun: &str) -> String {
    let ending = if count == 1.0 { "" } else { "s" };
    format!("{count:.0} {noun}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_elsewhere_is_given_up_when_half_of_the_requests_fail() {
        let ratio = |url| {
            let plan = load(url, &LoadOptions::default(), &TargetOptions::default()).expect("is a plan");
            plan.hard_stops.failure_ratio
        };
        assert_eq!(ratio("http://10.0.0.1/"), Some(MAX_FAILURE_RATIO));
        assert_eq!(ratio("http://127.0.0.1/"), None);
        assert_eq!(ratio("unix:/run/x.sock"), None);
    }
}
