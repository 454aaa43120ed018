//! What becomes of a load when agents, broker, or network fail in other ways than by a plain death.

use super::{
    LIMIT, await_load, document, is_thorough, logged, long_load, no_process_is_left, reason,
    sent_after_lease, signal, written,
};
use crate::rig::fleet::{FleetRig, NEEDS};
use crate::rig::program::{Outcome, Program};
use crate::rig::{skip, wait_until};
use crate::server_host::lines;
use rustix::process::Signal;
use std::time::Duration;

#[test]
fn a_broker_that_dies_stops_the_load_and_what_was_measured_comes_afterwards() {
    let test = "a_broker_that_dies_stops_the_load_and_what_was_measured_comes_afterwards";
    if !is_thorough(test) {
        return;
    }
    let Some(rig) = FleetRig::make(2) else { return skip(test, NEEDS) };
    let program = Program::new();
    let mut running = rig.start(&program, long_load(&rig));
    await_load(&rig, &mut running, 2);
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
fn with_min_hosts_the_others_go_on_and_send_their_own_part_only() {
    let test = "with_min_hosts_the_others_go_on_and_send_their_own_part_only";
    if !is_thorough(test) {
        return;
    }
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
    let mut running = rig.start(&program, load.into_iter().chain(more));
    await_load(&rig, &mut running, 3);
    rig.kill_agent(2);
    let outcome = running.finish(LIMIT);
    let verdict = reason(&outcome);
    assert!(
        verdict.contains("fleet:a2 was lost") && verdict.contains("its part of the load is missing"),
        "{outcome}"
    );
    for wrong in ["V01", "V05"] {
        assert!(
            !outcome.reasons().contains(&wrong.to_owned()),
            "nothing vanished, nothing fell behind: {outcome}"
        );
    }
    for number in 0..2 {
        let host = &outcome.json()["generators"][number];
        assert!(host["lost"].is_null(), "{outcome}");
        // 12 s of a third of 600/s: the part of the lost one is nobody else's.
        assert_eq!(host["total"]["scheduled"], 2400, "{outcome}");
    }
    assert!(outcome.json()["generators"][2]["lost"].is_string(), "{outcome}");
}

/// How a load of two agents ends when host `number` is cut off from the broker, and only from it; the controller is on the last
/// host. So many agents have to stop within the lease. `None`: something is lacking.
fn cut_off(number: usize, stopped: usize) -> Option<Outcome> {
    let rig = FleetRig::make(2)?;
    let program = Program::new();
    let mut running = rig.start(&program, long_load(&rig));
    await_load(&rig, &mut running, 2);
    // Of a cut in one direction, TCP would let what is under way in the other one arrive for a while, which the lease counts from.
    let rules = "add table inet cut; add chain inet cut out { type filter hook output priority 0; }; \
                 add chain inet cut in { type filter hook input priority 0; }; \
                 add rule inet cut out tcp dport 4222 drop; add rule inet cut in tcp sport 4222 drop";
    let ended = rig.star().generator_command(number, "nft").arg(rules).status().expect("nft starts");
    assert!(ended.success(), "the network can be cut");
    assert_eq!(sent_after_lease(&rig, stopped), 0, "the load went on");
    let outcome = running.finish(LIMIT);
    outcome.expect_code(3);
    Some(outcome)
}

#[test]
fn an_agent_that_is_cut_off_stops_by_itself_and_is_named() {
    let test = "an_agent_that_is_cut_off_stops_by_itself_and_is_named";
    if !is_thorough(test) || !crate::rig::has(test, &["nftables"]) {
        return;
    }
    let Some(outcome) = cut_off(0, 1) else { return skip(test, NEEDS) };
    assert!(outcome.json()["generators"][0]["lost"].is_string(), "{outcome}");
}

#[test]
fn a_controller_that_is_cut_off_leaves_nobody_sending() {
    let test = "a_controller_that_is_cut_off_leaves_nobody_sending";
    if !is_thorough(test) || !crate::rig::has(test, &["nftables"]) {
        return;
    }
    let Some(outcome) = cut_off(2, 2) else { return skip(test, NEEDS) };
    assert!(reason(&outcome).contains("was lost"), "{outcome}");
}

#[test]
fn an_agent_that_was_frozen_does_not_catch_up() {
    let test = "an_agent_that_was_frozen_does_not_catch_up";
    if !is_thorough(test) {
        return;
    }
    let Some(rig) = FleetRig::make(1) else { return skip(test, NEEDS) };
    let program = Program::new();
    let mut running = rig.start(&program, long_load(&rig));
    await_load(&rig, &mut running, 1);
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
    let running = rig.start(&program, long_load(&rig));
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
