//! The path of a request: which processes the load reached, which others they called, and what each of these tiers did.

mod group;
mod parts;
mod places;
mod requests;
mod round_trip;
mod tier;

use crate::format::name;
use crate::readings::{Window, ratio};
use crate::view::{TrialView, error_ratio, finite_or_zero};
use group::Group;
pub(crate) use parts::largest_part;
use places::Places;
use requests::{Arriving, Connections};
pub(crate) use round_trip::{CONNECTS, FAST_RATIO, REPEATED, round_trip_ns};
use sysdyno_record::column::{self, ScopeKind, listener_scope, tier_scope};
use sysdyno_record::event::{EventKind, ProcessRole, WatchedProcess};
use sysdyno_record::load::LatencyKind;
use sysdyno_record::path::{PathTier, TierWait, WaitKind};
use sysdyno_record::plan::{Endpoint, NAME_SERVICE_PORT};
use sysdyno_record::units::MonoNs;
use tier::PathScene;

/// The tiers in the order of the way, each behind the one that asks it, then those that could not be looked into; empty: the
/// server's processes are not known.
pub(crate) fn path_of(view: &TrialView) -> Vec<PathTier> {
    let window = view.server_steady();
    let census = since_known(view, window.clone());
    let mut groups = Group::all(&view.processes(ProcessRole::Target));
    groups.sort_by_key(|group| group.depth());
    let rate_hz = finite_or_zero(view.measured().achieved_hz);
    let are_answered = error_ratio(view.counts()) <= UNANSWERED_MAX;
    let service_ns = view.summary(LatencyKind::Service).mean.filter(|mean| *mean > 0.0);
    let answered = service_ns.filter(|_| are_answered).map(|service_ns| service_ns / 1e9 * rate_hz);
    let in_flight = answered.or_else(|| view.in_flight_mean());
    let ended = view.leavers().into_iter().map(|process| process.pid).collect();
    let places = Places::of(&groups, &window, &census);
    let seen = PathScene {
        window: &window,
        census: &census,
        places: &places,
        ended,
        rate_hz,
        are_answered,
        in_flight,
    };
    let mut path: Vec<PathTier> = groups.iter().map(|group| group.tier(&groups, &seen)).collect();
    path.extend(places.outside.iter().map(|(address, asked_by)| outside(address, *asked_by)));
    // Handshakes are read and answered, too, but are in no service time.
    let handshakes = view.measured().handshakes.map_or(0, |handshakes| handshakes.full + handshakes.resumed);
    let has_handshakes =
        ratio(handshakes as f64, view.counts().sent as f64).is_some_and(|part| part >= HANDSHAKES_MIN);
    let client_ns = view.mean_with_failures_ns(LatencyKind::Service).filter(|_| !has_handshakes);
    let felt_ns = view.mean_with_failures_ns(view.felt_kind());
    let is_one_at_a_time = handshakes == 0 && view.plan().wire.http2.is_none();
    let connections = Connections { window: &window, rate_hz, felt_ns, is_one_at_a_time };
    add_requests(&mut path, &places, &connections, client_ns);
    let trip_ns = round_trip_ns(view);
    let reached = path.iter_mut().filter(|tier| tier.address.is_none());
    reached.filter_map(|tier| tier.requests.as_mut()).for_each(|requests| requests.round_trip_ns = trip_ns);
    for position in 0..path.len() {
        scale_waits(&mut path, position, &census);
    }
    path.iter_mut().for_each(bound_locks);
    path
}

/// Bounds the time in which threads of a tier wait for locks by the time of a request there without what the tier asks of others:
/// who waits beyond that waits for another thread of the program, which asks.
fn bound_locks(tier: &mut PathTier) {
    let Some(own_ns) = tier.requests.as_ref().and_then(|requests| requests.own_ns) else { return };
    for wait in tier.waits.iter_mut().filter(|wait| wait.kind == WaitKind::Lock) {
        let part = wait.time_ns.and_then(|time_ns| ratio(own_ns, time_ns)).unwrap_or(1.0).min(1.0);
        wait.threads_count *= part;
        wait.time_ns = wait.time_ns.map(|time_ns| time_ns * part);
    }
}

/// Adds what the kernel saw at the connections of each tier, and the addresses that nobody could look into.
fn add_requests(
    path: &mut Vec<PathTier>,
    places: &Places,
    connections: &Connections,
    client_ns: Option<f64>,
) {
    for position in 0..path.len() {
        let scope = scope_of(&path[position]);
        let asked = connections
            .asked(&scope)
            .iter()
            .map(|asked| {
                let known = path.iter().position(|tier| tier.address.as_deref() == Some(asked.address));
                let on = known.or_else(|| places.own(asked.address)).unwrap_or_else(|| {
                    path.push(outside(asked.address, position));
                    path.len() - 1
                });
                asked.on(on)
            })
            .collect();
        let arriving = Arriving {
            client_ns: client_ns.filter(|_| path[position].address.is_none()),
            is_in_pieces: is_in_pieces(path, position, connections),
        };
        path[position].requests = connections.requests(&scope, asked, &path[position].waits, arriving);
    }
}

/// Whether each that asks the tier at this position asks for one thing at a time on a connection.
fn is_in_pieces(path: &[PathTier], position: usize, connections: &Connections) -> bool {
    if path[position].address.is_none() {
        return connections.is_one_at_a_time;
    }
    let asked = path.iter().filter_map(|tier| tier.requests.as_ref()).flat_map(|requests| &requests.asked);
    let mut of_it = asked.filter(|asked| asked.on == position).peekable();
    of_it.peek().is_some() && of_it.all(|asked| asked.merged_ratio <= requests::MERGED_MAX)
}

