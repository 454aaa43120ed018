//! Errors that break a connection or a stream, and their error codes on the wire (RFC 9113, section 7).

use sysdyno_record::load::FailureClass;

pub(crate) const NO_ERROR: u32 = 0;
pub(super) const PROTOCOL_ERROR: u32 = 1;
pub(super) const FLOW_CONTROL_ERROR: u32 = 3;
pub(super) const STREAM_CLOSED: u32 = 5;
pub(super) const FRAME_SIZE_ERROR: u32 = 6;
pub(crate) const REFUSED_STREAM: u32 = 7;
pub(super) const CANCEL: u32 = 8;
pub(super) const COMPRESSION_ERROR: u32 = 9;
pub(super) const ENHANCE_YOUR_CALM: u32 = 11;

/// A breach of the rules: how the requests that it ends are counted, and what the server is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Breach {
    pub class: FailureClass,
    pub code: u32,
}

impl Breach {
    /// The server broke the protocol; the code says in which way.
    pub(super) const fn of(code: u32) -> Breach {
        Breach { class: FailureClass::Protocol, code }
    }
}

/// A frame or setting that may not be, or not here.
pub(super) const MISPLACED: Breach = Breach::of(PROTOCOL_ERROR);

/// A frame of a length that its kind does not have.
pub(super) const MISSIZED: Breach = Breach::of(FRAME_SIZE_ERROR);

/// More than a window allows, or a window that is too wide.
pub(super) const OVERFLOW: Breach = Breach::of(FLOW_CONTROL_ERROR);

/// More frames than an exchange needs.
pub(super) const ABUSE: Breach = Breach { class: FailureClass::Http2Abuse, code: ENHANCE_YOUR_CALM };
