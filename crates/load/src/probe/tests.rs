//! The probe against sockets that behave well, badly, and not at all.

use super::*;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use sysdyno_record::load::FailureClass;
use sysdyno_record::plan::{Endpoint, LoadPlan, PhaseEnd, PhaseKind, PhasePlan, Target};
use sysdyno_record::probe::{ProbeKind, ProbeOutcome, ProbePlan, ProbedTarget, ProbesPlan};

const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const LAST_RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";

/// Long enough for the busiest machine.
const PATIENT: SpanNs = SpanNs::from_secs(9);

/// Keeps what it is given, and ends the probe after so many replies or askings.
struct Kept {
    replies: Vec<ProbeReply>,
    askings_left: u32,
}

impl ProbeSink for Kept {
    fn reply(&mut self, reply: ProbeReply) {
        self.replies.push(reply);
    }

    fn goes_on(&mut self) -> bool {
        self.askings_left = self.askings_left.saturating_sub(1);
        self.askings_left > 0
    }
}

fn job(kind: ProbeKind, way: Way, count: Option<u64>) -> ProbeJob {
    let plan = ProbePlan { kind, interval: SpanNs::from_millis(10), timeout: PATIENT };
    ProbeJob { plan, way, count, trial: 0, target: 0, offset: SpanNs(0), seed: 7, generator_threads: 0 }
}

fn run_to_end(job: &ProbeJob) -> Vec<ProbeReply> {
    let mut kept = Kept { replies: Vec::new(), askings_left: u32::MAX };
    Probe::open(job).and_then(|probe| probe.run(&mut kept)).expect("the probe starts");
    kept.replies.sort_by_key(|reply| reply.sequence);
    kept.replies
}

fn http(address: SocketAddr, count: u64) -> ProbeJob {
    let target = crate::target::resolve(&format!("http://{address}/")).expect("resolves");
    let phase = PhasePlan { kind: PhaseKind::Steady, rate_hz: None, end: PhaseEnd::Requests(1) };
    let plan = LoadPlan { phases: vec![phase], seed: 7, ..LoadPlan::plain(target) };
    job(ProbeKind::Http, Way::Http(Box::new(plan)), Some(count))
}

/// A server that does this with every connection; how many it accepted.
fn server(serve: fn(TcpStream)) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
    let address = listener.local_addr().expect("has an address");
    let accepted = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&accepted);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::Relaxed);
            std::thread::spawn(move || serve(stream));
        }
    });
    (address, accepted)
}

fn answer_each(mut stream: TcpStream) {
    let mut buffer = [0; 4096];
    while stream.read(&mut buffer).is_ok_and(|length| length > 0) {
        if stream.write_all(RESPONSE).is_err() {
            return;
        }
    }
}

fn answer_one(mut stream: TcpStream) {
    let mut buffer = [0; 4096];
    let _ = stream.read(&mut buffer);
    let _ = stream.write_all(LAST_RESPONSE);
}

fn answer_nothing(mut stream: TcpStream) {
    let _ = stream.read_to_end(&mut Vec::new());
}

/// Says more than was asked for, for ever.
fn answer_without_end(mut stream: TcpStream) {
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let _ = stream.write_all(head);
    while stream.write_all(b"1\r\nx\r\n").is_ok() {}
}

#[track_caller]
fn check_schedule(replies: &[ProbeReply], count: u64) {
    let begin = replies.first().expect("replies").intended_mono_ns.0;
    for (index, reply) in (0u64..).zip(replies) {
        assert_eq!(reply.sequence, index + 1);
        assert_eq!(reply.intended_mono_ns.0, begin + index * 10_000_000, "the schedule waits for nothing");
        assert!(reply.sent_mono_ns.is_none_or(|sent| sent >= reply.intended_mono_ns));
        assert!(reply.end_mono_ns >= reply.intended_mono_ns);
    }
    assert_eq!(replies.len() as u64, count, "none vanishes");
}

