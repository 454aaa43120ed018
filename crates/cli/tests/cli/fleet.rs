//! `sysdyno fleet`: agents that dial out to a real broker, and what becomes of a load when one of the three dies.

use crate::rig::fleet::{FleetRig, NEAR_NEEDS, NEEDS, NearFleet};
use crate::rig::program::{Outcome, Program, Target};
use crate::rig::{skip, wait_until};
use crate::server_host::lines;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use sysdyno_fleet::{Credentials, NatsClient};
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
fn await_load(rig: &FleetRig, agents: usize) {
    let is_sending = || (0..agents).all(|number| rig.star().logged_of(number) > 20);
    assert!(wait_until(LIMIT, is_sending), "the load never began: {}", rig.agent_log(0));
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
                for pair in tallies.iter().filter_map(|tally| tally["latency"][name].as_array()).flatten() {
                    let [value, count] = [0, 1].map(|at| pair[at].as_u64().expect("a number"));
                    *values.entry(value).or_default() += count;
                }
            }
        }
    }
    values
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
    let load = [
        "load",
        &rig.star().url(),
        "-c",
        "4",
        "-r",
        "400/s",
        "-d",
        "100s",
        "--load-from",
        "fleet:all",
        "--json",
    ];
    let running = rig.start(&program, load);
    await_load(&rig, 2);
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
    let load =
        ["load", &rig.star().url(), "-c", "4", "-r", "400/s", "-d", "100s", "--load-from", "fleet:all"];
    let running = rig.start(&program, load);
    await_load(&rig, 2);
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

#[test]
fn a_broker_that_dies_stops_the_load_and_what_was_measured_comes_afterwards() {
    let Some(rig) = FleetRig::make(2) else {
        return skip("a_broker_that_dies_stops_the_load_and_what_was_measured_comes_afterwards", NEEDS);
    };
    let program = Program::new();
    let load = [
        "load",
        &rig.star().url(),
        "-c",
        "4",
        "-r",
        "400/s",
        "-d",
        "100s",
        "--load-from",
        "fleet:all",
        "--json",
    ];
    let running = rig.start(&program, load);
    await_load(&rig, 2);
    signal(rig.broker_pid(), Signal::KILL);
    assert_eq!(sent_after_lease(&rig, 2), 0);
    rig.fleet_up("a0,a1");
    let outcome = running.finish(LIMIT);
    outcome.expect_code(3);
    assert!(reason(&outcome).contains("the lease ran out"), "{outcome}");
    let folder = program.run_folder().expect("the run is kept");
    assert_eq!(
        written(&folder),
        logged(&rig, 2),
        "what the agents kept came after the broker did: {outcome}"
    );
    assert!(no_process_is_left(&rig), "an agent's process outlives the run");
}

#[test]
fn an_agent_does_only_what_it_was_started_for() {
    let test = "an_agent_does_only_what_it_was_started_for";
    let Some(mut near) = NearFleet::make() else { return skip(test, NEAR_NEEDS) };
    near.start_agent(&["--allow", "load"]);
    let (target, program) = (Target::start(&[]), Program::new());
    let load = ["load", target.url(), "-c", "1", "-n", "4", "--load-from", "fleet:a0"];
    let outcome = near.run(&program, &load);
    outcome.expect_code(2);
    let told = "cannot use host 'fleet:a0': its administrator does not allow to load this host itself\n\
                hint: start the agent there with --allow load,loopback";
    assert!(outcome.stderr.contains(told), "{outcome}");
    let outcome = near.run(&program, &["load", target.url(), "-c", "1", "-n", "4", "--server", "fleet:a0"]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("does not allow to read it"), "{outcome}");
    assert!(outcome.stdout.is_empty(), "nothing was sent by the agent or beside it: {outcome}");
    let audit = std::fs::read_to_string(near.state().join("fleet/agent/a0/audit.jsonl")).expect("is there");
    assert!(
        audit.lines().any(|line| line.contains("\"refused\"") && line.contains("send part of the load")),
        "{audit}"
    );
}

