//! A virtual controller: opens sessions, measures clocks, hands out the parts of one load, and counts what comes back.

use super::talk::Talk;
use crate::controller::{AGAIN, OPENING};
use crate::message::{
    ChallengeBody, FLEET_PROTOCOL, FleetMessage, MessageKind, Nonce, OpenBody, SessionId, nonce_of,
};
use crate::nats::SigningKey;
use crate::side::{SessionSide, loss};
use crate::stream::{InMemory, Outgoing};
use std::time::Duration;
use sysdyno_record::remote::ClockOffset;
use sysdyno_record::units::MonoNs;
use sysdyno_run::agent::wire::PROTOCOL;
use sysdyno_run::agent::{CLOCK_EXCHANGES, ClockExchange, clock_offset};

/// From the last connection to the first request, at least. Unit: nanoseconds.
const BEGIN_DELAY_NS: u64 = 20_000_000;

/// How many of the longest round trips the order to begin may take.
const ROUND_TRIPS: u64 = 4;

/// What the controller does with an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Waiting,
    Opening,
    Clock,
    SettingUp,
    Ready,
    Connecting,
    Connected,
    Sending,
    Over,
}

/// The load.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoadKind {
    /// Requests per second of each agent.
    pub(super) rate_hz: u64,
    pub(super) lease: Duration,
    /// Sessions that are begun at the same time.
    pub(super) at_once: usize,
}

/// The controller's end of a session.
pub(super) struct End {
    agent: String,
    session: SessionId,
    nonce: Option<Nonce>,
    side: Option<SessionSide<InMemory>>,
    pub(super) step: Step,
    opened: MonoNs,
    tried: MonoNs,
    heard: MonoNs,
    asked: MonoNs,
    exchanges: Vec<ClockExchange>,
    pub(super) clock: Option<ClockOffset>,
    /// Requests of the windows that have come.
    pub(super) counted: u64,
    /// Requests in all, by its own account; `None`: it has not told.
    pub(super) told: Option<u64>,
    /// Why it is lost, once it is, and when that was noticed.
    pub(super) lost: Option<(String, MonoNs)>,
}

/// A controller.
pub(super) struct VirtualController {
    pub(super) key: SigningKey,
    pub(super) ends: Vec<End>,
    kind: LoadKind,
    /// When all sessions were there, and when the load began.
    pub(super) opened: Option<MonoNs>,
    pub(super) begin: Option<MonoNs>,
}

impl VirtualController {
    pub(super) fn new(agents: &[String], kind: LoadKind) -> VirtualController {
        let end = |agent: &String| End {
            agent: agent.clone(),
            session: SessionId::new(),
            nonce: None,
            side: None,
            step: Step::Waiting,
            opened: MonoNs(0),
            tried: MonoNs(0),
            heard: MonoNs(0),
            asked: MonoNs(0),
            exchanges: Vec::new(),
            clock: None,
            counted: 0,
            told: None,
            lost: None,
        };
        let ends = agents.iter().map(end).collect();
        VirtualController { key: SigningKey::generate(), ends, kind, opened: None, begin: None }
    }

    /// Begins sessions, as many at once as it may. Agents that have none yet are told.
    pub(super) fn begin_sessions(&mut self, now: MonoNs) {
        let is_beginning = |end: &&End| matches!(end.step, Step::Opening | Step::Clock) && end.lost.is_none();
        let count = self.ends.iter().filter(is_beginning).count();
        let waiting = self.ends.iter_mut().filter(|end| end.step == Step::Waiting);
        for end in waiting.take(self.kind.at_once.saturating_sub(count)) {
            end.step = Step::Opening;
            end.opened = now;
            end.heard = now;
        }
    }

    /// What the load as a whole is ready for.
    pub(super) fn orchestrate(&mut self, now: MonoNs) {
        let is_all = |step: Step| self.living().all(|end| end.step >= step);
        if self.opened.is_none() && is_all(Step::SettingUp) {
            self.opened = Some(now);
            let rate = self.kind.rate_hz;
            self.say_all(&|_| Talk::Part(rate));
        } else if self.living().all(|end| end.step == Step::Ready) {
            self.say_all(&|_| Talk::Connect);
            self.ends.iter_mut().for_each(|end| end.step = end.step.max(Step::Connecting));
        } else if self.begin.is_none() && self.living().all(|end| end.step == Step::Connected) {
            let round_trips = self.living().filter_map(|end| end.clock).map(|clock| clock.round_trip_ns);
            let begin = MonoNs(now.0 + (round_trips.max().unwrap_or(0) * ROUND_TRIPS).max(BEGIN_DELAY_NS));
            self.begin = Some(begin);
            let there = |end: &End| {
                let offset = end.clock.map_or(0, |clock| clock.offset_ns);
                Talk::Begin(begin.0.saturating_add_signed(-offset))
            };
            self.say_all(&there);
            self.ends.iter_mut().for_each(|end| end.step = end.step.max(Step::Sending));
        }
    }

