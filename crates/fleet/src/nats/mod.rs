//! A client of NATS brokers: threads and sockets, and no more of the protocol than a fleet needs.
//!
//! The client that the makers of NATS maintain is asynchronous and brings 44 crates; this one is built on what sysdyno has for
//! its loads. It speaks over TLS, logs in with a key, publishes, and subscribes. Headers, JetStream, and request/reply are
//! left out: a fleet numbers its messages itself.

mod address;
mod client;
mod link;
mod nkey;
mod wire;

pub use address::{BrokerUrl, NoBrokerUrl};
pub use client::{NatsClient, NatsMessage};
pub use link::Login;
pub(crate) use nkey::random;
pub use nkey::{PublicKey, SIGNATURE_BYTES, SigningKey};
