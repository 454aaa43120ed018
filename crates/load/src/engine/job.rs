//! What all threads of a trial share: the plan, compiled once and read-only, and the order to stop.

use super::Control;
use super::preload::preload;
use crate::error::LoadError;
use crate::protocol::http2::{self, limits::MAX_STREAMS_COUNT};
use crate::protocol::memcached::{self, Keys, MAX_KEYS_COUNT, MAX_KEYS_PER_GET};
use crate::schedule::Share;
use crate::transport::ConnectionRoute;
use crate::transport::origin::{self, Origin};
use crate::transport::tls::TlsSettings;
use crate::workload::{RequestKind, Requests};
use std::sync::Arc;
use std::time::Duration;
use sysdyno_record::load::{FailureClass, LearntBody};
use sysdyno_record::plan::{Arrival, Deadlines, Endpoint, KeepAlive, LoadPlan, PhaseEnd, StampChoice};
use sysdyno_record::wire::{Http2Plan, MemcachedPlan, Popularity, SizeModel};
use sysdyno_record::workload::{Slope, Workload};

/// The plan in the form that the hot path needs.
#[derive(Debug)]
pub(super) struct Job<'a> {
    pub plan: &'a LoadPlan,
    pub control: &'a Control,
    pub route: ConnectionRoute,
    /// HTTP/2; `None` for what the messages of the route say.
    pub http2: Option<http2::Http2Settings>,
    pub requests: Requests,
    pub requests_per_connection: u32,
    /// End of each phase after the begin; `None` if the number of requests ends it. Unit: nanoseconds.
    pub phase_end_offsets_ns: Vec<Option<u64>>,
    pub is_open: bool,
    /// Whether the idle deadline can pass before the total one.
    pub has_idle_deadline: bool,
    /// What is asked of a memcached server; `None` for HTTP.
    pub memcached: Option<MemcachedJob<'a>>,
}

/// What a client of a closed load does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientTurn {
    Begins,
    Leaves,
}

/// Numbers of clients that differ by less are the same.
const CLIENTS_ERROR: f64 = 1e-6;

/// What is asked of a memcached server.
#[derive(Debug)]
pub(super) struct MemcachedJob<'a> {
    pub plan: &'a MemcachedPlan,
    pub keys: Keys,
}

