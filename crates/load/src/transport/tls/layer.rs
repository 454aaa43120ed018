//! The transport that encrypts outgoing data and decrypts incoming data.

use super::asked::Asked;
use super::failure::{CLOSED_EARLY, HandshakeState, classify};
use super::sessions::{Access, Sessions};
use super::settings::TlsSettings;
use crate::error::LoadError;
use crate::failure::{Detail, Fault, is_tls_record};
use crate::transport::{
    Completion, ConnectionRoute, Gather, Handshake, Message, Send, Slot, Submitted, Transport,
};
use rustix::io::Errno;
use rustls::client::Resumption;
use rustls::{ClientConfig, ClientConnection, HandshakeKind};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;
use sysdyno_record::load::FailureClass;

/// Bytes that are enciphered at a time: four records.
const CHUNK_BYTES: usize = 64 * 1024;

/// A transport with TLS.
pub(crate) struct Tls<T> {
    below: T,
    settings: TlsSettings,
    sessions: Arc<Sessions>,
    /// Configurations for full and for resumed handshakes.
    full: Arc<ClientConfig>,
    resuming: Arc<ClientConfig>,
    asked: Arc<Asked>,
    ratio: Ratio,
    messages: Arc<[Box<[u8]>]>,
    links: Vec<Link>,
    /// What was deciphered of the last bytes that arrived, or those themselves if they are no TLS.
    plain: Vec<u8>,
    /// What is told before anything else is asked of the transport below.
    follow: VecDeque<(Slot, Completion)>,
}

/// TLS on one socket.
#[derive(Default)]
struct Link {
    connection: Option<ClientConnection>,
    is_ready: bool,
    /// Something has arrived.
    has_heard: bool,
    /// The server asked for a certificate, and there is none.
    is_asked: bool,
    wishes_resumption: bool,
    /// What is to be sent, in clear.
    outgoing: Vec<u8>,
}

/// Which of the connections are to be resumed.
#[derive(Clone, Copy, Debug, Default)]
struct Ratio {
    wanted: f64,
    dialed: f64,
    resumed: f64,
}

impl Ratio {
    fn next(&mut self, can_resume: bool) -> bool {
        self.dialed += 1.0;
        let is_due = can_resume && self.resumed + 1.0 <= self.wanted * self.dialed + 1e-9;
        self.resumed += f64::from(u8::from(is_due));
        is_due
    }

    /// A connection that was to be resumed was not.
    fn make_up(&mut self) {
        self.resumed -= 1.0;
    }
}

impl<T: Transport> Tls<T> {
    /// The transport is there: the handshake begins.
    fn begin(&mut self, slot: Slot) -> Result<(), Completion> {
        let link = &mut self.links[slot as usize];
        link.wishes_resumption = self.ratio.next(self.sessions.is_ready());
        let config = if link.wishes_resumption { &self.resuming } else { &self.full };
        let made = ClientConnection::new(Arc::clone(config), self.settings.name.clone());
        let standing = HandshakeState { is_handshaking: true, is_asked: false };
        let connection = made.map_err(|error| Completion::Refused(classify(&error, standing)))?;
        *link = Link {
            connection: Some(connection),
            wishes_resumption: link.wishes_resumption,
            outgoing: std::mem::take(&mut link.outgoing),
            ..Link::default()
        };
        match self.pass_on(slot) {
            Send::Failed(errno) => Err(Completion::Failed(errno)),
            Send::Complete | Send::Partial(_) | Send::Pending | Send::Refused(_) => Ok(()),
        }
    }

    /// Hands over what TLS has to send.
    fn pass_on(&mut self, slot: Slot) -> Send {
        let Some(connection) = &mut self.links[slot as usize].connection else {
            return Send::Failed(Errno::NOTCONN);
        };
        let out = self.below.outgoing(slot);
        while connection.wants_write() {
            // Writing into memory does not fail.
            let _ = connection.write_tls(out);
        }
        self.below.flush(slot)
    }

    /// Enciphers bytes and sends them.
    fn encipher(&mut self, slot: Slot, bytes: &[u8]) -> Send {
        for chunk in bytes.chunks(CHUNK_BYTES) {
            let Some(connection) = &mut self.links[slot as usize].connection else {
                return Send::Failed(Errno::NOTCONN);
            };
            let out = self.below.outgoing(slot);
            let mut left = chunk;
            while !left.is_empty() {
                let taken = connection.writer().write(left).unwrap_or(0);
                while connection.wants_write() {
                    let _ = connection.write_tls(out);
                }
                if taken == 0 {
                    return Send::Failed(Errno::PIPE);
                }
                left = &left[taken..];
            }
        }
        self.below.flush(slot)
    }

