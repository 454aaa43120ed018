//! The completion back end: io_uring, for TCP.
//!
//! Receiving is armed once per connection and repeats by itself (multishot), into buffers that the kernel picks. If a
//! connection carries only one request, receiving is armed for one message at a time, so that nothing is left to cancel when
//! the response is complete. Sends are queued and submitted together, at most [`SEND_BATCH_COUNT`] at a time, so the engine's
//! "sent" instant is early by the few microseconds that the sends before it in the batch take, and never late: a service time
//! can be too long by them, but not too short. Sends queued when there is nothing else to do are submitted with the next wait.
//!
//! The ring sends a copy of a short request built for one send. It takes over longer built buffers as a whole and returns them
//! when they are sent; bytes put into [`Transport::outgoing`] meanwhile are sent in one piece after them.
//!
//! The generation in the tag identifies completions for a socket that has been closed; they are dropped.

use super::route::NO_CONGESTION_CONTROL;
use super::{Completion, ConnectionRoute, Gather, Message, Send, Slot, Submitted, TICK, Transport};
use crate::error::LoadError;
use crate::sys::ring::{self, Completed, OpenTags, Options, Ring};
use crate::sys::stamp;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::io;
use std::time::Duration;
use sysdyno_record::plan::Endpoint;

/// Sends that wait for each other at most.
const SEND_BATCH_COUNT: u32 = 4;

/// A send that is longer can be held up by a peer that does not read, so that its end must be known. Unit: bytes.
const NEVER_BLOCKING_BYTES: usize = 8 * 1024;

/// The io_uring back end of one thread.
pub(crate) struct Uring {
    ring: Ring,
    sockets: Vec<Socket>,
    outgoing: Vec<Outgoing>,
    is_single: bool,
    options: Options,
    can_block: bool,
    /// Sends that wait for the next entry into the kernel.
    queued_sends: u32,
    /// Sends since the last wait whose end will be told, most likely before anything is waited for.
    told_sends: u32,
    /// The buffer of the last [`Completion::Received`].
    held: Option<u16>,
    /// The socket whose receiving is to be armed again, if it is not closed before that.
    disarmed: Option<(Slot, u32)>,
    /// Where the bytes of the last [`Completion::Received`] begin in its buffer.
    start: usize,
    stamp_ns: u64,
    ticks: Ticks,
    /// Keeps the kernel stamping.
    _stamping: Option<OwnedFd>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Socket {
    /// Tells completions of this socket from those of its predecessors in the slot.
    generation: u32,
    phase: Phase,
    is_armed: bool,
}

/// Bytes of the engine's own making, beside the one piece that the ring may hold.
#[derive(Clone, Debug, Default)]
struct Outgoing {
    /// What goes out with the next flush, or when the piece that is under way is sent.
    queued: Vec<u8>,
    /// The memory of the last piece.
    spare: Vec<u8>,
    is_under_way: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Closed,
    Connecting,
    Open,
}

/// The ticks that end a wait without a time-out. Multishot timers are there since Linux 6.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ticks {
    Unused,
    /// The first has not come, and maybe none will.
    Asked,
    Coming,
}

/// What a submission was; the upper four bits of its tag. Below are 28 bits of generation and 32 of slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Open,
    Connect,
    Send,
    Receive,
    Close,
    Tick,
    Flush,
}

const OPERATIONS: [Operation; 7] = [
    Operation::Open,
    Operation::Connect,
    Operation::Send,
    Operation::Receive,
    Operation::Close,
    Operation::Tick,
    Operation::Flush,
];

const GENERATION_MASK: u32 = (1 << 28) - 1;

fn tag(operation: Operation, slot: Slot, generation: u32) -> u64 {
    (operation as u64) << 60 | u64::from(generation) << 32 | u64::from(slot)
}

impl Uring {
    /// Arms receiving on an open socket.
    fn arm(&mut self, slot: Slot) {
        let socket = &mut self.sockets[slot as usize];
        socket.is_armed = true;
        let tag = tag(Operation::Receive, slot, socket.generation);
        if self.options.stamps {
            self.ring.receive_all_stamped(slot, tag);
        } else if self.is_single {
            self.ring.receive_once(slot, tag);
        } else {
            self.ring.receive_all(slot, tag);
        }
    }

    /// Gives back what the last completion lent, and arms its socket again where it must be.
    #[inline]
    fn settle(&mut self) {
        if let Some(buffer) = self.held.take() {
            self.ring.give_back(buffer);
        }
        if let Some((slot, generation)) = self.disarmed.take()
            && self.sockets[slot as usize].generation == generation
        {
            self.arm(slot);
        }
    }

