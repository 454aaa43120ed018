//! The broker's protocol as bytes: operations in, commands out; no socket, no clock.
//!
//! Source: the NATS documentation, "Client Protocol": lines that end with CR LF; `MSG subject sid [reply] bytes` is followed
//! by so many bytes and CR LF. Every byte is hostile: a line, a payload, and a subject have a greatest length, and memory
//! grows with what has come, never with what was announced.

use serde::Deserialize;

/// Longest payload. A broker refuses longer ones by default, too. Unit: bytes.
pub const MAX_PAYLOAD_BYTES: usize = 1 << 20;

/// Longest line; the broker's first one lists the addresses of its cluster. Unit: bytes.
const MAX_LINE_BYTES: usize = 64 << 10;

/// What a broker says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// What it is; the first operation, and again when its cluster changes.
    Info(Box<BrokerInfo>),
    /// A message of a subscription.
    Message {
        subject: String,
        subscription: u64,
        payload: Vec<u8>,
    },
    Ping,
    Pong,
    Ok,
    /// It refuses something, or closes the connection.
    Error(String),
}

/// What a broker says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct BrokerInfo {
    pub(super) version: String,
    /// What is to be signed to log in.
    pub(super) nonce: Option<String>,
    pub(super) tls_required: bool,
    pub(super) tls_available: bool,
    /// Longest payload that it takes. Unit: bytes.
    pub(super) max_payload: usize,
}

/// What is not the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it sent {what}, which is not the protocol of NATS")]
pub(super) struct WireError {
    what: &'static str,
}

const fn wrong(what: &'static str) -> WireError {
    WireError { what }
}

/// Takes a stream of operations apart, whatever the pieces in which it comes.
#[derive(Debug, Default)]
pub(super) struct OperationDecoder {
    buffer: Vec<u8>,
    /// How much of the buffer was handed out.
    taken: usize,
}

impl OperationDecoder {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.taken);
        self.taken = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// Whether everything that came was handed out.
    pub(super) fn is_empty(&self) -> bool {
        self.taken == self.buffer.len()
    }

    /// The next operation, if all of it has come. After an error there is nothing more to be had.
    pub(super) fn next_operation(&mut self) -> Result<Option<Operation>, WireError> {
        let rest = &self.buffer[self.taken..];
        let Some(end) = rest.windows(2).take(MAX_LINE_BYTES).position(|pair| pair == b"\r\n") else {
            return if rest.len() > MAX_LINE_BYTES { Err(wrong("an endless line")) } else { Ok(None) };
        };
        let line = std::str::from_utf8(&rest[..end]).map_err(|_| wrong("a line that is no text"))?;
        let (verb, rest_of_line) = line.split_once([' ', '\t']).unwrap_or((line, ""));
        let operation = match verb.to_ascii_uppercase().as_str() {
            "MSG" => return self.message(&line_of_message(rest_of_line)?, end + 2),
            "INFO" => Operation::Info(Box::new(
                serde_json::from_str(rest_of_line).map_err(|_| wrong("a damaged description of itself"))?,
            )),
            "PING" => Operation::Ping,
            "PONG" => Operation::Pong,
            "+OK" => Operation::Ok,
            "-ERR" => Operation::Error(rest_of_line.trim().trim_matches('\'').to_owned()),
            _ => return Err(wrong("an unknown operation")),
        };
        self.taken += end + 2;
        Ok(Some(operation))
    }

    fn message(&mut self, line: &MessageLine, begin: usize) -> Result<Option<Operation>, WireError> {
        let rest = &self.buffer[self.taken + begin..];
        if rest.len() < line.bytes + 2 {
            return Ok(None);
        }
        if &rest[line.bytes..line.bytes + 2] != b"\r\n" {
            return Err(wrong("a message without an end"));
        }
        let payload = rest[..line.bytes].to_vec();
        self.taken += begin + line.bytes + 2;
        let MessageLine { subject, subscription, .. } = line.clone();
        Ok(Some(Operation::Message { subject, subscription, payload }))
    }
}