    /// What became of a completion of the transport below; `None` if nothing that concerns who is above.
    fn translate(&mut self, slot: Slot, completion: Completion) -> Option<Completion> {
        let is_ready = self.links[slot as usize].is_ready;
        match completion {
            Completion::Connected => {
                Some(self.begin(slot).map_or_else(|failed| failed, |()| Completion::Reached))
            }
            Completion::Received(length) => self.decipher(slot, length),
            Completion::Ended if is_ready => Some(Completion::Cut),
            Completion::Failed(_) | Completion::SendFailed(_) | Completion::Ended
                if !is_ready && self.links[slot as usize].connection.is_some() =>
            {
                Some(Completion::Refused(CLOSED_EARLY))
            }
            Completion::Sent if !is_ready => None,
            other => Some(other),
        }
    }

    /// Deciphers what arrived. The first of what is to be told is returned, the rest follows.
    fn decipher(&mut self, slot: Slot, length: usize) -> Option<Completion> {
        self.plain.clear();
        let link = &mut self.links[slot as usize];
        let connection = link.connection.as_mut()?;
        let arrived = self.below.received(length);
        if !link.has_heard {
            link.has_heard = true;
            if !is_tls_record(arrived) {
                self.plain.extend_from_slice(arrived);
                let answered = Detail::Answered(length);
                return Some(Completion::Refused(Fault::with(FailureClass::TlsPlainText, answered)));
            }
        }
        let read = read_records(connection, arrived, &mut self.plain);
        let is_handshaking = !link.is_ready;
        if is_handshaking {
            link.is_asked |= self.asked.take();
        }
        let has_ended = match read {
            Ok(has_ended) => has_ended,
            Err(error) => {
                let fault = classify(&error, HandshakeState { is_handshaking, is_asked: link.is_asked });
                // An alert tells the server why.
                let _ = self.pass_on(slot);
                return Some(Completion::Refused(fault));
            }
        };
        if connection.wants_write()
            && let Send::Failed(errno) = self.pass_on(slot)
        {
            return Some(Completion::Failed(errno));
        }
        if let Some(secured) = self.secure(slot) {
            self.follow.push_back((slot, secured));
        }
        if !self.plain.is_empty() {
            self.follow.push_back((slot, Completion::Received(self.plain.len())));
        }
        if has_ended {
            let is_early = !self.links[slot as usize].is_ready;
            let ended = if is_early { Completion::Refused(CLOSED_EARLY) } else { Completion::Ended };
            self.follow.push_back((slot, ended));
        }
        self.follow.pop_front().map(|(_, completion)| completion)
    }

    /// Whether the handshake has just come to its end, and how.
    fn secure(&mut self, slot: Slot) -> Option<Completion> {
        let link = &mut self.links[slot as usize];
        let connection = link.connection.as_ref()?;
        if link.is_ready || connection.is_handshaking() {
            return None;
        }
        link.is_ready = true;
        let required = self.settings.required_alpn.as_deref();
        if required.is_some() && connection.alpn_protocol() != required {
            return Some(Completion::Refused(FailureClass::TlsAlpn.into()));
        }
        let is_resumed = connection.handshake_kind() == Some(HandshakeKind::Resumed);
        if link.wishes_resumption && !is_resumed {
            self.ratio.make_up();
        }
        Some(Completion::Secured(if is_resumed { Handshake::Resumed } else { Handshake::Full }))
    }
}

/// Reads all records in `data` and appends what they hold to `plain`; whether the peer said that no more will come.
///
/// # Errors
/// What arrived is no TLS, or is not what the peer enciphered.
pub fn read_records(
    connection: &mut ClientConnection,
    mut data: &[u8],
    plain: &mut Vec<u8>,
) -> Result<bool, rustls::Error> {
    let mut has_ended = false;
    while !data.is_empty() && !has_ended {
        // It takes a few kilobytes at a time, and refuses more than it can hold.
        let taken = connection.read_tls(&mut data).unwrap_or(0);
        let state = connection.process_new_packets()?;
        let start = plain.len();
        plain.resize(start + state.plaintext_bytes_to_read(), 0);
        let read = connection.reader().read(&mut plain[start..]).unwrap_or(0);
        plain.truncate(start + read);
        has_ended = state.peer_has_closed();
        if taken == 0 && read == 0 {
            return Err(rustls::Error::PeerSentOversizedRecord);
        }
    }
    Ok(has_ended)
}

