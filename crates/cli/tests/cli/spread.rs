//! `--load-from`: several hosts send one load, and the server counts along.

use crate::rig::cgroup::CpuQuota;
use crate::rig::pair::{Pair, processes_with};
use crate::rig::program::{Outcome, Program, Running, Target};
use crate::rig::ssh::Sshd;
use crate::rig::star::Star;
use crate::rig::{skip, wait_until};
use crate::server_host::lines;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);
const NEEDS: &[&str] = &["root", "iproute2", "nginx", "namespaces"];

fn document(folder: &Path, name: &str) -> Value {
    let text = std::fs::read_to_string(folder.join(name)).expect("the file is there");
    serde_json::from_str(&text).expect("it is JSON")
}

/// Agents in a generator's namespace.
fn agents_of(generator: &str) -> Vec<u32> {
    let path = format!("/run/netns/{}", generator.trim_start_matches("netns:"));
    processes_with(&["agent", "--stdio", "--netns", &path])
}

fn no_agent_is_left(star: &Star, generators: usize) -> bool {
    let is_gone = || (0..generators).all(|number| agents_of(&star.generator(number)).is_empty());
    wait_until(Duration::from_secs(10), is_gone)
}

/// Whether the server has been asked for a while.
fn is_sending(program: &Program) -> bool {
    program.run_folder().is_some_and(|folder| lines(&folder, "intervals.jsonl").len() > 1)
}

/// A number of one of the hosts in a result.
fn of(outcome: &Outcome, host: usize, pointer: &str) -> u64 {
    let json = outcome.json();
    let value = json["generators"][host].pointer(pointer).and_then(Value::as_u64);
    value.unwrap_or_else(|| panic!("no '{pointer}' of host {host} in {outcome}"))
}

/// What holds of any load: the merged counts are the server's, and each host's are what the server has seen of it.
fn agrees_with_nginx(outcome: &Outcome, folder: &Path, star: &Star, generators: usize) {
    let end = lines(folder, "trials.jsonl").into_iter().find(|line| line.get("end").is_some());
    let total = end.expect("the trial ended")["end"]["summary"]["total"].clone();
    let written = total["written"].as_u64();
    assert_eq!(written, Some(star.status_count()), "{outcome}");
    let logged = || (0..generators).map(|number| star.logged_of(number)).collect::<Vec<u64>>();
    let told: Vec<u64> = (0..generators).map(|number| of(outcome, number, "/total/written")).collect();
    // A request is logged when it is over, which is just after its last byte is sent.
    wait_until(Duration::from_secs(5), || logged() == told);
    assert_eq!(told, logged(), "{outcome}");
    let sum = |name: &str| -> u64 {
        let intervals = lines(folder, "intervals.jsonl");
        intervals.iter().filter_map(|interval| interval["counts"][name].as_u64()).sum()
    };
    for name in ["scheduled", "written", "ok"] {
        assert_eq!(Some(sum(name)), total[name].as_u64(), "'{name}' of all intervals: {outcome}");
    }
}

#[test]
fn two_hosts_send_one_schedule_and_nginx_counts_both() {
    let Some(star) = Star::make(2) else {
        return skip("two_hosts_send_one_schedule_and_nginx_counts_both", NEEDS);
    };
    let (program, all) = (Program::new(), star.all());
    let load =
        ["load", &star.url(), "-c", "8", "-r", "1000/s", "--arrival", "constant", "-d", "3s", "-t", "1"];
    let outcome = program.start(load.into_iter().chain(["--load-from", &all, "--json"])).finish(LIMIT);
    assert!(outcome.code == Some(0) || outcome.is_disturbed(), "{outcome}");
    let folder = program.run_folder().expect("the run is kept");
    agrees_with_nginx(&outcome, &folder, &star, 2);
    assert_eq!(outcome.count("scheduled"), 3000, "{outcome}");
    for host in 0..2 {
        assert_eq!(of(&outcome, host, "/counts/scheduled"), 1500, "each has every other arrival: {outcome}");
        assert_eq!(of(&outcome, host, "/connections"), 4, "{outcome}");
    }
    let hosts = document(&folder, "generators.json");
    assert_eq!(
        (&hosts[0]["name"], &hosts[1]["name"]),
        (&star.generator(0).into(), &star.generator(1).into())
    );
    assert!(hosts[1]["clock_at_end"]["exchanges_count"].as_u64() > Some(0), "{hosts}");
    assert!(no_agent_is_left(&star, 2), "an agent outlives the run");
    let again = program.run(["show", &folder.display().to_string(), "--json", "--verify"]);
    again.expect_code(outcome.code.expect("it ended"));
    assert_eq!(again.json()["verdict"], outcome.json()["verdict"], "the folder tells the same");
    let shown = program.run(["show", &folder.display().to_string()]);
    assert!(shown.stdout.contains(&star.generator(1)), "{shown}");
}

