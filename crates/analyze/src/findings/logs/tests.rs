//! Tests of log findings: which lines name a cause, and how many of them it takes.

use super::super::tests::{conclude, slow};
use super::known::{OF_KERNEL, OF_SERVERS, find as meaning};
use crate::corpus::Specimen;
use sysdyno_record::analysis::{Confidence, Finding};
use sysdyno_record::column::{CGROUP_TARGET, HOST};
use sysdyno_record::event::{Event, EventKind};
use sysdyno_record::load::FailureClass;
use sysdyno_record::log::{KERNEL_LOG, LogLines, LogSeverity};

fn logging(case: Specimen, log: &str, example: &str, count: u64) -> Specimen {
    case.edit(|case| {
        let measured = &case.end.summary.measured;
        let (begin, end) = (measured.begin_mono_ns, measured.end_mono_ns);
        let lines = LogLines {
            log: log.into(),
            host: None,
            pid: Some(7),
            command: (log != KERNEL_LOG).then(|| "nginx".into()),
            severity: LogSeverity::Error,
            template: example.into(),
            example: example.into(),
            new_count: count,
            lines_count: count,
            first_mono_ns: begin,
            begin_mono_ns: begin,
            end_mono_ns: end,
        };
        case.events.push(Event { mono_ns: end, event: EventKind::LogLines(lines) });
    })
}

fn find(id: &str, case: Specimen) -> Option<Finding> {
    conclude(case).into_iter().find(|finding| finding.id == id)
}

/// A file system without inodes under a load that is slow; its rule has no confirmer.
fn without_inodes() -> Specimen {
    let place = "filesystem:/srv";
    let case = slow().gauge("fs.free_bytes", place, 5e9).gauge("fs.size_bytes", place, 9e9);
    case.gauge("fs.free_inodes_count", place, 0.0).gauge("fs.inodes_count", place, 4096.0)
}

#[test]
fn a_line_that_says_what_a_counter_says_confirms_it() {
    let alone = find("F09", without_inodes()).expect("a finding");
    assert_eq!(alone.confidence, Confidence::Possible, "{alone:?}");
    let line = "[error] FastCGI sent in stderr: \"PHP Warning: failed: No space left on device\"";
    let said =
        find("F09", logging(without_inodes(), "/var/log/nginx/error.log", line, 500)).expect("a finding");
    assert_eq!(said.confidence, Confidence::Likely, "{said:?}");
    assert!(said.evidence.iter().any(|seen| seen.text.starts_with("nginx logged 500 times: ")), "{said:?}");
    let other = logging(without_inodes(), "/var/log/nginx/error.log", FULL, 500);
    assert_eq!(
        find("F09", other).map(|found| found.confidence),
        Some(Confidence::Possible),
        "it says something else"
    );
}

const FULL: &str = "[alert] 512 worker_connections are not enough";