impl<'a> Job<'a> {
    /// # Errors
    /// A plan that contradicts itself.
    pub(super) fn new(plan: &'a LoadPlan, control: &'a Control) -> Result<Job<'a>, LoadError> {
        check(plan)?;
        origin::check(&plan.origin, &plan.target.endpoint)?;
        let (requests, messages) = Requests::compile(plan)?;
        let requests_per_connection = match plan.keep_alive {
            KeepAlive::Unlimited => u32::MAX,
            KeepAlive::Requests(count) => count,
        };
        let http2 = plan.wire.http2.map(|http2| http2_settings(plan, http2, &requests, &messages));
        let alpn = match (&plan.wire.memcached, plan.wire.http2) {
            (Some(_), _) => None,
            (None, Some(_)) => Some("h2"),
            (None, None) => Some("http/1.1"),
        };
        let route = ConnectionRoute {
            endpoint: plan.target.endpoint.clone(),
            is_single: requests_per_connection == 1,
            is_made_up: plan.wire.memcached.is_some() || requests.templates.is_some(),
            in_flight_bytes: in_flight_bytes(plan, &requests, http2.as_ref(), &messages),
            tls: plan.wire.tls.as_ref().map(|tls| TlsSettings::new(tls, alpn).map(Arc::new)).transpose()?,
            stamps: plan.stamps == StampChoice::Kernel && matches!(plan.target.endpoint, Endpoint::Tcp(_)),
            origin: Origin::new(&plan.origin),
            messages: messages.into(),
        };
        Ok(Job {
            plan,
            control,
            route,
            http2,
            requests,
            requests_per_connection,
            phase_end_offsets_ns: phase_end_offsets_ns(plan),
            is_open: plan.arrival.is_open(),
            has_idle_deadline: plan.deadlines.idle < plan.deadlines.total,
            memcached: plan
                .wire
                .memcached
                .as_ref()
                .map(|memcached| MemcachedJob { plan: memcached, keys: Keys::new(memcached, plan.seed) }),
        })
    }

    /// When a client of a closed load next begins to send, or is the first to leave, from an offset to the begin of the load
    /// on; `None`: never. Clients are numbered from 0, one for each connection. Unit: nanoseconds.
    pub(super) fn client_turn_ns(&self, client: u64, turn: ClientTurn, from_ns: u64) -> Option<u64> {
        let wanted = (client + 1) as f64 - CLIENTS_ERROR;
        let has_turned = |clients: f64| (clients >= wanted) == (turn == ClientTurn::Begins);
        self.plan.workload.clients.windows(2).find_map(|ends| {
            let [before, after] = ends else { return None };
            let span_ns = (after.at.0 - before.at.0) as f64;
            let (low, high) = (f64::from(before.clients), f64::from(after.clients));
            let begin_ns = before.at.0.max(from_ns);
            if begin_ns > after.at.0 {
                return None;
            }
            let passed = if span_ns > 0.0 { (begin_ns - before.at.0) as f64 / span_ns } else { 1.0 };
            if has_turned(low + (high - low) * passed) {
                return Some(begin_ns);
            }
            // Within the errors of the arithmetic, so that one who has just begun does not leave, nor the other way round.
            let level =
                if turn == ClientTurn::Begins { wanted + CLIENTS_ERROR } else { wanted - CLIENTS_ERROR };
            let offset_ns = (level - low) / (high - low) * span_ns;
            has_turned(high).then(|| before.at.0 + offset_ns.clamp(0.0, span_ns).ceil() as u64)
        })
    }

    /// Brings the server into the state that the load supposes, before the first trial.
    pub(super) fn prepare(&self, trial: u32) -> Result<(), LoadError> {
        match &self.memcached {
            Some(load) if load.plan.is_preloaded && trial <= 1 => {
                let tls = self.route.tls.as_deref();
                preload(self.plan, tls, load.plan, &load.keys, self.control)
            }
            _ => Ok(()),
        }
    }

    /// Requests that a thread may have under way at a time: one on each stream of its connections.
    pub(super) fn slots(&self, share: Share) -> usize {
        share.of(u64::from(self.plan.connections)) as usize * self.plan.streams() as usize
    }

    /// Whether connections are made before the first request and kept after it.
    pub(super) fn keeps_connections(&self) -> bool {
        self.requests_per_connection > 1
    }

    /// How long the connections before the begin may take. A load ends no later than its length plus the time that a request
    /// may take, and what is still in flight at its end is to have half of that.
    pub(super) fn dial_limit(&self) -> Duration {
        let Deadlines { connect, total, .. } = self.plan.deadlines;
        connect.duration().min(total.duration() / 2)
    }

    /// How long the drain after the last phase lasts at most, where the load began so long after its first connection.
    pub(super) fn drain_limit(&self, dialed_ns: u64) -> Duration {
        let Deadlines { drain, total, .. } = self.plan.deadlines;
        drain.duration().min(total.duration().saturating_sub(Duration::from_nanos(dialed_ns)))
    }

    /// Learns the first body of a kind of request that is no error page, and objects to others that differ.
    #[inline]
    pub(super) fn compare_body<'b>(
        &self,
        kind: RequestKind,
        body: LearntBody,
        kept: impl Fn() -> &'b [u8],
    ) -> Option<FailureClass> {
        (!self.requests.accepts_body(kind, body, kept)).then_some(FailureClass::WrongBody)
    }

    /// The body that was learnt; `None` if there is more than one request.
    pub(super) fn learnt_body(&self) -> Option<LearntBody> {
        self.requests.learnt_body()
    }
}

/// The requests of a plan as HTTP/2 sends them, from the form that keeps the connection.
fn http2_settings(
    plan: &LoadPlan,
    http2: Http2Plan,
    requests: &Requests,
    messages: &[Box<[u8]>],
) -> http2::Http2Settings {
    let scheme = if plan.wire.tls.is_some() { "https" } else { "http" };
    let kept = messages.iter().step_by(2);
    let made = (0..)
        .zip(kept)
        .map(|(kind, bytes)| http2::EncodedRequest::of(bytes, scheme, requests.rules(kind).clone()));
    http2::Http2Settings { streams: http2.streams, scheme, requests: made.collect() }
}

/// Most bytes of requests that are on their way at a time on one connection; the greatest number: no bound is known.
fn in_flight_bytes(
    plan: &LoadPlan,
    requests: &Requests,
    http2: Option<&http2::Http2Settings>,
    messages: &[Box<[u8]>],
) -> usize {
    let longest = messages.iter().map(|bytes| bytes.len()).max().unwrap_or(0);
    match (&plan.wire.memcached, http2) {
        (Some(memcached), _) => memcached::max_request_bytes(memcached),
        (None, _) if requests.templates.is_some() => usize::MAX,
        (None, Some(http2)) => http2.in_flight_bytes(),
        (None, None) => longest,
    }
}

fn phase_end_offsets_ns(plan: &LoadPlan) -> Vec<Option<u64>> {
    let mut offset_ns = 0u64;
    let ends = plan.phases.iter().map(|phase| match phase.end {
        PhaseEnd::After(span) => {
            offset_ns = offset_ns.saturating_add(span.0);
            Some(offset_ns)
        }
        PhaseEnd::Requests(_) => None,
    });
    ends.collect()
}

