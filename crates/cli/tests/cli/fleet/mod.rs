//! `sysdyno fleet`: agents that dial out to a real broker, and what becomes of a load when one of the three dies.

mod disks;
mod faults;
mod kills;
mod labs;
mod messages;
mod orders;
mod pauses;
mod ways;

use crate::rig::fleet::{FleetRig, NEEDS};
use crate::rig::program::{Outcome, Program, Running};
use crate::rig::{skip, wait_until};
use crate::server_host::lines;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use sysdyno_record::load::LatencyKind;
use sysdyno_record::store::Run;
use sysdyno_run::agent::frame::FrameDecoder;

const LIMIT: Duration = Duration::from_secs(120);

/// An agent without a word of its controller stops within this.
const LEASE_LIMIT: Duration = Duration::from_secs(1);

fn document(folder: &Path, name: &str) -> Value {
    let text = std::fs::read_to_string(folder.join(name)).expect("the file is there");
    serde_json::from_str(&text).expect("it is JSON")
}

fn signal(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid as i32).expect("a process has a number");
    kill_process(pid, signal).expect("is there");
}

/// Requests that the server has logged, of all agents.
fn logged(rig: &FleetRig, agents: usize) -> u64 {
    (0..agents).map(|number| rig.star().logged_of(number)).sum()
}

/// Waits until each agent has sent something.
fn await_load(rig: &FleetRig, running: &mut Running, agents: usize) {
    let is_sending = || (0..agents).all(|number| rig.star().logged_of(number) > 20);
    let mut ended = false;
    let is_decided = || {
        ended = !running.is_running();
        ended || is_sending()
    };
    assert!(wait_until(LIMIT, is_decided) && !ended, "the load never began: {}", rig.agent_log(0));
}

/// Requests that arrive after the lease has run out, counted from now.
fn sent_after_lease(rig: &FleetRig, agents: usize) -> u64 {
    let begin = Instant::now();
    std::thread::sleep(LEASE_LIMIT);
    let stopped = logged(rig, agents);
    std::thread::sleep(Duration::from_secs(2));
    let later = logged(rig, agents);
    assert!(begin.elapsed() >= LEASE_LIMIT);
    later - stopped
}

fn written(folder: &Path) -> u64 {
    let end = lines(folder, "trials.jsonl").into_iter().find(|line| line.get("end").is_some());
    end.expect("the trial ended")["end"]["summary"]["total"]["written"].as_u64().expect("is a count")
}

/// Latency values of one kind that all agents have measured, as their spools hold them: value to number.
fn measured(rig: &FleetRig, agents: usize, kind: LatencyKind) -> BTreeMap<u64, u64> {
    let name = serde_json::to_value(kind).expect("it has a name");
    let name = name.as_str().expect("a name is text");
    let mut values = BTreeMap::new();
    for number in 0..agents {
        let folder = rig.agent_state(number).join(format!("fleet/agent/a{number}/spool"));
        let spools: Vec<_> = std::fs::read_dir(folder).expect("is there").flatten().collect();
        assert_eq!(spools.len(), 1, "one session, one spool");
        let bytes = std::fs::read(spools[0].path()).expect("reads");
        let (mut rest, mut decoder) = (&bytes[36..], FrameDecoder::default());
        while let Some((head, more)) = rest.split_at_checked(8) {
            let length = u32::from_be_bytes(head[..4].try_into().expect("four bytes")) as usize;
            decoder.push(&more[..length]);
            rest = &more[length..];
            while let Some(message) = decoder.next_message().expect("a frame") {
                let message: Value = serde_json::from_slice(message).expect("JSON");
                let tallies = message["part"]["window"]["tallies"].as_array().cloned().unwrap_or_default();
                let lists = tallies.iter().filter_map(|tally| tally["latency"][name].as_array());
                lists.for_each(|steps| add_steps(&mut values, steps));
            }
        }
    }
    values
}

/// Adds the values of a list of pairs: the step from one value to the next, and its number.
fn add_steps(values: &mut BTreeMap<u64, u64>, steps: &[Value]) {
    let mut value = 0;
    for pair in steps {
        let [step, count] = [0, 1].map(|at| pair[at].as_u64().expect("a number"));
        value += step;
        *values.entry(value).or_default() += count;
    }
}

/// Latency values of one kind in a run folder.
fn recorded(folder: &Path, kind: LatencyKind) -> BTreeMap<u64, u64> {
    let run = Run::open(folder, &|_, _| false).expect("opens");
    let trial = run.latency.values().next().expect("one trial");
    let buckets = trial.get(kind).as_hdr().iter_recorded();
    buckets.map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value())).collect()
}

fn no_process_is_left(rig: &FleetRig) -> bool {
    wait_until(Duration::from_secs(20), || rig.workers().is_empty())
}

fn reason(outcome: &Outcome) -> String {
    outcome.json()["verdict"].to_string()
}

/// A load of all agents that lasts until something stops it.
fn long_load(rig: &FleetRig) -> Vec<String> {
    let url = rig.star().url();
    let load = ["load", &url, "-c", "4", "-r", "400/s", "-d", "100s", "--load-from", "fleet:all", "--json"];
    load.map(str::to_owned).to_vec()
}

