//! The engine against real sockets, with each back end: accounting in every mode, and what becomes of requests that go
//! wrong.

use super::*;
use crate::target;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use sysdyno_record::load::{FailureClass, LatencyKind};
use sysdyno_record::plan::*;
use sysdyno_record::units::{Bytes, SpanNs};

/// Makes a test per back end of each of these functions.
macro_rules! on_both_back_ends {
    ($($name:ident)*) => {
        mod on_epoll {
            $(#[test] fn $name() { super::$name(super::IoChoice::Epoll) })*
        }
        mod on_uring {
            $(#[test] fn $name() { if super::has_uring() { super::$name(super::IoChoice::Uring) } })*
        }
    };
}

on_both_back_ends! {
    every_request_is_counted_once_closed_and_open_kept_and_not
    failures_have_their_class_and_never_count_as_ok
    a_server_that_never_answers_leaves_lower_bounds_and_no_gap_in_the_sum
    a_generator_that_is_late_at_the_end_still_counts_every_arrival
    nobody_there_is_a_hard_stop
    stopping_ends_the_load_and_keeps_the_sum
    bytes_without_a_request_cost_the_next_request
}

/// Whether the kernel has io_uring as it is needed, and allows it; says so if not.
fn has_uring() -> bool {
    let route = crate::io::Route {
        endpoint: Endpoint::Tcp(([127, 0, 0, 1], 1).into()),
        messages: [b"a".as_slice().into(), b"b".as_slice().into()],
        is_single: false,
        stamps: true,
    };
    let chosen = BackEnd::choose(IoChoice::Uring, 1, &route);
    chosen.inspect_err(|error| eprintln!("skipped: {error}")).is_ok()
}

const RESPONSE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// A server with a thread per connection; `answer` is called with the number of each request.
struct Server {
    url: String,
    requests: Arc<AtomicU64>,
}

fn serve(answer: impl Fn(u64, &mut TcpStream) -> bool + Send + Sync + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let url = format!("http://{}/", listener.local_addr().expect("has an address"));
    let requests = Arc::new(AtomicU64::new(0));
    let (answer, counter) = (Arc::new(answer), Arc::clone(&requests));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (answer, counter) = (Arc::clone(&answer), Arc::clone(&counter));
            std::thread::spawn(move || converse(stream, &*answer, &counter));
        }
    });
    Server { url, requests }
}

fn converse(
    mut stream: TcpStream,
    answer: &(dyn Fn(u64, &mut TcpStream) -> bool + Send + Sync),
    counter: &AtomicU64,
) {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..length]);
        while let Some(end) = seen.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let is_last = String::from_utf8_lossy(&seen[..end]).contains("Connection: close");
            seen.drain(..end + 4);
            let number = counter.fetch_add(1, Ordering::SeqCst) + 1;
            if !answer(number, &mut stream) || is_last {
                return;
            }
        }
    }
}

fn ok(_: u64, stream: &mut TcpStream) -> bool {
    stream.write_all(RESPONSE.as_bytes()).is_ok()
}

fn plan(io: IoChoice, url: &str) -> LoadPlan {
    LoadPlan {
        target: target::resolve(url).expect("resolves"),
        request: RequestSpec { method: "GET".into(), headers: Vec::new(), body: Vec::new(), body_bytes: 0 },
        validators: Validators { same_body: true, ..Validators::default() },
        arrival: Arrival::Closed,
        connections: 4,
        keep_alive: KeepAlive::Unlimited,
        phases: vec![PhasePlan { kind: PhaseKind::Steady, rate_hz: None, end: PhaseEnd::Requests(200) }],
        deadlines: Deadlines { total: SpanNs::from_secs(5), ..Deadlines::default() },
        max_body: Bytes(1 << 20),
        hard_stops: HardStops { connect_failures_in_a_row: Some(20), failure_ratio: None },
        threads: 1,
        seed: 1,
        fail_if: vec![],
        probe: None,
        io,
        spin: SpinChoice::Off,
        stamps: StampChoice::Kernel,
    }
}

#[derive(Default)]
struct Kept {
    intervals: Vec<Interval>,
    phases: Vec<PhaseKind>,
}

