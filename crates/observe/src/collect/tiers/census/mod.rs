//! A census of the server's threads: what each runs or waits for at one instant, counted by tier.
//!
//! By Little's law the mean number of threads that wait for something, divided by the rate of requests, is the time that a request
//! spends waiting for it. That holds for threads that serve one request at a time; an event loop is idle in the census whatever
//! its requests wait for. In a process of many threads only those count that were once seen at a connection of a request:
//! the others (writers, timers, collectors of garbage) wait for something else. Where each connection has a thread that reads it,
//! there are as many of them as connections: while all wait for one lock, few are ever seen at their connection, and those that
//! are missing are looked for among the rest: not at a place in memory where several wait even while none is missing, since that is
//! where they wait for something to do. A thread that was there before may sleep for its own purposes; one that has begun since
//! then and sleeps has a request. Where the kernel sees which threads have requests ([`RequestHandling`](crate::threads)), none of
//! this is guessed: who has one counts, and who has none waits for one. Who may not trace the processes sees nothing.

mod roles;

use super::counts::TierCounts;
use super::look::{Look, Sighting, TierThreads};
use crate::discover::ConnectionEnds;
use crate::threads::{Sight, SocketEnd, SocketEnds, SocketSeen, at_sockets};
use crate::watch::Watchlist;
use roles::{ThreadRole, ThreadRoles};
use std::collections::{HashMap, HashSet};
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::live::ThreadWait;
use sysdyno_record::plan::{Endpoint, NAME_SERVICE_PORT};

#[derive(Debug, Default)]
pub(super) struct Census {
    roles: ThreadRoles,
    /// What sockets were.
    ends: SocketEnds<Option<Endpoint>>,
    /// Tiers as they were looked at last.
    tiers: HashMap<Option<Endpoint>, TierThreads>,
}

impl Census {
    /// Looks at the threads of a tier.
    pub(super) fn look(
        &mut self,
        scene: &Watchlist,
        address: &Option<Endpoint>,
        processes: &[WatchedProcess],
        buffer: &mut Vec<u8>,
    ) -> Look {
        let roots = &scene.roots;
        self.roles.note_parents(processes);
        let tier = self.tiers.entry(address.clone()).or_default();
        let threads = tier.threads(roots, processes);
        let is_first = self.roles.note_residents(&threads);
        let sightings = tier.look(roots, &threads, scene.handling.as_deref(), buffer);
        Look { tier: address.clone(), sightings, scale: TierThreads::scale(threads.len()), is_first }
    }

    /// Remembers what the sockets are that threads wait at; `is_new`: the list was made after the look.
    pub(super) fn learn(&mut self, look: &Look, ends: &ConnectionEnds, is_new: bool) {
        let sockets = look.sightings.iter().filter_map(Sighting::sockets);
        sockets.flatten().for_each(|socket| self.ends.learn(&look.tier, *socket, (ends, is_new)));
    }

    /// Whether it is known what the sockets are that threads wait at.
    pub(super) fn knows_sockets(&self, look: &Look, ends: &ConnectionEnds) -> bool {
        let is_known = |socket: &SocketSeen| self.ends.of(&look.tier, *socket, ends).is_some();
        let mut sockets = look.sightings.iter().filter_map(Sighting::sockets);
        sockets.all(|sockets| sockets.is_empty() || sockets.iter().any(is_known))
    }

    /// Counts what was seen, by the sockets as they are now; `connections`: how many the tier has accepted, if that is known, and
    /// whether they were counted just after the look.
    pub(super) fn count(
        &mut self,
        look: &Look,
        ends: &ConnectionEnds,
        connections: Option<(f64, bool)>,
    ) -> TierCounts {
        let is_new = connections.is_some_and(|(_, is_new)| is_new);
        let connections = connections.map(|(count, _)| count);
        self.roles.note_event_loops(look);
        self.roles.note_readers(look, connections);
        let mut counts = TierCounts::default();
        let mut rest = TierCounts::default();
        let mut stopped: HashSet<u32> = HashSet::new();
        for sighting in &look.sightings {
            let found: Vec<Option<SocketEnd>> = sighting
                .sockets()
                .into_iter()
                .flatten()
                .map(|socket| self.ends.of(&look.tier, *socket, ends))
                .collect();
            let (wait, asked) = match &sighting.seen {
                Sight::Known(wait) => (*wait, None),
                Sight::Sockets(_) => at_sockets(&found),
            };
            self.roles.note_request(sighting, wait, &found);
            let (wait, asked) =
                if is_at_rest(sighting, wait) { (ThreadWait::Idle, None) } else { (wait, asked) };
            let pid = sighting.thread.0;
            match self.roles.role(sighting, wait) {
                ThreadRole::Serving => {
                    counts.threads += 1.0;
                    let open = sighting.request.filter(|_| sighting.has_request());
                    let share = open.map_or(1.0, |request| f64::from(request.share));
                    counts.add(wait, asked, share);
                    // As many of those that nobody watches are not idle.
                    counts.add(ThreadWait::Idle, None, 1.0 - share);
                }
                ThreadRole::OnlyLoop => {
                    counts.threads += 1.0;
                    counts.add(of_loop(wait), asked, 1.0);
                    stopped.insert(pid);
                }
                ThreadRole::Master => {}
                ThreadRole::Unknown => {
                    // Whatever the threads of a process are for, none of them goes on while it is stopped.
                    if wait == ThreadWait::Stopped && stopped.insert(pid) {
                        counts.waits[wait as usize] += 1.0;
                    }
                    // An event loop leaves names to a pool of threads, which serve nobody else.
                    if asked.is_some_and(is_name_server) && self.roles.has_event_loop(pid) {
                        counts.add(wait, asked, 1.0);
                    } else if self.roles.may_have_request(sighting, wait) {
                        rest.add(wait, asked, 1.0);
                    }
                }
            }
        }
        // An older number may be of a time before the load, and one by scale of threads that nobody saw.
        if is_new && connections.is_some_and(|connections| counts.threads >= connections) {
            self.roles.note_rests(look);
        }
        let idle = &mut counts.waits[ThreadWait::Idle as usize];
        *idle = idle.max(0.0);
        counts.scale(look.scale);
        rest.scale(look.scale);
        let missing = connections.map_or(0.0, |connections| (connections - counts.threads).max(0.0));
        counts.add_missing(missing, &rest);
        counts
    }
}

/// Whether a thread counts as one that waits for a request, whatever it waits in: it has none, or none that is watched, for which
/// others stand. One that is stopped is that either way.
fn is_at_rest(sighting: &Sighting, wait: ThreadWait) -> bool {
    let is_unclear = matches!(wait, ThreadWait::Lock | ThreadWait::Timer);
    let is_stopped = wait == ThreadWait::Stopped;
    let is_at_rest = |share: u32| is_unclear || (share > 1 && !is_stopped);
    sighting.request.is_some_and(|request| !request.is_open && is_at_rest(request.share))
}

/// What an event loop does that was seen at something: it may wait for its own helpers, or sleep until it is time for something.
fn of_loop(wait: ThreadWait) -> ThreadWait {
    match wait {
        ThreadWait::Lock | ThreadWait::Timer | ThreadWait::Other => ThreadWait::Idle,
        wait => wait,
    }
}

/// Whether names are looked up there.
fn is_name_server(address: &Endpoint) -> bool {
    matches!(address, Endpoint::Tcp(address) if address.port() == NAME_SERVICE_PORT)
}

#[cfg(test)]
mod tests;
