//! One query to a service, by the scheme of its URL: `http`, `fastcgi`, or `memcached`.

use super::super::question::{MAX_ANSWER, TimedStream, http};
use super::fastcgi;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

/// How long a service may take to answer.
const LIMIT: Duration = Duration::from_secs(2);

/// The body of the answer, as text.
///
/// # Errors
/// There is none, or it is no answer.
pub(super) fn fetch(url: &str) -> io::Result<String> {
    let wrong = || io::Error::other(format!("'{url}' is not a valid metrics URL"));
    let (scheme, rest) = url.split_once("://").ok_or_else(wrong)?;
    let (address, path) = rest.find('/').map_or((rest, "/"), |at| rest.split_at(at));
    let address: SocketAddr = address.parse().map_err(|_| wrong())?;
    let stream = TimedStream::connect(address, LIMIT)?;
    let bytes = match scheme {
        "http" => {
            let answer = http(stream, path)?;
            answer.expect(Some(200))?;
            answer.body()?
        }
        "fastcgi" => fastcgi::get(stream, path)?,
        "memcached" => memcached(stream)?,
        _ => return Err(wrong()),
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// All statistics, up to the line that ends them.
fn memcached(mut stream: TimedStream) -> io::Result<Vec<u8>> {
    stream.write_all(b"stats\r\n")?;
    let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
    while !answer.ends_with(b"END\r\n") {
        let length = stream.read(&mut piece)?;
        if length == 0 || answer.len() + length > MAX_ANSWER {
            return Err(io::Error::other("its answer is truncated"));
        }
        answer.extend(&piece[..length]);
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// What comes of an answer to a question of this scheme.
    fn asked(scheme: &str, answer: &'static [u8]) -> io::Result<String> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("can be bound");
        let address = listener.local_addr().expect("has one");
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("somebody comes");
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer);
        });
        let fetched = fetch(&format!("{scheme}://{address}/status"));
        server.join().expect("ends");
        fetched
    }

    #[test]
    fn answers_of_every_scheme_are_read() {
        assert_eq!(asked("http", b"HTTP/1.1 200 OK\r\nA: b\r\n\r\nx: 1").expect("is HTTP"), "x: 1");
        let stats = b"STAT a 1\r\nEND\r\n";
        assert_eq!(asked("memcached", stats).expect("has an end"), "STAT a 1\r\nEND\r\n");
        // Version 1, output of request 1, 12 bytes; then its end.
        let output = b"\x01\x06\0\x01\0\x0c\x01\0A: b\r\n\r\nx: 1\0\x01\x03\0\x01\0\x08\0\0\0\0\0\0\0\0\0\0";
        assert_eq!(asked("fastcgi", output).expect("is FastCGI"), "x: 1");
    }

    #[test]
    fn what_is_no_answer_is_told() {
        for (scheme, answer, said) in [
            ("http", &b"HTTP/1.1 404 Not Found\r\n\r\n"[..], "status 404"),
            ("http", b"SSH-2.0-OpenSSH_9.2\r\n", "not HTTP"),
            ("memcached", b"STAT a 1\r\n", "truncated"),
            ("fastcgi", b"HTTP/1.1 400 Bad Request\r\n\r\n", "not FastCGI"),
            ("fastcgi", b"", "fill whole buffer"),
        ] {
            let told = asked(scheme, answer).expect_err(said).to_string();
            assert!(told.contains(said), "{told}");
        }
        for url in ["http", "http://example.org/", "gopher://127.0.0.1:1/"] {
            assert!(fetch(url).is_err(), "{url}");
        }
    }
}