impl Sink for Kept {
    fn phase(&mut self, _: MonoNs, phase: PhaseKind, _: Option<f64>) {
        self.phases.push(phase);
    }

    fn interval(&mut self, interval: Interval, _: &LatencySet) {
        self.intervals.push(interval);
    }
}

fn load(plan: &LoadPlan) -> (Outcome, Kept) {
    let mut kept = Kept::default();
    let outcome = run(plan, 1, &Control::new(), &mut kept).expect("runs");
    let mut sum = sysdyno_record::load::Counts::default();
    kept.intervals.iter().for_each(|interval| sum.add(&interval.counts));
    assert_eq!(sum, outcome.summary.total, "intervals add up to the total");
    (outcome, kept)
}

fn failures(
    io: IoChoice,
    answer: impl Fn(u64, &mut TcpStream) -> bool + Send + Sync + 'static,
) -> Vec<(FailureClass, u64)> {
    let server = serve(answer);
    let mut plan = plan(io, &server.url);
    plan.phases[0].end = PhaseEnd::Requests(20);
    plan.connections = 1;
    plan.deadlines.idle = SpanNs::from_millis(200);
    let (outcome, _) = load(&plan);
    outcome.summary.measured.failures.into_iter().collect()
}

fn every_request_is_counted_once_closed_and_open_kept_and_not(io: IoChoice) {
    for arrival in [Arrival::Closed, Arrival::Constant, Arrival::Poisson] {
        for keep_alive in [KeepAlive::Unlimited, KeepAlive::Requests(3), KeepAlive::Requests(1)] {
            for threads in [1, 2] {
                let server = serve(ok);
                let mut plan = plan(io, &server.url);
                (plan.arrival, plan.keep_alive, plan.threads) = (arrival, keep_alive, threads);
                plan.phases[0].rate_hz = arrival.is_open().then_some(2000.0);
                let (outcome, kept) = load(&plan);
                let counts = outcome.summary.total;
                let case = format!("{arrival:?} {keep_alive:?} {threads}");
                assert_eq!((counts.scheduled, counts.ok), (200, 200), "{case}");
                assert_eq!(counts.written, server.requests.load(Ordering::SeqCst), "{case}");
                assert_eq!(kept.phases, [PhaseKind::Steady, PhaseKind::Drain], "{case}");
                let slips = outcome.latency.get(LatencyKind::LoopSlip).count();
                assert_eq!(slips, if arrival.is_open() { 200 } else { 0 }, "{case}");
            }
        }
    }
}

fn failures_have_their_class_and_never_count_as_ok(io: IoChoice) {
    use FailureClass::*;
    let reply =
        |text: &'static str| move |_: u64, stream: &mut TcpStream| stream.write_all(text.as_bytes()).is_ok();
    assert_eq!(failures(io, reply("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")), [(Status, 20)]);
    assert_eq!(failures(io, reply("garbage\r\n\r\n")), [(Protocol, 20)]);
    assert_eq!(failures(io, |_, _| false), [(EofBeforeHead, 20)]);
    let truncated = |_: u64, stream: &mut TcpStream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhell");
        false
    };
    assert_eq!(failures(io, truncated), [(BodyTruncated, 20)]);
    let changing = |number: u64, stream: &mut TcpStream| {
        let body = if number > 15 { "other" } else { "hello" };
        stream.write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{body}").as_bytes()).is_ok()
    };
    assert_eq!(failures(io, changing), [(WrongBody, 5)]);
    let silent = |number: u64, stream: &mut TcpStream| if number == 7 { true } else { ok(number, stream) };
    assert_eq!(failures(io, silent), [(HeadTimeout, 1)]);
    let stalling = |number: u64, stream: &mut TcpStream| {
        let text = if number == 7 { "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe" } else { RESPONSE };
        stream.write_all(text.as_bytes()).is_ok()
    };
    assert_eq!(failures(io, stalling), [(BodyTimeout, 1)]);
}

