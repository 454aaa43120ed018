//! Header blocks against the examples of RFC 7541, and a connection against servers that break the rules, without sockets.

use super::encode::{EncodedRequest, write_block};
use super::error;
use super::frame;
use super::hpack::{HeaderFields, HpackDecoder};
use super::limits::*;
use super::link::{Link, LinkEvent};
use crate::protocol::http1::{RequestBytes, Rules};
use proptest::prelude::*;
use sysdyno_record::load::FailureClass::{self, *};
use sysdyno_record::plan::{ExpectedHeader, HeaderField, RequestSpec, Validators};
use sysdyno_record::units::Bytes;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("ascii"), 16).expect("hex");
    digits.chunks(2).map(pair).collect()
}

/// Section C.6 of RFC 7541: three responses on one connection, with the Huffman code.
#[test]
fn the_examples_of_the_rfc_are_decoded() {
    let mut decoder = HpackDecoder::default();
    let expected = |name: &str, value: &str| ExpectedHeader { name: name.into(), value: Some(value.into()) };
    let mut check = |hex: &str, status: u16, expected: ExpectedHeader| {
        let fields = decoder.read(&bytes(hex), Some(&expected));
        let found = HeaderFields { status: Some(status), has_expected: true, ..HeaderFields::default() };
        assert_eq!(fields, Ok(found), "{expected:?}");
    };
    check(
        "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718
         63c7 8f0b 97c8 e9ae 82ae 43d3",
        302,
        expected("Location", "https://www.example.com"),
    );
    check("4883 640e ffc1 c0bf", 307, expected("cache-control", "private"));
    check(
        "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7
         b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
        200,
        expected("set-cookie", "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1"),
    );
}

#[test]
fn what_is_no_header_block_is_refused() {
    let refuse =
        |block: &[u8], class| assert_eq!(HpackDecoder::default().read(block, None), Err(class), "{block:x?}");
    for hex in
        ["80", "be", "ff", "ffffffffff7f", "40", "4001", "4003 6162", "00 81", "0081ff00", "3fffff07", "8820"]
    {
        refuse(&bytes(hex), Protocol);
    }
    refuse(&[&[0x88][..], &[0x90; 600]].concat(), HeadTooLarge);
    let bomb: Vec<u8> = [&bytes("40 0161 7f 9116")[..], &[b'x'; 2960], &[0xbe; 100]].concat();
    refuse(&bomb, HeadTooLarge);
}

#[test]
fn a_block_that_is_no_response_is_read_to_its_end() {
    let malformed = |block: &[u8]| HpackDecoder::default().read(block, None).expect("decodes").malformed;
    assert_eq!(malformed(&bytes("8888")), Some(Protocol));
    for status in ["0803 323078", "0802 3230", "0803 363030", "0803 303939"] {
        assert_eq!(malformed(&bytes(status)), Some(InvalidStatus), "{status}");
    }
    // What follows is in the table, and so is what may not be, with the mark that it may not.
    let mut decoder = HpackDecoder::default();
    let block = [literal(0x40, "A", "b"), literal(0x40, "c", "d\n"), literal(0x40, "e", "f")].concat();
    assert_eq!(decoder.read(&block, None).expect("decodes").malformed, Some(Protocol));
    let mut read = |block: &[u8]| decoder.read(block, None).expect("decodes").malformed;
    assert_eq!([62, 63, 64].map(|index| read(&[0x80 | index])), [None, Some(Protocol), Some(Protocol)]);
    // A good name is good with another value, and a bad one is not.
    let named = |index: u8| [0x7f, index - 63, 1, b'x'];
    assert_eq!((read(&named(63)), read(&named(65))), (None, Some(Protocol)));
}

/// Literal fields of names of their own, which are kept if `mark` is 0x40.
fn literal(mark: u8, name: &str, value: &str) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).expect("short")][..], text.as_bytes()].concat();
    [vec![mark], text(name), text(value)].concat()
}

