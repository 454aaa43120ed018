//! A client of a broker: one thread that owns the connection, reconnects, and hands messages to subscriptions.
//!
//! ```text
//!   publish ─► bounded buffer ─► thread: connection ─► bounded queue of each subscription ─► whoever reads it
//! ```
//! The broker delivers a message at most once, and so does this client: what cannot be sent now, or what nobody reads, is
//! dropped. Whoever needs more numbers messages and asks again (`crate::stream`).

use super::address::BrokerUrl;
use super::link::{BrokerLink, Login, is_blocked};
use super::wire::{MAX_PAYLOAD_BYTES, Operation, is_subject};
use crate::error::FleetError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use sysdyno_record::units::MonoNs;
use sysdyno_run::clock;

/// Most that waits to be sent. Unit: bytes.
const MAX_WAITING_BYTES: usize = 8 << 20;

/// Most messages that wait in one subscription.
const MAX_QUEUED: usize = 4096;

/// Between two questions whether the broker still answers.
const PING: Duration = Duration::from_secs(1);

/// A broker that has said nothing for so long is gone.
const SILENCE: Duration = Duration::from_secs(4);

/// Between two attempts to connect: at first, and at most.
const AGAIN: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];

/// A message that was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NatsMessage {
    /// Where it was published.
    pub subject: String,
    /// Untrusted bytes.
    pub payload: Vec<u8>,
}

/// A client of a broker. Its connection ends when it is dropped.
pub struct NatsClient {
    shared: Arc<Shared>,
    url: BrokerUrl,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    /// Wakes the thread.
    wake: UnixStream,
}

#[derive(Default)]
struct State {
    outgoing: Vec<u8>,
    subscribers: BTreeMap<u64, Subscriber>,
    next_subscription: u64,
    max_payload_bytes: usize,
    /// Since when it is connected; `None`: it is not.
    connected: Option<MonoNs>,
    is_closed: bool,
}

struct Subscriber {
    subject: String,
    queue: SyncSender<NatsMessage>,
}

impl NatsClient {
    /// Connects to a broker; afterwards it reconnects by itself.
    ///
    /// # Errors
    /// The broker cannot be reached, is not who it should be, or refuses the login.
    pub fn connect(url: &BrokerUrl, login: Login, name: &str) -> Result<NatsClient, FleetError> {
        let link = BrokerLink::open(url, &login, name).map_err(|error| FleetError::Broker {
            broker: url.to_string(),
            cause: error.cause,
            hint: error.hint,
        })?;
        let pair = UnixStream::pair().and_then(|(wake, woken)| {
            wake.set_nonblocking(true)?;
            woken.set_nonblocking(true)?;
            Ok((wake, woken))
        });
        let (wake, woken) = pair.map_err(FleetError::io("make", "a pair of sockets"))?;
        let state = Mutex::new(State::default());
        let shared = Arc::new(Shared { state, changed: Condvar::new(), wake });
        shared.connected(&link);
        let keeper =
            Keeper { shared: Arc::clone(&shared), woken, url: url.clone(), login, name: name.into() };
        std::thread::spawn(move || keeper.keep(link));
        Ok(NatsClient { shared, url: url.clone() })
    }

    /// The broker.
    pub fn url(&self) -> &BrokerUrl {
        &self.url
    }

    /// Since when the present connection exists; `None`: there is none.
    pub fn connected_since(&self) -> Option<MonoNs> {
        self.shared.lock().connected
    }

    /// Longest message that the broker takes. Unit: bytes.
    pub fn max_payload_bytes(&self) -> usize {
        self.shared.lock().max_payload_bytes.min(MAX_PAYLOAD_BYTES)
    }