impl<T: Transport> Transport for Tls<T> {
    fn new(slots: usize, route: &ConnectionRoute) -> Result<Tls<T>, LoadError> {
        let Some(settings) = route.tls.as_deref().cloned() else {
            return Err(LoadError::plan("it says nothing about TLS"));
        };
        // What goes through the transport below is made up here, record by record.
        let route_below =
            ConnectionRoute { is_made_up: true, messages: Arc::from([]), tls: None, ..route.clone() };
        let sessions = Arc::new(Sessions::default());
        let asked = Arc::new(Asked::default());
        let with = |access: Access| {
            let mut config = settings.config.clone();
            asked.note_in(&mut config);
            config.resumption = Resumption::store(Arc::new(access));
            Arc::new(config)
        };
        let mut links = Vec::new();
        links.resize_with(slots, Link::default);
        Ok(Tls {
            below: T::new(slots, &route_below)?,
            full: with(Access::Learn(Arc::clone(&sessions))),
            resuming: with(Access::Use(Arc::clone(&sessions))),
            sessions,
            asked,
            ratio: Ratio { wanted: settings.resume_ratio, ..Ratio::default() },
            settings,
            messages: Arc::clone(&route.messages),
            links,
            plain: Vec::new(),
            follow: VecDeque::new(),
        })
    }

    fn connect(&mut self, slot: Slot) -> Submitted {
        match self.below.connect(slot) {
            Submitted::Complete => match self.begin(slot) {
                Ok(()) => Submitted::Reached,
                Err(Completion::Failed(errno)) => Submitted::Failed(errno),
                Err(_) => Submitted::Failed(Errno::CONNRESET),
            },
            other => other,
        }
    }

    fn send(&mut self, slot: Slot, message: Message, _: usize) -> Send {
        let messages = Arc::clone(&self.messages);
        self.encipher(slot, &messages[message.position()])
    }

    fn outgoing(&mut self, slot: Slot) -> &mut Vec<u8> {
        &mut self.links[slot as usize].outgoing
    }

    fn flush(&mut self, slot: Slot) -> Send {
        let mut outgoing = std::mem::take(&mut self.links[slot as usize].outgoing);
        let sent = self.encipher(slot, &outgoing);
        outgoing.clear();
        self.links[slot as usize].outgoing = outgoing;
        sent
    }

    fn close(&mut self, slot: Slot) {
        self.below.close(slot);
        let link = &mut self.links[slot as usize];
        (link.connection, link.is_ready) = (None, false);
        link.outgoing.clear();
        self.follow.retain(|(of, _)| *of != slot);
    }

    fn wait(&mut self, timeout: Duration, gather: Gather) {
        let is_ready = !self.follow.is_empty();
        self.below.wait(if is_ready { Duration::ZERO } else { timeout }, gather);
    }

    fn complete(&mut self) -> Option<(Slot, Completion)> {
        if let Some(next) = self.follow.pop_front() {
            return Some(next);
        }
        loop {
            let (slot, completion) = self.below.complete()?;
            if let Some(completion) = self.translate(slot, completion) {
                return Some((slot, completion));
            }
        }
    }

    fn received(&self, length: usize) -> &[u8] {
        &self.plain[..length]
    }

    fn stamp_ns(&self) -> u64 {
        self.below.stamp_ns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resumed_connections_are_spread_evenly_and_made_up_for() {
        let mut ratio = Ratio { wanted: 0.75, ..Ratio::default() };
        let resumed: Vec<bool> = (0..8).map(|_| ratio.next(true)).collect();
        assert_eq!(resumed, [false, true, true, true, false, true, true, true]);
        let mut ratio = Ratio { wanted: 0.5, ..Ratio::default() };
        assert!((0..4).all(|_| !ratio.next(false)));
        assert!(ratio.next(true) && ratio.next(true));
        ratio.make_up();
        assert!(ratio.next(true) && !Ratio::default().next(true));
        assert!(Ratio { wanted: 1.0, ..Ratio::default() }.next(true));
    }
}
