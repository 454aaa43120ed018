//! Were the responses the expected ones, were there enough of them, and did they come at the requested rate?

use super::check::{Check, Concern, Culprit, Examine, Observation};
use crate::format::{counted, percent, rate, whole};
use crate::readings::ratio;
use crate::threshold::{HOUSE, Threshold};
use crate::view::TrialView;
use sysdyno_record::column::{self, NETNS};
use sysdyno_record::load::{Blame, FailureClass};
use sysdyno_record::plan::{Arrival, Endpoint, KeepAlive};
use sysdyno_stats::order_statistics::{COMPARED_TAIL_COUNT_MIN, TAIL_COUNT_MIN};

/// Classes in which the server responded, but wrongly.
const CONTENT_CLASSES: &[FailureClass] = &[
    FailureClass::WrongBody,
    FailureClass::WrongLength,
    FailureClass::WrongHeader,
    FailureClass::BodyTruncated,
    FailureClass::BodyLimit,
    FailureClass::Protocol,
    FailureClass::InvalidStatus,
    FailureClass::Desync,
];

/// Classes of responses that are complete, but not the requested ones.
pub(crate) const ANSWERED_CLASSES: &[FailureClass] = &[
    FailureClass::Status,
    FailureClass::WrongBody,
    FailureClass::WrongLength,
    FailureClass::WrongHeader,
    FailureClass::ServerError,
    FailureClass::NotStored,
];

/// Classes after which the connection goes on: the response was whole.
const KEEPING_CLASSES: &[FailureClass] = ANSWERED_CLASSES;

/// Classes of connections that were never established.
const UNCONNECTED_CLASSES: &[FailureClass] = &[
    FailureClass::ConnectRefused,
    FailureClass::ConnectTimeout,
    FailureClass::ConnectReset,
    FailureClass::ConnectUnreachable,
    FailureClass::LocalFdLimit,
    FailureClass::LocalPorts,
    FailureClass::LocalBuffers,
    FailureClass::LocalOther,
];

const ERROR_SHARE: Threshold = Threshold::new(
    "share of requests that failed or timed out",
    0.001,
    "ratio",
    "proposed in the issue tracker of aspnet/Benchmarks, number 320",
);

/// M04.
pub(super) const ERRORS: Check = Check {
    id: "M04",
    name: "errors-as-throughput",
    meaning: "Requests failed; a rate that includes them is not the capacity of the service.",
    thresholds: &[ERROR_SHARE],
    remedy: "check the failures by class and the server's log; if these responses are expected, add their \
             codes to --expect-status",
    blame: Culprit::Server,
    concerns: &[],
    examine: Examine::Trial(examine_errors),
};

fn examine_errors(view: &TrialView) -> Option<Observation> {
    let mut parts: Vec<String> = Vec::new();
    let mut failed = view.counts().timed_out as f64;
    if failed > 0.0 {
        parts.push(format!("{} timed out", whole(failed)));
    }
    let classes = view.failures_blamed_on(Blame::Server);
    for (class, count) in classes.into_iter().filter(|(class, _)| !CONTENT_CLASSES.contains(class)) {
        failed += count as f64;
        parts.push(format!("{} {}{}", whole(count as f64), class.name(), cause(view, class)));
    }
    let share = ratio(failed, view.counts().sent as f64).filter(|share| *share > 0.0)?;
    let text = format!("{} of the requests failed: {}", percent(share), parts.join(", "));
    let observed =
        if share > ERROR_SHARE.value { Observation::invalid(text) } else { Observation::remark(text) };
    observed.map(|observed| match advice(view) {
        Some(remedy) => observed.with_remedy(remedy),
        None => observed,
    })
}

