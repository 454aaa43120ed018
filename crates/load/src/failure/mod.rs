//! The failure class of a socket error, and further details of a failure.

pub(crate) mod alert;
mod reset;

use rustix::io::Errno;
use sysdyno_record::load::FailureClass;

/// Characters of an answer that are shown, those of escapes included.
const SHOWN_CHARACTERS: usize = 80;

/// A failure below the requests, on the way up to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub class: FailureClass,
    pub detail: Detail,
}

impl Fault {
    /// A failure of which more is known than its class.
    pub(crate) const fn with(class: FailureClass, detail: Detail) -> Fault {
        Fault { class, detail }
    }
}

impl From<FailureClass> for Fault {
    fn from(class: FailureClass) -> Fault {
        Fault { class, detail: Detail::Nothing }
    }
}

/// What is known of a failure besides its class; put into words only when somebody wants them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    Nothing,
    /// A clause about the server.
    Clause(&'static str),
    /// So many of the received bytes are what the server answered.
    Answered(usize),
    /// An alert of TLS, by its number.
    Alert(u8),
    /// Length of the server's RSA key. Unit: bits.
    RsaBits(u32),
    /// A stream was reset, or the connection given up, with this error code of HTTP/2.
    Reset(u32),
    Goaway(u32),
}

impl Detail {
    /// A clause about the server; `received`: the bytes that arrived last.
    pub(crate) fn clause(self, received: &[u8]) -> Option<String> {
        Some(match self {
            Detail::Nothing => return None,
            Detail::Clause(clause) => clause.to_owned(),
            Detail::Answered(length) => return answer(&received[..length.min(received.len())]),
            Detail::Alert(number) => format!("it sent alert {} ({number})", alert::name(number)),
            Detail::RsaBits(bits @ 1000..) => {
                format!("its RSA key has {},{:03} bits", bits / 1000, bits % 1000)
            }
            Detail::RsaBits(bits) => format!("its RSA key has {bits} bits"),
            Detail::Reset(code) => format!("it sent RST_STREAM with {}", reset::name(code)),
            Detail::Goaway(code) => format!("it sent GOAWAY with {}", reset::name(code)),
        })
    }
}

/// What a server answered, in a clause: its first line; `None` if that is empty.
pub(crate) fn answer(bytes: &[u8]) -> Option<String> {
    if is_http2_greeting(bytes) {
        return Some("it answered with HTTP/2 frames".to_owned());
    }
    if let [0x15, 3, _, 0, 2, _, number] = bytes {
        return Detail::Alert(*number).clause(&[]);
    }
    let end = bytes.iter().position(|byte| matches!(byte, b'\r' | b'\n')).unwrap_or(bytes.len());
    let mut shown = String::new();
    for byte in &bytes[..end] {
        let letter = byte.escape_ascii().to_string();
        if shown.len() + letter.len() > SHOWN_CHARACTERS {
            shown.push('…');
            break;
        }
        shown.push_str(&letter);
    }
    (!shown.is_empty()).then(|| format!("it answered '{shown}'"))
}

/// Whether bytes begin with the type of a record of TLS. A server begins with an alert or a handshake message, and one that
/// breaks the rules with others; no text begins with any of these bytes.
pub(crate) fn is_tls_record(bytes: &[u8]) -> bool {
    matches!(bytes, [0x14..=0x17, ..])
}

/// Whether bytes begin with settings, as a server of HTTP/2 does.
fn is_http2_greeting(bytes: &[u8]) -> bool {
    matches!(bytes, [0, 0, length, 4, 0, 0, 0, 0, 0, ..] if length % 6 == 0)
}

/// The class of an error while a connection is being established.
pub(crate) fn of_connect(errno: Errno) -> FailureClass {
    match errno {
        Errno::CONNREFUSED | Errno::NOENT => FailureClass::ConnectRefused,
        Errno::TIMEDOUT => FailureClass::ConnectTimeout,
        Errno::CONNRESET | Errno::CONNABORTED => FailureClass::ConnectReset,
        Errno::HOSTUNREACH | Errno::NETUNREACH | Errno::NETDOWN => FailureClass::ConnectUnreachable,
        // A Unix socket whose queue is full, or a TCP connect without a free port.
        Errno::AGAIN => FailureClass::ConnectRefused,
        other => of_exchange(other),
    }
}

/// The class of an error on an established connection, or of a local one.
pub(crate) fn of_exchange(errno: Errno) -> FailureClass {
    match errno {
        Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED | Errno::NOTCONN => FailureClass::Reset,
        Errno::TIMEDOUT | Errno::HOSTUNREACH | Errno::NETUNREACH => FailureClass::ConnectUnreachable,
        Errno::MFILE | Errno::NFILE => FailureClass::LocalFdLimit,
        Errno::ADDRNOTAVAIL | Errno::ADDRINUSE => FailureClass::LocalPorts,
        Errno::NOBUFS | Errno::NOMEM => FailureClass::LocalBuffers,
        _ => FailureClass::LocalOther,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_told_by_its_first_line_bounded_and_escaped() {
        let check = |bytes: &[u8], expected: Option<&str>| assert_eq!(answer(bytes).as_deref(), expected);
        check(b"SSH-2.0-OpenSSH_9.2p1\r\nmore", Some("it answered 'SSH-2.0-OpenSSH_9.2p1'"));
        check(b"\x1b[31mred\xff'", Some("it answered '\\x1b[31mred\\xff\\''"));
        check(&[b'x'; 81], Some(&format!("it answered '{}…'", "x".repeat(80))));
        check(&[0x80; 300], Some(&format!("it answered '{}…'", "\\x80".repeat(20))));
        check(b"\r\n", None);
        check(b"", None);
        check(b"\0\0\x12\x04\0\0\0\0\0\0\x03", Some("it answered with HTTP/2 frames"));
        check(b"\x15\x03\x03\0\x02\x02\x0a", Some("it sent alert unexpected_message (10)"));
    }
}
