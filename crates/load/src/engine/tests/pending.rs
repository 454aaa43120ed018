//! Connections and handshakes that are not over when a load begins or ends do not make it longer.

use super::*;
use rustix::fd::OwnedFd;
use rustix::net::{self, AddressFamily, SocketType};
use std::net::SocketAddr;
use sysdyno_record::wire::{TlsPlan, WirePlan};

on_both_back_ends! {
    connects_that_are_pending_do_not_make_a_load_longer
    handshakes_that_are_pending_do_not_make_a_load_longer
}

/// A hundred times as long as the load lasts.
const FOR_EVER: SpanNs = SpanNs::from_secs(60);

/// A server that accepts nothing, and a room for so many who wait; the SYNs of all others are dropped.
fn full_server(room: i32) -> (OwnedFd, SocketAddr) {
    let server = net::socket(AddressFamily::INET, SocketType::STREAM, None).expect("opens");
    net::bind(&server, &SocketAddr::from(([127, 0, 0, 1], 0))).expect("binds");
    net::listen(&server, room).expect("listens");
    let address = net::getsockname(&server).expect("has an address");
    (server, address.try_into().expect("is of IPv4"))
}

/// A load of 200 ms with connections that may take for ever, and requests that may not.
fn short_load(io: IoChoice, url: &str) -> LoadPlan {
    let phase = |kind| PhasePlan { kind, rate_hz: None, end: PhaseEnd::After(SpanNs::from_millis(100)) };
    let total = SpanNs::from_millis(400);
    LoadPlan {
        phases: vec![phase(PhaseKind::Warmup), phase(PhaseKind::Steady)],
        deadlines: Deadlines { total, connect: FOR_EVER, idle: total, drain: total },
        ..plan(io, url)
    }
}

fn check(plan: &LoadPlan) {
    let begin = clock::now();
    let (outcome, kept) = load(plan);
    assert!(clock::now().since(begin) < FOR_EVER.0 / 2, "whatever else the host does meanwhile");
    let counts = outcome.summary.total;
    assert_eq!((counts.ok, counts.failed), (0, 0), "{counts:?}");
    assert!(counts.timed_out + counts.in_flight >= 4, "{counts:?}");
    assert_eq!(kept.phases, [PhaseKind::Warmup, PhaseKind::Steady, PhaseKind::Drain]);
}

fn connects_that_are_pending_do_not_make_a_load_longer(io: IoChoice) {
    let (_server, address) = full_server(1);
    check(&short_load(io, &format!("http://{address}/")));
}

fn handshakes_that_are_pending_do_not_make_a_load_longer(io: IoChoice) {
    let (_server, address) = full_server(64);
    let tls = TlsPlan {
        server_name: address.ip().to_string(),
        version: None,
        resume_ratio: 0.0,
        is_insecure: true,
        ca_file: None,
        certificate_file: None,
        key_file: None,
    };
    let wire = WirePlan { tls: Some(tls), ..WirePlan::default() };
    check(&LoadPlan { wire, ..short_load(io, &format!("https://{address}/")) });
}

#[test]
fn what_connecting_takes_is_taken_from_the_drain() {
    let control = Control::new();
    let limits = |total_s, connect_s, drain_s, dialed_ms: u64| {
        let [total, connect, drain] = [total_s, connect_s, drain_s].map(SpanNs::from_secs);
        let plan = LoadPlan {
            deadlines: Deadlines { total, connect, idle: total, drain },
            ..plan_of("http://127.0.0.1:1/")
        };
        let job = Job::new(&plan, &control).expect("is in order");
        [job.dial_limit(), job.drain_limit(dialed_ms * 1_000_000)].map(|limit| limit.as_millis() as u64)
    };
    assert_eq!(limits(10, 5, 5, 5_000), [5_000, 5_000], "nothing is shorter by default");
    assert_eq!(limits(1, 5, 1, 20), [500, 980]);
    assert_eq!(limits(1, 5, 1, 500), [500, 500]);
    assert_eq!(limits(1, 5, 1, 3_000), [500, 0], "other hosts of a load took longer");
    assert_eq!(limits(60, 5, 5, 5_000), [5_000, 5_000]);
}