#[test]
fn an_agent_on_this_host_sends_what_this_process_would() {
    let test = "an_agent_on_this_host_sends_what_this_process_would";
    let Some(mut near) = NearFleet::make() else { return skip(test, NEAR_NEEDS) };
    near.start_agent(&["--allow", "load,loopback,observe", "--labels", "site=a"]);
    let (target, program) = (Target::start(&[]), Program::new());
    let load =
        ["load", target.url(), "-c", "3", "-n", "300", "--load-from", "fleet:site=a", "--server", "fleet:a0"];
    // It is one agent's whole attention that a load takes.
    let outcome = near.run(&program, &load);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("it is leased to controller"), "{outcome}");
    let outcome = near.run(&program, &[&load[..8], &["--json"]].concat());
    assert_eq!(outcome.count("ok"), 300, "{outcome}");
    assert_eq!(outcome.json()["generators"][0]["name"], "fleet:a0", "{outcome}");
    let again = Program::new();
    let outcome =
        near.run(&again, &["load", target.url(), "-c", "1", "-n", "50", "--server", "fleet:a0", "--json"]);
    assert_eq!(outcome.count("ok"), 50, "{outcome}");
}

#[test]
fn who_has_no_credentials_or_those_of_another_is_not_let_in() {
    let test = "who_has_no_credentials_or_those_of_another_is_not_let_in";
    let Some(near) = NearFleet::make() else { return skip(test, NEAR_NEEDS) };
    let Some(other) = NearFleet::make() else { return skip(test, NEAR_NEEDS) };
    let program = Program::new();
    let list = |near: &NearFleet, file: &Path| {
        near.run(&program, &["fleet", "ls", "--nats-creds", &file.display().to_string()])
    };
    list(&near, &near.credentials("controller")).expect_code(0);
    // Another broker's certificate is not trusted, so nothing is sent to it.
    let text = std::fs::read_to_string(other.credentials("controller")).expect("is there");
    let broker = |near: &NearFleet| {
        let text = std::fs::read_to_string(near.credentials("controller")).expect("is there");
        text.lines().find(|line| line.starts_with("broker: ")).expect("is there").to_owned()
    };
    let forged = program.runs().join("forged.creds");
    let write = |text: &str| {
        std::fs::write(&forged, text).expect("writes");
        std::fs::set_permissions(&forged, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("sets");
    };
    write(&text.replace(&broker(&other), &broker(&near)));
    let outcome = list(&near, &forged);
    outcome.expect_code(2);
    assert!(
        outcome.stderr.contains("invalid peer certificate") && outcome.stderr.contains("hint: "),
        "{outcome}"
    );
    // The right certificate and another key.
    let own = std::fs::read_to_string(near.credentials("controller")).expect("is there");
    let seed = |text: &str| text.lines().find(|line| line.starts_with("SU")).expect("is there").to_owned();
    write(&own.replace(&seed(&own), &seed(&text)));
    let outcome = list(&near, &forged);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("it refused the login"), "{outcome}");
    assert!(!outcome.stderr.contains(&seed(&text)), "{outcome}");
    // An agent that is removed is locked out.
    near.run(&program, &["fleet", "remove", "a1"]).expect_code(0);
    let outcome = near.run(&program, &["fleet", "remove", "a1"]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("it is not known"), "{outcome}");
    // Without TLS there is no way in, and none beyond the loopback interface.
    let port = broker(&near).rsplit(':').next().expect("a port").to_owned();
    let outcome = near.run(&program, &["fleet", "ls", "--nats", &format!("nats://127.0.0.1:{port}")]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("it requires TLS"), "{outcome}");
    let outcome = near.run(&program, &["fleet", "ls", "--nats", &format!("nats://10.0.0.1:{port}")]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("on the loopback interface only"), "{outcome}");
}

