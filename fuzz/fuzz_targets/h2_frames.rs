//! A connection of HTTP/2 against any frames, in any pieces, and its decoder of header blocks against any bytes.
//!
//! The first byte of an input chooses how many requests are open, the second how the rest is cut. Whatever a server
//! sends, nothing panics, what is said in answer is bounded, how the bytes are cut does not change what is told, and a
//! head that is kept is bounded and has its fields in lines, none of which the server can break.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sysdyno_load::protocol::http1::Rules;
use sysdyno_load::protocol::http2::{EncodedRequest, HpackDecoder, Lane, Link, LinkEvent};
use sysdyno_record::load::FailureClass;
use sysdyno_record::plan::Validators;
use sysdyno_record::units::Bytes;

/// Places for streams.
const STREAMS: u32 = 8;

/// Most that may be said in answer: bodies, and acknowledgements up to their limit.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// Longest head that is kept, with the ends of its lines.
const MAX_LINES_BYTES: usize = 80 * 1024;

fuzz_target!(|input: &[u8]| {
    let [options, cut, bytes @ ..] = input else { return };
    // Twice, since the table of the first block is there for the second.
    let mut decoder = HpackDecoder::default();
    let _ = decoder.read(bytes, None).and_then(|_| decoder.read(bytes, None));
    check_lines(bytes);
    let whole = feed(*options, bytes, bytes.len());
    for step in [1, 1 + usize::from(*cut)] {
        assert_eq!(whole, feed(*options, bytes, step));
    }
});

fn check_lines(block: &[u8]) {
    let mut head = Vec::new();
    let read = HpackDecoder::default().read_lines(block, None, &mut head);
    assert_eq!(read, HpackDecoder::default().read(block, None));
    assert!(head.len() < MAX_LINES_BYTES && head.ends_with(b"\r\n"));
    let mut lines = head[..head.len() - 2].split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    assert_eq!(lines.next(), Some(&b"HTTP/2"[..]));
    assert!(lines.all(|line| line.contains(&b':') && !line.iter().any(|byte| matches!(byte, b'\r' | 0))));
}

type Told = (Result<(), FailureClass>, Vec<(Lane, LinkEvent)>);

fn feed(options: u8, bytes: &[u8], step: usize) -> Told {
    let validators = Validators { same_body: true, ..Validators::default() };
    let body = vec![0; 1000 * usize::from(options >> 4)];
    let rules = Rules::of(&validators, Bytes(4096), false);
    let block = [0x82, 0x86, 0x84];
    let plain = EncodedRequest { block: block.into(), body: body.clone().into(), rules };
    let kept = EncodedRequest { rules: plain.rules.clone().keeping(true, 100), ..plain.clone() };
    let requests = [plain, kept];
    let mut link = Link::new(STREAMS);
    for lane in 0..u32::from(options) % (STREAMS + 1) {
        match lane % 2 {
            0 => link.open(lane, 0, &requests[0]),
            _ => link.open_own(lane, 1, &block, &body),
        };
    }
    // Settings come first, or nothing does.
    let settings: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
    let begun = link.read(settings, &requests);
    let read =
        begun.and_then(|()| bytes.chunks(step.max(1)).try_for_each(|piece| link.read(piece, &requests)));
    assert!(link.out.len() < MAX_ANSWER_BYTES);
    (read, link.events)
}
