//! The path of a request: which processes the load reached, which others they called, and what each of these tiers did.

mod parts;
mod places;
mod requests;
mod round_trip;

use crate::format::name;
use crate::readings::{Level, Window, process_scope, ratio, sum_known};
use crate::view::{TrialView, error_ratio, finite_or_zero};
pub(crate) use parts::largest_part;
use places::{Places, asked_by, asking_at};
use requests::{Arriving, Connections};
pub(crate) use round_trip::{CONNECTS, FAST_RATIO, REPEATED, round_trip_ns};
use std::collections::BTreeSet;
use sysdyno_record::column::{self, Quantity, ScopeKind, asking_scope, listener_scope, tier_scope};
use sysdyno_record::event::{EventKind, ProcessRole, WatchedProcess};
use sysdyno_record::load::LatencyKind;
use sysdyno_record::path::{GaugeRange, PathTier, TierWait, WaitKind};
use sysdyno_record::plan::{Endpoint, NAME_SERVICE_PORT};
use sysdyno_record::units::MonoNs;

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
    let seen =
        Seen { window: &window, census: &census, places: &places, ended, rate_hz, are_answered, in_flight };
    let mut path: Vec<PathTier> = groups.iter().map(|group| group.tier(&groups, &seen)).collect();
    path.extend(places.outside.iter().map(|(address, asked_by)| outside(address, *asked_by)));
    // Handshakes are read and answered, too, but are in no service time.
    let handshakes = view.measured().handshakes.map_or(0, |handshakes| handshakes.full + handshakes.resumed);
    let has_handshakes =
        ratio(handshakes as f64, view.counts().sent as f64).is_some_and(|part| part >= HANDSHAKES_MIN);
    let client_ns = service_ns.filter(|_| !has_handshakes);
    let felt_ns = view.summary(view.felt_kind()).mean.filter(|mean| *mean > 0.0);
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

/// From so many answers on, the times at a tier's connections say how many requests it had.
const ANSWERED_MIN: f64 = 20.0;

/// What was read in less than this says little. Unit: seconds.
const KNOWN_SECONDS_MIN: f64 = 1.0;

/// Threads of a tier with a request ÷ threads of others that wait for it, from which on the former are all there are. Unit: ratio.
const COVERED_MIN: f64 = 0.8;

/// Requests on their way ÷ those that the load's own times say there are, at most: a census sees some more by chance. Unit: ratio.
const IN_FLIGHT_SLACK: f64 = 1.2;

/// What the threads of a tier did is scaled by this much at most: beyond it, the census hardly saw a request. Unit: ratio.
const SCALED_MAX: f64 = 5.0;

/// What is known of all tiers.
struct Seen<'a> {
    window: &'a Window<'a>,
    /// The part of it in which all tiers were known.
    census: &'a Window<'a>,
    /// Where each address is on the path.
    places: &'a Places,
    /// Processes that ended meanwhile.
    ended: BTreeSet<u32>,
    /// Completed requests per second.
    rate_hz: f64,
    /// Whether hardly any request failed or timed out.
    are_answered: bool,
    /// How many requests the load had on their way on average: by Little's law, or, where some failed, as counted each second.
    in_flight: Option<f64>,
}

/// The processes behind one address; those that the load reaches are one group.
struct Group<'a> {
    address: Option<&'a Endpoint>,
    processes: Vec<&'a WatchedProcess>,
}

