//! Generator and server on separate hosts: every statement about one of them must rest on its own readings.
//!
//! Processes of both series share PIDs, as on real hosts.

use crate::corpus::*;
use crate::findings::{Scene, examine};
use crate::verdict::check_trial;
use crate::view::TrialView;
use sysdyno_record::analysis::{Confidence, Finding, Reason, VerdictStatus};
use sysdyno_record::event::{Event, EventKind};
use sysdyno_record::facts::HostFacts;
use sysdyno_record::load::LatencyKind;
use sysdyno_record::remote::{ClockOffset, RemoteHost};
use sysdyno_record::view::ServerView;

fn host(is_same_machine: bool) -> RemoteHost {
    let clock = ClockOffset {
        offset_ns: -7,
        uncertainty_ns: 100_000,
        round_trip_ns: 200_000,
        exchanges_count: 32,
        is_same_clock: false,
    };
    RemoteHost {
        name: "ann@web".into(),
        agent_version: "0.1.0".into(),
        is_same_machine,
        clock,
        clock_at_end: None,
        facts: HostFacts::default(),
    }
}

fn open() -> Specimen {
    Specimen::open(2000.0, 10.0)
}

/// The same, too slow for its users.
fn slow() -> Specimen {
    open().edit(|case| case.fill(LatencyKind::Response, spread(20_000, 100e6)))
}

