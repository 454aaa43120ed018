//! A run as others see it while it lasts: lines of JSON on standard output.

use crate::rig::program::{Program, Running, Target};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

fn lines(text: &str) -> Vec<Value> {
    let line = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"));
    text.lines().map(line).collect()
}

fn of_kind<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["line"] == kind).collect()
}

fn sum(lines: &[&Value], name: &str) -> u64 {
    lines.iter().map(|line| line["counts"][name].as_u64().expect("a count")).sum()
}

#[test]
fn a_load_is_told_second_by_second_and_its_lines_add_up_to_its_record() {
    let program = Program::new();
    let target = Target::start(&[]);
    let words = ["load", target.url(), "-c", "4", "-d", "2s", "--rate", "500/s", "--output", "jsonl"];
    let load = program.run(words);
    assert!(matches!(load.code, Some(0 | 3)), "{load}");
    let lines = lines(&load.stdout);
    assert_eq!((&lines[0]["line"], &lines[0]["schema"]), (&"begin".into(), &"sysdyno.lines/1".into()));
    let trial = of_kind(&lines, "trial_begin")[0];
    assert_eq!((&trial["url"], &trial["connections_count"]), (&target.url().into(), &4.into()));
    let seconds = of_kind(&lines, "interval");
    assert!(seconds.len() >= 2, "{load}");
    let steady = seconds.iter().find(|line| line["phase"] == "steady").expect("a steady second");
    assert!(steady["offered_hz"].as_f64().is_some_and(|rate_hz| rate_hz > 300.0), "{steady}");
    assert_eq!(steady["latency_kind"], "response");
    assert!(steady["latency_ns"]["p50"].as_u64().is_some(), "{steady}");
    let shown = program.run(["show", "--json"]);
    let folder = program.run_folder().expect("a run");
    let trials = std::fs::read_to_string(folder.join("trials.jsonl")).expect("is there");
    let ended: Value = serde_json::from_str(trials.lines().last().expect("an end")).expect("is JSON");
    let total = ended.pointer("/end/summary/total").or(ended.pointer("/summary/total")).expect("a total");
    assert_eq!(sum(&seconds, "ok"), total["ok"].as_u64().expect("a count"), "{ended}");
    let verdict = of_kind(&lines, "verdict")[0];
    assert_eq!(verdict["headline"], shown.json()["headline"]);
    let end = lines.last().expect("an end");
    assert_eq!((&end["line"], &end["status"]), (&"end".into(), &"complete".into()));
    assert_eq!((&end["run"], &end["dropped_count"]), (&lines[0]["run"], &0.into()));
}

#[test]
fn a_reader_that_stops_or_goes_away_leaves_the_load_as_it_is() {
    let program = Program::new();
    let target = Target::start(&[]);
    let words = ["load", target.url(), "-c", "2", "-n", "2000", "--output", "jsonl"];
    let mut command = program.command(words);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    command.stdout(Stdio::from(writer));
    let mut gone = command.stderr(Stdio::null()).spawn().expect("it starts");
    let code = gone.wait().expect("it ends").code();
    assert!(matches!(code, Some(0 | 3)), "{code:?}");

    let (reader, writer) = std::io::pipe().expect("a pipe");
    rustix::pipe::fcntl_setpipe_size(&writer, 4096).expect("a pipe can be small");
    let mut command = program.command(words);
    command.stdout(Stdio::from(writer)).stderr(Stdio::piped());
    let child = command.spawn().expect("it starts");
    drop(command);
    let ended = child.wait_with_output().expect("it ends");
    drop(reader);
    assert!(matches!(ended.status.code(), Some(0 | 3)), "{ended:?}");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(said.contains("warning: whoever reads the lines has stopped"), "{said}");
    let shown = program.run(["show", "--json"]);
    assert_eq!((shown.count("ok"), &shown.json()["status"]), (2000, &"complete".into()), "{shown}");
}

#[test]
fn a_line_comes_while_the_load_lasts_and_a_signal_ends_with_the_last_line() {
    let program = Program::new();
    let target = Target::start(&[]);
    let words = ["load", target.url(), "-c", "1", "-d", "1h", "--output", "jsonl", "--quiet"];
    let mut child = program.command(words).stderr(Stdio::null()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut next = || -> Value {
        let line = lines.next().expect("a line").expect("can be read");
        serde_json::from_str(&line).expect("is JSON")
    };
    while next()["line"] != "interval" {}
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, Signal::INT).expect("it is there");
    let end = loop {
        let line = next();
        if line["line"] == "end" {
            break line;
        }
    };
    assert_eq!(end["status"], "interrupted");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
}

#[test]
fn a_recorded_run_is_refused_as_lines() {
    let program = Program::new();
    let outcome = Running::start(program.command(["show", "--output", "jsonl"])).finish(LIMIT);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("hint: --output json prints the result"), "{outcome}");
}
