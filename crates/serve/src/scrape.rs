//! Serves the numbers of a running load to a monitoring system on this host: `GET /metrics`.
//!
//! There is no token, because monitoring systems have none to send; anyone on this host can read the numbers of the load
//! and nothing else. The `Host` name is checked as for pages. Each connection serves one request and has a short time
//! limit.

use crate::ServeError;
use crate::answer;
use crate::gate::is_loopback;
use crate::listening::{ClientLimits, accept, listen_on_loopback, stopped};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::get;
use futures_util::future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Builder;

const LIMITS: ClientLimits = ClientLimits {
    connections_count: 16,
    head_bytes: 8 << 10,
    head_timeout: CONNECTION_TIMEOUT,
    only_request: Some(CONNECTION_TIMEOUT),
};

/// For how long a connection may be open: its request, and its response.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(10);

/// A text with its media type.
#[derive(Clone, Debug)]
pub struct ScrapedText {
    /// The media type.
    pub media_type: &'static str,
    /// The text.
    pub text: String,
}

/// Makes the text of this instant, for a client that accepts this.
pub type Scraped = Arc<dyn Fn(&str) -> ScrapedText + Send + Sync>;

/// A server of metrics, in a thread of its own, until it is dropped.
#[derive(Debug)]
pub struct ScrapeServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
}

impl ScrapeServer {
    /// Listens, and answers what `scraped` makes.
    ///
    /// # Errors
    /// The address is not loopback or cannot be listened on.
    pub fn start(listen: SocketAddr, scraped: Scraped) -> Result<ScrapeServer, ServeError> {
        let listener = listen_on_loopback(listen, ServeError::MetricsNotLoopback)?;
        let fail = |source| ServeError::Listen { address: listen, source };
        let address = listener.local_addr().map_err(fail)?;
        let runtime = Builder::new_current_thread().enable_all().build().map_err(fail)?;
        let stop = Arc::new(AtomicBool::new(false));
        let is_stopped = Arc::clone(&stop);
        // Is not joined: a client that is slow must not keep the program from ending.
        std::thread::spawn(move || {
            runtime.block_on(async {
                let Ok(listener) = TcpListener::from_std(listener) else { return };
                let accepted = pin!(accept(&listener, router(scraped), LIMITS));
                future::select(accepted, pin!(stopped(|| is_stopped.load(Ordering::Relaxed)))).await;
            });
            runtime.shutdown_background();
        });
        Ok(ScrapeServer { address, stop })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for ScrapeServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn router(scraped: Scraped) -> Router {
    Router::new().route("/metrics", get(metrics)).fallback(elsewhere).with_state(scraped)
}

async fn metrics(State(scraped): State<Scraped>, headers: HeaderMap) -> Response {
    if !is_loopback(&headers) {
        let text = "cannot answer: the request was sent to another host name";
        return answer::refusal(StatusCode::MISDIRECTED_REQUEST, text);
    }
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let ScrapedText { media_type, text } = scraped(accept);
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    answer::sealed(response)
}

async fn elsewhere() -> Response {
    answer::refusal(StatusCode::NOT_FOUND, "not found: the metrics are at /metrics")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    fn started() -> ScrapeServer {
        let scraped: Scraped =
            Arc::new(|accept| ScrapedText { media_type: "text/plain", text: format!("accept {accept}\n") });
        ScrapeServer::start("127.0.0.1:0".parse().expect("an address"), scraped).expect("listens")
    }

    fn ask(server: &ScrapeServer, head: &str) -> String {
        let mut stream = TcpStream::connect(server.address()).expect("connects");
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("sets");
        stream.write_all(head.as_bytes()).expect("sends");
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response);
        String::from_utf8_lossy(&response).into_owned()
    }

    #[test]
    fn a_client_of_this_host_gets_the_text_that_it_accepts_and_the_connection_ends() {
        let server = started();
        let response = ask(&server, "GET /metrics HTTP/1.1\r\nHost: localhost:1\r\nAccept: a/b\r\n\r\n");
        assert!(response.starts_with("HTTP/1.1 200 ") && response.ends_with("accept a/b\n"), "{response}");
    }

    #[test]
    fn other_names_paths_methods_and_what_is_no_request_are_refused() {
        let server = started();
        for (head, status) in [
            ("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", "421"),
            ("GET /metrics HTTP/1.1\r\n\r\n", "421"),
            ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "404"),
            ("POST /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n", "405"),
            ("\u{1}\u{2}\u{3}\r\n\r\n", "400"),
        ] {
            let response = ask(&server, head);
            assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{head:?}: {response}");
        }
        let long = format!("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX: {}\r\n\r\n", "x".repeat(64 << 10));
        let response = ask(&server, &long);
        assert!(!response.starts_with("HTTP/1.1 2"), "{response}");
    }

    #[test]
    fn clients_that_say_nothing_are_bounded_and_do_not_keep_others_out_for_long() {
        let server = started();
        let silent: Vec<TcpStream> = (0..LIMITS.connections_count)
            .map(|_| TcpStream::connect(server.address()).expect("connects"))
            .collect();
        let response = ask(&server, "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
        assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
        drop(silent);
    }

    #[test]
    fn other_hosts_cannot_reach_it() {
        let scraped: Scraped = Arc::new(|_| ScrapedText { media_type: "", text: String::new() });
        let refused = ScrapeServer::start("0.0.0.0:0".parse().expect("an address"), scraped);
        assert!(matches!(refused, Err(ServeError::MetricsNotLoopback(_))));
    }
}
