//! What happens next, and after it, until the load is over.

use super::agent::{AgentWorld, Fate, VirtualAgent};
use super::controller::{LoadKind, Step, VirtualController};
use super::dice::Dice;
use super::network::{Network, NetworkKind, Way};
use std::collections::BTreeMap;
use sysdyno_record::units::MonoNs;

/// Between two looks of an agent, and of the controller at each. Unit: nanoseconds.
const TICK_NS: u64 = 50_000_000;

/// Between two looks at the load as a whole. Unit: nanoseconds.
const LOOK_NS: u64 = 5_000_000;

/// When nothing ends any more.
const END_NS: u64 = 600_000_000_000;

/// What is simulated.
#[derive(Clone, Copy, Debug)]
pub(super) struct FleetKind {
    pub(super) agents: usize,
    pub(super) load: LoadKind,
    /// Length of the load. Unit: seconds.
    pub(super) seconds: u64,
    pub(super) network: NetworkKind,
    /// Within which time the agents are started. Unit: nanoseconds.
    pub(super) start_skew_ns: u64,
    /// Share of the agents that die during the load.
    pub(super) dying: f64,
    /// Share of the agents that nothing reaches for a while, and how long. Unit: nanoseconds.
    pub(super) cut_off: (f64, u64),
    pub(super) seed: u64,
}

enum Event {
    Message(Way, Vec<u8>),
    AgentTick,
    ControllerTick,
    Look,
}

/// A fleet and its network.
pub(super) struct World {
    pub(super) kind: FleetKind,
    pub(super) agents: Vec<VirtualAgent>,
    pub(super) controller: VirtualController,
    pub(super) network: Network,
    pub(super) now: MonoNs,
    /// Bytes at the broker when the load began, and when it ended.
    pub(super) bytes_at: [u64; 2],
    known: AgentWorld,
    events: BTreeMap<(MonoNs, u64), (usize, Event)>,
    next: u64,
    dice: Dice,
}

impl World {
    pub(super) fn new(kind: FleetKind) -> World {
        let mut dice = Dice::new(kind.seed);
        let mut agent = |number| {
            let started = MonoNs(dice.between(0, kind.start_skew_ns));
            VirtualAgent::new(number, Fate::Sound, (started, dice.between(0, 1 << 42)))
        };
        let agents: Vec<VirtualAgent> = (0..kind.agents).map(&mut agent).collect();
        let names: Vec<String> = agents.iter().map(|agent| agent.name.clone()).collect();
        let controller = VirtualController::new(&names, kind.load);
        let known = AgentWorld {
            controller: controller.key.public(),
            lease_ns: kind.load.lease.as_nanos() as u64,
            windows: kind.seconds,
        };
        let network = Network::new(kind.network, kind.seed ^ 1);
        let (bytes_at, events) = ([0; 2], BTreeMap::new());
        let mut world = World {
            kind,
            agents,
            controller,
            network,
            now: MonoNs(0),
            bytes_at,
            known,
            events,
            next: 0,
            dice,
        };
        for agent in 0..kind.agents {
            let first = world.dice.between(0, TICK_NS);
            world.plan(MonoNs(first.max(world.agents[agent].started.0)), agent, Event::AgentTick);
            world.plan(MonoNs(first), agent, Event::ControllerTick);
        }
        world.plan(MonoNs(0), 0, Event::Look);
        world
    }

    /// Lets everything happen until the load is over.
    pub(super) fn run(&mut self) {
        while let Some(((at, _), (agent, event))) = self.events.pop_first() {
            self.now = at;
            match event {
                Event::Look if self.look() => return,
                Event::Look => self.plan(self.after(LOOK_NS), 0, Event::Look),
                event => self.happen(agent, event),
            }
        }
    }

    fn after(&self, ns: u64) -> MonoNs {
        MonoNs(self.now.0 + ns)
    }

    fn plan(&mut self, at: MonoNs, agent: usize, event: Event) {
        self.next += 1;
        self.events.insert((at, self.next), (agent, event));
    }

    /// Looks at the load as a whole; whether it is over.
    fn look(&mut self) -> bool {
        assert!(self.now.0 < END_NS, "it does not end");
        self.controller.begin_sessions(self.now);
        let had_begun = self.controller.begin.is_some();
        self.controller.orchestrate(self.now);
        if let Some(begin) = self.controller.begin {
            let end = begin.0 + self.kind.seconds * 1_000_000_000;
            if !had_begun {
                self.draw_fates(begin);
                self.bytes_at[0] = self.network.bytes;
            }
            if self.now.0 >= end && self.bytes_at[1] == 0 {
                self.bytes_at[1] = self.network.bytes;
            }
            return self.now.0 >= end && self.controller.is_over();
        }
        false
    }

    fn draw_fates(&mut self, begin: MonoNs) {
        let (load_ns, (share, cut_ns)) = (self.kind.seconds * 1_000_000_000, self.kind.cut_off);
        for agent in &mut self.agents {
            let at = begin.0 + self.dice.between(0, load_ns);
            if self.dice.happens(self.kind.dying) {
                agent.fate = Fate::Dies(MonoNs(at));
            } else if self.dice.happens(share) {
                agent.fate = Fate::CutOff(MonoNs(at), MonoNs(at + cut_ns));
            }
        }
    }

    fn happen(&mut self, number: usize, event: Event) {
        let (now, mut says) = (self.now, Vec::new());
        let agent = &mut self.agents[number];
        if agent.fate.is_dead(now) && !matches!(event, Event::ControllerTick) {
            return;
        }
        let is_reached = agent.fate.is_reached(now);
        match event {
            Event::Message(..) if !is_reached => {}
            Event::Message(Way::ToAgent, _) if now < agent.started => {}
            Event::Message(Way::ToAgent, bytes) => {
                agent.hear(&bytes, (now, &self.known), &mut self.dice, &mut says);
                self.carry(number, Way::ToController, says);
            }
            Event::Message(Way::ToController, bytes) => {
                self.controller.hear(number, &bytes, now, &mut says);
                self.carry(number, Way::ToAgent, says);
            }
            Event::AgentTick => {
                agent.tick(now, &self.known, &mut says);
                self.carry(number, Way::ToController, says);
                self.plan(self.after(TICK_NS), number, Event::AgentTick);
            }
            Event::ControllerTick => {
                self.controller.tick(number, now, &mut says);
                self.carry(number, Way::ToAgent, says);
                let end = &self.controller.ends[number];
                if end.lost.is_none() && end.step != Step::Over {
                    self.plan(self.after(TICK_NS), number, Event::ControllerTick);
                }
            }
            Event::Look => {}
        }
    }

    /// Sends messages on their way, where the agent's network works.
    fn carry(&mut self, agent: usize, way: Way, says: Vec<Vec<u8>>) {
        let is_reached = self.agents[agent].fate.is_reached(self.now);
        for bytes in says {
            if way == Way::ToController && !is_reached {
                continue;
            }
            if let Some(at) = self.network.carries(bytes.len(), way, self.now) {
                self.plan(at, agent, Event::Message(way, bytes));
            }
        }
    }
}
