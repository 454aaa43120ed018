//! Unpacking of a zlib stream into bounded memory.
//!
//! A decoder of about a hundred lines in place of a library's, because the length of the output must be bounded before
//! it is allocated, and the crate that decodes histograms does not do that. Speed is not a concern: a log has some
//! thousands of streams of at most a few tens of kilobytes.
//!
//! Source: RFC 1950 (zlib), RFC 1951 (DEFLATE). Codes are decoded as in §3.2.2: by length, counting from the first code
//! of each length.

/// Unpacks `stream`, which must be used up, into at most `cap_bytes`. Errors: what is wrong with it.
pub(super) fn zlib(stream: &[u8], cap_bytes: usize) -> Result<Vec<u8>, &'static str> {
    let [method, flags, deflated @ .., a, b, c, d] = stream else {
        return Err("the zlib stream is too short");
    };
    let is_checked = (u16::from(*method) << 8 | u16::from(*flags)) % 31 == 0;
    if method & 0x0f != 8 || !is_checked || flags & 0x20 != 0 {
        return Err("the zlib stream has no valid head");
    }
    let mut inflater =
        Inflater { bits: Bits { bytes: deflated, at: 0, buffer: 0, count: 0 }, out: Vec::new(), cap_bytes };
    while inflater.block()? == More::Blocks {}
    if inflater.bits.at != deflated.len() {
        return Err("the zlib stream goes on after its end");
    }
    if adler32(&inflater.out) != u32::from_be_bytes([*a, *b, *c, *d]) {
        return Err("the zlib stream does not match its checksum");
    }
    Ok(inflater.out)
}

pub(super) fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (mut low, mut high) = (1, 0);
    for byte in bytes {
        low = (low + u32::from(*byte)) % MODULUS;
        high = (high + low) % MODULUS;
    }
    high << 16 | low
}

const ENDED: &str = "the zlib stream ends too early";
const TOO_LONG: &str = "the zlib stream unpacks to too many bytes";
const INVALID: &str = "the zlib stream is not valid";

/// The stream as bits, least significant first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
    buffer: u32,
    count: u32,
}

impl Bits<'_> {
    /// The next `count` bits, at most 16.
    fn take(&mut self, count: u32) -> Result<u32, &'static str> {
        while self.count < count {
            let byte = *self.bytes.get(self.at).ok_or(ENDED)?;
            self.at += 1;
            self.buffer |= u32::from(byte) << self.count;
            self.count += 8;
        }
        let value = self.buffer & ((1 << count) - 1);
        self.buffer >>= count;
        self.count -= count;
        Ok(value)
    }

    /// Forgets the rest of the byte. `take` never reads a whole byte ahead, so what is left is less than one.
    fn align(&mut self) {
        (self.buffer, self.count) = (0, 0);
    }
}

const MAX_CODE_BITS: usize = 15;

/// A canonical Huffman code: how many codes there are of each length, and the symbols in the order of the codes.
struct Code {
    counts: [u16; MAX_CODE_BITS + 1],
    symbols: Vec<u16>,
}

