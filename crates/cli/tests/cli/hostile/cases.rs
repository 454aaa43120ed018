//! The broken and hostile servers: what each does, and what the program must call it.
//!
//! The numbers group by what is broken: connecting, the head, framing, interim responses, the body, the order of
//! things, content. A case lists every class that may be counted; at least one of them must be.

use crate::rig::hostile::Verb::{self, *};
use std::time::Duration;
use sysdyno_record::load::FailureClass::{self, *};

/// One server.
pub struct Case {
    pub id: &'static str,
    pub what: &'static str,
    pub script: &'static [Verb],
    /// Added to the command line.
    pub arguments: &'static [&'static str],
    /// What is told of the failures besides their class, in part; empty: whatever is.
    pub told: &'static str,
    pub expected: Expected,
}

/// What must come of it.
#[derive(Clone, Copy, Debug)]
pub enum Expected {
    /// Every request is ok.
    Ok,
    /// No request is ok; each failed in one of these classes.
    Failed(&'static [FailureClass]),
    /// No request is ok; each ran into its total deadline.
    TimedOut,
    /// Some are ok; those that are not failed in one of these classes, if any did.
    Mixed(&'static [FailureClass]),
}

const fn case(id: &'static str, what: &'static str, script: &'static [Verb], expected: Expected) -> Case {
    Case { id, what, script, arguments: &[], told: "", expected }
}

const fn telling(told: &'static str, case: Case) -> Case {
    Case { told, ..case }
}

const fn with(arguments: &'static [&'static str], case: Case) -> Case {
    Case { arguments, ..case }
}

const fn send(text: &'static str) -> Verb {
    Send(text.as_bytes())
}

const fn forever(text: &'static str) -> Verb {
    RepeatForever(text.as_bytes())
}

const fn slowly(text: &'static str) -> Verb {
    SendSlow(text.as_bytes(), Duration::from_millis(150))
}

/// A server that reads a request, sends this, and waits for the client to go away.
macro_rules! answer {
    ($text:expr) => {
        &[Expect, send($text), Drain]
    };
}

/// The same, ready for the next request on the same connection.
macro_rules! serve {
    ($text:expr) => {
        &[Expect, send($text), Again]
    };
}

/// A head with this status line and a body of two bytes.
macro_rules! status_line {
    ($line:literal) => {
        answer!(concat!($line, "\r\nContent-Length: 2\r\n\r\nok"))
    };
}

/// A 200 with this field and a body of two bytes.
macro_rules! field {
    ($field:literal) => {
        answer!(concat!("HTTP/1.1 200 OK\r\n", $field, "\r\nContent-Length: 2\r\n\r\nok"))
    };
}

/// A 200 whose framing is these fields, and this body.
macro_rules! framed {
    ($fields:literal, $body:literal) => {
        answer!(concat!("HTTP/1.1 200 OK\r\n", $fields, "\r\n\r\n", $body))
    };
}

const GOOD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const PROTOCOL: Expected = Expected::Failed(&[Protocol]);
const NOT_HTTP2: Expected = Expected::Failed(&[NotHttp2]);
const STATUS_CODE: Expected = Expected::Failed(&[InvalidStatus]);
const NOT_HTTP: Expected = Expected::Failed(&[NotHttp]);
const TOO_LARGE: Expected = Expected::Failed(&[HeadTooLarge]);

/// First record of a TLS server that refuses a plain-text hello: alert, TLS 1.2, two bytes, fatal, unexpected message.
const TLS_ALERT: Verb = Send(b"\x15\x03\x03\x00\x02\x02\x0a");

/// An empty SETTINGS frame, with which an HTTP/2 server begins.
const HTTP2_SETTINGS: Verb = Send(b"\x00\x00\x00\x04\x00\x00\x00\x00\x00");

/// All of them.
pub const CASES: &[&[Case]] = &[GOING_AWAY, GREETINGS, HEADS, FRAMING, INTERIM, BODIES, ORDER, CONTENT];

const GOING_AWAY: &[Case] = &[
    case("H03", "accepts, then says nothing", &[SleepUntilReleased], Expected::Failed(&[HeadTimeout])),
    case("H03b", "reads the request, then says nothing", &[Expect, Drain], Expected::Failed(&[HeadTimeout])),
    case("H04a", "accepts and closes", &[Fin], Expected::Failed(&[EofBeforeHead, Reset])),
    case("H04b", "reads the request and closes", &[Expect, Fin], Expected::Failed(&[EofBeforeHead])),
    case("H04c", "reads the request and resets", &[Expect, Rst], Expected::Failed(&[Reset])),
    case(
        "H04d",
        "closes within the head",
        &[Expect, send("HTTP/1.1 200 OK\r\nA: "), Fin],
        Expected::Failed(&[EofBeforeHead]),
    ),
    case("H04e", "resets within the head", &[Expect, send("HTTP/1.1 2"), Rst], Expected::Failed(&[Reset])),
    case("H04f", "accepts and resets", &[Rst], Expected::Failed(&[Reset, ConnectReset])),
];

/// A server of another protocol, which begins with this and waits for an answer.
macro_rules! greeting {
    ($text:expr) => {
        &[Send($text), Drain]
    };
}

const GREETINGS: &[Case] = &[
    telling(
        "SSH-2.0-OpenSSH_9.2",
        case("H50a", "speaks SSH", greeting!(b"SSH-2.0-OpenSSH_9.2\r\n"), NOT_HTTP),
    ),
    telling(
        "220 mail.example",
        case("H50b", "speaks SMTP", greeting!(b"220 mail.example ESMTP\r\n"), NOT_HTTP),
    ),
    telling("220-Welcome", case("H50c", "speaks FTP", greeting!(b"220-Welcome\r\n220 ready\r\n"), NOT_HTTP)),
    telling("+OK POP3", case("H50d", "speaks POP3", greeting!(b"+OK POP3 ready\r\n"), NOT_HTTP)),
    telling("* OK IMAP4", case("H50e", "speaks IMAP", greeting!(b"* OK IMAP4rev1\r\n"), NOT_HTTP)),
    telling(
        r"J\x00\x00\x00",
        case("H50f", "speaks MySQL", greeting!(b"J\0\0\0\n8.0.36\0\x08\0\0\0abcdefgh\0"), NOT_HTTP),
    ),
    telling("RFB 003.008", case("H50g", "speaks VNC", greeting!(b"RFB 003.008\n"), NOT_HTTP)),
    telling(r"\xff\xfd\x18", case("H50h", "speaks telnet", greeting!(b"\xff\xfd\x18\xff\xfd "), NOT_HTTP)),
    telling("answered 'x'", case("H50i", "says one byte", greeting!(b"x"), NOT_HTTP)),
    telling(
        "ERR unknown",
        case("H51a", "speaks Redis", &[Expect, send("-ERR unknown command 'GET'\r\n"), Drain], NOT_HTTP),
    ),
    telling("ERROR", case("H51b", "speaks memcached", &[Expect, send("ERROR\r\n"), Drain], NOT_HTTP)),
    telling(
        "RTSP/1.0 400",
        case("H51c", "speaks RTSP", &[Expect, send("RTSP/1.0 400 Bad Request\r\n\r\n"), Drain], NOT_HTTP),
    ),
    telling("ICY 200 OK", case("H51d", "speaks ICY", &[Expect, send("ICY 200 OK\r\n\r\n"), Drain], NOT_HTTP)),
    telling(
        "<html>no head",
        case("H51e", "speaks HTTP/0.9", &[Expect, send("<html>no head</html>\r\n"), Fin], NOT_HTTP),
    ),
    telling("HTTP/2 frames", case("H51f", "speaks HTTP/2", &[Expect, HTTP2_SETTINGS, Drain], NOT_HTTP)),
    telling(
        "alert unexpected_message (10)",
        case("H51g", "speaks TLS", &[Expect, TLS_ALERT, Fin], Expected::Failed(&[SpeaksTls])),
    ),
    telling(
        "answered 'SSH-2.0-x'",
        with(&["--http2", "prior"], case("H52a", "SSH for HTTP/2", greeting!(b"SSH-2.0-x\r\n"), NOT_HTTP2)),
    ),
    telling(
        "answered 'HTTP/1.1 400 Bad Request'",
        with(
            &["--http2", "prior"],
            case("H52b", "HTTP/1.1 for HTTP/2", answer!("HTTP/1.1 400 Bad Request\r\n\r\n"), NOT_HTTP2),
        ),
    ),
    telling(
        "alert unexpected_message (10)",
        with(
            &["--http2", "prior"],
            case(
                "H52c",
                "TLS for HTTP/2",
                greeting!(b"\x15\x03\x03\x00\x02\x02\x0a"),
                Expected::Failed(&[SpeaksTls]),
            ),
        ),
    ),
];

const HEADS: &[Case] = &[
    case(
        "H05",
        "sends its head slowly, without end",
        &[Expect, send("HTTP/1.1 200 OK\r\n"), slowly("X: y\r\n")],
        Expected::TimedOut,
    ),
    case(
        "H06",
        "sends fields without end",
        &[Expect, send("HTTP/1.1 200 OK\r\n"), forever("X-Field: value\r\n")],
        TOO_LARGE,
    ),
    case(
        "H07",
        "sends one field line without end",
        &[Expect, send("HTTP/1.1 200 OK\r\nX: "), forever("yyyyyyyyyyyyyyyy")],
        TOO_LARGE,
    ),
    case(
        "H07b",
        "sends a status line without end",
        &[Expect, send("HTTP/1.1 200 "), forever("OKOKOKOKOKOKOKOK")],
        TOO_LARGE,
    ),
    case(
        "H08b",
        "sends bytes of no meaning without end",
        &[Expect, RepeatForever(b"\x8f\x01\xfe\x00zK\x7f\n\xc3(\r")],
        NOT_HTTP,
    ),
    case("H08c", "sends NUL bytes without end", &[Expect, RepeatForever(&[0; 1024])], NOT_HTTP),
    case("H09c", "claims HTTP/3.7", status_line!("HTTP/3.7 200 OK"), PROTOCOL),
    case("H09d", "claims HTTP/1.10", status_line!("HTTP/1.10 200 OK"), PROTOCOL),
    case("H09e", "writes the protocol in lower case", status_line!("http/1.1 200 OK"), NOT_HTTP),
    case("H10a", "status of two digits", status_line!("HTTP/1.1 99 Odd"), STATUS_CODE),
    case("H10b", "status of four digits", status_line!("HTTP/1.1 1000 Odd"), STATUS_CODE),
    case("H10c", "status with a letter", status_line!("HTTP/1.1 2x0 Odd"), STATUS_CODE),
    case("H10d", "negative status", status_line!("HTTP/1.1 -12 Odd"), STATUS_CODE),
    case("H10e", "no status", status_line!("HTTP/1.1"), Expected::Failed(&[InvalidStatus, Protocol])),
    case("H10f", "status of another kind", status_line!("HTTP/1.1 999 Odd"), STATUS_CODE),
    case("H11a", "NUL in a field", field!("A: b\0c"), PROTOCOL),
    case("H11b", "carriage return within a field", field!("A: b\rc"), PROTOCOL),
    case("H11c", "folded field", field!("A: b\r\n c"), PROTOCOL),
    case("H11d", "blank before the colon", field!("A : b"), PROTOCOL),
    case("H11e", "field without a colon", field!("A b"), PROTOCOL),
    case("H11f", "field without a name", field!(": b"), PROTOCOL),
    case(
        "H11g",
        "lines that end in a bare line feed",
        serve!("HTTP/1.1 200 OK\nContent-Length: 2\n\nok"),
        Expected::Ok,
    ),
    case(
        "H34",
        "5,000 cookies",
        &[Expect, send("HTTP/1.1 200 OK\r\n"), Repeat(b"Set-Cookie: a=b\r\n", 5000), Drain],
        TOO_LARGE,
    ),
];

const FRAMING: &[Case] = &[
    case("H12a", "negative length", framed!("Content-Length: -1", "ok"), PROTOCOL),
    case("H12b", "length with a sign", framed!("Content-Length: +2", "ok"), PROTOCOL),
    case("H12c", "list of differing lengths", framed!("Content-Length: 2, 3", "ok"), PROTOCOL),
    case("H12d", "length of 2^64", framed!("Content-Length: 18446744073709551616", "ok"), PROTOCOL),
    case("H12e", "hexadecimal length", framed!("Content-Length: 0x2", "ok"), PROTOCOL),
    case("H12f", "two differing lengths", framed!("Content-Length: 2\r\nContent-Length: 3", "ok"), PROTOCOL),
    case("H12g", "empty length", framed!("Content-Length:", "ok"), PROTOCOL),
    case(
        "H12h",
        "two equal lengths",
        serve!("HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length: 2\r\n\r\nok"),
        Expected::Ok,
    ),
    case(
        "H13",
        "closes before the length is reached",
        &[Expect, send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"), Fin],
        Expected::Failed(&[BodyTruncated]),
    ),
    case(
        "H14",
        "sends more than the length",
        framed!("Content-Length: 2", "ok and more"),
        Expected::Failed(&[Desync]),
    ),
    case(
        "H15",
        "both kinds of framing",
        framed!("Content-Length: 2\r\nTransfer-Encoding: chunked", "2\r\nok\r\n0\r\n\r\n"),
        PROTOCOL,
    ),
    case(
        "H16a",
        "chunk size of 17 digits",
        framed!("Transfer-Encoding: chunked", "10000000000000002\r\nok\r\n"),
        PROTOCOL,
    ),
    case("H16b", "negative chunk size", framed!("Transfer-Encoding: chunked", "-2\r\nok\r\n"), PROTOCOL),
    case("H16c", "empty chunk size", framed!("Transfer-Encoding: chunked", "\r\nok\r\n"), PROTOCOL),
    case(
        "H16d",
        "chunk longer than its size",
        framed!("Transfer-Encoding: chunked", "2\r\nokay\r\n0\r\n\r\n"),
        PROTOCOL,
    ),
    case(
        "H17a",
        "chunk extensions without end",
        &[Expect, send(CHUNKED), send("2"), forever(";name=value")],
        PROTOCOL,
    ),
    case(
        "H17b",
        "100,000 chunks of one byte",
        &[Expect, send(CHUNKED), Repeat(b"1\r\nx\r\n", 100_000), send("0\r\n\r\n"), Again],
        Expected::Ok,
    ),
    case(
        "H17c",
        "extensions on every chunk without end",
        &[Expect, send(CHUNKED), forever("1;name=value\r\nx\r\n")],
        PROTOCOL,
    ),
    case(
        "H18a",
        "trailers without end",
        &[Expect, send(CHUNKED), send("0\r\n"), forever("Trailer: value\r\n")],
        Expected::Failed(&[HeadTooLarge, Protocol]),
    ),
    case("H18b", "NUL in a trailer", framed!("Transfer-Encoding: chunked", "0\r\nA: \0\r\n\r\n"), PROTOCOL),
    case("H19a", "chunked twice", framed!("Transfer-Encoding: chunked, chunked", "0\r\n\r\n"), PROTOCOL),
    case("H19b", "chunked is not last", framed!("Transfer-Encoding: chunked, gzip", "0\r\n\r\n"), PROTOCOL),
    case("H19c", "unknown transfer coding", framed!("Transfer-Encoding: rot13", "bx"), PROTOCOL),
];

const INTERIM: &[Case] = &[
    case(
        "H20a",
        "100 without end",
        &[Expect, forever("HTTP/1.1 100 Continue\r\n\r\n")],
        Expected::Failed(&[TooManyInterim]),
    ),
    case(
        "H20b",
        "102 and 103 without end",
        &[Expect, forever("HTTP/1.1 102 P\r\n\r\nHTTP/1.1 103 H\r\nLink: </a>\r\n\r\n")],
        Expected::Failed(&[TooManyInterim]),
    ),
    case(
        "H21a",
        "101 that was not asked for",
        answer!("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
        PROTOCOL,
    ),
    case(
        "H21b",
        "103 and nothing more",
        answer!("HTTP/1.1 103 Early Hints\r\n\r\n"),
        Expected::Failed(&[HeadTimeout]),
    ),
    case(
        "H21c",
        "100, then the response",
        serve!("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
        Expected::Ok,
    ),
];

const BODIES: &[Case] = &[
    with(
        &["--max-body", "1MiB"],
        case(
            "H22",
            "body without length and without end",
            &[Expect, send("HTTP/1.1 200 OK\r\n\r\n"), forever("0123456789abcdef0123456789abcdef")],
            Expected::Failed(&[BodyLimit]),
        ),
    ),
    case(
        "H23",
        "body of 10 GB",
        &[
            Expect,
            send("HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n"),
            forever("0123456789abcdef0123456789abcdef"),
        ],
        Expected::Failed(&[BodyLimit]),
    ),
    with(
        &["--max-body", "1MiB"],
        case(
            "H23b",
            "chunks without end",
            &[Expect, send(CHUNKED), forever("10\r\n0123456789abcdef\r\n")],
            Expected::Failed(&[BodyLimit]),
        ),
    ),
    case(
        "H24a",
        "sends its body slowly",
        &[Expect, send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"), slowly("x")],
        Expected::TimedOut,
    ),
    case(
        "H24b",
        "stops within the body",
        answer!("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome"),
        Expected::Failed(&[BodyTimeout]),
    ),
    case(
        "H25a",
        "resets within the body",
        &[Expect, send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome"), Rst],
        Expected::Failed(&[Reset]),
    ),
    case(
        "H25b",
        "closes within a chunk",
        &[Expect, send(CHUNKED), send("a\r\nsome"), Fin],
        Expected::Failed(&[BodyTruncated]),
    ),
    case(
        "H25c",
        "closes before the last chunk",
        &[Expect, send(CHUNKED), send("4\r\nsome\r\n"), Fin],
        Expected::Failed(&[BodyTruncated]),
    ),
    case(
        "H25d",
        "resets a body without length",
        &[Expect, send("HTTP/1.1 200 OK\r\n\r\nsome"), Rst],
        Expected::Failed(&[Reset]),
    ),
];

const ORDER: &[Case] = &[
    case(
        "H28",
        "sends two responses at once",
        answer!(
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        ),
        Expected::Failed(&[Desync]),
    ),
    case(
        "H29a",
        "closes after each response without a word",
        &[Expect, send(GOOD), Fin],
        Expected::Mixed(&[EofBeforeHead, Reset]),
    ),
    case(
        "H29b",
        "closes after each response as announced",
        &[Expect, send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"), Fin],
        Expected::Ok,
    ),
    case(
        "H30a",
        "announces to close and does not",
        serve!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"),
        Expected::Ok,
    ),
    case(
        "H30b",
        "keeps an HTTP/1.0 connection",
        serve!("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"),
        Expected::Ok,
    ),
    case(
        "H30c",
        "ends an HTTP/1.0 body by closing",
        &[Expect, send("HTTP/1.0 200 OK\r\n\r\nok"), Fin],
        Expected::Ok,
    ),
    with(
        &["--method", "HEAD"],
        case(
            "H35a",
            "body after HEAD",
            answer!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
            Expected::Failed(&[Desync]),
        ),
    ),
    case("H35b", "body after 204", answer!("HTTP/1.1 204 No Content\r\n\r\nok"), Expected::Failed(&[Desync])),
    case(
        "H35c",
        "body after 304",
        answer!("HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok"),
        Expected::Failed(&[Desync]),
    ),
    with(
        &["--method", "HEAD"],
        case(
            "H35d",
            "HEAD as it should be",
            serve!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"),
            Expected::Ok,
        ),
    ),
];

const CONTENT: &[Case] = &[
    case(
        "H31",
        "broken gzip is only bytes",
        serve!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x00"),
        Expected::Ok,
    ),
    with(
        &["--expect-status", "200"],
        case(
            "H32a",
            "redirects to itself",
            serve!("HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"),
            Expected::Failed(&[Status]),
        ),
    ),
    with(
        &["--expect-status", "200"],
        case(
            "H32b",
            "redirects to cloud metadata",
            serve!("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"),
            Expected::Failed(&[Status]),
        ),
    ),
    case(
        "H32c",
        "redirects to a name of 10,000 bytes",
        &[
            Expect,
            send("HTTP/1.1 302 Found\r\nLocation: /"),
            Repeat(b"0123456789", 1000),
            send("\r\nContent-Length: 0\r\n\r\n"),
            Drain,
        ],
        TOO_LARGE,
    ),
    case(
        "H33a",
        "terminal escapes in head and body",
        serve!(
            "HTTP/1.1 200 OK\r\nServer: </script><script>alert(1)</script>\r\nContent-Length: 5\r\n\r\n\x1b[2J!"
        ),
        Expected::Ok,
    ),
    case("H33b", "terminal escapes in the reason", status_line!("HTTP/1.1 200 \x1b[31mOK"), PROTOCOL),
    case(
        "H44a",
        "404 to everything",
        serve!("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno"),
        Expected::Failed(&[Status]),
    ),
    case(
        "H44b",
        "503 to everything",
        serve!("HTTP/1.1 503 Busy\r\nRetry-After: 1\r\nContent-Length: 2\r\n\r\nno"),
        Expected::Failed(&[Status]),
    ),
    with(
        &["--expect-length", "2"],
        case(
            "H44c",
            "empty body under 200",
            serve!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            Expected::Failed(&[WrongLength]),
        ),
    ),
    with(
        &["--expect-body", "welcome"],
        case(
            "H44d",
            "error page under 200",
            serve!("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nerror"),
            Expected::Failed(&[WrongBody]),
        ),
    ),
];
