//! A tunnel to an agent: what a [`RemoteAgent`](sysdyno_run::agent::RemoteAgent) takes for a pipe.
//!
//! ```text
//!   RemoteAgent ◄═ pair of sockets ═► up: reads, numbers, signs, publishes
//!                                     down: receives, orders, writes; says every 150 ms that it lives, if nothing else did
//! ```
//! A broker that is gone is waited for: chunks are kept until the agent has them, and the agent keeps its own. An agent that
//! is silent although the broker answers is lost.

use crate::error::FleetError;
use crate::message::{
    ChallengeBody, FLEET_PROTOCOL, FleetMessage, MAX_CHUNK_BYTES, MessageKind, Nonce, OpenBody, SessionId,
    nonce_of,
};
use crate::nats::{NatsClient, NatsMessage, SigningKey};
use crate::side::{BEAT_NS, SessionSide, loss};
use crate::stream::{InMemory, Outgoing};
use crate::subject;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use sysdyno_record::place::HostPlace;
use sysdyno_run::agent::wire::PROTOCOL;
use sysdyno_run::agent::{AgentConnection, AgentPipes, AgentTunnel};
use sysdyno_run::{RunError, clock};

/// Between two signs of life, and between two pings of the agent's process.
const HEARTBEAT: Duration = Duration::from_nanos(BEAT_NS);

/// How long an agent may take to answer the first message.
pub(crate) const OPENING: Duration = Duration::from_secs(8);

/// Between two first messages.
pub(crate) const AGAIN: Duration = Duration::from_millis(500);

/// Most that waits for an agent. Unit: bytes.
const MAX_WAITING_BYTES: usize = 64 << 20;

/// How agents are used by a command.
#[derive(Clone, Debug)]
pub struct FleetOrder {
    /// The controller's key.
    pub key: Arc<SigningKey>,
    /// Version of this program.
    pub version: String,
    /// Who uses them, for their messages and logs.
    pub controller: String,
    /// After how long a silence they stop a load.
    pub lease: Duration,
}

/// Begins a session with an agent.
///
/// # Errors
/// It does not answer, or refuses.
pub fn open_tunnel(
    client: &Arc<NatsClient>,
    agent: &str,
    place: &HostPlace,
    order: &FleetOrder,
) -> Result<AgentConnection, FleetError> {
    let (session, key) = (SessionId::new(), Arc::clone(&order.key));
    let heard = client.subscribe(&subject::from(agent, &session.to_string()));
    let mut ends = Ends { client: Arc::clone(client), key, agent: agent.to_owned(), session, nonce: [0; 32] };
    let reach = |cause: String| {
        let hint = "hint: `sysdyno fleet ls` shows which agents answer, and what they allow".to_owned();
        FleetError::Run(RunError::Reach { host: place.name.clone(), cause, hint })
    };
    ends.nonce = challenged(&ends, &heard, order).map_err(reach)?;
    let (near, far) = UnixStream::pair().map_err(FleetError::io("make", "a pair of sockets"))?;
    let copy = |socket: &UnixStream| socket.try_clone().map_err(FleetError::io("copy", "a socket"));
    let input: File = OwnedFd::from(copy(&near)?).into();
    let output: File = OwnedFd::from(near).into();
    let shared = Arc::new(Tunnel {
        ends,
        core: Mutex::new(Core {
            side: SessionSide::new(session, Outgoing::new(InMemory::new(MAX_WAITING_BYTES), 0)),
            cause: None,
        }),
        far: copy(&far)?,
    });
    let (up, down, source) = (Arc::clone(&shared), Arc::clone(&shared), copy(&far)?);
    std::thread::spawn(move || up.send_on(source));
    std::thread::spawn(move || down.receive(&far, &heard));
    Ok(AgentConnection::through(place, Box::new(Handle(shared)), AgentPipes { input, output }, HEARTBEAT))
}

/// Says who this is until the agent answers; what is to be signed from then on, or why not.
fn challenged(ends: &Ends, heard: &Receiver<NatsMessage>, order: &FleetOrder) -> Result<Nonce, String> {
    let body = OpenBody {
        fleet_protocol: FLEET_PROTOCOL,
        agent_protocol: PROTOCOL,
        version: order.version.clone(),
        controller: order.controller.clone(),
        lease_ms: order.lease.as_millis() as u64,
    };
    let body = serde_json::to_vec(&body).map_err(|error| error.to_string())?;
    let open = FleetMessage::plain(MessageKind::Open, ends.session, 0).with_body(body);
    let end = clock::monotonic().after(OPENING);
    while clock::monotonic() < end {
        ends.tell(&open);
        let Ok(message) = heard.recv_timeout(AGAIN) else { continue };
        let Some(message) = FleetMessage::decode(&message.payload) else { continue };
        match message.kind {
            MessageKind::Challenge => {
                let body = serde_json::from_slice::<ChallengeBody>(&message.body).ok();
                return body
                    .and_then(|body| nonce_of(&body.nonce))
                    .ok_or_else(|| "it sent a challenge that is none".to_owned());
            }
            MessageKind::Refused => return Err(text_of(&message.body)),
            _ => {}
        }
    }
    Err(format!("it did not answer within {} s", OPENING.as_secs()))
}

