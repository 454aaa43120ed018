//! Hostile and broken servers: every run against one ends in time, with the failure counted by its class, in bounded
//! memory, without a panic.

mod cases;

use crate::rig::hostile::{FullQueue, Hostile, Verb, closed_port};
use crate::rig::program::{Outcome, Program, Running};
use cases::{CASES, Case, Expected};
use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::time::Duration;
use sysdyno_record::load::FailureClass;

/// Total deadline of a request; the idle and the connect deadline are half of it.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Deadlines of a run that must not run into one: far more than it takes on a slow machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// How much later than its deadlines a run may end. One that does not keep them never ends.
const GRACE: Duration = Duration::from_secs(30);

/// Requests of a run, over [`CONNECTIONS`]: each connection sends two.
const REQUESTS: u64 = 8;
const CONNECTIONS: u64 = 4;

/// Most memory of a run: 64 MiB of what a server can make it hold, and as much again for program and histograms.
const MEMORY_BYTES: u64 = 128 << 20;

/// Cases that run at a time; nearly all of their time is waiting.
const PARALLEL: usize = 12;

/// In a sample, one of so many cases is tried.
const SAMPLE: usize = 4;

const COMMON: &[&str] = &["--requests", "8", "--connections", "4", "--threads", "1", "--json"];

/// Deadlines, with the total one first: short where one of them is what must come, long where it must not.
const SHORT: &[&str] = &["--timeout", "2s", "--connect-timeout", "1s", "--idle-timeout", "1s"];
const SHORT_IN_ALL: &[&str] = &["--timeout", "2s", "--connect-timeout", "30s", "--idle-timeout", "30s"];
const LONG: &[&str] = &["--timeout", "30s", "--connect-timeout", "30s", "--idle-timeout", "30s"];

/// A run of which this is expected.
fn arguments<'a>(url: &'a str, expected: Expected, more: &[&'a str]) -> Vec<&'a str> {
    [&["load", url], COMMON, deadlines(expected), more].concat()
}

fn deadlines(expected: Expected) -> &'static [&'static str] {
    use FailureClass::{BodyTimeout, ConnectTimeout, HeadTimeout, WriteTimeout};
    let is_deadline =
        |class: &FailureClass| [BodyTimeout, ConnectTimeout, HeadTimeout, WriteTimeout].contains(class);
    match expected {
        Expected::TimedOut => SHORT_IN_ALL,
        Expected::Failed(classes) | Expected::Mixed(classes) if classes.iter().any(is_deadline) => SHORT,
        Expected::Ok | Expected::Failed(_) | Expected::Mixed(_) => LONG,
    }
}

/// The time within which all requests of a run must have ended, one way or the other.
fn limit(expected: Expected) -> Duration {
    let one = if deadlines(expected) == LONG { PATIENCE } else { TIMEOUT };
    one * (REQUESTS / CONNECTIONS) as u32 + GRACE
}

#[test]
fn every_broken_server_ends_in_a_counted_class() {
    let queue: Mutex<VecDeque<&Case>> = Mutex::new(cases().collect());
    let complaints = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..PARALLEL {
            scope.spawn(|| {
                while let Some(case) = take(&queue) {
                    let complaint = try_case(case).err();
                    complaints.lock().expect("no holder panics").extend(complaint);
                }
            });
        }
    });
    let complaints = complaints.into_inner().expect("no holder panics");
    assert!(complaints.is_empty(), "{} cases:\n\n{}", complaints.len(), complaints.join("\n\n"));
}

/// All cases, or a sample where `make test` has them once more for a back end that is named.
fn cases() -> impl Iterator<Item = &'static Case> {
    let is_set = |name: &str| std::env::var_os(name).is_some();
    let is_sample = is_set("SYSDYNO_IO") && !is_set("SYSDYNO_HOSTILE_TESTS");
    CASES.iter().copied().flatten().step_by(if is_sample { SAMPLE } else { 1 })
}

