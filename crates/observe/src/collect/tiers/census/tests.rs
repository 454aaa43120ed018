//! Tests of the census: which threads count, and as what.

use super::super::look::KnownRequest;
use super::*;
use sysdyno_record::event::ProcessRole;

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
        request: None,
        seen,
    }
}

/// A thread of which it is known whether it has a request, which stands for so many.
fn handling(id: u32, seen: Sight, is_open: bool, share: u32) -> Sighting {
    Sighting { request: Some(KnownRequest { is_open, share }), ..sighting(id, seen) }
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
        let counts = census.count(&look(sightings, scale), &ends(), connections.map(|count| (count, true)));
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
        census.roles.note_residents(&residents.iter().map(|id| (1, *id, false)).collect::<Vec<_>>());
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
fn a_master_is_no_worker_and_a_parent_that_serves_is_one() {
    let process = |pid: u32, parent_pid: u32, command: &str| WatchedProcess {
        parent_pid: Some(parent_pid),
        ..WatchedProcess::new(pid, 1, command, ProcessRole::Target)
    };
    let mut census = Census::default();
    census.roles.note_parents(&[process(7, 1, "app"), process(8, 7, "app"), process(9, 8, "helper")]);
    let mut threads = |seen: Sight, pid: u32| {
        let one = Sighting { thread: (pid, pid), is_single: true, ..sighting(pid, seen) };
        census.count(&look(vec![one], 1.0), &ends(), None).threads
    };
    assert_eq!(threads(at(&[40]), 7), 0.0);
    assert_eq!(threads(at(&[40]), 8), 1.0, "what it has started is another program");
    assert_eq!(threads(Sight::Known(ThreadWait::Running), 7), 1.0);
    assert_eq!(threads(at(&[10]), 7), 1.0, "it waits for the next request of a connection");
    assert_eq!(threads(at(&[40]), 7), 1.0);
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
        let mut locked_of = |seen: Vec<Sighting>, connections: (f64, bool)| {
            let counts = census.count(&look(seen, scale), &ends(), Some(connections));
            counts.waits[ThreadWait::Lock as usize]
        };
        let waiting = |id| Sighting { place: Some(64), ..sighting(id, Sight::Known(ThreadWait::Lock)) };
        locked_of(vec![sighting(2, at(&[10])), waiting(3), waiting(4)], (2.0 * scale - 1.0, is_new));
        locked_of(vec![waiting(3), waiting(4)], (2.0, true))
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

#[test]
fn who_has_a_request_counts_and_who_has_none_waits_for_one() {
    let count = |census: &mut Census, sightings: Vec<Sighting>| {
        let counts = census.count(&look(sightings, 1.0), &ends(), Some((8.0, true)));
        let of = |wait: ThreadWait| counts.waits[wait as usize];
        [counts.threads, of(ThreadWait::Idle), of(ThreadWait::Lock), of(ThreadWait::Timer)]
    };
    let (locked, sleeping) = (|| Sight::Known(ThreadWait::Lock), || Sight::Known(ThreadWait::Timer));
    let census = &mut Census::default();
    let all = (2..10).map(|id| handling(id, if id < 6 { sleeping() } else { locked() }, id < 6, 1));
    assert_eq!(count(census, all.collect()), [4.0, 0.0, 0.0, 4.0]);
    assert_eq!(count(census, vec![handling(6, at(&[20]), true, 1)]), [1.0, 0.0, 0.0, 0.0], "it asks");
    let was_seen = "it was seen at a request before";
    assert_eq!(count(census, vec![handling(6, locked(), false, 1)]), [1.0, 1.0, 0.0, 0.0], "{was_seen}");
    assert_eq!(count(census, vec![handling(6, locked(), true, 1)]), [1.0, 0.0, 1.0, 0.0]);
    let waiting = Sighting { is_event_loop: true, ..handling(11, Sight::Known(ThreadWait::Other), true, 1) };
    assert_eq!(count(census, vec![waiting]), [0.0; 4], "an event loop has requests of many");
}

#[test]
fn where_some_connections_are_watched_a_request_stands_for_several() {
    let census = &mut Census::default();
    let lock = || Sight::Known(ThreadWait::Lock);
    let mut count = |open: u32| {
        let all = (2..10).map(|id| handling(id, lock(), id < 2 + open, 4)).collect();
        let counts = census.count(&look(all, 1.0), &ends(), None);
        [counts.threads, counts.waits[ThreadWait::Lock as usize], counts.waits[ThreadWait::Idle as usize]]
    };
    assert_eq!(count(0), [0.0; 3], "none of them was ever seen with a request");
    assert_eq!(count(8), [8.0, 32.0, 0.0], "by chance all are watched");
    assert_eq!(count(1), [8.0, 4.0, 4.0]);
    assert_eq!(count(2), [8.0, 8.0, 0.0]);
    let stopped = (2..10).map(|id| handling(id, Sight::Known(ThreadWait::Stopped), false, 4)).collect();
    let counts = census.count(&look(stopped, 1.0), &ends(), None);
    assert_eq!(counts.waits[ThreadWait::Stopped as usize], 8.0, "whether they have requests or not");
}