#[test]
fn a_table_is_as_large_as_http2_grants_and_as_small_as_the_server_says() {
    let mut decoder = HpackDecoder::default();
    let mut read = |block: &[u8]| decoder.read(block, None);
    // Each takes 32 + 1 + 100 bytes, so the table has 30; the newest is at 62.
    for number in 0..200u8 {
        read(&literal(0x40, "a", &format!("{number:0100}"))).expect("is kept");
    }
    assert!(read(&[0x80 | 91]).is_ok() && read(&[0x80 | 92]) == Err(Protocol));
    // An entry that is larger than the table empties it.
    read(&[&[0x40, 1, b'a', 0x7f, 0x89, 0x1f][..], &[b'x'; 4096 + 8]].concat()).expect("is passed over");
    assert_eq!(read(&[0x80 | 62]), Err(Protocol));
    read(&literal(0x40, "a", "b")).expect("is kept");
    read(&[0x20]).expect("the table is closed");
    assert_eq!(read(&[0x80 | 62]), Err(Protocol));
    read(&literal(0x40, "a", "b")).expect("is passed over");
    assert_eq!(read(&[0x80 | 62]), Err(Protocol));
    // Closed and opened again and again, as often as a block is long.
    read(&[0x20, 0x3f, 0xe1, 0x1f].repeat(10_000)).expect("is allowed");
    assert_eq!(read(&[0x3f, 0xe2, 0x1f]), Err(Protocol), "one more than is granted");
}

#[test]
fn the_length_of_a_body_is_read_where_it_is_one() {
    let length = |values: &[&str]| {
        let fields = values.iter().flat_map(|value| literal(0, "content-length", value));
        let read = HpackDecoder::default().read(&fields.collect::<Vec<u8>>(), None).expect("decodes");
        read.malformed.map_or(Ok(read.body_bytes), Err)
    };
    assert_eq!(length(&[]), Ok(None));
    assert_eq!(length(&["0"]), Ok(Some(0)));
    assert_eq!(length(&["42", "42"]), Ok(Some(42)));
    for wrong in [&[""][..], &["-1"], &["+1"], &["1,1"], &["0x1"], &["18446744073709551616"], &["1", "2"]] {
        assert_eq!(length(wrong), Err(Protocol), "{wrong:?}");
    }
}

#[test]
fn a_request_is_decoded_as_it_was_meant() {
    let target = crate::target::resolve("http://127.0.0.1:8080/").expect("resolves");
    let headers = [
        ("X-Long", "v".repeat(300)),
        ("Keep-Alive", "5".into()),
        ("TE", "gzip".into()),
        ("te", "trailers".into()),
        ("Accept", "*/*".into()),
        ("Cookie", "a=b; c=d".into()),
        ("Host", "shop.test".into()),
    ];
    let spec = RequestSpec {
        method: "POST".into(),
        headers: headers.map(|(name, value)| HeaderField { name: name.into(), value }).into(),
        body: b"hello\r\n\r\nX-Body: 1".as_slice().into(),
        body_bytes: 18,
    };
    let bytes = RequestBytes::of(&spec, &target, "/a?b").expect("is a request");
    for message in [bytes.keep, bytes.last] {
        let (mut block, mut head) = (Vec::new(), Vec::new());
        assert_eq!(write_block(&message, "https", &mut block), &*spec.body);
        HpackDecoder::default().read_lines(&block, None, &mut head).expect("decodes");
        let agent = concat!("user-agent: sysdyno/", env!("CARGO_PKG_VERSION"));
        let lines = [
            "HTTP/2",
            agent,
            &format!("x-long: {}", "v".repeat(300)),
            "te: trailers",
            "accept: */*",
            "cookie: a=b; c=d",
            "content-length: 18\r\n",
        ];
        assert_eq!(String::from_utf8_lossy(&head), lines.join("\r\n"));
        let has = |name: &str, value: &str| {
            let expected = ExpectedHeader { name: name.into(), value: Some(value.into()) };
            HpackDecoder::default().read(&block, Some(&expected)).expect("decodes").has_expected
        };
        assert!(has(":method", "POST") && has(":scheme", "https") && has(":path", "/a?b"));
        assert!(has(":authority", "shop.test"));
    }
}

#[test]
fn fields_that_http1_could_not_say_are_refused() {
    let malformed = |block: &[u8]| HpackDecoder::default().read(block, None).expect("decodes").malformed;
    let refuse = |block: &[u8]| assert_eq!(malformed(block), Some(Protocol), "{block:x?}");
    for name in ["", "A", "a b", "a:", "a\n", ":"] {
        refuse(&literal(0, name, "x"));
    }
    for value in ["x\r\nset-cookie: a=b", "\0", "\x7f"] {
        refuse(&literal(0x40, "a", value));
        refuse(&literal(0, "a", value));
    }
    assert_eq!(malformed(&literal(0, "a", "b\tc")), None);
}

