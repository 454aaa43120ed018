//! A fleet: agents on many hosts that dial out to a NATS broker, so that one load can come from all of them.
//!
//! ```text
//!   RemoteAgent ═ tunnel ─► broker ─► session: gate ═ sysdyno agent --stdio
//!   (controller)    (TLS, signed)      (fleet agent)     (one process per session)
//! ```
//! The broker carries what a pipe or `ssh` carries for other hosts: everything above (how a load is split, merged, and judged)
//! is that of `sysdyno_run`. The broker is a lossy pipe that others may read: chunks are numbered and sent again, an agent
//! keeps on its disk what it has measured, and orders are signed.
//!
//! Never: sends load, or obeys an order that the agent's administrator has not allowed.

mod agent;
mod audit;
mod broker;
mod card;
mod controller;
mod credentials;
mod error;
mod files;
mod gate;
mod message;
mod nats;
mod side;
#[cfg(test)]
mod simulation;
mod spool;
mod stream;
mod subject;

pub use agent::{AgentSetup, serve_fleet};
pub use broker::{Broker, BrokerMember, BrokerPlan, BrokerStatus};
pub use card::AgentCard;
pub use controller::{FleetOrder, chosen, open_tunnel, roster};
pub use credentials::Credentials;
pub use error::FleetError;
pub use gate::{AgentGate, NoPermission, Permission};
pub use message::FLEET_PROTOCOL;
pub use nats::{BrokerUrl, Login, NatsClient, NatsMessage, NoBrokerUrl, PublicKey, SigningKey};
