//! A response head: where it ends, its framing, and the one field that a validator needs.

use super::limits::{MAX_DECLARED_BYTES, MAX_FIELDS_COUNT, MAX_HEAD_BYTES, MAX_HEAD_LINE_BYTES};
use crate::failure::is_tls_record;
use memchr::memchr;
use sysdyno_record::load::FailureClass;
use sysdyno_record::plan::ExpectedHeader;

/// What a head says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// Status code, 100 to 599.
    pub status: u16,
    /// Whether the connection may carry another request.
    pub keep_alive: bool,
    /// How the body is framed according to the head alone.
    pub framing: Framing,
    /// Whether the expected field is there; true if none is expected.
    pub has_expected: bool,
}

/// How a body is framed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// By Content-Length.
    Length(u64),
    /// By chunks.
    Chunked,
    /// By the end of the connection.
    Close,
}

/// What a response begins with.
const START: &[u8] = b"HTTP/";

/// The class of what cannot be the beginning of a response, however it goes on; `None`: it can be.
#[cold]
pub(crate) fn foreign(bytes: &[u8]) -> Option<FailureClass> {
    let length = bytes.len().min(START.len());
    if bytes[..length] == START[..length] {
        return None;
    }
    Some(if is_tls_record(bytes) { FailureClass::SpeaksTls } else { FailureClass::NotHttp })
}

/// Length of the head at the front of `bytes`, its empty line included.
///
/// `None`: more bytes are needed. `from` is how many bytes were searched before.
///
/// # Errors
/// A line or the whole exceeds its limit.
pub(super) fn find_end(bytes: &[u8], from: usize) -> Result<Option<usize>, FailureClass> {
    let mut line = bytes[..from].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    while let Some(offset) = memchr(b'\n', &bytes[line..]) {
        if line + offset >= MAX_HEAD_BYTES || offset >= MAX_HEAD_LINE_BYTES {
            return Err(FailureClass::HeadTooLarge);
        }
        let is_empty = offset == 0 || (offset == 1 && bytes[line] == b'\r');
        line += offset + 1;
        if is_empty {
            return Ok(Some(line));
        }
    }
    let is_over = bytes.len() - line >= MAX_HEAD_LINE_BYTES || bytes.len() >= MAX_HEAD_BYTES;
    if is_over { Err(FailureClass::HeadTooLarge) } else { Ok(None) }
}

/// Reads a complete head, its empty line included.
pub(super) fn parse(head: &[u8], expected: Option<&ExpectedHeader>) -> Result<Head, FailureClass> {
    if head.iter().fold(false, |found, byte| found | is_forbidden(*byte)) {
        return Err(FailureClass::Protocol);
    }
    let mut lines = Lines { rest: head };
    let first = lines.next().ok_or(FailureClass::Protocol)?;
    let (status, is_http_1_1) = parse_status_line(first)?;
    let mut fields =
        Fields { keep_alive: is_http_1_1, has_expected: expected.is_none(), ..Fields::default() };
    let mut count = 0;
    while let Some(line) = lines.next() {
        if line.is_empty() {
            break;
        }
        count += 1;
        if count > MAX_FIELDS_COUNT {
            return Err(FailureClass::HeadTooLarge);
        }
        fields.read(line, expected)?;
    }
    if lines.has_bare_cr(head) {
        return Err(FailureClass::Protocol);
    }
    let framing = fields.framing(is_http_1_1)?;
    Ok(Head {
        status,
        keep_alive: fields.keep_alive && !fields.close,
        framing,
        has_expected: fields.has_expected,
    })
}

/// Lines without their ends.
struct Lines<'a> {
    rest: &'a [u8],
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        let end = memchr(b'\n', self.rest)?;
        let line = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// Whether there is a carriage return anywhere but before a line feed.
    fn has_bare_cr(&self, head: &[u8]) -> bool {
        memchr::memchr_iter(b'\r', head).any(|at| head.get(at + 1) != Some(&b'\n'))
    }
}