fn requests(body: &[u8]) -> Vec<EncodedRequest> {
    let validators = Validators { same_body: true, ..Validators::default() };
    let rules = Rules::of(&validators, Bytes(100_000), false);
    vec![EncodedRequest { block: bytes("82 86 84").into(), body: body.into(), rules }]
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    frame::write_header(&mut out, payload.len(), kind, flags, stream);
    out.extend_from_slice(payload);
    out
}

fn settings() -> Vec<u8> {
    frame(frame::SETTINGS, 0, 0, &[])
}

fn setting(name: u16, value: u32) -> Vec<u8> {
    frame(frame::SETTINGS, 0, 0, &[&name.to_be_bytes()[..], &value.to_be_bytes()].concat())
}

/// What comes of frames on a connection with two open streams.
fn read(frames: &[Vec<u8>]) -> (Result<(), FailureClass>, Link) {
    let mut link = Link::new(4);
    let requests = requests(b"");
    link.open(0, 0, &requests[0]);
    link.open(1, 0, &requests[0]);
    let result = link.read(&frames.concat(), &requests);
    (result, link)
}

const HEAD: u8 = frame::END_HEADERS;
const WHOLE: u8 = frame::END_HEADERS | frame::END_STREAM;

#[test]
fn responses_are_told_in_the_order_in_which_they_end() {
    let frames = [
        settings(),
        frame(frame::HEADERS, HEAD, 1, &[0x88]),
        frame(frame::HEADERS, WHOLE, 3, &[0x8d]),
        frame(frame::DATA, frame::PADDED, 1, &[&[2][..], b"hel", &[0, 0]].concat()),
        frame(frame::DATA, frame::END_STREAM, 1, b"lo"),
    ];
    let (result, link) = read(&frames);
    assert_eq!(result, Ok(()));
    let told: Vec<_> = link.events.iter().map(|(lane, event)| (*lane, *event)).collect();
    let [
        (0, LinkEvent::Began(200)),
        (1, LinkEvent::Began(404)),
        (1, LinkEvent::Done(missing, _)),
        (0, LinkEvent::Done(found, _)),
    ] = told[..]
    else {
        panic!("{told:?}");
    };
    assert_eq!((missing.status, missing.objection), (404, Some(Status)));
    assert_eq!((found.status, found.objection, found.body.body_bytes), (200, None, 5));
    assert_eq!(found.body.crc32, crc32fast::hash(b"hello"));
    assert_eq!(link.active(), 0);
}

#[test]
fn servers_that_break_the_rules_break_the_connection() {
    let head = || frame(frame::HEADERS, HEAD, 1, &[0x88]);
    let many = |one: Vec<u8>, count: usize| one.repeat(count);
    let go_on = || frame(frame::CONTINUATION, 0, 1, &[]);
    let begun = || frame(frame::HEADERS, 0, 1, &[0x88]);
    let long = || frame(frame::CONTINUATION, 0, 1, &[0; MAX_FRAME_BYTES]);
    for (what, frames, class) in [
        ("no settings", vec![head()], Protocol),
        ("push", vec![settings(), frame(frame::PUSH_PROMISE, HEAD, 1, &[0; 8])], Protocol),
        ("too long", vec![settings(), vec![0, 0x40, 1, 0, 0, 0, 0, 0, 1]], Protocol),
        ("idle stream", vec![settings(), frame(frame::HEADERS, HEAD, 5, &[0x88])], Protocol),
        ("even stream", vec![settings(), frame(frame::HEADERS, HEAD, 2, &[0x88])], Protocol),
        ("padding", vec![settings(), head(), frame(frame::DATA, frame::PADDED, 1, &[9, 0])], Protocol),
        ("continuation of nothing", vec![settings(), go_on()], Protocol),
        ("block torn apart", vec![settings(), begun(), frame(frame::PING, 0, 0, &[0; 8])], Protocol),
        ("continuation flood", vec![settings(), begun(), many(go_on(), 100)], Http2Abuse),
        ("long block", vec![settings(), begun(), many(long(), 5)], HeadTooLarge),
        ("ping flood", vec![settings(), many(frame(frame::PING, 0, 0, &[0; 8]), 2000)], Http2Abuse),
        ("settings flood", vec![many(settings(), 2000)], Http2Abuse),
        ("empty data", vec![settings(), head(), many(frame(frame::DATA, 0, 1, &[]), 2000)], Http2Abuse),
        ("unknown frames", vec![settings(), many(frame(77, 0, 0, &[]), 2000)], Http2Abuse),
        (
            "resets of ended streams",
            vec![settings(), many(frame(frame::RST_STREAM, 0, 1, &[0; 4]), 2000)],
            Http2Abuse,
        ),
        ("window of nothing", vec![settings(), frame(frame::WINDOW_UPDATE, 0, 0, &[0; 4])], Protocol),
        (
            "window too wide",
            vec![settings(), frame(frame::WINDOW_UPDATE, 0, 0, &[0x7f, 255, 255, 255])],
            Protocol,
        ),
        ("first window too wide", vec![setting(4, u32::MAX)], Protocol),
        ("frame size", vec![setting(5, 100)], Protocol),
        ("push allowed", vec![setting(2, 1)], Protocol),
        ("ping of seven", vec![settings(), frame(frame::PING, 0, 0, &[0; 7])], Protocol),
        ("no block", vec![settings(), frame(frame::HEADERS, HEAD, 1, &[0xff, 0xff])], Protocol),
    ] {
        check_broken(what, &frames, class);
    }
}

