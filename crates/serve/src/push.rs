//! Sends one message to a monitoring system: a `POST` over plain HTTP, with a time limit.

use crate::PushError;
use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HOST, USER_AGENT};
use axum::http::{Request, Uri};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};

/// For how long a message may take, from the name of the host to the status.
const PUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// How metrics are pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushProtocol {
    /// Prometheus remote write 1.0.
    RemoteWrite,
    /// OTLP over HTTP, in its binary form.
    Otlp,
}

impl PushProtocol {
    /// The path that most servers take it at.
    pub fn path(self) -> &'static str {
        match self {
            PushProtocol::RemoteWrite => "/api/v1/write",
            PushProtocol::Otlp => "/v1/metrics",
        }
    }

    /// Headers of a message beside its type.
    fn headers(self) -> &'static [(&'static str, &'static str)] {
        match self {
            PushProtocol::RemoteWrite => {
                &[("content-encoding", "snappy"), ("x-prometheus-remote-write-version", "0.1.0")]
            }
            PushProtocol::Otlp => &[],
        }
    }
}

/// Where metrics are pushed to.
#[derive(Debug)]
pub struct MetricsPusher {
    protocol: PushProtocol,
    uri: Uri,
    authority: String,
    runtime: Runtime,
}

impl MetricsPusher {
    /// One that pushes to this URL.
    ///
    /// # Errors
    /// It is not an `http` URL without user information.
    pub fn new(url: &str, protocol: PushProtocol) -> Result<MetricsPusher, PushError> {
        let refuse = |cause| PushError::Url { url: url.to_owned(), cause, path: protocol.path() };
        let uri: Uri = url.parse().map_err(|_| refuse("it is no URL"))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => return Err(refuse("https is not supported")),
            _ => return Err(refuse("it does not begin with http://")),
        }
        let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
        if authority.contains('@') {
            return Err(refuse("it has a user name or a password"));
        }
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|source| PushError::Send { cause: source.to_string() })?;
        Ok(MetricsPusher { protocol, uri, authority, runtime })
    }

    /// Sends a message; waits until it is answered.
    ///
    /// # Errors
    /// It could not be sent in time, or was not accepted.
    pub fn send(&self, message: Vec<u8>) -> Result<(), PushError> {
        let sent =
            self.runtime.block_on(async { tokio::time::timeout(PUSH_TIMEOUT, self.post(message)).await });
        match sent {
            Ok(Ok(status)) if (200..300).contains(&status) => Ok(()),
            Ok(Ok(status)) => Err(PushError::Status { status }),
            Ok(Err(cause)) => Err(PushError::Send { cause }),
            Err(_) => Err(PushError::Send { cause: "it timed out".into() }),
        }
    }

    async fn post(&self, message: Vec<u8>) -> Result<u16, String> {
        let text = |error: &dyn std::error::Error| error.to_string();
        let host = self.uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let port = self.uri.port_u16().unwrap_or(80);
        let stream = TcpStream::connect((host, port)).await.map_err(|error| text(&error))?;
        let (mut sender, connection) =
            http1::handshake::<_, Body>(TokioIo::new(stream)).await.map_err(|error| text(&error))?;
        let connection = tokio::spawn(connection);
        let path = self.uri.path_and_query().map_or("/", |path| path.as_str());
        let request = Request::post(path)
            .header(HOST, &self.authority)
            .header(USER_AGENT, concat!("sysdyno/", env!("CARGO_PKG_VERSION")))
            .header(CONTENT_TYPE, "application/x-protobuf");
        let request = self
            .protocol
            .headers()
            .iter()
            .fold(request, |request, (name, value)| request.header(*name, *value));
        let request = request.body(Body::from(message)).map_err(|error| text(&error))?;
        let response = sender.send_request(request).await.map_err(|error| text(&error))?;
        connection.abort();
        Ok(response.status().as_u16())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// A server that reads a request's head and answers this.
    fn answering(answer: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
        let url = format!("http://{}/api/v1/write", listener.local_addr().expect("has one"));
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("accepts");
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        });
        url
    }

    fn send(url: &str) -> Result<(), PushError> {
        MetricsPusher::new(url, PushProtocol::Otlp).expect("a URL").send(b"message".to_vec())
    }

    #[test]
    fn what_is_accepted_is_sent_and_everything_else_says_why_not() {
        assert!(send(&answering("HTTP/1.1 204 No Content\r\n\r\n")).is_ok());
        let refused = send(&answering("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"));
        assert!(matches!(refused, Err(PushError::Status { status: 400 })), "{refused:?}");
        for answer in ["", "\u{1}\u{2}\r\n\r\n"] {
            assert!(matches!(send(&answering(answer)), Err(PushError::Send { .. })));
        }
    }

    #[test]
    fn urls_that_cannot_be_written_to_are_refused() {
        for url in ["https://127.0.0.1/w", "127.0.0.1:9090", "http://user:secret@127.0.0.1/", "ftp://h/", ""]
        {
            let refused = MetricsPusher::new(url, PushProtocol::RemoteWrite);
            assert!(matches!(refused, Err(PushError::Url { .. })), "{url}");
        }
    }
}
