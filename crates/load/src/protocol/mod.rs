//! Protocols: requests as bytes, and responses parsed from the bytes that arrive. Nothing here knows sockets, clocks, or
//! threads; bytes come in pieces of any size, and all of them are hostile.
//!
//! [`http1`], [`http2`], and [`memcached`] are one protocol each; they share the notion of a response.

pub mod http1;
pub mod http2;
pub mod memcached;

use sysdyno_record::load::{FailureClass, LearntBody};

/// How far a response is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More bytes are needed.
    More,
    /// The response is complete and well framed.
    Done(Response),
    /// The response is broken; nothing further may be read from the connection.
    Failed(FailureClass),
}

/// A complete response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// Status code.
    pub status: u16,
    /// Whether the connection may carry another request.
    pub keep_alive: bool,
    /// Length and checksum of the body.
    pub body: LearntBody,
    /// The first validator that objects, the comparison with the learnt body excepted.
    pub objection: Option<FailureClass>,
}
