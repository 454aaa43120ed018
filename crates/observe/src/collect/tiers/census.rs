//! A census of the server's threads: what each runs or waits for at one instant, counted by tier.
//!
//! By Little's law the mean number of threads that wait for something, divided by the rate of requests, is the time that a request
//! spends waiting for it. That holds for threads that serve one request at a time; an event loop is idle in the census whatever
//! its requests wait for. In a process of many threads only those count that were once seen at a connection of a request:
//! the others (writers, timers, collectors of garbage) wait for something else. Where each connection has a thread that reads it,
//! there are as many of them as connections: while all wait for one lock, few are ever seen at their connection, and those that
//! are missing are looked for among the rest: not at a place in memory where several wait even while none is missing, since that is
//! where they wait for something to do. A thread that was there before may sleep for its own purposes; one that has begun since
//! then and sleeps has a request. Who may not trace the processes sees nothing.

use super::counts::TierCounts;
use super::look::{Look, Sighting, TierThreads};
use crate::discover::ConnectionEnds;
use crate::roots::Roots;
use crate::threads::{Sight, SocketEnd, SocketEnds, SocketSeen, at_sockets};
use std::collections::{BTreeMap, HashMap, HashSet};
use sysdyno_record::event::WatchedProcess;
use sysdyno_record::live::ThreadWait;
use sysdyno_record::plan::{Endpoint, NAME_SERVICE_PORT};

/// Places of waiting threads that are remembered.
const MAX_RESTS: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Census {
    /// Threads that were seen at a connection of a request.
    serving: HashSet<(u32, u32)>,
    /// Processes of several threads, one of which was seen waiting for the next request of a connection.
    readers: HashSet<u32>,
    /// Processes of which a thread was seen waiting for events of many connections. It may be running at the next look.
    event_loops: HashSet<u32>,
    /// By process, the thread that was seen waiting for events of many connections; `None`: several were.
    loops: HashMap<u32, Option<u32>>,
    /// Processes with a thread that was seen at a connection of a request.
    served: HashSet<u32>,
    /// Processes that have at least as many threads as connections.
    supposed: HashSet<u32>,
    /// By process, the threads that it had when it was looked at first.
    residents: HashMap<u32, HashSet<u32>>,
    /// Places in the memory of processes at which threads wait while none is missing: who was seen there; `None`: several.
    rests: HashMap<(u32, u64), Option<u32>>,
    /// What sockets were.
    ends: SocketEnds<Option<Endpoint>>,
    /// Tiers as they were looked at last.
    tiers: HashMap<Option<Endpoint>, TierThreads>,
}

