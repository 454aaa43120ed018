//! The parser against good and broken responses, whole and in pieces, and against `httparse` as an oracle.

use super::*;
use crate::protocol::http1::limits;
use memchr::memmem::Finder;
use proptest::prelude::*;
use sysdyno_record::load::FailureClass as Class;
use sysdyno_record::plan::{ExpectedHeader, Validators};
use sysdyno_record::units::Bytes;

fn rules() -> Rules {
    let validators = Validators { same_body: true, ..Validators::default() };
    Rules::of(&validators, Bytes(1 << 20), false)
}

/// Feeds `bytes` in pieces of `step`; the first outcome that is not "more".
fn feed(bytes: &[u8], step: usize, rules: &Rules) -> Progress {
    let mut parser = ResponseParser::default();
    for piece in bytes.chunks(step.max(1)) {
        match parser.feed(piece, rules) {
            Progress::More => {}
            outcome => return outcome,
        }
    }
    Progress::More
}

#[track_caller]
fn check_ok(bytes: &str, body: &str) {
    for step in [1, 2, 3, 7, bytes.len()] {
        let Progress::Done(response) = feed(bytes.as_bytes(), step, &rules()) else {
            panic!("{bytes:?} in pieces of {step}: {:?}", feed(bytes.as_bytes(), step, &rules()));
        };
        assert_eq!(response.body.body_bytes, body.len() as u64);
        assert_eq!(response.body.crc32, crc32fast::hash(body.as_bytes()));
        assert_eq!(response.objection, None);
    }
}

#[track_caller]
fn check_fails(bytes: impl AsRef<[u8]>, class: Class) {
    let bytes = bytes.as_ref();
    // Bytes after a response are seen by the parser only if they come with its last piece.
    let steps = if class == Class::Desync { vec![bytes.len()] } else { vec![1, 5, bytes.len()] };
    for step in steps {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
        assert_eq!(feed(bytes, step, &rules()), Progress::Failed(class), "{shown:?} in pieces of {step}");
    }
}

#[test]
fn well_framed_responses_are_read_whole_and_in_pieces() {
    check_ok("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello");
    check_ok("HTTP/1.1 200\r\ncontent-length:5\r\n\r\nhello", "hello");
    check_ok("HTTP/1.1 200 OK\nContent-Length: 5, 5\n\nhello", "hello");
    check_ok("HTTP/1.1 204 No Content\r\n\r\n", "");
    check_ok("HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n", "");
    check_ok(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 X\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "ok",
    );
    check_ok(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;a=b\r\n!\r\n0\r\n\r\n",
        "hello!",
    );
    check_ok(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\nA \r\n0123456789\r\n0\r\nT: v\r\n\r\n",
        "0123456789",
    );
}

