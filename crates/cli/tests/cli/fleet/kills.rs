//! Agents, controllers, and brokers killed at any instant of a load, from before its first message to after its last.

use super::{LIMIT, logged, sent_after_lease, signal};
use crate::rig::fleet::{FleetRig, NEEDS};
use crate::rig::program::{Outcome, Program};
use crate::rig::{skip, wait_until};
use crate::server_host::lines;
use rustix::process::Signal;
use std::time::Duration;

/// How many are killed, if this does not say it: a sample, and with `SYSDYNO_FLEET_TESTS=all` as many as are asked for.
const KILLS_VARIABLE: &str = "SYSDYNO_FLEET_KILLS";
const SAMPLE: usize = 3;
const ALL: usize = 201;

/// So many fleets share more kills than the sample. Each kills all kinds of victims, of which there are three.
const FLEETS: usize = 2;

/// What the load plans: 3 s of 400 requests per second, of which each of two agents has half.
const PLANNED: u64 = 1200;

/// From the start of the command to its end, about.
const SPAN: Duration = Duration::from_millis(4500);

/// What an agent that is killed has sent and not told: windows of a second, and what was on its way.
const UNTOLD: u64 = 300;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Agent(usize),
    Controller,
    Broker,
}

fn kills() -> usize {
    let asked = std::env::var(KILLS_VARIABLE).ok().and_then(|text| text.parse().ok());
    let is_all = std::env::var("SYSDYNO_FLEET_TESTS").is_ok_and(|value| value == "all");
    asked.unwrap_or(if is_all { ALL } else { SAMPLE })
}

/// Instants that fill a span evenly, however many there are (multiples of the golden ratio).
fn instant(number: usize) -> Duration {
    SPAN.mul_f64((number as f64 * 0.618_033_988_75).fract())
}

#[test]
fn whoever_is_killed_at_any_instant_the_counts_are_those_of_the_server() {
    let test = "whoever_is_killed_at_any_instant_the_counts_are_those_of_the_server";
    let all = kills();
    let fleets = if all > SAMPLE { FLEETS } else { 1 };
    let rigs: Option<Vec<FleetRig>> = (0..fleets).map(|_| FleetRig::make(2)).collect();
    let Some(rigs) = rigs else { return skip(test, NEEDS) };
    std::thread::scope(|scope| {
        for (first, mut rig) in rigs.into_iter().enumerate() {
            scope.spawn(move || (first..all).step_by(fleets).for_each(|number| kill_one(&mut rig, number)));
        }
    });
}

/// Kills somebody during a load, and looks at what came of it.
fn kill_one(rig: &mut FleetRig, number: usize) {
    let victim = match number % 3 {
        0 => Victim::Agent(number / 3 % 2),
        1 => Victim::Controller,
        _ => Victim::Broker,
    };
    let (before, at) = (logged(rig, 2), instant(number));
    let outcome = killed(rig, victim, at);
    let what = format!("{victim:?} killed after {at:?}");
    if let Some((outcome, program)) = outcome {
        check(rig, (&outcome, &program), (before, victim), &what);
    }
    assert!(wait_until(LIMIT, || rig.workers().is_empty()), "{what}: an agent's process outlives the load");
    // Who holds an agent until its lease has run out would be in the way of the next load.
    let program = Program::new();
    let is_free = || rig.listed(&program).iter().all(|agent| agent["leased_to"].is_null());
    assert!(wait_until(LIMIT, is_free), "{what}: an agent is still leased");
}

/// Starts a load, kills somebody, and mends what was killed; what came of the load, unless its controller was killed.
fn killed(rig: &mut FleetRig, victim: Victim, at: Duration) -> Option<(Outcome, Program)> {
    let program = Program::new();
    let url = rig.star().url();
    let load = ["load", &url, "-c", "4", "-r", "400/s", "--arrival", "constant", "-d", "3s", "-t", "1"];
    let mut running = rig.start(&program, load.into_iter().chain(["--load-from", "fleet:all", "--json"]));
    std::thread::sleep(at);
    match victim {
        Victim::Agent(number) => {
            rig.kill_agent(number);
            let outcome = running.finish(LIMIT);
            rig.start_agent(number, &["--allow", "load"]);
            rig.await_agents(2);
            Some((outcome, program))
        }
        Victim::Controller => {
            if running.is_running() {
                running.signal(Signal::KILL);
            }
            assert_eq!(sent_after_lease(rig, 2), 0, "controller killed after {at:?}: the load went on");
            running.finish(LIMIT);
            None
        }
        Victim::Broker => {
            signal(rig.broker_pid(), Signal::KILL);
            assert_eq!(sent_after_lease(rig, 2), 0, "broker killed after {at:?}: the load went on");
            rig.fleet_up("a0,a1");
            let outcome = running.finish(LIMIT);
            rig.await_agents(2);
            Some((outcome, program))
        }
    }
}

/// Compares what the controller says with what the server has counted.
fn check(
    rig: &FleetRig,
    (outcome, program): (&Outcome, &Program),
    (before, victim): (u64, Victim),
    what: &str,
) {
    assert!(!outcome.stderr.contains("panicked"), "{what}: {outcome}");
    let trial = program
        .run_folder()
        .and_then(|folder| lines(&folder, "trials.jsonl").into_iter().find(|line| line.get("end").is_some()));
    let Some(trial) = trial else {
        // It never began, or could not be concluded: that has to be said.
        assert!(outcome.code != Some(0) && outcome.stderr.contains("cannot"), "{what}: {outcome}");
        return;
    };
    let written = trial["end"]["summary"]["total"]["written"].as_u64().expect("is a count");
    let untold = if matches!(victim, Victim::Agent(_)) { UNTOLD } else { 0 };
    let is_told = || (written..=written + untold).contains(&(logged(rig, 2) - before));
    assert!(
        wait_until(Duration::from_secs(5), is_told),
        "{what}: {written} counted, {} served: {outcome}",
        logged(rig, 2) - before
    );
    if outcome.code == Some(0) {
        assert_eq!(written, PLANNED, "{what}: {outcome}");
    }
}
