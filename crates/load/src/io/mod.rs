//! The seam between the engine and the kernel, shaped on completions.
//!
//! The engine submits (connect, send, receive-until-closed) and is told what completed. A back end that works by
//! readiness makes the call itself when the socket is ready; one that works by completions hands the call over. Both
//! may say of a submission that it is complete at once, which saves the way through the queue.
//!
//! Receiving is armed once per connection and lasts until the connection is closed. The bytes of a
//! [`Completion::Received`] lie in a buffer of the back end that is valid until the next call of [`Io::complete`].

mod epoll;

pub(crate) use epoll::Epoll;

use rustix::io::Errno;
use std::time::Duration;
use sysdyno_record::plan::Endpoint;

/// Number of a connection, chosen by the engine; also the back end's index.
pub(crate) type Slot = u32;

/// What became of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Submitted {
    /// Done, nothing will be reported.
    Complete,
    /// Under way, a completion will follow.
    Pending,
    /// Refused, nothing will be reported.
    Failed(Errno),
}

/// What completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completion {
    /// The connection is established.
    Connected,
    /// All bytes of the send are in the socket.
    Sent,
    /// This many bytes arrived; see [`Io::received`].
    Received(usize),
    /// The peer closed its side.
    Ended,
    /// The connection is broken.
    Failed(Errno),
}

/// A back end.
pub(crate) trait Io {
    /// The name in the record.
    const NAME: &'static str;

    /// Opens a socket for `slot`, connects it and arms receiving.
    fn connect(&mut self, slot: Slot, endpoint: &Endpoint, is_small_and_single: bool) -> Submitted;

    /// Sends `bytes` from `offset` on; they must stay the same until the send is complete.
    fn send(&mut self, slot: Slot, bytes: &[u8], offset: usize) -> Send;

    /// Closes the socket of `slot`; nothing more is reported for it.
    fn close(&mut self, slot: Slot);

    /// Waits until something can complete, at most for `timeout`.
    fn wait(&mut self, timeout: Duration);

    /// The next thing that completed since the last wait.
    fn complete(&mut self) -> Option<(Slot, Completion)>;

    /// The bytes of the last [`Completion::Received`].
    fn received(&self, length: usize) -> &[u8];
}

/// What became of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Send {
    /// All bytes are in the socket.
    Complete,
    /// So many bytes are, counted from the start of the request; the engine sends the rest after [`Completion::Sent`].
    Partial(usize),
    /// The connection is broken.
    Failed(Errno),
}
