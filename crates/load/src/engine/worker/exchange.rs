//! One exchange on a connection: dial, write, read.

use super::super::connection::{Connection, Reader, State};
use super::Worker;
use crate::engine::clock;
use crate::failure::{self, Detail, Fault};
use crate::http1::Progress;
use crate::http1::response::Response;
use crate::io::{Completion, Handshake, Io, Message, Send, Slot, Submitted};
use rustix::io::Errno;
use sysdyno_record::load::{FailureClass, LatencyKind};
use sysdyno_record::units::MonoNs;

impl<I: Io> Worker<'_, I> {
    /// Handles what completed on a connection.
    #[inline]
    pub(super) fn handle(&mut self, slot: Slot, completion: Completion, now: MonoNs) {
        match completion {
            Completion::Received(length) => self.receive(slot, length, now),
            Completion::Connected => self.connected(slot, now),
            Completion::Reached => self.reached(slot, now),
            Completion::Joined => self.use_opened(slot, now),
            Completion::Began(status) => self.began(slot, status, now),
            Completion::Responded(response, length) => self.respond(slot, response, length, now),
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
        let connection = &mut self.connections[slot as usize];
        let has_request = connection.request.is_some();
        connection.state = if has_request { State::DialingFor } else { State::Dialing };
        connection.dialed = now;
        connection.reached = None;
        connection.requests_sent = 0;
        match self.io.connect(slot) {
            Submitted::Pending => {
                self.connects.set(slot, MonoNs(now.0 + self.job.plan.deadlines.connect.0));
            }
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
        self.connections[slot as usize].reached = Some(now);
        self.connects.set(slot, MonoNs(now.0 + self.job.plan.deadlines.connect.0));
    }

    fn secured(&mut self, slot: Slot, handshake: Handshake, now: MonoNs) {
        let connection = &self.connections[slot as usize];
        let begin = connection.reached.unwrap_or(now);
        let phase = connection.request.map_or(self.phase, |request| request.phase);
        let tally = self.tallies.of(phase);
        match handshake {
            Handshake::Full => tally.handshakes.full += 1,
            Handshake::Resumed => tally.handshakes.resumed += 1,
        }
        tally.record(LatencyKind::Handshake, now.since(begin));
        self.use_opened(slot, now);
    }

    fn count_opened(&mut self, slot: Slot, now: MonoNs) {
        let connection = &self.connections[slot as usize];
        let phase = connection.request.map_or(self.phase, |request| request.phase);
        let tally = self.tallies.of(phase);
        tally.connections_opened += 1;
        tally.record(LatencyKind::Connect, now.since(connection.dialed));
    }

    fn use_opened(&mut self, slot: Slot, now: MonoNs) {
        self.connects.clear(slot);
        (self.failed_dials_in_a_row, self.has_connected) = (0, true);
        let connection = &mut self.connections[slot as usize];
        let has_request = connection.state == State::DialingFor;
        connection.state = State::Idle;
        if has_request { self.write(slot) } else { self.release(slot, now) }
    }

    /// Puts the request of a connection into its socket.
    #[inline]
    pub(super) fn write(&mut self, slot: Slot) {
        let now = clock::now();
        let connection = &mut self.connections[slot as usize];
        connection.requests_sent += 1;
        connection.send_offset = 0;
        match self.put(slot) {
            Send::Complete => self.connections[slot as usize].state = State::Waiting,
            Send::Partial(offset) => {
                let connection = &mut self.connections[slot as usize];
                connection.state = State::Sending;
                connection.send_offset = offset;
            }
            Send::Pending => self.connections[slot as usize].state = State::Sending,
            Send::Failed(errno) => return self.write_failed(slot, errno, now),
            Send::Refused(class) => return self.fail(slot, class, now),
        }
        let connection = &mut self.connections[slot as usize];
        let Some(request) = &mut connection.request else { return };
        request.sent = Some(now);
        if self.job.has_idle_deadline {
            self.idles.set(slot, MonoNs(now.0 + self.job.plan.deadlines.idle.0));
        }
    }

    /// Makes the reader of a connection ready for a response, and sends the request that it is to.
    #[inline]
    fn put(&mut self, slot: Slot) -> Send {
        let connection = &mut self.connections[slot as usize];
        let message = message(connection, self.job.requests_per_connection);
        match &mut connection.reader {
            Reader::Http1(parser) => parser.reset(),
            Reader::Http2(status) => *status = None,
            Reader::Memcached(decoder) => {
                if let (Some(source), Some(memcached)) = (&mut self.source, &self.job.memcached) {
                    source.ask(&memcached.keys, decoder, self.io.outgoing(slot));
                }
                return self.io.flush_request(slot, message);
            }
        }
        if self.values.is_some()
            && let Some(sent) = self.put_made_up(slot, message)
        {
            return sent;
        }
        self.io.send(slot, message, 0)
    }

    /// The server may have closed a kept connection while it was free; then the request goes on a fresh one.
    fn write_failed(&mut self, slot: Slot, errno: Errno, now: MonoNs) {
        let connection = &mut self.connections[slot as usize];
        let is_reused = connection.requests_sent > 1;
        // Where there is no socket any more, nothing was sent.
        let is_gone = errno == Errno::NOTCONN;
        if is_gone || is_reused && matches!(errno, Errno::PIPE | Errno::CONNRESET) {
            let phase = connection.request.map_or(self.phase, |request| request.phase);
            self.tallies.of(phase).connections_closed_idle += 1;
            self.io.close(slot);
            return self.dial(slot, now);
        }
        self.fail(slot, failure::of_exchange(errno), now);
    }

    /// A send that was under way failed as a whole.
    fn send_failed(&mut self, slot: Slot, errno: Errno, now: MonoNs) {
        let connection = &mut self.connections[slot as usize];
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
        let connection = &mut self.connections[slot as usize];
        if connection.state != State::Sending {
            return;
        }
        let message = message(connection, self.job.requests_per_connection);
        match self.io.send(slot, message, connection.send_offset) {
            Send::Complete => connection.state = State::Waiting,
            Send::Partial(offset) => connection.send_offset = offset,
            Send::Pending => {}
            Send::Failed(errno) => return self.fail(slot, failure::of_exchange(errno), now),
            Send::Refused(class) => return self.fail(slot, class, now),
        }
        if self.job.has_idle_deadline {
            self.idles.set(slot, MonoNs(now.0 + self.job.plan.deadlines.idle.0));
        }
    }

    /// A send that was under way is over.
    fn written(&mut self, slot: Slot, now: MonoNs) {
        let connection = &mut self.connections[slot as usize];
        if connection.state != State::Sending {
            return;
        }
        connection.state = State::Waiting;
        if self.job.has_idle_deadline {
            self.idles.set(slot, MonoNs(now.0 + self.job.plan.deadlines.idle.0));
        }
    }

    #[inline]
    fn receive(&mut self, slot: Slot, length: usize, now: MonoNs) {
        let connection = &mut self.connections[slot as usize];
        let Some(request) = connection.request.filter(|request| request.sent.is_some()) else {
            return self.taint(slot, length);
        };
        let sent = request.sent.unwrap_or(now);
        let at = self.arrival(sent, now);
        let connection = &mut self.connections[slot as usize];
        let tally = self.tallies.of(request.phase);
        tally.received_bytes += length as u64;
        if let Some(operation) = self.job.requests.operation(request.kind) {
            tally.operation(operation).received_bytes += length as u64;
        }
        if !connection.reader.has_bytes() {
            tally.record(LatencyKind::FirstByte, at.since(sent));
        }
        let progress = connection.reader.feed(self.io.received(length), self.job, request.kind);
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
            Progress::More if self.job.has_idle_deadline => {
                self.idles.set(slot, MonoNs(now.0 + self.job.plan.deadlines.idle.0));
            }
            Progress::More => {}
        }
    }

    /// The instant at which the bytes arrived that the back end tells of, for a request that was sent at `sent`.
    #[inline]
    fn arrival(&self, sent: MonoNs, now: MonoNs) -> MonoNs {
        match self.io.stamp_ns() {
            0 => now,
            stamp_ns => self.wall_offset.to_mono(stamp_ns).clamp(sent, now.max(sent)),
        }
    }

    /// The head of a response is there.
    fn began(&mut self, slot: Slot, status: u16, now: MonoNs) {
        let connection = &mut self.connections[slot as usize];
        connection.reader = Reader::Http2(Some(status));
        let Some(request) = connection.request else { return };
        let Some(sent) = request.sent else { return };
        let at = self.arrival(sent, now);
        self.tallies.of(request.phase).record(LatencyKind::FirstByte, at.since(sent));
        if self.job.has_idle_deadline {
            self.idles.set(slot, MonoNs(now.0 + self.job.plan.deadlines.idle.0));
        }
    }

    /// A response is complete.
    fn respond(&mut self, slot: Slot, response: Response, length: u64, now: MonoNs) {
        let Some(request) = self.connections[slot as usize].request else { return };
        let at = self.arrival(request.sent.unwrap_or(now), now);
        let tally = self.tallies.of(request.phase);
        tally.received_bytes += length;
        if let Some(operation) = self.job.requests.operation(request.kind) {
            tally.operation(operation).received_bytes += length;
        }
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
        let told = &mut self.tallies.of(phase).told;
        if told.of(fault.class).is_none()
            && let Some(clause) = fault.detail.clause(self.io.received(received_bytes(fault)))
        {
            told.note(fault.class, || clause);
        }
    }

    /// The server sent something on a connection without a request: a greeting of another service, if it is the first thing.
    #[cold]
    fn taint(&mut self, slot: Slot, length: usize) {
        let connection = &mut self.connections[slot as usize];
        let arrived = self.io.received(length);
        let foreign = connection.reader.foreign(arrived).filter(|_| connection.requests_sent == 0);
        connection.state = State::Tainted;
        let class = foreign.unwrap_or(FailureClass::Desync);
        connection.taint = Some(Box::new((class, failure::answer(arrived))));
        self.io.close(slot);
    }

    /// The request of a connection that the server has spoiled learns of it.
    #[cold]
    pub(super) fn fail_tainted(&mut self, slot: Slot, phase: u32) {
        let connection = &mut self.connections[slot as usize];
        connection.state = State::Closed;
        let taint = connection.taint.take();
        let (class, answer) = taint.map_or((FailureClass::Desync, None), |taint| *taint);
        if let Some(answer) = answer {
            self.tallies.of(phase).told.note(class, || answer);
        }
        self.fail(slot, class, clock::now());
    }

    fn ended(&mut self, slot: Slot, now: MonoNs) {
        let connection = &mut self.connections[slot as usize];
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
        self.io.close(slot);
        self.connections[slot as usize].state = State::Closed;
        let phase = self.phase;
        self.tallies.of(phase).connections_closed_idle += 1;
    }

    fn broken(&mut self, slot: Slot, errno: Errno, now: MonoNs) {
        match self.connections[slot as usize].state {
            State::Dialing | State::DialingFor => self.dial_failed(slot, errno, now),
            State::Sending | State::Waiting => self.fail(slot, failure::of_exchange(errno), now),
            State::Idle => self.closed_while_free(slot),
            State::Closed | State::Tainted => {}
        }
    }

    /// The protocol below the requests is broken.
    fn refused(&mut self, slot: Slot, fault: Fault, now: MonoNs) {
        if let Some(request) = self.connections[slot as usize].request {
            self.note(request.phase, fault);
        }
        match self.connections[slot as usize].state {
            State::Dialing | State::DialingFor => self.connect_failed(slot, fault.class, now),
            State::Sending | State::Waiting => self.fail(slot, fault.class, now),
            State::Idle => self.closed_while_free(slot),
            State::Closed | State::Tainted => {}
        }
    }

    /// The end of the connection, which anybody on the way could have made: what it ends is not complete.
    fn cut(&mut self, slot: Slot, now: MonoNs) {
        let connection = &mut self.connections[slot as usize];
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
        self.connects.clear(slot);
        self.failed_dials_in_a_row += 1;
        let limit = self.job.plan.hard_stops.connect_failures_in_a_row;
        let is_sending = self.stage == super::Stage::Sending;
        if is_sending && limit.is_some_and(|limit| self.failed_dials_in_a_row >= limit) {
            let text =
                format!("{} connections in a row failed: {}", self.failed_dials_in_a_row, class.name());
            // Where nobody has ever listened, there is nothing to explain.
            match self.has_connected {
                true => self.job.control.give_up(text),
                false => self.job.control.hard_stop(text),
            }
        }
        if self.connections[slot as usize].request.is_some() {
            self.fail(slot, class, now);
        } else {
            self.io.close(slot);
            self.connections[slot as usize].state = State::Closed;
            if is_sending { self.ready.push_back(slot) } else { self.vacant.push_back(slot) }
        }
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
