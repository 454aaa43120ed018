//! The completion back end: io_uring, for TCP.
//!
//! Receiving is armed once per connection and goes on by itself (multishot) into buffers that the kernel picks. Where a
//! connection carries one request, it is armed for one message at a time, so that nothing is left to cancel when the
//! response is complete. Sends are queued and go out together, at most [`SEND_BATCH_COUNT`] of them, so that the instant
//! that the engine takes for "sent" is early by the few microseconds that the sends before it in the batch take, and
//! never late: a service time can be too long by them, not too short.
//!
//! What completes for a socket that has been closed is told by the generation in its tag, and dropped.

use super::{Completion, Io, Message, Route, Send, Slot, Submitted};
use crate::error::LoadError;
use crate::sys::ring::{self, Completed, Ring};
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
    is_single: bool,
    needs_nodelay: bool,
    can_block: bool,
    /// Sends that wait for the next entry into the kernel.
    queued_sends: u32,
    /// The buffer of the last [`Completion::Received`].
    held: Option<u16>,
    /// The socket whose receiving is to be armed again, if it is not closed before that.
    disarmed: Option<(Slot, u32)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Socket {
    /// Tells completions of this socket from those of its predecessors in the slot.
    generation: u32,
    phase: Phase,
    is_armed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Closed,
    Connecting,
    Open,
}

/// What a submission was; the upper four bits of its tag. Below are 28 bits of generation and 32 of slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Open,
    Connect,
    Send,
    Receive,
    Close,
}

const OPERATIONS: [Operation; 5] =
    [Operation::Open, Operation::Connect, Operation::Send, Operation::Receive, Operation::Close];

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
        if self.is_single {
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

    /// What a completion means to the engine; `None` if nothing.
    #[inline]
    fn translate(&mut self, completed: Completed) -> Option<(Slot, Completion)> {
        let slot = completed.tag as Slot;
        let generation = (completed.tag >> 32) as u32 & GENERATION_MASK;
        let operation = OPERATIONS[(completed.tag >> 60) as usize];
        let is_alive = self.sockets[slot as usize].generation == generation;
        self.held = completed.buffer;
        if !is_alive {
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
            Operation::Close => None,
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

    #[inline]
    fn translate_receive(&mut self, slot: Slot, completed: Completed) -> Option<Completion> {
        let socket = &mut self.sockets[slot as usize];
        socket.is_armed = completed.has_more;
        let completion = match ring::errno(completed.result) {
            None if completed.result == 0 => return Some(Completion::Ended),
            None => Some(Completion::Received(completed.result as usize)),
            // All buffers are full of what has not been looked at yet; they are free again when this is called.
            Some(Errno::NOBUFS | Errno::INTR | Errno::AGAIN) => None,
            Some(errno) => return Some(Completion::Failed(errno)),
        };
        if !completed.has_more {
            self.disarmed = Some((slot, socket.generation));
        }
        completion
    }
}

fn next(generation: u32) -> u32 {
    generation.wrapping_add(1) & GENERATION_MASK
}

impl Io for Uring {
    const NAME: &'static str = "io_uring";

    fn new(slots: usize, route: &Route) -> Result<Uring, LoadError> {
        let failed = LoadError::system("set up io_uring");
        let Endpoint::Tcp(address) = route.endpoint else {
            return Err(failed(io::Error::new(io::ErrorKind::Unsupported, "it is used for TCP only")));
        };
        let ring = match Ring::new(slots as u32, address, route.messages.to_vec().into_boxed_slice()) {
            Ok(ring) => ring,
            Err(error) => return Err(failed(error)),
        };
        if route.needs_nodelay() && !ring.can_set_options() {
            let cause = "requests of several segments need Linux 6.10";
            return Err(failed(io::Error::new(io::ErrorKind::Unsupported, cause)));
        }
        Ok(Uring {
            ring,
            sockets: vec![Socket::default(); slots],
            is_single: route.is_single,
            needs_nodelay: route.needs_nodelay(),
            can_block: route.messages.iter().any(|bytes| bytes.len() > NEVER_BLOCKING_BYTES),
            queued_sends: 0,
            held: None,
            disarmed: None,
        })
    }

    fn connect(&mut self, slot: Slot) -> Submitted {
        let socket = &mut self.sockets[slot as usize];
        socket.phase = Phase::Connecting;
        let generation = socket.generation;
        let open = tag(Operation::Open, slot, generation);
        let connect = tag(Operation::Connect, slot, generation);
        self.ring.open(slot, open, connect, self.needs_nodelay);
        Submitted::Pending
    }

    #[inline]
    fn send(&mut self, slot: Slot, message: Message, offset: usize) -> Send {
        let tag = tag(Operation::Send, slot, self.sockets[slot as usize].generation);
        if self.can_block {
            self.ring.send_and_tell(slot, tag, message as usize, offset);
            return Send::Pending;
        }
        self.ring.send(slot, tag, message as usize, offset);
        self.queued_sends += 1;
        if self.queued_sends == SEND_BATCH_COUNT {
            self.ring.submit();
            self.queued_sends = 0;
        }
        Send::Complete
    }

    fn close(&mut self, slot: Slot) {
        let socket = &mut self.sockets[slot as usize];
        if socket.phase == Phase::Closed {
            return;
        }
        let is_busy = socket.is_armed || self.can_block || socket.phase == Phase::Connecting;
        let tag = tag(Operation::Close, slot, socket.generation);
        *socket = Socket { generation: next(socket.generation), ..Socket::default() };
        if is_busy {
            self.ring.cancel(slot, tag);
        }
        self.ring.close(slot, tag);
    }

    fn wait(&mut self, timeout: Duration) {
        self.settle();
        self.queued_sends = 0;
        self.ring.submit_and_wait(timeout);
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
        self.held.map_or(&[], |buffer| self.ring.bytes(buffer, length))
    }
}
