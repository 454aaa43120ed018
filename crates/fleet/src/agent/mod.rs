//! The agent of a fleet: waits at the broker for controllers, and gives each of them a process to talk to.
//!
//! ```text
//!   broker ─► this loop ─► session: signature ─► order of chunks ─► gate ─► sysdyno agent --stdio
//!                 ▲                                                                │
//!                 └────────────── messages ◄── chunks, on the disk ◄───────────────┘
//! ```
//! One controller at a time, which may have several sessions: for a lab, for the readings of its server, for a load. What it says
//! counts only if one of the pinned keys has signed it. The process that works for a session stops its load by itself when it has
//! heard nothing for the length of the lease, whatever happens to this one.

mod session;

use self::session::{AgentSession, SessionNeeds};
use crate::audit::{Audit, AuditEvent};
use crate::card::AgentCard;
use crate::error::FleetError;
use crate::files;
use crate::gate::AgentGate;
use crate::message::{FLEET_PROTOCOL, FleetMessage, MessageKind, OpenBody, SessionId};
use crate::nats::{NatsClient, NatsMessage, PublicKey};
use crate::spool::Spool;
use crate::subject;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;
use sysdyno_observe::HostBusy;
use sysdyno_record::fleet::FleetLabels;
use sysdyno_record::units::MonoNs;
use sysdyno_run::agent::wire::PROTOCOL;
use sysdyno_run::clock;

/// Between two looks at sessions when nothing comes.
const TICK: Duration = Duration::from_millis(20);

/// Between two answers to the question who is there. Unit: nanoseconds.
const CARD_NS: u64 = 50_000_000;

/// Between two lines in the log about messages of unknown keys. Unit: nanoseconds.
const UNKNOWN_NS: u64 = 1_000_000_000;

/// Most sessions at a time, most of which are over or have not begun.
const MAX_SESSIONS: usize = 8;

/// Most sessions that are remembered when they are over.
const MAX_FINISHED: usize = 64;

/// Shortest and longest lease that a controller can ask for. Unit: milliseconds.
const LEASES_MS: [u64; 2] = [500, 5_000];

/// What an agent is started with.
#[derive(Debug)]
pub struct AgentSetup {
    /// Its name.
    pub name: String,
    /// Version of this program.
    pub version: String,
    /// Its labels.
    pub labels: FleetLabels,
    /// What controllers may do.
    pub gate: AgentGate,
    /// The keys of controllers whose orders count.
    pub controllers: Vec<PublicKey>,
    /// This program, which is started for each session.
    pub program: PathBuf,
    /// Folder of its spools and its log.
    pub state: PathBuf,
}

/// Serves controllers until `is_stopped`. `say` takes lines for whoever has started it.
///
/// # Errors
/// Its state folder cannot be used, or nobody could give it an order.
pub fn serve_fleet(
    client: &Arc<NatsClient>,
    setup: AgentSetup,
    say: &mut dyn FnMut(&str),
    is_stopped: &dyn Fn() -> bool,
) -> Result<(), FleetError> {
    if setup.controllers.is_empty() {
        return Err(FleetError::Refused(
            "cannot start the agent: its credentials name no controller\nhint: add a line 'controller: KEY' with the \
             public key of each controller whose orders count"
                .into(),
        ));
    }
    let folder = setup.state.display().to_string();
    files::make_folder(&setup.state).map_err(FleetError::io("use", format!("folder '{folder}'")))?;
    let card =
        AgentCard::of_host(&setup.name, &setup.version, setup.labels.clone(), setup.gate.allows.clone());
    let mut agent = FleetAgent {
        client,
        audit: Audit::below(&setup.state),
        setup,
        card,
        sessions: Vec::new(),
        finished: VecDeque::new(),
        carded: MonoNs(0),
        busy: HostBusy::default(),
        unknown: MonoNs(0),
        say,
    };
    agent.work(is_stopped);
    Ok(())
}

