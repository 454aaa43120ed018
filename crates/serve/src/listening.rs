//! Listens on loopback and accepts up to the allowed number of connections, each with a bounded request head.

use crate::ServeError;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How often it is asked whether to stop, and for how long nothing is accepted after a failure.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// Limits for clients.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClientLimits {
    /// Maximum number of connections at a time.
    pub(crate) connections_count: usize,
    /// Maximum size of a request's head. Unit: bytes.
    pub(crate) head_bytes: usize,
    /// How long the head of a request may take, counted from the connection or the previous response.
    pub(crate) head_timeout: Duration,
    /// For how long a connection may be open, which then has a single request; `None`: for as many as it likes.
    pub(crate) only_request: Option<Duration>,
}

/// Listens without blocking, unless the address can be reached from other hosts: then the error is what `refuse` makes.
pub(crate) fn listen_on_loopback(
    listen: SocketAddr,
    refuse: impl FnOnce(SocketAddr) -> ServeError,
) -> Result<StdListener, ServeError> {
    if !listen.ip().is_loopback() {
        return Err(refuse(listen));
    }
    let fail = |source| ServeError::Listen { address: listen, source };
    let listener = StdListener::bind(listen).map_err(fail)?;
    listener.set_nonblocking(true).map_err(fail)?;
    Ok(listener)
}

/// Answers clients forever.
pub(crate) async fn accept(listener: &TcpListener, router: Router, limits: ClientLimits) {
    let places = Arc::new(Semaphore::new(limits.connections_count));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(converse(stream, router.clone(), limits, place))),
            // Out of descriptors, mostly: they come back when connections end.
            Err(_) => tokio::time::sleep(STOP_INTERVAL).await,
        }
    }
}

async fn converse(stream: TcpStream, router: Router, limits: ClientLimits, place: OwnedSemaphorePermit) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .keep_alive(limits.only_request.is_none())
        .header_read_timeout(limits.head_timeout)
        .max_buf_size(limits.head_bytes)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    // A client that goes away in the middle is no error, and one that takes too long is hung up on.
    match limits.only_request {
        Some(longest) => drop(tokio::time::timeout(longest, connection).await),
        None => drop(connection.await),
    }
    drop(place);
}

/// Returns once `is_stopped`.
pub(crate) async fn stopped(is_stopped: impl Fn() -> bool) {
    while !is_stopped() {
        tokio::time::sleep(STOP_INTERVAL).await;
    }
}