/// What to do about the class of failures that is most frequent, where there is something better than to look at the log.
fn advice(view: &TrialView) -> Option<String> {
    let classes = view.failures_blamed_on(Blame::Server);
    let (class, _) = classes.into_iter().max_by_key(|(_, count)| *count)?;
    let place = match &view.plan().target.endpoint {
        Endpoint::Tcp(address) => address.to_string(),
        Endpoint::Unix(path) => path.display().to_string(),
    };
    let text = match class {
        FailureClass::ConnectRefused => format!(
            "check that the server is running and listens on {place}: 'ss -ltn' on its host lists the \
             addresses; 127.0.0.1 is not reachable from other hosts"
        ),
        FailureClass::ConnectUnreachable => {
            format!("{place} is unreachable: check the address, the route ('ip route get'), and firewalls")
        }
        FailureClass::ConnectTimeout => format!(
            "{place} does not answer: check the address, look for a firewall that drops packets, or for a \
             full accept queue"
        ),
        FailureClass::TlsIssuer | FailureClass::TlsCertificate => {
            "--tls-ca FILE trusts the certificates in a file, including a self-signed one; --insecure \
             accepts any, and the verdict says so"
                .to_owned()
        }
        FailureClass::TlsName => "--tls-name NAME requests the name in the certificate; --insecure accepts \
                                  any certificate, and the verdict says so"
            .to_owned(),
        FailureClass::TlsExpired => {
            "renew the certificate; --insecure accepts any, and the verdict says so".to_owned()
        }
        FailureClass::Status => "try one request by hand (curl -v) and check the server's log; if these \
                                 responses are expected, add their codes to --expect-status"
            .to_owned(),
        _ => return None,
    };
    Some(text)
}

/// What is behind a class of failures, where more is known than its name says: of the first one, and what to try.
fn cause(view: &TrialView, class: FailureClass) -> String {
    let told = view.measured().told.of(class);
    let codes = if class == FailureClass::Status { status_codes(view) } else { Vec::new() };
    // What it said names its code.
    let codes = if codes.len() > 1 || told.is_none() { codes.join(", ") } else { String::new() };
    let codes = Some(codes.as_str()).filter(|codes| !codes.is_empty());
    let parts: Vec<&str> = codes.into_iter().chain(told).chain(class.hint()).collect();
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join("; ")) }
}

/// The most frequent status codes that were not expected.
fn status_codes(view: &TrialView) -> Vec<String> {
    let expected = &view.plan().validators.statuses;
    let is_expected = |code: u16| match expected.as_slice() {
        [] => (200..400).contains(&code),
        listed => listed.contains(&code),
    };
    let mut codes: Vec<(u16, u64)> =
        view.measured().statuses.iter().map(|(code, count)| (*code, *count)).collect();
    codes.retain(|(code, count)| !is_expected(*code) && *count > 0);
    codes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    codes.iter().take(3).map(|(code, _)| code.to_string()).collect()
}

const WRONG_SHARE: Threshold =
    Threshold::new("share of responses with wrong length, header, or framing", 1e-5, "ratio", HOUSE);
const WRONG_BODIES: Threshold = Threshold::new("responses with a different body", 0.0, "count", HOUSE);

/// M05.
pub(crate) const CONTENT: Check = Check {
    id: "M05",
    name: "wrong-content",
    meaning: "Responses had the wrong content, so the server did not do the intended work.",
    thresholds: &[WRONG_SHARE, WRONG_BODIES],
    remedy: "try one request by hand and compare; if the body is meant to vary, use --any-body",
    blame: Culprit::Server,
    concerns: &[],
    examine: Examine::Trial(examine_content),
};

fn examine_content(view: &TrialView) -> Option<Observation> {
    let mut classes = view.failures_blamed_on(Blame::Server);
    classes.retain(|(class, _)| CONTENT_CLASSES.contains(class));
    let wrong: f64 = classes.iter().map(|(_, count)| *count as f64).sum();
    let share = ratio(wrong, view.counts().sent as f64).filter(|share| *share > 0.0)?;
    let part = |(class, count): &(FailureClass, u64)| {
        format!("{} {}{}", whole(*count as f64), class.name(), cause(view, *class))
    };
    let parts: Vec<String> = classes.iter().map(part).collect();
    let text = format!("{} of the responses were wrong: {}", percent(share), parts.join(", "));
    let has_wrong_body = view.failures_of(&[FailureClass::WrongBody]) as f64 > WRONG_BODIES.value;
    if share > WRONG_SHARE.value || has_wrong_body {
        Observation::invalid(text)
    } else {
        Observation::suspect(text)
    }
}