fn check(plan: &LoadPlan) -> Result<(), LoadError> {
    let counted = plan.phases.iter().rposition(|phase| matches!(phase.end, PhaseEnd::Requests(_)));
    if plan.phases.is_empty() {
        return Err(LoadError::plan("it has no phase"));
    }
    if counted.is_some_and(|position| position + 1 < plan.phases.len()) {
        return Err(LoadError::plan("only the last phase can end after a number of requests"));
    }
    if plan.connections == 0 || plan.threads == 0 {
        return Err(LoadError::plan("it needs at least one connection and one thread"));
    }
    if plan.threads > plan.connections {
        return Err(LoadError::plan(format!(
            "{} threads cannot share {} connections",
            plan.threads, plan.connections
        )));
    }
    if plan.keep_alive == KeepAlive::Requests(0) {
        return Err(LoadError::plan("a connection must carry at least one request"));
    }
    let has_rate = |rate: Option<f64>| rate.is_some_and(|rate| rate.is_finite() && rate > 0.0);
    let has_users = plan.workload.session.is_some();
    if has_users != (plan.arrival == Arrival::Sessions) {
        return Err(LoadError::plan("users need the arrival process of sessions, and vice versa"));
    }
    if has_users && plan.phases.iter().any(|phase| matches!(phase.end, PhaseEnd::Requests(_))) {
        return Err(LoadError::plan("users are simulated for a duration, not for a number of requests"));
    }
    if plan.arrival.is_open() && !has_users && !plan.phases.iter().all(|phase| has_rate(phase.rate_hz)) {
        return Err(LoadError::plan("an open arrival process needs a rate in every phase"));
    }
    check_ramp(plan)?;
    check_http2(plan)?;
    plan.wire.memcached.as_ref().map_or(Ok(()), |memcached| check_memcached(plan, memcached))
}

fn check_ramp(plan: &LoadPlan) -> Result<(), LoadError> {
    let Workload { slopes, clients, .. } = &plan.workload;
    let is_slope = |slope: &Slope| {
        let has_end = plan.phases.get(slope.phase as usize).map(|phase| phase.end);
        let is_rate = |rate_hz: f64| rate_hz.is_finite() && rate_hz >= 0.0;
        matches!(has_end, Some(PhaseEnd::After(_))) && is_rate(slope.begin_hz) && is_rate(slope.end_hz)
    };
    let is_timed = matches!(plan.arrival, Arrival::Constant | Arrival::Poisson);
    let is_possible = slopes.is_empty() || is_timed && slopes.iter().all(is_slope);
    if !is_possible {
        return Err(LoadError::plan(
            "only the rate of a phase with an end in time can change while it lasts",
        ));
    }
    let is_in_order = clients.is_sorted_by(|one, next| one.at <= next.at);
    let most = clients.iter().map(|point| point.clients).max().unwrap_or(plan.connections);
    if !(is_in_order && most == plan.connections && (clients.is_empty() || plan.arrival == Arrival::Closed)) {
        return Err(LoadError::plan("a closed load cannot have more clients than connections"));
    }
    Ok(())
}

fn check_http2(plan: &LoadPlan) -> Result<(), LoadError> {
    let Some(http2) = plan.wire.http2 else { return Ok(()) };
    if plan.wire.memcached.is_some() {
        return Err(LoadError::plan("memcached does not speak HTTP/2"));
    }
    if !(1..=MAX_STREAMS_COUNT).contains(&http2.streams) {
        return Err(LoadError::plan(format!("a connection has 1 to {MAX_STREAMS_COUNT} streams")));
    }
    if http2.streams > 1 && plan.keep_alive != KeepAlive::Unlimited {
        return Err(LoadError::plan("connections with several streams must be kept alive"));
    }
    if http2.streams > 1 && plan.origin.churn_hz.is_some() {
        return Err(LoadError::plan("connections with several streams cannot be churned"));
    }
    Ok(())
}

fn check_memcached(plan: &LoadPlan, memcached: &MemcachedPlan) -> Result<(), LoadError> {
    let Workload { operations, log, session, .. } = &plan.workload;
    if !operations.is_empty() || log.is_some() || session.is_some() {
        return Err(LoadError::plan("operations need HTTP"));
    }
    if plan.validators.same_body {
        return Err(LoadError::plan("values of memcached differ from each other"));
    }
    if !(1..=MAX_KEYS_COUNT).contains(&memcached.keys_count) {
        return Err(LoadError::plan(format!("a memcached load has 1 to {MAX_KEYS_COUNT} keys")));
    }
    if !(1..=MAX_KEYS_PER_GET).contains(&memcached.keys_per_get) {
        return Err(LoadError::plan(format!("a get has 1 to {MAX_KEYS_PER_GET} keys")));
    }
    if !(0.0..=1.0).contains(&memcached.get_ratio) {
        return Err(LoadError::plan("the share of gets is between 0 and 1"));
    }
    if let Popularity::Zipf(exponent) = memcached.popularity
        && !(0.01..=10.0).contains(&exponent)
    {
        return Err(LoadError::plan("the exponent of a Zipf popularity is between 0.01 and 10"));
    }
    let is_reversed = |model| matches!(model, SizeModel::Range(range) if range.min_bytes > range.max_bytes);
    if is_reversed(memcached.key_size) || is_reversed(memcached.value_size) {
        return Err(LoadError::plan("a range of sizes starts with the smallest"));
    }
    Ok(())
}
