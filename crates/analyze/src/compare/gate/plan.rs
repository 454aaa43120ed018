//! Was the same load sent? A table of a plan's fields.

use super::{Examine, Gate, Seen};
use crate::compare::profile::RunProfile;
use crate::format::{duration, list, percent, rate};
use std::path::PathBuf;
use sysdyno_record::origin::{OriginPlan, ProxyProtocol};
use sysdyno_record::plan::{Arrival, KeepAlive, LoadPlan, PhaseEnd, PhaseKind, RequestSpec, SearchMethod};
use sysdyno_record::wire::{MemcachedDialect, MemcachedPlan, Popularity, SizeModel, TlsVersion, WirePlan};
use sysdyno_record::workload::OperationPlan;

/// Something that a plan says.
struct Field {
    name: &'static str,
    of: fn(&RunProfile) -> String,
}

/// What must be the same: another load has another answer.
const ESSENTIAL: &[Field] = &[
    Field { name: "command", of: |run| if run.is_search() { "run" } else { "load" }.to_owned() },
    Field { name: "arrival", of: |run| arrival(run.load.arrival).to_owned() },
    Field { name: "offered rate", of: offered },
    Field { name: "connections", of: connections },
    Field { name: "keep-alive", of: |run| keep_alive(run.load.keep_alive) },
    Field { name: "method", of: |run| crate::format::name(&run.load.request.method) },
    Field { name: "headers", of: |run| headers(&run.load.request) },
    Field { name: "operations", of: operations },
    Field { name: "protocol", of: |run| protocol(&run.load.wire) },
    Field { name: "request body", of: |run| format!("{} bytes", run.load.request.body_bytes) },
    Field {
        name: "path to the server",
        of: |run| if run.around.is_local { "within the host" } else { "over a network" }.to_owned(),
    },
    Field { name: "encryption", of: encryption },
    Field { name: "access log", of: access_log },
    Field { name: "origin of connections", of: |run| origin(&run.load.origin) },
    Field { name: "objective", of: objective },
    Field { name: "timestamp of the last byte", of: |run| format!("{:?}", run.load.stamps).to_lowercase() },
];

/// What should be the same: it touches precision, or details of the way.
const DETAILS: &[Field] = &[
    Field { name: "path", of: |run| crate::format::name(&run.load.target.path) },
    Field {
        name: "socket",
        of: |run| {
            if matches!(run.load.target.endpoint, sysdyno_record::plan::Endpoint::Unix(_)) {
                "unix"
            } else {
                "tcp"
            }
            .to_owned()
        },
    },
    Field { name: "measured time", of: |run| window(run, PhaseKind::is_measured) },
    Field { name: "warm-up", of: |run| window(run, |kind| kind == PhaseKind::Warmup) },
    Field { name: "deadline", of: |run| run.load.deadlines.total.to_string() },
    Field { name: "expectations", of: expectations },
    Field { name: "grid of the search", of: grid },
    Field { name: "generator threads", of: |run| run.load.threads.to_string() },
    Field { name: "generator's kernel interface", of: |run| run.analysis.generator.io.clone() },
    Field { name: "spinning", of: |run| format!("{:?}", run.load.spin).to_lowercase() },
    Field { name: "probe", of: probes },
];

/// What is probed beside the load.
fn probes(run: &RunProfile) -> String {
    match run.load.probed().as_slice() {
        [] => "none".to_owned(),
        probed => probed.iter().map(|one| crate::format::name(&one.name)).collect::<Vec<_>>().join(", "),
    }
}

/// C08.
pub(super) const OTHER_PLAN: Gate = Gate {
    id: "C08",
    name: "other-plan",
    meaning: "The loads differ in rate, connections, arrival process, request, objective, or timestamps.",
    thresholds: &[],
    remedy: "measure again with the same options; the plan of each run is in its plan.json",
    can_be_allowed: true,
    examine: Examine::Pair(|reference, run| differences(ESSENTIAL, reference, run).and_then(Seen::refused)),
};

/// C09.
pub(super) const OTHER_DETAILS: Gate = Gate {
    id: "C09",
    name: "other-details",
    meaning: "The loads were the same, but not all conditions: duration, warm-up, expected responses, or \
              generator options.",
    thresholds: &[],
    remedy: "measure again with the same options",
    can_be_allowed: true,
    examine: Examine::Pair(|reference, run| differences(DETAILS, reference, run).and_then(Seen::warned)),
};