#[test]
fn a_closed_load_over_two_hosts_begins_exactly_so_many_requests() {
    let Some(star) = Star::make(2) else {
        return skip("a_closed_load_over_two_hosts_begins_exactly_so_many_requests", NEEDS);
    };
    let (program, all) = (Program::new(), star.all());
    let load = ["load", &star.url(), "-c", "5", "-n", "3001", "-t", "1", "--load-from", &all, "--json"];
    let outcome = program.start(load).finish(LIMIT);
    let folder = program.run_folder().expect("the run is kept");
    agrees_with_nginx(&outcome, &folder, &star, 2);
    assert_eq!(outcome.count("ok"), 3001, "{outcome}");
    let split = [0, 1].map(|host| (of(&outcome, host, "/counts/ok"), of(&outcome, host, "/connections")));
    assert_eq!(split, [(1501, 3), (1500, 2)], "{outcome}");
}

#[test]
fn a_list_of_requests_is_drawn_by_each_host_and_counted_together() {
    let Some(star) = Star::make(2) else {
        return skip("a_list_of_requests_is_drawn_by_each_host_and_counted_together", NEEDS);
    };
    let (program, all) = (Program::new(), star.all());
    let list = program.runs().join("list");
    std::fs::write(&list, "70 /ok\n30 HEAD /ok\n").expect("writes");
    let load = ["load", &star.url(), "--urls", &list.display().to_string(), "-c", "4", "-n", "2000"]
        .map(str::to_owned);
    let rest = ["-t", "1", "--load-from", &all, "--json"].map(str::to_owned);
    let outcome = program.start(load.into_iter().chain(rest)).finish(LIMIT);
    let folder = program.run_folder().expect("the run is kept");
    agrees_with_nginx(&outcome, &folder, &star, 2);
    assert_eq!(outcome.count("ok"), 2000, "{outcome}");
    let json = outcome.json();
    let ok = |number: usize| json["operations"][number]["counts"]["ok"].as_u64().expect("is a count");
    assert_eq!(ok(0) + ok(1), 2000, "{outcome}");
    // 600 expected, standard deviation 20.
    assert!((480..720).contains(&ok(1)), "{outcome}");
}

#[test]
fn a_ramp_of_rates_and_a_curve_of_connections_are_split_too() {
    let Some(star) = Star::make(2) else {
        return skip("a_ramp_of_rates_and_a_curve_of_connections_are_split_too", NEEDS);
    };
    let (program, all) = (Program::new(), star.all());
    let ramp = ["load", &star.url(), "--ramp", "100/s..700/s:2s", "--arrival", "constant", "-t", "1"];
    let outcome = program.start(ramp.into_iter().chain(["--load-from", &all, "--json"])).finish(LIMIT);
    let folder = program.run_folder().expect("the run is kept");
    agrees_with_nginx(&outcome, &folder, &star, 2);
    assert_eq!([0, 1].map(|host| of(&outcome, host, "/counts/scheduled")), [400, 400], "{outcome}");

    // Whoever waits to be alone waits for this one, and the next one for it.
    drop(program);
    let logged = || star.logged_of(0) + star.logged_of(1);
    let (program, before) = (Program::new(), logged());
    let curve = ["run", &star.url(), "-c", "2,4", "--effort", "quick", "--window", "1s", "-t", "1"];
    let outcome = program.start(curve.into_iter().chain(["--load-from", &all, "--json"])).finish(LIMIT);
    let folder = program.run_folder().expect("the run is kept");
    let ends: Vec<Value> =
        lines(&folder, "trials.jsonl").into_iter().filter(|line| line.get("end").is_some()).collect();
    assert!(ends.len() >= 2, "{outcome}");
    let written =
        ends.iter().filter_map(|line| line["end"]["summary"]["total"]["written"].as_u64()).sum::<u64>();
    wait_until(Duration::from_secs(5), || logged() - before >= written);
    assert_eq!(written, logged() - before, "{outcome}");
    assert!(ends.iter().all(|line| line["end"]["summary"]["generators"].as_array().map(Vec::len) == Some(2)));
}

