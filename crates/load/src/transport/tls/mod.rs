//! TLS 1.2 and 1.3: [`Tls`] is a transport over a transport.
//!
//! Who is above sees what it sees without TLS, and four things more: [`Completion::Reached`] when the socket is connected
//! and the handshake begins, [`Completion::Secured`] when it is over, [`Completion::Refused`] with failure class and reason when
//! TLS itself goes wrong, and [`Completion::Cut`] when the peer closed without saying so in TLS, after which a response
//! without a length is not complete.
//!
//! **When a service time ends.** The kernel stamps packets and knows no records. A response ends with the stamp of the
//! read that held the last byte of its last record; deciphering is not part of it. The stamp is that of the last packet
//! of that read, so that it is never early; it is late by what came behind the record in the same read, which with one
//! request in flight is nothing or a session ticket. **When it begins**: before the request is enciphered.
//!
//! **Resumption** is a chosen ratio. The connections to be resumed are spread evenly, those of which the server made
//! a full handshake after all are made up for by later ones, and what was counted is what rustls says that happened. The
//! tickets that a thread has are used once each (RFC 8446 C.4) and bounded; full handshakes bring new ones.
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
