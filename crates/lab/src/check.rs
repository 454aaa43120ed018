//! Checks whether a service works: by an HTTP request, by its port, or by its output.
//!
//! Checks run in the service's namespace. Answers are bounded and not trusted: a check only takes the status, whether it could
//! connect, or whether the answer contains a text.

use super::namespace;
use super::question::{HttpAnswer, TimedStream, http};
use super::recipe::HealthCheck;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

/// How long one question may take.
const LIMIT: Duration = Duration::from_secs(5);

/// Longest log that is looked through, from its end. Unit: bytes.
const MAX_LOG: u64 = 1 << 20;

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
pub(super) fn ask(check: &HealthCheck, subject: &Subject<'_>) -> io::Result<()> {
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
        let stream = TimedStream::connect(address, LIMIT)?;
        let Some(path) = &check.http else { return Ok(()) };
        let answer = http(stream, path)?;
        answer.expect(check.status)?;
        check.text.as_ref().map_or(Ok(()), |text| expect_text(answer, text))
    })
}

/// What is found at a path by HTTP, as far as it is looked through.
///
/// # Errors
/// There is no answer, or one with another status than 200.
pub(super) fn body(namespace: &Path, address: SocketAddr, path: &str) -> io::Result<Vec<u8>> {
    namespace::within(namespace, || {
        let answer = http(TimedStream::connect(address, LIMIT)?, path)?;
        answer.expect(Some(200))?;
        answer.body()
    })
}

/// Reads an answer, in which this text has to be.
fn expect_text(answer: HttpAnswer, text: &str) -> io::Result<()> {
    let (bytes, read) = answer.rest();
    if bytes.windows(text.len().max(1)).any(|part| part == text.as_bytes()) {
        return Ok(());
    }
    read?;
    Err(io::Error::other(format!("its answer does not contain '{}'", text.escape_debug())))
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
