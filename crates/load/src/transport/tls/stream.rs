//! A blocking TLS stream, for work before a load. Each read waits for the socket once, so a peer that trickles bytes gets no
//! more time than the reader allows.

use super::asked::Asked;
use super::failure::{CLOSED_EARLY, HandshakeState, classify};
use super::layer::read_records;
use super::settings::TlsSettings;
use crate::clock;
use crate::failure::{Detail, Fault, is_tls_record};
use rustls::ClientConnection;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use sysdyno_record::load::FailureClass;
use sysdyno_record::units::SpanNs;

/// Bytes that are read at a time: one record.
const CHUNK_BYTES: usize = 16 * 1024;

const HANDSHAKING: HandshakeState = HandshakeState { is_handshaking: true, is_asked: false };

/// A failure as an error with its reason, and a hint on a separate line.
fn told(fault: Fault, arrived: &[u8]) -> io::Error {
    let mut text = fault.class.meaning().trim_end_matches('.').to_owned();
    if let Some(clause) = fault.detail.clause(arrived) {
        text.push_str(&format!(": {clause}"));
    }
    if let Some(hint) = fault.class.hint() {
        text.push_str(&format!("\nhint: {hint}"));
    }
    // It goes on behind a colon.
    text[..1].make_ascii_lowercase();
    io::Error::other(text)
}

/// A stream, secured by a full handshake.
pub(crate) struct Stream {
    socket: TcpStream,
    connection: ClientConnection,
    asked: Arc<Asked>,
    has_heard: bool,
    arrived: Box<[u8]>,
    /// What was deciphered and not read yet.
    plain: Vec<u8>,
}

impl Stream {
    /// Makes a handshake, in so long at most.
    ///
    /// # Errors
    /// The socket fails, or the server is none that may be spoken to.
    pub(crate) fn secure(socket: TcpStream, settings: &TlsSettings, patience: SpanNs) -> io::Result<Stream> {
        let mut config = settings.config.clone();
        let asked = Arc::new(Asked::default());
        asked.note_in(&mut config);
        let made = ClientConnection::new(Arc::new(config), settings.name.clone());
        let connection = made.map_err(|error| told(classify(&error, HANDSHAKING), &[]))?;
        let arrived = vec![0; CHUNK_BYTES].into();
        let mut stream = Stream { socket, connection, asked, has_heard: false, arrived, plain: Vec::new() };
        let begun = clock::now();
        stream.pass_on()?;
        while stream.connection.is_handshaking() {
            if clock::now().since(begun) > patience.0 {
                return Err(io::ErrorKind::TimedOut.into());
            }
            if !stream.fetch()? {
                return Err(told(CLOSED_EARLY, &[]));
            }
        }
        Ok(stream)
    }

    /// Sends what TLS has to send.
    fn pass_on(&mut self) -> io::Result<()> {
        while self.connection.wants_write() {
            self.connection.write_tls(&mut self.socket)?;
        }
        Ok(())
    }

    /// Deciphers what comes next; whether more may come.
    fn fetch(&mut self) -> io::Result<bool> {
        let length = self.socket.read(&mut self.arrived)?;
        let arrived = &self.arrived[..length];
        if !self.has_heard && length > 0 && !is_tls_record(arrived) {
            let fault = Fault::with(FailureClass::TlsPlainText, Detail::Answered(length));
            return Err(told(fault, arrived));
        }
        self.has_heard |= length > 0;
        let read = read_records(&mut self.connection, arrived, &mut self.plain);
        // After an error, an alert that tells the server why.
        let passed_on = self.pass_on();
        let has_ended = read.map_err(|error| {
            let is_handshaking = self.connection.is_handshaking();
            let standing = HandshakeState { is_handshaking, is_asked: self.asked.take() };
            told(classify(&error, standing), &[])
        })?;
        passed_on?;
        Ok(length > 0 && !has_ended)
    }
}

impl Read for Stream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.plain.is_empty() && self.fetch()? && self.plain.is_empty() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let length = self.plain.len().min(out.len());
        out[..length].copy_from_slice(&self.plain[..length]);
        self.plain.drain(..length);
        Ok(length)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = self.connection.writer().write(bytes)?;
        self.pass_on()?;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()
    }
}