    /// Sends a message, or drops it: without a connection, or when too much is waiting. Whether it was taken.
    pub fn publish(&self, subject: &str, payload: &[u8]) -> bool {
        let mut state = self.shared.lock();
        let has_room = state.outgoing.len() + payload.len() <= MAX_WAITING_BYTES;
        if state.connected.is_none() || !has_room || !is_subject(subject) {
            return false;
        }
        state.outgoing.extend_from_slice(format!("PUB {subject} {}\r\n", payload.len()).as_bytes());
        state.outgoing.extend_from_slice(payload);
        state.outgoing.extend_from_slice(b"\r\n");
        drop(state);
        self.shared.wake();
        true
    }

    /// Receives messages of a subject, also after a reconnection.
    ///
    /// # Panics
    /// If it is no subject.
    pub fn subscribe(&self, subject: &str) -> Receiver<NatsMessage> {
        assert!(is_subject(subject), "a subject has no space");
        let (queue, receiver) = mpsc::sync_channel(MAX_QUEUED);
        let mut state = self.shared.lock();
        state.next_subscription += 1;
        let number = state.next_subscription;
        if state.connected.is_some() {
            state.outgoing.extend_from_slice(format!("SUB {subject} {number}\r\n").as_bytes());
        }
        state.subscribers.insert(number, Subscriber { subject: subject.to_owned(), queue });
        drop(state);
        self.shared.wake();
        receiver
    }

    /// Waits until everything was handed to the kernel; false if it was not in time.
    pub fn flush(&self, span: Duration) -> bool {
        let is_waiting = |state: &mut State| state.connected.is_some() && !state.outgoing.is_empty();
        let state = self.shared.lock();
        let waited = self.shared.changed.wait_timeout_while(state, span, is_waiting);
        waited.is_ok_and(|(_, timeout)| !timeout.timed_out())
    }
}

impl Drop for NatsClient {
    fn drop(&mut self) {
        self.flush(Duration::from_millis(300));
        self.shared.lock().is_closed = true;
        self.shared.wake();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        // A full pipe wakes it as well.
        let _ = (&self.wake).write(&[1]);
    }

    /// A connection has come up: all subscriptions are made again.
    fn connected(&self, link: &BrokerLink) {
        let mut state = self.lock();
        let subscriptions = state.subscribers.iter();
        let text: String =
            subscriptions.map(|(number, one)| format!("SUB {} {number}\r\n", one.subject)).collect();
        state.outgoing = text.into_bytes();
        state.max_payload_bytes = link.max_payload_bytes;
        state.connected = Some(clock::monotonic());
    }

    fn disconnected(&self) {
        let mut state = self.lock();
        state.connected = None;
        state.outgoing.clear();
        self.changed.notify_all();
    }
}

/// The thread that owns the connection.
struct Keeper {
    shared: Arc<Shared>,
    woken: UnixStream,
    url: BrokerUrl,
    login: Login,
    name: String,
}

/// Why a connection ended.
struct Gone;

impl Keeper {
    fn keep(self, first: BrokerLink) {
        // Only a name is lost if this fails.
        let _ = rustix::thread::set_name(c"sysdyno-nats");
        let mut link = Some(first);
        let mut delay = AGAIN[0];
        loop {
            if let Some(link) = link.take() {
                delay = AGAIN[0];
                let _ = self.serve(link);
                self.shared.disconnected();
            }
            if self.shared.lock().is_closed {
                return;
            }
            match BrokerLink::open(&self.url, &self.login, &self.name) {
                Ok(opened) => {
                    self.shared.connected(&opened);
                    link = Some(opened);
                }
                Err(_) => {
                    // Many clients of one broker do not come back at the same instant.
                    let spread = clock::monotonic().0 % 64 + 64;
                    self.pause(delay * spread as u32 / 96);
                    delay = (delay * 2).min(AGAIN[1]);
                }
            }
        }
    }