#[test]
fn broken_framing_is_named() {
    use Class::{Desync, HeadTooLarge, InvalidStatus, Protocol, TooManyInterim};
    check_fails("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello!", Desync);
    check_fails("HTTP/1.1 204 No Content\r\n\r\nx", Desync);
    for length in ["-1", "+5", "5,6", "0x5", "18446744073709551616", "", "5 5", "99999999999999999"] {
        check_fails(format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n"), Protocol);
    }
    check_fails("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", Protocol);
    check_fails("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", Protocol);
    check_fails("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Protocol);
    for coding in ["gzip", "chunked, gzip", "chunked, chunked", "gzip, chunked", "identity"] {
        check_fails(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: {coding}\r\n\r\n"), Protocol);
    }
    for status in ["99", "1000", "2x0", "-1", "", "600", "20"] {
        check_fails(format!("HTTP/1.1 {status} OK\r\n\r\n"), InvalidStatus);
    }
    for line in ["HTTP/0.9 200 OK", "HTTP/3.7 200 OK", "HTTP/2.0 200 OK", "HTTP/"] {
        check_fails(format!("{line}\r\n\r\n"), Protocol);
    }
    for field in
        [" folded", "\tfolded", "A b: c", "A : b", ": b", "nocolon", "A: b\0", "A: b\rc", "A: \x1b[31m"]
    {
        check_fails(format!("HTTP/1.1 200 OK\r\nX: y\r\n{field}\r\n\r\n"), Protocol);
    }
    check_fails("HTTP/1.1 101 Switching\r\n\r\n", Protocol);
    check_fails("HTTP/1.1 103 Hint\r\n\r\n".repeat(limits::MAX_INTERIM_COUNT as usize + 1), TooManyInterim);
    check_fails(format!("HTTP/1.1 200 OK\r\nA: {}", "x".repeat(limits::MAX_HEAD_LINE_BYTES)), HeadTooLarge);
    check_fails(format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(257)), HeadTooLarge);
    check_fails(
        format!("HTTP/1.1 200 OK\r\n{}", format!("A: {}\r\n", "x".repeat(4000)).repeat(17)),
        HeadTooLarge,
    );
}

#[test]
fn what_is_no_http_is_named_at_its_first_bytes() {
    for begin in [
        "SSH-2.0-OpenSSH_9.2p1\r\n",
        "220 ready\r\n",
        "-ERR\r\n",
        "ICY 200 OK",
        "<html>",
        "\r\n",
        "HTTQ",
        "x",
        "\0",
    ] {
        check_fails(begin, Class::NotHttp);
    }
    check_fails(b"\x15\x03\x03\0\x02\x02\x0a", Class::SpeaksTls);
    check_fails(b"\x16", Class::SpeaksTls);
    check_fails([0x8f].repeat(limits::MAX_HEAD_BYTES + 1), Class::NotHttp);
    for begin in ["", "H", "HTTP/", "HTTP/1.1 200 OK\r\nA: b"] {
        assert_eq!(feed(begin.as_bytes(), 1, &rules()), Progress::More, "{begin:?}");
    }
    // Behind an interim response it is a broken response.
    check_fails("HTTP/1.1 100 Continue\r\n\r\nSSH-2.0\r\n\r\n", Class::Protocol);
    // A head in pieces that is refused for what it says is HTTP.
    check_fails("HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n", Class::BodyLimit);
}

#[test]
fn broken_chunks_are_named() {
    let check = |chunks: &str, class| {
        check_fails(format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}"), class);
    };
    for chunks in [
        "\r\n",
        "-1\r\n",
        "g\r\n",
        "fffffffffffffffff\r\n",
        "5\r\nhelloX",
        "5\rX",
        " 5\r\n",
        "5\r\nhello\r\r\n",
    ] {
        check(chunks, Class::Protocol);
    }
    check(&format!("5;{}", "x".repeat(300)), Class::Protocol);
    check(&format!("1;{}\r\nx\r\n", "y".repeat(200)).repeat(100), Class::Protocol);
    check(&format!("0\r\n{}", "T: v\r\n".repeat(4000)), Class::HeadTooLarge);
    check("0\r\n\r\nx", Class::Desync);
    check("0\r\nT: \0\r\n\r\n", Class::Protocol);
}

#[test]
fn many_small_chunks_are_a_body_like_any_other() {
    let body = "x".repeat(20_000);
    check_ok(
        &format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n",
            "1\r\nx\r\n".repeat(20_000)
        ),
        &body,
    );
}

#[test]
fn a_body_beyond_its_limit_is_given_up() {
    check_fails("HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n", Class::BodyLimit);
    let endless = [b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), &vec![b'x'; (1 << 20) + 1]].concat();
    assert_eq!(feed(&endless, 65536, &rules()), Progress::Failed(Class::BodyLimit));
}

#[test]
fn the_end_of_the_connection_ends_only_what_it_may() {
    let end = |bytes: &str| {
        let mut parser = ResponseParser::default();
        assert_eq!(parser.feed(bytes.as_bytes(), &rules()), Progress::More);
        parser.end(&rules())
    };
    assert!(matches!(end("HTTP/1.0 200 OK\r\n\r\nsome"), Progress::Done(done) if !done.keep_alive));
    assert_eq!(
        end("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel"),
        Progress::Failed(Class::BodyTruncated)
    );
    assert_eq!(
        end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello"),
        Progress::Failed(Class::BodyTruncated)
    );
    assert_eq!(end("HTTP/1.1 20"), Progress::Failed(Class::EofBeforeHead));
}

