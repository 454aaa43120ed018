//! One place for a stream on a connection.

use crate::protocol::http1::Rules;
use crate::protocol::http1::body::Body;
use crate::protocol::http1::kept::Kept;
use sysdyno_record::load::FailureClass;

/// What is known of the stream in a place.
#[derive(Debug, Default)]
pub(super) struct StreamPlace {
    /// The stream that is open; 0 for none.
    pub stream: u32,
    pub kind: u32,
    pub status: Option<u16>,
    pub has_expected: bool,
    pub interim_count: u32,
    /// What the body has to be long, if the head says it. Unit: bytes.
    pub body_bytes: Option<u64>,
    pub body: Body,
    pub received_bytes: u64,
    /// Bytes of the window that are used up.
    pub window_used: i64,
    /// How much of the request's body is sent, and how much the server would take.
    pub sent: usize,
    pub send_window: i64,
    pub is_sending: bool,
    /// The body of a request that was made for this stream and is not all sent; empty: it is that of its kind.
    pub own_body: Vec<u8>,
    /// `None`: nothing was ever kept.
    pub kept: Option<Box<Kept>>,
}

impl StreamPlace {
    /// Prepares for a stream that is opened.
    #[inline]
    pub(super) fn open(&mut self, stream: u32, kind: u32, send_window: i64) {
        (self.stream, self.kind, self.status) = (stream, kind, None);
        (self.has_expected, self.interim_count, self.body_bytes) = (false, 0, None);
        (self.received_bytes, self.window_used) = (0, 0);
        (self.sent, self.send_window) = (0, send_window);
        self.body.reset();
        self.own_body.clear();
        if let Some(kept) = &mut self.kept {
            kept.clear();
        }
    }

    /// Where the next head is to be kept; `None`: nowhere, or it is that of trailers.
    #[inline]
    pub(super) fn head_to_keep(&mut self, rules: &Rules) -> Option<&mut Vec<u8>> {
        let is_wanted = rules.keeps_head && self.status.is_none();
        is_wanted.then(|| &mut self.kept.get_or_insert_default().head)
    }

    /// Takes the next piece of the response's body.
    #[inline]
    pub(super) fn take_body(&mut self, data: &[u8], rules: &Rules) -> Result<(), FailureClass> {
        let most_bytes = rules.kept_bytes(self.status.unwrap_or(0));
        if most_bytes > 0 {
            self.kept.get_or_insert_default().take_body(data, most_bytes);
        }
        self.body.take(data, rules)
    }
}
