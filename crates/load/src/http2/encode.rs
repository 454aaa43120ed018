//! The requests of a load in the form that HTTP/2 sends them, made once.

use super::frame::HEADER_BYTES;
use super::static_table::STATIC_TABLE;
use crate::http1::Rules;
use std::sync::Arc;
use sysdyno_record::plan::{RequestSpec, Target};

/// HTTP/2 as a trial uses it.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Requests at a time on one connection.
    pub streams: u32,
    /// The requests, by kind.
    pub requests: Arc<[Request]>,
}

impl Settings {
    /// Most bytes of requests that are on their way at a time on one connection.
    pub(crate) fn in_flight_bytes(&self) -> usize {
        let bytes = |request: &Request| 2 * HEADER_BYTES + request.block.len() + request.body.len();
        let longest = self.requests.iter().map(bytes).max().unwrap_or(0);
        longest.saturating_mul(self.streams as usize)
    }
}

/// One kind of request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The header block.
    pub block: Box<[u8]>,
    /// The body; empty for none.
    pub body: Box<[u8]>,
    /// What its responses are held against.
    pub rules: Rules,
}

/// Fields that mean something on a connection of HTTP/1 only (RFC 9113, section 8.2.2), or are written as `:authority`.
const LEFT_OUT: [&str; 6] =
    ["connection", "host", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/// The header block of a request. Fields are literals that nobody keeps; names are those of the static table where they
/// are in it.
pub(crate) fn header_block(request: &RequestSpec, target: &Target, path: &str) -> Box<[u8]> {
    let mut block = Vec::new();
    let scheme = if target.url.starts_with("https:") { "https" } else { "http" };
    let given = request.headers.iter().find(|field| field.name.eq_ignore_ascii_case("host"));
    let authority = given.map_or(target.host.as_str(), |field| field.value.as_str());
    field(&mut block, ":method", &request.method);
    field(&mut block, ":scheme", scheme);
    field(&mut block, ":path", path);
    field(&mut block, ":authority", authority);
    let has = |name: &str| request.headers.iter().any(|field| field.name.eq_ignore_ascii_case(name));
    if !has("user-agent") {
        field(&mut block, "user-agent", concat!("sysdyno/", env!("CARGO_PKG_VERSION")));
    }
    for header in &request.headers {
        let name = header.name.to_ascii_lowercase();
        if !LEFT_OUT.contains(&name.as_str()) {
            field(&mut block, &name, header.value.trim());
        }
    }
    if !request.body.is_empty() || matches!(request.method.as_str(), "POST" | "PUT" | "PATCH") {
        field(&mut block, "content-length", &request.body.len().to_string());
    }
    block.into_boxed_slice()
}

fn field(block: &mut Vec<u8>, name: &str, value: &str) {
    let whole = STATIC_TABLE.iter().position(|entry| *entry == (name, value));
    if let Some(number) = whole {
        return integer(block, 0x80, 7, number + 1);
    }
    match STATIC_TABLE.iter().position(|entry| entry.0 == name) {
        Some(number) => integer(block, 0, 4, number + 1),
        None => {
            block.push(0);
            text(block, name);
        }
    }
    text(block, value);
}

fn text(block: &mut Vec<u8>, text: &str) {
    integer(block, 0, 7, text.len());
    block.extend_from_slice(text.as_bytes());
}

/// An integer behind `mark`, in the last `bits` of its byte and as many more as it needs (RFC 7541, section 5.1).
fn integer(block: &mut Vec<u8>, mark: u8, bits: u32, value: usize) {
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
