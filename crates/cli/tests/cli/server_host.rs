//! `--server`: the server's host is read beside the load, by an agent in its network namespace.

use crate::rig::pair::{Pair, PairTarget, processes_with};
use crate::rig::program::{Outcome, Program, Running};
use crate::rig::{skip, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(90);
const NEEDS: &[&str] = &["root", "iproute2", "namespaces"];

/// Lines of a file of the run, as JSON.
pub fn lines(folder: &Path, name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

/// By how much a counter grew between the first and the last row of a series, whose columns are taken to stay.
pub fn grown(folder: &Path, series: &str, column: &str) -> f64 {
    let (mut position, mut values) = (None, Vec::new());
    for line in lines(folder, series) {
        match line["columns"].as_array() {
            Some(columns) => {
                let is_it = |each: &Value| each["name"] == column && each["scope"] == "netns:target";
                position = columns.iter().position(is_it);
            }
            None => values.extend(position.and_then(|position| line["values"][position].as_f64())),
        }
    }
    values.last().expect("it was read") - values.first().expect("it was read")
}

fn document(folder: &Path, name: &str) -> Value {
    let text = std::fs::read_to_string(folder.join(name)).expect("the file is there");
    serde_json::from_str(&text).expect("it is JSON")
}

/// What holds of any run with a server elsewhere: the counts of the load are the server's, and its kernel's.
pub fn agrees_with_the_server(outcome: &Outcome, folder: &Path, target: PairTarget) {
    let counted = target.counts();
    assert_eq!(counted["requests"].as_u64(), Some(outcome.count("written")), "{outcome}");
    let accepted = grown(folder, "server-series.jsonl", "Tcp.PassiveOpens");
    assert_eq!(counted["connections"].as_f64(), Some(accepted), "{outcome}");
    assert_eq!(grown(folder, "series.jsonl", "Tcp.PassiveOpens"), 0.0, "the generator accepts nothing");
    assert!(grown(folder, "series.jsonl", "Tcp.ActiveOpens") >= accepted, "{outcome}");
}

#[test]
fn the_servers_namespace_is_read_and_agrees_with_the_server() {
    let Some(pair) = Pair::make() else {
        return skip("the_servers_namespace_is_read_and_agrees_with_the_server", NEEDS);
    };
    let (target, program, server) = (pair.target(&[]), Program::new(), pair.server());
    let load = ["load", target.url(), "-c", "8", "-n", "3000", "--server", &server, "--json"];
    let outcome = Running::start(pair.command(&program, load)).finish(LIMIT);
    outcome.expect_code(0);
    let folder = program.run_folder().expect("the run is kept");
    agrees_with_the_server(&outcome, &folder, target);
    let host = document(&folder, "server.json");
    assert_eq!(host["name"], server.as_str());
    assert_eq!((&host["clock"]["is_same_clock"], &host["clock"]["offset_ns"]), (&true.into(), &0.into()));
    assert!(host["clock_at_end"]["exchanges_count"].as_u64() > Some(0), "{host}");
    assert!(host["facts"]["facts"]["kernel.release"]["text"].is_string(), "{host}");
    let targets = lines(&folder, "events.jsonl");
    assert!(targets.iter().any(|event| event["event"]["command"] == "demo-server"), "{targets:?}");
    assert!(!is_agent_of(&server), "the agent outlives the run");
    let again = program.run(["show", &folder.display().to_string(), "--json", "--verify"]);
    again.expect_code(0);
    assert_eq!(again.json()["verdict"], outcome.json()["verdict"], "the folder tells the same");
}

/// Whether an agent in this namespace runs.
fn is_agent_of(server: &str) -> bool {
    !agents_of(server).is_empty()
}

fn agents_of(server: &str) -> Vec<u32> {
    let path = format!("/run/netns/{}", server.trim_start_matches("netns:"));
    processes_with(&["agent", "--stdio", "--netns", &path])
}

#[test]
fn a_full_queue_behind_a_link_is_named_with_its_host() {
    let Some(pair) = Pair::make() else {
        return skip("a_full_queue_behind_a_link_is_named_with_its_host", NEEDS);
    };
    let target = pair.target(&["--backlog", "1", "--accept-delay-ms", "20"]);
    let (program, server) = (Program::new(), pair.server());
    let load = [
        "load",
        target.url(),
        "-c",
        "64",
        "--rate",
        "150/s",
        "-d",
        "4s",
        "--no-keepalive",
        "--server",
        &server,
        "--json",
    ];
    let outcome = Running::start(pair.command(&program, load)).finish(LIMIT);
    let analysis = document(&program.run_folder().expect("the run is kept"), "analysis.json");
    let findings = analysis["findings"].as_array().expect("findings are a list");
    let overflow = findings.iter().find(|finding| finding["id"] == "T01").expect("the rule looked");
    assert_eq!(overflow["host"], server.as_str(), "{outcome}");
    assert!(["likely", "confirmed"].iter().any(|word| overflow["confidence"] == *word), "{outcome}");
    let shown = program.run(["show"]);
    assert!(shown.stdout.contains(&format!("On {server}: ")), "{shown}");
}

#[test]
fn an_agent_that_is_lost_stops_the_load_and_is_told() {
    let Some(pair) = Pair::make() else {
        return skip("an_agent_that_is_lost_stops_the_load_and_is_told", NEEDS);
    };
    let (target, program, server) = (pair.target(&[]), Program::new(), pair.server());
    let load = ["load", target.url(), "-c", "2", "-d", "80s", "--server", &server, "--json"];
    let running = Running::start(pair.command(&program, load));
    let is_read = || {
        let folder = program.run_folder();
        folder.is_some_and(|folder| lines(&folder, "intervals.jsonl").len() > 1)
    };
    assert!(wait_until(LIMIT, is_read), "the load never began");
    let agents = agents_of(&server);
    assert_eq!(agents.len(), 1);
    let agent = Pid::from_raw(agents[0] as i32).expect("a process has a number");
    kill_process(agent, Signal::KILL).expect("it is there");
    let outcome = running.finish(LIMIT);
    outcome.expect_code(3);
    assert!(outcome.elapsed < Duration::from_secs(75), "it did not stop the load: {outcome}");
    assert!(outcome.reasons().contains(&"V41".to_owned()), "{outcome}");
    let folder = program.run_folder().expect("the run is kept");
    assert_eq!(document(&folder, "manifest.json")["status"], "failed");
    let lost = lines(&folder, "events.jsonl");
    let lost = lost.iter().find(|event| event["event"]["kind"] == "host_lost").expect("it is marked");
    assert_eq!(lost["event"]["host"], server.as_str());
}

#[test]
fn a_program_that_is_killed_leaves_no_agent() {
    let Some(pair) = Pair::make() else {
        return skip("a_program_that_is_killed_leaves_no_agent", NEEDS);
    };
    let (target, program, server) = (pair.target(&[]), Program::new(), pair.server());
    let load = ["load", target.url(), "-c", "2", "-d", "60s", "--server", &server];
    let running = Running::start(pair.command(&program, load));
    assert!(wait_until(LIMIT, || is_agent_of(&server)), "the agent never came");
    running.signal(Signal::KILL);
    assert!(wait_until(LIMIT, || !is_agent_of(&server)), "the agent outlives the program");
}

#[test]
fn a_host_that_cannot_be_reached_is_told_before_anything_is_made() {
    let (target, program) = (crate::rig::program::Target::start(&[]), Program::new());
    let outcome = program.run(["load", target.url(), "-n", "1", "--server", "netns:there-is-none"]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("cannot reach host 'netns:there-is-none': "), "{outcome}");
    assert!(outcome.stderr.contains("hint: "), "{outcome}");
    assert_eq!(program.run_folder(), None, "{outcome}");
    for hostile in ["--server=-oProxyCommand=id", "--server=a;id", "--server=netns:../x"] {
        let outcome = program.run(["load", target.url(), "-n", "1", hostile]);
        outcome.expect_code(2);
        assert!(outcome.stderr.contains("is not a host"), "{outcome}");
    }
}
