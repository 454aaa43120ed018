//! How a request ends: answered, failed, timed out, or still open at the end. Exactly one of them, always.

use super::super::connection::{Reader, Request, State};
use super::users::Ended;
use super::{Stage, Worker, values};
use crate::http1::response::Response;
use crate::io::{Io, Slot};
use sysdyno_record::load::{FailureClass, LatencyKind};
use sysdyno_record::units::MonoNs;

impl<I: Io> Worker<'_, I> {
    /// A complete response arrived `at` this instant, and was seen `now`.
    #[inline]
    pub(super) fn finish(&mut self, slot: Slot, response: Response, at: MonoNs, now: MonoNs) {
        let Some(request) = self.take_request(slot) else { return };
        let objection = response.objection.or_else(|| self.object(slot, &request, &response));
        self.note_sent(&request);
        let service_ns = at.since(request.sent.unwrap_or(at));
        let tally = self.tallies.of(request.phase);
        tally.completed += 1;
        tally.count_status(response.status);
        if let Reader::Memcached(decoder) = &self.connections[slot as usize].reader {
            tally.cache.add(&decoder.counts());
        }
        tally.unread_ns += now.since(at);
        match objection {
            None => {
                tally.counts.ok += 1;
                tally.record(LatencyKind::Service, service_ns);
                let mut felt_ns = service_ns;
                if self.job.is_open {
                    felt_ns = at.since(request.intended);
                    tally.record(LatencyKind::Response, felt_ns);
                }
                if let Some(operation) = self.job.requests.operation(request.kind) {
                    tally.operation(operation).record_ok(felt_ns, response.status);
                }
            }
            Some(class) => {
                self.count_failure(&request, class, at);
                self.note_wrong(slot, &request, class, &response);
            }
        }
        if self.users.is_some() {
            let ended = if objection.is_none() { Ended::Well } else { Ended::Badly };
            self.user_goes_on(request.user, ended, at, now);
        }
        let connection = &mut self.connections[slot as usize];
        // A response to a request that is not all sent leaves a connection in the middle of it.
        let is_whole = connection.state == State::Waiting;
        let can_stay =
            is_whole && response.keep_alive && connection.requests_sent < self.job.requests_per_connection;
        if can_stay && !self.churn.takes(now) {
            connection.state = State::Idle;
            return self.release(slot, now);
        }
        connection.state = State::Closed;
        self.io.close(slot);
        if can_stay && self.is_at_rest() { self.dial(slot, now) } else { self.release(slot, now) }
    }

    /// What is wrong with a response whose rules have no objection.
    #[inline]
    fn object(&mut self, slot: Slot, request: &Request, response: &Response) -> Option<FailureClass> {
        // Requests that differ from each other are answered differently.
        let is_made_up = self.values.as_ref().is_some_and(|values| values.is_made_up(slot));
        let compared = if is_made_up {
            None
        } else {
            let kept = || self.kept_body(slot);
            self.job.compare_body(request.kind, response.body, kept)
        };
        if self.users.is_none() || compared.is_some() {
            return compared;
        }
        self.learn_version(slot, request, response.status);
        self.take_values(slot, request)
    }

    /// The beginning of the body of the response that has just come; empty where it was not kept.
    fn kept_body(&self, slot: Slot) -> &[u8] {
        let kept = values::kept(&self.io, &self.connections[slot as usize].reader, slot);
        kept.map_or(&[], |kept| kept.body.as_slice())
    }

    /// Keeps what a wrong response said.
    #[cold]
    fn note_wrong(&mut self, slot: Slot, request: &Request, class: FailureClass, response: &Response) {
        if matches!(self.connections[slot as usize].reader, Reader::Memcached(_)) {
            return;
        }
        self.job.requests.rules(request.kind).watch.note_wrong();
        let Worker { io, connections, tallies, .. } = self;
        let kept = values::kept(io, &connections[slot as usize].reader, slot);
        let body = kept.map_or(&[][..], |kept| kept.body.as_slice());
        tallies.of(request.phase).answers.note(class, response, body);
    }

    /// Whether an open process goes on and nothing waits for a connection.
    fn is_at_rest(&self) -> bool {
        self.job.is_open && self.stage == Stage::Sending && self.backlog.is_empty()
    }

    /// A request failed; its connection is lost.
    pub(super) fn fail(&mut self, slot: Slot, class: FailureClass, now: MonoNs) {
        self.drop_connection(slot);
        let Some(request) = self.take_request(slot) else { return };
        let status = self.connections[slot as usize].reader.status().filter(|_| request.sent.is_some());
        self.note_sent(&request);
        self.count_failure(&request, class, now);
        if let Some(status) = status {
            let tally = self.tallies.of(request.phase);
            tally.completed += 1;
            tally.count_status(status);
        }
        self.user_goes_on(request.user, Ended::Badly, now, now);
        // What a server sends unasked fails one request, as what it answers does.
        let is_of_connecting = request.sent.is_none() && !is_unasked(class);
        if is_of_connecting {
            self.delay(slot, now);
        } else {
            self.ready.push_back(slot);
        }
    }

    /// The total deadline of a request passed.
    ///
    /// A connection that is being made for it is made for the next one: where requests wait for connections nearly until
    /// their deadlines, none would ever be there otherwise.
    fn time_out(&mut self, slot: Slot, now: MonoNs) {
        match &mut self.connections[slot as usize].state {
            state @ State::DialingFor => *state = State::Dialing,
            _ => self.drop_connection(slot),
        }
        let Some(request) = self.take_request(slot) else { return };
        self.count(request.phase, request.kind, |counts| counts.timed_out += 1);
        self.record_bounds(request, now);
        self.user_goes_on(request.user, Ended::Badly, now, now);
        self.ready.push_back(slot);
    }

    /// Ends everything that has a deadline before `now`.
    pub(super) fn expire(&mut self, now: MonoNs) {
        while let Some(slot) = self.totals.expired(now) {
            self.time_out(slot, now);
        }
        while let Some(slot) = self.connects.expired(now) {
            let is_reached = self.connections[slot as usize].reached.is_some();
            let class = if is_reached { FailureClass::TlsTimeout } else { FailureClass::ConnectTimeout };
            self.connect_failed(slot, class, now);
        }
        while let Some(slot) = self.idles.expired(now) {
            let connection = &self.connections[slot as usize];
            let class = match (connection.state, connection.reader.has_head()) {
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
                self.count(request.phase, request.kind, |counts| counts.in_flight += 1);
                self.record_bounds(request, now);
            }
        }
        self.end_users(now);
    }

    /// Counts a request that reached its socket, and how late it did. This waits for the outcome because a back end
    /// may learn only then that a send failed.
    #[inline]
    fn note_sent(&mut self, request: &Request) {
        let Some(sent) = request.sent else { return };
        self.count(request.phase, request.kind, |counts| counts.written += 1);
        if self.job.is_open {
            let tally = self.tallies.of(request.phase);
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
        let service_ns = request.sent.map(|sent| now.since(sent));
        if let Some(service_ns) = service_ns {
            tally.record_service_bound(service_ns);
        }
        let felt_ns = if self.job.is_open { Some(now.since(request.intended)) } else { service_ns };
        if let (Some(operation), Some(felt_ns)) = (self.job.requests.operation(request.kind), felt_ns) {
            tally.operation(operation).record_bound(felt_ns);
        }
    }

    fn count_failure(&mut self, request: &Request, class: FailureClass, at: MonoNs) {
        let tally = self.tallies.of(request.phase);
        tally.counts.failed += 1;
        tally.failures[class as usize] += 1;
        tally.record(LatencyKind::Failure, at.since(request.intended));
        if let Some(operation) = self.job.requests.operation(request.kind) {
            tally.operation(operation).count_failure(class);
        }
    }

    pub(super) fn drop_connection(&mut self, slot: Slot) {
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

/// Whether a request fails in this class without being sent since its connection was spoiled before.
fn is_unasked(class: FailureClass) -> bool {
    matches!(
        class,
        FailureClass::Desync | FailureClass::NotHttp | FailureClass::NotMemcached | FailureClass::SpeaksTls
    )
}
