//! TLS 1.2 and 1.3: [`Tls`] is a transport over a transport.
//!
//! The layer above sees the same completions as without TLS, and four more: [`Completion::Reached`] when the socket is
//! connected and the handshake begins, [`Completion::Secured`] when it is over, [`Completion::Refused`] with failure class and
//! reason when TLS itself fails, and [`Completion::Cut`] when the peer closed without a TLS close alert, after which a response
//! without a length is incomplete.
//!
//! **When a service time ends.** The kernel stamps packets and knows no records. A response ends with the stamp of the
//! read that held the last byte of its last record; decryption is not included. The stamp is that of the read's last
//! packet, so it is never early; it is late by whatever followed the record in the same read, which with one request in
//! flight is nothing or a session ticket. **When it begins**: before the request is encrypted.
//!
//! **Resumption** is a chosen ratio. The connections to be resumed are spread evenly; if the server does a full handshake
//! after all, later connections make up for it. Counts follow what rustls reports. A thread uses each of its tickets once
//! (RFC 8446 C.4) and keeps a bounded number of them; full handshakes bring new ones.
//!
//! Memory per connection is bounded by rustls: one record (16 KiB) being received, a handshake of 64 KiB.

mod asked;
mod der;
mod failure;
mod key;
mod layer;
mod sessions;
mod settings;
mod stream;
mod validity;
mod verifier;

pub(crate) use layer::Tls;
pub use layer::read_records;
pub(crate) use settings::TlsSettings;
pub(crate) use stream::Stream;

#[cfg(doc)]
use super::Completion;

#[cfg(test)]
mod tests;