/// V43.
pub(super) const CERTIFICATE: Check = Check {
    id: "V43",
    name: "certificate-not-checked",
    meaning: "Certificates were not verified, so the server's identity is unknown.",
    thresholds: &[],
    remedy: "remove --insecure, and trust the issuer's certificate with --tls-ca",
    blame: Culprit::Server,
    concerns: &[],
    examine: Examine::Trial(examine_certificate),
};

fn examine_certificate(view: &TrialView) -> Option<Observation> {
    let tls = view.plan().wire.tls.as_ref().filter(|tls| tls.is_insecure)?;
    Observation::remark(format!(
        "the certificate of '{}' was not verified (--insecure)",
        tls.server_name.escape_debug()
    ))
}

const EXTRA_CONNECTIONS: Threshold =
    Threshold::new("connections per request beyond what keep-alive needs", 0.05, "ratio", HOUSE);

/// M09.
pub(super) const KEEP_ALIVE: Check = Check {
    id: "M09",
    name: "keepalive-not-effective",
    meaning: "Connections were not kept alive as requested, so the numbers include connection setup.",
    thresholds: &[EXTRA_CONNECTIONS],
    remedy: "raise the server's keep-alive limits (such as keepalive_requests and keepalive_timeout of nginx), or use \
             --no-keepalive",
    blame: Culprit::Server,
    concerns: &[],
    examine: Examine::Trial(examine_keep_alive),
};

fn examine_keep_alive(view: &TrialView) -> Option<Observation> {
    let planned = match view.plan().keep_alive {
        KeepAlive::Unlimited => 0.0,
        KeepAlive::Requests(count) => 1.0 / f64::from(count.max(1)),
    };
    let sent = view.counts().sent as f64;
    let opened = view.measured().connections_opened as f64;
    let connections = f64::from(view.plan().connections);
    // A process that ends takes its connections with it, idle ones too.
    let taken = connections * view.lost().len() as f64;
    let needless = opened - lost_connections(view) - taken - connections;
    let extra = ratio(needless, sent)? - planned;
    if extra <= EXTRA_CONNECTIONS.value {
        return None;
    }
    let accepted = view.server_steady().occurrences(column::TCP_PASSIVE_OPENS, NETNS);
    // Where tiers behind the server accept connections as well, the kernel's count says nothing of these.
    let accepted = accepted.filter(|count| *count <= opened * (1.0 + EXTRA_CONNECTIONS.value));
    let accepted =
        accepted.map_or(String::new(), |count| format!("; the kernel counted {} accepted", whole(count)));
    Observation::suspect(format!(
        "{} were opened for {}{accepted}",
        counted(opened, "connection"),
        counted(sent, "request")
    ))
}

/// Connections that were established and that a failure or a timeout then ended, the handshake's included: each of them is made
/// anew, whatever the server's keep-alive limits are.
fn lost_connections(view: &TrialView) -> f64 {
    let ended =
        |class: &FailureClass| !KEEPING_CLASSES.contains(class) && !UNCONNECTED_CLASSES.contains(class);
    let failures = view.measured().failures.iter().filter(|(class, _)| ended(class));
    let failed: f64 = failures.map(|(_, count)| *count as f64).sum();
    failed + view.counts().timed_out as f64
}

pub(super) const ACHIEVED: Threshold =
    Threshold::new("completed ÷ scheduled requests", 0.99, "ratio", "house value; Lancet allows 0.90");
