//! State that all requests share, and the turns in which they read folders.

use crate::answer;
use crate::key::ChangeKey;
use crate::orders::Orders;
use crate::shelf::Shelf;
use crate::token::AccessToken;
use axum::http::StatusCode;
use axum::response::Response;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Maximum number of requests that read folders at the same time: a run may take a gigabyte of memory.
const READERS_MAX: usize = 2;

/// Longest wait for a page.
const PAGE_TIMEOUT: Duration = Duration::from_secs(120);

/// Maximum number of streams of runs in progress.
const STREAMS_MAX: usize = 32;

/// State shared by all requests.
pub(crate) struct ServedSite {
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) token: AccessToken,
    pub(crate) port: u16,
    pub(crate) streams: Arc<Semaphore>,
    /// `None`: a browser may start nothing.
    pub(crate) orders: Option<ServedOrders>,
    readers: Semaphore,
}

/// Orders, and the key without which none is carried out.
pub(crate) struct ServedOrders {
    pub(crate) orders: Orders,
    pub(crate) key: ChangeKey,
}

impl ServedSite {
    pub(crate) fn new(
        shelf: Arc<Shelf>,
        token: AccessToken,
        port: u16,
        orders: Option<ServedOrders>,
    ) -> ServedSite {
        let streams = Arc::new(Semaphore::new(STREAMS_MAX));
        ServedSite { shelf, token, port, streams, orders, readers: Semaphore::new(READERS_MAX) }
    }

    /// What a page of this server sends along with an order; `None`: it may send none.
    pub(crate) fn key(&self) -> Option<&str> {
        self.orders.as_ref().map(|ordered| ordered.key.text())
    }

    /// Does something that reads folders, when it is its turn.
    pub(crate) async fn read(&self, work: impl FnOnce(&Shelf) -> Response + Send + 'static) -> Response {
        let shelf = Arc::clone(&self.shelf);
        let turn = async {
            let _turn = self.readers.acquire().await;
            tokio::task::spawn_blocking(move || work(&shelf)).await
        };
        match tokio::time::timeout(PAGE_TIMEOUT, turn).await {
            Ok(Ok(response)) => response,
            _ => answer::notice(StatusCode::SERVICE_UNAVAILABLE, "cannot make the page: it takes too long"),
        }
    }
}
