//! A run as others see it while it lasts: lines of JSON on standard output, and metrics that are scraped or pushed.

use crate::rig::program::{Program, Running, Target};
use rustix::process::Signal;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn lines(text: &str) -> Vec<Value> {
    let line = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"));
    text.lines().map(line).collect()
}

pub(crate) fn of_kind<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
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
    let host = of_kind(&lines, "host").pop().expect("the host was read for a second");
    assert!(host["cpu"]["user_ratio"].as_f64().is_some_and(|share| share > 0.0), "{host}");
    assert!(host["listeners"].as_array().is_some_and(|listeners| !listeners.is_empty()), "{host}");
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
fn a_limit_that_readings_show_is_told_while_the_load_lasts() {
    let program = Program::new();
    // One worker and sixteen clients: requests wait for it, or, where others use the CPUs, for these.
    let pool = Target::start(&["--workers", "1", "--hold-ms", "50"]);
    let load = program.run(["load", pool.url(), "-c", "16", "-d", "5s", "--output", "jsonl"]);
    assert!(matches!(load.code, Some(0 | 3)), "{load}");
    let lines = lines(&load.stdout);
    let told: Vec<&str> = of_kind(&lines, "seen")
        .iter()
        .flat_map(|line| line["seen"].as_array().expect("limits"))
        .map(|limit| limit["id"].as_str().expect("an id"))
        .collect();
    assert!(told.iter().any(|id| ["F04", "C13"].contains(id)), "{told:?}: {load}");
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

/// What a load serves: each series by its name and labels.
pub(crate) fn scrape(address: &str, accept: &str) -> (String, BTreeMap<String, f64>) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    let head = format!("GET /metrics HTTP/1.1\r\nHost: {address}\r\nAccept: {accept}\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("sends");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("receives");
    let (head, body) = response.split_once("\r\n\r\n").expect("a head");
    let mut series = BTreeMap::new();
    for line in body.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no series: {line}"));
        let value = value.parse().unwrap_or_else(|error| panic!("{error} in {line}"));
        assert!(series.insert(name.to_owned(), value).is_none(), "two of {name}");
        let family = name.split('{').next().expect("a name");
        let family = ["_bucket", "_sum", "_count", "_total"]
            .iter()
            .fold(family, |name, end| name.trim_end_matches(end));
        assert!(body.contains(&format!("# TYPE {family}")), "no type of {name}");
    }
    (head.to_owned(), series)
}

#[test]
fn a_load_is_scraped_while_it_lasts() {
    let program = Program::new();
    let target = Target::start(&[]);
    let words =
        ["load", target.url(), "-c", "2", "-d", "1h", "--rate", "300/s", "--prometheus", "127.0.0.1:0"];
    let mut child = program.command(words).stdout(Stdio::null()).spawn().expect("it starts");
    let mut said = BufReader::new(child.stderr.take().expect("piped")).lines().map_while(Result::ok);
    let url = said.find_map(|line| line.strip_prefix("metrics: ").map(str::to_owned)).expect("its address");
    let address = url.strip_prefix("http://").and_then(|url| url.strip_suffix("/metrics")).expect("a URL");
    std::thread::spawn(move || said.for_each(drop));
    let ok = "sysdyno_requests_total{result=\"ok\"}";
    let (head, series) = loop {
        let scraped = scrape(address, "application/openmetrics-text; version=1.0.0");
        if scraped.1.get(ok).is_some_and(|count| *count > 0.0) {
            break scraped;
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(head.to_ascii_lowercase().contains("content-type: application/openmetrics-text"), "{head}");
    let all = series["sysdyno_latency_seconds_count{kind=\"response\"}"];
    assert_eq!(series["sysdyno_latency_seconds_bucket{kind=\"response\",le=\"+Inf\"}"], all);
    assert!(all >= series[ok] && series.contains_key("sysdyno_generator_full"), "{series:?}");
    assert!(series["sysdyno_offered_rate_hz"] > 0.0, "{series:?}");
    let (_, later) = scrape(address, "text/plain");
    assert!(later[ok] >= series[ok]);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, Signal::INT).expect("it is there");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(TcpStream::connect(address).is_err(), "it listens on");
}

/// Accepts what is pushed to this path; returns the length of each message, once as many came.
fn receive(listener: &TcpListener, path: &str, count: usize) -> Vec<usize> {
    let receive = |_| {
        let (stream, _) = listener.accept().expect("accepts");
        let mut stream = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(stream.read_line(&mut head).expect("reads") > 0, "{head}");
        }
        let head = head.to_ascii_lowercase();
        assert!(head.starts_with(&format!("post {path} http/1.1")), "{head}");
        assert_eq!(head.contains("content-encoding: snappy"), path == "/api/v1/write", "{head}");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
        let mut body = vec![0; length.parse().expect("a number")];
        stream.read_exact(&mut body).expect("reads");
        stream.get_mut().write_all(b"HTTP/1.1 204 No Content\r\n\r\n").expect("answers");
        body.len()
    };
    (0..count).map(receive).collect()
}

#[test]
fn a_load_pushes_its_metrics_and_says_when_nobody_takes_them() {
    let program = Program::new();
    let target = Target::start(&[]);
    for (option, path) in [("--remote-write", "/api/v1/write"), ("--otlp", "/v1/metrics")] {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
        let url = format!("http://{}{path}", listener.local_addr().expect("has one"));
        // The first, the last, and the one that ends the series.
        let received = std::thread::spawn(move || receive(&listener, path, 3));
        let words = ["load", target.url(), "-c", "2", "-n", "500", option, &url];
        let load = program.run(words);
        assert!(matches!(load.code, Some(0 | 3)), "{load}");
        let received = received.join().expect("receives");
        assert!(received.iter().all(|length| *length > 0), "{received:?}");

        let nobody = TcpListener::bind("127.0.0.1:0").expect("listens").local_addr().expect("has one");
        let url = format!("http://{nobody}{path}");
        let load = program.run(["load", target.url(), "-c", "2", "-n", "500", option, &url]);
        assert!(matches!(load.code, Some(0 | 3)), "{load}");
        assert!(load.stderr.contains("warning: cannot push metrics to 'http://127.0.0.1:"), "{load}");
        assert_eq!(program.run(["show", "--json"]).count("ok"), 500);
    }
}

#[test]
fn where_metrics_cannot_go_is_refused_before_anything_is_sent() {
    let program = Program::new();
    for (words, error) in [
        (
            ["--prometheus", "0.0.0.0:9464"],
            "error: cannot serve metrics on 0.0.0.0:9464: other hosts could read them",
        ),
        (["--remote-write", "https://127.0.0.1/"], "error: cannot push metrics to 'https://127.0.0.1/'"),
        (["--remote-write", "9090"], "error: cannot push metrics to '9090'"),
        (["--otlp", "http://me:it@127.0.0.1/"], "error: cannot push metrics to 'http://me:it@127.0.0.1/'"),
    ] {
        let outcome = program.run(["load", "http://127.0.0.1:1/", "-n", "1", words[0], words[1]]);
        outcome.expect_code(2);
        assert!(outcome.stderr.contains(error) && outcome.stderr.contains("hint: "), "{outcome}");
    }
    assert!(program.run_folder().is_none());
}
