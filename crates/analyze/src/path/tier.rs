//! A group of processes as a tier of the path: what they used, and what their threads did.

use super::group::Group;
use super::places::{Places, asked_by, asking_at};
use super::{address_text, requests};
use crate::readings::{Level, Window, process_scope, ratio, sum_known};
use std::collections::BTreeSet;
use sysdyno_record::column::{self, Quantity, asking_scope, tier_scope};
use sysdyno_record::path::{GaugeRange, PathTier, TierWait, WaitKind};

/// From so many answers on, the times at a tier's connections say how many requests it had.
const ANSWERED_MIN: f64 = 20.0;

/// Requests on their way ÷ those that the load's own times say there are, at most: a census sees some more by chance. Unit: ratio.
const IN_FLIGHT_SLACK: f64 = 1.2;

/// What is known of all tiers.
pub(super) struct PathScene<'a> {
    pub(super) window: &'a Window<'a>,
    /// The part of it in which all tiers were known.
    pub(super) census: &'a Window<'a>,
    /// Where each address is on the path.
    pub(super) places: &'a Places,
    /// Processes that ended meanwhile.
    pub(super) ended: BTreeSet<u32>,
    /// Completed requests per second.
    pub(super) rate_hz: f64,
    /// Whether hardly any request failed or timed out.
    pub(super) are_answered: bool,
    /// How many requests the load had on their way on average: by Little's law, or, where some failed, as counted each second.
    pub(super) in_flight: Option<f64>,
}

impl Group<'_> {
    pub(super) fn tier(&self, groups: &[Group], seen: &PathScene) -> PathTier {
        let PathScene { window, census, rate_hz, .. } = *seen;
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
        seen: &PathScene,
        range: &dyn Fn(Quantity) -> Option<GaugeRange>,
    ) -> Vec<TierWait> {
        let PathScene { census: window, rate_hz, .. } = *seen;
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
    fn requests_most(&self, groups: &[Group], seen: &PathScene, connections: Option<GaugeRange>) -> f64 {
        let connections = || connections.map(|range| range.mean.max(self.asking_count(groups, seen.census)));
        let own = self.requests_count(groups, seen).or_else(connections);
        let sent = seen.in_flight.filter(|_| self.address.is_none()).map(|count| count * IN_FLIGHT_SLACK);
        [own, sent].into_iter().flatten().fold(f64::INFINITY, f64::min)
    }

    /// No more requests can have been read on average: what is on its way, without what lies in sockets, of connections that were
    /// accepted or not. A thread that has nothing to do waits in the same call as for a lock.
    fn read_most(&self, seen: &PathScene, range: &dyn Fn(Quantity) -> Option<GaugeRange>) -> f64 {
        let Some(sent) = seen.in_flight.filter(|_| self.address.is_none()) else { return f64::INFINITY };
        // A connection that waits to be accepted may hold a request, and is among those that do then.
        let unread = [column::CONNECTIONS_UNREAD, column::LISTENER_QUEUE].into_iter().filter_map(range);
        (sent * IN_FLIGHT_SLACK - unread.map(|range| range.mean).fold(0.0, f64::max)).max(0.0)
    }

    /// How many requests it had on average, by the times at its connections, or as many as threads of others waited for it;
    /// `None`: not known, or some were never answered.
    fn requests_count(&self, groups: &[Group], seen: &PathScene) -> Option<f64> {
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
