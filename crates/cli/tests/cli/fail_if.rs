//! Checks in words: exit code 1 with which one failed and by how much, 2 for what cannot be read, 3 stays 3.

use crate::rig::hostile::closed_port;
use crate::rig::program::{Program, Target};
use serde_json::Value;

const LOAD: &[&str] = &["--connections", "2", "--requests", "400"];

/// `load` with these options against a server that delays each response by 5 ms.
fn load(program: &Program, options: &[&str]) -> crate::rig::program::Outcome {
    let target = Target::start(&["--delays-us", "5000"]);
    program.run([&["load", target.url()], LOAD, options].concat())
}

#[track_caller]
fn check<'a>(document: &'a Value, text: &str) -> &'a Value {
    let checks = document["checks"].as_array().expect("checks are a list");
    checks
        .iter()
        .find(|check| check["text"] == text)
        .unwrap_or_else(|| panic!("no check {text} in {document}"))
}

#[test]
fn checks_that_pass_end_with_0_and_are_recorded() {
    let program = Program::new();
    let outcome = load(&program, &["--fail-if", "p50>10min", "--fail-if", "errors>0.1%", "--json"]);
    outcome.expect_code(0);
    let document = outcome.json();
    assert_eq!(document["checks"].as_array().map(Vec::len), Some(2), "{outcome}");
    let median = check(&document, "p50>10min");
    assert_eq!((&median["passed"], &median["limit"]), (&true.into(), &600e9.into()), "{outcome}");
    assert_eq!((&median["metric"], &median["unit"]), (&"service.p50".into(), &"ns".into()), "{outcome}");
    assert!(median["measured"].as_f64().is_some_and(|ns| ns >= 5e6), "{outcome}");
    assert_eq!(check(&document, "errors>0.1%")["measured"], 0.0, "{outcome}");
}

#[test]
fn a_check_that_fails_ends_with_1_and_says_by_how_much() {
    let program = Program::new();
    let outcome = load(&program, &["--fail-if", "errors>0", "--fail-if", "service.p50>1ms"]);
    outcome.expect_code(1);
    let line = outcome.stdout.lines().find(|line| line.contains("FAILED")).expect("it says what failed");
    assert!(line.contains("service.p50 > 1 ms: ") && line.contains("% over"), "{outcome}");
    assert!(outcome.stdout.contains("passed"), "{outcome}");
    // The same again from the record, for people and for programs.
    let shown = program.run(["show"]);
    shown.expect_code(1);
    assert!(shown.stdout.contains(line), "{shown}");
    let shown = program.run(["show", "--json"]);
    shown.expect_code(1);
    assert_eq!(check(&shown.json(), "service.p50>1ms")["passed"], false, "{shown}");
    assert!(shown.stderr.contains("FAILED service.p50 > 1 ms"), "{shown}");
    let folder = program.run_folder().expect("a run");
    let plan = std::fs::read_to_string(folder.join("plan.json")).expect("the plan is there");
    let plan: Value = serde_json::from_str(&plan).expect("it is JSON");
    assert_eq!(plan["load"]["fail_if"], serde_json::json!(["errors>0", "service.p50>1ms"]));
}

#[test]
fn a_percentile_without_enough_samples_has_failed() {
    let program = Program::new();
    let outcome = load(&program, &["--fail-if", "p99.9>10s", "--json"]);
    outcome.expect_code(1);
    let document = outcome.json();
    let tail = check(&document, "p99.9>10s");
    assert_eq!(
        (&tail["passed"], &tail["decided"], &tail["measured"]),
        (&false.into(), &false.into(), &Value::Null)
    );
    assert!(outcome.stderr.contains("too few samples: 400 samples"), "{outcome}");
}

#[test]
fn an_invalid_run_ends_with_3_whatever_its_checks_say() {
    let program = Program::new();
    let url = format!("http://{}/", closed_port());
    let outcome = program.run(["load", &url, "-n", "1", "--fail-if", "errors>1%", "--json"]);
    outcome.expect_code(3);
    assert_eq!(check(&outcome.json(), "errors>1%")["passed"], false, "{outcome}");
}

#[test]
fn checks_come_from_the_environment_and_from_files_too() {
    let program = Program::new();
    let target = Target::start(&[]);
    let arguments = || [&["load", target.url(), "--json"], LOAD].concat();
    std::fs::write(program.runs().join("sysdyno.toml"), "[load]\nfail-if = ['rate<1/s']\n").expect("writes");
    let from_file = program.run(arguments());
    from_file.expect_code(0);
    assert_eq!(check(&from_file.json(), "rate<1/s")["passed"], true, "{from_file}");
    let mut command = program.command(arguments());
    command.env("SYSDYNO_FAIL_IF", "rate>0,errors>50%");
    let limit = std::time::Duration::from_secs(30);
    let from_environment = crate::rig::program::Running::start(command).finish(limit);
    from_environment.expect_code(1);
    let document = from_environment.json();
    assert_eq!(document["checks"].as_array().map(Vec::len), Some(2), "{from_environment}");
    assert_eq!(check(&document, "rate>0")["passed"], false, "{from_environment}");
    std::fs::write(program.runs().join("sysdyno.toml"), "[load]\nfail-if = ['p97>1s']\n").expect("writes");
    let refused = program.run(arguments());
    refused.expect_code(2);
    assert!(refused.stderr.contains("'p97' is not a metric"), "{refused}");
}

#[test]
fn the_plan_of_a_search_shows_its_checks() {
    let program = Program::new();
    let outcome = program.run(["run", "http://127.0.0.1:1/", "--fail-if", "capacity<5k/s", "--dry-run"]);
    outcome.expect_code(0);
    assert_eq!(outcome.json()["fail_if"], serde_json::json!(["capacity<5k/s"]), "{outcome}");
}

#[test]
fn what_the_sample_does_not_support_is_said_in_words() {
    let program = Program::new();
    let outcome = load(&program, &[]);
    outcome.expect_code(0);
    let line = outcome.stdout.lines().find(|line| line.trim_start().starts_with("95%"));
    let line = line.unwrap_or_else(|| panic!("no line of intervals in {outcome}"));
    // 400 requests, each of 5 ms, on two connections: one or two seconds.
    assert!(line.contains("no intervals"), "{line}");
    assert!(outcome.stdout.contains("too few samples for p99: 400"), "{outcome}");
    let shown = program.run(["show", "--json"]);
    let service = &shown.json()["service_time_ns"];
    assert!(service["p50"].is_u64() && service["p50_interval"].is_null(), "{shown}");
    assert!(service["interval_basis"]["windows_count"].as_u64().is_some_and(|count| count < 8), "{shown}");
}