#[test]
fn the_connection_is_kept_as_the_rfc_says() {
    let keeps = |head: &str| match feed(format!("{head}Content-Length: 0\r\n\r\n").as_bytes(), 1000, &rules())
    {
        Progress::Done(response) => response.keep_alive,
        other => panic!("{other:?}"),
    };
    assert!(keeps("HTTP/1.1 200 OK\r\n"));
    assert!(!keeps("HTTP/1.1 200 OK\r\nConnection: close\r\n"));
    assert!(!keeps("HTTP/1.1 200 OK\r\nConnection: Upgrade, CLOSE\r\n"));
    assert!(!keeps("HTTP/1.0 200 OK\r\n"));
    assert!(keeps("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n"));
}

#[test]
fn validators_object_to_what_they_were_told() {
    let objection = |change: &dyn Fn(&mut Rules), bytes: &str| {
        let mut rules = rules();
        change(&mut rules);
        let whole = feed(bytes.as_bytes(), 4096, &rules);
        assert_eq!(whole, feed(bytes.as_bytes(), 1, &rules));
        match whole {
            Progress::Done(response) => response.objection,
            other => panic!("{other:?}"),
        }
    };
    let page = "HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 11\r\n\r\nhello world";
    assert_eq!(objection(&|_| (), page), None);
    assert_eq!(objection(&|_| (), "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"), Some(Class::Status));
    assert_eq!(objection(&|rules| rules.validators.statuses = vec![204], page), Some(Class::Status));
    assert_eq!(objection(&|rules| rules.validators.body_bytes = Some(10), page), Some(Class::WrongLength));
    let needle =
        |text: &'static str| move |rules: &mut Rules| rules.finder = Some(Finder::new(text).into_owned());
    assert_eq!(objection(&needle("lo wo"), page), None);
    assert_eq!(objection(&needle("d"), page), None);
    assert_eq!(objection(&needle("hello world!"), page), Some(Class::WrongBody));
    let field =
        |name: &str, value: Option<&str>| ExpectedHeader { name: name.into(), value: value.map(Into::into) };
    assert_eq!(objection(&|rules| rules.validators.header = Some(field("x-a", Some("b"))), page), None);
    assert_eq!(objection(&|rules| rules.validators.header = Some(field("X-A", None)), page), None);
    let wrong = Some(Class::WrongHeader);
    assert_eq!(objection(&|rules| rules.validators.header = Some(field("X-A", Some("c"))), page), wrong);
}

#[test]
fn head_responses_have_no_body() {
    let rules = Rules { is_head_request: true, ..rules() };
    let head = b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n";
    assert!(matches!(feed(head, 9, &rules), Progress::Done(done) if done.body.body_bytes == 0));
}

/// Pieces of responses, good and bad, from which the property tests build their input.
fn any_response() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b"HTTP/1.1 200 OK\r\n".to_vec()),
        Just(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec()),
        Just(b"Content-Length: 3\r\n".to_vec()),
        Just(b"Transfer-Encoding: chunked\r\n".to_vec()),
        Just(b"Connection: close\r\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"abc".to_vec()),
        Just(b"3\r\nabc\r\n".to_vec()),
        Just(b"0\r\n\r\n".to_vec()),
        proptest::collection::vec(any::<u8>(), 0..12),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn pieces_do_not_change_the_outcome(bytes in any_response(), step in 1usize..40) {
        let whole = feed(&bytes, bytes.len(), &rules());
        let pieces = feed(&bytes, step, &rules());
        let is_desync = |outcome: &Progress| *outcome == Progress::Failed(Class::Desync);
        // Bytes after the response are seen only if they come in the same piece; the engine sees the others later.
        prop_assert!(whole == pieces || is_desync(&whole) && matches!(pieces, Progress::Done(_)), "{whole:?} {pieces:?}");
    }

    #[test]
    fn a_head_that_is_accepted_is_one_for_httparse_too(bytes in any_response()) {
        let mut parser = ResponseParser::default();
        let _ = parser.feed(&bytes, &rules());
        if parser.has_head() && !bytes.starts_with(b"HTTP/1.1 1") {
            let mut fields = [httparse::EMPTY_HEADER; 64];
            let mut oracle = httparse::Response::new(&mut fields);
            let parsed = oracle.parse(&bytes);
            prop_assert!(matches!(parsed, Ok(httparse::Status::Complete(_))), "{parsed:?}");
            prop_assert_eq!(oracle.code, parser.status());
        }
    }
}
