//! Was the same load sent? A table of what a plan says, field by field.

use super::{Examine, Gate, Seen};
use crate::compare::profile::RunProfile;
use crate::format::{duration, list, rate};
use sysdyno_record::plan::{Arrival, KeepAlive, LoadPlan, PhaseEnd, PhaseKind, RequestSpec, SearchMethod};
use sysdyno_record::wire::TlsPlan;
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
    Field { name: "header fields", of: |run| headers(&run.load.request) },
    Field { name: "operations", of: operations },
    Field {
        name: "protocol",
        of: |run| run.load.wire.memcached.as_ref().map_or("HTTP/1.1".to_owned(), |plan| format!("{plan:?}")),
    },
    Field { name: "body of the request", of: |run| format!("{} bytes", run.load.request.body_bytes) },
    Field {
        name: "way to the server",
        of: |run| if run.around.is_local { "within the host" } else { "over a network" }.to_owned(),
    },
    Field { name: "encryption", of: encryption },
    Field { name: "access log", of: access_log },
    Field { name: "origin of connections", of: |run| crate::format::name(&format!("{:?}", run.load.origin)) },
    Field { name: "objective", of: objective },
    Field {
        name: "instant that counts as the last byte",
        of: |run| format!("{:?}", run.load.stamps).to_lowercase(),
    },
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
    Field { name: "generator's way to the kernel", of: |run| run.analysis.generator.io.clone() },
    Field { name: "spinning", of: |run| format!("{:?}", run.load.spin).to_lowercase() },
    Field {
        name: "probe beside the load",
        of: |run| {
            run.load.probe.map_or("none".to_owned(), |probe| format!("{:?}", probe.kind).to_lowercase())
        },
    },
];

/// C08.
pub(super) const OTHER_PLAN: Gate = Gate {
    id: "C08",
    name: "other-plan",
    meaning: "Another load was sent: rate, connections, arrival process, request, objective or the instant that counts differ.",
    thresholds: &[],
    remedy: "measure again with the same options; the plan of a run is in its plan.json",
    can_be_allowed: true,
    examine: Examine::Pair(|reference, run| differences(ESSENTIAL, reference, run).and_then(Seen::refused)),
};

/// C09.
pub(super) const OTHER_DETAILS: Gate = Gate {
    id: "C09",
    name: "other-details",
    meaning: "The load was the same, and something about it was not: its length, its warm-up, what was expected, how the generator works.",
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
    (!apart.is_empty()).then(|| format!("not the same: {}", list(&apart)))
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
        .map(|phase| phase.rate_hz.map_or("as answered".to_owned(), |hz| format!("{} req/s", rate(hz))))
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

/// How TLS is spoken; the name of the server says nothing.
fn encryption(run: &RunProfile) -> String {
    run.load.wire.tls.as_ref().map_or("none".to_owned(), |tls| {
        format!("{:?}", TlsPlan { server_name: String::new(), ..tls.clone() })
    })
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