/// Asserts that frames break a connection, and that little was said in answer.
fn check_broken(what: &str, frames: &[Vec<u8>], class: FailureClass) {
    let (result, link) = read(frames);
    assert_eq!(result, Err(class), "{what}");
    assert!(link.out.len() < 64 * 1024, "{what}");
}

#[test]
fn games_with_windows_tables_and_lengths_break_the_connection() {
    let many = |one: Vec<u8>, count: usize| one.repeat(count);
    for (what, frames, class) in [
        (
            "windows made too wide by settings",
            vec![settings(), frame(frame::WINDOW_UPDATE, 0, 1, &[0x7f, 255, 0, 0]), setting(4, 0x7fff_ffff)],
            Protocol,
        ),
        (
            "windows by crumbs",
            vec![settings(), many(frame(frame::WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]), 2000)],
            Http2Abuse,
        ),
        ("table game", vec![settings(), frame(frame::HEADERS, HEAD, 1, &[0x3f, 0xff, 0xff, 0x7f])], Protocol),
        (
            "header bomb",
            vec![
                settings(),
                frame(
                    frame::HEADERS,
                    HEAD,
                    1,
                    &[&literal(0x40, "a", &"x".repeat(120))[..], &[0xbe; 1000]].concat(),
                ),
            ],
            HeadTooLarge,
        ),
        ("goaway of three bytes", vec![settings(), frame(frame::GOAWAY, 0, 0, &[0; 3])], Protocol),
        ("goaway on a stream", vec![settings(), frame(frame::GOAWAY, 0, 1, &[0; 8])], Protocol),
    ] {
        check_broken(what, &frames, class);
    }
}

#[test]
fn what_ends_one_stream_leaves_the_others() {
    let check = |frame: Vec<u8>, event: LinkEvent| {
        let (result, link) = read(&[settings(), frame]);
        assert_eq!(result, Ok(()));
        assert_eq!((link.events.last(), link.active()), (Some(&(0, event)), 1));
    };
    check(frame(frame::RST_STREAM, 0, 1, &[0, 0, 0, 2]), LinkEvent::Reset(2));
    check(frame(frame::DATA, 0, 1, b"x"), LinkEvent::Failed(Protocol));
    check(frame(frame::WINDOW_UPDATE, 0, 1, &[0x7f, 255, 255, 255]), LinkEvent::Failed(Protocol));
    check(frame(frame::HEADERS, HEAD, 1, &bytes("88 0f0d0131 0f0d0132")), LinkEvent::Failed(Protocol));
    check(frame(frame::HEADERS, HEAD, 1, &literal(0x40, "A", "b")), LinkEvent::Failed(Protocol));
    check(frame(frame::HEADERS, WHOLE, 1, &bytes("0803313031")), LinkEvent::Failed(Protocol));
    check(frame(frame::HEADERS, WHOLE, 1, &[0x0f, 0, 1, 0x78]), LinkEvent::Failed(Protocol));
    let interim = frame(frame::HEADERS, HEAD, 1, &bytes("0803313033")).repeat(40);
    check(interim, LinkEvent::Failed(TooManyInterim));
    let long = [frame(frame::HEADERS, HEAD, 1, &[0x88]), frame(frame::DATA, 0, 1, &[0; 16_000]).repeat(7)];
    check(long.concat(), LinkEvent::Failed(BodyLimit));
}

