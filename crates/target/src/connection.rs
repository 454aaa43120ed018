//! One connection: parses requests from incoming bytes and sends the answers in order.

use super::http::{self, AnswerContent, Parsed, Reply, Responses};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{self, SendFlags, Shutdown};
use std::collections::VecDeque;

/// Answers that may wait on one connection before no more requests are taken from it.
const MAX_PENDING: usize = 1024;

/// Bytes that may wait for a client that does not read.
const MAX_OUT_BYTES: usize = 1 << 20;

/// Bytes that are read and thrown away after a refusal, so that the client gets to read it.
const MAX_LINGER_BYTES: u64 = 1 << 20;

/// A connection's place in its thread's table, with the generation that tells it from those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Token {
    pub(super) index: u32,
    pub(super) generation: u32,
}

impl Token {
    pub(super) fn bits(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    pub(super) fn from_bits(bits: u64) -> Token {
        Token { index: bits as u32, generation: (bits >> 32) as u32 }
    }
}

/// What became of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Open,
    Closed,
}

#[derive(Debug)]
struct Pending {
    reply: Reply,
    is_ready: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Requests are taken.
    Open,
    /// No more requests; closes when all answers are out.
    Closing,
    /// As `Closing`, but then reads on until the client closes.
    Lingering,
    /// What still comes is thrown away; this many bytes of it are left.
    Discarding(u64),
}

/// One connection.
#[derive(Debug)]
pub(super) struct ClientConnection {
    pub(super) socket: OwnedFd,
    /// What epoll was told to look for: readable, writable.
    pub(super) interest: (bool, bool),
    stage: Stage,
    is_at_end: bool,
    input: Vec<u8>,
    input_at: usize,
    /// The request whose body is being skipped.
    awaits_body: Option<Reply>,
    skip_bytes: u64,
    pending: VecDeque<Pending>,
    /// Sequence of the first of `pending`.
    first_sequence: u64,
    out: Vec<u8>,
    out_at: usize,
}

impl ClientConnection {
    pub(super) fn new(socket: OwnedFd) -> ClientConnection {
        ClientConnection {
            socket,
            interest: (true, false),
            stage: Stage::Open,
            is_at_end: false,
            input: Vec::new(),
            input_at: 0,
            awaits_body: None,
            skip_bytes: 0,
            pending: VecDeque::new(),
            first_sequence: 0,
            out: Vec::new(),
            out_at: 0,
        }
    }

    /// Reads once into the connection's input.
    pub(super) fn fill(&mut self, scratch: &mut [u8]) -> Fate {
        match rustix::io::read(&self.socket, &mut *scratch) {
            Ok(0) => self.is_at_end = true,
            Ok(count) => self.take_input(&scratch[..count]),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => return Fate::Closed,
        }
        Fate::Open
    }

    fn take_input(&mut self, bytes: &[u8]) {
        match &mut self.stage {
            Stage::Open => self.input.extend_from_slice(bytes),
            Stage::Discarding(left) if *left > bytes.len() as u64 => *left -= bytes.len() as u64,
            Stage::Discarding(_) => self.is_at_end = true,
            Stage::Closing | Stage::Lingering => {}
        }
    }

    /// Takes the next complete request from the input, if answers may still queue up.
    pub(super) fn next_request(&mut self) -> Option<Reply> {
        if self.stage != Stage::Open || !self.has_room() {
            return None;
        }
        if self.awaits_body.is_none() {
            match http::parse(&self.input[self.input_at..]) {
                Parsed::Incomplete => return None,
                Parsed::Request(request) => {
                    self.input_at += request.head_bytes;
                    self.skip_bytes = request.body_bytes;
                    self.awaits_body = Some(request.reply);
                }
                Parsed::Refused(status) => {
                    self.stage = Stage::Lingering;
                    return Some(Reply {
                        content: AnswerContent::Refused(status),
                        is_head: false,
                        keeps_alive: false,
                    });
                }
            }
        }
        let available = self.input.len() - self.input_at;
        let skipped = usize::try_from(self.skip_bytes).map_or(available, |wanted| wanted.min(available));
        self.input_at += skipped;
        self.skip_bytes -= skipped as u64;
        if self.input_at == self.input.len() {
            self.input.clear();
            self.input_at = 0;
        }
        if self.skip_bytes > 0 {
            return None;
        }
        let reply = self.awaits_body.take()?;
        if !reply.keeps_alive {
            self.stage = if self.input.is_empty() { Stage::Closing } else { Stage::Lingering };
        }
        Some(reply)
    }

    /// Whether requests may lie in the input that were not taken for want of room.
    pub(super) fn has_input(&self) -> bool {
        self.stage == Stage::Open && !self.input.is_empty()
    }

    fn has_room(&self) -> bool {
        self.pending.len() < MAX_PENDING && self.out.len() - self.out_at < MAX_OUT_BYTES
    }

    /// Puts an answer behind those before it; it is sent when it and they are ready.
    pub(super) fn promise(&mut self, reply: Reply) -> u64 {
        self.pending.push_back(Pending { reply, is_ready: false });
        self.first_sequence + self.pending.len() as u64 - 1
    }

    /// Marks the answer with this sequence as ready.
    pub(super) fn keep_promise(&mut self, sequence: u64) {
        let position = usize::try_from(sequence.wrapping_sub(self.first_sequence)).ok();
        if let Some(pending) = position.and_then(|at| self.pending.get_mut(at)) {
            pending.is_ready = true;
        }
    }

    /// Moves the answers that are ready, and have none before them that is not, to the output.
    pub(super) fn render(&mut self, responses: &Responses, counts: impl Fn() -> String) {
        while let Some(pending) = self.pending.pop_front_if(|pending| pending.is_ready) {
            self.first_sequence += 1;
            responses.append(pending.reply, &mut self.out, &counts);
        }
    }

    /// Sends what the socket takes.
    pub(super) fn flush(&mut self) -> Fate {
        while self.out_at < self.out.len() {
            match net::send(&self.socket, &self.out[self.out_at..], SendFlags::NOSIGNAL) {
                Ok(count) => self.out_at += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Fate::Open,
                Err(_) => return Fate::Closed,
            }
        }
        self.out.clear();
        self.out_at = 0;
        self.after_flush()
    }

    fn after_flush(&mut self) -> Fate {
        let is_done = self.pending.is_empty();
        match self.stage {
            Stage::Closing if is_done => return Fate::Closed,
            Stage::Lingering if is_done => {
                // The client may be gone already; then reading tells.
                let _ = net::shutdown(&self.socket, Shutdown::Write);
                self.stage = Stage::Discarding(MAX_LINGER_BYTES);
                self.input = Vec::new();
            }
            _ => {}
        }
        if self.is_at_end && is_done { Fate::Closed } else { Fate::Open }
    }

    /// What epoll should look for now: readable, writable.
    pub(super) fn wanted_interest(&self) -> (bool, bool) {
        let reads = match self.stage {
            Stage::Open => self.has_room(),
            Stage::Closing | Stage::Lingering => false,
            Stage::Discarding(_) => true,
        };
        (reads && !self.is_at_end, self.out_at < self.out.len())
    }
}
