//! Errors that keep the server from starting.

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
    /// The address of metrics can be reached from other hosts.
    #[error(
        "cannot serve metrics on {0}: other hosts could read them\nhint: use --prometheus 127.0.0.1:{port}; to monitor \
         from another host, push with --remote-write or --otlp", port = .0.port()
    )]
    MetricsNotLoopback(SocketAddr),
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

/// What keeps metrics from being pushed.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// Nothing can be written to this URL.
    #[error("cannot push metrics to '{url}': {cause}\nhint: write http://HOST:PORT{path}")]
    Url {
        /// The URL, as it was typed.
        url: String,
        /// Why not.
        cause: &'static str,
        /// The path that such a URL usually has.
        path: &'static str,
    },
    /// The message did not arrive, as far as is known.
    #[error("{cause}")]
    Send {
        /// Why not.
        cause: String,
    },
    /// The message was not accepted.
    #[error("the server answered with status {status}")]
    Status {
        /// The status code.
        status: u16,
    },
}
