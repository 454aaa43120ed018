//! Looking whether a service does its work: by HTTP, by its port, or by what it has printed.
//!
//! Questions are asked from within the service's namespace. What answers is bounded, and not believed: a status, a
//! connection, or whether a text is in it, is all that is taken from it.

use super::namespace;
use super::recipe::Check;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

/// How long one question may take.
const LIMIT: Duration = Duration::from_secs(5);

/// Longest log that is looked through, from its end. Unit: bytes.
const MAX_LOG: u64 = 1 << 20;

/// Most of an answer that is looked through. Unit: bytes.
const MAX_ANSWER: u64 = 1 << 20;

/// Where to look.
pub(super) struct Subject<'a> {
    pub(super) namespace: &'a Path,
    pub(super) address: IpAddr,
    pub(super) port: Option<u16>,
    pub(super) log: &'a Path,
}

/// Asks once.
///
/// # Errors
/// What is not as it should be.
pub(super) fn ask(check: &Check, subject: &Subject<'_>) -> io::Result<()> {
    if let Some(text) = &check.log {
        let printed = tail(subject.log, MAX_LOG)?;
        if !printed.contains(text.as_str()) {
            return Err(io::Error::other(format!("it has not printed '{text}' yet")));
        }
    }
    if check.http.is_none() && check.port.is_none() {
        return Ok(());
    }
    let typed = check.port.as_ref().and_then(|port| port.parse().ok());
    let port = typed.or(subject.port).ok_or_else(|| io::Error::other("its port is not known"))?;
    let address = SocketAddr::new(subject.address, port);
    namespace::within(subject.namespace, || {
        let stream = TcpStream::connect_timeout(&address, LIMIT)?;
        match &check.http {
            None => Ok(()),
            Some(path) => {
                let answer = http(stream, address, path)?;
                expect(answer.status, check.status)?;
                check.text.as_ref().map_or(Ok(()), |text| answer.expect(text))
            }
        }
    })
}

/// What is found at a path by HTTP, as far as it is looked through.
///
/// # Errors
/// There is no answer, or one with another status than 200.
pub(super) fn body(namespace: &Path, address: SocketAddr, path: &str) -> io::Result<Vec<u8>> {
    namespace::within(namespace, || {
        let answer = http(TcpStream::connect_timeout(&address, LIMIT)?, address, path)?;
        expect(answer.status, Some(200))?;
        let mut bytes = Vec::new();
        answer.stream.take(MAX_ANSWER).read_to_end(&mut bytes)?;
        let end = bytes.windows(4).position(|part| part == b"\r\n\r\n").map_or(0, |at| at + 4);
        Ok(bytes.split_off(end))
    })
}

/// The answer to one request.
struct Answer {
    status: u16,
    stream: TcpStream,
}

impl Answer {
    /// Reads the rest, in which this text has to be.
    fn expect(self, text: &str) -> io::Result<()> {
        let mut bytes = Vec::new();
        let read = self.stream.take(MAX_ANSWER).read_to_end(&mut bytes);
        let is_there = bytes.windows(text.len().max(1)).any(|part| part == text.as_bytes());
        if is_there {
            return Ok(());
        }
        read?;
        Err(io::Error::other(format!("its answer does not hold '{}'", text.escape_debug())))
    }
}

/// One request; of HTTP/1.0, so that the body comes in one piece, and ends with the connection.
fn http(mut stream: TcpStream, address: SocketAddr, path: &str) -> io::Result<Answer> {
    stream.set_read_timeout(Some(LIMIT))?;
    stream.set_write_timeout(Some(LIMIT))?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    // "HTTP/1.1 200": what follows does not matter for the status.
    let mut head = [0; 12];
    stream.read_exact(&mut head)?;
    let status = head.strip_prefix(b"HTTP/1.").and_then(|rest| rest.get(2..)).map(String::from_utf8_lossy);
    let status = status.and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other("its answer is not HTTP"))?;
    Ok(Answer { status, stream })
}

fn expect(status: u16, wanted: Option<u16>) -> io::Result<()> {
    let is_good = wanted.map_or((200..400).contains(&status), |wanted| status == wanted);
    if is_good { Ok(()) } else { Err(io::Error::other(format!("it answers with status {status}"))) }
}

/// The end of a file, as text.
pub(super) fn tail(path: &Path, most: u64) -> io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn answered(answer: &'static [u8]) -> io::Result<Answer> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("can be bound");
        let address = listener.local_addr().expect("has one");
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody comes");
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(answer);
        });
        let answered = TcpStream::connect(address).and_then(|stream| http(stream, address, "/"));
        server.join().expect("ends");
        answered
    }

    #[test]
    fn the_status_decides() {
        assert_eq!(answered(b"HTTP/1.1 204 No Content\r\n\r\n").expect("is HTTP").status, 204);
        assert!(answered(b"SSH-2.0-OpenSSH_9.2\r\n").is_err());
        assert!(answered(b"").is_err());
        assert!(expect(404, None).is_err() && expect(404, Some(404)).is_ok() && expect(301, None).is_ok());
    }
    #[test]
    fn a_text_has_to_be_in_the_answer() {
        let page = b"HTTP/1.1 200 OK\r\n\r\n<h1>Post 60: hello</h1>";
        assert!(answered(page).expect("is HTTP").expect("Post 60:").is_ok());
        let error = answered(page).expect("is HTTP").expect("Post 61:").expect_err("is not there");
        assert_eq!(error.to_string(), "its answer does not hold 'Post 61:'");
    }
}
