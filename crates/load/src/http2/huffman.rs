//! The Huffman code of RFC 7541, appendix B.
//!
//! The code is canonical: symbols of the same length have consecutive codes in the order of their values, and shorter
//! codes come first. So the lengths are all there is to know.

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

struct Code {
    rows: [Row; MAX_BITS + 1],
    symbols: Vec<u16>,
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
    Code { rows, symbols }
});

/// Decodes a string; `None` if it is not one.
pub(super) fn decode(data: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let Code { rows, symbols } = &*CODE;
    let (mut code, mut bits) = (0u32, 0usize);
    for byte in data {
        for place in (0..8).rev() {
            code = code << 1 | u32::from(byte >> place & 1);
            bits += 1;
            if bits > MAX_BITS {
                return None;
            }
            let row = rows[bits];
            let offset = code.wrapping_sub(row.first);
            if offset < row.count {
                let symbol = symbols[(row.start + offset) as usize];
                // The end of the string is an error in it (section 5.2).
                out.push(u8::try_from(symbol).ok()?);
                (code, bits) = (0, 0);
            }
        }
    }
    // What is left is the beginning of the end's code, which is all ones, and less than a byte.
    (bits < 8 && code == (1 << bits) - 1).then_some(())
}