/// What is said last in answer to frames: the kind of the frame, its stream, and its error code.
fn said_last(frames: &[Vec<u8>]) -> (u8, u32, u32) {
    let (_, link) = read(frames);
    let mut rest = &link.out[frame::PREFACE.len()..];
    let mut last = (0, 0, 0);
    while let Ok(Some(frame)) = frame::Frame::first(rest) {
        let code = frame.payload.last_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
        last = (frame.kind, frame.stream, code);
        rest = &rest[frame.bytes()..];
    }
    assert_eq!(rest, b"");
    last
}

#[test]
fn a_server_is_told_what_breaks_a_connection_with_the_code_of_the_rfc() {
    let head = |flags: u8| frame(frame::HEADERS, flags, 1, &[0x88]);
    let reset = || frame(frame::RST_STREAM, 0, 1, &[0, 0, 0, 8]);
    for (what, frames, code) in [
        ("no settings", vec![head(HEAD)], error::PROTOCOL_ERROR),
        ("plain text", vec![b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()], error::PROTOCOL_ERROR),
        ("push", vec![settings(), frame(frame::PUSH_PROMISE, HEAD, 1, &[0; 8])], error::PROTOCOL_ERROR),
        ("too long", vec![settings(), vec![0, 0x40, 1, 0, 0, 0, 0, 0, 1]], error::FRAME_SIZE_ERROR),
        ("settings of five bytes", vec![frame(frame::SETTINGS, 0, 0, &[0; 5])], error::FRAME_SIZE_ERROR),
        ("settings of a stream", vec![frame(frame::SETTINGS, 0, 1, &[])], error::PROTOCOL_ERROR),
        ("wide first window", vec![setting(4, u32::MAX)], error::FLOW_CONTROL_ERROR),
        ("small frames", vec![setting(5, 100)], error::PROTOCOL_ERROR),
        ("ping of seven", vec![settings(), frame(frame::PING, 0, 0, &[0; 7])], error::FRAME_SIZE_ERROR),
        ("ping of a stream", vec![settings(), frame(frame::PING, 0, 1, &[0; 8])], error::PROTOCOL_ERROR),
        ("goaway of a stream", vec![settings(), frame(frame::GOAWAY, 0, 1, &[0; 8])], error::PROTOCOL_ERROR),
        ("no window", vec![settings(), frame(frame::WINDOW_UPDATE, 0, 0, &[0; 4])], error::PROTOCOL_ERROR),
        (
            "wide window",
            vec![settings(), frame(frame::WINDOW_UPDATE, 0, 0, &[0x7f, 255, 255, 255])],
            error::FLOW_CONTROL_ERROR,
        ),
        ("padding", vec![settings(), head(HEAD | frame::PADDED)], error::PROTOCOL_ERROR),
        ("no block", vec![settings(), frame(frame::HEADERS, HEAD, 1, &[0xff])], error::COMPRESSION_ERROR),
        ("idle stream", vec![settings(), frame(frame::DATA, 0, 9, b"x")], error::PROTOCOL_ERROR),
        (
            "data after the end",
            vec![settings(), head(WHOLE), frame(frame::DATA, 0, 1, b"x")],
            error::STREAM_CLOSED,
        ),
        ("head after the end", vec![settings(), head(WHOLE), head(WHOLE)], error::STREAM_CLOSED),
        (
            "data after a reset",
            vec![settings(), reset(), frame(frame::DATA, 0, 1, b"x")],
            error::STREAM_CLOSED,
        ),
        ("flood", vec![settings(), frame(77, 0, 0, &[]).repeat(2000)], error::ENHANCE_YOUR_CALM),
    ] {
        assert_eq!(said_last(&frames), (frame::GOAWAY, 0, code), "{what}");
    }
}

