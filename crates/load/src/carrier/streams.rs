//! The carrier whose slots are HTTP/2 streams.
//!
//! Slots `k × streams` to `(k + 1) × streams − 1` share connection `k`. The first of them that is dialed connects it; the
//! others join ([`News::Joined`]).
//!
//! Frames are sent together when the engine waits, or when a connection has [`BATCH_COUNT`] requests. The engine's "sent"
//! instant is early by the time it takes to build the requests before it in the batch, and never late.

use super::News;
use crate::error::LoadError;
use crate::failure::{Detail, Fault};
use crate::protocol::http1::kept::Kept;
use crate::protocol::http2::{Http2Settings, Lane, Link, LinkEvent, NO_ERROR, REFUSED_STREAM, write_block};
use crate::transport::{Completion, ConnectionRoute, Gather, Message, Send, Slot, Submitted, Transport};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use sysdyno_record::load::FailureClass;

/// Requests of a connection that wait for each other at most.
const BATCH_COUNT: u32 = 32;

/// HTTP/2 over a transport.
pub(crate) struct Http2<T> {
    below: T,
    settings: Http2Settings,
    sockets: Vec<Socket>,
    /// What is told before anything else is asked of the transport.
    follow: VecDeque<(Slot, News)>,
    /// Connections on which something is to be said.
    dirty: Vec<Slot>,
    /// The result of the last bytes that arrived.
    events: Vec<(Lane, LinkEvent)>,
    /// A request that is made for one stream, as HTTP/1 writes it, and its header block.
    outgoing: Vec<u8>,
    block: Vec<u8>,
    /// What is kept of the last response on each slot; empty: nothing of any.
    kept: Vec<Option<Box<Kept>>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Down,
    /// Being established, for this slot.
    Dialing(Slot),
    Up,
}

/// One connection.
#[derive(Default)]
struct Socket {
    state: State,
    link: Option<Box<Link>>,
    /// Slots that wait until they can join.
    waiting: VecDeque<Slot>,
    /// Which of its places the engine takes for established, and how many requests each has sent.
    joined: Vec<Option<u32>>,
    batch_count: u32,
    is_dirty: bool,
}

impl Socket {
    fn is_open(&self) -> bool {
        let is_staying = |link: &Link| !link.is_leaving && link.has_numbers();
        self.state == State::Up && self.link.as_deref().is_some_and(is_staying)
    }

    fn is_unused(&self) -> bool {
        self.joined.iter().all(Option::is_none)
    }
}

impl<T: Transport> Http2<T> {
    fn place(&self, slot: Slot) -> (Slot, Lane) {
        (slot / self.settings.streams, slot % self.settings.streams)
    }

    fn tell(&mut self, slot: Slot, completion: Completion) {
        self.follow.push_back((slot, completion.into()));
    }

    fn slot(&self, connection: Slot, lane: Lane) -> Slot {
        connection * self.settings.streams + lane
    }

    /// Connects for a slot.
    fn dial(&mut self, connection: Slot, slot: Slot) -> Submitted {
        let streams = self.settings.streams;
        let socket = &mut self.sockets[connection as usize];
        socket.state = State::Dialing(slot);
        socket.link = Some(Box::new(Link::new(streams)));
        let submitted = self.below.connect(connection);
        match submitted {
            Submitted::Complete => self.come_up(connection),
            Submitted::Failed(_) => self.sockets[connection as usize].state = State::Down,
            Submitted::Pending | Submitted::Reached | Submitted::Joined => {}
        }
        submitted
    }

    /// The connection is established: waiting slots may join.
    fn come_up(&mut self, connection: Slot) {
        let first = self.slot(connection, 0);
        let socket = &mut self.sockets[connection as usize];
        if let State::Dialing(dialer) = socket.state {
            socket.joined[(dialer - first) as usize] = Some(0);
        }
        socket.state = State::Up;
        while let Some(slot) = socket.waiting.pop_front() {
            socket.joined[(slot - first) as usize] = Some(0);
            self.follow.push_back((slot, News::Joined));
        }
        self.mark(connection);
    }

