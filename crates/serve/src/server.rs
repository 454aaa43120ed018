//! Serves the folder of runs until it is stopped.

use crate::key::ChangeKey;
use crate::listening::{ClientLimits, accept, listen_on_loopback, stopped};
use crate::orders::Orders;
use crate::routes::router;
use crate::shelf::Shelf;
use crate::site::{ServedOrders, ServedSite};
use crate::{AccessToken, Pages, ServeError};
use futures_util::future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Builder;

const LIMITS: ClientLimits = ClientLimits {
    // A browser opens six.
    connections_count: 64,
    head_bytes: 16 << 10,
    head_timeout: Duration::from_secs(30),
    only_request: None,
};

/// Threads for work that blocks: pages, searches, and looks at runs that grow.
const BLOCKING_THREADS: usize = 8;

/// What is served, where, and for whom.
pub struct ServeOptions {
    /// The address to listen on; its port may be 0.
    pub listen: SocketAddr,
    /// The folder of runs.
    pub runs_dir: PathBuf,
    /// The folder of experiments; `None`: there is none to be shown.
    pub experiments_dir: Option<PathBuf>,
    /// Where the index of a large folder is kept; `None`: nowhere.
    pub cache: Option<PathBuf>,
    /// Who has it is answered.
    pub token: AccessToken,
    /// What the program knows.
    pub pages: Arc<dyn Pages>,
    /// How a browser's orders are carried out; `None`: they are not.
    pub orders: Option<RunsOrdered>,
}

/// What it takes to start and stop runs from a browser.
pub struct RunsOrdered {
    /// This program.
    pub program: PathBuf,
    /// A secret beside the token that only the server's own pages know.
    pub key: AccessToken,
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
    let ServeOptions { listen, runs_dir, experiments_dir, cache, token, pages, orders } = options;
    let listener = listen_on_loopback(listen, ServeError::NotLoopback)?;
    let fail = |source| ServeError::Listen { address: listen, source };
    let address = listener.local_addr().map_err(fail)?;
    let shelf = Shelf::open(&runs_dir, experiments_dir, cache.as_deref(), pages)?;
    let orders = orders.map(|RunsOrdered { program, key }| ServedOrders {
        orders: Orders::new(program, runs_dir),
        key: ChangeKey(key),
    });
    let site = ServedSite::new(Arc::new(shelf), token, address.port(), orders);
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .build()
        .map_err(fail)?;
    let ended = runtime.block_on(async {
        let listener = TcpListener::from_std(listener).map_err(fail)?;
        ready(address);
        let accepted = pin!(accept(&listener, router(Arc::new(site)), LIMITS));
        future::select(accepted, pin!(stopped(is_stopped))).await;
        Ok(())
    });
    // A page that is being made is not waited for.
    runtime.shutdown_background();
    ended
}
