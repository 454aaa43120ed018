//! A session of a controller on an agent, and the process that works for it.
//!
//! ```text
//!   challenged ──first signed message──► working ──process ends, or close()──► draining ──all acknowledged, or silence──► over
//!                                           recovered from the disk ──────────────┘
//! ```
//! Whatever ends it: what was measured stays in the spool, and is sent until the controller has it.

use super::AgentSetup;
use crate::audit::AuditEvent;
use crate::message::{
    ChallengeBody, FleetMessage, MAX_CHUNK_BYTES, MessageKind, Nonce, SessionId, nonce_text,
};
use crate::nats::{NatsClient, PublicKey, random};
use crate::side::SessionSide;
use crate::spool::Spool;
use crate::stream::Outgoing;
use crate::subject;
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use sysdyno_record::units::MonoNs;
use sysdyno_run::agent::frame::{FrameDecoder, encode};
use sysdyno_run::agent::wire::{FromAgent, ToAgent};
use sysdyno_run::agent::{AgentConnection, AgentPipes, AgentRequest};
use sysdyno_run::clock;

/// A disk that takes so long for a write is slow. Unit: nanoseconds.
const SLOW_NS: u64 = 20_000_000;

/// For how long the stream leaves the lock to others after such a write.
const TURN: Duration = Duration::from_millis(5);

/// A controller that has said nothing for so long is gone. Unit: nanoseconds.
const SILENCE_NS: u64 = 20_000_000_000;

/// How long a session may wait for its first signed message. Unit: nanoseconds.
const CHALLENGE_NS: u64 = 10_000_000_000;

/// Messages that may wait for the process.
const MAX_WAITING: usize = 1024;

/// What a session needs of its agent.
pub(super) struct SessionNeeds {
    pub(super) client: Arc<NatsClient>,
    pub(super) name: String,
    pub(super) spools: PathBuf,
}

impl SessionNeeds {
    /// Sends a message of a session; false if it could not.
    fn tell(&self, session: SessionId, message: &FleetMessage) -> bool {
        self.client.publish(&subject::from(&self.name, &session.to_string()), &message.encode())
    }
}

/// Something for the log.
pub(super) struct SessionEvent {
    pub(super) event: AuditEvent,
    pub(super) session: SessionId,
    pub(super) by: String,
    pub(super) text: String,
}

/// A session.
pub(super) struct AgentSession {
    id: SessionId,
    key: PublicKey,
    claimed: String,
    nonce: Nonce,
    lease: Duration,
    needs: Arc<SessionNeeds>,
    core: Arc<Mutex<Core>>,
    worker: Option<Worker>,
    decoder: FrameDecoder,
    began: MonoNs,
    heard: MonoNs,
    is_over: bool,
}

/// What the thread that reads the process shares with the loop.
struct Core {
    /// `None`: it has not begun.
    side: Option<SessionSide<Spool>>,
    /// Why the stream has ended, once it has.
    ended: Option<String>,
}

/// The process that works for the controller.
struct Worker {
    connection: AgentConnection,
    /// What it is told; a thread writes it.
    input: SyncSender<Vec<u8>>,
}

impl AgentSession {
    /// A session that waits for the answer to its challenge.
    pub(super) fn challenge(
        id: SessionId,
        (key, claimed): (PublicKey, String),
        lease: Duration,
        needs: SessionNeeds,
    ) -> AgentSession {
        let session = AgentSession::new(id, key, (claimed, random()), (lease, None), needs);
        session.tell_challenge();
        session
    }

    /// A session of an agent that has died since: only its spool is left.
    pub(super) fn recovered(
        id: SessionId,
        key: PublicKey,
        (spool, nonce): (Spool, Nonce),
        needs: SessionNeeds,
    ) -> AgentSession {
        let total = spool.count();
        let side = Some(SessionSide::new(id, Outgoing::new(spool, total)));
        let session =
            AgentSession::new(id, key, (String::new(), nonce), (Duration::from_secs(1), side), needs);
        session.lock().ended = Some("the agent on it was started again".into());
        session
    }

