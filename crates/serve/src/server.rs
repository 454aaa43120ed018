//! Listens, accepts, and ends.

use crate::routes::router;
use crate::shelf::Shelf;
use crate::site::ServedSite;
use crate::{AccessToken, Pages, ServeError};
use axum::Router;
use futures_util::future;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Most connections at a time; a browser opens six.
const CONNECTIONS_MAX: usize = 64;

/// Most of a request's head. Unit: bytes.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// For how long the head of a request may take, from the connection or the response before it.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Threads for work that blocks: pages, searches, and looks at runs that grow.
const BLOCKING_THREADS: usize = 8;

/// How often it is asked whether to stop.
pub(crate) const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// What is served, where, and for whom.
pub struct ServeOptions {
    /// The address to listen on; its port may be 0.
    pub listen: SocketAddr,
    /// The folder of runs.
    pub runs_dir: PathBuf,
    /// Where the index of a large folder is kept; `None`: nowhere.
    pub cache: Option<PathBuf>,
    /// Who has it is answered.
    pub token: AccessToken,
    /// What the program knows.
    pub pages: Arc<dyn Pages>,
}

impl std::fmt::Debug for ServeOptions {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ServeOptions").field("listen", &self.listen).finish_non_exhaustive()
    }
}

/// Serves until `is_stopped`; `ready` is told the address once it is listened on.
///
/// # Errors
/// The address is not loopback or cannot be listened on, or the folder of runs cannot be read.
pub fn serve(
    options: ServeOptions,
    is_stopped: impl Fn() -> bool,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    let ServeOptions { listen, runs_dir, cache, token, pages } = options;
    let listener = listen_on_loopback(listen, ServeError::NotLoopback)?;
    let fail = |source| ServeError::Listen { address: listen, source };
    let address = listener.local_addr().map_err(fail)?;
    let shelf = Shelf::open(&runs_dir, cache.as_deref(), pages)?;
    let site = ServedSite::new(Arc::new(shelf), token, address.port());
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .build()
        .map_err(fail)?;
    let ended = runtime.block_on(async {
        let listener = TcpListener::from_std(listener).map_err(fail)?;
        ready(address);
        let accepted = pin!(accept(&listener, router(Arc::new(site))));
        future::select(accepted, pin!(stopped(is_stopped))).await;
        Ok(())
    });
    // A page that is being made is not waited for.
    runtime.shutdown_background();
    ended
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

async fn stopped(is_stopped: impl Fn() -> bool) {
    while !is_stopped() {
        tokio::time::sleep(STOP_INTERVAL).await;
    }
}

async fn accept(listener: &TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => drop(tokio::spawn(converse(stream, router.clone(), place))),
            // Out of descriptors, mostly: they come back when connections end.
            Err(_) => tokio::time::sleep(STOP_INTERVAL).await,
        }
    }
}

async fn converse(stream: TcpStream, router: Router, place: OwnedSemaphorePermit) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    // A browser that goes away in the middle is no error.
    let _ = connection.await;
    drop(place);
}
