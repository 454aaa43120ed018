//! Messages of a session between a controller and an agent, as bytes.
//!
//! ```text
//!   'S' 'D' 'F' '1'   kind, 1   session, 16   number, 8   acknowledged, 8   body   [signature, 64]
//! ```
//! Numbers are written with their greatest byte first. `number` is that of a chunk of the stream, from 0; `acknowledged` is the
//! number of the chunk that the sender expects next. What a controller says is signed with its key over the agent's name, the
//! session's challenge, and the message: a broker that was taken over can neither start anything nor repeat what was said.
//!
//! A piece of the stream that becomes shorter by it is deflated (RFC 1951), with a kind of its own: what an agent measures is JSON,
//! of which a fifth is left.

use crate::nats::{PublicKey, SIGNATURE_BYTES, SigningKey, random};
use flate2::Compression;
use flate2::read::{DeflateDecoder, DeflateEncoder};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::Read;

/// The number of this protocol.
pub const FLEET_PROTOCOL: u32 = 2;

/// What every message begins with; the digit is the version of this form.
const MAGIC: [u8; 4] = *b"SDF1";

const HEAD_BYTES: usize = 4 + 1 + 16 + 8 + 8;

/// Longest piece of a stream in one message: below the shortest limit of a broker that is usual. Unit: bytes.
pub(crate) const MAX_CHUNK_BYTES: usize = 128 << 10;

/// Longest body. Unit: bytes.
const MAX_BODY_BYTES: usize = MAX_CHUNK_BYTES;

/// The kind of a piece of the stream that is deflated.
const DEFLATED: u8 = b'Z';

/// What signatures begin with, so that none of them is one of something else.
const SIGNED: &[u8] = b"sysdyno fleet 1\0";

/// A session: one controller that uses one agent for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SessionId(pub(crate) [u8; 16]);

impl SessionId {
    pub(crate) fn new() -> SessionId {
        SessionId(random())
    }

    /// The session of a word of a subject.
    pub(crate) fn parse(text: &str) -> Option<SessionId> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() != 32 || !text.bytes().all(is_hex) {
            return None;
        }
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(SessionId(bytes))
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// What a controller must repeat in its signatures; nothing at first.
pub(crate) type Nonce = [u8; 32];

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    /// Controller: begins a session; [`OpenBody`].
    Open,
    /// Agent: what is to be signed from now on; [`ChallengeBody`].
    Challenge,
    /// Agent: there will be no session; the body says why.
    Refused,
    /// Either: a piece of the stream.
    Data,
    /// Either: it lives, and has received so much.
    Beat,
    /// Controller: the session is over.
    Close,
    /// Agent: the stream has ended at `number`; the body says why.
    Ended,
}

impl MessageKind {
    const ALL: [(MessageKind, u8); 7] = [
        (MessageKind::Open, b'O'),
        (MessageKind::Challenge, b'H'),
        (MessageKind::Refused, b'R'),
        (MessageKind::Data, b'D'),
        (MessageKind::Beat, b'B'),
        (MessageKind::Close, b'C'),
        (MessageKind::Ended, b'E'),
    ];

    fn byte(self) -> u8 {
        MessageKind::ALL.iter().find(|(kind, _)| *kind == self).map_or(0, |(_, byte)| *byte)
    }
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FleetMessage {
    pub(crate) kind: MessageKind,
    pub(crate) session: SessionId,
    pub(crate) number: u64,
    pub(crate) acknowledged: u64,
    pub(crate) body: Vec<u8>,
}

impl FleetMessage {
    /// A message without a place in the stream.
    pub(crate) fn plain(kind: MessageKind, session: SessionId, acknowledged: u64) -> FleetMessage {
        FleetMessage { kind, session, number: 0, acknowledged, body: Vec::new() }
    }

    pub(crate) fn with_body(self, body: Vec<u8>) -> FleetMessage {
        FleetMessage { body, ..self }
    }

