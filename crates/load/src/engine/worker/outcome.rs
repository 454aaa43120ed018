//! How a request ends: answered, failed, timed out, or still open at the end. Exactly one of them, always.

use super::super::connection::{Request, State};
use super::Worker;
use crate::http1::response::Response;
use crate::io::{Io, Slot};
use sysdyno_record::load::{FailureClass, LatencyKind};
use sysdyno_record::units::MonoNs;

impl<I: Io> Worker<'_, I> {
    /// A complete response arrived `at` this instant, and was seen `now`.
    #[inline]
    pub(super) fn finish(&mut self, slot: Slot, response: Response, at: MonoNs, now: MonoNs) {
        let Some(request) = self.take_request(slot) else { return };
        let objection = response.objection.or_else(|| self.job.compare_body(response.body));
        self.note_sent(&request);
        let tally = self.tallies.of(request.phase);
        tally.count_status(response.status);
        tally.unread_ns += now.since(at);
        match objection {
            None => {
                tally.counts.ok += 1;
                tally.record(LatencyKind::Service, at.since(request.sent.unwrap_or(at)));
                if self.job.is_open {
                    tally.record(LatencyKind::Response, at.since(request.intended));
                }
            }
            Some(class) => {
                tally.counts.failed += 1;
                tally.failures[class as usize] += 1;
                tally.record(LatencyKind::Failure, at.since(request.intended));
            }
        }
        let connection = &mut self.connections[slot as usize];
        // A response to a request that is not all sent leaves a connection in the middle of it.
        let is_whole = connection.state == State::Waiting;
        if is_whole && response.keep_alive && connection.requests_sent < self.job.requests_per_connection {
            connection.state = State::Idle;
        } else {
            connection.state = State::Closed;
            self.io.close(slot);
        }
        self.release(slot, now);
    }

    /// A request failed; its connection is lost.
    pub(super) fn fail(&mut self, slot: Slot, class: FailureClass, now: MonoNs) {
        self.drop_connection(slot);
        let Some(request) = self.take_request(slot) else { return };
        let status = self.connections[slot as usize].parser.status().filter(|_| request.sent.is_some());
        self.note_sent(&request);
        let tally = self.tallies.of(request.phase);
        tally.counts.failed += 1;
        tally.failures[class as usize] += 1;
        tally.record(LatencyKind::Failure, now.since(request.intended));
        status.inspect(|status| tally.count_status(*status));
        if request.sent.is_none() && class != FailureClass::Desync {
            self.delay(slot, now);
        } else {
            self.ready.push_back(slot);
        }
    }

    /// The total deadline of a request passed.
    fn time_out(&mut self, slot: Slot, now: MonoNs) {
        self.drop_connection(slot);
        let Some(request) = self.take_request(slot) else { return };
        self.tallies.of(request.phase).counts.timed_out += 1;
        self.record_bounds(request, now);
        self.ready.push_back(slot);
    }

    /// Ends everything that has a deadline before `now`.
    pub(super) fn expire(&mut self, now: MonoNs) {
        while let Some(slot) = self.totals.expired(now) {
            self.time_out(slot, now);
        }
        while let Some(slot) = self.connects.expired(now) {
            self.connect_failed(slot, FailureClass::ConnectTimeout, now);
        }
        while let Some(slot) = self.idles.expired(now) {
            let connection = &self.connections[slot as usize];
            let class = match (connection.state, connection.parser.has_head()) {
                (State::Sending, _) => FailureClass::WriteTimeout,
                (_, true) => FailureClass::BodyTimeout,
                (_, false) => FailureClass::HeadTimeout,
            };
            self.fail(slot, class, now);
        }
        self.expire_backlog(now);
    }

    /// The drain is over: what is open now stays open, as a lower bound.
    pub(super) fn close_all(&mut self, now: MonoNs) {
        for slot in 0..self.connections.len() as Slot {
            self.drop_connection(slot);
            if let Some(request) = self.take_request(slot) {
                self.tallies.of(request.phase).counts.in_flight += 1;
                self.record_bounds(request, now);
            }
        }
    }

    /// Counts a request that reached its socket, and how late it did. This waits for the outcome because a back end
    /// may learn only then that a send failed.
    #[inline]
    fn note_sent(&mut self, request: &Request) {
        let Some(sent) = request.sent else { return };
        let tally = self.tallies.of(request.phase);
        tally.counts.written += 1;
        if self.job.is_open {
            tally.record(LatencyKind::LoopSlip, request.noticed.since(request.intended));
            tally.record(LatencyKind::PoolSlip, sent.since(request.noticed));
            tally.record(LatencyKind::Slip, sent.since(request.intended));
        }
    }

    fn record_bounds(&mut self, request: Request, now: MonoNs) {
        self.note_sent(&request);
        let tally = self.tallies.of(request.phase);
        if self.job.is_open {
            tally.record_response_bound(now.since(request.intended));
        }
        if let Some(sent) = request.sent {
            tally.record_service_bound(now.since(sent));
        }
    }

    fn drop_connection(&mut self, slot: Slot) {
        self.connects.clear(slot);
        self.io.close(slot);
        self.connections[slot as usize].state = State::Closed;
    }

    /// Takes the request off a connection, with its deadlines.
    #[inline]
    fn take_request(&mut self, slot: Slot) -> Option<Request> {
        let request = self.connections[slot as usize].request.take()?;
        self.in_flight -= 1;
        self.totals.clear(slot);
        if self.job.has_idle_deadline {
            self.idles.clear(slot);
        }
        Some(request)
    }
}
