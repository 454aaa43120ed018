//! One event thread: its own listener, connections, timer and counters; nothing shared but the stop flag.

use super::Shared;
use super::connection::{ClientConnection, Fate, Token};
use super::counts::{ThreadCounts, sum};
use super::error::TargetError;
use super::http::{AnswerContent, Reply};
use super::inbox::{Inbox, InboxMessage};
use super::service::{Readiness, RequestService};
use super::stall::StallGrid;
use super::timer::{DueAnswer, Timer};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{SocketFlags, accept_with, sockopt};
use rustix::time::Timespec;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;
use sysdyno_observe::clock::monotonic;
use sysdyno_record::units::MonoNs;

/// How long a wait lasts before the order to stop is looked at.
const STOP_CHECK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// A look at what there is.
const NO_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Events that one wait takes at most.
const EVENTS_COUNT: usize = 256;

/// Connections that are accepted before others are served.
const ACCEPTS_COUNT: usize = 64;

/// Bytes that one read takes at most.
const READ_BYTES: usize = 16 * 1024;

/// How long accepting rests when there is no descriptor left.
const ACCEPT_REST: Duration = Duration::from_millis(10);

/// Tokens that are no connection's: an index that no table reaches.
const LISTENER: u64 = u32::MAX as u64;
const INBOX: u64 = 1 << 32 | u32::MAX as u64;
const TIMER: u64 = 2 << 32 | u32::MAX as u64;

/// What one event thread is given.
#[derive(Debug)]
pub(super) struct ThreadSeat<'a> {
    /// Its number, and the place of its counters.
    pub(super) number: usize,
    /// `None`: connections come by the inbox, or not at all.
    pub(super) listener: Option<OwnedFd>,
    pub(super) inbox: Arc<Inbox>,
    pub(super) service: RequestService<'a>,
    pub(super) stall: Option<StallGrid>,
}

/// One event thread.
#[derive(Debug)]
pub(super) struct EventLoop<'a> {
    shared: &'a Shared<'a>,
    seat: ThreadSeat<'a>,
    /// All that the thread waits for.
    epoll: OwnedFd,
    /// All but the connections: waited for while the service has no room.
    control: OwnedFd,
    timer: Timer,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Connections with requests that were read while the service had no room.
    starved: Vec<Token>,
    accept_again: Option<MonoNs>,
    scratch: Box<[u8]>,
}

#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    connection: Option<ClientConnection>,
}

