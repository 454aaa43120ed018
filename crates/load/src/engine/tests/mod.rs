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
use sysdyno_record::units::SpanNs;

use sessions::{
    an_operation_fails_with_any_of_its_requests, sessions_that_arrive_also_leave,
    users_ask_for_what_the_server_counts_and_no_operation_vanishes,
};

use values::{
    a_body_is_as_long_as_its_values_make_it,
    every_counted_value_is_sent_once_whatever_becomes_of_connections,
    users_log_in_and_send_back_what_they_were_given,
};

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

mod h2spec;
mod http2;
mod http2_sessions;
mod memcached;
mod pending;
mod sessions;
mod spread;
mod tls;
mod values;

on_both_back_ends! {
    a_greeting_of_another_service_is_told_at_its_first_line_and_not_waited_for
    every_request_is_counted_once_closed_and_open_kept_and_not
    failures_have_their_class_and_never_count_as_ok
    a_server_that_never_answers_leaves_lower_bounds_and_no_gap_in_the_sum
    a_generator_that_is_late_at_the_end_still_counts_every_arrival
    nobody_there_is_a_hard_stop
    an_error_page_is_never_the_body_that_others_are_compared_with
    the_most_frequent_error_is_told_with_its_status_and_text
    a_load_whose_requests_fail_goes_on_with_probes
    a_server_that_goes_away_gets_probes_until_it_can_be_explained
    every_operation_is_counted_as_its_server_counts_it
    users_ask_for_what_the_server_counts_and_no_operation_vanishes
    an_operation_fails_with_any_of_its_requests
    sessions_that_arrive_also_leave
    every_counted_value_is_sent_once_whatever_becomes_of_connections
    a_body_is_as_long_as_its_values_make_it
    users_log_in_and_send_back_what_they_were_given
    stopping_ends_the_load_and_keeps_the_sum
    bytes_without_a_request_cost_the_next_request
    connections_take_odd_and_even_ports
}

/// Whether the kernel has io_uring as it is needed, and allows it; says so if not.
fn has_uring() -> bool {
    let route = crate::transport::ConnectionRoute {
        endpoint: Endpoint::Tcp(([127, 0, 0, 1], 1).into()),
        messages: [b"a".as_slice().into(), b"b".as_slice().into()].into(),
        is_single: false,
        is_made_up: false,
        in_flight_bytes: 1,
        tls: None,
        stamps: true,
        origin: Default::default(),
    };
    let chosen = BackEnd::choose(IoChoice::Uring, 1, &route);
    chosen.inspect_err(|error| sysdyno_needs::skip(&error.to_string(), &["io_uring"])).is_ok()
}

const RESPONSE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// A server with a thread per connection; `answer` is called with the number of each request.
struct Server {
    url: String,
    requests: Arc<AtomicU64>,
}

fn serve(answer: impl Fn(u64, &mut TcpStream) -> bool + Send + Sync + 'static) -> Server {
    serve_heads(move |number, _, stream| answer(number, stream))
}

/// A server that is told the path of each request.
fn serve_paths(answer: impl Fn(&str, &mut TcpStream) -> bool + Send + Sync + 'static) -> Server {
    serve_heads(move |_, head, stream| answer(head.split(' ').nth(1).unwrap_or(""), stream))
}

fn serve_heads(answer: impl Fn(u64, &str, &mut TcpStream) -> bool + Send + Sync + 'static) -> Server {
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
    answer: &(dyn Fn(u64, &str, &mut TcpStream) -> bool + Send + Sync),
    counter: &AtomicU64,
) {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        seen.extend_from_slice(&buffer[..length]);
        while let Some(end) = seen.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&seen[..end]).into_owned();
            let is_last = head.contains("Connection: close");
            seen.drain(..end + 4);
            let number = counter.fetch_add(1, Ordering::SeqCst) + 1;
            if !answer(number, &head, &mut stream) || is_last {
                return;
            }
        }
    }
}

fn ok(_: u64, stream: &mut TcpStream) -> bool {
    stream.write_all(RESPONSE.as_bytes()).is_ok()
}

