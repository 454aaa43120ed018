//! One connection and the request on it.
//!
//! ```text
//!   Closed ──dial──► Dialing ──connected──► Idle ──request──► Waiting ──response──► Idle
//!     ▲                 │ (request)            │ bytes           │ partial send
//!     │                 ▼                      ▼                 ▼
//!     │             DialingFor ──connected──► Waiting         Sending ──sent──► Waiting
//!     └────────────── any failure, end or limit of requests ◄── Tainted
//! ```

use crate::http1::ResponseParser;
use sysdyno_record::units::MonoNs;

/// Where a connection stands.
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
}

/// One connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub state: State,
    /// The request on it, in the states `DialingFor`, `Sending` and `Waiting`.
    pub request: Option<Request>,
    pub parser: ResponseParser,
    /// When the connect call was made.
    pub dialed: MonoNs,
    /// Requests that were sent on the present socket.
    pub requests_sent: u32,
    /// Bytes of the request that are in the socket, in the state `Sending`.
    pub send_offset: usize,
}

impl Connection {
    pub(super) fn new() -> Connection {
        Connection {
            state: State::Closed,
            request: None,
            parser: ResponseParser::default(),
            dialed: MonoNs(0),
            requests_sent: 0,
            send_offset: 0,
        }
    }
}
