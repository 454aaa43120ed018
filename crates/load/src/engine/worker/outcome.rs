//! How a request ends: answered, failed, timed out, or still open at the end. Exactly one of them, always.

use super::users::RequestEnd;
use super::{Worker, values};
use crate::carrier::Carrier;
use crate::engine::connection::{Reader, Request, State};
use crate::protocol::Response;
use crate::protocol::http1::kept::Kept;
use crate::transport::Slot;
use sysdyno_record::load::FailureClass;
use sysdyno_record::units::MonoNs;

impl<C: Carrier> Worker<'_, C> {
    /// A complete response arrived `at` this instant, and was seen `now`.
    #[inline]
    pub(super) fn finish(&mut self, slot: Slot, response: Response, at: MonoNs, now: MonoNs) {
        let Some(request) = self.pool.take_request(slot) else { return };
        let objection = response.objection.or_else(|| self.object(slot, &request, &response));
        self.windows.count_sent(&request);
        let tally = self.windows.of(request.phase);
        tally.completed += 1;
        tally.count_status(response.status);
        if let Reader::Memcached(decoder) = &self.pool[slot].reader {
            tally.cache.add(&decoder.counts());
        }
        tally.unread_ns += now.since(at);
        match objection {
            None => self.windows.count_ok(&request, response.status, at),
            Some(class) => {
                self.windows.count_failure(&request, class, at);
                self.note_wrong(slot, &request, class, &response);
            }
        }
        if self.content.users.is_some() {
            let ended = if objection.is_none() { RequestEnd::Well } else { RequestEnd::Badly };
            self.user_goes_on(request.user, ended, at, now);
        }
        let connection = &self.pool[slot];
        // A response to a request that is not all sent leaves a connection in the middle of it.
        let is_whole = connection.state == State::Waiting;
        let can_stay =
            is_whole && response.keep_alive && connection.requests_sent < self.job.requests_per_connection;
        if can_stay && !self.pool.churn.takes(now) {
            self.pool[slot].state = State::Idle;
            return self.release(slot, now);
        }
        self.drop_connection(slot);
        if can_stay && self.is_at_rest() { self.dial(slot, now) } else { self.release(slot, now) }
    }

    /// What is wrong with a response whose rules have no objection.
    #[inline]
    fn object(&mut self, slot: Slot, request: &Request, response: &Response) -> Option<FailureClass> {
        let Worker { carrier, pool, content, .. } = self;
        let kept = || values::kept(carrier, &pool[slot].reader, slot);
        // Requests that differ from each other are answered differently.
        let compared = match content.drawn(slot) {
            Some(_) => None,
            None => self.job.compare_body(request.kind, response.body, || body(kept())),
        };
        if content.users.is_none() || compared.is_some() {
            return compared;
        }
        let kept = kept();
        content.learn_version(request, kept, response.status);
        content.take_values(slot, request, kept)
    }

    /// Keeps what a wrong response said.
    #[cold]
    fn note_wrong(&mut self, slot: Slot, request: &Request, class: FailureClass, response: &Response) {
        if matches!(self.pool[slot].reader, Reader::Memcached(_)) {
            return;
        }
        self.job.requests.rules(request.kind).watch.note_wrong();
        let kept = values::kept(&self.carrier, &self.pool[slot].reader, slot);
        self.windows.of(request.phase).answers.note(class, response, body(kept));
    }

    /// Whether an open process goes on and nothing waits for a connection.
    fn is_at_rest(&self) -> bool {
        self.job.is_open && self.phases.is_sending() && self.arrivals.backlog.is_empty()
    }

    /// A request failed; its connection is lost.
    pub(super) fn fail(&mut self, slot: Slot, class: FailureClass, now: MonoNs) {
        self.drop_connection(slot);
        let Some(request) = self.pool.take_request(slot) else { return };
        let status = self.pool[slot].reader.status().filter(|_| request.sent.is_some());
        self.windows.count_sent(&request);
        self.windows.count_failure(&request, class, now);
        if let Some(status) = status {
            let tally = self.windows.of(request.phase);
            tally.completed += 1;
            tally.count_status(status);
        }
        self.user_goes_on(request.user, RequestEnd::Badly, now, now);
        // What a server sends unasked fails one request, as what it answers does.
        let is_of_connecting = request.sent.is_none() && !is_unasked(class);
        if is_of_connecting {
            self.pool.delay(slot, now);
        } else {
            self.pool.ready.push_back(slot);
        }
    }

    /// The total deadline of a request passed.
    ///
    /// A connection that is being made for it is made for the next one: where requests wait for connections nearly until
    /// their deadlines, none would ever be there otherwise.
    fn time_out(&mut self, slot: Slot, now: MonoNs) {
        match &mut self.pool[slot].state {
            state @ State::DialingFor => *state = State::Dialing,
            _ => self.drop_connection(slot),
        }
        let Some(request) = self.pool.take_request(slot) else { return };
        self.windows.count(request.phase, request.kind, |counts| counts.timed_out += 1);
        self.windows.record_bounds(&request, now);
        self.user_goes_on(request.user, RequestEnd::Badly, now, now);
        self.pool.ready.push_back(slot);
    }

    /// Ends everything that has a deadline before `now`.
    pub(super) fn expire(&mut self, now: MonoNs) {
        while let Some(slot) = self.pool.timeouts.totals.expired(now) {
            self.time_out(slot, now);
        }
        while let Some(slot) = self.pool.timeouts.connects.expired(now) {
            let is_reached = self.pool[slot].reached.is_some();
            let class = if is_reached { FailureClass::TlsTimeout } else { FailureClass::ConnectTimeout };
            self.connect_failed(slot, class, now);
        }
        while let Some(slot) = self.pool.timeouts.idles.expired(now) {
            let connection = &self.pool[slot];
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
        for slot in self.pool.slots() {
            self.drop_connection(slot);
            if let Some(request) = self.pool.take_request(slot) {
                self.windows.count(request.phase, request.kind, |counts| counts.in_flight += 1);
                self.windows.record_bounds(&request, now);
            }
        }
        self.end_users(now);
    }

    pub(super) fn drop_connection(&mut self, slot: Slot) {
        self.carrier.close(slot);
        self.pool.close(slot);
    }
}

/// The beginning of the body of a response; empty where it was not kept.
fn body(kept: Option<&Kept>) -> &[u8] {
    kept.map_or(&[], |kept| kept.body.as_slice())
}

/// Whether a request fails in this class without being sent since its connection was spoiled before.
fn is_unasked(class: FailureClass) -> bool {
    matches!(
        class,
        FailureClass::Desync | FailureClass::NotHttp | FailureClass::NotMemcached | FailureClass::SpeaksTls
    )
}