impl Code {
    /// The code with these lengths, one per symbol; 0 leaves the symbol out. Errors: more codes than fit.
    fn new(lengths: &[u8]) -> Result<Code, &'static str> {
        let mut counts = [0_u16; MAX_CODE_BITS + 1];
        lengths.iter().for_each(|length| counts[usize::from(*length)] += 1);
        counts[0] = 0;
        let mut left = 1_i32;
        for count in &counts[1..] {
            left = (left << 1) - i32::from(*count);
            if left < 0 {
                return Err(INVALID);
            }
        }
        let mut symbols: Vec<u16> =
            (0..lengths.len() as u16).filter(|at| lengths[usize::from(*at)] > 0).collect();
        symbols.sort_by_key(|symbol| lengths[usize::from(*symbol)]);
        Ok(Code { counts, symbols })
    }

    fn read(&self, bits: &mut Bits<'_>) -> Result<u16, &'static str> {
        let (mut code, mut first, mut index) = (0_i32, 0_i32, 0_i32);
        for count in &self.counts[1..] {
            code |= bits.take(1)? as i32;
            let count = i32::from(*count);
            if code - first < count {
                let at = usize::try_from(index + code - first).map_err(|_| INVALID)?;
                return self.symbols.get(at).copied().ok_or(INVALID);
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        Err(INVALID)
    }
}

#[derive(PartialEq)]
enum More {
    Blocks,
    Nothing,
}

struct Inflater<'a> {
    bits: Bits<'a>,
    out: Vec<u8>,
    cap_bytes: usize,
}

impl Inflater<'_> {
    fn block(&mut self) -> Result<More, &'static str> {
        let more = if self.bits.take(1)? == 1 { More::Nothing } else { More::Blocks };
        match self.bits.take(2)? {
            0 => self.stored()?,
            1 => {
                let lengths: Vec<u8> = (0..288).map(fixed_length).collect();
                self.compressed(&Code::new(&lengths)?, &Code::new(&[5; 30])?)?;
            }
            2 => {
                let (literals, distances) = self.dynamic_codes()?;
                self.compressed(&literals, &distances)?;
            }
            _ => return Err(INVALID),
        }
        Ok(more)
    }

    fn stored(&mut self) -> Result<(), &'static str> {
        self.bits.align();
        let (length, complement) = (self.bits.take(16)?, self.bits.take(16)?);
        if length != !complement & 0xffff {
            return Err(INVALID);
        }
        let end = self.bits.at + length as usize;
        let bytes = self.bits.bytes.get(self.bits.at..end).ok_or(ENDED)?;
        if self.out.len() + bytes.len() > self.cap_bytes {
            return Err(TOO_LONG);
        }
        self.out.extend_from_slice(bytes);
        self.bits.at = end;
        Ok(())
    }

    /// The codes of a block that carries its own (§3.2.7).
    fn dynamic_codes(&mut self) -> Result<(Code, Code), &'static str> {
        const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
        let literal_count = self.bits.take(5)? as usize + 257;
        let distance_count = self.bits.take(5)? as usize + 1;
        let length_count = self.bits.take(4)? as usize + 4;
        let mut lengths = [0; 19];
        for position in &ORDER[..length_count] {
            lengths[*position] = self.bits.take(3)? as u8;
        }
        let code = Code::new(&lengths)?;
        let total = literal_count + distance_count;
        let mut lengths: Vec<u8> = Vec::with_capacity(total);
        while lengths.len() < total {
            let (length, repeat) = match code.read(&mut self.bits)? {
                symbol @ 0..=15 => (symbol as u8, 1),
                16 => (*lengths.last().ok_or(INVALID)?, 3 + self.bits.take(2)?),
                17 => (0, 3 + self.bits.take(3)?),
                _ => (0, 11 + self.bits.take(7)?),
            };
            lengths.extend((0..repeat).map(|_| length));
        }
        if lengths.len() != total {
            return Err(INVALID);
        }
        Ok((Code::new(&lengths[..literal_count])?, Code::new(&lengths[literal_count..])?))
    }

    /// Literals and copies up to the end of the block.
    fn compressed(&mut self, literals: &Code, distances: &Code) -> Result<(), &'static str> {
        loop {
            let symbol = literals.read(&mut self.bits)?;
            match u8::try_from(symbol) {
                Ok(byte) if self.out.len() < self.cap_bytes => self.out.push(byte),
                Ok(_) => return Err(TOO_LONG),
                Err(_) if symbol == 256 => return Ok(()),
                Err(_) => self.copy(usize::from(symbol - 257), distances)?,
            }
        }
    }

    fn copy(&mut self, length_symbol: usize, distances: &Code) -> Result<(), &'static str> {
        let (base, extra) = *LENGTHS.get(length_symbol).ok_or(INVALID)?;
        let length = usize::from(base) + self.bits.take(extra)? as usize;
        let symbol = distances.read(&mut self.bits)?;
        let (base, extra) = *DISTANCES.get(usize::from(symbol)).ok_or(INVALID)?;
        let distance = usize::from(base) + self.bits.take(extra)? as usize;
        let from = self.out.len().checked_sub(distance).ok_or(INVALID)?;
        if self.out.len() + length > self.cap_bytes {
            return Err(TOO_LONG);
        }
        // The copy may reach into what it writes itself.
        (from..from + length).for_each(|at| self.out.push(self.out[at]));
        Ok(())
    }
}

/// Length of the code of a literal or length symbol in a block with fixed codes (§3.2.6).
fn fixed_length(symbol: u16) -> u8 {
    match symbol {
        0..=143 => 8,
        144..=255 => 9,
        256..=279 => 7,
        _ => 8,
    }
}

/// Base and extra bits of the length symbols from 257 (§3.2.5).
#[rustfmt::skip]
const LENGTHS: [(u16, u32); 29] = [
    (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0), (10, 0), (11, 1), (13, 1), (15, 1), (17, 1), (19, 2),
    (23, 2), (27, 2), (31, 2), (35, 3), (43, 3), (51, 3), (59, 3), (67, 4), (83, 4), (99, 4), (115, 4), (131, 5),
    (163, 5), (195, 5), (227, 5), (258, 0),
];

/// Base and extra bits of the distance symbols (§3.2.5).
#[rustfmt::skip]
const DISTANCES: [(u16, u32); 30] = [
    (1, 0), (2, 0), (3, 0), (4, 0), (5, 1), (7, 1), (9, 2), (13, 2), (17, 3), (25, 3), (33, 4), (49, 4), (65, 5),
    (97, 5), (129, 6), (193, 6), (257, 7), (385, 7), (513, 8), (769, 8), (1025, 9), (1537, 9), (2049, 10), (3073, 10),
    (4097, 11), (6145, 11), (8193, 12), (12289, 12), (16385, 13), (24577, 13),
];