impl Census {
    /// Looks at the threads of a tier.
    pub(super) fn look(
        &mut self,
        roots: &Roots,
        address: &Option<Endpoint>,
        processes: &[WatchedProcess],
        buffer: &mut Vec<u8>,
    ) -> Look {
        let tier = self.tiers.entry(address.clone()).or_default();
        let threads = tier.threads(roots, processes);
        let is_first = self.note_residents(&threads);
        let tier = self.tiers.entry(address.clone()).or_default();
        let sightings = tier.look(roots, &threads, buffer);
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

    /// Returns whether a process of several threads is new.
    fn note_residents(&mut self, threads: &[(u32, u32, bool)]) -> bool {
        let mut new: HashMap<u32, HashSet<u32>> = HashMap::new();
        for (pid, id, _) in threads.iter().filter(|(pid, ..)| !self.residents.contains_key(pid)) {
            new.entry(*pid).or_default().insert(*id);
        }
        let is_any = new.values().any(|ids| ids.len() > 1);
        self.residents.extend(new);
        is_any
    }

    fn is_resident(&self, (pid, id): (u32, u32)) -> bool {
        self.residents.get(&pid).is_some_and(|ids| ids.contains(&id))
    }

    /// A process of at least as many threads as it has connections, none of which ever waits for events of many, has a thread for
    /// each of them, though none was seen at its connection yet.
    fn note_readers(&mut self, look: &Look, connections: Option<f64>) {
        let Some(connections) = connections.filter(|connections| *connections >= 1.0) else { return };
        let mut threads: BTreeMap<u32, f64> = BTreeMap::new();
        for sighting in look.sightings.iter().filter(|sighting| !sighting.is_single) {
            *threads.entry(sighting.thread.0).or_default() += look.scale;
        }
        if let [(pid, count)] = threads.into_iter().collect::<Vec<_>>()[..]
            && count >= connections
        {
            self.supposed.insert(pid);
        }
    }

    /// Whether each connection to a process has a thread that reads it, as far as is known.
    fn is_reader(&self, pid: u32) -> bool {
        self.readers.contains(&pid) || (self.supposed.contains(&pid) && !self.event_loops.contains(&pid))
    }

    /// Counts what was seen, by the sockets as they are now; `connections`: how many the tier has accepted, if that is known, and
    /// whether they were counted just after the look.
    pub(super) fn count(
        &mut self,
        look: &Look,
        ends: &ConnectionEnds,
        connections: Option<(f64, bool)>,
    ) -> TierCounts {
        let (is_new, connections) =
            (connections.is_some_and(|(_, is_new)| is_new), connections.map(|(count, _)| count));
        let mut counts = TierCounts::default();
        let mut rest = TierCounts::default();
        let mut stopped: HashSet<u32> = HashSet::new();
        for (pid, id) in look.sightings.iter().filter(|sighting| sighting.is_event_loop).map(|one| one.thread)
        {
            self.event_loops.insert(pid);
            let known = self.loops.entry(pid).or_insert(Some(id));
            *known = known.filter(|known| *known == id);
        }
        self.note_readers(look, connections);
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
            let is_at_accepted = found.contains(&Some(SocketEnd::Accepted));
            // What leads outside may be anything that a thread does in the background.
            let is_asking = found.iter().flatten().any(|end| matches!(end, SocketEnd::Asking(_)));
            let is_at_request = is_asking || (wait == ThreadWait::Idle && is_at_accepted);
            if is_at_request || sighting.is_writing {
                self.serving.insert(sighting.thread);
                self.served.insert(sighting.thread.0);
            }
            if is_at_request && !is_asking && !sighting.is_single {
                self.readers.insert(sighting.thread.0);
            }
            if !sighting.is_single && !self.serving.contains(&sighting.thread) {
                if self.is_only_loop(sighting.thread) {
                    counts.threads += 1.0;
                    counts.add(of_loop(wait), asked, 1.0);
                    stopped.insert(sighting.thread.0);
                    continue;
                }
                // Whatever the threads of a process are for, none of them goes on while it is stopped.
                if wait == ThreadWait::Stopped && stopped.insert(sighting.thread.0) {
                    counts.waits[wait as usize] += 1.0;
                }
                // An event loop leaves names to a pool of threads, which serve nobody else.
                if asked.is_some_and(is_name_server) && self.event_loops.contains(&sighting.thread.0) {
                    counts.add(wait, asked, 1.0);
                } else if self.may_have_request(sighting, wait) {
                    rest.add(wait, asked, 1.0);
                }
                continue;
            }
            counts.threads += 1.0;
            counts.add(wait, asked, 1.0);
        }
        // An older number may be of a time before the load, and one by scale of threads that nobody saw.
        if is_new && connections.is_some_and(|connections| counts.threads >= connections) {
            self.note_rests(look);
        }
        counts.scale(look.scale);
        rest.scale(look.scale);
        let missing = connections.map_or(0.0, |connections| (connections - counts.threads).max(0.0));
        counts.add_missing(missing, &rest);
        counts
    }

    /// Whether a thread is the one that serves all connections of its process: its only event loop, beside threads of which none was
    /// seen at a connection.
    fn is_only_loop(&self, (pid, id): (u32, u32)) -> bool {
        self.loops.get(&pid) == Some(&Some(id)) && !self.served.contains(&pid)
    }