    /// A send is to be queued: those before it go out first if there are enough of them.
    #[inline]
    fn make_way(&mut self) {
        if self.queued_sends == SEND_BATCH_COUNT {
            self.ring.submit();
            self.queued_sends = 0;
        }
        self.queued_sends += 1;
    }

    /// What a completion means to the engine; `None` if nothing.
    #[inline]
    fn translate(&mut self, completed: Completed) -> Option<(Slot, Completion)> {
        let slot = completed.tag as Slot;
        let generation = (completed.tag >> 32) as u32 & GENERATION_MASK;
        let operation = OPERATIONS[(completed.tag >> 60) as usize];
        self.held = completed.buffer;
        if operation == Operation::Tick {
            self.ticks = if completed.has_more { Ticks::Coming } else { Ticks::Asked };
            return None;
        }
        if operation == Operation::Flush {
            self.told_sends = self.told_sends.saturating_sub(1);
            // The memory of a piece comes back whoever was to hear of it.
            let piece = self.ring.take_back(slot, completed.tag)?;
            let is_current = self.sockets[slot as usize].generation == generation;
            return is_current.then(|| self.translate_flush(slot, completed.result, piece))?;
        }
        if self.sockets[slot as usize].generation != generation {
            return None;
        }
        let failure = ring::errno(completed.result);
        let completion = match operation {
            Operation::Receive => self.translate_receive(slot, completed),
            Operation::Open => failure.map(|errno| {
                // The connect that follows in the chain is cancelled, which is not news.
                self.sockets[slot as usize].generation = next(generation);
                Completion::Failed(errno)
            }),
            Operation::Connect => Some(self.translate_connect(slot, failure)),
            Operation::Send => Some(self.translate_send(completed.result, failure)),
            Operation::Close | Operation::Tick | Operation::Flush => None,
        };
        completion.map(|completion| (slot, completion))
    }

    fn translate_connect(&mut self, slot: Slot, failure: Option<Errno>) -> Completion {
        if let Some(errno) = failure {
            return Completion::Failed(errno);
        }
        self.sockets[slot as usize].phase = Phase::Open;
        self.arm(slot);
        Completion::Connected
    }

    /// Sends that cannot block are heard of only when they fail.
    fn translate_send(&self, sent_bytes: i32, failure: Option<Errno>) -> Completion {
        match failure {
            Some(errno) => Completion::SendFailed(errno),
            None if self.can_block && sent_bytes > 0 => Completion::Sent,
            None => Completion::SendFailed(Errno::CONNRESET),
        }
    }

    /// A piece was sent: what was queued meanwhile is next.
    fn translate_flush(&mut self, slot: Slot, sent: i32, mut piece: Vec<u8>) -> Option<(Slot, Completion)> {
        let is_whole = usize::try_from(sent).is_ok_and(|sent| sent == piece.len());
        let outgoing = &mut self.outgoing[slot as usize];
        outgoing.is_under_way = false;
        piece.clear();
        outgoing.spare = piece;
        if !is_whole {
            let errno = ring::errno(sent).unwrap_or(Errno::CONNRESET);
            return Some((slot, Completion::SendFailed(errno)));
        }
        let is_all = self.flush(slot) == Send::Complete;
        is_all.then_some((slot, Completion::Sent))
    }

    #[inline]
    fn translate_receive(&mut self, slot: Slot, completed: Completed) -> Option<Completion> {
        self.sockets[slot as usize].is_armed = completed.has_more;
        let completion = match ring::errno(completed.result) {
            None => match self.take_received(completed) {
                0 => return Some(Completion::Ended),
                length => Some(Completion::Received(length)),
            },
            // All buffers are full of what has not been looked at yet; they are free again when this is called.
            Some(Errno::NOBUFS | Errno::INTR | Errno::AGAIN) => None,
            Some(errno) => return Some(Completion::Failed(errno)),
        };
        if !completed.has_more {
            self.disarmed = Some((slot, self.sockets[slot as usize].generation));
        }
        completion
    }

    /// How many bytes were received; notes where they are, and their stamp.
    #[inline]
    fn take_received(&mut self, completed: Completed) -> usize {
        let length = completed.result as usize;
        let Some(buffer) = completed.buffer.filter(|_| self.options.stamps) else {
            (self.start, self.stamp_ns) = (0, 0);
            return length;
        };
        let stamped = self.ring.stamped(buffer, length);
        (self.start, self.stamp_ns) = (stamped.start, stamped.stamp_ns);
        stamped.length
    }
}

fn next(generation: u32) -> u32 {
    generation.wrapping_add(1) & GENERATION_MASK
}

