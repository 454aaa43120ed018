//! Bytes over sockets: opens, writes, reads, and closes connections to one server. This layer ignores what the bytes mean; it
//! knows no protocol but TLS.
//!
//! [`Transport`] is the interface to the kernel, modeled on completions. Its caller submits operations (connect, send,
//! receive-until-closed) and receives their completions. A readiness back end makes the system call itself when the socket is
//! ready; a completion back end passes it to the kernel. Both may report a submission as complete at once, which skips the
//! queue. [`tls::Tls`] is a transport over a transport.
//!
//! Receiving is armed once per connection and lasts until the connection is closed. The bytes of a
//! [`Completion::Received`] are in a buffer of the back end that is valid until the next call of [`Transport::complete`].
//!
//! There are two ways to send: [`Transport::send`] takes a message that was built before the load, without a copy;
//! [`Transport::outgoing`] and [`Transport::flush`] take bytes built for this one request. A connection uses one of the two
//! at a time.

mod epoll;
pub mod origin;
mod route;
pub mod tls;
mod uring;

pub(crate) use epoll::Epoll;
pub(crate) use route::{ConnectionRoute, Message};
pub(crate) use uring::Uring;

use crate::error::LoadError;
use crate::failure::Fault;
use rustix::io::Errno;
use std::time::Duration;
use sysdyno_record::load::FailureClass;

/// Period of the one timer that every wait has in common, so that the usual wait need not set a timer and clear it
/// again: on a virtual machine that costs as much as a system call.
pub(crate) const TICK: Duration = Duration::from_millis(5);

/// Number of a connection, chosen by who drives the transport; also the back end's index.
pub(crate) type Slot = u32;

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
    /// A connection that was established for another slot can be used.
    Joined,
    /// Refused, nothing will be reported.
    Failed(Errno),
}

/// What completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completion {
    /// The connection is established.
    Connected,
    /// The socket is connected; a handshake goes on.
    Reached,
    /// The handshake is over, and with it the connection established.
    Secured(Handshake),
    /// There is room for the rest of a send that was [`Send::Partial`].
    Writable,
    /// All bytes of a send that was [`Send::Pending`] are in the socket.
    Sent,
    /// This many bytes arrived; see [`Transport::received`].
    Received(usize),
    /// The peer closed its side.
    Ended,
    /// The peer closed its side in a way that says nothing about whether all has come.
    Cut,
    /// The connection is broken.
    Failed(Errno),
    /// What is spoken below the requests went wrong; the connection cannot be used any more. What the server answered, if the
    /// failure says so, is [`Transport::received`].
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

/// Connections that carry bytes.
pub(crate) trait Transport: Sized {
    /// Connections 0 to `slots − 1`, all of them closed, to be used by the calling thread only.
    ///
    /// # Errors
    /// The kernel does not have what it needs, or does not allow it.
    fn new(slots: usize, route: &ConnectionRoute) -> Result<Self, LoadError>;

    /// Opens a socket for `slot`, connects it and arms receiving.
    fn connect(&mut self, slot: Slot) -> Submitted;

    /// Sends `message` from `offset` on.
    fn send(&mut self, slot: Slot, message: Message, offset: usize) -> Send;

    /// The bytes that are to be sent on `slot` with the next [`Transport::flush`]; what is put into it goes behind those that are
    /// under way. Empty after [`Transport::connect`].
    fn outgoing(&mut self, slot: Slot) -> &mut Vec<u8>;

    /// Sends what was put into [`Transport::outgoing`]: [`Send::Complete`] if all of it is in the socket, [`Send::Pending`] if
    /// [`Completion::Sent`] will say so; never [`Send::Partial`].
    fn flush(&mut self, slot: Slot) -> Send;

    /// The same for bytes that nothing else is sent after before they are answered.
    #[inline]
    fn flush_request(&mut self, slot: Slot) -> Send {
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

    /// When the kernel got the last of them; 0 if it did not say. Unit: nanoseconds on `CLOCK_REALTIME`.
    fn stamp_ns(&self) -> u64;
}

/// What became of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Send {
    /// All bytes are in the socket.
    Complete,
    /// So many bytes are, counted from the start of the message; the rest is to be sent after [`Completion::Writable`].
    Partial(usize),
    /// It cannot be sent, for a reason that is the server's.
    Refused(FailureClass),
    /// None may be yet, and all will be with [`Completion::Sent`].
    Pending,
    /// The connection is broken.
    Failed(Errno),
}