#[test]
fn an_agent_of_another_version_is_named_and_not_used() {
    let test = "an_agent_of_another_version_is_named_and_not_used";
    let Some(near) = NearFleet::make() else { return skip(test, NEAR_NEEDS) };
    let program = Program::new();
    let credentials = Credentials::read(&near.credentials("a1"), None).expect("reads");
    let client = NatsClient::connect(&credentials.broker.expect("is there"), credentials.login, "other");
    let client = client.expect("connects");
    let asked = client.subscribe("sysdyno.1.who");
    let card = serde_json::json!({
        "name": "a1", "version": "9.9.9", "fleet_protocol": 9, "agent_protocol": 99, "labels": {},
        "allows": ["load"], "cpus_count": 4, "memory_bytes": null, "cpu": "\u{1b}[2J", "kernel": null, "leased_to": null,
    });
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (client, stop, card) = (&client, &stop, &card);
        scope.spawn(move || {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                if asked.recv_timeout(Duration::from_millis(50)).is_ok() {
                    client.publish("sysdyno.1.here.a1", card.to_string().as_bytes());
                    // Another agent's name is not its to say.
                    client.publish("sysdyno.1.here.a0", card.to_string().replace("a1", "a0").as_bytes());
                }
            }
        });
        let listed = near.run(&program, &["fleet", "ls"]);
        let load = near.run(&program, &["load", "http://10.0.0.1/", "-n", "1", "--load-from", "fleet:a1"]);
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(listed.stdout.contains("unusable: it runs version '9.9.9'"), "{listed}");
        assert!(!listed.stdout.contains("a0") && !listed.stdout.contains('\u{1b}'), "{listed}");
        load.expect_code(2);
        assert!(load.stderr.contains("cannot send from 'fleet:a1': it runs version '9.9.9'"), "{load}");
    });
}

