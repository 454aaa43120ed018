//! What must hold of a fleet of any size, and what it takes: `make fleet-simulation` prints it for 10,000 agents.

use super::agent::Fate;
use super::controller::LoadKind;
use super::network::NetworkKind;
use super::world::{FleetKind, World};
use std::time::{Duration, Instant};
use sysdyno_record::units::MonoNs;

/// How many agents are simulated, if this says nothing: enough to see each fate several times.
const AGENTS_VARIABLE: &str = "SYSDYNO_SIMULATED_AGENTS";
const AGENTS: usize = 100;

const LEASE: Duration = Duration::from_millis(800);
const RATE_HZ: u64 = 200;

const MS: u64 = 1_000_000;

/// A fleet in two data centers, whose network loses one message of a hundred.
fn fleet(agents: usize) -> FleetKind {
    FleetKind {
        agents,
        load: LoadKind { rate_hz: RATE_HZ, lease: LEASE, at_once: 256 },
        seconds: 10,
        network: NetworkKind { hop_ns: [MS / 5, 2 * MS], loss: 0.01, link_bytes_per_s: 1.25e9 },
        start_skew_ns: 2_000 * MS,
        dying: 0.05,
        cut_off: (0.02, 3_000 * MS),
        seed: 1,
    }
}

fn agents() -> usize {
    std::env::var(AGENTS_VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(AGENTS)
}

/// What came of a fleet, by what must hold.
fn check(world: &World) {
    let begin = world.controller.begin.expect("it began");
    let planned = world.kind.seconds * RATE_HZ;
    let lease_ns = LEASE.as_nanos() as u64;
    for (agent, end) in world.agents.iter().zip(&world.controller.ends) {
        let name = &agent.name;
        let clock = end.clock.expect("was measured");
        let error = (clock.offset_ns + agent.ahead_ns as i64).unsigned_abs();
        assert!(error <= clock.uncertainty_ns, "{name}: its clock is off by {error} ns, {clock:?}");
        match agent.fate {
            Fate::Dies(at) => {
                assert!(end.counted <= agent.sent && agent.sent_last <= at, "{name}");
                let missing = agent.sent - end.counted;
                // What was measured and not yet told: a window that was open, and those that were lost on their way.
                assert!(missing <= 3 * RATE_HZ, "{name}: {missing} of {} are missing", agent.sent);
                let lost = end.lost.as_ref();
                assert!(
                    end.told.is_some() || lost.is_some_and(|(_, noticed)| noticed.since(at) < 7_000 * MS),
                    "{name}"
                );
            }
            Fate::Sound | Fate::CutOff(..) => {
                assert_eq!(end.lost, None, "{name}: {:?}", agent.fate);
                assert_eq!(
                    (end.counted, end.told),
                    (agent.sent, Some(agent.sent)),
                    "{name}: {:?}",
                    agent.fate
                );
            }
        }
        match agent.stopped {
            Some(heard) => assert!(agent.sent_last.0 <= heard.0 + lease_ns, "{name} sent after its lease"),
            None if agent.fate == Fate::Sound => assert_eq!(agent.sent, planned, "{name}"),
            None => {}
        }
        assert!(agent.sent == 0 || agent.sent_last >= begin, "{name} began early");
    }
}

fn seconds(from: MonoNs, until: MonoNs) -> f64 {
    until.since(from) as f64 / 1e9
}

/// A line of the table.
fn told(name: &str, world: &World, took: Duration) -> String {
    let controller = &world.controller;
    let (opened, begin) = (controller.opened.expect("all opened"), controller.begin.expect("it began"));
    let end = MonoNs(begin.0 + world.kind.seconds * 1_000_000_000);
    let [before, after] = world.bytes_at;
    let rate = (after - before) as f64 / world.kind.seconds as f64;
    let counted: u64 = controller.ends.iter().map(|end| end.counted).sum();
    let sent: u64 = world.agents.iter().map(|agent| agent.sent).sum();
    let lost = controller.ends.iter().filter(|end| end.lost.is_some()).count();
    let stopped = world.agents.iter().filter(|agent| agent.stopped.is_some()).count();
    format!(
        "{name} | {} agents | sessions and clocks after {:.1} s | load begins after {:.1} s | {:.1} MB/s at the broker, {:.1} kB/s for each agent, {} messages in all | result {:.1} s after the end | {lost} lost, {stopped} stopped by their lease | {sent} sent, {counted} counted | {:.0} s to simulate",
        world.kind.agents,
        seconds(MonoNs(0), opened),
        seconds(MonoNs(0), begin),
        rate / 1e6,
        rate / 1e3 / world.kind.agents as f64,
        world.network.messages,
        seconds(end, world.now),
        took.as_secs_f64(),
    )
}

fn simulate(name: &str, kind: FleetKind) -> World {
    let began = Instant::now();
    let mut world = World::new(kind);
    world.run();
    println!("{}", told(name, &world, began.elapsed()));
    world
}

#[test]
fn simulated_agents_are_counted_whatever_becomes_of_them() {
    check(&simulate("10 Gbit/s", fleet(agents())));
}

#[test]
fn simulated_agents_that_all_live_send_the_whole_plan() {
    let network = NetworkKind { loss: 0.0, ..fleet(1).network };
    let kind = FleetKind { dying: 0.0, cut_off: (0.0, 0), network, ..fleet(agents()) };
    let world = simulate("nothing happens", kind);
    check(&world);
    let counted: u64 = world.controller.ends.iter().map(|end| end.counted).sum();
    assert_eq!(counted, world.kind.agents as u64 * RATE_HZ * world.kind.seconds);
}

#[test]
fn simulated_agents_that_are_cut_off_for_too_long_are_lost_and_stop_by_themselves() {
    let kind = FleetKind { dying: 0.0, cut_off: (0.3, 30_000 * MS), ..fleet(agents().min(AGENTS)) };
    let world = simulate("cut off for 30 s", kind);
    for (agent, end) in world.agents.iter().zip(&world.controller.ends) {
        if let Fate::CutOff(at, _) = agent.fate {
            assert!(
                agent.sent_last.0 <= at.0 + LEASE.as_nanos() as u64,
                "{} sent after its lease",
                agent.name
            );
            assert!(end.told.is_some() || end.lost.is_some(), "{}", agent.name);
        }
    }
}
