//! The seam between the engine and the kernel, shaped on completions.
//!
//! The engine submits (connect, send, receive-until-closed) and is told what completed. A back end that works by
//! readiness makes the call itself when the socket is ready; one that works by completions hands the call over. Both
//! may say of a submission that it is complete at once, which saves the way through the queue.
//!
//! Receiving is armed once per connection and lasts until the connection is closed. The bytes of a
//! [`Completion::Received`] lie in a buffer of the back end that is valid until the next call of [`Io::complete`].
//!
//! Two ways of sending: [`Io::send`] takes one of the messages that were made before the load, which costs no copy;
//! [`Io::outgoing`] and [`Io::flush`] take bytes that were made for this one request. A connection uses one of the two
//! at a time.

mod epoll;
mod uring;

pub(crate) use epoll::Epoll;
pub(crate) use uring::Uring;

use crate::error::LoadError;
use crate::failure::Fault;
use crate::http1::kept::Kept;
use crate::http1::response::Response;
use crate::http2;
use crate::origin::Origin;
use crate::tls;
use crate::workload::Kind;
use rustix::io::Errno;
use std::sync::Arc;
use std::time::Duration;
use sysdyno_record::load::FailureClass;
use sysdyno_record::plan::Endpoint;

/// Period of the one timer that every wait has in common, so that the usual wait need not set a timer and clear it
/// again: on a virtual machine that costs as much as a system call.
pub(crate) const TICK: Duration = Duration::from_millis(5);

/// The congestion control that every kernel has.
pub(crate) const NO_CONGESTION_CONTROL: &str = "reno";

/// Number of a connection, chosen by the engine; also the back end's index.
pub(crate) type Slot = u32;

/// Where the connections of a trial go and what is sent on them; the same for all of its connections.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    /// The server.
    pub endpoint: Endpoint,
    /// Of each kind of request the form that keeps the connection, and the one that is the last on it; see [`Message`].
    pub messages: Arc<[Box<[u8]>]>,
    /// Whether the first request on a connection is the last one.
    pub is_single: bool,
    /// Whether what is sent is made up request by request instead, of any length.
    pub is_made_up: bool,
    /// Most bytes of requests that are on their way at a time on one connection; the greatest number: no bound is known.
    pub in_flight_bytes: usize,
    /// Whether the kernel's instants of arrival are wanted.
    pub stamps: bool,
    /// Where connections come from.
    pub origin: Origin,
    /// HTTP/2; `None` for what the messages say.
    pub http2: Option<http2::Settings>,
    /// TLS on top of the socket; `None` for none.
    pub tls: Option<Arc<tls::Settings>>,
}

/// A request that fits into one segment needs no care about delayed small segments. Unit: bytes.
const SMALL_MESSAGE_BYTES: usize = 1400;

/// What every congestion control lets go at once on a fresh connection: ten segments (RFC 6928). Unit: bytes.
const FIRST_WINDOW_BYTES: usize = 10 * SMALL_MESSAGE_BYTES;

impl Route {
    /// The route of the thread whose first connection has this number in the load.
    pub(crate) fn from(&self, first: u64) -> Route {
        Route { origin: self.origin.from(first), ..self.clone() }
    }

    /// Whether Nagle's algorithm could hold back the end of a request.
    ///
    /// Where one request is in flight on a connection, the response acknowledges it; so the rule that a small segment
    /// waits for an acknowledgement can only bite within a request of several segments.
    fn needs_nodelay(&self) -> bool {
        let is_one_segment = !self.is_made_up && self.in_flight_bytes <= SMALL_MESSAGE_BYTES;
        matches!(self.endpoint, Endpoint::Tcp(_)) && !is_one_segment
    }

    /// Whether the least of all congestion controls will do: one that never has more than the first window in flight has
    /// nothing to control, while one that paces (BBR) would hold requests back and set a timer for each.
    fn needs_no_congestion_control(&self) -> bool {
        let is_small = self.in_flight_bytes <= FIRST_WINDOW_BYTES;
        matches!(self.endpoint, Endpoint::Tcp(_)) && is_small && !self.is_single
    }
}

/// One of the messages of a [`Route`], by its position there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message(u32);

impl Message {
    /// The message of a kind of request; `is_last`: no other follows on the connection.
    #[inline]
    pub(crate) fn new(kind: Kind, is_last: bool) -> Message {
        Message(2 * kind + u32::from(is_last))
    }

    #[inline]
    pub(crate) fn position(self) -> usize {
        self.0 as usize
    }

    /// The kind of request.
    #[inline]
    pub(crate) fn kind(self) -> usize {
        self.0 as usize / 2
    }
}

/// What a wait may do after the first completion, to find several at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gather {
    /// Keep the first ones waiting until there are so many, for a [`TICK`] at most.
    Count(u32),
    /// Look only after this time, where one completion can bring many responses.
    Span(Duration),
}

impl Gather {
    /// Return with the first.
    pub(crate) const NOTHING: Gather = Gather::Count(1);
}

/// What became of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Submitted {
    /// Done, nothing will be reported.
    Complete,
    /// Under way, a completion will follow.
    Pending,
    /// As far as [`Completion::Reached`].
    Reached,
    /// As [`Completion::Joined`].
    Joined,
    /// Refused, nothing will be reported.
    Failed(Errno),
}