/// What differs, in a sentence; `None`: nothing.
fn differences(fields: &[Field], reference: &RunProfile, run: &RunProfile) -> Option<String> {
    let apart = |field: &Field| {
        let (a, b) = ((field.of)(reference), (field.of)(run));
        (a != b).then(|| format!("{} ({a} in A, {b} in {})", field.name, run.label))
    };
    let apart: Vec<String> = fields.iter().filter_map(apart).collect();
    (!apart.is_empty()).then(|| format!("different: {}", list(&apart)))
}

fn arrival(arrival: Arrival) -> &'static str {
    match arrival {
        Arrival::Closed => "closed",
        Arrival::Constant => "constant",
        Arrival::Poisson => "poisson",
        Arrival::Trace => "trace",
        Arrival::Sessions => "sessions",
    }
}

/// Rates of the measured phases of a single load; in a search each trial has its own.
fn offered(run: &RunProfile) -> String {
    if run.is_search() {
        return "searched".to_owned();
    }
    let measured = run.load.phases.iter().filter(|phase| phase.kind.is_measured());
    let rates: Vec<String> = measured
        .map(|phase| phase.rate_hz.map_or("closed loop".to_owned(), |hz| format!("{} req/s", rate(hz))))
        .collect();
    list(&rates)
}

/// Connections of a load, or all those of a closed search.
fn connections(run: &RunProfile) -> String {
    match run.search.as_ref().map(|search| &search.search.method) {
        Some(SearchMethod::Connections(counts)) => {
            let counts: Vec<String> = counts.iter().map(u32::to_string).collect();
            list(&counts)
        }
        Some(SearchMethod::OfferedRate) => {
            run.search.as_ref().map_or(0, |search| search.load.connections).to_string()
        }
        None => run.load.connections.to_string(),
    }
}

fn keep_alive(keep_alive: KeepAlive) -> String {
    match keep_alive {
        KeepAlive::Unlimited => "unlimited".to_owned(),
        KeepAlive::Requests(count) => crate::format::counted(f64::from(count), "request"),
    }
}

/// All operations of a mix, with what each sends and how often.
fn operations(run: &RunProfile) -> String {
    let of = |operation: &OperationPlan| {
        let OperationPlan { name, path, request, weight, .. } = operation;
        let sent =
            format!("{name} {weight} {} {path} {} {}", request.method, request.body_bytes, headers(request));
        crate::format::name(&sent)
    };
    let all: Vec<String> = run.load.workload.operations.iter().map(of).collect();
    if all.is_empty() { "one".to_owned() } else { list(&all) }
}

/// What is spoken, encryption apart.
fn protocol(wire: &WirePlan) -> String {
    match (&wire.memcached, &wire.http2) {
        (Some(plan), _) => memcached(plan),
        (None, Some(http2)) => {
            format!(
                "HTTP/2 with {} per connection",
                crate::format::counted(f64::from(http2.streams), "stream")
            )
        }
        (None, None) => "HTTP/1.1".to_owned(),
    }
}

