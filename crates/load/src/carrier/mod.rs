//! Carriers of requests, one at a time on each slot. They join transports and protocols, which do not know each other.
//!
//! Every [`Transport`] is a carrier of plain bytes; its caller parses the responses. [`Http2`] is a carrier over a transport:
//! its slots are streams, and it parses the responses itself.

mod streams;

pub(crate) use streams::Http2;

use crate::protocol::Response;
use crate::protocol::http1::kept::Kept;
use crate::transport::{Completion, Gather, Message, Send, Slot, Submitted, Transport};
use std::time::Duration;

/// What is new on a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// Something completed below the requests.
    Transport(Completion),
    /// A connection that was established for another slot can be used.
    Joined,
    /// The head of the response is there, with this status; told by a carrier that reads responses itself.
    Began(u16),
    /// The response is complete; so many bytes were of it. Told like the head.
    Responded(Response, u64),
}

impl From<Completion> for News {
    #[inline]
    fn from(completion: Completion) -> News {
        News::Transport(completion)
    }
}

/// Connections that carry requests. What is not said here is as in [`Transport`].
pub(crate) trait Carrier {
    /// Makes a connection for `slot`, or finds one that it can share.
    fn connect(&mut self, slot: Slot) -> Submitted;

    /// Sends a request that was made before the load, from `offset` on.
    fn send(&mut self, slot: Slot, message: Message, offset: usize) -> Send;

    /// Where a request is written that is made up for this one time.
    fn outgoing(&mut self, slot: Slot) -> &mut Vec<u8>;

    /// Sends the request that was written, of the kind of a message.
    fn flush(&mut self, slot: Slot, like: Message) -> Send;

    /// Closes the connection of `slot`, or stops sharing it; no further news of it follows.
    fn close(&mut self, slot: Slot);

    /// Waits for news.
    fn wait(&mut self, timeout: Duration, gather: Gather);

    /// The next of the news since the last wait.
    fn next(&mut self) -> Option<(Slot, News)>;

    /// The bytes that arrived last.
    fn received(&self, length: usize) -> &[u8];

    /// What is kept of the last response on `slot`, of those that were [`News::Responded`] and whose rules say so.
    fn kept(&self, _: Slot) -> Option<&Kept> {
        None
    }

    /// All connections are closed: what was to be said on them is handed over.
    fn finish(&mut self) {}

    /// When the kernel got the bytes that arrived last; 0 if it did not say. Unit: nanoseconds on `CLOCK_REALTIME`.
    fn stamp_ns(&self) -> u64;
}

impl<T: Transport> Carrier for T {
    #[inline]
    fn connect(&mut self, slot: Slot) -> Submitted {
        Transport::connect(self, slot)
    }

    #[inline]
    fn send(&mut self, slot: Slot, message: Message, offset: usize) -> Send {
        Transport::send(self, slot, message, offset)
    }

    #[inline]
    fn outgoing(&mut self, slot: Slot) -> &mut Vec<u8> {
        Transport::outgoing(self, slot)
    }

    #[inline]
    fn flush(&mut self, slot: Slot, _: Message) -> Send {
        self.flush_request(slot)
    }

    #[inline]
    fn close(&mut self, slot: Slot) {
        Transport::close(self, slot);
    }

    #[inline]
    fn wait(&mut self, timeout: Duration, gather: Gather) {
        Transport::wait(self, timeout, gather);
    }

    #[inline]
    fn next(&mut self) -> Option<(Slot, News)> {
        self.complete().map(|(slot, completion)| (slot, completion.into()))
    }

    #[inline]
    fn received(&self, length: usize) -> &[u8] {
        Transport::received(self, length)
    }

    #[inline]
    fn stamp_ns(&self) -> u64 {
        Transport::stamp_ns(self)
    }
}