impl<'a> Group<'a> {
    fn all(processes: &[&'a WatchedProcess]) -> Vec<Group<'a>> {
        let mut groups: Vec<Group> = Vec::new();
        for process in processes {
            let address = process.tier.as_ref().map(|tier| &tier.address);
            match groups.iter_mut().find(|group| group.address == address) {
                Some(group) => group.processes.push(process),
                None => groups.push(Group { address, processes: vec![process] }),
            }
        }
        groups
    }

    fn depth(&self) -> u32 {
        self.processes[0].tier.as_ref().map_or(0, |tier| tier.depth)
    }

    fn tier(&self, groups: &[Group], seen: &Seen) -> PathTier {
        let Seen { window, census, rate_hz, .. } = *seen;
        let first = self.processes[0];
        let asked_by = first.tier.as_ref().map(|tier| tier.asked_by_pid);
        let asks = |group: &Group| group.processes.iter().any(|process| Some(process.pid) == asked_by);
        let threads = self.processes.iter().map(|process| {
            window.level(column::PROCESS_THREADS, &process_scope(process)).map(|level| level.mean)
        });
        let living = self.processes.iter().filter(|process| !seen.ended.contains(&process.pid)).count();
        let scopes = self.scopes(groups, window);
        let level = |gauge: Quantity| scopes.iter().find_map(|scope| window.level(gauge, scope));
        let range = |gauge: Quantity| level(gauge).map(|Level { mean, max, .. }| GaugeRange { mean, max });
        PathTier {
            name: first.command.clone(),
            unit: first.unit.clone(),
            address: self.address.map(address_text),
            asked_by: asked_by.map(|_| groups.iter().position(asks).unwrap_or(0)),
            processes_count: if living == 0 { self.processes.len() } else { living } as u64,
            threads_count: sum_known(threads),
            cpus: window.process_cpus(&self.processes),
            run_delay_cpus: window.process_run_delay(&self.processes),
            connections: range(column::CONNECTIONS_ESTABLISHED),
            unread: range(column::CONNECTIONS_UNREAD),
            queue: range(column::LISTENER_QUEUE),
            queue_time_ns: level(column::LISTENER_QUEUE)
                .and_then(|level| ratio(level.mean, rate_hz))
                .map(|seconds| seconds * 1e9),
            queue_limit_count: level(column::LISTENER_LIMIT).map(|level| level.max),
            serving_count: census
                .level(column::WAITS_THREADS, &tier_scope(self.address))
                .map(|level| level.mean),
            waits: self.waits(groups, seen, &range),
            requests: None,
            is_outside: false,
        }
    }

    /// What its threads did while they had a request, the most first.
    fn waits(
        &self,
        groups: &[Group],
        seen: &Seen,
        range: &dyn Fn(Quantity) -> Option<GaugeRange>,
    ) -> Vec<TierWait> {
        let Seen { census: window, rate_hz, .. } = *seen;
        let own = tier_scope(self.address);
        let mean = |gauge| window.level(gauge, &own).map(|level| level.mean);
        let known = KINDS.iter().map(|(kind, gauge)| (*kind, None, mean(*gauge)));
        let asking = window.scopes(column::WAITS_ASKING).into_iter().filter_map(|scope| {
            let position = seen.places.of_address(asked_by(&own, scope)?)?;
            Some((WaitKind::Asking, Some(position), asking_at(window, scope)))
        });
        let wait = |(kind, on, count): (WaitKind, Option<usize>, Option<f64>)| {
            Some(TierWait { kind, on, threads_count: count?, time_ns: None })
        };
        let mut waits: Vec<TierWait> = known.chain(asking).filter_map(wait).collect();
        // The kernel knows better than a census how long threads ran, or were ready.
        let wanted = window.process_cpus(&self.processes).zip(window.process_run_delay(&self.processes));
        for running in waits.iter_mut().filter(|wait| wait.kind == WaitKind::Running) {
            let most = wanted.map_or(f64::INFINITY, |(ran, waited)| ran + waited);
            running.threads_count = running.threads_count.min(most);
        }
        let most = self.requests_most(groups, seen, range(column::CONNECTIONS_ESTABLISHED));
        leave_out_rest(&mut waits, groups.len(), most);
        let read_most = self.read_most(seen, range);
        for locked in waits.iter_mut().filter(|wait| wait.kind == WaitKind::Lock) {
            locked.threads_count = locked.threads_count.min(read_most);
        }
        waits.retain(|wait| wait.threads_count > 0.0);
        for wait in &mut waits {
            wait.time_ns = ratio(wait.threads_count, rate_hz).map(|seconds| seconds * 1e9);
        }
        waits.sort_by(|one, other| other.threads_count.total_cmp(&one.threads_count));
        waits
    }

    /// No more of its threads can have had a request on average: by its requests, or else its connections, and by what the load
    /// itself had on its way.
    fn requests_most(&self, groups: &[Group], seen: &Seen, connections: Option<GaugeRange>) -> f64 {
        let connections = || connections.map(|range| range.mean.max(self.asking_count(groups, seen.census)));
        let own = self.requests_count(groups, seen).or_else(connections);
        let sent = seen.in_flight.filter(|_| self.address.is_none()).map(|count| count * IN_FLIGHT_SLACK);
        [own, sent].into_iter().flatten().fold(f64::INFINITY, f64::min)
    }

    /// No more requests can have been read on average: what is on its way, without what lies in sockets. A thread that has nothing
    /// to do waits in the same call as for a lock.
    fn read_most(&self, seen: &Seen, range: &dyn Fn(Quantity) -> Option<GaugeRange>) -> f64 {
        let Some(sent) = seen.in_flight.filter(|_| self.address.is_none()) else { return f64::INFINITY };
        let unread = [column::CONNECTIONS_UNREAD, column::LISTENER_QUEUE].into_iter().filter_map(range);
        (sent * IN_FLIGHT_SLACK - unread.map(|range| range.mean).sum::<f64>()).max(0.0)
    }

    /// How many requests it had on average, by the times at its connections, or as many as threads of others waited for it;
    /// `None`: not known, or some were never answered.
    fn requests_count(&self, groups: &[Group], seen: &Seen) -> Option<f64> {
        let own = tier_scope(self.address);
        let growth = |counter| seen.census.growth(counter, &own);
        let answered = growth(column::REQUESTS_ANSWERED)?.amount;
        let merged = growth(column::REQUESTS_MERGED)?.amount;
        if !seen.are_answered || answered < ANSWERED_MIN || merged > answered * requests::MERGED_MAX {
            return None;
        }
        let inside = growth(column::REQUESTS_INSIDE_TIME)?.per_second()? / 1e9;
        Some(inside.max(self.asking_count(groups, seen.census)))
    }

    /// How many threads of other tiers waited for it on average.
    fn asking_count(&self, groups: &[Group], census: &Window) -> f64 {
        let asking = groups.iter().filter_map(|group| {
            let scope = asking_scope(group.address, self.address?);
            Some(census.level(column::WAITS_ASKING, &scope)?.mean)
        });
        asking.sum()
    }

    /// The scopes of its listening sockets; of those that the load reaches, all that are no other tier's.
    fn scopes(&self, groups: &[Group], window: &Window) -> Vec<String> {
        if let Some(address) = self.address {
            return vec![listener_scope(address)];
        }
        let others: Vec<String> =
            groups.iter().filter_map(|group| group.address).map(listener_scope).collect();
        let all = window.scopes(column::LISTENER_QUEUE).into_iter().map(str::to_owned);
        all.filter(|scope| !others.contains(scope)).collect()
    }
}

/// Whether threads wait for something also while they have no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Never,
    Sometimes,
    Often,
}

/// Takes out threads that wait for their next request, so that no more are left than can have one: first what threads of a pool
/// often wait for, then what they sometimes do. Of the places that are asked, so many are tiers; the others are outside.
fn leave_out_rest(waits: &mut [TierWait], tiers_count: usize, most: f64) {
    let rest_of = |wait: &TierWait| match wait.on.is_some_and(|on| on >= tiers_count) {
        true => Rest::Sometimes,
        false => rest_of(wait.kind),
    };
    for rest in [Rest::Often, Rest::Sometimes] {
        let sum = |is_resting: bool| -> f64 {
            let of_it = waits.iter().filter(|wait| (rest_of(wait) == rest) == is_resting);
            of_it.map(|wait| wait.threads_count).sum()
        };
        let room = (most - sum(false)).max(0.0);
        let part = ratio(room, sum(true)).map_or(1.0, |part| part.min(1.0));
        let resting = waits.iter_mut().filter(|wait| rest_of(wait) == rest);
        resting.for_each(|wait| wait.threads_count *= part);
    }
}

fn rest_of(kind: WaitKind) -> Rest {
    match kind {
        WaitKind::Lock | WaitKind::Process | WaitKind::Other => Rest::Often,
        WaitKind::Network => Rest::Sometimes,
        _ => Rest::Never,
    }
}

/// What threads with a request do, by column.
const KINDS: [(WaitKind, Quantity); 8] = [
    (WaitKind::Running, column::WAITS_RUNNING),
    (WaitKind::Lock, column::WAITS_LOCK),
    (WaitKind::Process, column::WAITS_PROCESS),
    (WaitKind::Disk, column::WAITS_DISK),
    (WaitKind::Timer, column::WAITS_TIMER),
    (WaitKind::Stopped, column::WAITS_STOPPED),
    (WaitKind::Network, column::WAITS_NETWORK),
    (WaitKind::Other, column::WAITS_OTHER),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus::{Specimen, TARGET, with_tier};

    fn open() -> Specimen {
        Specimen::open(100.0, 10.0)
    }

    #[test]
    fn tiers_hang_on_those_that_ask_them_and_times_follow_from_threads() {
        let of = "tier:127.0.0.1:9000";
        let case = with_tier(open(), "php-fpm", "127.0.0.1:9000", 1, TARGET);
        let database = case.watched.last().map_or(0, |process| process.pid);
        let case = with_tier(case, "mariadbd", "127.0.0.1:3306", 2, database)
            .gauge("listener.queue_count", "listener:127.0.0.1:9000", 30.0)
            .gauge("connections.established_count", "listener:127.0.0.1:9000", 4.0)
            .gauge("waits.threads_count", of, 5.0)
            .gauge("waits.running_count", of, 0.5)
            .gauge("waits.idle_count", of, 1.0)
            .gauge("waits.lock_count", of, 3.0)
            .gauge("waits.asking_count", "tier:127.0.0.1:9000>127.0.0.1:3306", 2.0)
            .build();
        let path = path_of(&case.view());
        let names: Vec<_> = path.iter().map(|tier| (tier.name.as_str(), tier.asked_by)).collect();
        assert_eq!(names, [("nginx", None), ("php-fpm", Some(0)), ("mariadbd", Some(1))]);
        let tier = &path[1];
        assert_eq!(tier.address.as_deref(), Some("127.0.0.1:9000"));
        let near = |value: Option<f64>, expected: f64| (value.unwrap_or(0.0) / expected - 1.0).abs() < 0.01;
        let ns = 1e9 / case.view().measured().achieved_hz;
        assert!(near(tier.queue_time_ns, 30.0 * ns), "{tier:?}");
        let waits: Vec<_> = tier.waits.iter().map(|wait| (wait.kind, wait.on, wait.threads_count)).collect();
        let asking = (WaitKind::Asking, Some(2), 2.0);
        assert_eq!(waits, [asking, (WaitKind::Lock, None, 1.5), (WaitKind::Running, None, 0.5)]);
        assert!(near(tier.waits[0].time_ns, 2.0 * ns), "{tier:?}");
    }

    #[test]
    fn a_census_divides_the_time_that_was_seen_at_the_connections() {
        let of = "tier:127.0.0.1:3306";
        let lock_ms = |locked: f64| {
            let case = with_tier(open(), "mariadbd", "127.0.0.1:3306", 1, TARGET)
                .gauge("connections.established_count", "listener:127.0.0.1:3306", 10.0)
                .gauge("waits.asking_count", "tier:target>127.0.0.1:3306", 1.0)
                .gauge("waits.threads_count", of, 2.0)
                .gauge("waits.running_count", of, 0.1)
                .gauge("waits.lock_count", of, locked)
                .counter("requests.read_count", of, 100.0)
                .counter("requests.answered_count", of, 100.0)
                .counter("requests.merged_count", of, 0.0)
                .counter("requests.unread_ns", of, 0.0)
                .counter("requests.inside_ns", of, 100.0 * 20e6)
                .build();
            let path = path_of(&case.view());
            let wait = path[1].waits.iter().find(|wait| wait.kind == WaitKind::Lock);
            wait.and_then(|wait| wait.time_ns).unwrap_or_default() / 1e6
        };
        assert!((lock_ms(0.9) - 18.0).abs() < 0.2, "{}", lock_ms(0.9));
        assert!((lock_ms(0.3) - 3.0).abs() < 0.1, "{}: most of the requests are elsewhere", lock_ms(0.3));
    }

    #[test]
    fn threads_that_rest_for_their_next_connection_wait_for_no_lock() {
        let of = "tier:127.0.0.1:3306";
        let case = |inside_ns: f64, answered: f64| {
            let case = with_tier(open(), "mariadbd", "127.0.0.1:3306", 1, TARGET)
                .gauge("connections.established_count", "listener:127.0.0.1:3306", 3.0)
                .gauge("waits.threads_count", of, 9.0)
                .gauge("waits.lock_count", of, 8.0)
                .counter("requests.answered_count", of, answered)
                .counter("requests.merged_count", of, 0.0)
                .counter("requests.inside_ns", of, inside_ns)
                .build();
            path_of(&case.view())[1].waits[0].threads_count
        };
        assert!(
            (case(0.02e9, 100.0) - 0.02).abs() < 1e-3,
            "a request in fifty was there, whatever the threads did"
        );
        assert!(
            (case(2.5e9, 100.0) - 2.5).abs() < 0.01,
            "requests that do wait for a lock are inside as long"
        );
        assert!((case(20e9, 0.0) - 3.0).abs() < 0.01, "without answers, no more than connections");
    }

    #[test]
    fn threads_wait_for_no_lock_while_the_requests_lie_in_sockets() {
        let locked = |queued: f64| {
            let case = open()
                .edit(|case| case.fill(LatencyKind::Service, crate::corpus::spread(1_000, 100e6)))
                .gauge("listener.queue_count", "listener:127.0.0.1:8080", queued)
                .gauge("waits.threads_count", "tier:target", 8.0)
                .gauge("waits.lock_count", "tier:target", 8.0)
                .build();
            path_of(&case.view())[0].threads_at(WaitKind::Lock)
        };
        assert!((locked(0.0) - 8.0).abs() < 0.01, "{}", locked(0.0));
        assert!(locked(11.0) < 3.0, "they rest: {}", locked(11.0));
    }

    #[test]
    fn threads_of_the_server_have_no_more_requests_than_the_load_and_run_no_longer_than_the_kernel_says() {
        // 100 requests per second of 10 ms each: one is on its way.
        let process = format!("process:{TARGET}");
        let case = open()
            .edit(|case| case.fill(LatencyKind::Service, crate::corpus::spread(1_000, 10e6)))
            .counter("process.cpu_us", &process, 0.2e6)
            .counter("process.run_delay_us", &process, 0.1e6)
            .gauge("waits.threads_count", "tier:target", 30.0)
            .gauge("waits.running_count", "tier:target", 2.0)
            .gauge("waits.other_count", "tier:target", 20.0)
            .gauge("waits.network_count", "tier:target", 5.0)
            .build();
        let path = path_of(&case.view());
        let count = |kind| {
            let wait = path[0].waits.iter().find(|wait| wait.kind == kind);
            wait.map_or(0.0, |wait| wait.threads_count)
        };
        assert!((count(WaitKind::Running) - 0.3).abs() < 0.01, "{:?}", path[0]);
        let all: f64 = path[0].waits.iter().map(|wait| wait.threads_count).sum();
        assert!((1.0..1.5).contains(&all), "{:?}", path[0]);
        assert!(count(WaitKind::Network) > 0.5 && count(WaitKind::Other) == 0.0, "{:?}", path[0]);
    }

    #[test]
    fn a_server_that_asks_nobody_is_one_tier() {
        let case = open().build();
        assert_eq!(path_of(&case.view()).len(), 1);
    }

    #[test]
    fn who_waits_for_a_lock_beyond_the_time_that_is_the_tiers_own_waits_for_a_thread_that_asks() {
        let locked_ms = |asking_ms: f64| {
            let asked = "tier:target>127.0.0.1:9000";
            let case = with_tier(open(), "node", "127.0.0.1:9000", 1, TARGET)
                .edit(|case| case.fill(LatencyKind::Response, crate::corpus::spread(1_000, 100e6)))
                .edit(|case| case.fill(LatencyKind::Service, crate::corpus::spread(1_000, 100e6)))
                .gauge("waits.threads_count", "tier:target", 8.0)
                .gauge("waits.lock_count", "tier:target", 8.0)
                .requests("tier:target", [1e3, 80e6])
                .per_request(asked, &[("asked.sent_count", 1.0), ("asked.merged_count", 0.0)])
                .per_request(asked, &[("asked.waiting_ns", asking_ms * 1e6), ("asked.trailing_ns", 0.0)])
                .per_request(asked, &[("asked.unread_ns", 0.0)])
                .build();
            let path = path_of(&case.view());
            let wait = path[0].waits.iter().find(|wait| wait.kind == WaitKind::Lock);
            wait.and_then(|wait| wait.time_ns).unwrap_or(0.0) / 1e6
        };
        assert!(locked_ms(75.0) < 6.0, "{}", locked_ms(75.0));
        assert!(locked_ms(10.0) > 60.0, "{}", locked_ms(10.0));
    }
}
