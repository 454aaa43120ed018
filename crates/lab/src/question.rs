//! A query to a service over TCP, with a deadline for the whole answer.
//!
//! The deadline covers the whole exchange rather than each read, so that a service that trickles bytes cannot stall the caller.
//! Only a bounded part of an answer is kept.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use sysdyno_record::units::MonoNs;
use sysdyno_run::clock;

/// Longest answer that is kept. Unit: bytes.
pub(super) const MAX_ANSWER: usize = 1 << 20;

/// A connection that is over at its deadline.
pub(super) struct TimedStream {
    stream: TcpStream,
    address: SocketAddr,
    deadline: MonoNs,
}

impl TimedStream {
    /// Connects, for an exchange that is done within `limit`.
    ///
    /// # Errors
    /// Nobody listens there, or not in time.
    pub(super) fn connect(address: SocketAddr, limit: Duration) -> io::Result<TimedStream> {
        let deadline = clock::monotonic().after(limit);
        let stream = TcpStream::connect_timeout(&address, limit)?;
        Ok(TimedStream { stream, address, deadline })
    }

    fn left(&self) -> io::Result<Option<Duration>> {
        let left = Duration::from_nanos(self.deadline.since(clock::monotonic()));
        if left.is_zero() { Err(late()) } else { Ok(Some(left)) }
    }
}

fn late() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "it did not answer in time")
}

/// A time that is over is, to the kernel, a call that would block.
fn in_words(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::WouldBlock { late() } else { error }
}

impl Read for TimedStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer).map_err(in_words)
    }
}

impl Write for TimedStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes).map_err(in_words)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// An answer by HTTP, of which the status was read.
pub(super) struct HttpAnswer {
    pub(super) status: u16,
    stream: TimedStream,
}

impl HttpAnswer {
    /// Whether the status is the one that is wanted; `None`: any that is no error.
    ///
    /// # Errors
    /// It is not.
    pub(super) fn expect(&self, wanted: Option<u16>) -> io::Result<()> {
        let status = self.status;
        let is_good = wanted.map_or((200..400).contains(&status), |wanted| status == wanted);
        if is_good { Ok(()) } else { Err(io::Error::other(format!("it answered with status {status}"))) }
    }

    /// What comes behind the status, as far as it is kept, and whether it came to its end.
    pub(super) fn rest(self) -> (Vec<u8>, io::Result<usize>) {
        let mut bytes = Vec::new();
        let read = self.stream.take(MAX_ANSWER as u64).read_to_end(&mut bytes);
        (bytes, read)
    }

    /// Its body.
    ///
    /// # Errors
    /// It did not come to its end.
    pub(super) fn body(self) -> io::Result<Vec<u8>> {
        let (bytes, read) = self.rest();
        read?;
        body_of(bytes).ok_or_else(|| io::Error::other("its answer has no body"))
    }
}

/// What comes behind the head; `None` if that has no end.
pub(super) fn body_of(mut answer: Vec<u8>) -> Option<Vec<u8>> {
    let end = answer.windows(4).position(|part| part == b"\r\n\r\n")? + 4;
    Some(answer.split_off(end))
}

/// One request; of HTTP/1.0, so that the body comes in one piece, and ends with the connection.
///
/// # Errors
/// There is no answer, or it is not HTTP.
pub(super) fn http(mut stream: TimedStream, path: &str) -> io::Result<HttpAnswer> {
    let host = stream.address;
    let request = format!("GET {path} HTTP/1.0\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    // "HTTP/1.1 200": what follows does not matter for the status.
    let mut head = [0; 12];
    stream.read_exact(&mut head)?;
    let status = head.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(2..)).map(String::from_utf8_lossy);
    let status = status.and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other("its answer is not HTTP"))?;
    Ok(HttpAnswer { status, stream })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn answered(answer: &'static [u8]) -> io::Result<HttpAnswer> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("can be bound");
        let address = listener.local_addr().expect("has one");
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody comes");
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(answer);
        });
        let answered =
            TimedStream::connect(address, Duration::from_secs(5)).and_then(|stream| http(stream, "/"));
        server.join().expect("ends");
        answered
    }

    #[test]
    fn the_status_decides() {
        let answer = answered(b"HTTP/1.1 204 No Content\r\n\r\n").expect("is HTTP");
        assert!(answer.status == 204 && answer.expect(None).is_ok() && answer.expect(Some(200)).is_err());
        assert!(answered(b"HTTP/1.1 404 \r\n\r\n").expect("is HTTP").expect(None).is_err());
        assert!(answered(b"SSH-2.0-OpenSSH_9.2\r\n").is_err());
        assert!(answered(b"").is_err());
    }

    #[test]
    fn the_body_is_what_comes_behind_the_head() {
        let body = |answer| answered(answer).expect("is HTTP").body();
        assert_eq!(body(b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nx: 1").expect("has an end"), b"x: 1");
        assert!(body(b"HTTP/1.1 200 OK\r\nA: b").is_err());
    }

    #[test]
    fn who_sends_a_byte_now_and_then_holds_nobody_up() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("can be bound");
        let address = listener.local_addr().expect("has one");
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody comes");
            // Until nobody reads any more.
            while stream.write_all(b"x").is_ok() {
                std::thread::yield_now();
            }
        });
        let mut stream = TimedStream::connect(address, Duration::from_millis(50)).expect("somebody listens");
        let error = io::copy(&mut stream, &mut io::sink()).expect_err("it has no end");
        assert_eq!(error.to_string(), "it did not answer in time");
    }

    #[test]
    fn who_never_answers_is_late() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("can be bound");
        let address = listener.local_addr().expect("has one");
        let stream = TimedStream::connect(address, Duration::from_millis(50)).expect("somebody listens");
        let error = http(stream, "/").err().expect("nobody answers");
        assert_eq!(error.to_string(), "it did not answer in time");
    }
}
