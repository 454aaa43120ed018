//! Against a real nginx: both sides count the same requests, and wrong answers are never taken for good ones.

use crate::rig::hostile::{Hostile, Verb};
use crate::rig::nginx::Nginx;
use crate::rig::program::{Outcome, Program};
use crate::rig::{skip, wait_until};
use rustix::process::Signal;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(30);

/// Good, missing, sometimes busy, and never twice the same.
const LOCATIONS: &str = "
    location = /ok { return 200 'hello from a real server'; }
    location = /sometimes { if ($is_unlucky) { return 503; } return 200 'mostly'; }
    location = /changing { return 200 '$request_id'; }
    location = /failing { if ($is_unlucky) { return 500 'Too many connections'; } return 200 'mostly'; }
";

/// Ways to send that the counts must agree in.
const WAYS: &[(&str, &[&str])] = &[
    ("closed, keep-alive", &["--connections", "8"]),
    ("closed, a connection per request", &["--connections", "4", "--no-keepalive"]),
    ("closed, seven requests per connection", &["--connections", "4", "--requests-per-connection", "7"]),
    ("open, keep-alive", &["--connections", "16", "--rate", "800/s", "--arrival", "poisson"]),
    (
        "open, a connection per request",
        &["--connections", "16", "--rate", "400/s", "--arrival", "constant", "--no-keepalive"],
    ),
];

fn arguments<'a>(url: &'a str, duration: &'a str, way: &[&'a str]) -> Vec<&'a str> {
    [&["load", url, "--duration", duration, "--json"], way].concat()
}

/// Nginx, or a word on why there is none.
fn nginx(test: &str) -> Option<Nginx> {
    let nginx = Nginx::start(LOCATIONS);
    if nginx.is_none() {
        skip(test, &["nginx"]);
    }
    nginx
}

/// Asserts that nginx counted what the program says that it wrote, by its log and by its status page.
#[track_caller]
fn check_counts(nginx: &Nginx, before: (u64, u64), outcome: &Outcome, what: &str) {
    let written = outcome.count("written");
    let counts = || (nginx.logged_count() - before.0, nginx.status_count() - before.1);
    // A request is logged when it is over, which is just after its last byte is sent.
    wait_until(Duration::from_secs(5), || nginx.logged_count() - before.0 >= written);
    assert_eq!(counts(), (written, written), "{what}: nginx's log and status page\n{outcome}");
    let sum = ["ok", "failed", "timed_out", "in_flight"].map(|name| outcome.count(name)).iter().sum::<u64>();
    assert_eq!(sum, outcome.count("sent"), "{what}: {outcome}");
    assert!(written > 0, "{what}: {outcome}");
}

#[test]
fn nginx_counts_what_was_sent() {
    let Some(nginx) = nginx("nginx_counts_what_was_sent") else { return };
    for (what, way) in WAYS {
        // The status page counts each look at it; the first look is not yet part of what it shows.
        let before = (nginx.logged_count(), nginx.status_count() + 1);
        let outcome = Program::new().run(arguments(&nginx.url("/ok"), "1s", way));
        assert!(matches!(outcome.code, Some(0 | 3)), "{what}: {outcome}");
        assert_eq!(outcome.count("ok"), outcome.count("sent"), "{what}: {outcome}");
        check_counts(&nginx, before, &outcome, what);
    }
}

#[test]
fn errors_are_named_before_any_limit_with_what_the_server_said() {
    let Some(nginx) = nginx("errors_are_named_before_any_limit_with_what_the_server_said") else { return };
    let outcome = Program::new().run(["load", &nginx.url("/failing"), "-c", "4", "-n", "2000", "--json"]);
    outcome.expect_code(3);
    let json = outcome.json();
    let limit = json["limit"].as_str().unwrap_or_default();
    let said = "% of the responses are wrong: the server answered 500 'Too many connections'. ";
    assert!(limit.contains(said), "{outcome}");
    assert!(
        json["headline"].as_str().is_some_and(|headline| headline.contains("Too many connections")),
        "{outcome}"
    );
}

