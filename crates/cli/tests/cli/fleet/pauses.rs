//! Whoever takes part in a load is stopped for ten seconds, as a debugger, a frozen control group, or a migration of its host does
//! it, and goes on: the load has stopped by then, and every request is accounted for.

use super::{
    LIMIT, await_load, is_thorough, logged, long_load, no_process_is_left, reason, sent_after_lease, signal,
    written,
};
use crate::rig::fleet::{FleetRig, NEEDS};
use crate::rig::program::Program;
use crate::rig::{skip, wait_until};
use rustix::process::Signal;
use std::time::Duration;

/// More than the lease, and more than after which an agent counts as lost.
const PAUSE: Duration = Duration::from_secs(10);

/// What an agent sends at most between two reports: a second of its half of the load, and as long as the lease.
const UNTOLD: u64 = 400;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Paused {
    Agent,
    Controller,
    Broker,
}

/// Stops one of them for so long; how many requests came later than the lease allows, and what was counted.
fn paused(whom: Paused) -> Option<()> {
    let rig = FleetRig::make(2)?;
    let program = Program::new();
    let mut running = rig.start(&program, long_load(&rig));
    await_load(&rig, &mut running, 2);
    let pid = match whom {
        Paused::Agent => rig.agent_pid(0),
        Paused::Controller => running.pid(),
        Paused::Broker => rig.broker_pid(),
    };
    signal(pid, Signal::STOP);
    // The other agent learns of it when the controller takes the first one for lost.
    let late = sent_after_lease(&rig, if whom == Paused::Agent { 1 } else { 2 });
    std::thread::sleep(PAUSE.saturating_sub(Duration::from_secs(3)));
    signal(pid, Signal::CONT);
    assert_eq!(late, 0, "{whom:?}: the load went on");
    let outcome = running.finish(LIMIT);
    outcome.expect_code(3);
    let folder = program.run_folder().expect("the run is kept");
    let untold = if whom == Paused::Agent { UNTOLD } else { 0 };
    let is_told = || (written(&folder)..=written(&folder) + untold).contains(&logged(&rig, 2));
    assert!(wait_until(Duration::from_secs(5), is_told), "{whom:?}: {} served: {outcome}", logged(&rig, 2));
    let expected = if whom == Paused::Agent { "was lost" } else { "the lease ran out" };
    assert!(reason(&outcome).contains(expected), "{whom:?}: {outcome}");
    assert!(no_process_is_left(&rig), "{whom:?}: an agent's process outlives the run");
    Some(())
}

#[test]
fn a_pause_of_agent_controller_or_broker_ends_the_load_with_every_request_accounted_for() {
    let test = "a_pause_of_agent_controller_or_broker_ends_the_load_with_every_request_accounted_for";
    if !is_thorough(test) {
        return;
    }
    for whom in [Paused::Agent, Paused::Controller, Paused::Broker] {
        if paused(whom).is_none() {
            return skip(test, NEEDS);
        }
    }
}