#[test]
fn a_line_for_each_failed_request_is_the_cause() {
    let failing = || slow().fail(FailureClass::EofBeforeHead, 1_000);
    let finding = find("L01", logging(failing(), "/var/log/nginx/error.log", FULL, 990)).expect("a finding");
    assert!(finding.confidence >= Confidence::Likely, "{finding:?}");
    assert_eq!(finding.title, "A worker of nginx has no connections left: nginx logged it 990 times");
    assert_eq!(finding.evidence[0].text, "nginx logged 990 times: '512 worker_connections are not enough'");
    assert!(finding.remedy.is_some_and(|remedy| remedy.contains("raise worker_connections")));
    let few = find("L01", logging(failing(), "/e.log", FULL, 100)).expect("a finding");
    assert_eq!(few.confidence, Confidence::Possible, "there are ten failures for each line");
    assert!(find("L01", logging(failing(), "/e.log", FULL, 3)).is_none(), "too few to mean anything");
    let late = |case| {
        find("L01", logging(case, "/e.log", "[error] upstream timed out", 1_000))
            .expect("a finding")
            .confidence
    };
    assert!(late(failing()) >= Confidence::Likely, "nothing else explains it");
    let killing = failing().counter("vmstat.oom_kill", HOST, 200.0);
    let killing = killing.counter("cgroup.oom_kills_count", CGROUP_TARGET, 200.0);
    assert_eq!(late(killing), Confidence::Possible, "another tier was late, and that has a cause");
    assert!(
        find("L01", logging(slow(), "/e.log", "[error] no such file", 1_000)).is_none(),
        "nothing failed"
    );
    let reusing = "[warn] 512 worker_connections are not enough, reusing connections";
    let rationed = find("L01", logging(failing(), "/e.log", reusing, 3)).expect("a finding");
    assert!(rationed.confidence >= Confidence::Likely, "it is written once a second: {rationed:?}");
    let known = find("L01", logging(slow(), "/e.log", FULL, 1_000)).expect("a finding");
    assert_eq!(known.confidence, Confidence::Possible, "it may have held requests up: {known:?}");
    let unknown =
        find("L01", logging(failing(), "/e.log", "ERROR: the moon is\nfull", 1_000)).expect("a finding");
    assert!(unknown.title.starts_with(
        "The server's log says why: nginx logged 1,000 times: 'ERROR: the moon is\u{fffd}full'"
    ));
}

#[test]
fn requests_for_which_a_proxy_asked_nobody_are_not_lost_to_what_ended() {
    let failing = || {
        let killing = slow().fail(FailureClass::Status, 5_000).counter("vmstat.oom_kill", HOST, 1_000.0);
        let killing = killing.counter("cgroup.oom_kills_count", CGROUP_TARGET, 1_000.0);
        killing.edit(|case| case.end.summary.measured.statuses.extend([(200, 15_000), (502, 5_000)]))
    };
    let first = |case: Specimen| conclude(case).swap_remove(0).id;
    assert_eq!(first(failing()), "E04");
    let line = "[error] no live upstreams while connecting to upstream";
    assert_eq!(first(logging(failing(), "/e.log", line, 4_900)), "L01");
}

#[test]
fn a_line_of_the_kernel_is_possible() {
    let line = "TCP: request_sock_TCP: Possible SYN flooding on port 0.0.0.0:80. Sending cookies.";
    let finding = find("L02", logging(slow(), KERNEL_LOG, line, 1)).expect("a finding");
    assert_eq!(finding.confidence, Confidence::Possible);
    assert!(
        finding.title.starts_with("A SYN queue was full: the kernel logged it 1 time"),
        "{}",
        finding.title
    );
    assert!(find("L02", logging(slow(), KERNEL_LOG, "usb 1-1: new device", 50)).is_none());
}

#[test]
fn a_line_is_quoted_from_its_words_on() {
    for (line, words) in [
        (
            "2026/11/27 09:52:44 [error] 326#326: *12 upstream timed out, client: ::1",
            "upstream timed out, client: ::1",
        ),
        ("[Fri Nov 27 09:52:44.1 2026] [proxy:error] [pid 7:tid 8] AH01102: no status", "AH01102: no status"),
        ("Nov 27 09:52:44 web mariadbd[7]: Too many", "web mariadbd[7]: Too many"),
        ("2026-11-27T09:52:44.123+00:00 7 [Warning] Aborted", "Aborted"),
        ("12 connections refused", "12 connections refused"),
        ("[error]", "[error]"),
        ("[no end", "[no end"),
        ("17", "17"),
    ] {
        assert_eq!(super::words_of(line), words);
    }
}

#[test]
fn every_known_line_is_found_by_its_own_words() {
    for known in OF_SERVERS {
        let found = meaning(&known.words.to_uppercase(), OF_SERVERS).expect("is known");
        assert!(!found.remedy.is_empty() && !found.cause.ends_with('.'), "{}", known.words);
    }
    for known in OF_KERNEL {
        assert!(meaning(known.words, OF_KERNEL).is_some(), "{}", known.words);
    }
}