#[test]
fn the_server_is_named_by_who_listens_whatever_else_is_watched() {
    let test = "the_server_is_named_by_who_listens_whatever_else_is_watched";
    let Some(nginx) = nginx(test) else { return };
    let mut behind = std::process::Command::new("sleep").arg("60").spawn().expect("sleep starts");
    let (program, pid) = (Program::new(), behind.id().to_string());
    let outcome = program.run(["load", &nginx.url("/ok"), "-n", "500", "--watch-pid", &pid, "--json"]);
    behind.kill().and_then(|()| behind.wait()).expect("sleep ends");
    let json = outcome.json();
    let headline = json["headline"].as_str().unwrap_or_default();
    // A headline of an invalid run says that first, and names nobody.
    let is_invalid = json["verdict"]["status"] == "INVALID";
    assert!(is_invalid || headline.starts_with("nginx completed"), "{outcome}");
    assert!(!headline.contains("sleep"), "{outcome}");
    let folder = program.run_folder().expect("the run is kept");
    let events = std::fs::read_to_string(folder.join("events.jsonl")).expect("is there");
    assert!(events.contains("\"command\":\"sleep\"") && events.contains("\"command\":\"nginx\""), "{events}");
}

#[test]
fn nginx_counts_what_was_sent_before_an_interrupt() {
    let Some(nginx) = nginx("nginx_counts_what_was_sent_before_an_interrupt") else { return };
    for (what, way) in WAYS {
        let before = (nginx.logged_count(), nginx.status_count() + 1);
        let program = Program::new();
        let running = program.start(arguments(&nginx.url("/ok"), "60s", way));
        let has_begun = wait_until(LIMIT, || nginx.logged_count() > before.0 + 50);
        running.signal(Signal::INT);
        let outcome = running.finish(LIMIT);
        assert!(has_begun && !outcome.is_overdue, "{what}: {outcome}");
        outcome.expect_code(130);
        check_counts(&nginx, before, &outcome, what);
        let folder = program.run_folder().expect("an interrupted run is kept");
        let manifest = std::fs::read_to_string(folder.join("manifest.json")).expect("it has a manifest");
        let manifest: serde_json::Value = serde_json::from_str(&manifest).expect("which is JSON");
        assert_eq!(manifest["status"], "interrupted", "{what}");
    }
}

/// Runs against `url`, which gives wrong answers, and asserts exit code 3 and that nothing is called a capacity.
#[track_caller]
fn check_wrong(url: &str, more: &[&str], class: &str) -> Outcome {
    let way = [&["--connections", "4"], more].concat();
    let outcome = Program::new().run(arguments(url, "1s", &way));
    outcome.expect_code(3);
    let json = outcome.json();
    assert_eq!(json["verdict"]["status"], "INVALID", "{outcome}");
    assert!(json["failures"][class].as_u64().is_some_and(|count| count > 0), "no '{class}' in {outcome}");
    assert!(json.get("capacity").is_none_or(serde_json::Value::is_null), "{outcome}");
    outcome
}

#[test]
fn answers_of_404_are_not_a_result() {
    let Some(nginx) = nginx("answers_of_404_are_not_a_result") else { return };
    let outcome = check_wrong(&nginx.url("/missing"), &[], "status");
    assert_eq!(outcome.count("ok"), 0, "{outcome}");
    assert_eq!(outcome.json()["rates"]["goodput_hz"].as_f64(), Some(0.0), "{outcome}");
}

#[test]
fn one_503_in_twenty_is_counted() {
    let Some(nginx) = nginx("one_503_in_twenty_is_counted") else { return };
    let outcome = check_wrong(&nginx.url("/sometimes"), &[], "status");
    let (failed, sent) = (outcome.count("failed") as f64, outcome.count("sent") as f64);
    // Six standard deviations around the 5 % that nginx was told to fail.
    let spread = 6.0 * (sent * 0.05 * 0.95).sqrt();
    assert!((failed - sent * 0.05).abs() < spread, "{failed} of {sent} failed");
}

#[test]
fn a_changing_body_is_noticed() {
    let Some(nginx) = nginx("a_changing_body_is_noticed") else { return };
    check_wrong(&nginx.url("/changing"), &["--same-body"], "wrong_body");
}

#[test]
fn a_truncated_body_is_noticed() {
    let broken = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this";
    let upstream = Hostile::start(vec![Verb::Expect, Verb::Send(broken.as_bytes()), Verb::Fin]);
    let location = format!("location = /truncated {{ proxy_pass {}; }}", upstream.url());
    let Some(nginx) = Nginx::start(&location) else {
        return skip("a_truncated_body_is_noticed", &["nginx"]);
    };
    let outcome = check_wrong(&nginx.url("/truncated"), &[], "body_truncated");
    assert_eq!(outcome.count("ok"), 0, "{outcome}\n{}", nginx.error_log());
}