#[test]
fn a_host_that_is_not_given_enough_cpu_is_named_on_a_quiet_machine() {
    let test = "a_host_that_is_not_given_enough_cpu_is_named_on_a_quiet_machine";
    let Some(star) = Star::make(2) else { return skip(test, NEEDS) };
    let Some(quota) = CpuQuota::create("spread", 2) else { return skip(test, &["cgroup-cpu"]) };
    let (program, all) = (Program::alone(), star.all());
    let load =
        ["load", &star.url(), "-c", "8", "-r", "2000/s", "--arrival", "constant", "-d", "6s", "-t", "1"];
    let running = program.start(load.into_iter().chain(["--load-from", &all, "--json"]));
    let slow = star.generator(1);
    assert!(wait_until(LIMIT, || is_sending(&program)), "the load never began");
    agents_of(&slow).into_iter().for_each(|agent| quota.admit(agent));
    let outcome = running.finish(LIMIT);
    outcome.expect_code(3);
    let json = outcome.json();
    let reasons = json["verdict"]["reasons"].as_array().expect("reasons are a list");
    let behind = reasons.iter().find(|reason| reason["id"] == "M20");
    let text = behind.and_then(|reason| reason["text"].as_str()).unwrap_or_default();
    assert!(text.contains(&slow) && !text.contains(&star.generator(0)), "{outcome}");
    assert!(no_agent_is_left(&star, 2), "an agent outlives the run");
}

#[test]
fn a_host_that_is_killed_stops_the_others_and_is_named() {
    let Some(star) = Star::make(2) else {
        return skip("a_host_that_is_killed_stops_the_others_and_is_named", NEEDS);
    };
    let (program, all) = (Program::new(), star.all());
    let load = ["load", &star.url(), "-c", "4", "-r", "500/s", "-d", "100s", "--load-from", &all, "--json"];
    let running = program.start(load);
    assert!(wait_until(LIMIT, || is_sending(&program)), "the load never began");
    let (lost, agents) = (star.generator(0), agents_of(&star.generator(0)));
    kill_process(Pid::from_raw(agents[0] as i32).expect("a process has a number"), Signal::KILL)
        .expect("is there");
    let outcome = running.finish(LIMIT);
    outcome.expect_code(3);
    assert!(outcome.elapsed < Duration::from_secs(90), "the other host was not stopped: {outcome}");
    assert!(outcome.reasons().contains(&"V41".to_owned()), "{outcome}");
    assert!(!outcome.reasons().contains(&"V01".to_owned()), "nothing vanished: {outcome}");
    let folder = program.run_folder().expect("the run is kept");
    let manifest = document(&folder, "manifest.json");
    assert_eq!(manifest["status"], "failed");
    assert!(manifest["reason"].as_str().is_some_and(|reason| reason.contains(&lost)), "{manifest}");
    let events = lines(&folder, "events.jsonl");
    assert!(events.iter().any(|event| event["event"]["host"] == lost.as_str()), "{events:?}");
    assert!(outcome.json()["generators"][0]["lost"].is_string(), "{outcome}");
    assert!(outcome.json()["generators"][1]["lost"].is_null(), "{outcome}");
    assert!(of(&outcome, 1, "/total/ok") > 0, "{outcome}");
    assert!(no_agent_is_left(&star, 2), "an agent outlives the run");
}

