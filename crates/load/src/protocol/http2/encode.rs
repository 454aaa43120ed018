//! Encodes requests for HTTP/2. All requests are built in HTTP/1 form, before the load or when they are sent; here the head
//! becomes a header block, and the body goes into frames unchanged.

use super::frame::HEADER_BYTES;
use super::static_table::STATIC_TABLE;
use crate::protocol::http1::Rules;
use memchr::memmem;
use std::sync::Arc;

/// HTTP/2 as a trial uses it.
#[derive(Clone, Debug)]
pub(crate) struct Http2Settings {
    /// Requests at a time on one connection.
    pub streams: u32,
    /// What requests say about how they come.
    pub scheme: &'static str,
    /// The requests, by kind.
    pub requests: Arc<[EncodedRequest]>,
}

impl Http2Settings {
    /// Most bytes of requests that are on their way at a time on one connection.
    pub(crate) fn in_flight_bytes(&self) -> usize {
        let bytes = |request: &EncodedRequest| 2 * HEADER_BYTES + request.block.len() + request.body.len();
        let longest = self.requests.iter().map(bytes).max().unwrap_or(0);
        longest.saturating_mul(self.streams as usize)
    }
}

/// One kind of request.
#[derive(Clone, Debug)]
pub struct EncodedRequest {
    /// The header block.
    pub block: Box<[u8]>,
    /// The body; empty for none.
    pub body: Box<[u8]>,
    /// What its responses are held against.
    pub rules: Rules,
}

impl EncodedRequest {
    /// A request that is written for HTTP/1.
    pub(crate) fn of(message: &[u8], scheme: &str, rules: Rules) -> EncodedRequest {
        let mut block = Vec::new();
        let body = write_block(message, scheme, &mut block);
        EncodedRequest { block: block.into(), body: body.into(), rules }
    }
}

const HEAD_END: &[u8] = b"\r\n\r\n";

/// Fields that mean something on a connection of HTTP/1 only (RFC 9113, section 8.2.2), or are written as `:authority`.
const LEFT_OUT: [&[u8]; 8] = [
    b"connection",
    b"host",
    b"http2-settings",
    b"keep-alive",
    b"proxy-connection",
    b"te",
    b"transfer-encoding",
    b"upgrade",
];

/// Writes the header block of a request that is written for HTTP/1; what comes behind its head is its body. Fields are
/// literals that nobody keeps; names are those of the static table where they are in it.
pub(crate) fn write_block<'a>(message: &'a [u8], scheme: &str, block: &mut Vec<u8>) -> &'a [u8] {
    let end = memmem::find(message, HEAD_END).unwrap_or(message.len());
    let mut lines = message[..end].split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut words = lines.next().unwrap_or(b"").split(|byte| *byte == b' ');
    let (method, path) = (words.next().unwrap_or(b""), words.next().unwrap_or(b""));
    let fields = lines.filter_map(name_and_value);
    let host = fields.clone().find(|(name, _)| name.eq_ignore_ascii_case(b"host"));
    write_field(block, b":method", method);
    write_field(block, b":scheme", scheme.as_bytes());
    write_field(block, b":path", path);
    write_field(block, b":authority", host.map_or(b"", |(_, value)| value));
    for (name, value) in fields {
        if !is_left_out(name, value) {
            write_field(block, name, value);
        }
    }
    message.get(end + HEAD_END.len()..).unwrap_or(b"")
}

fn name_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(b':', line)?;
    Some((&line[..at], line[at + 1..].trim_ascii()))
}

fn is_left_out(name: &[u8], value: &[u8]) -> bool {
    let may_stay = name.eq_ignore_ascii_case(b"te") && value.eq_ignore_ascii_case(b"trailers");
    !may_stay && LEFT_OUT.iter().any(|left_out| name.eq_ignore_ascii_case(left_out))
}

/// Writes a field, with its name in small letters.
fn write_field(block: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    let has_name = |entry: &(&str, &str)| entry.0.as_bytes().eq_ignore_ascii_case(name);
    let Some(first) = STATIC_TABLE.iter().position(has_name) else {
        block.push(0);
        write_integer(block, 0, 7, name.len());
        block.extend(name.iter().map(u8::to_ascii_lowercase));
        return write_text(block, value);
    };
    // Entries of one name stand together.
    let mut same = STATIC_TABLE[first..].iter().take_while(|entry| has_name(entry));
    if let Some(offset) = same.position(|entry| entry.1.as_bytes() == value) {
        return write_integer(block, 0x80, 7, first + offset + 1);
    }
    write_integer(block, 0, 4, first + 1);
    write_text(block, value);
}

fn write_text(block: &mut Vec<u8>, text: &[u8]) {
    write_integer(block, 0, 7, text.len());
    block.extend_from_slice(text);
}

/// An integer behind `mark`, in the last `bits` of its byte and as many more as it needs (RFC 7541, section 5.1).
fn write_integer(block: &mut Vec<u8>, mark: u8, bits: u32, value: usize) {
    let most = (1usize << bits) - 1;
    if value < most {
        return block.push(mark | value as u8);
    }
    block.push(mark | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        block.push(0x80 | (rest & 0x7f) as u8);
        rest >>= 7;
    }
    block.push(rest as u8);
}