#[derive(Clone)]
struct MessageLine {
    subject: String,
    subscription: u64,
    bytes: usize,
}

fn line_of_message(line: &str) -> Result<MessageLine, WireError> {
    let words: Vec<&str> = line.split_ascii_whitespace().take(5).collect();
    let (subject, subscription, bytes) = match words[..] {
        [subject, subscription, bytes] | [subject, subscription, _, bytes] => (subject, subscription, bytes),
        _ => return Err(wrong("a damaged message")),
    };
    let subscription = subscription.parse().map_err(|_| wrong("a damaged message"))?;
    let bytes = bytes.parse().map_err(|_| wrong("a damaged message"))?;
    if bytes > MAX_PAYLOAD_BYTES {
        return Err(wrong("a message that is too long"));
    }
    Ok(MessageLine { subject: subject.to_owned(), subscription, bytes })
}

/// Whether a text can be a subject: words between dots, without spaces.
pub(super) fn is_subject(text: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_graphic());
    text.len() <= 512 && text.split('.').all(is_word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(pieces: &[&[u8]]) -> Result<Vec<Operation>, WireError> {
        let (mut decoder, mut found) = (OperationDecoder::default(), Vec::new());
        for piece in pieces {
            decoder.push(piece);
            while let Some(operation) = decoder.next_operation()? {
                found.push(operation);
            }
        }
        Ok(found)
    }

    #[test]
    fn operations_come_back_whatever_the_pieces() {
        let stream = b"INFO {\"version\":\"2.9.10\",\"nonce\":\"abc\",\"max_payload\":1048576,\"new\":[]}\r\n\
            PING\r\n+OK\r\nMSG a.b 7 5\r\nhe\r\no\r\nMSG a.b 8 reply.to 0\r\n\r\n-ERR 'Authorization Violation'\r\nPONG\r\n";
        let info = BrokerInfo {
            version: "2.9.10".into(),
            nonce: Some("abc".into()),
            max_payload: 1 << 20,
            ..BrokerInfo::default()
        };
        let message = |subscription, payload: &[u8]| Operation::Message {
            subject: "a.b".into(),
            subscription,
            payload: payload.to_vec(),
        };
        let expected = [
            Operation::Info(Box::new(info)),
            Operation::Ping,
            Operation::Ok,
            message(7, b"he\r\no"),
            message(8, b""),
            Operation::Error("Authorization Violation".into()),
            Operation::Pong,
        ];
        for size in 1..stream.len() {
            let pieces: Vec<&[u8]> = stream.chunks(size).collect();
            assert_eq!(all(&pieces).expect("decodes"), expected, "pieces of {size}");
        }
    }

    #[test]
    fn what_is_not_the_protocol_is_refused() {
        let long = vec![b'x'; MAX_LINE_BYTES + 2];
        let hostile: [&[u8]; 9] = [
            b"HTTP/1.1 200 OK\r\n",
            b"\x16\x03\x01\r\n",
            b"MSG a 1\r\n",
            b"MSG a x 3\r\n",
            b"MSG a 1 99999999999999999999\r\n",
            b"MSG a 1 1048577\r\n",
            b"MSG a 1 1\r\nabc",
            b"INFO 1\r\n",
            &long,
        ];
        for bytes in hostile {
            assert!(all(&[bytes]).is_err(), "{:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(40)]));
        }
        let mut decoder = OperationDecoder::default();
        decoder.push(b"MSG a 1 1048576\r\n");
        assert_eq!(decoder.next_operation(), Ok(None));
        assert!(decoder.buffer.capacity() < 1024, "memory for what was only announced");
    }

    #[test]
    fn a_subject_has_no_space_and_no_empty_word() {
        assert!(is_subject("a.b-c.*.>"));
        for text in ["", "a..b", ".a", "a.", "a b", "a\r\nPUB b 0", "ü"] {
            assert!(!is_subject(text), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..20)) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            let _ = all(&pieces);
        }
    }
}