fn memcached(plan: &MemcachedPlan) -> String {
    let commands = match plan.dialect {
        MemcachedDialect::Text => "get and set",
        MemcachedDialect::Meta => "mg and ms",
    };
    let popularity = match plan.popularity {
        Popularity::Uniform => "uniform".to_owned(),
        Popularity::Zipf(exponent) => format!("Zipf {exponent}"),
    };
    let size = |model: SizeModel| match model {
        SizeModel::Fixed(bytes) => format!("{bytes} bytes"),
        SizeModel::Range(range) => format!("{} to {} bytes", range.min_bytes, range.max_bytes),
        SizeModel::Etc => "as in Facebook's ETC pool".to_owned(),
    };
    let expiry = format!("expiry {} s", plan.expiry_seconds);
    let parts = [
        Some(format!("memcached with {commands}")),
        Some(format!("{} gets", percent(plan.get_ratio))),
        Some(format!("{} per get", crate::format::counted(f64::from(plan.keys_per_get), "key"))),
        Some(format!("{} keys ({popularity}) of {}", plan.keys_count, size(plan.key_size))),
        Some(format!("values of {}", size(plan.value_size))),
        (plan.expiry_seconds > 0).then_some(expiry),
        plan.is_verified.then(|| "values verified".to_owned()),
        plan.is_preloaded.then(|| "preloaded".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// How TLS is spoken; the name of the server says nothing.
fn encryption(run: &RunProfile) -> String {
    let Some(tls) = &run.load.wire.tls else { return "none".to_owned() };
    let file = |does: &str, path: &Option<PathBuf>| {
        path.as_ref().map(|path| format!("{does} {}", crate::format::name(&path.to_string_lossy())))
    };
    let parts = [
        Some(match tls.version {
            Some(TlsVersion::Tls12) => "TLS 1.2 only".to_owned(),
            Some(TlsVersion::Tls13) => "TLS 1.3 only".to_owned(),
            None => "TLS".to_owned(),
        }),
        (tls.resume_ratio > 0.0).then(|| format!("{} resumed", percent(tls.resume_ratio))),
        tls.is_insecure.then(|| "any certificate accepted".to_owned()),
        file("trusting", &tls.ca_file),
        file("showing", &tls.certificate_file),
        file("with the key", &tls.key_file),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Where connections come from, and how they begin.
fn origin(origin: &OriginPlan) -> String {
    let OriginPlan { sources, proxy_protocol, churn_hz, hosts } = origin;
    let addresses: Vec<String> = sources.iter().map(ToString::to_string).collect();
    let hosts: Vec<String> = hosts.iter().map(|host| crate::format::name(host)).collect();
    let parts = [
        (!addresses.is_empty()).then(|| list(&addresses)),
        proxy_protocol.map(|version| match version {
            ProxyProtocol::V1 => "PROXY protocol 1".to_owned(),
            ProxyProtocol::V2 => "PROXY protocol 2".to_owned(),
        }),
        churn_hz.map(|churn_hz| format!("{} reconnects per second", rate(churn_hz))),
        (!hosts.is_empty()).then(|| format!("sent by {}", list(&hosts))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "kernel's choice".to_owned() } else { parts.join(", ") }
}

/// What is replayed, where anything is; the name of the file says nothing.
fn access_log(run: &RunProfile) -> String {
    run.load.workload.log.as_ref().map_or("none".to_owned(), |log| {
        let speed = log.speed_ratio.map_or("as a mix".to_owned(), |ratio| format!("× {ratio}"));
        format!("{} requests over {} {speed}", log.arrivals_count, log.span)
    })
}

fn headers(request: &RequestSpec) -> String {
    let fields = &request.headers;
    let mut fields: Vec<String> = fields
        .iter()
        .map(|field| crate::format::name(&format!("{}: {}", field.name.to_lowercase(), field.value)))
        .collect();
    fields.sort();
    if fields.is_empty() { "none".to_owned() } else { list(&fields) }
}

fn objective(run: &RunProfile) -> String {
    run.search.as_ref().map_or("none".to_owned(), |search| {
        let objective = &search.objective;
        format!("p{} < {}", objective.percentile_ratio * 100.0, duration(objective.limit.0 as f64))
    })
}

fn window(run: &RunProfile, is_meant: fn(PhaseKind) -> bool) -> String {
    let load: &LoadPlan = &run.load;
    let ends = load.phases.iter().filter(|phase| is_meant(phase.kind)).map(|phase| match phase.end {
        PhaseEnd::After(span) => span.to_string(),
        PhaseEnd::Requests(count) => crate::format::counted(count as f64, "request"),
    });
    let ends: Vec<String> = ends.collect();
    if ends.is_empty() { "none".to_owned() } else { list(&ends) }
}

fn expectations(run: &RunProfile) -> String {
    let expected = &run.load.validators;
    let mut parts: Vec<String> = expected.statuses.iter().map(|status| format!("status {status}")).collect();
    parts.extend(expected.body_bytes.map(|bytes| format!("{bytes} bytes")));
    parts.extend(expected.header.as_ref().map(|header| crate::format::name(&header.name)));
    parts.extend(expected.body_contains.as_ref().map(|text| crate::format::name(text)));
    parts.extend(expected.same_body.then(|| "the same body".to_owned()));
    if parts.is_empty() { "none".to_owned() } else { list(&parts) }
}

fn grid(run: &RunProfile) -> String {
    run.search.as_ref().map_or("none".to_owned(), |search| {
        let search = &search.search;
        format!("{} × {} of {}", search.grid_rates, search.grid_replicates, search.window)
    })
}