#[test]
fn a_signal_stops_all_hosts_and_keeps_what_there_is_and_a_kill_leaves_no_agent() {
    let Some(star) = Star::make(2) else {
        return skip("a_signal_stops_all_hosts_and_keeps_what_there_is", NEEDS);
    };
    let (all, url) = (star.all(), star.url());
    let load = ["load", &url, "-c", "4", "-r", "200/s", "-d", "100s", "--load-from", &all, "--json"];
    for signal in [Signal::INT, Signal::KILL] {
        let program = Program::new();
        let running = program.start(load);
        assert!(wait_until(LIMIT, || is_sending(&program)), "the load never began");
        running.signal(signal);
        let outcome = running.finish(LIMIT);
        assert!(outcome.elapsed < Duration::from_secs(90), "the hosts were not stopped: {outcome}");
        assert!(no_agent_is_left(&star, 2), "an agent outlives the run");
        if signal == Signal::INT {
            outcome.expect_code(130);
            assert!(outcome.count("ok") > 0, "{outcome}");
        }
    }
}

#[test]
fn one_host_behind_ssh_and_this_one_send_a_load_together() {
    let test = "one_host_behind_ssh_and_this_one_send_a_load_together";
    let Some(pair) = Pair::make() else { return skip(test, &["root", "iproute2", "namespaces"]) };
    let Some(sshd) = Sshd::start(&pair) else { return skip(test, &["sshd", "ssh", "ssh-keygen"]) };
    let (target, program) = (pair.target(&[]), Program::new());
    let hosts = format!("here,{}", sshd.server());
    let config = sshd.config();
    let load = ["load", target.url(), "-c", "4", "-n", "2000", "-t", "1", "--load-from", &hosts];
    let load = load.into_iter().chain(["--ssh-config", &config, "--json"]);
    let outcome = Running::start(pair.command(&program, load)).finish(LIMIT);
    assert_eq!([0, 1].map(|host| of(&outcome, host, "/counts/ok")), [1000, 1000], "{outcome}");
    assert_eq!(target.counts()["requests"].as_u64(), Some(outcome.count("written")), "{outcome}");
    let is_clean = || std::fs::read_dir(sshd.tmp()).expect("the folder is there").count() == 0;
    let is_left = wait_until(Duration::from_secs(30), || sshd.sessions().is_empty() && is_clean());
    assert!(is_left, "something is left on the other host");
}

#[test]
fn another_process_of_this_host_sends_what_this_one_would() {
    let (target, program) = (Target::start(&[]), Program::new());
    let body = program.runs().join("body");
    std::fs::write(&body, "a=1").expect("writes");
    let load =
        ["load", target.url(), "-c", "3", "-n", "300", "-p", &body.display().to_string()].map(str::to_owned);
    let rest = ["--load-from", "here", "--json"].map(str::to_owned);
    let outcome = program.run(load.into_iter().chain(rest));
    assert_eq!((outcome.count("ok"), of(&outcome, 0, "/counts/ok")), (300, 300), "{outcome}");
    assert_eq!(outcome.json()["generators"][0]["name"], "here", "{outcome}");
}

#[test]
fn what_cannot_be_split_is_refused_before_anything_is_made() {
    let (target, program) = (Target::start(&[]), Program::new());
    let refused = [
        (vec!["-c", "1", "--load-from", "here,netns:a"], "from several hosts"),
        (vec!["--load-from", "here,here"], "over 'here' twice"),
        (vec!["--load-from", "here", "--probe", "tcp"], "a load with a probe"),
        (vec!["--load-from", "here", "--source", "127.0.0.2"], "source addresses"),
        (vec!["--load-from", "netns:there-is-none"], "cannot reach host 'netns:there-is-none'"),
        (vec!["--load-from=-oProxyCommand=id"], "is not a host"),
    ];
    for (options, text) in refused {
        let outcome = program.run(["load", target.url(), "-n", "4"].into_iter().chain(options));
        outcome.expect_code(2);
        assert!(outcome.stderr.contains(text) && outcome.stderr.contains("hint: "), "{outcome}");
    }
    let few = ["load", "http://10.78.99.1/", "-c", "1", "--load-from", "netns:a,netns:b"];
    let outcome = program.run(few);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("cannot spread 1 connections over 2 hosts"), "{outcome}");
    let outcome = program.run(["load", "--command", "true", "-n", "1", "--load-from", "here"]);
    outcome.expect_code(2);
    assert!(outcome.stderr.contains("cannot spread commands"), "{outcome}");
    assert_eq!(program.run_folder(), None);
}