/// A loopback port that nobody listens on, and nobody else can while the socket is there.
pub(crate) fn closed_port() -> (rustix::fd::OwnedFd, std::net::SocketAddr) {
    use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("opens");
    bind(&socket, &std::net::SocketAddr::from(([127, 0, 0, 1], 0))).expect("binds");
    let address = getsockname(&socket).expect("has an address").try_into().expect("is of IPv4");
    (socket, address)
}

/// A small closed load.
pub(crate) fn plan_of(url: &str) -> LoadPlan {
    plan(IoChoice::Auto, url)
}

fn plan(io: IoChoice, url: &str) -> LoadPlan {
    LoadPlan {
        validators: Validators { same_body: true, ..Validators::default() },
        connections: 4,
        phases: vec![PhasePlan { kind: PhaseKind::Steady, rate_hz: None, end: PhaseEnd::Requests(200) }],
        deadlines: Deadlines { total: SpanNs::from_secs(5), ..Deadlines::default() },
        hard_stops: HardStops { connect_failures_in_a_row: Some(20), failure_ratio: None },
        io,
        spin: SpinChoice::Off,
        ..LoadPlan::plain(target::resolve(url).expect("resolves"))
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

fn load(plan: &LoadPlan) -> (LoadOutcome, Kept) {
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
    assert_eq!(failures(io, reply("garbage\r\n\r\n")), [(NotHttp, 20)]);
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
    let phase = |kind| PhasePlan { kind, rate_hz: Some(2e6), end: PhaseEnd::After(SpanNs::from_millis(10)) };
    plan.phases = vec![phase(PhaseKind::Warmup), phase(PhaseKind::Steady)];
    let (outcome, _) = load(&plan);
    assert_eq!(outcome.summary.total.scheduled, 40_000);
    assert_eq!(outcome.summary.measured.counts.scheduled, 20_000);
}

fn operation(path: &str, weight: f64) -> sysdyno_record::workload::OperationPlan {
    sysdyno_record::workload::OperationPlan {
        name: path.into(),
        path: path.into(),
        request: RequestSpec {
            method: "GET".into(),
            headers: Vec::new(),
            body: Default::default(),
            body_bytes: 0,
        },
        weight,
        validators: Validators { same_body: true, ..Validators::default() },
    }
}

fn every_operation_is_counted_as_its_server_counts_it(io: IoChoice) {
    for arrival in [Arrival::Closed, Arrival::Poisson] {
        for (keep_alive, threads) in [(KeepAlive::Unlimited, 2), (KeepAlive::Requests(3), 1)] {
            let paths = ["/a", "/b", "/missing", "/never"];
            let seen: Arc<[AtomicU64; 4]> = Arc::default();
            let counter = Arc::clone(&seen);
            let server = serve_paths(move |path, stream| {
                let number =
                    paths.iter().position(|known| *known == path).expect("is one that was asked for");
                counter[number].fetch_add(1, Ordering::SeqCst);
                let status = if path == "/missing" { "404 No" } else { "200 OK" };
                let text = format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\n{}", &path[..2]);
                stream.write_all(text.as_bytes()).is_ok()
            });
            let mut plan = plan(io, &server.url);
            (plan.arrival, plan.keep_alive, plan.threads) = (arrival, keep_alive, threads);
            plan.phases[0].rate_hz = arrival.is_open().then_some(2000.0);
            let weights = [60.0, 30.0, 10.0, 0.0];
            plan.workload.operations =
                paths.iter().zip(weights).map(|(path, weight)| operation(path, weight)).collect();
            let (outcome, _) = load(&plan);
            let summary = &outcome.summary;
            let case = format!("{arrival:?} {keep_alive:?} {threads}: {:?}", summary.operations);
            let mut sum = sysdyno_record::load::Counts::default();
            for (operation, seen) in summary.operations.iter().zip(seen.iter()) {
                assert_eq!(operation.total.written, seen.load(Ordering::SeqCst), "{case}");
                // Different bodies at different paths are not taken for wrong ones.
                let bad = if operation.name == "/missing" { operation.counts.sent } else { 0 };
                assert_eq!(operation.counts.failed, bad, "{case}");
                assert_eq!(operation.latency.count, operation.counts.ok, "{case}");
                sum.add(&operation.total);
            }
            assert_eq!(sum, summary.total, "{case}");
            // 120 and 0 expected; standard deviation 7.
            assert!((78..162).contains(&summary.operations[0].total.sent), "{case}");
            assert_eq!(summary.operations[3].total.scheduled, 0, "{case}");
        }
    }
}

fn nobody_there_is_a_hard_stop(io: IoChoice) {
    let (_bound, address) = closed_port();
    let (outcome, _) = load(&plan(io, &format!("http://{address}/")));
    let text = "20 connections in a row failed: connect_refused";
    assert_eq!(outcome.ending, TrialEnding::HardStop(text.into()));
    assert_eq!(outcome.summary.total.failed, outcome.summary.total.sent);
    assert_eq!(outcome.summary.total.written, 0);
}

/// Writes a response with this status and body.
fn reply(stream: &mut TcpStream, status: &str, body: &str) -> bool {
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n", body.len());
    // Head and body arrive in two pieces, as those of most applications do.
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).is_ok()
}

fn an_error_page_is_never_the_body_that_others_are_compared_with(io: IoChoice) {
    let server = serve(|number, stream| {
        let is_good = number % 20 == 0;
        reply(
            stream,
            "200 OK",
            if is_good { "hello" } else { "<h1>Error establishing a database connection</h1>" },
        )
    });
    let (outcome, _) = load(&plan(io, &server.url));
    let measured = &outcome.summary.measured;
    assert_eq!((measured.counts.ok, measured.failures[&FailureClass::WrongBody]), (10, 190));
    assert_eq!(outcome.summary.learnt_body.map(|body| body.body_bytes), Some(5));
    let told = measured.told.of(FailureClass::WrongBody);
    assert_eq!(told, Some("it answered 200 'Error establishing a database connection'"));
}

fn the_most_frequent_error_is_told_with_its_status_and_text(io: IoChoice) {
    let server = serve(|number, stream| match number % 4 {
        0 => reply(stream, "200 OK", "hello"),
        1 => reply(stream, "502 Bad Gateway", "<title>Bad Gateway</title>"),
        _ => reply(stream, "500 Oops", "Too many \u{1b}[31mconnections"),
    });
    let (outcome, _) = load(&plan(io, &server.url));
    let told = outcome.summary.measured.told.of(FailureClass::Status);
    assert_eq!(told, Some("it answered 500 'Too many \\u{1b}[31mconnections', 100 of 150 times"));
}

fn a_load_whose_requests_fail_goes_on_with_probes(io: IoChoice) {
    for arrival in [Arrival::Closed, Arrival::Poisson] {
        let server = serve(|_, stream| {
            std::thread::sleep(std::time::Duration::from_millis(2));
            reply(stream, "503 No", "busy")
        });
        let mut plan = plan(io, &server.url);
        plan.arrival = arrival;
        plan.phases[0].rate_hz = arrival.is_open().then_some(500.0);
        plan.phases[0].end = PhaseEnd::After(SpanNs::from_secs(600));
        plan.hard_stops.failure_ratio = Some(0.5);
        let (outcome, kept) = load(&plan);
        let text = "100% of the last";
        assert!(
            matches!(&outcome.ending, TrialEnding::HardStop(why) if why.starts_with(text)),
            "{:?}",
            outcome.ending
        );
        let measured = &outcome.summary.measured;
        let seconds = measured.end_mono_ns.seconds_since(measured.begin_mono_ns);
        assert!(seconds >= 5.0, "{seconds} s are too few for counters that are read once a second");
        let sent: Vec<u64> = kept.intervals.iter().map(|interval| interval.counts.sent).collect();
        let (first, later) = (sent[0], &sent[2..5]);
        assert!(later.iter().all(|sent| *sent > 0 && *sent * 5 < first), "{arrival:?}: {sent:?}");
        assert_eq!(outcome.summary.total.written, server.requests.load(Ordering::SeqCst));
    }
}

fn a_server_that_goes_away_gets_probes_until_it_can_be_explained(io: IoChoice) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let mut plan = plan(io, &format!("http://{}/", listener.local_addr().expect("has an address")));
    plan.keep_alive = KeepAlive::Requests(1);
    plan.phases[0].end = PhaseEnd::After(SpanNs::from_secs(600));
    let server = std::thread::spawn(move || {
        for mut stream in listener.incoming().take(100).flatten() {
            let _ = stream.read(&mut [0; 4096]);
            reply(&mut stream, "200 OK", "hello");
        }
    });
    let (outcome, kept) = load(&plan);
    server.join().expect("ends");
    let text = "20 connections in a row failed: connect_refused";
    assert_eq!(outcome.ending, TrialEnding::HardStop(text.into()));
    let measured = &outcome.summary.measured;
    let seconds = measured.end_mono_ns.seconds_since(measured.begin_mono_ns);
    assert!((5.0..30.0).contains(&seconds), "{seconds} s");
    let sent: Vec<u64> = kept.intervals.iter().map(|interval| interval.counts.sent).collect();
    assert!(sent[2..5].iter().all(|sent| (1..20).contains(sent)), "{sent:?}");
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
    let server = serve(twice);
    let mut plan = plan(io, &server.url);
    // The connection is free for a while after each response, so that what comes behind it comes unasked.
    (plan.arrival, plan.connections) = (Arrival::Constant, 1);
    (plan.phases[0].rate_hz, plan.phases[0].end) = (Some(100.0), PhaseEnd::Requests(20));
    let classes = load(&plan).0.summary.measured.failures;
    assert!(
        classes.iter().all(|(class, _)| matches!(class, FailureClass::Desync | FailureClass::Reset)),
        "{classes:?}"
    );
    assert!(!classes.is_empty());
}