impl<'a> EventLoop<'a> {
    pub(super) fn new(shared: &'a Shared<'a>, seat: ThreadSeat<'a>) -> Result<EventLoop<'a>, TargetError> {
        EventLoop::open(shared, seat).map_err(TargetError::system("make an event loop"))
    }

    fn open(shared: &'a Shared<'a>, seat: ThreadSeat<'a>) -> Result<EventLoop<'a>, Errno> {
        let event_loop = EventLoop {
            shared,
            seat,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            control: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            timer: Timer::new()?,
            slots: Vec::new(),
            free: Vec::new(),
            starved: Vec::new(),
            accept_again: None,
            scratch: vec![0; READ_BYTES].into(),
        };
        let readable = EventFlags::IN;
        for set in [&event_loop.epoll, &event_loop.control] {
            epoll::add(set, event_loop.seat.inbox.as_fd(), EventData::new_u64(INBOX), readable)?;
            epoll::add(set, &event_loop.timer, EventData::new_u64(TIMER), readable)?;
            if let Some(listener) = &event_loop.seat.listener {
                // Threads that share a queue are woken one at a time.
                let exclusive = readable | EventFlags::EXCLUSIVE;
                epoll::add(set, listener, EventData::new_u64(LISTENER), exclusive)?;
            }
        }
        Ok(event_loop)
    }

    /// Serves until it is told to stop.
    pub(super) fn run(mut self) -> Result<(), TargetError> {
        // Matters to sleeps during a stall only; without it they end some 50 µs later.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS_COUNT);
        while !self.shared.is_stopping() {
            self.timer.arm(self.next_wake()).map_err(TargetError::system("set a timer"))?;
            events.clear();
            let set = if self.seat.service.has_room() { &self.epoll } else { &self.control };
            let longest = if self.is_exact() { &NO_WAIT } else { &STOP_CHECK };
            match epoll::wait(set, spare_capacity(&mut events), Some(longest)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(TargetError::system("wait for events")(errno)),
            }
            self.stall();
            for event in &events {
                self.stall();
                self.handle(event.data.u64(), event.flags)?;
            }
            self.answer_due();
            self.resume_accepting()?;
        }
        Ok(())
    }

    /// Whether the thread looks again and again instead of sleeping: while answers with a given delay are due, since a
    /// thread that is woken adds tens of microseconds to it.
    fn is_exact(&self) -> bool {
        self.seat.service.is_delay() && !self.timer.is_empty()
    }

    fn next_wake(&self) -> Option<MonoNs> {
        let stall = self.seat.stall.map(|stall| stall.next_begin(monotonic()));
        [stall, self.accept_again].into_iter().flatten().min()
    }

    /// Freezes the thread if a stall lasts.
    fn stall(&self) {
        if let Some(stall) = self.seat.stall {
            stall.sleep(|| self.shared.is_stopping());
        }
    }

    fn handle(&mut self, bits: u64, flags: EventFlags) -> Result<(), TargetError> {
        match bits {
            LISTENER => self.accept()?,
            INBOX => self.read_inbox()?,
            TIMER => self.timer.acknowledge(),
            bits => self.handle_connection(Token::from_bits(bits), flags),
        }
        Ok(())
    }

    fn accept(&mut self) -> Result<(), TargetError> {
        for _ in 0..ACCEPTS_COUNT {
            let Some(listener) = &self.seat.listener else { return Ok(()) };
            match accept_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok(socket) => self.insert(socket)?,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(_) => return self.rest_accepting(),
            }
        }
        Ok(())
    }

    /// Looks away from the listener for a while: there is no descriptor or no memory left.
    fn rest_accepting(&mut self) -> Result<(), TargetError> {
        self.accept_again = Some(monotonic().after(ACCEPT_REST));
        let Some(listener) = &self.seat.listener else { return Ok(()) };
        [&self.epoll, &self.control]
            .into_iter()
            .try_for_each(|set| epoll::delete(set, listener))
            .map_err(TargetError::system("look away from the listener"))
    }

    fn resume_accepting(&mut self) -> Result<(), TargetError> {
        if self.accept_again.is_none_or(|at| monotonic() < at) {
            return Ok(());
        }
        self.accept_again = None;
        let Some(listener) = &self.seat.listener else { return Ok(()) };
        let flags = EventFlags::IN | EventFlags::EXCLUSIVE;
        [&self.epoll, &self.control]
            .into_iter()
            .try_for_each(|set| epoll::add(set, listener, EventData::new_u64(LISTENER), flags))
            .map_err(TargetError::system("look at the listener"))
    }

    fn read_inbox(&mut self) -> Result<(), TargetError> {
        for message in self.seat.inbox.take() {
            match message {
                InboxMessage::Accepted(socket) => self.insert(socket)?,
                InboxMessage::Done(answer) => {
                    self.seat.service.worker_finished();
                    self.answer(answer);
                }
            }
        }
        while self.seat.service.has_room() {
            let Some(token) = self.starved.pop() else { break };
            self.settle(token, |_| Fate::Open);
        }
        Ok(())
    }

    fn insert(&mut self, socket: OwnedFd) -> Result<(), TargetError> {
        self.counts().add_connection();
        // Not a TCP socket, or already gone: both are fine.
        let _ = sockopt::set_tcp_nodelay(&socket, true);
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            u32::try_from(self.slots.len() - 1).expect("there are fewer descriptors than 2^32")
        });
        let slot = &mut self.slots[index as usize];
        let token = Token { index, generation: slot.generation };
        epoll::add(&self.epoll, &socket, EventData::new_u64(token.bits()), EventFlags::IN)
            .map_err(TargetError::system("look at a connection"))?;
        slot.connection = Some(ClientConnection::new(socket));
        Ok(())
    }

    fn handle_connection(&mut self, token: Token, flags: EventFlags) {
        let has_room = self.seat.service.has_room();
        let mut scratch = std::mem::take(&mut self.scratch);
        self.settle(token, |connection| {
            if flags.intersects(EventFlags::ERR | EventFlags::HUP) {
                Fate::Closed
            } else if flags.contains(EventFlags::IN) && has_room {
                connection.fill(&mut scratch)
            } else {
                Fate::Open
            }
        });
        self.scratch = scratch;
    }

    /// Sends the answers that are due.
    fn answer_due(&mut self) {
        while let Some(answer) = self.timer.take_due(monotonic()) {
            self.answer(answer);
        }
    }

    fn answer(&mut self, answer: DueAnswer) {
        self.settle(answer.token, |connection| {
            connection.keep_promise(answer.sequence);
            Fate::Open
        });
    }

    /// Changes a connection, then takes its requests, sends its answers, and tells epoll what to look for.
    fn settle(&mut self, token: Token, change: impl FnOnce(&mut ClientConnection) -> Fate) {
        let slot =
            self.slots.get_mut(token.index as usize).filter(|slot| slot.generation == token.generation);
        let Some(mut connection) = slot.and_then(|slot| slot.connection.take()) else { return };
        let mut fate = change(&mut connection);
        if fate == Fate::Open {
            self.take_requests(token, &mut connection);
            connection.render(&self.shared.responses, || sum(self.shared.counts).json());
            fate = connection.flush();
        }
        if fate == Fate::Open {
            fate = self.update_interest(token, &mut connection);
        }
        let slot = &mut self.slots[token.index as usize];
        match fate {
            Fate::Open => slot.connection = Some(connection),
            Fate::Closed => {
                slot.generation = slot.generation.wrapping_add(1);
                self.free.push(token.index);
            }
        }
    }

    fn take_requests(&mut self, token: Token, connection: &mut ClientConnection) {
        loop {
            if !self.seat.service.has_room() {
                if connection.has_input() {
                    self.starved.push(token);
                }
                return;
            }
            let Some(reply) = connection.next_request() else { return };
            self.serve(token, connection, reply);
        }
    }

    fn serve(&mut self, token: Token, connection: &mut ClientConnection, reply: Reply) {
        let sequence = connection.promise(reply);
        let readiness = if reply.content == AnswerContent::Fixed {
            self.counts().add_request();
            self.seat.service.serve(DueAnswer { token, sequence }, &mut self.timer)
        } else {
            Readiness::Now
        };
        if readiness == Readiness::Now {
            connection.keep_promise(sequence);
        }
    }

    fn update_interest(&self, token: Token, connection: &mut ClientConnection) -> Fate {
        let wanted = connection.wanted_interest();
        if wanted == connection.interest {
            return Fate::Open;
        }
        connection.interest = wanted;
        let mut flags = EventFlags::empty();
        flags.set(EventFlags::IN, wanted.0);
        flags.set(EventFlags::OUT, wanted.1);
        match epoll::modify(&self.epoll, &connection.socket, EventData::new_u64(token.bits()), flags) {
            Ok(()) => Fate::Open,
            Err(_) => Fate::Closed,
        }
    }

    fn counts(&self) -> &ThreadCounts {
        &self.shared.counts[self.seat.number]
    }
}