#[test]
fn every_request_is_answered_on_one_kept_connection() {
    let (address, accepted) = server(answer_each);
    let replies = run_to_end(&http(address, 8));
    check_schedule(&replies, 8);
    for reply in &replies {
        assert_eq!((reply.outcome, reply.status), (ProbeOutcome::Received, Some(200)), "{reply:?}");
    }
    assert!(replies[0].connect_ns.is_some());
    // A reply that comes after the next one is due makes that one open a connection of its own.
    let made = replies.iter().filter(|reply| reply.connect_ns.is_some()).count();
    assert_eq!(made, accepted.load(Ordering::Relaxed));
}

#[test]
fn a_connection_that_was_closed_is_made_again() {
    let (address, accepted) = server(answer_one);
    let replies = run_to_end(&http(address, 4));
    assert!(replies.iter().all(|reply| reply.outcome == ProbeOutcome::Received), "{replies:?}");
    assert_eq!(accepted.load(Ordering::Relaxed), 4);
}

#[test]
fn what_is_not_answered_is_lost_after_its_time_and_delays_nobody() {
    let (address, _) = server(answer_nothing);
    let mut job = http(address, 6);
    job.plan.timeout = SpanNs::from_millis(300);
    let replies = run_to_end(&job);
    check_schedule(&replies, 6);
    for reply in &replies {
        assert!(matches!(reply.outcome, ProbeOutcome::TimedOut | ProbeOutcome::Unsent), "{reply:?}");
        assert_eq!(reply.response_ns(), 300_000_000);
    }
}

#[test]
fn a_server_that_never_stops_sending_is_given_up() {
    let (address, _) = server(answer_without_end);
    let mut job = http(address, 2);
    job.plan.timeout = SpanNs::from_millis(300);
    for reply in run_to_end(&job) {
        let limit = ProbeOutcome::Failed(FailureClass::BodyLimit);
        let is_given_up = matches!(reply.outcome, ProbeOutcome::TimedOut | ProbeOutcome::Unsent);
        assert!(is_given_up || reply.outcome == limit, "{reply:?}");
    }
}

#[test]
fn what_is_open_at_the_end_is_said_to_be() {
    let (address, _) = server(answer_nothing);
    let mut job = http(address, 0);
    job.count = None;
    let mut kept = Kept { replies: Vec::new(), askings_left: 10 };
    Probe::open(&job).and_then(|probe| probe.run(&mut kept)).expect("starts");
    assert!(!kept.replies.is_empty());
    assert!(kept.replies.iter().all(|reply| reply.outcome == ProbeOutcome::InFlight), "{:?}", kept.replies);
}

#[test]
fn tcp_connects_where_somebody_listens_and_is_refused_elsewhere() {
    let (address, accepted) = server(answer_nothing);
    let at = |address| Way::Tcp(ProbeAddress::of(address));
    let replies = run_to_end(&job(ProbeKind::Tcp, at(address), Some(3)));
    check_schedule(&replies, 3);
    for reply in &replies {
        assert_eq!(reply.outcome, ProbeOutcome::Received);
        assert!(reply.connect_ns.is_some_and(|connect_ns| connect_ns <= reply.response_ns()));
    }
    assert!(accepted.load(Ordering::Relaxed) <= 3);
    let (_bound, closed) = crate::engine::tests_closed_port();
    for reply in run_to_end(&job(ProbeKind::Tcp, at(closed), Some(2))) {
        assert_eq!(reply.outcome, ProbeOutcome::Failed(FailureClass::ConnectRefused));
    }
}

#[test]
fn this_host_answers_echo_requests_of_both_families() {
    for ip in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
        let address = SocketAddr::new(ip, 0);
        let job = job(ProbeKind::Icmp, Way::Icmp(ProbeAddress::of(address)), Some(3));
        let mut kept = Kept { replies: Vec::new(), askings_left: u32::MAX };
        if let Err(error) = Probe::open(&job).and_then(|probe| probe.run(&mut kept)) {
            // Without the right to open such a socket, or without IPv6, it says so and sends nothing.
            assert!(kept.replies.is_empty() && error.to_string().starts_with("cannot probe '"), "{error}");
            let family = if ip.is_ipv6() { "ipv6" } else { "icmp" };
            sysdyno_needs::skip(&format!("echo of {ip}: {error}"), &["icmp", family]);
            continue;
        }
        check_schedule(&kept.replies, 3);
        assert!(
            kept.replies.iter().all(|reply| reply.outcome == ProbeOutcome::Received),
            "{:?}",
            kept.replies
        );
    }
}