fn take<T>(queue: &Mutex<VecDeque<T>>) -> Option<T> {
    queue.lock().expect("no holder panics").pop_front()
}

fn try_case(case: &Case) -> Result<(), String> {
    let server = Hostile::start(case.script.to_vec());
    let url = server.url();
    let line = arguments(&url, case.expected, case.arguments);
    let outcome = Program::new().start(line).finish(limit(case.expected));
    let judged = judge(&outcome, case.expected).and_then(|()| judge_told(&outcome, case.told));
    judged.map_err(|cause| format!("{} ({}): {cause}\n{outcome}", case.id, case.what))
}

/// Whether this is told of the failures, in the full sentences of their class and in the headline.
fn judge_told(outcome: &Outcome, told: &str) -> Result<(), String> {
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).map_err(|error| error.to_string())?;
    let is_told = |text: &serde_json::Value| text.as_str().is_some_and(|text| text.contains(told));
    let mut sentences = json["failure_texts"].as_object().into_iter().flat_map(|texts| texts.values());
    let is_complete = told.is_empty() || sentences.any(is_told) && is_told(&json["headline"]);
    if is_complete { Ok(()) } else { Err(format!("'{told}' is not told")) }
}

/// Whether a run is what was expected; what is wrong with it otherwise.
fn judge(outcome: &Outcome, expected: Expected) -> Result<(), String> {
    let require = |holds: bool, what: &str| if holds { Ok(()) } else { Err(what.to_owned()) };
    require(!outcome.is_overdue, "it did not end in time")?;
    require(!outcome.stderr.contains("panicked"), "it panicked")?;
    require(outcome.peak_rss_bytes <= MEMORY_BYTES, &format!("{} bytes resident", outcome.peak_rss_bytes))?;
    require(!(outcome.stdout.clone() + &outcome.stderr).contains('\x1b'), "a terminal escape got through")?;
    let tally = Tally::of(outcome)?;
    require(tally.is_balanced(), "sent is not ok + failed + timed out + in flight")?;
    require(tally.failures.values().sum::<u64>() == tally.failed, "the classes do not add up to failed")?;
    require(tally.sent == REQUESTS, "not all requests were sent")?;
    match expected {
        Expected::Ok => {
            require(tally.ok == tally.sent, "not every request is ok")?;
            require(outcome.code != Some(2), "exit code of a run that could not be made")
        }
        Expected::TimedOut => {
            require(tally.timed_out == tally.sent, "not every request timed out")?;
            require(outcome.code == Some(3), "exit code is not 3")
        }
        Expected::Failed(classes) => {
            require(tally.failed == tally.sent, "not every request failed")?;
            require(tally.are_all_in(classes), &format!("the classes are not {classes:?}"))?;
            require(outcome.code == Some(3), "exit code is not 3")
        }
        Expected::Mixed(classes) => {
            require(tally.ok > 0, "no request is ok")?;
            require(tally.are_all_in(classes), &format!("the classes are not {classes:?}"))
        }
    }
}

struct Tally {
    sent: u64,
    ok: u64,
    failed: u64,
    timed_out: u64,
    in_flight: u64,
    failures: BTreeMap<String, u64>,
}

impl Tally {
    fn of(outcome: &Outcome) -> Result<Tally, String> {
        let json: serde_json::Value =
            serde_json::from_str(&outcome.stdout).map_err(|error| error.to_string())?;
        let count = |name: &str| json["counts"][name].as_u64().ok_or(format!("no count '{name}'"));
        let failures = serde_json::from_value(json["failures"].clone()).map_err(|error| error.to_string())?;
        Ok(Tally {
            sent: count("sent")?,
            ok: count("ok")?,
            failed: count("failed")?,
            timed_out: count("timed_out")?,
            in_flight: count("in_flight")?,
            failures,
        })
    }