    /// Whether a thread that was never seen at a connection may have a request that nobody else was seen with.
    fn may_have_request(&self, sighting: &Sighting, wait: ThreadWait) -> bool {
        let (pid, _) = sighting.thread;
        let is_at_work = wait != ThreadWait::Timer || !self.is_resident(sighting.thread);
        let is_at_rest = sighting.place.is_some_and(|place| self.rests.get(&(pid, place)) == Some(&None));
        self.is_reader(pid) && is_at_work && !is_at_rest
    }

    /// Remembers where threads wait that have nothing to do.
    fn note_rests(&mut self, look: &Look) {
        let others = look.sightings.iter().filter(|sighting| !self.serving.contains(&sighting.thread));
        for (place, (pid, id)) in others.filter_map(|sighting| Some((sighting.place?, sighting.thread))) {
            if self.rests.len() >= MAX_RESTS && !self.rests.contains_key(&(pid, place)) {
                return;
            }
            let seen = self.rests.entry((pid, place)).or_insert(Some(id));
            *seen = seen.filter(|seen| *seen == id);
        }
    }
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
mod tests {
    use super::*;

    fn ends() -> ConnectionEnds {
        let database = Endpoint::Unix("/run/db.sock".into());
        ConnectionEnds {
            accepted: [10].into(),
            asked: [(20, database)].into(),
            listening: [40].into(),
            outside: [(50, Endpoint::Tcp(([10, 1, 2, 3], 53).into()))].into(),
            ..ConnectionEnds::default()
        }
    }

    fn at(inodes: &[u64]) -> Sight {
        Sight::Sockets(inodes.iter().map(|inode| SocketSeen { number: *inode, inode: *inode }).collect())
    }

    /// A thread of a process of several.
    fn sighting(id: u32, seen: Sight) -> Sighting {
        Sighting {
            thread: (1, id),
            is_single: false,
            is_event_loop: false,
            is_writing: false,
            place: None,
            seen,
        }
    }

    fn look(sightings: Vec<Sighting>, scale: f64) -> Look {
        Look { tier: None, sightings, scale, is_first: false }
    }

    #[test]
    fn what_a_socket_is_tells_what_its_thread_waits_for() {
        let check = |inodes: &[u64], wait: ThreadWait, is_asking: bool| {
            let known = SocketEnds::<Option<Endpoint>>::default();
            let socket = |inode: &u64| SocketSeen { number: *inode, inode: *inode };
            let found: Vec<_> = inodes.iter().map(|inode| known.of(&None, socket(inode), &ends())).collect();
            let (found, asked) = at_sockets(&found);
            assert_eq!((found, asked.is_some()), (wait, is_asking), "{inodes:?}");
        };
        check(&[10], ThreadWait::Idle, false);
        check(&[40], ThreadWait::Idle, false);
        check(&[20], ThreadWait::Network, true);
        check(&[10, 20], ThreadWait::Network, true);
        check(&[30], ThreadWait::Network, false);
        check(&[50], ThreadWait::Network, true);
        check(&[10, 50], ThreadWait::Idle, false);
        check(&[], ThreadWait::Other, false);
    }

    #[test]
    fn a_look_counts_if_its_sockets_are_known_and_its_processes_are_not_new() {
        let look = |seen: Sight, is_first: bool| {
            let sighting = sighting(2, seen);
            Look { is_first, ..look(vec![sighting], 1.0) }
        };
        let check = |look: Look, expected: bool| {
            let counts = look.can_count() && Census::default().knows_sockets(&look, &ends());
            assert_eq!(counts, expected, "{look:?}");
        };
        check(look(at(&[10]), false), true);
        check(look(at(&[30]), false), false);
        check(look(at(&[40]), false), true);
        check(look(Sight::Known(ThreadWait::Timer), false), true);
        check(look(Sight::Known(ThreadWait::Timer), true), false);
    }