    /// As bytes, unsigned.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let shorter = (self.kind == MessageKind::Data).then(|| deflated(&self.body)).flatten();
        let kind = if shorter.is_some() { DEFLATED } else { self.kind.byte() };
        let body = shorter.as_ref().unwrap_or(&self.body);
        let mut bytes = Vec::with_capacity(HEAD_BYTES + body.len() + SIGNATURE_BYTES);
        bytes.extend_from_slice(&MAGIC);
        bytes.push(kind);
        bytes.extend_from_slice(&self.session.0);
        bytes.extend_from_slice(&self.number.to_be_bytes());
        bytes.extend_from_slice(&self.acknowledged.to_be_bytes());
        bytes.extend_from_slice(body);
        bytes
    }

    /// As bytes, signed for an agent.
    pub(crate) fn signed(&self, key: &SigningKey, agent: &str, nonce: &Nonce) -> Vec<u8> {
        let mut bytes = self.encode();
        let signature = key.sign(&to_sign(&bytes, agent, nonce));
        bytes.extend_from_slice(&signature);
        bytes
    }

    /// The message of these bytes; `None`: they are none.
    pub(crate) fn decode(bytes: &[u8]) -> Option<FleetMessage> {
        let (head, body) = bytes.split_at_checked(HEAD_BYTES)?;
        let (magic, rest) = head.split_first_chunk::<4>()?;
        let ([kind], rest) = rest.split_first_chunk::<1>()?;
        let (session, rest) = rest.split_first_chunk::<16>()?;
        let (number, rest) = rest.split_first_chunk::<8>()?;
        let acknowledged = rest.first_chunk::<8>()?;
        if *magic != MAGIC || body.len() > MAX_BODY_BYTES {
            return None;
        }
        let (kind, body) = match *kind {
            DEFLATED => (MessageKind::Data, inflated(body)?),
            kind => {
                let (kind, _) = MessageKind::ALL.iter().find(|(_, byte)| *byte == kind)?;
                (*kind, body.to_vec())
            }
        };
        Some(FleetMessage {
            kind,
            session: SessionId(*session),
            number: u64::from_be_bytes(*number),
            acknowledged: u64::from_be_bytes(*acknowledged),
            body,
        })
    }

    /// The message of bytes that a key has signed; `None`: it has not, or they are no message.
    pub(crate) fn verified(
        bytes: &[u8],
        key: &PublicKey,
        agent: &str,
        nonce: &Nonce,
    ) -> Option<FleetMessage> {
        let at = bytes.len().checked_sub(SIGNATURE_BYTES)?;
        let (message, signature) = bytes.split_at(at);
        let is_signed = key.has_signed(&to_sign(message, agent, nonce), signature);
        is_signed.then(|| FleetMessage::decode(message)).flatten()
    }
}

/// A body that has become shorter.
fn deflated(body: &[u8]) -> Option<Vec<u8>> {
    let mut shorter = Vec::new();
    DeflateEncoder::new(body, Compression::default()).read_to_end(&mut shorter).ok()?;
    (shorter.len() < body.len()).then_some(shorter)
}

/// A body as it was; `None`: it is none, or longer than one may be.
fn inflated(body: &[u8]) -> Option<Vec<u8>> {
    let mut longer = Vec::new();
    let most = MAX_BODY_BYTES as u64 + 1;
    DeflateDecoder::new(body).take(most).read_to_end(&mut longer).ok()?;
    (longer.len() <= MAX_BODY_BYTES).then_some(longer)
}

fn to_sign(message: &[u8], agent: &str, nonce: &Nonce) -> Vec<u8> {
    [SIGNED, agent.as_bytes(), &[0], nonce, message].concat()
}

/// What a controller says when it begins a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenBody {
    /// Must be [`FLEET_PROTOCOL`].
    pub(crate) fleet_protocol: u32,
    /// Must be that of the agent: what goes through the stream.
    pub(crate) agent_protocol: u32,
    /// Version of the program.
    pub(crate) version: String,
    /// Who it says it is; only for messages and logs.
    pub(crate) controller: String,
    /// After how long a silence the agent shall stop a load. Unit: milliseconds.
    pub(crate) lease_ms: u64,
}

/// What an agent answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChallengeBody {
    /// What the controller signs from now on, 64 hexadecimal digits.
    pub(crate) nonce: String,
}