    /// Waits, unless the client is dropped.
    fn pause(&self, span: Duration) {
        let end = clock::monotonic().after(span);
        while clock::monotonic() < end && !self.shared.lock().is_closed {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Works until the connection is gone, or the client.
    fn serve(&self, mut link: BrokerLink) -> Result<(), Gone> {
        let (mut heard, mut asked) = (clock::monotonic(), clock::monotonic());
        let (mut sending, mut piece) = (Sending::default(), vec![0; 64 << 10]);
        loop {
            if self.shared.lock().is_closed {
                return Ok(());
            }
            let now = clock::monotonic();
            if Duration::from_nanos(now.since(heard)) > SILENCE {
                return Err(Gone);
            }
            if Duration::from_nanos(now.since(asked)) > PING {
                asked = now;
                sending.bytes.extend_from_slice(b"PING\r\n");
            }
            self.send(&mut link, &mut sending)?;
            self.wait(&link, &sending)?;
            if self.receive(&mut link, &mut piece, &mut sending)? {
                heard = clock::monotonic();
            }
        }
    }

    /// Sends as much as the socket takes.
    fn send(&self, link: &mut BrokerLink, sending: &mut Sending) -> Result<(), Gone> {
        loop {
            if sending.is_done() && !link.wants_write() {
                let mut state = self.shared.lock();
                sending.done = 0;
                sending.bytes.clear();
                std::mem::swap(&mut sending.bytes, &mut state.outgoing);
                if sending.bytes.is_empty() {
                    self.shared.changed.notify_all();
                    return Ok(());
                }
            }
            let mut sent = Ok(());
            if !sending.is_done() {
                sent = link.write(&sending.bytes[sending.done..]).map(|length| sending.done += length);
            }
            match sent.and_then(|()| link.flush()) {
                Ok(()) => {}
                Err(error) if is_blocked(&error) => return Ok(()),
                Err(_) => return Err(Gone),
            }
        }
    }

    /// Waits until there is something to do, a moment at most.
    fn wait(&self, link: &BrokerLink, sending: &Sending) -> Result<(), Gone> {
        let is_sending = !sending.is_done() || link.wants_write();
        let flags = if is_sending { PollFlags::IN | PollFlags::OUT } else { PollFlags::IN };
        let mut files = [PollFd::new(&link.socket, flags), PollFd::new(&self.woken, PollFlags::IN)];
        let span = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
        match poll(&mut files, Some(&span)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Err(Gone),
        }
        let mut woken = [0; 256];
        while (&self.woken).read(&mut woken).is_ok_and(|length| length == woken.len()) {}
        Ok(())
    }

    /// Hands on what has come; whether there was anything.
    fn receive(&self, link: &mut BrokerLink, piece: &mut [u8], sending: &mut Sending) -> Result<bool, Gone> {
        let mut has_heard = false;
        loop {
            let length = match link.read(piece) {
                Ok(0) => return Err(Gone),
                Ok(length) => length,
                Err(error) if is_blocked(&error) => return Ok(has_heard),
                Err(_) => return Err(Gone),
            };
            has_heard = true;
            link.decoder.push(&piece[..length]);
            while let Some(operation) = link.decoder.next_operation().map_err(|_| Gone)? {
                match operation {
                    Operation::Message { subject, subscription, payload } => {
                        self.hand_on(subscription, NatsMessage { subject, payload });
                    }
                    Operation::Ping => sending.bytes.extend_from_slice(b"PONG\r\n"),
                    // A permission that is missing is seen by what does not arrive.
                    Operation::Pong | Operation::Ok | Operation::Info(_) | Operation::Error(_) => {}
                }
            }
        }
    }

    fn hand_on(&self, subscription: u64, message: NatsMessage) {
        let mut state = self.shared.lock();
        let Some(subscriber) = state.subscribers.get(&subscription) else { return };
        if let Err(mpsc::TrySendError::Disconnected(_)) = subscriber.queue.try_send(message) {
            state.subscribers.remove(&subscription);
            state.outgoing.extend_from_slice(format!("UNSUB {subscription}\r\n").as_bytes());
        }
    }
}

/// Bytes on their way to the broker.
#[derive(Default)]
struct Sending {
    bytes: Vec<u8>,
    done: usize,
}

impl Sending {
    fn is_done(&self) -> bool {
        self.done == self.bytes.len()
    }
}
