//! The Huffman code of RFC 7541, appendix B.
//!
//! The code is canonical: symbols of the same length have consecutive codes in the order of their values, and shorter
//! codes come first. So the lengths define the whole code.

use std::sync::LazyLock;

/// Length of the code of each byte and, last, of the end of the string. Unit: bits.
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28,
    28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6,
    6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7,
    8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7,
    15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24,
    23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23,
    23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26,
    26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20,
    21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27,
    27, 27, 26, 30,
];

/// The symbol that ends a string, and may not be in one.
const END: u16 = 256;

/// Longest code. Unit: bits.
const MAX_BITS: usize = 30;

/// The codes of one length.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    first: u32,
    count: u32,
    /// Where their symbols begin.
    start: u32,
}

/// What the first byte of a code says, if that is all of it: most text has no longer ones.
#[derive(Clone, Copy, Debug, Default)]
struct Short {
    symbol: u8,
    /// Length of the code; 0 if it is longer than a byte. Unit: bits.
    bits: u8,
}

struct Code {
    rows: [Row; MAX_BITS + 1],
    symbols: Vec<u16>,
    short: [Short; 256],
}

static CODE: LazyLock<Code> = LazyLock::new(|| {
    let mut symbols: Vec<u16> = (0..=END).collect();
    symbols.sort_by_key(|symbol| (LENGTHS[usize::from(*symbol)], *symbol));
    let mut rows = [Row::default(); MAX_BITS + 1];
    let (mut code, mut start) = (0u32, 0u32);
    for (bits, row) in rows.iter_mut().enumerate().skip(1) {
        code <<= 1;
        let count = LENGTHS.iter().filter(|length| usize::from(**length) == bits).count() as u32;
        *row = Row { first: code, count, start };
        code += count;
        start += count;
    }
    let mut short = [Short::default(); 256];
    for (bits, row) in rows.iter().enumerate().take(9).skip(1) {
        for number in 0..row.count {
            // Symbols with short codes are bytes.
            let symbol = symbols[(row.start + number) as usize] as u8;
            let begin = ((row.first + number) as usize) << (8 - bits);
            short[begin..begin + (1 << (8 - bits))].fill(Short { symbol, bits: bits as u8 });
        }
    }
    Code { rows, symbols, short }
});

/// Decodes a string; `None` if it is not one.
pub(super) fn decode(data: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let Code { rows, symbols, short } = &*CODE;
    // Bits that have come and are not decoded are the last `held` of `bits`.
    let (mut bits, mut held, mut rest) = (0u64, 0usize, data);
    loop {
        while held <= 48
            && let Some((byte, after)) = rest.split_first()
        {
            (bits, held, rest) = (bits << 8 | u64::from(*byte), held + 8, after);
        }
        if held >= 8 {
            let Short { symbol, bits: length } = short[(bits >> (held - 8)) as usize & 0xff];
            if length > 0 {
                out.push(symbol);
                held -= usize::from(length);
                continue;
            }
        }
        let Some(Long { symbol, length }) = long(bits, held, rows, symbols) else {
            // What is left is the beginning of the end's code, which is all ones, and less than a byte.
            let ones = (1u64 << held.min(8)) - 1;
            return (held < 8 && rest.is_empty() && bits & ones == ones).then_some(());
        };
        // The end of the string is an error in it (section 5.2).
        out.push(u8::try_from(symbol).ok()?);
        held -= length;
    }
}

/// A symbol, and how many bits its code has.
struct Long {
    symbol: u16,
    length: usize,
}

/// The first symbol of the bits that are held, bit by bit; `None` if they are the beginning of one.
fn long(bits: u64, held: usize, rows: &[Row; MAX_BITS + 1], symbols: &[u16]) -> Option<Long> {
    (1..=held.min(MAX_BITS)).find_map(|length| {
        let row = rows[length];
        let code = (bits >> (held - length)) as u32 & ((1u64 << length) - 1) as u32;
        let offset = code.wrapping_sub(row.first);
        (offset < row.count).then(|| Long { symbol: symbols[(row.start + offset) as usize], length })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The code of a text, bit after bit, filled up with ones.
    fn encode(text: &[u8]) -> Vec<u8> {
        let Code { rows, symbols, .. } = &*CODE;
        let mut digits = String::new();
        for byte in text {
            let bits = usize::from(LENGTHS[usize::from(*byte)]);
            let first = rows[bits].start as usize;
            let place =
                symbols[first..].iter().position(|symbol| *symbol == u16::from(*byte)).expect("is there");
            digits.push_str(&format!("{:0bits$b}", rows[bits].first as usize + place));
        }
        digits.push_str(&"1".repeat((8 - digits.len() % 8) % 8));
        let byte = |digits: &[u8]| digits.iter().fold(0, |byte, digit| byte << 1 | (digit - b'0'));
        digits.as_bytes().chunks(8).map(byte).collect()
    }

    fn decoded(data: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        decode(data, &mut out).map(|()| out)
    }

    #[test]
    fn every_byte_has_its_code_and_what_fills_up_is_less_than_a_byte_of_ones() {
        let every: Vec<u8> = (0..=255).collect();
        assert_eq!(decoded(&encode(&every)), Some(every));
        assert_eq!(decoded(b""), Some(vec![]));
        // The code of a zero, filled up with zeros; with ones, but a whole byte too many; the end of the string.
        for wrong in [&[0x00][..], &[0x07, 0xff], &[0xff], &[0xff, 0xff, 0xff, 0xff]] {
            assert_eq!(decoded(wrong), None, "{wrong:x?}");
        }
        assert_eq!(decoded(&[0x07]), Some(b"0".to_vec()));
    }

    proptest! {
        #[test]
        fn a_text_is_found_again(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(decoded(&encode(&text)), Some(text));
        }
    }
}
