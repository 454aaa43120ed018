//! HTTP/2 as a load client needs it: many requests at a time on few connections. A [`Link`] is one connection: bytes that
//! arrived in, events of its streams and bytes to be sent out.
//!
//! A request is a header block and maybe a body, made before the load; one with values or cookies is written for HTTP/1 and
//! becomes a block when it is sent. Blocks refer to the static table only, so that nothing has to be remembered of a
//! connection. Of a response the status and one expected field are read, its body is counted, looked through and dropped; if
//! its rules say so, head and beginning of the body are kept until the next one in the same place, the head as HTTP/1 writes
//! it.
//!
//! The table of fields is what HTTP/2 grants a server that is told nothing, 4 KiB, and servers that use it are followed.
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
//! What breaks a connection fails each request on it with the class of what broke it. The server is told with the error
//! code that the RFC has for it: by RST_STREAM of a stream, by GOAWAY of a connection; also of one that is closed because the
//! load is over, or it is not used any more (`NO_ERROR`).
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