#[test]
fn a_server_is_told_what_breaks_a_stream_with_the_code_of_the_rfc() {
    let head = || frame(frame::HEADERS, HEAD, 1, &[0x88]);
    for (what, frame, code) in [
        ("capitals", frame(frame::HEADERS, HEAD, 1, &literal(0, "A", "b")), error::PROTOCOL_ERROR),
        ("101", frame(frame::HEADERS, HEAD, 1, &bytes("0803313031")), error::PROTOCOL_ERROR),
        ("data before head", frame(frame::DATA, 0, 1, b"x"), error::PROTOCOL_ERROR),
        ("priority of four bytes", frame(frame::PRIORITY, 0, 1, &[0; 4]), error::FRAME_SIZE_ERROR),
        ("no window", frame(frame::WINDOW_UPDATE, 0, 1, &[0; 4]), error::PROTOCOL_ERROR),
        ("wide window", frame(frame::WINDOW_UPDATE, 0, 1, &[0x7f, 255, 255, 255]), error::FLOW_CONTROL_ERROR),
        ("long body", [head(), frame(frame::DATA, 0, 1, &[0; 16_000]).repeat(7)].concat(), error::CANCEL),
    ] {
        assert_eq!(said_last(&[settings(), frame]), (frame::RST_STREAM, 1, code), "{what}");
    }
}

#[test]
fn what_was_on_its_way_when_a_stream_was_given_up_is_passed_over() {
    let requests = requests(b"");
    let mut link = Link::new(2);
    link.read(&settings(), &requests).expect("reads");
    let head = |stream| frame(frame::HEADERS, HEAD, stream, &literal(0x40, "a", "b"));
    for number in 0..1000 {
        link.open(0, 0, &requests[0]);
        link.cancel(0);
        // The table follows all the same.
        let stream = 4 * number + 1;
        let late = [head(stream), frame(frame::DATA, frame::END_STREAM, stream, b"x")];
        link.read(&late.concat(), &requests).expect("is passed over");
        link.open(1, 0, &requests[0]);
        link.cancel(1);
        link.idle_frames = 0;
    }
    // Of the oldest nobody knows any more, so they are believed.
    link.read(&frame(frame::DATA, 0, 1, b"x"), &requests).expect("is passed over");
}

#[test]
fn of_a_response_is_kept_what_its_rules_ask_for() {
    let mut requests = requests(b"");
    requests[0].rules = requests[0].rules.clone().keeping(true, 6);
    let mut link = Link::new(1);
    let block = |fields: &[(&str, &str)]| -> Vec<u8> {
        fields.iter().flat_map(|(name, value)| literal(0, name, value)).collect()
    };
    let early = block(&[(":status", "103"), ("set-cookie", "early=1")]);
    let cookies = block(&[(":status", "200"), ("set-cookie", "a=1"), ("set-cookie", "b=2")]);
    let whole = [
        settings(),
        frame(frame::HEADERS, HEAD, 1, &early),
        frame(frame::HEADERS, HEAD, 1, &cookies),
        frame(frame::DATA, 0, 1, b"hello"),
        frame(frame::DATA, 0, 1, b", world"),
        frame(frame::HEADERS, WHOLE, 1, &block(&[("set-cookie", "late=1")])),
    ];
    link.open(0, 0, &requests[0]);
    link.read(&whole.concat(), &requests).expect("reads");
    assert!(matches!(link.events.last(), Some((0, LinkEvent::Done(..)))), "{:?}", link.events);
    let kept = link.kept(0).as_ref().expect("is kept");
    assert_eq!(kept.head, b"HTTP/2\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n");
    assert_eq!(kept.body, b"hello,");
    // The next one on the same place has nothing of it, also where the server repeats a block.
    for stream in [3, 5] {
        link.open(0, 0, &requests[0]);
        let plain = frame(frame::HEADERS, WHOLE, stream, &block(&[(":status", "200"), ("a", "b")]));
        link.read(&plain, &requests).expect("reads");
        let kept = link.kept(0).as_ref().expect("is kept");
        assert_eq!((kept.head.as_slice(), kept.body.as_slice()), (&b"HTTP/2\r\na: b\r\n"[..], &b""[..]));
    }
}