fn probed(name: &str, kind: ProbeKind, address: &str, interval: SpanNs) -> ProbedTarget {
    let endpoint = Endpoint::Tcp(address.parse().expect("an address"));
    let target = Target { url: address.into(), endpoint, host: address.into(), path: "/".into() };
    ProbedTarget { name: name.into(), target, plan: ProbePlan { kind, interval, timeout: PATIENT } }
}

#[test]
fn operations_of_several_targets_take_turns_within_an_interval() {
    let (address, _) = server(answer_each);
    let address = address.to_string();
    let every = SpanNs::from_millis(30);
    let kinds = [ProbeKind::Tcp, ProbeKind::Http, ProbeKind::Tcp];
    let targets = kinds.map(|kind| probed(kind.name(), kind, &address, every)).to_vec();
    let jobs = ProbeJob::alone(&ProbesPlan { targets, count: Some(2), seed: 7 }).expect("may be sent");
    assert_eq!(jobs.iter().map(|job| job.target).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(jobs.iter().map(|job| job.offset.0 / 1_000_000).collect::<Vec<_>>(), [0, 10, 20]);
    for job in &jobs {
        let before = crate::clock::now();
        let replies = run_to_end(job);
        assert!(replies.iter().all(|reply| reply.target == job.target), "{replies:?}");
        assert!(replies.iter().all(|reply| reply.outcome == ProbeOutcome::Received), "{replies:?}");
        assert!(replies[0].intended_mono_ns.since(before) >= job.offset.0, "{replies:?}");
    }
}

#[test]
fn the_probes_of_one_public_address_share_its_limit() {
    let refused = |interval_ms: u64, addresses: &[&str]| {
        let every = SpanNs::from_millis(interval_ms);
        let target = |address: &&str| probed(address, ProbeKind::Tcp, address, every);
        let targets = addresses.iter().map(target).collect();
        ProbeJob::alone(&ProbesPlan { targets, count: None, seed: 7 }).err().map(|error| error.to_string())
    };
    assert_eq!(refused(100, &["9.9.9.9:53", "8.8.8.8:53"]), None);
    assert_eq!(refused(200, &["9.9.9.9:53", "9.9.9.9:853"]), None);
    let told = refused(100, &["9.9.9.9:53", "9.9.9.9:853"]).expect("is refused");
    assert!(told.contains("together would send 20 times a second; the maximum is 10"), "{told}");
    assert_eq!(refused(10, &["127.0.0.1:1"; MAX_TARGETS_COUNT]), None);
    let told = refused(10, &["127.0.0.1:1"; MAX_TARGETS_COUNT + 1]).expect("is refused");
    assert!(told.contains("more than 16 targets"), "{told}");
}

#[test]
fn a_probe_that_would_be_a_load_is_refused() {
    let check = |address: &str, interval: SpanNs, timeout: SpanNs| {
        let address = ProbeAddress::of(address.parse().expect("an address"));
        let mut job = job(ProbeKind::Icmp, Way::Icmp(address), Some(1));
        (job.plan.interval, job.plan.timeout) = (interval, timeout);
        job.check().is_ok()
    };
    assert!(check("127.0.0.1:0", MIN_INTERVAL, TIMEOUT));
    assert!(!check("127.0.0.1:0", SpanNs(MIN_INTERVAL.0 - 1), TIMEOUT));
    assert!(!check("127.0.0.1:0", MIN_INTERVAL, SpanNs::from_secs(10)));
    assert!(check("9.9.9.9:0", MIN_PUBLIC_INTERVAL, TIMEOUT));
    assert!(!check("9.9.9.9:0", SpanNs(MIN_PUBLIC_INTERVAL.0 - 1), TIMEOUT));
}