    /// The connection is gone: the next slot that waits dials another.
    fn go_down(&mut self, connection: Slot) {
        self.below.close(connection);
        let socket = &mut self.sockets[connection as usize];
        (socket.state, socket.link) = (State::Down, None);
        socket.joined.fill(None);
        while let Some(slot) = self.sockets[connection as usize].waiting.pop_front() {
            match self.dial(connection, slot) {
                Submitted::Complete => return self.tell(slot, Completion::Connected),
                Submitted::Reached => return self.tell(slot, Completion::Reached),
                Submitted::Failed(errno) => self.tell(slot, Completion::Failed(errno)),
                Submitted::Pending | Submitted::Joined => return,
            }
        }
    }

    /// The connection broke: every request on it hears of it.
    fn break_off(&mut self, connection: Slot, completion: Completion) {
        let told = match completion {
            Completion::SendFailed(errno) => Completion::Failed(errno),
            Completion::Ended => Completion::Cut,
            other => other,
        };
        let socket = &self.sockets[connection as usize];
        if let State::Dialing(dialer) = socket.state {
            let early = if told == Completion::Cut { Completion::Failed(Errno::CONNRESET) } else { told };
            self.tell(dialer, early);
        } else if let Some(link) = &socket.link {
            let active = (0..self.settings.streams).filter(|lane| link.is_active(*lane));
            let first = self.slot(connection, 0);
            let reason = Some(told).filter(|told| *told != Completion::Cut || link.leaving_code == NO_ERROR);
            let of = |lane| reason.unwrap_or_else(|| Completion::Refused(gone(link, lane)));
            self.follow.extend(active.map(|lane| (first + lane, of(lane).into())));
        }
        // Who closed the connection does not hear any more.
        if matches!(told, Completion::Refused(_)) {
            self.say_last(connection);
        }
        self.go_down(connection);
    }

    /// Says what is left to be said on a connection that is about to be closed, as far as that can be done at once.
    fn say_last(&mut self, connection: Slot) {
        let socket = &mut self.sockets[connection as usize];
        let Some(link) = socket.link.as_mut().filter(|_| socket.state == State::Up) else { return };
        link.take_leave();
        self.below.outgoing(connection).append(&mut link.out);
        // Nobody waits for it.
        let _ = self.below.flush(connection);
    }

    fn mark(&mut self, connection: Slot) {
        let socket = &mut self.sockets[connection as usize];
        if !socket.is_dirty {
            socket.is_dirty = true;
            self.dirty.push(connection);
        }
    }

    /// Hands over what is to be said on a connection.
    fn say(&mut self, connection: Slot) {
        let socket = &mut self.sockets[connection as usize];
        socket.batch_count = 0;
        let Some(link) = socket.link.as_mut().filter(|link| !link.out.is_empty()) else { return };
        let out = self.below.outgoing(connection);
        if out.is_empty() {
            std::mem::swap(out, &mut link.out);
        } else {
            out.append(&mut link.out);
        }
        if let Send::Failed(errno) = self.below.flush(connection) {
            self.break_off(connection, Completion::Failed(errno));
        }
    }

    fn say_all(&mut self) {
        while let Some(connection) = self.dirty.pop() {
            self.sockets[connection as usize].is_dirty = false;
            if self.sockets[connection as usize].state == State::Up {
                self.say(connection);
            }
        }
    }

