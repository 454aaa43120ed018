//! Paths of simulated servers, of which it is known who waits for whom.

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
    assert!((case(2.5e9, 100.0) - 2.5).abs() < 0.01, "requests that do wait for a lock are inside as long");
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
