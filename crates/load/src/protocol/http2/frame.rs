//! Frames (RFC 9113, section 4): nine bytes of length, type, flags, and stream, then a payload.

use super::error::{Breach, MISPLACED, MISSIZED};
use super::limits::MAX_FRAME_BYTES;

/// Length of what comes before a payload. Unit: bytes.
pub(super) const HEADER_BYTES: usize = 9;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const PRIORITY: u8 = 2;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PUSH_PROMISE: u8 = 5;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const ACK: u8 = 1;
pub(super) const END_STREAM: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
pub(super) const PADDED: u8 = 8;
pub(super) const WITH_PRIORITY: u8 = 0x20;

pub(super) const SETTING_ENABLE_PUSH: u16 = 2;
pub(super) const SETTING_MAX_CONCURRENT_STREAMS: u16 = 3;
pub(super) const SETTING_INITIAL_WINDOW_SIZE: u16 = 4;
pub(super) const SETTING_MAX_FRAME_SIZE: u16 = 5;

/// What a client says first (section 3.4).
pub(super) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A frame that has come as a whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'a> {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: &'a [u8],
}

impl<'a> Frame<'a> {
    /// The first frame of `data`; `None` if it has not come as a whole.
    ///
    /// # Errors
    /// It is longer than it may be.
    #[inline]
    pub(super) fn first(data: &'a [u8]) -> Result<Option<Frame<'a>>, Breach> {
        let Some((header, rest)) = data.split_first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let [high, middle, low, kind, flags, stream @ ..] = header;
        let length = usize::from(*high) << 16 | usize::from(*middle) << 8 | usize::from(*low);
        if length > MAX_FRAME_BYTES {
            return Err(MISSIZED);
        }
        let Some(payload) = rest.get(..length) else { return Ok(None) };
        let stream = u32::from_be_bytes(*stream) & 0x7fff_ffff;
        Ok(Some(Frame { kind: *kind, flags: *flags, stream, payload }))
    }

    /// Length with what comes before the payload. Unit: bytes.
    pub(super) fn bytes(&self) -> usize {
        HEADER_BYTES + self.payload.len()
    }

    pub(super) fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// The payload of DATA or HEADERS without padding and priority.
    pub(super) fn content(&self) -> Result<&'a [u8], Breach> {
        let mut content = self.payload;
        let mut padding = 0;
        if self.has(PADDED) {
            let (length, rest) = content.split_first().ok_or(MISSIZED)?;
            (padding, content) = (usize::from(*length), rest);
        }
        if self.kind == HEADERS && self.has(WITH_PRIORITY) {
            content = content.get(5..).ok_or(MISSIZED)?;
        }
        let end = content.len().checked_sub(padding).ok_or(MISPLACED)?;
        Ok(&content[..end])
    }

    /// The payload as one number.
    pub(super) fn number(&self) -> Result<u32, Breach> {
        self.payload.try_into().map(u32::from_be_bytes).map_err(|_| MISSIZED)
    }
}

/// Writes what comes before a payload of so many bytes.
#[inline]
pub(super) fn write_header(out: &mut Vec<u8>, length: usize, kind: u8, flags: u8, stream: u32) {
    let [_, high, middle, low] = (length as u32).to_be_bytes();
    out.extend_from_slice(&[high, middle, low, kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
}

/// Writes that the connection is given up. No stream of a server is named, since it may open none.
pub(super) fn write_goaway(out: &mut Vec<u8>, code: u32) {
    write_header(out, 8, GOAWAY, 0, 0);
    out.extend_from_slice(&0u32.to_be_bytes());
    out.extend_from_slice(&code.to_be_bytes());
}

/// Writes a frame whose payload is one number.
pub(super) fn write_number(out: &mut Vec<u8>, kind: u8, stream: u32, number: u32) {
    write_header(out, 4, kind, 0, stream);
    out.extend_from_slice(&number.to_be_bytes());
}