    fn is_balanced(&self) -> bool {
        self.sent == self.ok + self.failed + self.timed_out + self.in_flight
    }

    fn are_all_in(&self, classes: &[FailureClass]) -> bool {
        self.failures
            .iter()
            .all(|(name, count)| *count == 0 || classes.iter().any(|class| class.name() == name))
    }
}

#[track_caller]
fn check(outcome: &Outcome, expected: Expected) {
    judge(outcome, expected).unwrap_or_else(|cause| panic!("{cause}\n{outcome}"));
}

#[test]
fn h01_a_full_accept_queue_is_a_connect_timeout() {
    let full = FullQueue::start();
    let url = format!("http://{}/", full.address);
    let expected = Expected::Failed(&[FailureClass::ConnectTimeout]);
    let outcome = Program::new().start(arguments(&url, expected, &[])).finish(limit(expected));
    check(&outcome, expected);
}

#[test]
fn h02_a_closed_port_is_a_refused_connection() {
    let url = format!("http://{}/", closed_port());
    let expected = Expected::Failed(&[FailureClass::ConnectRefused]);
    let outcome = Program::new().start(arguments(&url, expected, &[])).finish(limit(expected));
    check(&outcome, expected);
}

/// A file of this many bytes in the folder of the program's runs.
fn upload(program: &Program, bytes: usize) -> String {
    let path = program.runs().with_extension("upload");
    std::fs::write(&path, vec![b'x'; bytes]).expect("a file can be written");
    path.display().to_string()
}

#[test]
fn h26_an_early_answer_stops_the_upload() {
    let early = "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
    let server = Hostile::start_with_buffer(
        vec![Verb::Expect, Verb::Send(early.as_bytes()), Verb::HalfClose, Verb::SleepUntilReleased],
        Some(4096),
    );
    let program = Program::new();
    let file = upload(&program, 8 << 20);
    let more = ["--method", "POST", "--body-file", &file, "--expect-status", "200"];
    let expected = Expected::Failed(&[FailureClass::Status]);
    let outcome = program.start(arguments(&server.url(), expected, &more)).finish(limit(expected));
    std::fs::remove_file(&file).expect("the file is there");
    check(&outcome, expected);
}

#[test]
fn h27_a_server_that_does_not_read_is_a_write_timeout() {
    let server = Hostile::start_with_buffer(vec![Verb::SleepUntilReleased], Some(4096));
    let program = Program::new();
    let file = upload(&program, 8 << 20);
    let more = ["--method", "POST", "--body-file", &file];
    let expected = Expected::Failed(&[FailureClass::WriteTimeout]);
    let outcome = program.start(arguments(&server.url(), expected, &more)).finish(limit(expected));
    std::fs::remove_file(&file).expect("the file is there");
    check(&outcome, expected);
}

#[test]
fn r01_running_out_of_descriptors_is_never_the_servers_failure() {
    let server = Hostile::start(vec![Verb::Expect, Verb::Drain]);
    let program = Program::new();
    let url = server.url();
    let more = ["--connections", "256", "--requests", "256"];
    let line = ["load", &url, "--timeout", "2s", "--idle-timeout", "1s", "--json"];
    let command = program.command_after("ulimit -n 128", [&line[..], &more].concat());
    let outcome = Running::start(command).finish(PATIENCE);
    assert!(!outcome.is_overdue && !outcome.stderr.contains("panicked"), "{outcome}");
    if outcome.code == Some(2) {
        assert!(outcome.stderr.contains("descriptor"), "{outcome}");
        return;
    }
    outcome.expect_code(3);
    let tally = Tally::of(&outcome).expect("a document");
    assert!(tally.is_balanced(), "{outcome}");
    assert!(tally.failures.get("local_fd_limit").is_some_and(|count| *count > 0), "{outcome}");
    assert!(tally.are_all_in(&[FailureClass::LocalFdLimit, FailureClass::HeadTimeout]), "{outcome}");
}
