//! From arrivals to connections: what is due gets a free connection, or waits for one.

use super::super::connection::{Request, State};
use super::users::{Ended, NOBODY};
use super::{REDIAL_DELAY_NS, Stage, Waiting, Worker};
use crate::engine::clock;
use crate::engine::job::Turn;
use crate::io::{Io, Slot};
use crate::workload::Kind;
use sysdyno_record::load::Counts;
use sysdyno_record::units::MonoNs;

/// Between two probes of all threads together. Unit: nanoseconds.
const PROBE_INTERVAL_NS: u64 = 200_000_000;

/// Arrivals that may wait for a connection; those beyond are never sent.
const MAX_BACKLOG_COUNT: usize = 1 << 20;

impl<I: Io> Worker<'_, I> {
    /// Takes up all arrivals that are due.
    #[inline]
    pub(super) fn notice(&mut self, now: MonoNs) {
        if self.is_held_back() {
            return;
        }
        while let Some(due) = self.next_due {
            let intended = self.instant(due);
            if intended > now || self.stage != Stage::Sending {
                return;
            }
            self.next_due = self.schedule.next();
            let noticed = clock::now();
            let phase = &self.job.plan.phases[due.phase as usize];
            // Gaps are held against one rate.
            if phase.kind.is_measured() && !self.schedule.is_sloped(due.phase) {
                let threads = f64::from(self.share.threads);
                self.gaps.note(due.phase, noticed, || phase.rate_hz.unwrap_or(0.0) / threads);
            }
            let kind = due.kind.unwrap_or_else(|| self.job.requests.mix.draw(&mut self.random));
            self.count(due.phase, kind, |counts| counts.scheduled += 1);
            self.offer(Waiting { intended, noticed, phase: due.phase, kind, user: NOBODY });
        }
        if self.users.is_some() {
            self.notice_users(now);
        }
    }

    /// Sends a probe if one is due; what the plan would send instead is not sent any more.
    #[cold]
    pub(super) fn probe(&mut self, now: MonoNs) {
        if !self.is_held_back() {
            self.give_up_backlog(now);
        }
        if self.stage != Stage::Sending || self.next_probe.is_some_and(|at| now < at) {
            return;
        }
        self.next_probe = Some(MonoNs(now.0 + PROBE_INTERVAL_NS * u64::from(self.share.threads)));
        if self.quota == 0 {
            return;
        }
        let Some(slot) = self.idle.pop_front().or_else(|| self.vacant.pop_front()) else { return };
        self.quota -= 1;
        let kind = self.job.requests.mix.draw(&mut self.random);
        let phase = self.phase;
        self.count(phase, kind, |counts| counts.scheduled += 1);
        self.begin_request(slot, Waiting { intended: now, noticed: now, phase, kind, user: NOBODY });
    }

    /// Gives an arrival a connection, or lets it wait.
    pub(super) fn offer(&mut self, arrival: Waiting) {
        if let Some(slot) = self.idle.pop_front().or_else(|| self.vacant.pop_front()) {
            self.begin_request(slot, arrival);
        } else if self.backlog.len() < MAX_BACKLOG_COUNT {
            self.backlog.push_back(arrival);
            self.backlog_max = self.backlog_max.max(self.backlog.len() as u64);
        } else {
            // It would have waited longer than its deadline.
            let total_ns = self.job.plan.deadlines.total.0;
            self.never_send(arrival, MonoNs(arrival.intended.0 + total_ns));
        }
    }

    /// Starts the clients of a closed process; connections of an open one are free already.
    pub(super) fn start_clients(&mut self, now: MonoNs) {
        if !self.is_closed_loop() {
            return;
        }
        self.idle.clear();
        self.vacant.clear();
        self.ready.clear();
        self.delayed.clear();
        for slot in 0..self.connections.len() as Slot {
            if self.leaves.is_empty() {
                self.continue_client(slot, now);
            } else {
                self.await_client(slot, self.begin);
            }
        }
    }

    /// The client of a connection, where they come and go.
    fn client(&self, slot: Slot) -> u64 {
        u64::from(slot / self.job.plan.streams()) * u64::from(self.share.threads)
            + u64::from(self.share.thread)
    }

    /// A client sends nothing until its next begin, if there is one.
    fn await_client(&mut self, slot: Slot, from: MonoNs) {
        match self.job.client_turn_ns(self.client(slot), Turn::Begins, from.since(self.begin)) {
            None => self.rest(slot),
            Some(offset_ns) => {
                let at = MonoNs(self.begin.0 + offset_ns);
                let place = self.starting.partition_point(|(known, _)| *known <= at);
                self.starting.insert(place, (at, slot));
            }
        }
    }

    /// A client begins, and it is known when it leaves.
    fn begin_client(&mut self, slot: Slot, at: MonoNs) {
        let end_ns = self.job.client_turn_ns(self.client(slot), Turn::Leaves, at.since(self.begin));
        self.leaves[slot as usize] = MonoNs(end_ns.map_or(u64::MAX, |end_ns| self.begin.0 + end_ns));
        self.ready.push_back(slot);
    }

    /// A client that has nothing under way leaves, and with it its connection.
    fn leave(&mut self, slot: Slot, now: MonoNs) {
        self.drop_connection(slot);
        self.await_client(slot, now);
    }

    /// A connection is free: it takes the next request of its client, or the longest waiting arrival, or none.
    #[inline]
    pub(super) fn release(&mut self, slot: Slot, now: MonoNs) {
        if self.stage != Stage::Sending || self.is_held_back() {
            return self.rest(slot);
        }
        if self.is_closed_loop() {
            self.continue_client(slot, now);
        } else if let Some(arrival) = self.backlog.pop_front() {
            self.begin_request(slot, arrival);
        } else {
            self.rest(slot);
        }
    }

    fn rest(&mut self, slot: Slot) {
        match self.connections[slot as usize].state {
            State::Idle => self.idle.push_back(slot),
            State::Closed | State::Tainted => self.vacant.push_back(slot),
            State::Dialing | State::DialingFor | State::Sending | State::Waiting => {}
        }
    }

    #[inline]
    fn continue_client(&mut self, slot: Slot, now: MonoNs) {
        // A cut that is due changes the phase at the next turn; after the last phase nothing may begin before it.
        let is_over = self.is_last_phase() && self.phase_end().is_some_and(|end| now >= end);
        if self.quota == 0 || is_over {
            return self.rest(slot);
        }
        if self.leaves.get(slot as usize).is_some_and(|leaves| *leaves <= now) {
            return self.leave(slot, now);
        }
        self.quota -= 1;
        let kind = self.job.requests.mix.draw(&mut self.random);
        self.count(self.phase, kind, |counts| counts.scheduled += 1);
        self.begin_request(
            slot,
            Waiting { intended: now, noticed: now, phase: self.phase, kind, user: NOBODY },
        );
    }

    fn is_last_phase(&self) -> bool {
        self.phase as usize + 1 >= self.job.plan.phases.len()
    }

    #[inline]
    fn begin_request(&mut self, slot: Slot, arrival: Waiting) {
        let Waiting { intended, noticed, phase, kind, user } = arrival;
        self.count(phase, kind, |counts| counts.sent += 1);
        self.in_flight += 1;
        self.totals.set(slot, MonoNs(intended.0 + self.job.plan.deadlines.total.0));
        let connection = &mut self.connections[slot as usize];
        connection.request = Some(Request { intended, noticed, sent: None, phase, kind, user });
        if self.values.is_some() {
            self.draw_values(slot, kind, user);
        }
        match self.connections[slot as usize].state {
            State::Idle => self.write(slot),
            State::Closed => self.dial(slot, clock::now()),
            State::Dialing => self.connections[slot as usize].state = State::DialingFor,
            State::Tainted => self.fail_tainted(slot, phase),
            State::DialingFor | State::Sending | State::Waiting => {
                unreachable!("a free connection has no request")
            }
        }
    }

    /// Uses again the connections whose last request failed.
    pub(super) fn take_up(&mut self, now: MonoNs) {
        while let Some((_, slot)) = self.delayed.pop_front_if(|(at, _)| *at <= now) {
            self.ready.push_back(slot);
        }
        while let Some((at, slot)) = self.starting.pop_front_if(|(at, _)| *at <= now) {
            self.begin_client(slot, at);
        }
        for _ in 0..self.ready.len() {
            if let Some(slot) = self.ready.pop_front() {
                self.release(slot, now);
            }
        }
    }

    /// Uses a connection again after a while.
    pub(super) fn delay(&mut self, slot: Slot, now: MonoNs) {
        self.delayed.push_back((MonoNs(now.0 + REDIAL_DELAY_NS), slot));
    }

    /// Whatever waits for a connection will not be sent any more.
    pub(super) fn give_up_backlog(&mut self, now: MonoNs) {
        while let Some(arrival) = self.backlog.pop_front() {
            self.never_send(arrival, now);
        }
    }

    /// Gives up the arrivals that waited for a connection until their deadline.
    pub(super) fn expire_backlog(&mut self, now: MonoNs) {
        let total_ns = self.job.plan.deadlines.total.0;
        while let Some(arrival) = self.backlog.pop_front_if(|arrival| arrival.intended.0 + total_ns <= now.0)
        {
            self.never_send(arrival, now);
        }
    }

    fn never_send(&mut self, arrival: Waiting, now: MonoNs) {
        self.count(arrival.phase, arrival.kind, |counts| counts.unsent += 1);
        let waited_ns = now.since(arrival.intended);
        let tally = self.tallies.of(arrival.phase);
        tally.record_response_bound(waited_ns);
        if let Some(operation) = self.job.requests.operation(arrival.kind) {
            tally.operation(operation).record_bound(waited_ns);
        }
        self.user_goes_on(arrival.user, Ended::Badly, now, now);
    }

    /// Counts a request in its phase and under its operation.
    #[inline]
    pub(super) fn count(&mut self, phase: u32, kind: Kind, change: impl Fn(&mut Counts)) {
        let tally = self.tallies.of(phase);
        change(&mut tally.counts);
        if let Some(operation) = self.job.requests.operation(kind) {
            change(&mut tally.operation(operation).counts);
        }
    }
}
