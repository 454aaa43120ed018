//! A virtual agent: answers as a session of a fleet agent and its process do.

use super::dice::Dice;
use super::talk::Talk;
use crate::message::{ChallengeBody, FleetMessage, MessageKind, Nonce, SessionId, nonce_text};
use crate::nats::PublicKey;
use crate::side::SessionSide;
use crate::stream::{InMemory, Outgoing};
use sysdyno_record::units::MonoNs;

/// How long a window is. Unit: nanoseconds.
const WINDOW_NS: u64 = 1_000_000_000;

/// How long setting up and connecting take at most. Unit: nanoseconds.
const SET_UP_NS: [u64; 2] = [20_000_000, 200_000_000];

/// What becomes of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Nothing.
    Sound,
    /// It dies.
    Dies(MonoNs),
    /// Nothing gets through to it or from it for a while.
    CutOff(MonoNs, MonoNs),
}

impl Fate {
    pub(super) fn is_dead(self, now: MonoNs) -> bool {
        matches!(self, Fate::Dies(at) if now >= at)
    }

    /// Whether the network between it and the broker works.
    pub(super) fn is_reached(self, now: MonoNs) -> bool {
        !matches!(self, Fate::CutOff(from, until) if (from..until).contains(&now))
    }
}

/// A part of a load that is sent.
#[derive(Clone, Copy, Debug)]
struct Part {
    rate_hz: u64,
    begin: MonoNs,
    /// Windows that are told.
    windows: u64,
}

/// An agent.
pub(super) struct VirtualAgent {
    pub(super) name: String,
    pub(super) fate: Fate,
    /// What its clock shows more than the world's. Unit: nanoseconds.
    pub(super) ahead_ns: u64,
    /// When it was started.
    pub(super) started: MonoNs,
    nonce: Nonce,
    session: Option<SessionId>,
    side: Option<SessionSide<InMemory>>,
    rate_hz: u64,
    part: Option<Part>,
    /// What it is going to say, and when.
    later: Vec<(MonoNs, Talk)>,
    heard: MonoNs,
    /// Requests that it has sent.
    pub(super) sent: u64,
    /// When it sent the last one.
    pub(super) sent_last: MonoNs,
    /// When it had last heard of the controller before it stopped early; `None`: it did not.
    pub(super) stopped: Option<MonoNs>,
}

/// What all agents know.
pub(super) struct AgentWorld {
    pub(super) controller: PublicKey,
    pub(super) lease_ns: u64,
    pub(super) windows: u64,
}

impl VirtualAgent {
    pub(super) fn new(number: usize, fate: Fate, (started, ahead_ns): (MonoNs, u64)) -> VirtualAgent {
        VirtualAgent {
            name: format!("agent-{number}"),
            fate,
            ahead_ns,
            started,
            nonce: crate::nats::random(),
            session: None,
            side: None,
            rate_hz: 0,
            part: None,
            later: Vec::new(),
            heard: MonoNs(0),
            sent: 0,
            sent_last: MonoNs(0),
            stopped: None,
        }
    }

    /// Takes a message; what it says is put into `says`.
    pub(super) fn hear(
        &mut self,
        bytes: &[u8],
        (now, world): (MonoNs, &AgentWorld),
        dice: &mut Dice,
        says: &mut Vec<Vec<u8>>,
    ) {
        let Some(message) = FleetMessage::verified(bytes, &world.controller, &self.name, &self.nonce) else {
            return self.open(bytes, world, says);
        };
        if Some(message.session) != self.session {
            return;
        }
        self.heard = now;
        let side = self.side.get_or_insert_with(|| {
            SessionSide::new(message.session, Outgoing::new(InMemory::new(64 << 20), 0))
        });
        assert!(side.acknowledge(message.acknowledged, now), "the controller has what was never sent");
        if message.kind == MessageKind::Data && side.accepts(message.number) {
            let talk = Talk::of(&message.body).expect("the controller says what there is");
            self.answer(talk, now, dice);
        }
        self.say_due(now);
        self.pump(now, says);
    }

    /// Answers the first message of a session by a challenge, as often as it comes.
    fn open(&mut self, bytes: &[u8], world: &AgentWorld, says: &mut Vec<Vec<u8>>) {
        let opened = FleetMessage::verified(bytes, &world.controller, &self.name, &[0; 32]);
        let Some(message) = opened.filter(|message| message.kind == MessageKind::Open) else { return };
        self.session = Some(message.session);
        let body = ChallengeBody { nonce: nonce_text(&self.nonce) };
        let body = serde_json::to_vec(&body).expect("is plain");
        says.push(FleetMessage::plain(MessageKind::Challenge, message.session, 0).with_body(body).encode());
    }

    fn answer(&mut self, talk: Talk, now: MonoNs, dice: &mut Dice) {
        let set_up = MonoNs(now.0 + dice.between(SET_UP_NS[0], SET_UP_NS[1]));
        match talk {
            Talk::Clock => self.later.push((now, Talk::Time(now.0 + self.ahead_ns))),
            Talk::Part(rate_hz) => {
                self.rate_hz = rate_hz;
                self.later.push((set_up, Talk::Ready));
            }
            Talk::Connect => self.later.push((set_up, Talk::Connected)),
            Talk::Begin(at) => {
                let begin = MonoNs(at - self.ahead_ns).max(now);
                self.part = Some(Part { rate_hz: self.rate_hz, begin, windows: 0 });
            }
            _ => panic!("the controller said {talk:?}"),
        }
    }

    /// What is due.
    pub(super) fn tick(&mut self, now: MonoNs, world: &AgentWorld, says: &mut Vec<Vec<u8>>) {
        if self.side.is_none() {
            return;
        }
        self.send_load(now, world);
        self.say_due(now);
        self.pump(now, says);
        let side = self.side.as_mut().expect("was asked for above");
        side.beat(now, None, &mut |message| {
            says.push(message.encode());
            true
        });
    }

    fn say_due(&mut self, now: MonoNs) {
        let Some(side) = self.side.as_mut() else { return };
        for (_, talk) in self.later.extract_if(.., |(at, _)| *at <= now) {
            side.push(&talk.piece()).expect("has room");
        }
    }

    fn send_load(&mut self, now: MonoNs, world: &AgentWorld) {
        let Some(mut part) = self.part.filter(|part| now >= part.begin) else { return };
        // A process stops by itself when it has heard nothing for the length of the lease.
        let lease_end = MonoNs(self.heard.0 + world.lease_ns);
        let until = now.min(lease_end).min(MonoNs(part.begin.0 + world.windows * WINDOW_NS));
        let in_all = until.since(part.begin) * part.rate_hz / 1_000_000_000;
        if in_all > self.sent {
            self.sent = in_all;
            self.sent_last = until;
        }
        let is_stopped = now > lease_end && part.windows < world.windows;
        while part.windows < world.windows
            && now.since(part.begin) >= (part.windows + 1) * WINDOW_NS
            && !is_stopped
        {
            part.windows += 1;
            self.later.push((now, Talk::Window(part.rate_hz)));
        }
        self.part = Some(part);
        if is_stopped {
            self.stopped = Some(self.heard);
            let rest = self.sent - part.windows * part.rate_hz;
            self.later.push((now, Talk::Window(rest)));
        }
        if is_stopped || part.windows == world.windows {
            self.later.push((now, Talk::Over(self.sent)));
            self.part = None;
        }
    }

    fn pump(&mut self, now: MonoNs, says: &mut Vec<Vec<u8>>) {
        if let Some(side) = self.side.as_mut() {
            side.pump(now, &mut |message| {
                says.push(message.encode());
                true
            });
        }
    }
}
