//! The payload of a log line: everything that affects memory or arithmetic is checked here, then the crate decodes it.
//!
//! Layout (big endian): cookie, compressed length, zlib stream of: cookie, length, normalizing offset, digits, lowest and
//! highest value, conversion ratio, then counts as ZigZag LEB128-64b9B, where −n means n zeros.
//! Source: HdrHistogram `AbstractHistogram.encodeIntoByteBuffer` and `ZigZagEncoding`.

use crate::load::WindowStep;
use flate2::{Decompress, FlushDecompress, Status};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use sysdyno_stats::histogram::{LatencyHistogram, MAX_VALUE_NS, SIGNIFICANT_DIGITS};

const COMPRESSED_COOKIE: u32 = 0x1c84_9314;
const HEAD_BYTES: usize = 40;

/// Most bytes that a payload may unpack to. A histogram of `sysdyno_stats` has at most 33,792 counts of 9 bytes.
const MAX_UNPACKED_BYTES: usize = 1 << 20;

/// Most values in one histogram.
const MAX_TOTAL_COUNT: u64 = 1 << 40;

/// What the histogram that `payload` encodes holds, from least to greatest. Errors: why it does not.
///
/// Counts of the program's own histograms are taken as they stand: a histogram takes 270 kB, and a day has ten thousand.
pub(super) fn decode(payload: &[u8]) -> Result<Vec<WindowStep>, String> {
    let cookie = read_u32(payload, 0).ok_or("the payload has no head")?;
    let length = read_u32(payload, 4).ok_or("the payload has no head")? as usize;
    let stream = payload.get(8..).unwrap_or_default();
    if cookie != COMPRESSED_COOKIE || length != stream.len() {
        return Err("the payload is not a compressed V2 histogram of its length".into());
    }
    let unpacked = unpacked(stream, MAX_UNPACKED_BYTES)?;
    check_unpacked(&unpacked)?;
    if has_own_bounds(&unpacked) {
        return own_steps(&unpacked);
    }
    let histogram: Histogram<u64> =
        Deserializer::new().deserialize(&mut unpacked.as_slice()).map_err(|error| error.to_string())?;
    let histogram = LatencyHistogram::from_hdr(&histogram).ok_or("a value is out of range")?;
    let steps = histogram.as_hdr().iter_recorded();
    let step = |up_to_ns, count| WindowStep { up_to_ns, count };
    Ok(steps.map(|value| step(value.value_iterated_to(), value.count_since_last_iteration())).collect())
}

/// Unpacks the zlib `stream`, which must be used up, into at most `cap_bytes`. Errors: what is wrong with it.
pub(super) fn unpacked(stream: &[u8], cap_bytes: usize) -> Result<Vec<u8>, &'static str> {
    let (mut inflater, mut bytes) = (Decompress::new(true), Vec::with_capacity(cap_bytes));
    match inflater.decompress_vec(stream, &mut bytes, FlushDecompress::Finish) {
        Ok(Status::StreamEnd) if inflater.total_in() == stream.len() as u64 => Ok(bytes),
        Ok(Status::StreamEnd) => Err("the zlib stream goes on after its end"),
        Ok(Status::Ok | Status::BufError) if bytes.len() == cap_bytes => {
            Err("the zlib stream unpacks to too many bytes")
        }
        Ok(Status::Ok | Status::BufError) => Err("the zlib stream ends too early"),
        Err(_) => Err("the zlib stream is not valid"),
    }
}

/// Whether the histogram has the bounds of all histograms of this program.
fn has_own_bounds(unpacked: &[u8]) -> bool {
    let own = [0, u32::from(SIGNIFICANT_DIGITS), 0, 1, (MAX_VALUE_NS >> 32) as u32, MAX_VALUE_NS as u32];
    let words = [8, 12, 16, 20, 24, 28].map(|at| read_u32(unpacked, at));
    words == own.map(Some)
}

/// Values below twice this are told apart one by one; each doubling from there on has so many steps.
/// Source: HdrHistogram, `subBucketHalfCount` of three digits.
const HALF_COUNT: u64 = 1024;

/// Counts that a histogram with the program's own bounds has.
const OWN_COUNTS: u64 = 33_792;

/// The nonzero counts, with their values.
fn own_steps(unpacked: &[u8]) -> Result<Vec<WindowStep>, String> {
    let (mut at, mut index, mut steps) = (HEAD_BYTES, 0_u64, Vec::new());
    while at < unpacked.len() {
        let number = read_zigzag(unpacked, &mut at).ok_or("the histogram ends within a count")?;
        if number > 0 {
            let shift = (index / HALF_COUNT).saturating_sub(1);
            let below = if index < HALF_COUNT { 0 } else { HALF_COUNT };
            let up_to_ns = ((index % HALF_COUNT + below + 1) << shift) - 1;
            steps.push(WindowStep { up_to_ns, count: number.unsigned_abs() });
        }
        index += if number < 0 { number.unsigned_abs() } else { 1 };
        if index > OWN_COUNTS {
            return Err("the histogram is longer than it should be".into());
        }
    }
    // A day has ten thousand of them.
    steps.shrink_to_fit();
    Ok(steps)
}

fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).and_then(|four| four.try_into().ok()).map(u32::from_be_bytes)
}

fn check_unpacked(unpacked: &[u8]) -> Result<(), String> {
    let head = |at| read_u32(unpacked, at).ok_or("the histogram has no head");
    let (length, digits, highest_high_word) = (head(4)? as usize, head(12)?, head(24)?);
    if unpacked.len() != HEAD_BYTES + length {
        return Err("the histogram is not of its length".into());
    }
    // Four digits and 2^48 ns take 9 MB; more is nothing that a histogram of latencies needs.
    if digits > 4 || highest_high_word >= 1 << 16 {
        return Err("the histogram's bounds are too wide".into());
    }
    let (mut at, mut total, mut zeros) = (HEAD_BYTES, 0_u64, 0_u64);
    while at < unpacked.len() {
        let number = read_zigzag(unpacked, &mut at).ok_or("the histogram ends within a count")?;
        let sum = if number < 0 { &mut zeros } else { &mut total };
        *sum = sum.saturating_add(number.unsigned_abs());
    }
    if total > MAX_TOTAL_COUNT || zeros > MAX_TOTAL_COUNT {
        return Err("the histogram's counts are impossibly great".into());
    }
    Ok(())
}

/// A ZigZag LEB128-64b9B number: seven bits per byte, the ninth byte whole.
fn read_zigzag(bytes: &[u8], at: &mut usize) -> Option<i64> {
    let mut value = 0_u64;
    for position in 0..9 {
        let byte = *bytes.get(*at)?;
        *at += 1;
        let bits = if position == 8 { byte } else { byte & 0x7f };
        value |= u64::from(bits) << (7 * position);
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some((value >> 1) as i64 ^ -((value & 1) as i64))
}
