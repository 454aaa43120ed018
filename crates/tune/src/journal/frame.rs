//! Frames: one line each, numbered, with a checksum chained to the previous frame.

use std::fmt::Write;

/// Name of the format.
pub(crate) const MAGIC: &str = "SDJ1";

/// The checksum before the first frame.
const SEED: &str = "00000000";

/// What the next frame is chained to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    number: u64,
    previous: String,
}

impl Default for Chain {
    fn default() -> Chain {
        Chain { number: 0, previous: SEED.into() }
    }
}

impl Chain {
    /// The frame of `json`, which the next one is then chained to.
    pub fn frame(&mut self, json: &str) -> String {
        let crc = checksum(&self.previous, self.number, json);
        let frame = format!("{MAGIC} {} {} {crc} {json}\n", self.number, json.len());
        self.number += 1;
        self.previous = crc;
        frame
    }

    /// The text in the frame that `bytes` begin with, and the length of the frame; `None` if there is none that is whole
    /// and in its place.
    fn take<'a>(&mut self, bytes: &'a [u8]) -> Option<(&'a str, usize)> {
        let length = bytes.iter().position(|byte| *byte == b'\n')?;
        let line = std::str::from_utf8(&bytes[..length]).ok()?;
        let mut parts = line.splitn(5, ' ');
        let mut part = || parts.next();
        let (magic, number, size, crc, json) = (part()?, part()?, part()?, part()?, part()?);
        let is_whole = magic == MAGIC
            && number == self.number.to_string()
            && size == json.len().to_string()
            && crc == checksum(&self.previous, self.number, json);
        if !is_whole {
            return None;
        }
        self.number += 1;
        self.previous = crc.to_owned();
        Some((json, length + 1))
    }
}

/// The frames that are whole, from the first on, and where they end.
pub struct Frames<'a> {
    /// Their texts.
    pub texts: Vec<&'a str>,
    /// What a next frame is chained to.
    pub chain: Chain,
    /// Bytes that they take; what follows is torn or damaged.
    pub length: usize,
}

/// Whether these are frames of a format that came after this one.
pub(crate) fn is_newer(bytes: &[u8]) -> bool {
    let version = bytes.strip_prefix(b"SDJ").and_then(|rest| rest.split(|byte| *byte == b' ').next());
    version.is_some_and(|version| {
        version != b"1" && !version.is_empty() && version.iter().all(u8::is_ascii_digit)
    })
}

/// Reads frames up to the first that is not whole.
pub fn read(bytes: &[u8]) -> Frames<'_> {
    let mut frames = Frames { texts: Vec::new(), chain: Chain::default(), length: 0 };
    while let Some((text, length)) = frames.chain.take(&bytes[frames.length..]) {
        frames.texts.push(text);
        frames.length += length;
    }
    frames
}

fn checksum(previous: &str, number: u64, json: &str) -> String {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(format!("{previous} {number} ").as_bytes());
    hasher.update(json.as_bytes());
    let mut text = String::new();
    // Writing to a text cannot fail.
    let _ = write!(text, "{:08x}", hasher.finalize());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Vec<u8> {
        let mut chain = Chain::default();
        ["{\"a\":1}", "{\"b\":\"x y\"}", "{}"].map(|json| chain.frame(json)).concat().into_bytes()
    }

    #[test]
    fn frames_read_as_they_were_written() {
        let bytes = three();
        let frames = read(&bytes);
        assert_eq!(frames.texts, ["{\"a\":1}", "{\"b\":\"x y\"}", "{}"]);
        assert_eq!(frames.length, bytes.len());
        assert!(bytes.starts_with(b"SDJ1 0 7 "), "{}", String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_torn_tail_ends_the_reading_before_it() {
        let bytes = three();
        let ends: Vec<usize> =
            bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
        for length in 0..bytes.len() {
            let whole = ends.iter().filter(|end| **end <= length).count();
            assert_eq!(read(&bytes[..length]).texts.len(), whole, "cut at {length}");
        }
    }

    #[test]
    fn any_changed_bit_ends_the_reading_before_it() {
        let bytes = three();
        let texts = read(&bytes).texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        for bit in 0..bytes.len() * 8 {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            let kept = read(&changed).texts.iter().map(ToString::to_string).collect::<Vec<_>>();
            assert!(kept.len() < 3, "bit {bit}");
            assert_eq!(kept, texts[..kept.len()], "bit {bit}");
        }
    }

    #[test]
    fn a_frame_of_another_journal_or_out_of_place_is_not_read() {
        let bytes = three();
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        assert_eq!(read(&[lines[0], lines[2]].concat()).texts.len(), 1);
        assert_eq!(read(&[lines[0], lines[0]].concat()).texts.len(), 1);
        assert_eq!(read(lines[1]).texts.len(), 0);
        let mut other = Chain::default();
        other.frame("{\"c\":1}");
        let foreign = other.frame("{\"b\":\"x y\"}");
        assert_eq!(read(&[lines[0], foreign.as_bytes()].concat()).texts.len(), 1);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_as_a_prefix_of_frames(bytes: Vec<u8>, cut in 0..200usize) {
            let whole = three();
            let mixed = [&whole[..cut.min(whole.len())], &bytes[..]].concat();
            for bytes in [&bytes, &mixed] {
                let frames = read(bytes);
                let mut chain = Chain::default();
                let again: String = frames.texts.iter().map(|text| chain.frame(text)).collect();
                proptest::prop_assert_eq!(again.as_bytes(), &bytes[..frames.length]);
            }
        }
    }
}