    fn living(&self) -> impl Iterator<Item = &End> {
        self.ends.iter().filter(|end| end.lost.is_none())
    }

    fn say_all(&mut self, talk: &dyn Fn(&End) -> Talk) {
        for end in self.ends.iter_mut().filter(|end| end.lost.is_none()) {
            let piece = talk(end).piece();
            end.side.as_mut().expect("its session has begun").push(&piece).expect("has room");
        }
    }

    /// Whether nothing more will come.
    pub(super) fn is_over(&self) -> bool {
        self.ends.iter().all(|end| end.step == Step::Over || end.lost.is_some())
    }

    /// Takes a message of an agent; what it says to it is put into `says`.
    pub(super) fn hear(&mut self, agent: usize, bytes: &[u8], now: MonoNs, says: &mut Vec<Vec<u8>>) {
        let end = &mut self.ends[agent];
        if end.lost.is_some() {
            return;
        }
        let message = FleetMessage::decode(bytes).expect("an agent says what there is");
        end.heard = now;
        if message.kind == MessageKind::Challenge {
            end.challenged(&message.body, now);
            return end.pump(&self.key, now, says);
        }
        let Some(side) = end.side.as_mut() else { return };
        assert!(side.acknowledge(message.acknowledged, now), "the agent has what was never sent");
        if message.kind == MessageKind::Data && side.accepts(message.number) {
            end.take(Talk::of(&message.body).expect("an agent says what there is"), now);
        }
        end.pump(&self.key, now, says);
    }

    /// What is due.
    pub(super) fn tick(&mut self, agent: usize, now: MonoNs, says: &mut Vec<Vec<u8>>) {
        let (end, lease) = (&mut self.ends[agent], self.kind.lease);
        if end.lost.is_some() || end.step == Step::Waiting {
            return;
        }
        if end.step == Step::Opening {
            return end.open(&self.key, lease, now, says);
        }
        let key = &self.key;
        end.pump(key, now, says);
        let (name, nonce) = (&end.agent, end.nonce.unwrap_or_default());
        let side = end.side.as_mut().expect("its session has begun");
        side.beat(now, None, &mut |message| {
            says.push(message.signed(key, name, &nonce));
            true
        });
        end.lost = loss(now, end.heard, Some(MonoNs(0))).map(|cause| (cause, now));
    }
}

impl End {
    fn open(&mut self, key: &SigningKey, lease: Duration, now: MonoNs, says: &mut Vec<Vec<u8>>) {
        if now.since(self.opened) > OPENING.as_nanos() as u64 {
            self.lost = Some((format!("it did not answer within {} s", OPENING.as_secs()), now));
        } else if self.tried == MonoNs(0) || now.since(self.tried) > AGAIN.as_nanos() as u64 {
            self.tried = now;
            let body = OpenBody {
                fleet_protocol: FLEET_PROTOCOL,
                agent_protocol: PROTOCOL,
                version: env!("CARGO_PKG_VERSION").into(),
                controller: "simulated".into(),
                lease_ms: lease.as_millis() as u64,
            };
            let body = serde_json::to_vec(&body).expect("is plain");
            let open = FleetMessage::plain(MessageKind::Open, self.session, 0).with_body(body);
            says.push(open.signed(key, &self.agent, &[0; 32]));
        }
    }

    fn challenged(&mut self, body: &[u8], now: MonoNs) {
        if self.side.is_some() {
            return;
        }
        let body: ChallengeBody = serde_json::from_slice(body).expect("is a challenge");
        self.nonce = nonce_of(&body.nonce);
        self.side = Some(SessionSide::new(self.session, Outgoing::new(InMemory::new(64 << 20), 0)));
        self.step = Step::Clock;
        self.ask_clock(now);
    }

    fn ask_clock(&mut self, now: MonoNs) {
        self.asked = now;
        let side = self.side.as_mut().expect("its session has begun");
        side.push(&Talk::Clock.piece()).expect("has room");
    }

    fn take(&mut self, talk: Talk, now: MonoNs) {
        match talk {
            Talk::Time(there) => {
                self.exchanges.push(ClockExchange { sent: self.asked, there: MonoNs(there), arrived: now });
                if self.exchanges.len() < CLOCK_EXCHANGES {
                    self.ask_clock(now);
                } else {
                    self.clock = clock_offset(&self.exchanges);
                    self.step = Step::SettingUp;
                }
            }
            Talk::Ready => self.step = Step::Ready,
            Talk::Connected => self.step = Step::Connected,
            Talk::Window(count) => self.counted += count,
            Talk::Over(count) => {
                self.told = Some(count);
                self.step = Step::Over;
            }
            _ => panic!("an agent said {talk:?}"),
        }
    }

    fn pump(&mut self, key: &SigningKey, now: MonoNs, says: &mut Vec<Vec<u8>>) {
        let (name, nonce) = (&self.agent, self.nonce.unwrap_or_default());
        if let Some(side) = self.side.as_mut() {
            side.pump(now, &mut |message| {
                says.push(message.signed(key, name, &nonce));
                true
            });
        }
    }
}