#[test]
fn a_request_of_its_own_is_sent_as_far_as_the_windows_let_it_and_is_not_mixed_up_with_its_kind() {
    let requests = requests(b"of the kind");
    let mut link = Link::new(2);
    let body: Vec<u8> = (0..70_000u32).map(|number| number as u8).collect();
    link.out.clear();
    assert!(!link.open_own(0, 0, &requests[0].block, &body));
    let mut sent = link.out.split_off(12);
    link.out.clear();
    let wider = |stream: u32, by: u32| frame(frame::WINDOW_UPDATE, 0, stream, &by.to_be_bytes());
    link.read(&[settings(), wider(0, 100_000), wider(1, 100_000)].concat(), &requests).expect("reads");
    assert_eq!(link.events, [(0, LinkEvent::Sent)]);
    // Behind the acknowledgement of the settings.
    sent.extend(link.out.split_off(9));
    let mut content = Vec::new();
    while let Ok(Some(frame)) = frame::Frame::first(&sent) {
        content.extend_from_slice(frame.payload);
        let length = frame.bytes();
        sent.drain(..length);
    }
    assert_eq!(content, body);
    link.read(&frame(frame::HEADERS, WHOLE, 1, &[0x88]), &requests).expect("reads");
    link.out.clear();
    assert!(link.open(0, 0, &requests[0]));
    assert!(link.out.ends_with(b"of the kind"));
}

/// How the first stream ended after a head with these fields and a body of so many bytes.
fn ended(status: &str, length: &str, body: usize, is_head_request: bool) -> LinkEvent {
    let mut requests = requests(b"");
    requests[0].rules = Rules::of(&Validators::default(), Bytes(100), is_head_request);
    let mut link = Link::new(1);
    link.open(0, 0, &requests[0]);
    let block = [literal(0, ":status", status), literal(0, "content-length", length)].concat();
    let head = frame(frame::HEADERS, if body == 0 { WHOLE } else { HEAD }, 1, &block);
    let data = if body == 0 { vec![] } else { frame(frame::DATA, frame::END_STREAM, 1, &vec![b'x'; body]) };
    link.read(&[settings(), head, data].concat(), &requests).expect("reads");
    link.events.last().expect("an event").1
}

#[test]
fn a_body_of_another_length_than_its_head_says_is_no_response() {
    let is_done = |event| matches!(event, LinkEvent::Done(..));
    assert!(is_done(ended("200", "5", 5, false)) && is_done(ended("200", "0", 0, false)));
    assert_eq!(ended("200", "5", 4, false), LinkEvent::Failed(BodyTruncated));
    assert_eq!(ended("200", "5", 0, false), LinkEvent::Failed(BodyTruncated));
    assert_eq!(ended("200", "5", 6, false), LinkEvent::Failed(Protocol));
    // Where there is no body, the length is that of another response.
    assert!(is_done(ended("304", "5", 0, false)) && is_done(ended("200", "5", 0, true)));
    assert_eq!(ended("304", "5", 5, false), LinkEvent::Failed(Protocol));
    assert_eq!(ended("200", "5", 5, true), LinkEvent::Failed(Protocol));
}

#[test]
fn who_has_more_answered_than_a_response_needs_is_cut_off_however_it_trickles() {
    let ping = frame(frame::PING, 0, 0, &[0; 8]);
    let trickle = [ping.repeat(500), frame(frame::DATA, 0, 1, b"x")].concat();
    let (result, link) = read(&[settings(), frame(frame::HEADERS, HEAD, 1, &[0x88]), trickle.repeat(100)]);
    assert_eq!(result, Err(Http2Abuse));
    assert!(link.out.len() < 20 * MAX_ANSWERS_COUNT as usize);
    // Acknowledgements of its own are not answered, and responses that come to an end make up for it.
    let requests = requests(b"");
    let mut link = Link::new(1);
    link.read(&settings(), &requests).expect("reads");
    for number in 0..100 {
        link.open(0, 0, &requests[0]);
        link.read(&ping.repeat(500), &requests).expect("reads");
        link.read(&frame(frame::HEADERS, WHOLE, 2 * number + 1, &[0x88]), &requests).expect("reads");
        link.out.clear();
    }
}

#[test]
fn going_away_leaves_unseen_what_came_later() {
    let (result, mut link) = read(&[settings(), frame(frame::GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0])]);
    assert_eq!(result, Ok(()));
    assert_eq!((link.events.as_slice(), link.active()), (&[(1, LinkEvent::Unseen)][..], 1));
    assert!(link.is_leaving);
    link.read(&frame(frame::HEADERS, WHOLE, 1, &[0x88]), &requests(b"")).expect("goes on");
    assert!(matches!(link.events.last(), Some((0, LinkEvent::Done(response, _))) if !response.keep_alive));
}