struct FleetAgent<'a> {
    client: &'a Arc<NatsClient>,
    setup: AgentSetup,
    card: AgentCard,
    audit: Audit,
    sessions: Vec<AgentSession>,
    /// Sessions that are over, the last one last: what still arrives of them is late.
    finished: VecDeque<SessionId>,
    /// When the card was last sent.
    carded: MonoNs,
    /// For the card.
    busy: HostBusy,
    /// When a message of an unknown key was last logged.
    unknown: MonoNs,
    say: &'a mut dyn FnMut(&str),
}

impl FleetAgent<'_> {
    fn work(&mut self, is_stopped: &dyn Fn() -> bool) {
        let orders = self.client.subscribe(&subject::to(&self.setup.name, "*"));
        let questions = self.client.subscribe(subject::WHO);
        self.note(AuditEvent::Started, "", "", &format!("connected to {}", self.client.url()));
        while !is_stopped() {
            match orders.recv_timeout(TICK) {
                Ok(message) => self.hear(&message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if questions.try_iter().count() > 0 {
                self.tell_card();
            }
            self.tick();
        }
        self.sessions.iter_mut().for_each(|session| session.close("the agent was stopped"));
    }

    fn tell_card(&mut self) {
        let now = clock::monotonic();
        if now.since(self.carded) < CARD_NS {
            return;
        }
        self.carded = now;
        // One that has lost its lease is in nobody's way: the next controller takes over.
        let holds = |session: &&AgentSession| session.is_working() && !session.has_lost_lease();
        let working = self.sessions.iter().find(holds);
        self.card.leased_to = working.map(|session| session.controller().1.to_owned());
        self.card.busy_ratio = self.busy.ratio();
        if let Ok(bytes) = serde_json::to_vec(&self.card) {
            self.client.publish(&subject::here(&self.setup.name), &bytes);
        }
    }

    /// Takes a message, which anybody can have sent.
    fn hear(&mut self, message: &NatsMessage) {
        let Some(id) = SessionId::parse(subject::last_word(&message.subject)) else { return };
        if let Some(session) = self.sessions.iter_mut().find(|session| session.id() == id) {
            let events = session.hear(&message.payload, &self.setup);
            return self.log(&events);
        }
        if self.finished.contains(&id) {
            return;
        }
        match self.opened(id, &message.payload) {
            Some(opening) => self.open(id, opening),
            None => self.recover(id, &message.payload),
        }
    }

    /// The first message of a session, and who has signed it.
    fn opened(&self, id: SessionId, bytes: &[u8]) -> Option<(PublicKey, OpenBody)> {
        let keys = self.setup.controllers.iter();
        let signed = |key: &PublicKey| {
            let message = FleetMessage::verified(bytes, key, &self.setup.name, &[0; 32])?;
            Some((*key, message))
        };
        let (key, message) = keys.clone().find_map(signed)?;
        let is_first = message.kind == MessageKind::Open && message.session == id;
        let body = is_first.then(|| serde_json::from_slice(&message.body).ok()).flatten()?;
        Some((key, body))
    }

    fn open(&mut self, id: SessionId, (key, body): (PublicKey, OpenBody)) {
        let claimed: String = body.controller.chars().filter(|one| !one.is_control()).take(80).collect();
        let by = format!("{claimed} ({key})");
        if let Err(cause) = self.may_open((&key, &claimed), &body) {
            self.note(AuditEvent::Refused, &id.to_string(), &by, &cause);
            let refusal = FleetMessage::plain(MessageKind::Refused, id, 0).with_body(cause.into_bytes());
            let to = subject::from(&self.setup.name, &id.to_string());
            self.client.publish(&to, &refusal.encode());
            return;
        }
        let lease = Duration::from_millis(body.lease_ms.clamp(LEASES_MS[0], LEASES_MS[1]));
        let needs = SessionNeeds {
            client: Arc::clone(self.client),
            name: self.setup.name.clone(),
            spools: self.setup.state.join("spool"),
        };
        let session = AgentSession::challenge(id, (key, claimed), lease, needs);
        self.sessions.push(session);
    }

    fn may_open(&mut self, who: (&PublicKey, &str), body: &OpenBody) -> Result<(), String> {
        let version = &self.setup.version;
        let is_same = body.fleet_protocol == FLEET_PROTOCOL
            && body.agent_protocol == PROTOCOL
            && body.version == *version;
        if !is_same {
            return Err(format!(
                "it runs version '{version}' (protocols {FLEET_PROTOCOL} and {PROTOCOL}), and this is version '{}' ({} and {})",
                body.version.chars().take(40).collect::<String>().escape_debug(),
                body.fleet_protocol,
                body.agent_protocol
            ));
        }
        // A controller that has lost its lease loses the agent to the next one.
        let is_others = |session: &AgentSession| session.is_working() && session.controller() != who;
        let silent =
            self.sessions.iter_mut().filter(|session| is_others(session) && session.has_lost_lease());
        silent.for_each(|session| session.close("another controller took over after its lease ran out"));
        if let Some(working) = self.sessions.iter().find(|session| is_others(session)) {
            return Err(format!("it is used by {}", working.controller().1));
        }
        match self.sessions.len() < MAX_SESSIONS {
            true => Ok(()),
            false => Err("it has too many sessions".into()),
        }
    }

    /// Goes on with a session of a process that has died since: what it had measured is on the disk.
    fn recover(&mut self, id: SessionId, bytes: &[u8]) {
        let folder = self.setup.state.join("spool");
        let found = Spool::resume(&folder, id).ok().flatten();
        let signer = found.as_ref().and_then(|(_, nonce)| {
            let keys = self.setup.controllers.iter();
            // A session that is closed needs nothing more.
            let is_signed = |key: &PublicKey| {
                let message = FleetMessage::verified(bytes, key, &self.setup.name, nonce);
                message.is_some_and(|message| message.kind != MessageKind::Close)
            };
            keys.copied().find(is_signed)
        });
        let now = clock::monotonic();
        match found.zip(signer) {
            Some(((spool, nonce), key)) if self.sessions.len() < MAX_SESSIONS => {
                let needs = SessionNeeds {
                    client: Arc::clone(self.client),
                    name: self.setup.name.clone(),
                    spools: folder,
                };
                self.note(
                    AuditEvent::SessionBegan,
                    &id.to_string(),
                    &key.to_string(),
                    "continued after a restart",
                );
                self.sessions.push(AgentSession::recovered(id, key, (spool, nonce), needs));
            }
            _ if now.since(self.unknown) > UNKNOWN_NS => {
                self.unknown = now;
                let text = "a message that no known controller has signed, or of a session that is over";
                self.note(AuditEvent::Refused, &id.to_string(), "", text);
            }
            _ => {}
        }
    }

    fn tick(&mut self) {
        let mut events = Vec::new();
        for session in &mut self.sessions {
            events.extend(session.tick());
        }
        self.log(&events);
        self.finished.extend(self.sessions.iter().filter(|session| session.is_over()).map(AgentSession::id));
        let extra = self.finished.len().saturating_sub(MAX_FINISHED);
        self.finished.drain(..extra);
        self.sessions.retain(|session| !session.is_over());
    }

    fn log(&mut self, events: &[session::SessionEvent]) {
        for event in events {
            self.note(event.event, &event.session.to_string(), &event.by, &event.text);
        }
    }

    fn note(&mut self, event: AuditEvent, session: &str, by: &str, text: &str) {
        if let Err(error) = self.audit.note(event, session, by, text) {
            (self.say)(&format!("warning: {error}"));
        }
        // The key is in the log; without it, a line fits a terminal.
        let claimed = by.split(" (").next().unwrap_or_default();
        let who = if claimed.is_empty() { String::new() } else { format!("{claimed}: ") };
        match event {
            AuditEvent::Started | AuditEvent::Request => {}
            AuditEvent::Refused => (self.say)(&format!("refused {who}{text}")),
            _ => (self.say)(&format!("{who}{text}")),
        }
    }
}
