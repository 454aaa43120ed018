//! From arrivals to connections: a due arrival gets a free connection, or waits for one.

use super::Worker;
use super::arrivals::{NOBODY, Waiting};
use super::users::RequestEnd;
use crate::carrier::Carrier;
use crate::clock;
use crate::engine::connection::{Request, State};
use crate::transport::Slot;
use sysdyno_record::units::MonoNs;

impl<C: Carrier> Worker<'_, C> {
    /// Takes up all arrivals that are due.
    #[inline]
    pub(super) fn notice(&mut self, now: MonoNs) {
        if self.phases.is_held_back() {
            return;
        }
        while let Some(arrival) = self.arrivals.take_due(now, || self.content.draw_kind()) {
            self.windows.count(arrival.phase, arrival.kind, |counts| counts.scheduled += 1);
            self.offer(arrival);
        }
        if self.content.users.is_some() {
            self.notice_users(now);
        }
    }

    /// Sends a probe if one is due; what the plan would send instead is not sent any more.
    #[cold]
    pub(super) fn probe(&mut self, now: MonoNs) {
        if !self.phases.is_held_back() {
            self.give_up_backlog(now);
        }
        if self.phases.takes_probe(now, self.share)
            && let Some(slot) = self.pool.take_free()
        {
            self.begin_at_once(slot, now);
        }
    }

    /// Begins a request of the present phase that was not due before.
    #[inline]
    fn begin_at_once(&mut self, slot: Slot, now: MonoNs) {
        self.phases.quota -= 1;
        let (phase, kind) = (self.phases.current, self.content.draw_kind());
        self.windows.count(phase, kind, |counts| counts.scheduled += 1);
        self.begin_request(slot, Waiting { intended: now, noticed: now, phase, kind, user: NOBODY });
    }

    /// Gives an arrival a connection, or lets it wait.
    pub(super) fn offer(&mut self, arrival: Waiting) {
        if let Some(slot) = self.pool.take_free() {
            self.begin_request(slot, arrival);
        } else if !self.arrivals.wait(arrival) {
            // It would have waited longer than its deadline.
            self.never_send(arrival, self.arrivals.deadline(&arrival));
        }
    }

    /// Starts the clients of a closed process; connections of an open one are free already.
    pub(super) fn start_clients(&mut self, now: MonoNs) {
        if !self.is_closed_loop() {
            return;
        }
        self.pool.give_to_clients();
        for slot in self.pool.slots() {
            if self.clients.all_stay() {
                self.continue_client(slot, now);
            } else {
                self.await_client(slot, self.phases.begin);
            }
        }
    }

    /// A client sends nothing until its next begin, if there is one.
    fn await_client(&mut self, slot: Slot, from: MonoNs) {
        if !self.clients.awaits(slot, from) {
            self.pool.rest(slot);
        }
    }

    /// A connection is free: it takes the next request of its client, or the longest waiting arrival, or none.
    #[inline]
    pub(super) fn release(&mut self, slot: Slot, now: MonoNs) {
        if !self.phases.is_sending() || self.phases.is_held_back() {
            self.pool.rest(slot);
        } else if self.is_closed_loop() {
            self.continue_client(slot, now);
        } else if let Some(arrival) = self.arrivals.backlog.pop_front() {
            self.begin_request(slot, arrival);
        } else {
            self.pool.rest(slot);
        }
    }

    #[inline]
    fn continue_client(&mut self, slot: Slot, now: MonoNs) {
        if !self.phases.may_begin(now) {
            self.pool.rest(slot);
        } else if self.clients.leaves(slot, now) {
            // It has nothing under way, and its connection leaves with it.
            self.drop_connection(slot);
            self.await_client(slot, now);
        } else {
            self.begin_at_once(slot, now);
        }
    }

    #[inline]
    fn begin_request(&mut self, slot: Slot, arrival: Waiting) {
        let Waiting { intended, noticed, phase, kind, user } = arrival;
        self.windows.count(phase, kind, |counts| counts.sent += 1);
        self.pool.begin_request(slot, Request { intended, noticed, sent: None, phase, kind, user });
        self.content.draw_values(slot, kind, user);
        match self.pool[slot].state {
            State::Idle => self.write(slot),
            State::Closed => self.dial(slot, clock::now()),
            State::Dialing => self.pool[slot].state = State::DialingFor,
            State::Tainted => self.fail_tainted(slot, phase),
            State::DialingFor | State::Sending | State::Waiting => {
                unreachable!("a free connection has no request")
            }
        }
    }

    /// Uses again the connections whose last request failed.
    pub(super) fn take_up(&mut self, now: MonoNs) {
        self.pool.end_delays(now);
        while let Some(slot) = self.clients.take_due(now) {
            self.pool.ready.push_back(slot);
        }
        for _ in 0..self.pool.ready.len() {
            if let Some(slot) = self.pool.ready.pop_front() {
                self.release(slot, now);
            }
        }
    }

    /// Whatever waits for a connection will not be sent any more.
    pub(super) fn give_up_backlog(&mut self, now: MonoNs) {
        while let Some(arrival) = self.arrivals.backlog.pop_front() {
            self.never_send(arrival, now);
        }
    }

    /// Gives up the arrivals that waited for a connection until their deadline.
    pub(super) fn expire_backlog(&mut self, now: MonoNs) {
        while let Some(arrival) = self.arrivals.take_expired(now) {
            self.never_send(arrival, now);
        }
    }

    fn never_send(&mut self, arrival: Waiting, now: MonoNs) {
        self.windows.count_unsent(&arrival, now);
        self.user_goes_on(arrival.user, RequestEnd::Badly, now, now);
    }
}
