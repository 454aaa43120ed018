//! The chunked transfer coding (RFC 9112 §7.1), decoded only as far as counting needs.
//!
//! ```text
//!   Size ──line──► Data ──size bytes──► DataEnd ──CRLF──► Size
//!    └──── size 0 ────► Trailer ──empty line──► done
//! ```

use super::limits::{MAX_CHUNK_EXTENSION_BYTES, MAX_CHUNK_LINE_BYTES, MAX_DECLARED_BYTES, MAX_TRAILER_BYTES};
use sysdyno_record::load::FailureClass;

/// The position of the next byte in the coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// In the hexadecimal digits of a size.
    Size,
    /// After the digits, up to the line's end.
    Extension,
    /// In a chunk with this many bytes left.
    Data(u64),
    /// Before the line end that closes a chunk's data.
    DataEnd,
    /// In the trailer section.
    Trailer,
}

/// A decoder of one chunked body.
#[derive(Clone, Debug)]
pub(super) struct Chunked {
    state: State,
    size: u64,
    line_bytes: usize,
    extension_bytes: usize,
    trailer_bytes: usize,
    /// The last byte was a carriage return, so that only a line feed may follow.
    after_cr: bool,
}

/// What became of some input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkStep {
    /// This many bytes of framing were read; go on with the rest.
    Framing(usize),
    /// This many bytes of body follow in the input.
    Body(usize),
    /// The body is complete after this many bytes.
    Done(usize),
}

impl Chunked {
    pub(super) fn new() -> Chunked {
        Chunked {
            state: State::Size,
            size: 0,
            line_bytes: 0,
            extension_bytes: 0,
            trailer_bytes: 0,
            after_cr: false,
        }
    }

    /// Reads from non-empty `data` up to the next body bytes, or consumes those.
    pub(super) fn step(&mut self, data: &[u8]) -> Result<ChunkStep, FailureClass> {
        if let State::Data(left) = self.state {
            let taken = left.min(data.len() as u64);
            self.state = if taken == left { State::DataEnd } else { State::Data(left - taken) };
            return Ok(ChunkStep::Body(taken as usize));
        }
        for (index, byte) in data.iter().enumerate() {
            if self.read_framing(*byte)? {
                return Ok(ChunkStep::Done(index + 1));
            }
            if matches!(self.state, State::Data(_)) {
                return Ok(ChunkStep::Framing(index + 1));
            }
        }
        Ok(ChunkStep::Framing(data.len()))
    }

    /// Reads one byte outside of chunk data; true when the body is complete.
    fn read_framing(&mut self, byte: u8) -> Result<bool, FailureClass> {
        if self.after_cr && byte != b'\n' {
            return Err(FailureClass::Protocol);
        }
        self.after_cr = byte == b'\r';
        match self.state {
            State::Size => self.read_size(byte).map(|()| false),
            State::Extension => self.read_extension(byte).map(|()| false),
            State::DataEnd => self.read_data_end(byte).map(|()| false),
            State::Trailer => self.read_trailer(byte),
            State::Data(_) => Ok(false),
        }
    }

    fn read_size(&mut self, byte: u8) -> Result<(), FailureClass> {
        self.line_bytes += 1;
        match (char::from(byte).to_digit(16), byte) {
            (Some(digit), _) => {
                self.size = self.size * 16 + u64::from(digit);
                if self.size > MAX_DECLARED_BYTES || self.line_bytes > 16 {
                    return Err(FailureClass::Protocol);
                }
                Ok(())
            }
            (None, b'\r' | b'\n' | b';' | b' ' | b'\t') if self.line_bytes > 1 => self.read_extension(byte),
            _ => Err(FailureClass::Protocol),
        }
    }

    fn read_extension(&mut self, byte: u8) -> Result<(), FailureClass> {
        self.state = State::Extension;
        if byte == b'\n' {
            self.state = if self.size == 0 { State::Trailer } else { State::Data(self.size) };
            self.line_bytes = 0;
            self.size = 0;
            return Ok(());
        }
        if byte == b'\r' {
            // Only the line's end can follow; it belongs to no extension.
            return Ok(());
        }
        self.line_bytes += 1;
        self.extension_bytes += 1;
        let is_over =
            self.line_bytes > MAX_CHUNK_LINE_BYTES || self.extension_bytes > MAX_CHUNK_EXTENSION_BYTES;
        let is_allowed = (byte >= 0x20 && byte != 0x7f) || byte == b'\t';
        if is_over || !is_allowed { Err(FailureClass::Protocol) } else { Ok(()) }
    }

    fn read_data_end(&mut self, byte: u8) -> Result<(), FailureClass> {
        match byte {
            b'\r' => Ok(()),
            b'\n' => {
                self.state = State::Size;
                Ok(())
            }
            _ => Err(FailureClass::Protocol),
        }
    }

    /// `line_bytes` counts the bytes of the trailer line without its end.
    fn read_trailer(&mut self, byte: u8) -> Result<bool, FailureClass> {
        self.trailer_bytes += 1;
        if self.trailer_bytes > MAX_TRAILER_BYTES {
            return Err(FailureClass::HeadTooLarge);
        }
        match byte {
            b'\n' => {
                let is_empty = self.line_bytes == 0;
                self.line_bytes = 0;
                Ok(is_empty)
            }
            b'\r' => Ok(false),
            byte if byte < 0x20 && byte != b'\t' || byte == 0x7f => Err(FailureClass::Protocol),
            _ => {
                self.line_bytes += 1;
                Ok(false)
            }
        }
    }
}