/// What `look` sees of a trial with these readings of the two hosts.
fn between<T>(
    generator: Specimen,
    server: Specimen,
    host: &RemoteHost,
    look: impl Fn(&TrialView<'_>) -> T,
) -> T {
    let (generator, server) = (generator.build(), server.build());
    let there = ServerView { host, series: server.view().series };
    look(&TrialView { server: Some(there), ..generator.view() })
}

fn findings(generator: Specimen, server: Specimen) -> Vec<Finding> {
    between(generator, server, &host(false), |view| {
        let (trials, verdicts) = ([*view], [check_trial(view)]);
        examine(&Scene {
            focus: *view,
            base: None,
            trials: &trials,
            verdicts: &verdicts,
            objective: None,
            is_connection_limited: false,
        })
    })
}

fn reason(id: &str, generator: Specimen, server: Specimen, is_same_machine: bool) -> Option<Reason> {
    between(generator, server, &host(is_same_machine), |view| {
        check_trial(view).reasons.into_iter().find(|reason| reason.id == id)
    })
}

#[test]
fn a_limit_of_the_server_is_found_in_its_own_readings_and_named_with_its_host() {
    let overflowing = || {
        let case = slow().counter("TcpExt.ListenOverflows", "netns:target", 20.0);
        case.gauge("listener.queue_count", "listener:10.0.0.2:80", 6.0).gauge(
            "listener.limit_count",
            "listener:10.0.0.2:80",
            5.0,
        )
    };
    let of =
        |findings: Vec<Finding>| findings.into_iter().find(|finding| finding.id == "T01").expect("looked");
    let quiet = || slow().counter("TcpExt.ListenOverflows", "netns:target", 0.0);
    let there = of(findings(quiet(), overflowing()));
    assert!(there.confidence > Confidence::Excluded, "{there:?}");
    assert_eq!(there.host.as_deref(), Some("ann@web"));
    let here = of(findings(overflowing(), quiet()));
    assert_eq!(
        here.confidence,
        Confidence::Excluded,
        "an overflow on the generator's host is not the server's"
    );
}

#[test]
fn cpus_of_two_machines_are_not_added() {
    let busy = || slow().cpu(0.6, 0.35, 0.05).server(1.9);
    let of =
        |findings: Vec<Finding>| findings.into_iter().find(|finding| finding.id == "C13").expect("looked");
    let there = of(findings(slow(), busy()));
    assert!(there.confidence >= Confidence::Possible, "{there:?}");
    assert!(!there.title.contains("generator"), "{}", there.title);
    assert_eq!(of(findings(busy(), slow())).confidence, Confidence::Excluded);
    assert_eq!(reason("M15", open(), busy(), false), None, "they share no CPU");
    let shared = reason("M15", open(), busy(), true).expect("they share all");
    assert!(
        shared.text.contains("the server used 1.9 CPUs and the generator used 0.20 CPUs"),
        "{}",
        shared.text
    );
}

#[test]
fn others_are_named_with_the_machine_that_they_use() {
    let disturbed = || open().cpu(0.6, 0.3, 0.0);
    let there = reason("M11", open(), disturbed(), false).expect("others are seen");
    assert!(there.text.ends_with(" of the machine"), "{}", there.text);
    let here = reason("M11", disturbed(), open(), false).expect("others are seen");
    assert!(here.text.ends_with(" of the generator's machine"), "{}", here.text);
    assert_eq!(here.status, VerdictStatus::Suspect);
}

#[test]
fn a_host_that_was_lost_makes_the_trial_invalid() {
    let lost_and = |at_seconds: f64, goes_on: bool| {
        let (host, reason) = ("ann@web".into(), "it did not respond".into());
        let event = EventKind::HostLost { host, reason, goes_on };
        open().edit(|case| case.events.push(Event { mono_ns: at(at_seconds), event }))
    };
    let lost = |at_seconds: f64| lost_and(at_seconds, false);
    let told = reason("V41", lost(BEGIN + 3.0), open(), false).expect("is told");
    assert_eq!(
        (told.status, told.text.as_str()),
        (VerdictStatus::Invalid, "ann@web was lost after 3.0 s: it did not respond")
    );
    assert_eq!(reason("V41", lost(BEGIN + 3600.0), open(), false), None, "after its end");
    let told = reason("V41", lost_and(BEGIN + 3.0, true), open(), false).expect("is told");
    assert_eq!(told.status, VerdictStatus::Suspect);
    assert!(told.text.ends_with("its part of the load is missing from then on"), "{}", told.text);
    // A load of one host ends where that was last heard of, before it is given up.
    let alone = || shared(lost(BEGIN + 3600.0), &["ann@web"], |share| share.lost = Some("silence".into()));
    let told = reason("V41", alone(), open(), false).expect("is told");
    assert_eq!(told.status, VerdictStatus::Invalid);
}

#[test]
fn the_missing_part_of_a_lost_host_is_not_a_generator_that_fell_behind() {
    let half = || {
        open().edit(|case| {
            let counts = &mut case.end.summary.measured.counts;
            (counts.scheduled, counts.sent, counts.written, counts.ok) = (10_000, 10_000, 10_000, 10_000);
        })
    };
    let hosts = ["ann@a", "ann@b"];
    assert!(reason("V05", shared(half(), &hosts, |_| {}), open(), false).is_some());
    let lost = shared(half(), &hosts, |share| share.lost = Some("silence".into()));
    assert_eq!(reason("V05", lost, open(), false), None);
}

#[test]
fn a_host_that_saw_nothing_of_thousands_of_responses_is_not_the_one_that_was_loaded() {
    let loaded = || open().edit(|case| case.end.summary.measured.connections_opened = 64);
    let server = |opens: f64, packets: f64, cpus: f64| {
        let there = open().server(cpus).counter("Tcp.PassiveOpens", "netns:target", opens);
        there.counter("Ip.InReceives", "netns:target", packets)
    };
    let told = |server: Specimen| reason("M23", loaded(), server, true);
    let elsewhere = told(server(0.0, 5.0, 0.0)).expect("is told");
    assert_eq!(elsewhere.status, VerdictStatus::Invalid);
    assert_eq!(
        elsewhere.text,
        "ann@web did not serve this load: 20,000 responses arrived, but it accepted 0 of 64 connections, and \
         its server used 0.00 CPUs"
    );
    assert_eq!(told(server(6.4, 5.0, 0.0)), None, "it took the connections");
    assert_eq!(told(server(0.0, 2000.0, 0.0)), None, "it passes packets on");
    assert_eq!(told(server(0.0, 5.0, 0.2)), None, "it works");
    let kept = server(0.0, 5.0, 0.0).gauge("connections.established_count", "listener:10.0.0.1:80", 64.0);
    assert_eq!(told(kept), None, "it has the connections");
    assert_eq!(told(open().server(0.0)), None, "what was not read says nothing");
    let early = loaded().edit(|case| case.end.end_mono_ns = at(BEGIN + 3600.0));
    let unread = reason("M23", early, server(0.0, 5.0, 0.0), true);
    assert_eq!(unread, None, "nothing was read after the load");
    let few = reason("M23", Specimen::open(5.0, 10.0), server(0.0, 5.0, 0.0), true);
    assert_eq!(few, None, "a few responses say nothing");
}