/// Scales what the threads of a tier did to the time that the kernel saw at its connections: a census of some hundred threads knows
/// how a time is divided better than how long it is. Only where whoever asked the tier was seen with it: then its threads are where
/// its requests are.
fn scale_waits(path: &mut [PathTier], position: usize, census: &Window) {
    let Some(address) = &path[position].address else { return };
    let own_scope = scope_of(&path[position]);
    let asking = path.iter().filter_map(|tier| {
        let scope = format!("{}>{address}", scope_of(tier));
        census.level_beside(column::WAITS_ASKING, &scope, (column::WAITS_THREADS, &own_scope))
    });
    let asking: f64 = asking.map(|level| level.mean).sum();
    let PathTier { waits, requests: Some(requests), .. } = &mut path[position] else { return };
    let is_own = |wait: &&TierWait| !matches!(wait.kind, WaitKind::Asking | WaitKind::Network);
    let own: f64 = waits.iter().filter(is_own).map(|wait| wait.threads_count).sum();
    let seen_ns: f64 = waits.iter().filter(is_own).filter_map(|wait| wait.time_ns).sum();
    let Some(own_ns) = requests.own_ns.filter(|own_ns| *own_ns > seen_ns) else { return };
    let Some(factor) = ratio(own_ns, seen_ns).filter(|factor| *factor <= SCALED_MAX) else { return };
    if own < asking * COVERED_MIN || asking <= 0.0 {
        return;
    }
    for wait in waits.iter_mut().filter(|wait| is_own(&&**wait)) {
        wait.threads_count *= factor;
        wait.time_ns = wait.time_ns.map(|time_ns| time_ns * factor);
    }
    requests.rest_ns = Some(0.0);
}

/// The address of a tier as a path has it.
pub(crate) fn address_text(address: &Endpoint) -> String {
    listener_scope(address)[ScopeKind::Listener.prefix().len()..].to_owned()
}

/// What the address of a listener's scope is called in a sentence.
pub(crate) fn listener_name(scope: &str) -> String {
    name(scope.trim_start_matches(ScopeKind::Listener.prefix()))
}

/// What a tier is called in a sentence.
pub(crate) fn called(path: &[PathTier], tier: &PathTier) -> String {
    name(&tier.called(path))
}

/// The scope of what is known of a tier.
pub(crate) fn scope_of(tier: &PathTier) -> String {
    tier.address.as_ref().map_or_else(|| tier_scope(None), |address| format!("tier:{address}"))
}

/// The positions of the tiers in front of this one: of the one that asks it, and so on to the one that the load reaches.
pub(crate) fn in_front(path: &[PathTier], position: usize) -> impl Iterator<Item = usize> {
    let asking = |position: &usize| path.get(*position).and_then(|tier| tier.asked_by);
    // A record could say that two ask each other.
    std::iter::successors(Some(position), asking).skip(1).take(path.len())
}

/// What somebody is called who is only known by an address.
pub(crate) fn outside_name(address: &str) -> String {
    match address.strip_suffix(&format!(":{NAME_SERVICE_PORT}")) {
        Some(host) => format!("name server {host}"),
        None => address.strip_prefix("unix:").unwrap_or(address).to_owned(),
    }
}

/// What is only known as an address that others ask.
fn outside(address: &str, asked_by: usize) -> PathTier {
    PathTier {
        name: outside_name(address),
        unit: None,
        address: Some(address.to_owned()),
        asked_by: Some(asked_by),
        processes_count: 0,
        threads_count: None,
        cpus: None,
        run_delay_cpus: None,
        connections: None,
        unread: None,
        queue: None,
        queue_time_ns: None,
        queue_limit_count: None,
        serving_count: None,
        waits: vec![],
        requests: None,
        is_outside: true,
    }
}

/// The part of a window in which all tiers were known: before, what they did was that of the tiers in front, or nobody's. Where that
/// leaves less than a second, all of it.
pub(crate) fn since_known<'a>(view: &TrialView<'a>, window: Window<'a>) -> Window<'a> {
    // A tier may start processes as long as it lives; it was known with the first one.
    let mut found: Vec<(&Endpoint, MonoNs)> = Vec::new();
    for event in view.events {
        let EventKind::Watched(WatchedProcess { tier: Some(tier), .. }) = &event.event else { continue };
        if !found.iter().any(|(address, _)| *address == &tier.address) {
            found.push((&tier.address, event.mono_ns));
        }
    }
    let found = found.into_iter().map(|(_, at)| at);
    let Some(last) = found.filter(|at| *at > window.begin && *at < window.end).max() else { return window };
    let is_long = window.end.seconds_since(last) >= KNOWN_SECONDS_MIN;
    if is_long { Window::new(view.server_series(), last, window.end) } else { window }
}

/// Handshakes ÷ requests from which on the times of the tier and of the load cannot be compared. Unit: ratio.
const HANDSHAKES_MIN: f64 = 0.05;

/// Failed and timed-out requests ÷ all of them, up to which those that a tier answered are all that it had. Unit: ratio.
const UNANSWERED_MAX: f64 = 0.01;

/// What was read in less than this says little. Unit: seconds.
const KNOWN_SECONDS_MIN: f64 = 1.0;

/// Threads of a tier with a request ÷ threads of others that wait for it, from which on the former are all there are. Unit: ratio.
const COVERED_MIN: f64 = 0.8;

/// What the threads of a tier did is scaled by this much at most: beyond it, the census hardly saw a request. Unit: ratio.
const SCALED_MAX: f64 = 5.0;

#[cfg(test)]
mod tests;