    fn new(
        id: SessionId,
        key: PublicKey,
        (claimed, nonce): (String, Nonce),
        (lease, side): (Duration, Option<SessionSide<Spool>>),
        needs: SessionNeeds,
    ) -> AgentSession {
        let now = clock::monotonic();
        AgentSession {
            id,
            key,
            claimed,
            nonce,
            lease,
            needs: Arc::new(needs),
            core: Arc::new(Mutex::new(Core { side, ended: None })),
            worker: None,
            decoder: FrameDecoder::default(),
            began: now,
            heard: now,
            is_over: false,
        }
    }

    pub(super) fn id(&self) -> SessionId {
        self.id
    }

    /// The controller: its key, and who it says that it is.
    pub(super) fn controller(&self) -> (&PublicKey, &str) {
        (&self.key, &self.claimed)
    }

    /// Whether a process works for it.
    pub(super) fn is_working(&self) -> bool {
        self.worker.is_some()
    }

    /// Whether nothing of it is left to do.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether the controller was silent so long that nothing it began still runs.
    pub(super) fn has_lost_lease(&self) -> bool {
        clock::monotonic().since(self.heard) > 2 * self.lease.as_nanos() as u64
    }

    fn lock(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn event(&self, event: AuditEvent, text: impl Into<String>) -> SessionEvent {
        let by = format!("{} ({})", self.claimed, self.key);
        SessionEvent { event, session: self.id, by, text: text.into() }
    }

    fn tell_challenge(&self) {
        let body = ChallengeBody { nonce: nonce_text(&self.nonce) };
        let body = serde_json::to_vec(&body).unwrap_or_default();
        self.tell(&FleetMessage::plain(MessageKind::Challenge, self.id, 0).with_body(body));
    }

    fn tell(&self, message: &FleetMessage) {
        self.needs.tell(self.id, message);
    }

    /// Takes a message, which anybody can have sent.
    pub(super) fn hear(&mut self, bytes: &[u8], setup: &AgentSetup) -> Vec<SessionEvent> {
        let mut events = Vec::new();
        let Some(message) = FleetMessage::verified(bytes, &self.key, &self.needs.name, &self.nonce) else {
            // The first message again: the answer to it was lost.
            if !self.is_working() && self.lock().side.is_none() {
                self.tell_challenge();
            }
            return events;
        };
        if message.session != self.id {
            return events;
        }
        self.heard = clock::monotonic();
        if self.lock().side.is_none() && message.kind != MessageKind::Close {
            events.push(match self.begin(setup) {
                Ok(()) => self.event(AuditEvent::SessionBegan, "session began"),
                Err(cause) => {
                    self.refuse(&cause);
                    self.event(AuditEvent::Refused, cause)
                }
            });
        }
        if !self.acknowledge(message.acknowledged) {
            self.close("the controller acknowledged what was never sent");
        }
        match message.kind {
            MessageKind::Data => events.extend(self.take_chunk(&message, setup)),
            MessageKind::Close => {
                self.close("the controller is done");
                self.is_over = true;
                events.push(self.event(AuditEvent::SessionEnded, "the controller is done"));
            }
            _ => {}
        }
        self.pump();
        events
    }

    fn acknowledge(&mut self, expected: u64) -> bool {
        let now = clock::monotonic();
        self.lock().side.as_mut().is_none_or(|side| side.acknowledge(expected, now))
    }

    fn refuse(&mut self, cause: &str) {
        let refusal = FleetMessage::plain(MessageKind::Refused, self.id, 0);
        self.tell(&refusal.with_body(cause.as_bytes().to_vec()));
        self.is_over = true;
    }

    /// Starts the process, now that the controller has shown that it is there.
    fn begin(&mut self, setup: &AgentSetup) -> Result<(), String> {
        let spool = Spool::begin(&self.needs.spools, self.id, &self.nonce)
            .map_err(|error| format!("cannot write to '{}': {error}", self.needs.spools.display()))?;
        let started = AgentConnection::leased(&setup.program, self.lease);
        let mut connection = started.map_err(|error| error.to_string())?;
        let AgentPipes { input, output } = connection.take_pipes();
        let (sender, waiting) = mpsc::sync_channel(MAX_WAITING);
        std::thread::spawn(move || write(input, &waiting));
        self.lock().side = Some(SessionSide::new(self.id, Outgoing::new(spool, 0)));
        let (core, needs, id) = (Arc::clone(&self.core), Arc::clone(&self.needs), self.id);
        std::thread::spawn(move || read(output, &core, &needs, id));
        self.worker = Some(Worker { connection, input: sender });
        Ok(())
    }

    /// Takes a piece of what the controller says to the process.
    fn take_chunk(&mut self, message: &FleetMessage, setup: &AgentSetup) -> Vec<SessionEvent> {
        let mut events = Vec::new();
        let is_next = |side: &mut SessionSide<Spool>| side.accepts(message.number);
        if self.worker.is_none() || !self.lock().side.as_mut().is_some_and(is_next) {
            return events;
        }
        self.decoder.push(&message.body);
        loop {
            let said = match self.decoder.next_message() {
                Ok(Some(said)) => {
                    serde_json::from_slice::<ToAgent>(said).map_err(|_| "what no agent understands")
                }
                Ok(None) => return events,
                Err(_) => Err("what is no message"),
            };
            match said {
                Ok(said) => events.extend(self.pass(said, setup)),
                Err(cause) => {
                    self.close("the controller broke the protocol");
                    events.push(self.event(AuditEvent::Refused, format!("it sent {cause}")));
                    return events;
                }
            }
        }
    }

    /// Passes a message on to the process, if the gate lets it.
    fn pass(&mut self, said: ToAgent, setup: &AgentSetup) -> Option<SessionEvent> {
        let words = match &said {
            ToAgent::Call(call) => Some(described(call)),
            _ => None,
        };
        match setup.gate.pass(said) {
            Ok(said) => {
                let frame = serde_json::to_vec(&said).ok().and_then(|text| framed(&text));
                let is_taken = frame
                    .zip(self.worker.as_ref())
                    .is_some_and(|(frame, worker)| worker.input.try_send(frame).is_ok());
                if !is_taken {
                    self.close("its process does not listen");
                }
                words.map(|words| self.event(AuditEvent::Request, words))
            }
            Err(cause) => {
                let failed = FromAgent::Failed { text: cause.clone() };
                let frame =
                    serde_json::to_vec(&failed).ok().and_then(|text| framed(&text)).unwrap_or_default();
                push(&mut self.lock(), &frame);
                let words = words.unwrap_or_default();
                let cause = cause.split('\n').next().unwrap_or_default();
                Some(self.event(AuditEvent::Refused, format!("{words}: {cause}")))
            }
        }
    }

    /// Ends the process; what it has said is still sent.
    pub(super) fn close(&mut self, cause: &str) {
        self.lock().ended.get_or_insert_with(|| cause.to_owned());
        if let Some(worker) = self.worker.take() {
            // Its end is waited for, and nobody else should wait meanwhile.
            std::thread::spawn(move || drop(worker));
        }
    }

    /// Sends what there is to send.
    fn pump(&self) {
        pump(&mut self.lock(), &self.needs, self.id);
    }

    /// What is due.
    pub(super) fn tick(&mut self) -> Option<SessionEvent> {
        let now = clock::monotonic();
        let ended = self.lock().ended.clone();
        let is_begun = self.lock().side.is_some();
        if !is_begun && now.since(self.began) > CHALLENGE_NS {
            self.is_over = true;
            return None;
        }
        if now.since(self.heard) > SILENCE_NS {
            self.close("nothing was heard of the controller");
            self.is_over = true;
            return is_begun
                .then(|| self.event(AuditEvent::SessionEnded, "nothing was heard of the controller"));
        }
        let mut event = None;
        if let Some(cause) = &ended
            && let Some(mut worker) = self.worker.take()
        {
            // The process has ended by itself; its last words say why.
            let words = worker.connection.end().unwrap_or_else(|| cause.clone());
            event = Some(self.event(AuditEvent::SessionEnded, words.clone()));
            self.lock().ended = Some(words);
        }
        let mut core = self.lock();
        let Core { side, ended } = &mut *core;
        if let Some(side) = side {
            side.beat(now, ended.as_deref(), &mut |message| self.needs.tell(self.id, message));
        }
        drop(core);
        event
    }
}

/// What a request is, for the log.
fn described(call: &AgentRequest) -> String {
    let words = call.words();
    match call {
        AgentRequest::Part(part) => {
            let (part, of, plan) = (part.host + 1, part.hosts, part.load_plan());
            format!(
                "{words} {part} of {of} to {} ({:?}): {} connections, {} threads, in all",
                plan.target.url, plan.target.endpoint, plan.connections, plan.threads
            )
        }
        AgentRequest::Share(share) => format!("{words}: {}", described_share(share)),
        _ => words.to_owned(),
    }
}

/// What is done to a share, with the lab, and the service or the settings that are meant.
fn described_share(call: &Value) -> String {
    let Some((name, of)) = call.as_object().and_then(|call| call.iter().next()) else {
        return call.as_str().unwrap_or_default().to_owned();
    };
    let meant = ["/plan/name", "/share/lab", "/service", "/path", "/changes"];
    let meant = meant.into_iter().filter_map(|path| of.pointer(path)).map(Value::to_string);
    [name.clone()].into_iter().chain(meant).collect::<Vec<_>>().join(" ")
}

fn framed(text: &[u8]) -> Option<Vec<u8>> {
    let mut frame = Vec::with_capacity(text.len() + 8);
    encode(text, &mut frame).map(|()| frame)
}

/// Adds whole frames to the stream, which ends where they cannot be kept.
fn push(core: &mut Core, frames: &[u8]) {
    let Some(side) = core.side.as_mut() else { return };
    for chunk in frames.chunks(MAX_CHUNK_BYTES) {
        if let Err(error) = side.push(chunk) {
            core.ended.get_or_insert_with(|| format!("cannot keep what it measured: {error}"));
            return;
        }
    }
}

fn pump(core: &mut Core, needs: &SessionNeeds, session: SessionId) {
    if let Some(side) = core.side.as_mut() {
        side.pump(clock::monotonic(), &mut |message| needs.tell(session, message));
    }
}

/// Writes what the process is told, until nobody says any more.
fn write(mut input: File, waiting: &Receiver<Vec<u8>>) {
    while let Ok(frame) = waiting.recv() {
        if input.write_all(&frame).is_err() {
            return;
        }
    }
}

/// Reads what the process says, frame by frame, until it ends.
fn read(mut output: File, core: &Mutex<Core>, needs: &SessionNeeds, session: SessionId) {
    let (mut decoder, mut piece) = (FrameDecoder::default(), vec![0; 64 << 10]);
    loop {
        let length = output.read(&mut piece).unwrap_or(0);
        let began = clock::monotonic();
        let mut core = core.lock().unwrap_or_else(PoisonError::into_inner);
        if length == 0 {
            core.ended.get_or_insert_with(|| "its process exited".into());
            return;
        }
        decoder.push(&piece[..length]);
        let mut frames = Vec::new();
        let broken = loop {
            match decoder.next_message() {
                Ok(Some(message)) => frames.extend(framed(message).unwrap_or_default()),
                Ok(None) => break None,
                Err(error) => break Some(error.to_string()),
            }
        };
        // In one write, so that a slow disk has few to wait for.
        push(&mut core, &frames);
        if let Some(cause) = broken {
            core.ended.get_or_insert(cause);
            return;
        }
        pump(&mut core, needs, session);
        drop(core);
        // Whoever waits for the lock behind a slow disk has to have it once in a while: a lease may be what it brings.
        if clock::monotonic().since(began) > SLOW_NS {
            std::thread::sleep(TURN);
        }
    }
}
