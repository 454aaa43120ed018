//! The connections of one thread: which are free, which are ready for reuse, and which carry a request.

use super::timeouts::Timeouts;
use crate::engine::churn::Churn;
use crate::engine::connection::{Connection, Request, State};
use crate::engine::job::Job;
use crate::schedule::Share;
use crate::transport::Slot;
use std::collections::VecDeque;
use std::ops::{Index, IndexMut, Range};
use sysdyno_record::units::MonoNs;

/// How long a client waits after a connection that failed. Unit: nanoseconds.
const REDIAL_DELAY_NS: u64 = 50_000_000;

/// The connections of one thread.
#[derive(Debug)]
pub(super) struct ConnectionPool {
    connections: Vec<Connection>,
    pub timeouts: Timeouts,
    pub churn: Churn,
    /// Established connections without a request, longest free first; some may have been closed since.
    idle: VecDeque<Slot>,
    /// Connections without a socket and without a request.
    vacant: VecDeque<Slot>,
    /// Connections whose last request failed and that are to be used again.
    pub ready: VecDeque<Slot>,
    /// Connections that are to be used again after a delay, in order of the instant.
    delayed: VecDeque<(MonoNs, Slot)>,
    /// Connections with a request.
    pub in_flight: u64,
    failed_dials_in_a_row: u32,
    pub has_connected: bool,
}

impl ConnectionPool {
    pub(super) fn new(job: &Job<'_>, share: Share) -> ConnectionPool {
        let slots = job.slots(share);
        ConnectionPool {
            connections: (0..slots).map(|_| Connection::new(job)).collect(),
            timeouts: Timeouts::new(job, slots),
            churn: Churn::new(job.plan.origin.churn_hz, share),
            idle: VecDeque::with_capacity(slots),
            vacant: VecDeque::with_capacity(slots),
            ready: VecDeque::with_capacity(slots),
            delayed: VecDeque::with_capacity(slots),
            in_flight: 0,
            failed_dials_in_a_row: 0,
            has_connected: false,
        }
    }

    pub(super) fn slots(&self) -> Range<Slot> {
        0..self.connections.len() as Slot
    }

    pub(super) fn is_dialing(&self) -> bool {
        self.connections.iter().any(|connection| connection.state == State::Dialing)
    }

    /// When something is to be done next without the kernel saying so.
    pub(super) fn next_due(&self) -> Option<MonoNs> {
        let delayed = self.delayed.front().map(|(at, _)| *at);
        [self.timeouts.next_due(), delayed].into_iter().flatten().min()
    }

    /// A connection for a request: an established one, if any is free.
    #[inline]
    pub(super) fn take_free(&mut self) -> Option<Slot> {
        self.idle.pop_front().or_else(|| self.vacant.pop_front())
    }

    /// Nothing is to be done with a connection until a request takes it.
    pub(super) fn rest(&mut self, slot: Slot) {
        match self[slot].state {
            State::Idle => self.idle.push_back(slot),
            State::Closed | State::Tainted => self.vacant.push_back(slot),
            State::Dialing | State::DialingFor | State::Sending | State::Waiting => {}
        }
    }

    /// Uses a connection again after a while.
    pub(super) fn delay(&mut self, slot: Slot, now: MonoNs) {
        self.delayed.push_back((MonoNs(now.0 + REDIAL_DELAY_NS), slot));
    }

    /// Makes those ready whose delay is over.
    pub(super) fn end_delays(&mut self, now: MonoNs) {
        while let Some((_, slot)) = self.delayed.pop_front_if(|(at, _)| *at <= now) {
            self.ready.push_back(slot);
        }
    }

    /// Each connection is its client's from now on: none is free to others.
    pub(super) fn give_to_clients(&mut self) {
        self.idle.clear();
        self.vacant.clear();
        self.ready.clear();
        self.delayed.clear();
    }

    /// A connection is established; whether a request waits for it.
    pub(super) fn open(&mut self, slot: Slot) -> bool {
        self.timeouts.connects.clear(slot);
        (self.failed_dials_in_a_row, self.has_connected) = (0, true);
        std::mem::replace(&mut self[slot].state, State::Idle) == State::DialingFor
    }

    /// A connection could not be established, as so many before it.
    pub(super) fn count_failed_dial(&mut self, slot: Slot) -> u32 {
        self.timeouts.connects.clear(slot);
        self.failed_dials_in_a_row += 1;
        self.failed_dials_in_a_row
    }

    /// A connection has no socket any more.
    pub(super) fn close(&mut self, slot: Slot) {
        self.timeouts.connects.clear(slot);
        self[slot].state = State::Closed;
    }

    /// Puts a request on a free connection.
    #[inline]
    pub(super) fn begin_request(&mut self, slot: Slot, request: Request) {
        self.in_flight += 1;
        self.timeouts.begin_request(slot, request.intended);
        self[slot].request = Some(request);
    }

    /// Takes the request off a connection, with its deadlines.
    #[inline]
    pub(super) fn take_request(&mut self, slot: Slot) -> Option<Request> {
        let request = self[slot].request.take()?;
        self.in_flight -= 1;
        self.timeouts.end_request(slot);
        Some(request)
    }
}

impl Index<Slot> for ConnectionPool {
    type Output = Connection;

    #[inline]
    fn index(&self, slot: Slot) -> &Connection {
        &self.connections[slot as usize]
    }
}

impl IndexMut<Slot> for ConnectionPool {
    #[inline]
    fn index_mut(&mut self, slot: Slot) -> &mut Connection {
        &mut self.connections[slot as usize]
    }
}