    fn read(&mut self, connection: Slot, length: usize) {
        let first = self.slot(connection, 0);
        let Socket { link, joined, .. } = &mut self.sockets[connection as usize];
        let Some(link) = link.as_deref_mut() else { return };
        let read = link.read(self.below.received(length), &self.settings.requests);
        std::mem::swap(&mut self.events, &mut link.events);
        let is_over = link.is_leaving && link.active() == 0;
        let has_answers = !link.out.is_empty();
        for (lane, event) in self.events.drain(..) {
            let slot = first + lane;
            let news = match event {
                LinkEvent::Began(status) => News::Began(status),
                LinkEvent::Done(response, bytes) => {
                    // The connection may be gone before anybody looks at it.
                    if let Some(kept) = self.kept.get_mut(slot as usize) {
                        std::mem::swap(kept, link.kept(lane));
                    }
                    News::Responded(response, bytes)
                }
                LinkEvent::Sent => Completion::Sent.into(),
                LinkEvent::Failed(class) => Completion::Refused(class.into()).into(),
                LinkEvent::Reset(code) => {
                    let is_refused = code == REFUSED_STREAM;
                    let class =
                        if is_refused { FailureClass::StreamRefused } else { FailureClass::StreamReset };
                    Completion::Refused(Fault::with(class, Detail::Reset(code))).into()
                }
                // The first request of a connection is not tried again and again.
                LinkEvent::Unseen if joined[lane as usize] <= Some(1) => {
                    let detail = Detail::Goaway(link.leaving_code);
                    Completion::Refused(Fault::with(FailureClass::StreamRefused, detail)).into()
                }
                LinkEvent::Unseen => Completion::SendFailed(Errno::PIPE).into(),
            };
            self.follow.push_back((slot, news));
        }
        if let Err(class) = read {
            let is_foreign = matches!(class, FailureClass::NotHttp2 | FailureClass::SpeaksTls);
            let detail = if is_foreign { Detail::Answered(length) } else { Detail::Nothing };
            self.break_off(connection, Completion::Refused(Fault::with(class, detail)));
        } else if is_over {
            self.say_last(connection);
            self.go_down(connection);
        } else if has_answers {
            self.mark(connection);
        }
    }

    /// Opens a stream for a slot with a request of this kind: the one that was made before the load, or its own.
    #[inline]
    fn open(&mut self, slot: Slot, kind: usize, is_own: bool) -> Send {
        let (connection, lane) = self.place(slot);
        let socket = &mut self.sockets[connection as usize];
        let is_open = socket.is_open();
        let (Some(link), Some(count)) = (socket.link.as_deref_mut(), &mut socket.joined[lane as usize])
        else {
            return Send::Failed(Errno::NOTCONN);
        };
        if !is_open {
            return Send::Failed(Errno::NOTCONN);
        }
        if !link.has_room() {
            return Send::Refused(FailureClass::StreamLimit);
        }
        *count = count.saturating_add(1);
        let is_all = if is_own {
            self.block.clear();
            let body = write_block(&self.outgoing, self.settings.scheme, &mut self.block);
            link.open_own(lane, kind as u32, &self.block, body)
        } else {
            link.open(lane, kind as u32, &self.settings.requests[kind])
        };
        socket.batch_count += 1;
        if socket.batch_count >= BATCH_COUNT {
            self.say(connection);
        } else {
            self.mark(connection);
        }
        if is_all { Send::Complete } else { Send::Pending }
    }

    /// Takes up a completion of the transport; what is new by it follows.
    fn take_up(&mut self, connection: Slot, completion: Completion) {
        let state = self.sockets[connection as usize].state;
        match (completion, state) {
            (Completion::Received(length), _) => self.read(connection, length),
            (Completion::Reached, State::Dialing(slot)) => self.tell(slot, completion),
            (Completion::Connected | Completion::Secured(_), State::Dialing(slot)) => {
                self.tell(slot, completion);
                self.come_up(connection);
            }
            (
                Completion::Ended
                | Completion::Cut
                | Completion::Failed(_)
                | Completion::SendFailed(_)
                | Completion::Refused(_),
                _,
            ) => self.break_off(connection, completion),
            _ => {}
        }
    }
}

/// What a stream failed with whose server gave up the connection, and closed it.
fn gone(link: &Link, lane: Lane) -> Fault {
    let class = if link.has_begun(lane) { FailureClass::BodyTruncated } else { FailureClass::EofBeforeHead };
    Fault::with(class, Detail::Goaway(link.leaving_code))
}