const ACHIEVED_NOTICED: Threshold =
    Threshold::new("completed ÷ scheduled requests, to be mentioned", 0.995, "ratio", HOUSE);
const SCHEDULED_SIGMAS: Threshold = Threshold::new(
    "shortfall of scheduled requests beyond 1%, in standard deviations of a Poisson count",
    4.0,
    "count",
    HOUSE,
);

/// V05.
pub(crate) const ACHIEVED_RATE: Check = Check {
    id: "V05",
    name: "rate-not-achieved",
    meaning: "Fewer requests were completed than scheduled.",
    thresholds: &[ACHIEVED, ACHIEVED_NOTICED, SCHEDULED_SIGMAS],
    remedy: "lower the rate; 'sysdyno run' finds the highest rate that the server can carry",
    blame: Culprit::Server,
    concerns: &[Concern::Plan],
    examine: Examine::Trial(examine_achieved),
};

fn examine_achieved(view: &TrialView) -> Option<Observation> {
    // The part of a lost host is missing, which V41 says.
    if view.lost_hosts().next().is_some() {
        return None;
    }
    let offered = view.measured().offered_hz.filter(|_| view.is_open())?;
    let scheduled = view.counts().scheduled as f64;
    let due = offered * view.seconds();
    let scatter = if view.plan().arrival == Arrival::Poisson { due.max(0.0).sqrt() } else { 1.0 };
    let missing = due - scheduled;
    if missing > (1.0 - ACHIEVED.value) * due + SCHEDULED_SIGMAS.value * scatter {
        return Observation::invalid(format!(
            "only {} of {} requests were scheduled: the generator fell behind",
            whole(scheduled),
            whole(due)
        ));
    }
    // A ramp rises until requests are not completed in step; the headline says where.
    if view.plan().changes().is_some() {
        return None;
    }
    let achieved = view.achieved_ratio().filter(|achieved| *achieved < ACHIEVED_NOTICED.value)?;
    let text = format!(
        "{} of the requests offered at {} req/s were completed on schedule",
        percent(achieved),
        rate(offered)
    );
    if achieved < ACHIEVED.value { Observation::suspect(text) } else { Observation::remark(text) }
}

const TAIL: f64 = 0.01;
/// Responses that are needed to print a p99.
pub const RESPONSES_FOR_P99: f64 = TAIL_COUNT_MIN / TAIL;
const TAIL_PRINTED: Threshold =
    Threshold::new("samples beyond a percentile, for it to be printed", TAIL_COUNT_MIN, "count", HOUSE);
const TAIL_COMPARED: Threshold = Threshold::new(
    "samples beyond a percentile, for it to be compared",
    COMPARED_TAIL_COUNT_MIN,
    "count",
    HOUSE,
);

/// V08.
pub(super) const FEW_SAMPLES: Check = Check {
    id: "V08",
    name: "few-samples",
    meaning: "There are too few samples for the usual percentiles.",
    thresholds: &[TAIL_PRINTED, TAIL_COMPARED],
    remedy: "measure longer, or at a higher rate",
    blame: Culprit::Server,
    concerns: &[],
    examine: Examine::Trial(examine_samples),
};

fn examine_samples(view: &TrialView) -> Option<Observation> {
    let count = view.summary(view.felt_kind()).count as f64;
    if count == 0.0 {
        // Where every request failed, the failures speak for themselves.
        let is_silent = view.counts().failed == 0;
        return if is_silent { Observation::invalid("no responses".to_owned()) } else { None };
    }
    let text = |needed: f64| {
        format!(
            "too few samples for p99: {} measured, {} needed",
            counted(count, "response"),
            whole(needed / TAIL)
        )
    };
    if count * TAIL < TAIL_PRINTED.value {
        return Observation::suspect(text(TAIL_PRINTED.value) + " to print it");
    }
    let is_thin = count * TAIL < TAIL_COMPARED.value;
    if is_thin { Observation::remark(text(TAIL_COMPARED.value) + " to compare it") } else { None }
}