/// What completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completion {
    /// The connection is established.
    Connected,
    /// The transport of the connection is established; a handshake goes on.
    Reached,
    /// The handshake is over, and with it the connection established.
    Secured(Handshake),
    /// A connection that was established for another slot can be used.
    Joined,
    /// The head of the response is there, with this status; told by those that read responses themselves.
    Began(u16),
    /// The response is complete; so many bytes were of it.
    Responded(Response, u64),
    /// There is room for the rest of a send that was [`Send::Partial`].
    Writable,
    /// All bytes of a send that was [`Send::Pending`] are in the socket.
    Sent,
    /// This many bytes arrived; see [`Io::received`].
    Received(usize),
    /// The peer closed its side.
    Ended,
    /// The peer closed its side in a way that says nothing about whether all has come.
    Cut,
    /// The connection is broken.
    Failed(Errno),
    /// What is spoken below the requests went wrong; the connection cannot be used any more. What the server answered, if the
    /// failure says so, is [`Io::received`].
    Refused(Fault),
    /// A send that was called complete found the connection broken, and none of its bytes went out.
    SendFailed(Errno),
}

/// How a connection was secured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handshake {
    /// From nothing.
    Full,
    /// From an earlier session.
    Resumed,
}

/// A back end.
pub(crate) trait Io: Sized {
    /// The name in the record.
    const NAME: &'static str;

    /// A back end for connections 0 to `slots − 1`, to be used by the calling thread only.
    ///
    /// # Errors
    /// The kernel does not have what it needs, or does not allow it.
    fn new(slots: usize, route: &Route) -> Result<Self, LoadError>;

    /// Opens a socket for `slot`, connects it and arms receiving.
    fn connect(&mut self, slot: Slot) -> Submitted;

    /// Sends `message` from `offset` on.
    fn send(&mut self, slot: Slot, message: Message, offset: usize) -> Send;

    /// The bytes that are to be sent on `slot` with the next [`Io::flush`]; what is put into it goes behind those that are
    /// under way. Empty after [`Io::connect`].
    fn outgoing(&mut self, slot: Slot) -> &mut Vec<u8>;

    /// Sends what was put into [`Io::outgoing`]: [`Send::Complete`] if all of it is in the socket, [`Send::Pending`] if
    /// [`Completion::Sent`] will say so; never [`Send::Partial`].
    fn flush(&mut self, slot: Slot) -> Send;

    /// The same for a request that nothing else is sent after before it is answered, of the kind of a message.
    #[inline]
    fn flush_request(&mut self, slot: Slot, _: Message) -> Send {
        self.flush(slot)
    }

    /// Closes the socket of `slot`; nothing more is reported for it.
    fn close(&mut self, slot: Slot);

    /// Submits what is left to submit, and waits until something can complete, at most for `timeout`. A back end that
    /// cannot gather returns with the first completion.
    fn wait(&mut self, timeout: Duration, gather: Gather);

    /// The next thing that completed since the last wait.
    fn complete(&mut self) -> Option<(Slot, Completion)>;

    /// The bytes of the last [`Completion::Received`].
    fn received(&self, length: usize) -> &[u8];

    /// What is kept of the last response on `slot`, of those that were [`Completion::Responded`] and whose rules say so.
    fn kept(&self, _: Slot) -> Option<&Kept> {
        None
    }

    /// All connections are closed: what was to be said on them is handed over.
    fn finish(&mut self) {}

    /// When the kernel got the last of them; 0 if it did not say. Unit: nanoseconds on `CLOCK_REALTIME`.
    fn stamp_ns(&self) -> u64;
}

/// What became of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Send {
    /// All bytes are in the socket.
    Complete,
    /// So many bytes are, counted from the start of the request; the engine sends the rest after
    /// [`Completion::Writable`].
    Partial(usize),
    /// It cannot be sent, for a reason that is the server's.
    Refused(FailureClass),
    /// None may be yet, and all will be with [`Completion::Sent`].
    Pending,
    /// The connection is broken.
    Failed(Errno),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_fit_into_the_first_window_need_no_congestion_control() {
        let route = |in_flight_bytes, is_made_up, is_single| Route {
            endpoint: Endpoint::Tcp(([127, 0, 0, 1], 1).into()),
            messages: Arc::from([]),
            is_single,
            is_made_up,
            in_flight_bytes,
            stamps: false,
            origin: Origin::default(),
            http2: None,
            tls: None,
        };
        for (in_flight_bytes, is_made_up, [nodelay, congestion]) in [
            (1400, false, [false, true]),
            (1401, false, [true, true]),
            (14_001, false, [true, false]),
            (100, true, [true, true]),
            (usize::MAX, true, [true, false]),
        ] {
            let kept = route(in_flight_bytes, is_made_up, false);
            let needs = [kept.needs_nodelay(), kept.needs_no_congestion_control()];
            assert_eq!(needs, [nodelay, congestion], "{in_flight_bytes} {is_made_up}");
            assert!(!route(in_flight_bytes, is_made_up, true).needs_no_congestion_control());
        }
        let unix = Route { endpoint: Endpoint::Unix("/s".into()), ..route(1401, true, false) };
        assert!(!unix.needs_nodelay() && !unix.needs_no_congestion_control());
    }
}