/// A challenge as text, and back.
pub(crate) fn nonce_text(nonce: &Nonce) -> String {
    nonce.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn nonce_of(text: &str) -> Option<Nonce> {
    let (first, second) = text.split_at_checked(32)?;
    let mut nonce = [0; 32];
    nonce[..16].copy_from_slice(&SessionId::parse(first)?.0);
    nonce[16..].copy_from_slice(&SessionId::parse(second)?.0);
    Some(nonce)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(body: &[u8]) -> FleetMessage {
        FleetMessage {
            kind: MessageKind::Data,
            session: SessionId::new(),
            number: 7,
            acknowledged: u64::MAX,
            body: body.to_vec(),
        }
    }

    #[test]
    fn a_message_comes_back_and_any_changed_bit_is_refused() {
        let (key, nonce) = (SigningKey::generate(), random());
        let sent = message(b"some bytes");
        assert_eq!(FleetMessage::decode(&sent.encode()), Some(sent.clone()));
        let bytes = sent.signed(&key, "web-1", &nonce);
        assert_eq!(FleetMessage::verified(&bytes, &key.public(), "web-1", &nonce), Some(sent));
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(FleetMessage::verified(&changed, &key.public(), "web-1", &nonce), None, "bit {bit}");
        }
    }

    #[test]
    fn a_message_for_another_agent_of_another_session_or_key_is_refused() {
        let (key, nonce) = (SigningKey::generate(), random());
        let bytes = message(b"x").signed(&key, "web-1", &nonce);
        assert_eq!(FleetMessage::verified(&bytes, &key.public(), "web-2", &nonce), None);
        assert_eq!(FleetMessage::verified(&bytes, &key.public(), "web-1", &random()), None);
        assert_eq!(FleetMessage::verified(&bytes, &SigningKey::generate().public(), "web-1", &nonce), None);
    }

    #[test]
    fn sessions_and_challenges_are_read_as_they_are_written() {
        let (session, nonce) = (SessionId::new(), random());
        assert_eq!(SessionId::parse(&session.to_string()), Some(session));
        assert_eq!(nonce_of(&nonce_text(&nonce)), Some(nonce));
        let upper = "A".repeat(32);
        for text in
            ["", "a", "+0000000000000000000000000000000", upper.as_str(), "ü123456789012345678901234567890"]
        {
            assert_eq!(SessionId::parse(text), None, "{text}");
        }
        assert_eq!(nonce_of(&"ü".repeat(32)), None);
    }

    #[test]
    fn a_body_has_a_greatest_length() {
        let beat = |length: usize| FleetMessage { kind: MessageKind::Beat, ..message(&vec![0; length]) };
        assert!(FleetMessage::decode(&beat(MAX_BODY_BYTES).encode()).is_some());
        assert_eq!(FleetMessage::decode(&beat(MAX_BODY_BYTES + 1).encode()), None);
    }

    #[test]
    fn a_piece_is_deflated_where_that_is_shorter_and_nothing_becomes_longer_than_it_may() {
        let text = br#"{"phase":1,"count":0,"phase":1,"count":0,"phase":1,"count":0}"#;
        for (sent, is_shorter) in [(message(text), true), (message(b"x"), false)] {
            let bytes = sent.encode();
            assert_eq!(bytes.len() < HEAD_BYTES + sent.body.len(), is_shorter);
            assert_eq!(FleetMessage::decode(&bytes), Some(sent));
        }
        let most = message(&vec![0; MAX_BODY_BYTES]);
        assert_eq!(FleetMessage::decode(&most.encode()), Some(most));
        assert_eq!(FleetMessage::decode(&message(&vec![0; MAX_BODY_BYTES + 1]).encode()), None);
        let mut torn = message(text).encode();
        torn.truncate(HEAD_BYTES + 5);
        assert_eq!(FleetMessage::decode(&torn), None);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let key = SigningKey::generate().public();
            let _ = FleetMessage::decode(&bytes);
            prop_assert_eq!(FleetMessage::verified(&bytes, &key, "a", &[0; 32]), None);
        }
    }
}