fn parse_status_line(line: &[u8]) -> Result<(u16, bool), FailureClass> {
    let is_http_1_1 = match line.get(..9) {
        Some(b"HTTP/1.1 ") => true,
        Some(b"HTTP/1.0 ") => false,
        _ => return Err(FailureClass::Protocol),
    };
    let digits = line.get(9..12).ok_or(FailureClass::InvalidStatus)?;
    if !digits.iter().all(u8::is_ascii_digit) || !matches!(line.get(12), None | Some(b' ')) {
        return Err(FailureClass::InvalidStatus);
    }
    let status = digits.iter().fold(0, |number, digit| number * 10 + u16::from(digit - b'0'));
    if (100..600).contains(&status) { Ok((status, is_http_1_1)) } else { Err(FailureClass::InvalidStatus) }
}

/// What the fields said so far.
#[derive(Default)]
struct Fields {
    length: Option<u64>,
    has_chunked: bool,
    keep_alive: bool,
    close: bool,
    has_expected: bool,
}

impl Fields {
    fn read(&mut self, line: &[u8], expected: Option<&ExpectedHeader>) -> Result<(), FailureClass> {
        let colon = memchr(b':', line).ok_or(FailureClass::Protocol)?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        if name.is_empty() || !name.iter().all(|byte| is_token_byte(*byte)) {
            return Err(FailureClass::Protocol);
        }
        match name.len() {
            10 if name.eq_ignore_ascii_case(b"connection") => self.read_connection(value),
            14 if name.eq_ignore_ascii_case(b"content-length") => self.read_length(value)?,
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => self.read_coding(value)?,
            _ => {}
        }
        if let Some(expected) = expected.filter(|field| name.eq_ignore_ascii_case(field.name.as_bytes())) {
            self.has_expected |=
                expected.value.as_ref().is_none_or(|wanted| value == wanted.trim().as_bytes());
        }
        Ok(())
    }

    fn read_connection(&mut self, value: &[u8]) {
        for option in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    fn read_length(&mut self, value: &[u8]) -> Result<(), FailureClass> {
        for item in value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii) {
            let length = parse_decimal(item).ok_or(FailureClass::Protocol)?;
            if self.length.is_some_and(|known| known != length) {
                return Err(FailureClass::Protocol);
            }
            self.length = Some(length);
        }
        Ok(())
    }

    fn read_coding(&mut self, value: &[u8]) -> Result<(), FailureClass> {
        if self.has_chunked || !value.eq_ignore_ascii_case(b"chunked") {
            return Err(FailureClass::Protocol);
        }
        self.has_chunked = true;
        Ok(())
    }

    fn framing(&self, is_http_1_1: bool) -> Result<Framing, FailureClass> {
        match (self.has_chunked, self.length) {
            (true, None) if is_http_1_1 => Ok(Framing::Chunked),
            (true, _) => Err(FailureClass::Protocol),
            (false, Some(length)) => Ok(Framing::Length(length)),
            (false, None) => Ok(Framing::Close),
        }
    }
}

fn parse_decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 16 || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = text.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
    (number <= MAX_DECLARED_BYTES).then_some(number)
}

/// Whether a byte is forbidden anywhere in a head.
fn is_forbidden(byte: u8) -> bool {
    (byte < 0x20) & (byte != b'\t') & (byte != b'\r') & (byte != b'\n') | (byte == 0x7f)
}

/// Whether a byte is allowed in a method or field name (RFC 9110 §5.6.2 `tchar`).
pub(crate) fn is_token_byte(byte: u8) -> bool {
    TOKEN_BYTES[byte as usize]
}

const TOKEN_BYTES: [bool; 256] = {
    let mut table = [false; 256];
    let mut index = 0;
    while index < 256 {
        let byte = index as u8;
        table[index] = byte.is_ascii_alphanumeric();
        index += 1;
    }
    let marks = b"!#$%&'*+-.^_`|~";
    let mut index = 0;
    while index < marks.len() {
        table[marks[index] as usize] = true;
        index += 1;
    }
    table
};
