//! What users of ab, wrk and weighttp type, and what their scripts read.

use crate::rig::program::{Outcome, Program, Target};
use std::io::Write;
use std::process::{Command, Stdio};

/// Pieces of scripts as they are found around `ab`: what is run, and the field of the result that it must give.
const SCRIPTS: &[(&str, &str)] = &[
    ("awk '/Requests per second/ {print $4}'", "rate"),
    ("grep 'Requests per second' | cut -d: -f2 | awk '{print $1}'", "rate"),
    (r"sed -nE 's|^Requests per second:[[:space:]]+([0-9.]+) \[#/sec\] \(mean\)$|\1|p'", "rate"),
    ("grep -F 'Failed requests' | awk '{print $NF}'", "failed"),
    (r"sed -nE 's/^Complete requests: +([0-9]+)$/\1/p'", "complete"),
    ("awk '/^Concurrency Level:/ {print $3}'", "connections"),
    ("grep '^Document Length:' | tr -dc 0-9", "length"),
    (r"grep -cE '^Time per request:[[:space:]]+[0-9.]+ \[ms\] \(mean\)$'", "one"),
    (r"grep -cE '^Time per request:.*\(mean, across all concurrent requests\)$'", "one"),
    (r"grep -cE '^Transfer rate:[[:space:]]+[0-9.]+ \[Kbytes/sec\] received$'", "one"),
    (r"grep -cE '^Time taken for tests:[[:space:]]+[0-9.]+ seconds$'", "one"),
    (r"grep -cE '^(Connect|Processing|Waiting|Total): +([0-9]+ +){2}[0-9.]+ +[0-9]+ +[0-9]+$'", "four"),
    (r"grep -cE '^ +(50|66|75|80|90|95|98|99)% +[0-9]+$'", "eight"),
    (r"grep -cE '^ 100% +[0-9]+ \(longest request\)$'", "one"),
];

/// What a shell pipeline makes of a text.
fn pipe(text: &str, script: &str) -> String {
    let mut shell = Command::new("/bin/sh")
        .args(["-c", script])
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell starts");
    // A script may have seen enough before the end.
    let _ = shell.stdin.take().expect("piped").write_all(text.as_bytes());
    let output = shell.wait_with_output().expect("a shell ends");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn show(program: &Program, form: &str) -> Outcome {
    let outcome = program.run(["show", "--output", form]);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    outcome
}

#[test]
fn scripts_made_for_ab_read_the_result() {
    let program = Program::new();
    let target = Target::start(&["--threads", "1", "--body-bytes", "1234"]);
    let line = ["load", "-n", "2000", "-c", "8", "-t", "1", "-k", "--output", "ab", target.url()];
    let outcome = program.run(line);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let json = show(&program, "json").json();
    let rate = format!("{:.2}", json["rates"]["achieved_hz"].as_f64().expect("a rate"));
    for (script, field) in SCRIPTS {
        let expected = match *field {
            "rate" => rate.as_str(),
            "failed" => "0",
            "complete" => "2000",
            "connections" => "8",
            "length" => "1234",
            "one" => "1",
            "four" => "4",
            "eight" => "8",
            other => panic!("no such field: {other}"),
        };
        assert_eq!(pipe(&outcome.stdout, script), expected, "{script}\n{outcome}");
    }
    assert_eq!(show(&program, "ab").stdout, outcome.stdout);
}

#[test]
fn a_result_is_printed_again_in_each_form() {
    let program = Program::new();
    let target = Target::start(&["--threads", "1"]);
    let line = ["load", "-r", "500", "-d", "1", "-c4", "--output", "csv", target.url()];
    let outcome = program.run(line);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    let rows: Vec<Vec<&str>> = outcome.stdout.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 2, "{outcome}");
    let json = show(&program, "json").json();
    let cell = |name: &str| {
        let position = rows[0].iter().position(|column| *column == name);
        rows[1][position.unwrap_or_else(|| panic!("no column '{name}' in {outcome}"))]
    };
    assert_eq!(cell("ok_count"), json["counts"]["ok"].to_string());
    assert_eq!(cell("offered_hz"), "500.000");
    assert_eq!(cell("response_p50_ns"), json["response_time_ns"]["p50"].to_string());
    let spectrum = show(&program, "hdr");
    assert!(spectrum.stdout.trim_start().starts_with("Value     Percentile TotalCount"), "{spectrum}");
    let total = pipe(&spectrum.stdout, r"sed -nE 's/.*Total count += +([0-9]+)\]/\1/p'");
    assert_eq!(total, json["response_time_ns"]["count"].to_string(), "{spectrum}");
}

#[test]
fn a_body_is_posted_as_ab_does_it() {
    let program = Program::new();
    let target = Target::start(&["--threads", "1"]);
    std::fs::write(program.runs().join("body.json"), "{\"a\": 1}").expect("a file can be written");
    let line = ["load", "-n", "1", "-c1", "-p", "body.json", "-T", "application/json", "--dry-run"];
    let outcome = program.run([&line[..], &[target.url()]].concat());
    outcome.expect_code(0);
    let request = &outcome.json()["request"];
    assert_eq!((&request["method"], &request["body_bytes"]), (&"POST".into(), &8.into()), "{outcome}");
    assert_eq!(request["headers"][0]["name"], "Content-Type", "{outcome}");
    assert_eq!(request["headers"][0]["value"], "application/json", "{outcome}");
}
