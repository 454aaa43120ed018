//! Labs of which a host is an agent of a fleet: services, settings, and load there, and a controller that dies meanwhile.

use super::{LIMIT, document, is_thorough, no_process_is_left};
use crate::rig::fleet::{FleetRig, NEEDS};
use crate::rig::program::{Program, Running};
use crate::rig::{skip, wait_until};
use crate::server_host::lines;
use rustix::process::Signal;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// The agent's host, with a service on it. What it may do includes its own loopback interface.
const LAB: &str = r#"
name = "LAB"
[[host]]
name = "far"
fleet = "a0"
address = "10.78.1.2"
[[service]]
name = "web"
host = "far"
recipe = "nginx"
with = { port = 8080, workers = 1 }
files = [{ path = "page.html", text = "hello" }]
"#;

const ALLOWED: &[&str] = &["--allow", "load,loopback,observe,lab"];

const EXPERIMENT: &str = r#"
name = "LAB"
url = "http://{{web}}/page.html"
generator = "far"
blocks = 1
noisy = true
metric = "goodput"
lab = "lab.toml"
[load]
connections = 2
duration = "DURATION"
warmup = "0s"
[[variant]]
name = "short"
settings = ["net.core.somaxconn=64"]
[[variant]]
name = "as it is"
load.duration = "2s"
"#;

/// A setting of the agent's network, and what a variant makes of it.
const SOMAXCONN: &str = "/proc/sys/net/core/somaxconn";
const TRIED: &str = "64\n";

/// A fleet of one agent that is not started, with the files of an experiment in a lab of this name.
fn rig(program: &Program, lab: &str, duration: &str) -> Option<FleetRig> {
    let rig = FleetRig::without_agents(1)?;
    // The accounts of services have to pass through it.
    fs::set_permissions(rig.state(), fs::Permissions::from_mode(0o711)).expect("can be set");
    let write = |name: &str, text: &str| fs::write(program.runs().join(name), text).expect("can be written");
    write("lab.toml", &LAB.replace("LAB", lab));
    write("experiment.toml", &EXPERIMENT.replace("LAB", lab).replace("DURATION", duration));
    Some(rig)
}

fn start(rig: &FleetRig, program: &Program) -> Running {
    rig.start(program, ["experiment", "run", "experiment.toml", "--folder", "result", "--json"])
}

/// The bytes of the setting on the agent's host.
fn setting(rig: &FleetRig) -> String {
    let said = rig.star().generator_command(0, "cat").arg(SOMAXCONN).output().expect("it starts");
    String::from_utf8(said.stdout).expect("is text")
}

/// Whether the agent's host still has something of the lab.
fn is_there(rig: &FleetRig, lab: &str) -> bool {
    rig.agent_state(0).join(format!("lab/{lab}-far.wal")).exists()
}

fn runs(program: &Program) -> Vec<PathBuf> {
    let inside = |folder: PathBuf| {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        entries.flatten().map(|entry| entry.path())
    };
    inside(program.runs().join("result")).flat_map(|folder| inside(folder.join("runs"))).collect()
}

#[test]
fn an_agent_carries_out_its_share_of_a_lab_and_puts_settings_back() {
    let test = "an_agent_carries_out_its_share_of_a_lab_and_puts_settings_back";
    let program = Program::new();
    let Some(mut rig) = rig(&program, "over", "2s") else { return skip(test, NEEDS) };
    rig.start_agent(0, &["--allow", "load,loopback,observe"]);
    rig.await_agents(1);
    let refused = rig.start(&program, ["lab", "up", "lab.toml"]).finish(LIMIT);
    refused.expect_code(2);
    assert!(refused.stderr.contains("does not allow controllers to bring up labs"), "{refused}");
    assert!(!is_there(&rig, "over"), "nothing was made: {refused}");
    rig.kill_agent(0);
    rig.start_agent(0, ALLOWED);
    rig.await_agents(1);
    let before = setting(&rig);
    assert_ne!(before, TRIED);
    let running = start(&rig, &program);
    let is_tried = wait_until(LIMIT, || setting(&rig) == TRIED);
    let outcome = running.finish(LIMIT);
    assert!(is_tried && matches!(outcome.code, Some(0 | 3)), "{outcome}");
    assert_eq!(setting(&rig), before, "it is what it was: {outcome}");
    assert!(!is_there(&rig, "over"), "the lab is gone: {outcome}");
    let mut held = 0;
    for run in runs(&program) {
        assert_eq!(document(&run, "generators.json")[0]["name"], "fleet:a0", "{outcome}");
        assert_eq!(document(&run, "server.json")["name"], "fleet:a0", "{outcome}");
        let events = lines(&run, "events.jsonl");
        let settings = events.iter().filter(|line| line["event"]["kind"] == "setting");
        held += settings.filter(|line| line["event"]["host"] == "fleet:a0").count();
    }
    assert!(held > 0, "the record tells what was changed where: {outcome}");
    let audit = rig.audit(0);
    let is_told =
        |words: &str| audit.iter().any(|line| line["text"].as_str().is_some_and(|text| text.contains(words)));
    assert!(is_told("share of a lab: begin \"over-far\"") && is_told("net.core.somaxconn"), "{audit:?}");
    assert!(no_process_is_left(&rig), "an agent's process outlives the experiment");
}

#[test]
fn settings_of_an_agent_come_back_when_the_controller_is_killed() {
    let test = "settings_of_an_agent_come_back_when_the_controller_is_killed";
    if !is_thorough(test) {
        return;
    }
    let program = Program::new();
    let Some(mut rig) = rig(&program, "cut", "100s") else { return skip(test, NEEDS) };
    rig.start_agent(0, ALLOWED);
    rig.await_agents(1);
    let before = setting(&rig);
    let running = start(&rig, &program);
    assert!(wait_until(LIMIT, || setting(&rig) == TRIED), "it was never changed");
    running.signal(Signal::KILL);
    let outcome = running.finish(LIMIT);
    assert!(wait_until(LIMIT, || setting(&rig) == before), "it stayed: {outcome}");
    assert!(is_there(&rig, "cut"), "services stay until somebody takes the lab away");
    rig.start(&program, ["lab", "down", "cut"]).finish(LIMIT).expect_code(0);
    assert!(!is_there(&rig, "cut") && setting(&rig) == before, "nothing is left");
    assert!(no_process_is_left(&rig), "an agent's process outlives the controller");
}
