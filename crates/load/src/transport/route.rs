//! Where the connections of a trial go, and what they carry.

use super::origin::Origin;
use super::tls;
use std::sync::Arc;
use sysdyno_record::plan::Endpoint;

/// The congestion control that every kernel has.
pub(super) const NO_CONGESTION_CONTROL: &str = "reno";

/// Where the connections of a trial go and what is sent on them; the same for all of its connections.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionRoute {
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
    /// TLS on top of the socket; `None` for none.
    pub tls: Option<Arc<tls::TlsSettings>>,
}

/// A request that fits into one segment needs no care about delayed small segments. Unit: bytes.
const SMALL_MESSAGE_BYTES: usize = 1400;

/// What every congestion control lets go at once on a fresh connection: ten segments (RFC 6928). Unit: bytes.
const FIRST_WINDOW_BYTES: usize = 10 * SMALL_MESSAGE_BYTES;

impl ConnectionRoute {
    /// The route of the thread whose first connection has this number in the load.
    pub(crate) fn from(&self, first: u64) -> ConnectionRoute {
        ConnectionRoute { origin: self.origin.from(first), ..self.clone() }
    }

    /// Whether Nagle's algorithm could hold back the end of a request.
    ///
    /// Where one request is in flight on a connection, the response acknowledges it; so the rule that a small segment
    /// waits for an acknowledgement can only bite within a request of several segments.
    pub(super) fn needs_nodelay(&self) -> bool {
        let is_one_segment = !self.is_made_up && self.in_flight_bytes <= SMALL_MESSAGE_BYTES;
        matches!(self.endpoint, Endpoint::Tcp(_)) && !is_one_segment
    }

    /// Whether the least of all congestion controls will do: one that never has more than the first window in flight has
    /// nothing to control, while one that paces (BBR) would hold requests back and set a timer for each.
    pub(super) fn needs_no_congestion_control(&self) -> bool {
        let is_small = self.in_flight_bytes <= FIRST_WINDOW_BYTES;
        matches!(self.endpoint, Endpoint::Tcp(_)) && is_small && !self.is_single
    }
}

/// One of the messages of a [`ConnectionRoute`], by its position there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Message(u32);

impl Message {
    /// The message of a kind of request; `is_last`: no other follows on the connection.
    #[inline]
    pub(crate) fn new(kind: u32, is_last: bool) -> Message {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_fit_into_the_first_window_need_no_congestion_control() {
        let route = |in_flight_bytes, is_made_up, is_single| ConnectionRoute {
            endpoint: Endpoint::Tcp(([127, 0, 0, 1], 1).into()),
            messages: Arc::from([]),
            is_single,
            is_made_up,
            in_flight_bytes,
            stamps: false,
            origin: Origin::default(),
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
        let unix = ConnectionRoute { endpoint: Endpoint::Unix("/s".into()), ..route(1401, true, false) };
        assert!(!unix.needs_nodelay() && !unix.needs_no_congestion_control());
    }
}