/// A server that says this to whoever connects, and then waits for an answer to it.
fn greet(greeting: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let url = format!("http://{}/", listener.local_addr().expect("has an address"));
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.write_all(greeting);
            kept.push(stream);
        }
    });
    url
}

fn a_greeting_of_another_service_is_told_at_its_first_line_and_not_waited_for(io: IoChoice) {
    use FailureClass::{NotHttp, SpeaksTls};
    for (greeting, class, told) in [
        (&b"SSH-2.0-OpenSSH_9.2p1\r\n"[..], NotHttp, "it answered 'SSH-2.0-OpenSSH_9.2p1'"),
        (b"220 mail.example ESMTP\r\n", NotHttp, "it answered '220 mail.example ESMTP'"),
        (b"J\0\0\0\x0a8.0.36\0", NotHttp, "it answered 'J\\x00\\x00\\x00'"),
        (b"x", NotHttp, "it answered 'x'"),
        (b"\0\0\0\x04\0\0\0\0\0", NotHttp, "it answered with HTTP/2 frames"),
        (b"\x15\x03\x03\0\x02\x02\x0a", SpeaksTls, "it sent alert unexpected_message (10)"),
    ] {
        for arrival in [Arrival::Closed, Arrival::Constant] {
            let mut plan = plan(io, &greet(greeting));
            (plan.arrival, plan.connections) = (arrival, 2);
            plan.phases[0].rate_hz = arrival.is_open().then_some(200.0);
            plan.phases[0].end = PhaseEnd::Requests(10);
            plan.hard_stops.connect_failures_in_a_row = None;
            let measured = load(&plan).0.summary.measured;
            assert_eq!(measured.failures.into_iter().collect::<Vec<_>>(), [(class, 10)], "{told}");
            assert_eq!(measured.told.of(class), Some(told));
        }
    }
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
    assert!(outcome.summary.generator.io_fallback.is_some_and(|reason| reason.contains("only used for TCP")));
}

/// Whether the kernel gives ports in turn, as Linux does since 6.14; says so if not.
fn has_ports_in_turn() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").expect("is told");
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    let has = (numbers.next(), numbers.next()) >= (Some(6), Some(14));
    if !has {
        sysdyno_needs::skip("connections_take_odd_and_even_ports", &["ports-in-turn"]);
    }
    has
}

fn connections_take_odd_and_even_ports(io: IoChoice) {
    if !has_ports_in_turn() {
        return;
    }
    let ports = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = Arc::clone(&ports);
    let server = serve(move |number, stream| {
        let port = stream.peer_addr().expect("has an address").port();
        seen.lock().expect("nobody panicked").push(port);
        ok(number, stream)
    });
    load(&LoadPlan { connections: 32, ..plan(io, &server.url) });
    let mut ports = ports.lock().expect("nobody panicked").clone();
    ports.sort_unstable();
    ports.dedup();
    let odd_count = ports.iter().filter(|port| *port % 2 == 1).count();
    assert!(odd_count > 0 && odd_count < ports.len(), "{ports:?}");
}