#[test]
fn a_body_goes_as_far_as_the_windows_let_it() {
    let requests = requests(&[7; 100_000]);
    let mut link = Link::new(2);
    let greeting = link.out.len();
    assert!(!link.open(0, 0, &requests[0]));
    let framed = |bytes: usize| bytes + 9 * bytes.div_ceil(MAX_FRAME_BYTES);
    assert_eq!(link.out.len() - greeting, 12 + framed(65_535));
    link.out.clear();
    let wider = |stream: u32, by: u32| frame(frame::WINDOW_UPDATE, 0, stream, &by.to_be_bytes());
    link.read(&[settings(), wider(0, 100_000)].concat(), &requests).expect("reads");
    assert!(link.events.is_empty(), "the window of the stream is closed");
    link.out.clear();
    link.read(&wider(1, 100_000), &requests).expect("reads");
    assert_eq!(link.events, [(0, LinkEvent::Sent)]);
    assert_eq!(link.out.len(), framed(100_000 - 65_535));
    assert_eq!(link.out.len() % 2, framed(34_465) % 2);
}

#[test]
fn streams_that_stay_open_are_found_among_many_that_come_and_go() {
    let requests = requests(b"");
    let mut link = Link::new(2);
    link.read(&settings(), &requests).expect("reads");
    link.open(0, 0, &requests[0]);
    for number in 1..100 {
        link.open(1, 0, &requests[0]);
        link.read(&frame(frame::HEADERS, WHOLE, 2 * number + 1, &[0x88]), &requests).expect("reads");
    }
    link.read(&frame(frame::HEADERS, WHOLE, 1, &[0x88]), &requests).expect("reads");
    assert_eq!(link.active(), 0);
    assert_eq!(link.events.len(), 200);
}

proptest! {
    #[test]
    fn a_block_that_is_remembered_means_what_it_would_mean_if_it_were_read(
        blocks in proptest::collection::vec(
            proptest::collection::vec(
                prop_oneof![
                    Just(vec![0x88]),
                    (62u8..70).prop_map(|index| vec![0x80 | index]),
                    (0u8..3, 0usize..60).prop_map(|(name, length)| literal(0x40, &name.to_string(), &"v".repeat(length))),
                    (62u8..66).prop_map(|index| vec![0x40 | (index - 62 + 1), 1, b'x']),
                    (0u8..3).prop_map(|length| literal(0x40, "content-length", &length.to_string())),
                    Just(vec![0x7f, 0x00, 1, b'y']),
                    (0u8..31).prop_map(|size| vec![0x20 | size]),
                    Just(vec![0x3f, 0xe1, 0x1f]),
                ],
                0..5,
            ),
            1..4,
        ),
        order in proptest::collection::vec((0usize..4, 1usize..150), 1..8),
    ) {
        let (mut remembering, mut reading) = (HpackDecoder::default(), HpackDecoder::default());
        // Who looks for a field remembers nothing.
        let nothing = ExpectedHeader { name: "never".into(), value: None };
        for (which, count) in order {
            let block = blocks[which % blocks.len()].concat();
            for _ in 0..count {
                let [own, other] = [remembering.read(&block, None), reading.read(&block, Some(&nothing))];
                let essence = |fields: HeaderFields| (fields.status, fields.body_bytes);
                prop_assert_eq!(own.map(essence), other.map(essence));
                if own.is_err() {
                    return Ok(());
                }
            }
        }
    }

    #[test]
    fn pieces_do_not_change_what_is_told(
        frames in proptest::collection::vec(
            (0u8..12, prop_oneof![Just(0u8), Just(1), Just(4), Just(5), any::<u8>()], 0u32..6,
             proptest::collection::vec(prop_oneof![Just(0x88u8), any::<u8>()], 0..12)),
            0..12,
        ),
        noise in proptest::collection::vec(any::<u8>(), 0..20),
        step in 1usize..40,
    ) {
        let mut data = settings();
        frames.iter().for_each(|(kind, flags, stream, payload)| data.extend(frame(*kind, *flags, *stream, payload)));
        data.extend(noise);
        let requests = requests(b"");
        let feed = |step: usize| {
            let mut link = Link::new(4);
            link.open(0, 0, &requests[0]);
            link.open(1, 0, &requests[0]);
            let result = data.chunks(step).try_for_each(|piece| link.read(piece, &requests));
            (result, link.events)
        };
        prop_assert_eq!(feed(data.len()), feed(step));
    }
}