#[test]
fn what_anybody_else_sends_changes_nothing_of_a_running_load() {
    let test = "what_anybody_else_sends_changes_nothing_of_a_running_load";
    let Some(mut near) = NearFleet::make() else { return skip(test, NEAR_NEEDS) };
    near.start_agent(&["--allow", "load,loopback"]);
    let (target, program) = (Target::start(&[]), Program::new());
    let credentials = Credentials::read(&near.credentials("controller"), None).expect("reads");
    let client = NatsClient::connect(&credentials.broker.expect("is there"), credentials.login, "hostile");
    let client = client.expect("connects");
    // It sees the sessions of others, as another controller does, or a broker that was taken over.
    let heard = client.subscribe("sysdyno.1.from.a0.*");
    let load = [
        "load",
        target.url(),
        "-c",
        "2",
        "-r",
        "200/s",
        "--arrival",
        "constant",
        "-d",
        "3s",
        "--load-from",
        "fleet:a0",
        "--json",
    ];
    let running = near.start(&program, &load);
    let first = heard.recv_timeout(Duration::from_secs(30)).expect("a session begins");
    let to = first.subject.replace("from", "to");
    let mut sent = 0u32;
    while let Ok(message) = heard.recv_timeout(Duration::from_secs(2)) {
        // Its own words back, others' cut and changed, and nothing at all: none of it is signed.
        let mut changed = message.payload.clone();
        if let Some(byte) = changed.get_mut((sent % 40) as usize) {
            *byte ^= 0xff;
        }
        let whole = &message.payload;
        for bytes in [&whole[..], &whole[..whole.len() / 2], &changed, b"", &[0xff; 4096]] {
            client.publish(&to, bytes);
            client.publish("sysdyno.1.to.a0.0123456789abcdef0123456789abcdef", bytes);
            client.publish("sysdyno.1.to.a0.x", bytes);
        }
        sent += 1;
    }
    let outcome = running.finish(LIMIT);
    assert!(outcome.code == Some(0) || outcome.is_disturbed(), "{outcome}");
    assert_eq!((outcome.count("scheduled"), outcome.count("ok")), (600, 600), "{outcome}");
    assert!(sent > 10, "nothing was heard of the session");
    assert!(near.agent_log().contains("no known controller has signed"), "{}", near.agent_log());
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
fn with_min_hosts_the_others_go_on_and_send_their_own_part_only() {
    let test = "with_min_hosts_the_others_go_on_and_send_their_own_part_only";
    let Some(mut rig) = FleetRig::make(3) else { return skip(test, NEEDS) };
    let program = Program::new();
    let load = [
        "load",
        &rig.star().url(),
        "-c",
        "6",
        "-r",
        "600/s",
        "--arrival",
        "constant",
        "-d",
        "12s",
        "-t",
        "1",
    ];
    let more = ["--load-from", "fleet:all", "--min-hosts", "2", "--json"];
    let few = rig
        .start(&program, load.into_iter().chain(["--load-from", "fleet:all", "--min-hosts", "4"]))
        .finish(LIMIT);
    few.expect_code(2);
    assert!(few.stderr.contains("means 3 hosts, and --min-hosts asks for 4"), "{few}");
    let running = rig.start(&program, load.into_iter().chain(more));
    await_load(&rig, 3);
    rig.kill_agent(2);
    let outcome = running.finish(LIMIT);
    let verdict = reason(&outcome);
    assert!(
        verdict.contains("fleet:a2 was lost") && verdict.contains("its part of the load is missing"),
        "{outcome}"
    );
    assert!(!outcome.reasons().contains(&"V01".to_owned()), "nothing vanished: {outcome}");
    for number in 0..2 {
        let host = &outcome.json()["generators"][number];
        assert!(host["lost"].is_null(), "{outcome}");
        // 12 s of a third of 600/s: the part of the lost one is nobody else's.
        assert_eq!(host["total"]["scheduled"], 2400, "{outcome}");
    }
    assert!(outcome.json()["generators"][2]["lost"].is_string(), "{outcome}");
}

#[test]
fn an_agent_that_is_cut_off_stops_by_itself_and_is_named() {
    let test = "an_agent_that_is_cut_off_stops_by_itself_and_is_named";
    if !is_thorough(test) || !crate::rig::has(test, &["nftables"]) {
        return;
    }
    let Some(rig) = FleetRig::make(2) else { return skip(test, NEEDS) };
    let program = Program::new();
    let load = [
        "load",
        &rig.star().url(),
        "-c",
        "4",
        "-r",
        "400/s",
        "-d",
        "100s",
        "--load-from",
        "fleet:all",
        "--json",
    ];
    let running = rig.start(&program, load);
    await_load(&rig, 2);
    // The way to the broker only: the server can still be reached.
    let rules = "add table inet cut; add chain inet cut out { type filter hook output priority 0; }; \
                 add rule inet cut out tcp dport 4222 drop";
    let ended = rig.star().generator_command(0, "nft").arg(rules).status().expect("nft starts");
    assert!(ended.success(), "the network can be cut");
    std::thread::sleep(LEASE_LIMIT);
    let stopped = rig.star().logged_of(0);
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(rig.star().logged_of(0), stopped, "it went on without its controller");
    let outcome = running.finish(LIMIT);
    outcome.expect_code(3);
    assert!(outcome.json()["generators"][0]["lost"].is_string(), "{outcome}");
}

#[test]
fn an_agent_that_was_frozen_does_not_catch_up() {
    let test = "an_agent_that_was_frozen_does_not_catch_up";
    if !is_thorough(test) {
        return;
    }
    let Some(rig) = FleetRig::make(1) else { return skip(test, NEEDS) };
    let program = Program::new();
    let load = [
        "load",
        &rig.star().url(),
        "-c",
        "4",
        "-r",
        "400/s",
        "-d",
        "100s",
        "--load-from",
        "fleet:all",
        "--json",
    ];
    let running = rig.start(&program, load);
    await_load(&rig, 1);
    let workers = rig.workers();
    assert_eq!(workers.len(), 1);
    signal(workers[0], Signal::STOP);
    std::thread::sleep(Duration::from_secs(3));
    let before = rig.star().logged_of(0);
    signal(workers[0], Signal::CONT);
    let outcome = running.finish(LIMIT);
    outcome.expect_code(3);
    assert!(reason(&outcome).contains("the lease ran out"), "{outcome}");
    // 3 s of 400/s are overdue; until it notices, it may send those of a moment.
    let late = rig.star().logged_of(0) - before;
    assert!(late < 600, "{late} requests were sent late: {outcome}");
    assert_eq!(written(&program.run_folder().expect("is kept")), rig.star().status_count(), "{outcome}");
}

#[test]
fn an_agent_with_another_clock_begins_with_the_others() {
    let test = "an_agent_with_another_clock_begins_with_the_others";
    if !is_thorough(test) || !crate::rig::has(test, &["unshare"]) {
        return;
    }
    let Some(mut rig) = FleetRig::without_agents(2) else { return skip(test, NEEDS) };
    rig.start_agent(0, &["--allow", "load"]);
    rig.start_agent_ahead(1, 5_000);
    rig.await_agents(2);
    let program = Program::new();
    let load =
        ["load", &rig.star().url(), "-c", "4", "-r", "400/s", "--arrival", "constant", "-d", "3s", "-t", "1"];
    let outcome =
        rig.start(&program, load.into_iter().chain(["--load-from", "fleet:all", "--json"])).finish(LIMIT);
    assert!(outcome.code == Some(0) || outcome.is_disturbed(), "{outcome}");
    let hosts = document(&program.run_folder().expect("is kept"), "generators.json");
    let clock = |number: usize, name: &str| hosts[number]["clock"][name].clone();
    assert_eq!((clock(0, "is_same_clock"), clock(0, "offset_ns")), (true.into(), 0.into()));
    assert_eq!(clock(1, "is_same_clock"), false);
    let (offset, uncertainty) = (
        clock(1, "offset_ns").as_i64().expect("is a number"),
        clock(1, "uncertainty_ns").as_i64().expect("is a number"),
    );
    assert!((offset + 5_000_000_000_000).abs() <= uncertainty, "{offset} ± {uncertainty}");
    assert!(uncertainty > 0 && uncertainty < 50_000_000, "± {uncertainty}");
    assert_eq!(outcome.count("scheduled"), 1200, "{outcome}");
    // Had it begun at another instant, its requests would be late or early by that.
    let late = outcome.json()["generators"][1]["latency"]["loop_slip"]["p99"].as_u64();
    assert!(late.is_none_or(|late| late < 1_000_000_000), "{outcome}");
}

#[test]
fn an_agent_that_is_killed_and_started_again_still_tells_what_it_had_measured() {
    let test = "an_agent_that_is_killed_and_started_again_still_tells_what_it_had_measured";
    if !is_thorough(test) {
        return;
    }
    let Some(mut rig) = FleetRig::make(1) else { return skip(test, NEEDS) };
    let program = Program::new();
    let load = [
        "load",
        &rig.star().url(),
        "-c",
        "4",
        "-r",
        "400/s",
        "-d",
        "100s",
        "--load-from",
        "fleet:all",
        "--json",
    ];
    let running = rig.start(&program, load);
    // What was measured is told once a second.
    let has_measured =
        || program.run_folder().is_some_and(|folder| lines(&folder, "intervals.jsonl").len() > 2);
    assert!(wait_until(LIMIT, has_measured), "the load never began: {}", rig.agent_log(0));
    rig.kill_agent(0);
    rig.start_agent(0, &["--allow", "load"]);
    let outcome = running.finish(LIMIT);
    outcome.expect_code(3);
    assert!(reason(&outcome).contains("the agent on it was started again"), "{outcome}");
    assert!(
        rig.audit(0).iter().any(|line| line["text"] == "continued after a restart"),
        "{:?}",
        rig.audit(0)
    );
    assert!(outcome.json()["generators"][0]["total"]["ok"].as_u64() > Some(0), "{outcome}");
}
