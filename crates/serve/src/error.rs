//! What keeps the server from starting.

use std::io;
use std::net::SocketAddr;
use sysdyno_index::IndexError;

/// An error of the server: the operation, the object, the cause.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address can be reached from other hosts.
    #[error(
        "cannot listen on {0}: only loopback addresses are served\nhint: on the other host, type `ssh -L \
         8080:127.0.0.1:{port} HOST`, and open the URL there with port 8080", port = .0.port()
    )]
    NotLoopback(SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// There is no list of runs.
    #[error(transparent)]
    Index(#[from] IndexError),
}
