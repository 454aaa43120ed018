//! Stores every memcached key before the first trial, so that reads find something: one connection, many requests in flight, no
//! clock. Its requests count in no result.

use super::Control;
use crate::clock;
use crate::error::LoadError;
use crate::protocol::memcached::{Keys, MAX_LINE_BYTES, write_set};
use crate::transport::tls::{self, TlsSettings};
use memchr::memchr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::time::Duration;
use sysdyno_record::plan::{Endpoint, LoadPlan};
use sysdyno_record::units::SpanNs;
use sysdyno_record::wire::MemcachedPlan;

/// Bytes that are sent before their answers are read, the last key's aside; small enough that neither side can block the
/// other. And one record of TLS: memcached 1.6.18 reads a buffer of 16 KiB, and waits for the socket although its TLS has the
/// rest of a record.
const BATCH_BYTES: usize = 16 * 1024;

/// Keys that are stored before their answers are read, at most.
const BATCH_COUNT: u64 = 256;

/// Stores all keys of a plan, unless it is stopped.
///
/// # Errors
/// The server cannot be reached, or does not store a value.
pub(super) fn preload(
    plan: &LoadPlan,
    tls: Option<&TlsSettings>,
    memcached: &MemcachedPlan,
    keys: &Keys,
    control: &Control,
) -> Result<(), LoadError> {
    let failed = |cause: io::Error| LoadError::Preload { target: plan.target.url.clone(), cause };
    let stream = connect(plan, tls).map_err(failed)?;
    let mut session =
        Session { stream: BufReader::new(stream), memcached, keys, control, patience: plan.deadlines.total };
    session.store_all().map_err(failed)
}

trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

fn connect(plan: &LoadPlan, tls: Option<&TlsSettings>) -> io::Result<Box<dyn Stream>> {
    let patience = Some(plan.deadlines.total.duration());
    Ok(match &plan.target.endpoint {
        Endpoint::Tcp(address) => {
            let stream = TcpStream::connect_timeout(address, plan.deadlines.connect.duration())?;
            stream.set_read_timeout(patience)?;
            stream.set_write_timeout(patience.max(Some(Duration::from_secs(1))))?;
            stream.set_nodelay(true)?;
            match tls {
                None => Box::new(stream),
                Some(tls) => Box::new(tls::Stream::secure(stream, tls, plan.deadlines.connect)?),
            }
        }
        Endpoint::Unix(path) => {
            let stream = UnixStream::connect(path)?;
            stream.set_read_timeout(patience)?;
            stream.set_write_timeout(patience)?;
            Box::new(stream)
        }
    })
}

struct Session<'a> {
    stream: BufReader<Box<dyn Stream>>,
    memcached: &'a MemcachedPlan,
    keys: &'a Keys,
    control: &'a Control,
    patience: SpanNs,
}

impl Session<'_> {
    /// The next line, or what came until the end or the longest one. A server that trickles has no more time for it
    /// than one that is silent.
    fn read_line(&mut self) -> io::Result<Vec<u8>> {
        let (begun, mut line) = (clock::now(), Vec::new());
        loop {
            if clock::now().since(begun) > self.patience.0 {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let available = match self.stream.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            let end = memchr(b'\n', available).map(|end| end + 1);
            let taken = end.unwrap_or(available.len());
            line.extend_from_slice(&available[..taken]);
            self.stream.consume(taken);
            if end.is_some() || taken == 0 || line.len() > MAX_LINE_BYTES {
                return Ok(line);
            }
        }
    }

    fn store_all(&mut self) -> io::Result<()> {
        let mut next = 0;
        let mut batch = Vec::with_capacity(BATCH_BYTES);
        while next < self.keys.count() && !self.control.is_stopped() {
            batch.clear();
            let begin = next;
            while next < self.keys.count() && next - begin < BATCH_COUNT && batch.len() < BATCH_BYTES {
                write_set(self.memcached.dialect, next, self.memcached.expiry_seconds, self.keys, &mut batch);
                next += 1;
            }
            self.stream.get_mut().write_all(&batch)?;
            (begin..next).try_for_each(|_| self.read_stored())?;
        }
        Ok(())
    }

    fn read_stored(&mut self) -> io::Result<()> {
        match self.read_line()?.as_slice() {
            b"STORED\r\n" | b"HD\r\n" => Ok(()),
            b"" => Err(io::ErrorKind::UnexpectedEof.into()),
            other => {
                let shown = other[..other.len().min(100)].escape_ascii();
                Err(io::Error::other(format!("the server answered '{shown}'")))
            }
        }
    }
}