fn a_server_that_never_answers_leaves_lower_bounds_and_no_gap_in_the_sum(io: IoChoice) {
    let server = serve(|_, _| true);
    let mut plan = plan(io, &server.url);
    plan.arrival = Arrival::Constant;
    plan.phases = vec![PhasePlan {
        kind: PhaseKind::Steady,
        rate_hz: Some(100.0),
        end: PhaseEnd::After(SpanNs::from_millis(500)),
    }];
    plan.deadlines.total = SpanNs::from_millis(200);
    let (outcome, _) = load(&plan);
    let counts = outcome.summary.total;
    let failures = &outcome.summary.measured.failures;
    assert_eq!((counts.scheduled, counts.ok, counts.failed), (50, 0, 0), "{failures:?}");
    assert!(counts.timed_out > 0 && counts.unsent > 0, "{counts:?}");
    let response = outcome.summary.measured.latency[&LatencyKind::Response];
    assert_eq!((response.count, response.censored_count), (50, 50));
    assert!(response.p50.expect("supported") >= 190_000_000, "{response:?}");
}

fn a_generator_that_is_late_at_the_end_still_counts_every_arrival(io: IoChoice) {
    let server = serve(ok);
    let mut plan = plan(io, &server.url);
    plan.arrival = Arrival::Constant;
    // More than one generator thread can send, so that it is behind when each phase ends.
    let phase = |kind| PhasePlan { kind, rate_hz: Some(2e6), end: PhaseEnd::After(SpanNs::from_millis(50)) };
    plan.phases = vec![phase(PhaseKind::Warmup), phase(PhaseKind::Steady)];
    let (outcome, _) = load(&plan);
    assert_eq!(outcome.summary.total.scheduled, 200_000);
    assert_eq!(outcome.summary.measured.counts.scheduled, 100_000);
}

fn nobody_there_is_a_hard_stop(io: IoChoice) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let url = format!("http://{}/", listener.local_addr().expect("has an address"));
    drop(listener);
    let (outcome, _) = load(&plan(io, &url));
    let text = "20 connections in a row failed: connect_refused";
    assert_eq!(outcome.ending, TrialEnding::HardStop(text.into()));
    assert_eq!(outcome.summary.total.failed, outcome.summary.total.sent);
    assert_eq!(outcome.summary.total.written, 0);
}

fn stopping_ends_the_load_and_keeps_the_sum(io: IoChoice) {
    let server = serve(ok);
    let mut plan = plan(io, &server.url);
    plan.phases[0].end = PhaseEnd::After(SpanNs::from_secs(600));
    let control = Control::new();
    let outcome = std::thread::scope(|scope| {
        let load = scope.spawn(|| run(&plan, 1, &control, &mut Kept::default()).expect("runs"));
        while server.requests.load(Ordering::SeqCst) < 100 {
            std::thread::yield_now();
        }
        control.stop();
        load.join().expect("does not panic")
    });
    assert_eq!(outcome.ending, TrialEnding::Interrupted);
    assert_eq!(outcome.summary.total.written, server.requests.load(Ordering::SeqCst));
    assert_eq!(outcome.summary.total.in_flight, 0);
}

fn bytes_without_a_request_cost_the_next_request(io: IoChoice) {
    let twice = |_: u64, stream: &mut TcpStream| {
        let _ = stream.write_all(RESPONSE.as_bytes());
        stream.write_all(RESPONSE.as_bytes()).is_ok()
    };
    let classes = failures(io, twice);
    assert!(
        classes.iter().all(|(class, _)| matches!(class, FailureClass::Desync | FailureClass::Reset)),
        "{classes:?}"
    );
    assert!(!classes.is_empty());
}

#[test]
fn a_unix_socket_is_a_target_too() {
    let folder = std::env::temp_dir().join(format!("sysdyno-load-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("creates");
    let path = folder.join("s");
    let listener = std::os::unix::net::UnixListener::bind(&path).expect("binds");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(1..) = stream.read(&mut buffer) {
                    let _ = stream.write_all(RESPONSE.as_bytes());
                }
            });
        }
    });
    let (outcome, _) = load(&plan(IoChoice::Auto, &format!("unix:{}", path.display())));
    std::fs::remove_dir_all(&folder).expect("removes");
    assert_eq!(outcome.summary.total.ok, 200);
    // Which is the one thing that io_uring is not used for.
    assert_eq!(outcome.summary.generator.io, "epoll");
    assert!(outcome.summary.generator.io_fallback.is_some_and(|reason| reason.contains("TCP only")));
}