impl Transport for Uring {
    fn new(slots: usize, route: &ConnectionRoute) -> Result<Uring, LoadError> {
        let failed = LoadError::system("set up io_uring");
        let Endpoint::Tcp(address) = route.endpoint else {
            return Err(failed(io::Error::new(io::ErrorKind::Unsupported, "it is only used for TCP")));
        };
        if route.origin.is_needed() {
            let cause = "source addresses and PROXY headers need epoll";
            return Err(failed(io::Error::new(io::ErrorKind::Unsupported, cause)));
        }
        let ring = match Ring::new(slots as u32, address, route.messages.to_vec().into_boxed_slice()) {
            Ok(ring) => ring,
            Err(error) => return Err(failed(error)),
        };
        let options = Options {
            nodelay: route.needs_nodelay(),
            stamps: route.stamps,
            congestion: route.needs_no_congestion_control().then_some(NO_CONGESTION_CONTROL),
            ports_in_turn: true,
        };
        if options.are_needed() && !ring.can_set_options() {
            let cause = "its socket options need Linux 6.10 or later";
            return Err(failed(io::Error::new(io::ErrorKind::Unsupported, cause)));
        }
        let stamping = route.stamps.then(stamp::hold).transpose();
        let options = if ring.can_set_options() { options } else { Options::default() };
        Ok(Uring {
            ring,
            sockets: vec![Socket::default(); slots],
            outgoing: vec![Outgoing::default(); slots],
            is_single: route.is_single,
            options,
            can_block: route.messages.iter().any(|bytes| bytes.len() > NEVER_BLOCKING_BYTES),
            queued_sends: 0,
            told_sends: 0,
            held: None,
            disarmed: None,
            start: 0,
            stamp_ns: 0,
            ticks: Ticks::Unused,
            _stamping: stamping.map_err(LoadError::system("enable timestamps"))?,
        })
    }

    fn connect(&mut self, slot: Slot) -> Submitted {
        let socket = &mut self.sockets[slot as usize];
        socket.phase = Phase::Connecting;
        let generation = socket.generation;
        let tags = OpenTags {
            open: tag(Operation::Open, slot, generation),
            connect: tag(Operation::Connect, slot, generation),
            ignored: tag(Operation::Close, slot, generation),
        };
        self.ring.open(slot, tags, self.options);
        Submitted::Pending
    }

    #[inline]
    fn send(&mut self, slot: Slot, message: Message, offset: usize) -> Send {
        let tag = tag(Operation::Send, slot, self.sockets[slot as usize].generation);
        if self.can_block {
            self.ring.send_and_tell(slot, tag, message.position(), offset);
            return Send::Pending;
        }
        self.make_way();
        self.ring.send(slot, tag, message.position(), offset);
        Send::Complete
    }

    #[inline]
    fn outgoing(&mut self, slot: Slot) -> &mut Vec<u8> {
        &mut self.outgoing[slot as usize].queued
    }

    fn flush(&mut self, slot: Slot) -> Send {
        let outgoing = &mut self.outgoing[slot as usize];
        if outgoing.is_under_way {
            return Send::Pending;
        }
        if outgoing.queued.is_empty() {
            return Send::Complete;
        }
        outgoing.is_under_way = true;
        let piece = std::mem::replace(&mut outgoing.queued, std::mem::take(&mut outgoing.spare));
        let tag = tag(Operation::Flush, slot, self.sockets[slot as usize].generation);
        self.told_sends += u32::from(piece.len() <= NEVER_BLOCKING_BYTES);
        self.make_way();
        self.ring.send_piece(slot, tag, piece);
        Send::Pending
    }

    /// A short one is copied and forgotten, as [`Transport::send`] does it: it is heard of only if it fails.
    #[inline]
    fn flush_request(&mut self, slot: Slot) -> Send {
        let outgoing = &mut self.outgoing[slot as usize];
        let is_short = (1..=ring::SHORT_BYTES).contains(&outgoing.queued.len());
        if !is_short || outgoing.is_under_way || self.can_block {
            return self.flush(slot);
        }
        self.make_way();
        let tag = tag(Operation::Send, slot, self.sockets[slot as usize].generation);
        let queued = &mut self.outgoing[slot as usize].queued;
        self.ring.send_short(slot, tag, queued);
        queued.clear();
        Send::Complete
    }

    fn close(&mut self, slot: Slot) {
        let outgoing = &mut self.outgoing[slot as usize];
        outgoing.queued.clear();
        let is_sending = std::mem::take(&mut outgoing.is_under_way);
        let socket = &mut self.sockets[slot as usize];
        if socket.phase == Phase::Closed {
            return;
        }
        let Socket { generation, phase, is_armed } = *socket;
        *socket = Socket { generation: next(generation), ..Socket::default() };
        // By their tags: all that is under way on one socket is only found by looking at what is on all of them.
        let under_way = [
            (Operation::Connect, phase == Phase::Connecting),
            (Operation::Send, self.can_block && phase == Phase::Open),
            (Operation::Flush, is_sending),
            (Operation::Receive, is_armed),
        ];
        let close = tag(Operation::Close, slot, generation);
        for (operation, _) in under_way.into_iter().filter(|(_, is_under_way)| *is_under_way) {
            self.ring.cancel(tag(operation, slot, generation), close);
        }
        self.ring.close(slot, close);
    }

