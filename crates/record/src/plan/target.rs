//! Where the load goes.

use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;

/// The server under test, resolved and pinned: nothing is looked up again while the load runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The URL as the user wrote it, without user information.
    pub url: String,
    /// Where connections go.
    pub endpoint: Endpoint,
    /// The `Host` header.
    pub host: String,
    /// Path and query of the request line, beginning with `/`.
    pub path: String,
}

/// The port of name servers, TCP and UDP. *Source*: RFC 1035, section 4.2.
pub const NAME_SERVICE_PORT: u16 = 53;

/// The address that connections are made to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Endpoint {
    /// TCP over IPv4 or IPv6.
    Tcp(SocketAddr),
    /// A Unix stream socket.
    Unix(PathBuf),
}