    #[test]
    fn threads_of_a_pool_count_once_they_were_seen_at_a_request() {
        let mut census = Census::default();
        let mut count = |sightings: Vec<Sighting>, connections: Option<f64>, scale: f64| {
            let counts =
                census.count(&look(sightings, scale), &ends(), connections.map(|count| (count, true)));
            [counts.threads, counts.waits[ThreadWait::Idle as usize], counts.waits[ThreadWait::Lock as usize]]
        };
        let locked = |id: u32| sighting(id, Sight::Known(ThreadWait::Lock));
        assert_eq!(count(vec![locked(2)], Some(4.0), 1.0), [0.0; 3], "it has fewer threads than connections");
        assert_eq!(count(vec![sighting(3, at(&[10]))], None, 1.0), [1.0, 1.0, 0.0]);
        assert_eq!(count(vec![locked(3)], None, 1.0), [1.0, 0.0, 1.0]);
        assert_eq!(count(vec![locked(3)], None, 2.5), [2.5, 0.0, 2.5], "others were not looked at");
        let all = || (2..8).map(locked).collect::<Vec<_>>();
        assert_eq!(count(all(), Some(4.0), 1.0), [4.0, 0.0, 4.0], "each connection has a thread");
        assert_eq!(count(all(), None, 1.0), [1.0, 0.0, 1.0]);
    }

    #[test]
    fn a_thread_of_a_pool_that_writes_into_a_full_pipe_is_at_work() {
        let mut count = |is_writing: bool| {
            let sighting = Sighting { is_writing, ..sighting(2, Sight::Known(ThreadWait::Process)) };
            let look = look(vec![sighting], 1.0);
            Census::default().count(&look, &ends(), None).waits[ThreadWait::Process as usize]
        };
        assert_eq!([true, false].map(&mut count), [1.0, 0.0], "who reads one may wait for work");
    }

    #[test]
    fn a_thread_that_began_under_load_and_sleeps_has_a_request() {
        let slept = |residents: &[u32]| {
            let mut census = Census::default();
            census.note_residents(&residents.iter().map(|id| (1, *id, false)).collect::<Vec<_>>());
            let sleeping = |id| sighting(id, Sight::Known(ThreadWait::Timer));
            let look = look((1..=4).map(sleeping).collect(), 1.0);
            census.count(&look, &ends(), Some((3.0, true))).waits[ThreadWait::Timer as usize]
        };
        assert_eq!(slept(&[1]), 3.0);
        assert_eq!(slept(&[1, 2, 3, 4]), 0.0, "they do their own work");
    }

    #[test]
    fn a_thread_for_each_connection_is_known_though_all_wait_for_one_lock() {
        let count = |sightings: Vec<Sight>| {
            let at = |(id, seen): (usize, Sight)| {
                let is_event_loop = matches!(seen, Sight::Known(ThreadWait::Idle));
                Sighting { is_event_loop, ..sighting(id as u32, seen) }
            };
            let sightings = sightings.into_iter().enumerate().map(at).collect();
            let counts = Census::default().count(&look(sightings, 1.0), &ends(), Some((3.0, true)));
            counts.waits[ThreadWait::Lock as usize]
        };
        let locked = || Sight::Known(ThreadWait::Lock);
        assert_eq!(count(vec![locked(), locked(), locked(), locked()]), 3.0);
        assert_eq!(
            count(vec![locked(), locked(), locked(), Sight::Known(ThreadWait::Idle)]),
            0.0,
            "an event loop"
        );
    }

    #[test]
    fn the_only_event_loop_of_a_process_serves_all_its_connections() {
        let mut census = Census::default();
        let mut count = |id: u32, wait: ThreadWait, is_event_loop: bool| {
            let one = Sighting { is_event_loop, ..sighting(id, Sight::Known(wait)) };
            let counts = census.count(&look(vec![one], 1.0), &ends(), None);
            [counts.threads, counts.waits[ThreadWait::Disk as usize]]
        };
        assert_eq!(count(2, ThreadWait::Disk, false), [0.0, 0.0], "it may be a writer");
        assert_eq!(count(2, ThreadWait::Idle, true), [1.0, 0.0]);
        assert_eq!(count(2, ThreadWait::Disk, false), [1.0, 1.0]);
        assert_eq!(count(3, ThreadWait::Disk, false), [0.0, 0.0], "a helper");
        assert_eq!(count(3, ThreadWait::Idle, true), [0.0, 0.0], "there are several");
        assert_eq!(count(2, ThreadWait::Disk, false), [0.0, 0.0]);
    }

