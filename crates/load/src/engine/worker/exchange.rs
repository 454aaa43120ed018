//! One exchange on a connection: dial, write, read.

use super::Worker;
use crate::carrier::{Carrier, News};
use crate::clock;
use crate::engine::connection::{Connection, Reader, State};
use crate::failure::{self, Detail, Fault};
use crate::protocol::{Progress, Response};
use crate::transport::{Completion, Handshake, Message, Send, Slot, Submitted};
use rustix::io::Errno;
use sysdyno_record::load::{FailureClass, LatencyKind};
use sysdyno_record::units::MonoNs;

impl<C: Carrier> Worker<'_, C> {
    /// Handles what is new on a connection.
    #[inline]
    pub(super) fn handle(&mut self, slot: Slot, news: News, now: MonoNs) {
        match news {
            News::Transport(completion) => self.complete(slot, completion, now),
            News::Joined => self.use_opened(slot, now),
            News::Began(status) => self.began(slot, status, now),
            News::Responded(response, length) => self.respond(slot, response, length, now),
        }
    }

    #[inline]
    fn complete(&mut self, slot: Slot, completion: Completion, now: MonoNs) {
        match completion {
            Completion::Received(length) => self.receive(slot, length, now),
            Completion::Connected => self.connected(slot, now),
            Completion::Reached => self.reached(slot, now),
            Completion::Secured(handshake) => self.secured(slot, handshake, now),
            Completion::Refused(fault) => self.refused(slot, fault, now),
            Completion::Cut => self.cut(slot, now),
            Completion::Writable => self.write_on(slot),
            Completion::Sent => self.written(slot, now),
            Completion::Ended => self.ended(slot, now),
            Completion::Failed(errno) => self.broken(slot, errno, now),
            Completion::SendFailed(errno) => self.send_failed(slot, errno, now),
        }
    }

    /// Opens a socket for a connection that has none.
    pub(super) fn dial(&mut self, slot: Slot, now: MonoNs) {
        let connection = &mut self.pool[slot];
        let has_request = connection.request.is_some();
        connection.state = if has_request { State::DialingFor } else { State::Dialing };
        (connection.dialed, connection.reached, connection.requests_sent) = (now, None, 0);
        match self.carrier.connect(slot) {
            Submitted::Pending => self.pool.timeouts.begin_connect(slot, now),
            Submitted::Complete => self.connected(slot, clock::now()),
            Submitted::Reached => self.reached(slot, clock::now()),
            Submitted::Joined => self.use_opened(slot, now),
            Submitted::Failed(errno) => self.dial_failed(slot, errno, now),
        }
    }

    fn connected(&mut self, slot: Slot, now: MonoNs) {
        self.count_opened(slot, now);
        self.use_opened(slot, now);
    }

    /// The transport is there; the handshake may take as long again as the connecting.
    fn reached(&mut self, slot: Slot, now: MonoNs) {
        self.count_opened(slot, now);
        self.pool[slot].reached = Some(now);
        self.pool.timeouts.begin_connect(slot, now);
    }

    fn secured(&mut self, slot: Slot, handshake: Handshake, now: MonoNs) {
        let connection = &self.pool[slot];
        let begin = connection.reached.unwrap_or(now);
        let phase = connection.request.map_or(self.phases.current, |request| request.phase);
        let tally = self.windows.of(phase);
        match handshake {
            Handshake::Full => tally.handshakes.full += 1,
            Handshake::Resumed => tally.handshakes.resumed += 1,
        }
        tally.record(LatencyKind::Handshake, now.since(begin));
        self.use_opened(slot, now);
    }

    fn count_opened(&mut self, slot: Slot, now: MonoNs) {
        let connection = &self.pool[slot];
        let phase = connection.request.map_or(self.phases.current, |request| request.phase);
        let tally = self.windows.of(phase);
        tally.connections_opened += 1;
        tally.record(LatencyKind::Connect, now.since(connection.dialed));
    }

    fn use_opened(&mut self, slot: Slot, now: MonoNs) {
        if self.pool.open(slot) { self.write(slot) } else { self.release(slot, now) }
    }

    /// Puts the request of a connection into its socket.
    #[inline]
    pub(super) fn write(&mut self, slot: Slot) {
        let now = clock::now();
        let connection = &mut self.pool[slot];
        connection.requests_sent += 1;
        connection.send_offset = 0;
        match self.put(slot) {
            Send::Complete => self.pool[slot].state = State::Waiting,
            Send::Partial(offset) => {
                let connection = &mut self.pool[slot];
                connection.state = State::Sending;
                connection.send_offset = offset;
            }
            Send::Pending => self.pool[slot].state = State::Sending,
            Send::Failed(errno) => return self.write_failed(slot, errno, now),
            Send::Refused(class) => return self.fail(slot, class, now),
        }
        let connection = &mut self.pool[slot];
        let Some(request) = &mut connection.request else { return };
        request.sent = Some(now);
        self.pool.timeouts.renew_idle(slot, now);
    }

    /// Makes the reader of a connection ready for a response, and sends the request that it is to.
    #[inline]
    fn put(&mut self, slot: Slot) -> Send {
        let connection = &mut self.pool[slot];
        let message = message(connection, self.job.requests_per_connection);
        match &mut connection.reader {
            Reader::Http1(parser) => parser.reset(),
            Reader::Http2(status) => *status = None,
            Reader::Memcached(decoder) => {
                self.content.ask(decoder, self.carrier.outgoing(slot));
                return self.carrier.flush(slot, message);
            }
        }
        if self.content.drawn(slot).is_some() {
            self.content.write(slot, connection, self.carrier.outgoing(slot));
            return self.carrier.flush(slot, message);
        }
        self.carrier.send(slot, message, 0)
    }

    /// The server may have closed a kept connection while it was free; then the request goes on a fresh one.
    fn write_failed(&mut self, slot: Slot, errno: Errno, now: MonoNs) {
        let connection = &mut self.pool[slot];
        let is_reused = connection.requests_sent > 1;
        // Where there is no socket any more, nothing was sent.
        let is_gone = errno == Errno::NOTCONN;
        if is_gone || is_reused && matches!(errno, Errno::PIPE | Errno::CONNRESET) {
            let phase = connection.request.map_or(self.phases.current, |request| request.phase);
            self.windows.of(phase).connections_closed_idle += 1;
            self.carrier.close(slot);
            return self.dial(slot, now);
        }
        self.fail(slot, failure::of_exchange(errno), now);
    }

    /// A send that was under way failed as a whole.
    fn send_failed(&mut self, slot: Slot, errno: Errno, now: MonoNs) {
        let connection = &mut self.pool[slot];
        let is_open = matches!(connection.state, State::Sending | State::Waiting);
        if !is_open || connection.reader.has_bytes() {
            return;
        }
        if let Some(request) = &mut connection.request {
            request.sent = None;
        }
        self.write_failed(slot, errno, now);
    }

    /// Sends the rest of a request that did not fit into the socket.
    fn write_on(&mut self, slot: Slot) {
        let now = clock::now();
        let connection = &mut self.pool[slot];
        if connection.state != State::Sending {
            return;
        }
        let message = message(connection, self.job.requests_per_connection);
        match self.carrier.send(slot, message, connection.send_offset) {
            Send::Complete => connection.state = State::Waiting,
            Send::Partial(offset) => connection.send_offset = offset,
            Send::Pending => {}
            Send::Failed(errno) => return self.fail(slot, failure::of_exchange(errno), now),
            Send::Refused(class) => return self.fail(slot, class, now),
        }
        self.pool.timeouts.renew_idle(slot, now);
    }

    /// A send that was under way is over.
    fn written(&mut self, slot: Slot, now: MonoNs) {
        let connection = &mut self.pool[slot];
        if connection.state != State::Sending {
            return;
        }
        connection.state = State::Waiting;
        self.pool.timeouts.renew_idle(slot, now);
    }

    #[inline]
    fn receive(&mut self, slot: Slot, length: usize, now: MonoNs) {
        let connection = &mut self.pool[slot];
        let Some(request) = connection.request.filter(|request| request.sent.is_some()) else {
            return self.taint(slot, length);
        };
        let sent = request.sent.unwrap_or(now);
        let at = self.arrival(sent, now);
        let connection = &mut self.pool[slot];
        let tally = self.windows.count_received(&request, length as u64);
        if !connection.reader.has_bytes() {
            tally.record(LatencyKind::FirstByte, at.since(sent));
        }
        let progress = connection.reader.feed(self.carrier.received(length), self.job, request.kind);
        match progress {
            Progress::Done(response) => {
                if let Some(class) = response.objection {
                    self.note_answer(request.phase, class, length);
                }
                self.finish(slot, response, at, now);
            }
            Progress::Failed(class) => {
                let is_first = connection.requests_sent <= 1;
                let class = if is_first { class } else { behind_others(class) };
                self.note_answer(request.phase, class, length);
                self.fail(slot, class, now);
            }
            Progress::More => self.pool.timeouts.renew_idle(slot, now),
        }
    }

    /// The instant at which the bytes arrived that the back end tells of, for a request that was sent at `sent`.
    #[inline]
    fn arrival(&self, sent: MonoNs, now: MonoNs) -> MonoNs {
        match self.carrier.stamp_ns() {
            0 => now,
            stamp_ns => self.wall_offset.to_mono(stamp_ns).clamp(sent, now.max(sent)),
        }
    }

    /// The head of a response is there.
    fn began(&mut self, slot: Slot, status: u16, now: MonoNs) {
        let connection = &mut self.pool[slot];
        connection.reader = Reader::Http2(Some(status));
        let Some(request) = connection.request else { return };
        let Some(sent) = request.sent else { return };
        let at = self.arrival(sent, now);
        self.windows.of(request.phase).record(LatencyKind::FirstByte, at.since(sent));
        self.pool.timeouts.renew_idle(slot, now);
    }

    /// A response is complete.
    fn respond(&mut self, slot: Slot, response: Response, length: u64, now: MonoNs) {
        let Some(request) = self.pool[slot].request else { return };
        let at = self.arrival(request.sent.unwrap_or(now), now);
        self.windows.count_received(&request, length);
        self.finish(slot, response, at, now);
    }

    /// Keeps what the server answered with the first failure of a class that it explains.
    #[cold]
    fn note_answer(&mut self, phase: u32, class: FailureClass, length: usize) {
        let is_explained = matches!(
            class,
            FailureClass::NotHttp
                | FailureClass::NotMemcached
                | FailureClass::SpeaksTls
                | FailureClass::InvalidStatus
                | FailureClass::ServerError
        );
        if is_explained {
            self.note(phase, Fault::with(class, Detail::Answered(length)));
        }
    }

    /// Keeps what is known of the first failure of a class.
    #[cold]
    fn note(&mut self, phase: u32, fault: Fault) {
        let told = &mut self.windows.of(phase).told;
        if told.of(fault.class).is_none()
            && let Some(clause) = fault.detail.clause(self.carrier.received(received_bytes(fault)))
        {
            told.note(fault.class, || clause);
        }
    }

    /// The server sent something on a connection without a request: a greeting of another service, if it is the first thing.
    #[cold]
    fn taint(&mut self, slot: Slot, length: usize) {
        let connection = &mut self.pool[slot];
        let arrived = self.carrier.received(length);
        let foreign = connection.reader.foreign(arrived).filter(|_| connection.requests_sent == 0);
        connection.state = State::Tainted;
        let class = foreign.unwrap_or(FailureClass::Desync);
        connection.taint = Some(Box::new((class, failure::answer(arrived))));
        self.carrier.close(slot);
    }

    /// The request of a connection that the server has spoiled learns of it.
    #[cold]
    pub(super) fn fail_tainted(&mut self, slot: Slot, phase: u32) {
        let connection = &mut self.pool[slot];
        connection.state = State::Closed;
        let taint = connection.taint.take();
        let (class, answer) = taint.map_or((FailureClass::Desync, None), |taint| *taint);
        if let Some(answer) = answer {
            self.windows.of(phase).told.note(class, || answer);
        }
        self.fail(slot, class, clock::now());
    }

    fn ended(&mut self, slot: Slot, now: MonoNs) {
        let connection = &mut self.pool[slot];
        let Some(request) = connection.request else {
            return self.closed_while_free(slot);
        };
        match connection.reader.end(self.job, request.kind) {
            Progress::Done(response) => self.finish(slot, response, now, now),
            Progress::Failed(class) => self.fail(slot, class, now),
            Progress::More => self.fail(slot, FailureClass::EofBeforeHead, now),
        }
    }

    fn closed_while_free(&mut self, slot: Slot) {
        self.drop_connection(slot);
        self.windows.of(self.phases.current).connections_closed_idle += 1;
    }

    fn broken(&mut self, slot: Slot, errno: Errno, now: MonoNs) {
        match self.pool[slot].state {
            State::Dialing | State::DialingFor => self.dial_failed(slot, errno, now),
            State::Sending | State::Waiting => self.fail(slot, failure::of_exchange(errno), now),
            State::Idle => self.closed_while_free(slot),
            State::Closed | State::Tainted => {}
        }
    }

    /// The protocol below the requests is broken.
    fn refused(&mut self, slot: Slot, fault: Fault, now: MonoNs) {
        if let Some(request) = self.pool[slot].request {
            self.note(request.phase, fault);
        }
        match self.pool[slot].state {
            State::Dialing | State::DialingFor => self.connect_failed(slot, fault.class, now),
            State::Sending | State::Waiting => self.fail(slot, fault.class, now),
            State::Idle => self.closed_while_free(slot),
            State::Closed | State::Tainted => {}
        }
    }

    /// The end of the connection, which anybody on the way could have made: what it ends is not complete.
    fn cut(&mut self, slot: Slot, now: MonoNs) {
        let connection = &mut self.pool[slot];
        let Some(request) = connection.request else {
            return self.closed_while_free(slot);
        };
        let class = match connection.reader.end(self.job, request.kind) {
            Progress::Failed(class) => class,
            Progress::Done(_) => FailureClass::BodyTruncated,
            Progress::More => FailureClass::EofBeforeHead,
        };
        self.fail(slot, class, now);
    }

    /// A connection could not be established.
    pub(super) fn dial_failed(&mut self, slot: Slot, errno: Errno, now: MonoNs) {
        self.connect_failed(slot, failure::of_connect(errno), now);
    }

    /// Counts a failed connection and stops the trial if there are too many in a row.
    pub(super) fn connect_failed(&mut self, slot: Slot, class: FailureClass, now: MonoNs) {
        let failed_count = self.pool.count_failed_dial(slot);
        let limit = self.job.plan.hard_stops.connect_failures_in_a_row;
        let is_sending = self.phases.is_sending();
        if is_sending && limit.is_some_and(|limit| failed_count >= limit) {
            let text = format!("{failed_count} connections in a row failed: {}", class.name());
            // Where nobody has ever listened, there is nothing to explain.
            match self.pool.has_connected {
                true => self.job.control.give_up(text),
                false => self.job.control.hard_stop(text),
            }
        }
        if self.pool[slot].request.is_some() {
            return self.fail(slot, class, now);
        }
        self.drop_connection(slot);
        if is_sending { self.pool.ready.push_back(slot) } else { self.pool.rest(slot) }
    }
}

/// How many of the received bytes a failure refers to.
fn received_bytes(fault: Fault) -> usize {
    if let Detail::Answered(length) = fault.detail { length } else { 0 }
}

/// The class of what cannot be a response, behind other responses on its connection: the server speaks the protocol.
fn behind_others(class: FailureClass) -> FailureClass {
    match class {
        FailureClass::NotHttp | FailureClass::NotMemcached | FailureClass::SpeaksTls => {
            FailureClass::Protocol
        }
        other => other,
    }
}

/// The message of the present request on a connection.
#[inline]
fn message(connection: &Connection, requests_per_connection: u32) -> Message {
    let kind = connection.request.map_or(0, |request| request.kind);
    Message::new(kind, connection.requests_sent >= requests_per_connection)
}
