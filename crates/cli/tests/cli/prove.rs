//! `sysdyno run --prove`: a planted bottleneck is tried on the running server, and everything is as it was before.

use crate::rig::program::{Program, Target};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(300);

/// An accept queue of two connections, and a thread that accepts one in a millisecond.
const QUEUE: &[&str] = &["--backlog", "1", "--accept-delay-ms", "1"];

fn json(path: &Path) -> Value {
    let text = fs::read_to_string(path).expect("is there");
    serde_json::from_str(&text).expect("is JSON")
}

/// The longest queue of connections to be accepted on this port, as the kernel has it.
fn backlog(url: &str) -> String {
    let port = url.trim_end_matches('/').rsplit(':').next().expect("has a port");
    let asked = std::process::Command::new("ss").args(["-ltnH", &format!("sport = :{port}")]).output();
    let text = String::from_utf8(asked.expect("ss runs").stdout).expect("is text");
    text.split_whitespace().nth(2).expect("has a queue").to_owned()
}

#[test]
fn what_was_found_is_tried_on_the_server_and_the_record_tells_what_came_of_it() {
    let program = Program::new();
    let target = Target::start(QUEUE);
    let url = target.url().to_owned();
    let before = backlog(&url);
    let state = program.runs().join(".state");
    let arguments =
        ["run", &url, "--connections", "32,64", "--no-keepalive", "--timeout", "3s", "--prove", "90s"];
    let more = ["--noisy", "--effort", "quick", "--json", "--state-dir"];
    let state_text = state.display().to_string();
    let all = arguments.into_iter().chain(more).chain([state_text.as_str()]);
    let outcome = program.start(all).finish(LIMIT);
    assert!(matches!(outcome.code, Some(0 | 3)), "{outcome}");
    assert_eq!(backlog(&url), before, "the listener is as it was: {outcome}");
    assert_eq!(fs::read_dir(state.join("tune/open")).map_or(0, Iterator::count), 0, "nothing is open");
    if outcome.code == Some(3) {
        assert!(outcome.stderr.contains("nothing was tried"), "{outcome}");
        return;
    }
    let document = outcome.json();
    let proofs = document["proofs"].as_array().expect("is a list");
    let tried = proofs
        .iter()
        .find(|proof| proof["tried"].as_str().is_some_and(|tried| tried.contains(".backlog=4096")));
    let tried = tried.unwrap_or_else(|| panic!("the queue was not made longer: {outcome}"));
    let finding = document["findings"]
        .as_array()
        .and_then(|findings| findings.iter().find(|finding| finding["id"] == tried["finding"]));
    // How much it helps depends on what else this machine does; that findings follow from it does not.
    let expected = match tried["outcome"].as_str() {
        Some("confirmed") => Some("confirmed"),
        Some("refuted")
            if proofs.iter().filter(|proof| proof["finding"] == tried["finding"]).count() == 1 =>
        {
            Some("excluded")
        }
        _ => None,
    };
    if let Some(expected) = expected {
        assert_eq!(finding.map(|finding| &finding["confidence"]), Some(&Value::from(expected)), "{outcome}");
    }
    let run = Path::new(document["run"].as_str().expect("has a folder"));
    assert_eq!(json(&run.join("proofs.json"))["proofs"], document["proofs"]);
    let experiment = program.runs().join(tried["run"].as_str().expect("has an experiment"));
    assert!(experiment.join("report.html").is_file(), "it has a report");
    let shown = program.run(["show", &run.display().to_string(), "--verify", "--output", "json"]);
    assert_eq!(shown.json()["proofs"], document["proofs"], "{shown}");
}

#[test]
fn what_cannot_be_proved_is_refused_before_anything_is_sent() {
    let program = Program::new();
    let elsewhere = program.run(["run", "http://127.0.0.1:1/", "--prove", "1m", "--server", "netns:x"]);
    assert_eq!(elsewhere.code, Some(2), "{elsewhere}");
    let alone = program.run(["run", "http://127.0.0.1:1/", "--noisy"]);
    assert_eq!(alone.code, Some(2), "{alone}");
    let planned = program.run(["run", "http://127.0.0.1:1/", "--prove", "1m", "--dry-run"]);
    assert_eq!(planned.code, Some(0), "{planned}");
    assert_eq!(planned.json()["prove"]["budget"], 60_000_000_000_u64, "{planned}");
    let listed = planned.stderr.lines().find(|line| line.contains("listener.*.backlog"));
    assert!(listed.is_some_and(|line| line.contains("low") && line.contains("after T01")), "{planned}");
    assert!(program.run_folder().is_none(), "nothing was recorded");
}