impl<T: Transport> Http2<T> {
    /// Connections for so many slots.
    ///
    /// # Errors
    /// As [`Transport::new`].
    pub(crate) fn new(
        slots: usize,
        route: &ConnectionRoute,
        settings: Http2Settings,
    ) -> Result<Http2<T>, LoadError> {
        let count = slots / settings.streams as usize;
        // What goes through the transport is made up here, frame by frame.
        let route = ConnectionRoute { is_made_up: true, messages: Arc::from([]), ..route.clone() };
        let mut sockets = Vec::new();
        sockets.resize_with(count, || Socket {
            joined: vec![None; settings.streams as usize],
            ..Socket::default()
        });
        Ok(Http2 {
            below: T::new(count, &route)?,
            settings,
            sockets,
            follow: VecDeque::new(),
            dirty: Vec::new(),
            events: Vec::new(),
            outgoing: Vec::new(),
            block: Vec::new(),
            kept: vec![None; slots],
        })
    }
}

impl<T: Transport> super::Carrier for Http2<T> {
    fn connect(&mut self, slot: Slot) -> Submitted {
        let (connection, lane) = self.place(slot);
        let socket = &mut self.sockets[connection as usize];
        if socket.is_open() {
            socket.joined[lane as usize] = Some(0);
            return Submitted::Joined;
        }
        match socket.state {
            State::Down => self.dial(connection, slot),
            State::Up if socket.link.as_deref().is_none_or(|link| link.active() == 0) => {
                socket.waiting.push_back(slot);
                self.say_last(connection);
                self.go_down(connection);
                Submitted::Pending
            }
            State::Dialing(_) | State::Up => {
                socket.waiting.push_back(slot);
                Submitted::Pending
            }
        }
    }

    #[inline]
    fn send(&mut self, slot: Slot, message: Message, _: usize) -> Send {
        self.open(slot, message.kind(), false)
    }

    fn outgoing(&mut self, _: Slot) -> &mut Vec<u8> {
        self.outgoing.clear();
        &mut self.outgoing
    }

    fn flush(&mut self, slot: Slot, like: Message) -> Send {
        self.open(slot, like.kind(), true)
    }

    fn close(&mut self, slot: Slot) {
        self.follow.retain(|(of, _)| *of != slot);
        let (connection, lane) = self.place(slot);
        let socket = &mut self.sockets[connection as usize];
        socket.joined[lane as usize] = None;
        socket.waiting.retain(|waiting| *waiting != slot);
        if socket.state == State::Dialing(slot) {
            return self.go_down(connection);
        }
        let is_unused = socket.is_unused();
        let Some(link) = socket.link.as_deref_mut().filter(|_| socket.state == State::Up) else { return };
        link.cancel(lane);
        let is_over = link.is_leaving && link.active() == 0;
        if is_unused || is_over {
            self.say_last(connection);
            self.go_down(connection);
        } else {
            self.mark(connection);
        }
    }

    fn wait(&mut self, timeout: Duration, gather: Gather) {
        self.say_all();
        let is_ready = !self.follow.is_empty();
        self.below.wait(if is_ready { Duration::ZERO } else { timeout }, gather);
    }

    #[inline]
    fn next(&mut self) -> Option<(Slot, News)> {
        loop {
            if let Some(next) = self.follow.pop_front() {
                return Some(next);
            }
            let (connection, completion) = self.below.complete()?;
            self.take_up(connection, completion);
        }
    }

    /// What the server says is read here; this is for showing it.
    fn received(&self, length: usize) -> &[u8] {
        self.below.received(length)
    }

    fn finish(&mut self) {
        self.say_all();
        self.below.wait(Duration::ZERO, Gather::NOTHING);
    }

    fn kept(&self, slot: Slot) -> Option<&Kept> {
        self.kept.get(slot as usize)?.as_deref()
    }

    #[inline]
    fn stamp_ns(&self) -> u64 {
        self.below.stamp_ns()
    }
}
