//! HTTP/2 as a load client needs it: many requests at a time on few connections. A [`Link`] is one connection: received bytes
//! in, events of its streams and bytes to send out.
//!
//! A request is a header block and possibly a body, built before the load; one with values or cookies is built in HTTP/1 form
//! and becomes a block when it is sent. Blocks refer only to the static table, so no state of the connection is needed. Of a
//! response, the status and one expected field are read; its body is counted, checked, and discarded. If its rules require it,
//! the head (in HTTP/1 form) and the beginning of the body are kept until the next response in the same place.
//!
//! The table of fields has HTTP/2's default size, 4 KiB, and servers may use it.
//!
//! | what the server does | outcome |
//! |---|---|
//! | begins with anything but settings | `not_http2`; `speaks_tls` if that is an alert of TLS |
//! | `RST_STREAM` | `stream_reset`; with `REFUSED_STREAM` `stream_refused` |
//! | allows fewer streams than there are (`MAX_CONCURRENT_STREAMS`) | `stream_limit`, of those that are too many |
//! | `GOAWAY` | later streams, which it did not see, go on a fresh connection, once; `stream_refused` if that refuses too |
//! | more control frames in a row, or for a response, than [`limits`] allows, more CONTINUATION than a head needs | `http2_abuse` |
//! | a push, a frame out of place, of the wrong size, for a stream that never was or that it has ended | `protocol` |
//! | a header block that cannot be decoded, whose fields are too many or too long | `protocol`, `head_too_large` |
//! | more bytes than the windows allow | `protocol` |
//! | a name with capitals or that is no word, a value with line breaks or other control characters | `protocol`, of that response |
//! | a body longer than `content-length` or where none may be, before a head | `protocol`, of that response |
//! | a window of a stream that is too wide, or not widened | `protocol`, of that stream |
//! | a body shorter than `content-length` | `body_truncated` |
//! | never opens a window | `write_timeout` |
//!
//! An error that breaks a connection fails each request on it with that error's class. The server gets the RFC's error code:
//! in RST_STREAM for a stream, in GOAWAY for a connection. A connection that is closed because the load is over or it is no
//! longer used gets a GOAWAY too (`NO_ERROR`).
//!
//! Sources: RFC 9113 (HTTP/2), RFC 7541 (HPACK).

mod encode;
mod error;
mod frame;
mod hpack;
mod huffman;
pub mod limits;
mod link;
mod place;
mod static_table;

pub use encode::EncodedRequest;
pub(crate) use encode::{Http2Settings, write_block};
pub(crate) use error::{NO_ERROR, REFUSED_STREAM};
pub use hpack::{HeaderFields, HpackDecoder};
pub use link::{Lane, Link, LinkEvent};

#[cfg(test)]
mod tests;