    fn wait(&mut self, timeout: Duration, gather: Gather) {
        self.settle();
        self.queued_sends = 0;
        // A send that ends as soon as it begins is nothing to wake up for.
        let told = std::mem::take(&mut self.told_sends);
        if let Gather::Span(span) = gather
            && span < timeout
            && self.ring.can_gather()
        {
            return self.ring.submit_and_gather(span, timeout);
        }
        if timeout < TICK {
            return self.ring.submit_and_wait(Some(timeout), 1 + told);
        }
        if self.ticks == Ticks::Unused {
            self.ticks = Ticks::Asked;
            self.ring.tick(tag(Operation::Tick, 0, 0), TICK);
        }
        match (self.ticks, gather) {
            (Ticks::Coming, Gather::Count(count)) => self.ring.submit_and_wait(None, count + told),
            (Ticks::Coming, Gather::Span(_)) => self.ring.submit_and_wait(None, 1 + told),
            (Ticks::Asked | Ticks::Unused, _) => self.ring.submit_and_wait(Some(timeout), 1),
        }
    }

    #[inline]
    fn complete(&mut self) -> Option<(Slot, Completion)> {
        loop {
            self.settle();
            let completed = self.ring.next()?;
            if let Some(completion) = self.translate(completed) {
                return Some(completion);
            }
        }
    }

    #[inline]
    fn received(&self, length: usize) -> &[u8] {
        self.held.map_or(&[], |buffer| &self.ring.bytes(buffer, self.start + length)[self.start..])
    }

    #[inline]
    fn stamp_ns(&self) -> u64 {
        self.stamp_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::origin::Origin;
    use rustix::net::{self, AddressFamily, SocketType};
    use std::net::SocketAddr;

    const SLOTS: Slot = 64;

    /// A back end whose sockets all connect to a server that accepts none, and that lets so many wait; `None`: the kernel
    /// has no io_uring.
    fn connecting(waiting: i32) -> (Option<Uring>, OwnedFd) {
        let server = net::socket(AddressFamily::INET, SocketType::STREAM, None).expect("opens");
        net::bind(&server, &SocketAddr::from(([127, 0, 0, 1], 0))).expect("binds");
        net::listen(&server, waiting).expect("listens");
        let address = net::getsockname(&server).expect("has an address").try_into().expect("is of IPv4");
        let route = ConnectionRoute {
            endpoint: Endpoint::Tcp(address),
            messages: [b"a".as_slice().into(), b"b".as_slice().into()].into(),
            is_single: false,
            is_made_up: false,
            in_flight_bytes: 1,
            stamps: true,
            origin: Origin::default(),
            tls: None,
        };
        let made = Uring::new(SLOTS as usize, &route);
        let mut made = made.inspect_err(|error| sysdyno_needs::skip(&error.to_string(), &["io_uring"])).ok();
        for slot in made.iter().flat_map(|_| 0..SLOTS).collect::<Vec<_>>() {
            made.iter_mut().for_each(|io| assert_eq!(io.connect(slot), Submitted::Pending));
        }
        (made, server)
    }

    /// How many of the sockets are connected, when nothing more happens.
    fn await_connected(io: &mut Uring) -> usize {
        let mut connected = 0;
        loop {
            io.wait(Duration::from_millis(4), Gather::NOTHING);
            let before = connected;
            while let Some((_, what)) = io.complete() {
                assert_eq!(what, Completion::Connected);
                connected += 1;
            }
            if connected == before {
                return connected;
            }
        }
    }

    #[test]
    fn closed_connections_leave_the_end_of_a_ring_nothing_to_look_for() {
        for (waiting, all_connect) in [(128, true), (1, false)] {
            let (Some(mut io), _server) = connecting(waiting) else { return };
            let connected = await_connected(&mut io);
            assert_eq!(connected == SLOTS as usize, all_connect, "{connected} connected");
            (0..SLOTS).for_each(|slot| io.close(slot));
            assert_eq!(io.ring.end().left_count, 0, "after {connected} connections");
        }
    }

    #[test]
    fn what_is_left_open_is_found_at_the_end_of_a_ring() {
        let (Some(mut io), _server) = connecting(128) else { return };
        await_connected(&mut io);
        assert_eq!(io.ring.end().left_count, SLOTS as usize);
    }
}
