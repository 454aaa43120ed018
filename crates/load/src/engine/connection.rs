//! One connection and the request on it.
//!
//! ```text
//!   Closed ──dial──► Dialing ──connected──► Idle ──request──► Waiting ──response──► Idle
//!     ▲                 │ (request)            │ bytes           │ partial send
//!     │                 ▼                      ▼                 ▼
//!     │             DialingFor ──connected──► Waiting         Sending ──sent──► Waiting
//!     └────────────── any failure, end or limit of requests ◄── Tainted
//! ```

use super::job::Job;
use crate::protocol::Progress;
use crate::protocol::http1::{self, ResponseParser};
use crate::protocol::memcached::{self, Decoder};
use crate::workload::RequestKind;
use sysdyno_record::load::FailureClass;
use sysdyno_record::units::MonoNs;

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// There is no socket.
    Closed,
    /// Being established, no request waits for it.
    Dialing,
    /// Being established, a request waits for it.
    DialingFor,
    /// Established and free.
    Idle,
    /// The server sent something unasked; the socket is closed and the next request learns of it.
    Tainted,
    /// The request is partly in the socket.
    Sending,
    /// The request is in the socket, the response is awaited.
    Waiting,
}

/// A request from its arrival to its outcome.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    /// When it was meant to be sent.
    pub intended: MonoNs,
    /// When the engine noticed that it was due.
    pub noticed: MonoNs,
    /// When its first byte was handed to the socket; `None` before.
    pub sent: Option<MonoNs>,
    /// Phase of the intended send.
    pub phase: u32,
    /// Which of the load's requests it is.
    pub kind: RequestKind,
    /// Whose request it is, by number in the thread; the greatest number for nobody's.
    pub user: u32,
}

/// What makes responses of the bytes that arrive: the protocol of a connection.
#[derive(Debug)]
pub(super) enum Reader {
    Http1(ResponseParser),
    /// The carrier reads responses; the status of the present one, once its head is there.
    Http2(Option<u16>),
    Memcached(Box<Decoder>),
}

impl Reader {
    pub(super) fn new(job: &Job<'_>) -> Reader {
        match &job.memcached {
            None if job.http2.is_some() => Reader::Http2(None),
            None => Reader::Http1(ResponseParser::default()),
            Some(memcached) => Reader::Memcached(Box::new(Decoder::new(memcached.plan))),
        }
    }

    /// Whether a byte of the response has arrived.
    #[inline]
    pub(super) fn has_bytes(&self) -> bool {
        match self {
            Reader::Http1(parser) => parser.has_bytes(),
            Reader::Http2(status) => status.is_some(),
            Reader::Memcached(decoder) => decoder.has_bytes(),
        }
    }

    /// Whether what has arrived is more than the beginning of a head.
    pub(super) fn has_head(&self) -> bool {
        match self {
            Reader::Http1(parser) => parser.has_head(),
            Reader::Http2(status) => status.is_some(),
            Reader::Memcached(decoder) => decoder.has_bytes(),
        }
    }

    /// Status code of HTTP, once the head is complete.
    pub(super) fn status(&self) -> Option<u16> {
        match self {
            Reader::Http1(parser) => parser.status(),
            Reader::Http2(status) => *status,
            Reader::Memcached(_) => None,
        }
    }

    /// Reads bytes that arrived.
    #[inline]
    pub(super) fn feed(&mut self, data: &[u8], job: &Job<'_>, kind: RequestKind) -> Progress {
        match (self, &job.memcached) {
            (Reader::Http1(parser), _) => parser.feed(data, job.requests.rules(kind)),
            (Reader::Memcached(decoder), Some(memcached)) => decoder.feed(data, &memcached.keys),
            (Reader::Http2(_), _) => unreachable!("the carrier of HTTP/2 tells no bytes"),
            (Reader::Memcached(_), None) => unreachable!("decoders are those of a memcached load"),
        }
    }

    /// The class of bytes that cannot be the beginning of a response; `None`: they can be.
    pub(super) fn foreign(&self, bytes: &[u8]) -> Option<FailureClass> {
        match self {
            Reader::Http1(_) => http1::head::foreign(bytes),
            Reader::Memcached(_) => memcached::foreign(bytes),
            // The carrier reads what the server says.
            Reader::Http2(_) => None,
        }
    }

    /// The server closed its side.
    pub(super) fn end(&mut self, job: &Job<'_>, kind: RequestKind) -> Progress {
        match self {
            Reader::Http1(parser) => parser.end(job.requests.rules(kind)),
            Reader::Http2(None) => Progress::Failed(FailureClass::EofBeforeHead),
            Reader::Http2(Some(_)) => Progress::Failed(FailureClass::BodyTruncated),
            Reader::Memcached(decoder) => decoder.end(),
        }
    }
}

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub state: State,
    /// The request on it, in the states `DialingFor`, `Sending` and `Waiting`.
    pub request: Option<Request>,
    pub reader: Reader,
    /// When the connect call was made.
    pub dialed: MonoNs,
    /// When the transport was there and a handshake began; `None`: neither, or there is no handshake.
    pub reached: Option<MonoNs>,
    /// In the state `Tainted`: the class of what the server sent, and what that was.
    pub taint: Option<Box<(FailureClass, Option<String>)>>,
    /// Requests that were sent on the present socket.
    pub requests_sent: u32,
    /// Bytes of the request that are in the socket, in the state `Sending`.
    pub send_offset: usize,
}

impl Connection {
    pub(super) fn new(job: &Job<'_>) -> Connection {
        Connection {
            state: State::Closed,
            request: None,
            reader: Reader::new(job),
            dialed: MonoNs(0),
            reached: None,
            taint: None,
            requests_sent: 0,
            send_offset: 0,
        }
    }
}