/// Whether all faults are to be injected, not only those of every test run.
fn is_thorough(test: &str) -> bool {
    let is_thorough = std::env::var("SYSDYNO_FLEET_TESTS").is_ok_and(|value| value == "all");
    if !is_thorough {
        let _ = writeln!(std::io::stderr(), "not asked for: {test} (`make fleet-test`)");
    }
    is_thorough
}

#[test]
fn agents_of_a_fleet_send_one_schedule_and_nginx_counts_them() {
    let test = "agents_of_a_fleet_send_one_schedule_and_nginx_counts_them";
    let Some(rig) = FleetRig::make(2) else { return skip(test, NEEDS) };
    let program = Program::new();
    let agents = rig.listed(&program);
    let names: Vec<&str> = agents.iter().filter_map(|agent| agent["name"].as_str()).collect();
    assert_eq!(names, ["a0", "a1"]);
    assert_eq!(agents[1]["labels"]["number"], "1");
    let load = ["load", &rig.star().url(), "-c", "8", "-r", "1000/s", "--arrival", "constant", "-d", "3s"];
    let load = load.into_iter().chain(["-t", "1", "--load-from", "fleet:kind=test", "--json"]);
    let outcome = rig.start(&program, load).finish(LIMIT);
    assert!(outcome.code == Some(0) || outcome.is_disturbed(), "{outcome}");
    let folder = program.run_folder().expect("the run is kept");
    assert_eq!(outcome.count("scheduled"), 3000, "{outcome}");
    let json = outcome.json();
    for number in 0..2 {
        let host = &json["generators"][number];
        assert_eq!(host["name"], format!("fleet:a{number}"), "{outcome}");
        assert_eq!(host["counts"]["scheduled"], 1500, "each has every other arrival: {outcome}");
        let sent = host["total"]["written"].as_u64();
        assert!(
            wait_until(Duration::from_secs(5), || Some(rig.star().logged_of(number)) == sent),
            "{outcome}"
        );
    }
    assert_eq!(written(&folder), rig.star().status_count(), "{outcome}");
    for kind in [LatencyKind::Response, LatencyKind::Service, LatencyKind::LoopSlip] {
        let merged = recorded(&folder, kind);
        assert_eq!(
            merged,
            measured(&rig, 2, kind),
            "the histogram is the sum of those of the agents, bucket by bucket"
        );
        assert!(merged.values().sum::<u64>() >= 2990, "{kind:?}: {outcome}");
    }
    let hosts = document(&folder, "generators.json");
    assert!(hosts[0]["clock"]["exchanges_count"].as_u64() > Some(0), "{hosts}");
    assert!(no_process_is_left(&rig), "an agent's process outlives the run");
    let audit = rig.audit(0);
    let requests: Vec<&str> = audit
        .iter()
        .filter(|line| line["event"] == "request")
        .filter_map(|line| line["text"].as_str())
        .collect();
    assert!(
        requests.iter().any(|text| text.starts_with("send part of the load 1 of 2 to http://10.78.0.1/ok")),
        "{requests:?}"
    );
}

#[test]
fn an_agent_that_is_killed_is_named_and_the_others_stop() {
    let Some(mut rig) = FleetRig::make(2) else {
        return skip("an_agent_that_is_killed_is_named_and_the_others_stop", NEEDS);
    };
    let program = Program::new();
    let mut running = rig.start(&program, long_load(&rig));
    await_load(&rig, &mut running, 2);
    rig.kill_agent(0);
    let outcome = running.finish(LIMIT);
    outcome.expect_code(3);
    assert!(outcome.elapsed < Duration::from_secs(60), "the other one was not stopped: {outcome}");
    assert!(outcome.reasons().contains(&"V41".to_owned()), "{outcome}");
    let json = outcome.json();
    assert!(
        json["generators"][0]["lost"].is_string() && json["generators"][1]["lost"].is_null(),
        "{outcome}"
    );
    assert!(no_process_is_left(&rig), "an agent's process outlives the run");
}

#[test]
fn a_controller_that_is_killed_stops_the_load_within_the_lease() {
    let Some(rig) = FleetRig::make(2) else {
        return skip("a_controller_that_is_killed_stops_the_load_within_the_lease", NEEDS);
    };
    let program = Program::new();
    let mut running = rig.start(&program, long_load(&rig));
    await_load(&rig, &mut running, 2);
    running.signal(Signal::KILL);
    assert_eq!(sent_after_lease(&rig, 2), 0);
    running.finish(LIMIT);
    // The next controller need not wait until the agents have given the first one up.
    let next = Program::new();
    let load =
        ["load", &rig.star().url(), "-c", "4", "-n", "100", "--load-from", "fleet:a0,fleet:a1", "--json"];
    let is_free = || rig.listed(&next).iter().all(|agent| agent["leased_to"].is_null());
    assert!(wait_until(Duration::from_secs(40), is_free), "an agent is still leased");
    let outcome = rig.start(&next, load).finish(LIMIT);
    assert_eq!(outcome.count("ok"), 100, "{outcome}");
    assert!(no_process_is_left(&rig), "an agent's process outlives the run");
}
