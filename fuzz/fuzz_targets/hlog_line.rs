//! The reader of latency logs against any line: the folder of a run may come from anybody.
//!
//! Whatever stands in it, nothing panics, memory is bounded, and a histogram that is understood holds no value that could
//! not have been recorded. The first byte of an input says whether the rest is a line, or the unpacked histogram of one,
//! whose packing is then right, so that what is packed is looked at too.
#![no_main]

use libfuzzer_sys::fuzz_target;
use sysdyno_record::hlog::{Decoded, decode};
use sysdyno_stats::histogram::MAX_VALUE_NS;

/// A histogram is told apart to 0.1 %, and so is its greatest value.
const MAX_TOLD_NS: u64 = MAX_VALUE_NS + MAX_VALUE_NS / 500;

fuzz_target!(|input: &[u8]| {
    let [options, bytes @ ..] = input else { return };
    let line = if options & 1 == 0 { bytes.to_vec() } else { line_of(bytes) };
    let Ok(Decoded::Entry(entry)) = decode(&line) else { return };
    assert!(entry.histogram().max().is_none_or(|max_ns| max_ns <= MAX_TOLD_NS));
    assert_eq!(entry.tag.to_string().parse(), Ok(entry.tag));
});

/// A line of the log with this histogram, which is stored as it is.
fn line_of(unpacked: &[u8]) -> Vec<u8> {
    let unpacked = &unpacked[..unpacked.len().min(usize::from(u16::MAX))];
    let length = unpacked.len() as u16;
    let mut stream = vec![0x78, 0x01, 0x01];
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend(unpacked);
    stream.extend(adler32(unpacked).to_be_bytes());
    let mut payload = 0x1c84_9314_u32.to_be_bytes().to_vec();
    payload.extend((stream.len() as u32).to_be_bytes());
    payload.extend(stream);
    [b"Tag=T0001:steady:response,1700000000.250,1.000,5.000,", &base64(&payload)[..]].concat()
}

fn adler32(bytes: &[u8]) -> u32 {
    let step = |(a, b): (u32, u32), byte: &u8| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    };
    let (a, b) = bytes.iter().fold((1, 0), step);
    b << 16 | a
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = Vec::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().enumerate().fold(0, |bits, (at, byte)| bits | u32::from(*byte) << (16 - 8 * at));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= group.len() { letter } else { b'=' });
        }
    }
    text
}