/// Who did not look for so long was stopped, or its host was. Unit: nanoseconds.
const PAUSE_NS: u64 = 1_000_000_000;

/// Both ends of a session.
struct Ends {
    client: Arc<NatsClient>,
    key: Arc<SigningKey>,
    agent: String,
    session: SessionId,
    nonce: Nonce,
}

impl Ends {
    fn tell(&self, message: &FleetMessage) -> bool {
        let to = subject::to(&self.agent, &self.session.to_string());
        self.client.publish(&to, &message.signed(&self.key, &self.agent, &self.nonce))
    }
}

struct Tunnel {
    ends: Ends,
    core: Mutex<Core>,
    /// The side of the pair that is not the agent's client.
    far: UnixStream,
}

struct Core {
    side: SessionSide<InMemory>,
    /// Why it is over, once it is.
    cause: Option<String>,
}

/// What ends the tunnel.
struct Handle(Arc<Tunnel>);

impl AgentTunnel for Handle {
    fn end(&mut self) -> Option<String> {
        self.0.end()
    }
}

impl Tunnel {
    fn lock(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends it, and says why it had ended before.
    fn end(&self) -> Option<String> {
        let cause = self.lock().cause.replace(String::new());
        let close = FleetMessage::plain(MessageKind::Close, self.ends.session, self.lock().side.expected());
        // An agent that does not hear it notices the silence.
        if cause.as_deref() != Some("") && self.ends.tell(&close) {
            self.ends.client.flush(Duration::from_millis(200));
        }
        self.shut();
        cause.filter(|cause| !cause.is_empty())
    }

    fn shut(&self) {
        // It may be shut already.
        let _ = self.far.shutdown(Shutdown::Both);
    }

    fn fail(&self, cause: String) {
        self.lock().cause.get_or_insert(cause);
        self.shut();
    }

    fn pump(&self, core: &mut Core) {
        core.side.pump(clock::monotonic(), &mut |message| self.ends.tell(message));
    }

    /// Sends what the client of the agent says, until it says no more.
    fn send_on(&self, mut source: UnixStream) {
        let mut piece = vec![0; MAX_CHUNK_BYTES];
        loop {
            let length = match source.read(&mut piece) {
                Ok(0) => return,
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return,
            };
            let mut core = self.lock();
            if let Err(error) = core.side.push(&piece[..length]) {
                drop(core);
                return self.fail(format!("cannot send to it: {error}"));
            }
            self.pump(&mut core);
        }
    }

    /// Hands on what the agent says, until the end.
    fn receive(&self, far: &UnixStream, heard: &Receiver<NatsMessage>) {
        let mut alive = clock::monotonic();
        let mut looked = alive;
        loop {
            if self.lock().cause.is_some() {
                return;
            }
            match heard.recv_timeout(Duration::from_millis(25)) {
                Ok(message) => match self.hand_on(&message, far) {
                    Ok(true) => alive = clock::monotonic(),
                    Ok(false) => {}
                    Err(cause) => return self.fail(cause),
                },
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return self.fail("the broker's client is gone".into());
                }
            }
            let now = clock::monotonic();
            if now.since(looked) > PAUSE_NS {
                // This process was stopped: what it did not hear meanwhile is not the agent's silence.
                alive = now;
            }
            looked = now;
            self.lock().side.beat(now, None, &mut |message| self.ends.tell(message));
            if let Some(cause) = loss(now, alive, self.ends.client.connected_since()) {
                return self.fail(cause);
            }
        }
    }

    /// Hands a message on; whether it was one of this session.
    fn hand_on(&self, message: &NatsMessage, mut far: &UnixStream) -> Result<bool, String> {
        let decoded = FleetMessage::decode(&message.payload);
        let Some(message) = decoded.filter(|message| message.session == self.ends.session) else {
            return Ok(false);
        };
        let chunk = self.take(message)?;
        // Where nobody listens any more, nobody reads why either.
        far.write_all(&chunk).map_err(|error| error.to_string())?;
        Ok(true)
    }

    /// What a message adds to the stream, or why there is no more.
    fn take(&self, message: FleetMessage) -> Result<Vec<u8>, String> {
        let mut core = self.lock();
        if !core.side.acknowledge(message.acknowledged, clock::monotonic()) {
            return Err("it acknowledged what was never sent".into());
        }
        self.pump(&mut core);
        match message.kind {
            MessageKind::Data if core.side.accepts(message.number) => Ok(message.body),
            MessageKind::Ended if message.number <= core.side.expected() => Err(text_of(&message.body)),
            MessageKind::Refused => Err(text_of(&message.body)),
            _ => Ok(Vec::new()),
        }
    }
}

/// What an agent says, for messages; they are escaped where they are shown.
fn text_of(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().take(500).collect()
}
