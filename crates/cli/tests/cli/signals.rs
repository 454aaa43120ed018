//! Signals end a load in order: at once, with everything that was sent accounted for and kept.

use crate::rig::hostile::{Hostile, Verb};
use crate::rig::program::{Outcome, Program, Running};
use crate::rig::wait_until;
use rustix::process::Signal;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(30);
const GOOD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// From the signal to the end: the engine's two seconds for what is in flight, and the writing of the record.
const GRACE: Duration = Duration::from_secs(2 + 5);

fn good_server() -> Hostile {
    Hostile::start(vec![Verb::Expect, Verb::Send(GOOD.as_bytes()), Verb::Again])
}

fn start(program: &Program, server: &Hostile, more: &[&str]) -> Running {
    let url = server.url();
    program.start([&["load", &url, "--connections", "4", "--json"], more].concat())
}

/// Sends a signal and waits for the end; how long that took, and the outcome.
fn end_with(running: Running, signal: Signal) -> (Duration, Outcome) {
    let begin = std::time::Instant::now();
    running.signal(signal);
    let outcome = running.finish(LIMIT);
    (begin.elapsed(), outcome)
}

#[track_caller]
fn check_balanced(outcome: &Outcome) {
    let sum = ["ok", "failed", "timed_out", "in_flight"].map(|name| outcome.count(name)).iter().sum::<u64>();
    assert_eq!(sum, outcome.count("sent"), "{outcome}");
}

#[test]
fn s01_s03_one_signal_ends_the_load_and_keeps_it() {
    let server = good_server();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let program = Program::new();
        let before = server.requests_count();
        let running = start(&program, &server, &["--duration", "60s"]);
        assert!(wait_until(LIMIT, || server.requests_count() > before + 100), "{signal:?}");
        let (took, outcome) = end_with(running, signal);
        assert!(took < GRACE, "{signal:?}: {took:?}: {outcome}");
        outcome.expect_code(130);
        check_balanced(&outcome);
        assert_eq!(outcome.count("written"), server.requests_count() - before, "{signal:?}: {outcome}");
        let folder = program.run_folder().expect("an interrupted run is kept");
        let verified = program.run(["show", &folder.display().to_string(), "--verify", "--json"]);
        assert!(!verified.stderr.contains("differs"), "{signal:?}: {verified}");
    }
}

#[test]
fn s01_what_is_in_flight_at_a_server_that_never_answers_is_counted_as_such() {
    let server = Hostile::start(vec![Verb::Expect, Verb::Drain]);
    let program = Program::new();
    let running = start(&program, &server, &["--duration", "60s", "--timeout", "50s"]);
    assert!(wait_until(LIMIT, || server.requests_count() == 4));
    let (took, outcome) = end_with(running, Signal::INT);
    assert!(took < GRACE, "{took:?}: {outcome}");
    outcome.expect_code(130);
    check_balanced(&outcome);
    assert_eq!(outcome.count("in_flight"), 4, "{outcome}");
}

#[test]
fn s02_a_second_signal_ends_the_program_at_once() {
    let server = Hostile::start(vec![Verb::Expect, Verb::Drain]);
    let program = Program::new();
    let mut running = start(&program, &server, &["--duration", "60s", "--timeout", "50s"]);
    assert!(wait_until(LIMIT, || server.requests_count() == 4));
    // The second counts once the first was taken, so it is repeated until then.
    let is_over = wait_until(LIMIT, || {
        running.signal(Signal::INT);
        !running.is_running()
    });
    let outcome = running.finish(LIMIT);
    assert!(is_over, "{outcome}");
    outcome.expect_code(130);
    let folder = program.run_folder().expect("what was written is there");
    let shown = program.run(["show", &folder.display().to_string()]);
    assert!((shown.stdout.clone() + &shown.stderr).to_lowercase().contains("incomplete"), "{shown}");
}

#[test]
fn s03_quit_prints_statistics_and_goes_on() {
    let server = good_server();
    let program = Program::new();
    let running = start(&program, &server, &["--duration", "3s", "--probe", "tcp"]);
    assert!(wait_until(LIMIT, || server.requests_count() > 100));
    let (_, outcome) = end_with(running, Signal::QUIT);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let line = outcome.stderr.lines().find(|line| line.contains("sent") && line.contains("in flight"));
    assert!(line.is_some(), "no statistics: {outcome}");
    let line = outcome.stderr.lines().find(|line| line.starts_with("probe (tcp): "));
    assert!(line.is_some_and(|line| line.contains(" sent, ")), "no statistics of the probe: {outcome}");
    assert_eq!(outcome.json()["status"], "complete", "{outcome}");
}

#[test]
fn r14_closed_outputs_do_not_cost_the_run() {
    let server = good_server();
    let program = Program::new();
    let url = server.url();
    let load = ["load", &url, "--connections", "2", "--requests", "50"];
    let command = program.command_after("exec >&- 2>&-", load);
    let outcome = Running::start(command).finish(LIMIT);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let folder = program.run_folder().expect("the run is kept");
    let shown = program.run(["show", &folder.display().to_string(), "--verify", "--json"]);
    assert_eq!(shown.count("sent"), 50, "{shown}");
    assert_eq!(shown.json()["status"], "complete", "{shown}");
}