    #[test]
    fn an_event_loop_that_is_running_is_one_all_the_same() {
        let mut census = Census::default();
        let mut locked_count = |seen: ThreadWait, is_event_loop: bool| {
            let other = Sighting { is_event_loop, ..sighting(3, Sight::Known(seen)) };
            let sightings = vec![sighting(2, Sight::Known(ThreadWait::Lock)), other];
            let look = look(sightings, 1.0);
            census.count(&look, &ends(), Some((2.0, true))).waits[ThreadWait::Lock as usize]
        };
        assert_eq!(
            locked_count(ThreadWait::Running, false),
            1.0,
            "nothing tells it from a thread with a request"
        );
        assert_eq!(locked_count(ThreadWait::Idle, true), 0.0);
        assert_eq!(locked_count(ThreadWait::Running, false), 0.0, "the other one is at rest");
    }

    #[test]
    fn where_several_wait_while_none_is_missing_is_no_place_of_a_lock() {
        let mut census = Census::default();
        let mut locked = |places: [u64; 2], connections: f64| {
            let at = |(id, place): (usize, u64)| Sighting {
                place: Some(place),
                ..sighting(id as u32, Sight::Known(ThreadWait::Lock))
            };
            let look = look(places.into_iter().enumerate().map(at).collect(), 1.0);
            census.count(&look, &ends(), Some((connections, true))).waits[ThreadWait::Lock as usize]
        };
        assert_eq!(locked([64, 64], 2.0), 2.0, "nothing tells them from threads with a request");
        assert_eq!(locked([64, 64], 0.0), 0.0);
        assert_eq!(locked([64, 64], 2.0), 0.0);
        assert_eq!(locked([64, 128], 2.0), 1.0, "another place");
        locked([72, 128], 0.0);
        assert_eq!(locked([72, 128], 2.0), 2.0, "each may wait for its own request there");
    }

    #[test]
    fn an_old_number_of_connections_and_a_part_of_the_threads_say_nothing_of_rest() {
        let locked = |scale: f64, is_new: bool| {
            let mut census = Census::default();
            let mut at = |seen: Vec<Sighting>, connections: (f64, bool)| {
                let counts = census.count(&look(seen, scale), &ends(), Some(connections));
                counts.waits[ThreadWait::Lock as usize]
            };
            let waiting = |id| Sighting { place: Some(64), ..sighting(id, Sight::Known(ThreadWait::Lock)) };
            at(
                vec![sighting(2, super::tests::at(&[10])), waiting(3), waiting(4)],
                (2.0 * scale - 1.0, is_new),
            );
            at(vec![waiting(3), waiting(4)], (2.0, true))
        };
        assert_eq!(locked(1.0, true), 0.0, "all that have a request were seen");
        assert_eq!(locked(1.0, false), 2.0);
        assert_eq!(locked(3.0, true), 2.0);
    }

    #[test]
    fn who_asks_somebody_outside_is_found_among_the_rest() {
        let counts = |is_missing: bool| {
            let sighting = sighting(2, at(&[50]));
            let connections = if is_missing { 1.0 } else { 0.0 };
            Census::default().count(&look(vec![sighting], 1.0), &ends(), Some((connections, true)))
        };
        let asked: Vec<_> = counts(true).asking.into_values().collect();
        assert_eq!(asked, [(Endpoint::Tcp(([10, 1, 2, 3], 53).into()), 1.0)]);
        assert!(counts(false).asking.is_empty());
    }

    #[test]
    fn a_thread_of_an_event_loop_that_looks_up_a_name_is_counted() {
        let event_loop = Sighting { is_event_loop: true, ..sighting(1, Sight::Known(ThreadWait::Idle)) };
        let sightings = vec![event_loop, sighting(2, at(&[50])), sighting(3, Sight::Known(ThreadWait::Lock))];
        let counts = Census::default().count(&look(sightings, 1.0), &ends(), Some((0.0, true)));
        assert_eq!(counts.asking.into_values().map(|(_, count)| count).sum::<f64>(), 1.0);
    }
}
