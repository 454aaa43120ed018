//! The decoder of header blocks (RFC 7541), for a caller that needs three fields of each, or all of them as lines.
//!
//! Fields that the server adds to its table are decoded and kept, since it may refer to them; others are skipped unless they
//! may be wanted. All lengths are bounded before anything is stored. A field that a response must not have breaks that
//! response; a block that cannot be decoded breaks the connection.

use super::huffman;
use super::limits::{MAX_HEAD_BYTES, TABLE_BYTES};
use super::static_table::STATIC_TABLE;
use crate::protocol::http1::head::is_token_byte;
use crate::protocol::http1::limits::MAX_FIELDS_COUNT;
use std::collections::VecDeque;
use sysdyno_record::load::FailureClass;
use sysdyno_record::plan::ExpectedHeader;

/// What an entry of the table costs besides its text (section 4.1). Unit: bytes.
const ENTRY_BYTES: usize = 32;

/// What was looked for in a header block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderFields {
    /// The status; `None` if there is none, as in trailers.
    pub status: Option<u16>,
    /// Whether the expected field is there; true if none is expected.
    pub has_expected: bool,
    /// What `content-length` says; `None` if it is not there. Unit: bytes.
    pub body_bytes: Option<u64>,
    /// The class of the first field that may not be in a response; `None`: all may. Such a block is read to its end, since
    /// others may refer to its fields.
    pub malformed: Option<FailureClass>,
}

/// A field that was added to the table.
#[derive(Clone, Debug)]
struct Entry {
    name: Box<[u8]>,
    value: Box<[u8]>,
    sound: Sound,
}

/// Whether name and value of a field can be such.
#[derive(Clone, Copy, Debug)]
struct Sound {
    name: bool,
    value: bool,
}

impl Sound {
    fn is_whole(self) -> bool {
        self.name && self.value
    }
}

impl Entry {
    fn bytes(&self) -> usize {
        self.name.len() + self.value.len() + ENTRY_BYTES
    }
}

/// The decoder of one connection.
#[derive(Clone, Debug, Default)]
pub struct HpackDecoder {
    /// Newest first.
    table: VecDeque<Entry>,
    table_bytes: usize,
    /// What the server has limited the table to; `None`: not at all.
    limit_bytes: Option<usize>,
    name: Vec<u8>,
    value: Vec<u8>,
    last: Last,
    /// Of the block that is being read.
    effect: Effect,
}

/// The last block, which servers repeat as long as nothing in it changes.
///
/// A block that refers to no field that was added means the same whatever the table holds, and adds the same each time. Once
/// it has filled the table by itself, reading it again changes nothing but who is oldest among equals; so does any block that
/// adds nothing, as long as no other comes between.
#[derive(Clone, Debug, Default)]
struct Last {
    block: Vec<u8>,
    fields: HeaderFields,
    /// What it and its repetitions have added to the table since another block came. Unit: bytes.
    added_bytes: usize,
    /// Whether reading it again changes nothing.
    is_settled: bool,
}

/// What a block does with the table.
#[derive(Clone, Copy, Debug, Default)]
struct Effect {
    added_bytes: usize,
    refers: bool,
    resizes: bool,
}

/// A string in a block.
#[derive(Clone, Copy)]
struct Text<'a> {
    bytes: &'a [u8],
    is_huffman: bool,
}

impl HpackDecoder {
    /// Reads a whole header block.
    ///
    /// # Errors
    /// `protocol` if it cannot be decoded, `head_too_large` if its fields are too many or too long.
    #[inline]
    pub fn read(
        &mut self,
        block: &[u8],
        expected: Option<&ExpectedHeader>,
    ) -> Result<HeaderFields, FailureClass> {
        if self.last.is_settled && expected.is_none() && self.last.block == block {
            return Ok(self.last.fields);
        }
        let read = self.read_all(block, expected, None);
        match read {
            Ok(fields) if expected.is_none() => self.remember(block, fields),
            _ => self.forget(),
        }
        read
    }

    /// The same, with all fields in `head` as lines of HTTP/1, behind a first line that says nothing.
    ///
    /// # Errors
    /// As [`HpackDecoder::read`].
    pub fn read_lines(
        &mut self,
        block: &[u8],
        expected: Option<&ExpectedHeader>,
        head: &mut Vec<u8>,
    ) -> Result<HeaderFields, FailureClass> {
        head.clear();
        head.extend_from_slice(b"HTTP/2\r\n");
        self.forget();
        self.read_all(block, expected, Some(head))
    }

    /// What another reader has seen is not remembered, nor that nothing came between.
    fn forget(&mut self) {
        self.last.block.clear();
        (self.last.added_bytes, self.last.is_settled) = (0, false);
    }

    /// Takes note of a block that was read.
    fn remember(&mut self, block: &[u8], fields: HeaderFields) {
        let Effect { added_bytes, refers, resizes } = self.effect;
        let limit = self.limit();
        let last = &mut self.last;
        if last.block != block {
            last.block.clear();
            last.block.extend_from_slice(block);
            last.added_bytes = 0;
        }
        last.added_bytes = last.added_bytes.saturating_add(added_bytes);
        last.fields = fields;
        last.is_settled = !resizes && (added_bytes == 0 || !refers && last.added_bytes > limit);
    }

    fn read_all(
        &mut self,
        block: &[u8],
        expected: Option<&ExpectedHeader>,
        mut head: Option<&mut Vec<u8>>,
    ) -> Result<HeaderFields, FailureClass> {
        self.effect = Effect::default();
        let mut fields = HeaderFields { has_expected: expected.is_none(), ..HeaderFields::default() };
        let mut rest = block;
        let mut budget = Budget { fields: 0, bytes: 0 };
        while let Some(first) = rest.first().copied() {
            let is_field = first & 0xe0 != 0x20;
            if is_field {
                let is_sound = self.read_field(first, &mut rest, &mut budget)?;
                let examined = if is_sound {
                    examine(&self.name, &self.value, expected, &mut fields)
                } else {
                    Err(FailureClass::Protocol)
                };
                fields.malformed = fields.malformed.or(examined.err());
                if let Some(head) = head.as_mut().filter(|_| examined.is_ok()) {
                    write_line(&self.name, &self.value, head);
                }
            } else if budget.fields > 0 {
                return Err(FailureClass::Protocol);
            } else {
                let limit = integer(&mut rest, 5)?;
                if limit > TABLE_BYTES {
                    return Err(FailureClass::Protocol);
                }
                self.effect.resizes = true;
                self.limit_bytes = Some(limit);
                self.evict(0);
            }
        }
        Ok(fields)
    }

    /// Reads one field into `name` and `value`; whether it can be one.
    fn read_field(&mut self, first: u8, rest: &mut &[u8], budget: &mut Budget) -> Result<bool, FailureClass> {
        self.name.clear();
        self.value.clear();
        if first & 0x80 != 0 {
            let index = integer(rest, 7)?;
            let sound = self.look_up(index, true)?;
            budget.spend(self.name.len() + self.value.len())?;
            return Ok(sound.is_whole());
        }
        let is_kept = first & 0x40 != 0;
        let index = integer(rest, if is_kept { 6 } else { 4 })?;
        let mut sound = if index == 0 {
            let name = text(rest)?;
            budget.spend(name.bytes.len())?;
            expand(name, &mut self.name)?;
            Sound { name: is_name(&self.name), value: true }
        } else {
            self.look_up(index, false)?
        };
        let value = text(rest)?;
        budget.spend(self.name.len() + value.bytes.len())?;
        expand(value, &mut self.value)?;
        budget.spend_more(self.value.len())?;
        sound.value = is_value(&self.value);
        if is_kept {
            self.keep(sound);
        }
        Ok(sound.is_whole())
    }

    /// Takes name, and value if it is wanted, of an entry of either table.
    fn look_up(&mut self, index: usize, with_value: bool) -> Result<Sound, FailureClass> {
        let number = index.checked_sub(1).ok_or(FailureClass::Protocol)?;
        let (name, value, sound) = match STATIC_TABLE.get(number) {
            Some((name, value)) => (name.as_bytes(), value.as_bytes(), Sound { name: true, value: true }),
            None => {
                self.effect.refers = true;
                let entry = self.table.get(number - STATIC_TABLE.len()).ok_or(FailureClass::Protocol)?;
                (&*entry.name, &*entry.value, entry.sound)
            }
        };
        self.name.extend_from_slice(name);
        if with_value {
            self.value.extend_from_slice(value);
        }
        Ok(sound)
    }

    /// Adds the field that was read to the table.
    fn keep(&mut self, sound: Sound) {
        let entry = Entry { name: self.name.as_slice().into(), value: self.value.as_slice().into(), sound };
        self.effect.added_bytes += entry.bytes();
        self.evict(entry.bytes());
        if entry.bytes() <= self.limit() {
            self.table_bytes += entry.bytes();
            self.table.push_front(entry);
        }
    }

    fn limit(&self) -> usize {
        self.limit_bytes.unwrap_or(TABLE_BYTES)
    }

    /// Makes room for so many bytes.
    fn evict(&mut self, bytes: usize) {
        while self.table_bytes + bytes > self.limit() {
            let Some(oldest) = self.table.pop_back() else { return };
            self.table_bytes -= oldest.bytes();
        }
    }
}

/// What a block may still have.
struct Budget {
    fields: usize,
    bytes: usize,
}

impl Budget {
    fn spend(&mut self, bytes: usize) -> Result<(), FailureClass> {
        self.fields += 1;
        self.spend_more(bytes)
    }

    fn spend_more(&mut self, bytes: usize) -> Result<(), FailureClass> {
        self.bytes += bytes;
        // A field with a name of its own is counted twice.
        let is_over = self.fields > 2 * MAX_FIELDS_COUNT || self.bytes > MAX_HEAD_BYTES;
        if is_over { Err(FailureClass::HeadTooLarge) } else { Ok(()) }
    }
}

/// Whether it can be the name of a field (RFC 9113, section 8.2.1).
fn is_name(name: &[u8]) -> bool {
    let letters = name.strip_prefix(b":").unwrap_or(name);
    !letters.is_empty() && letters.iter().all(|byte| is_token_byte(*byte) && !byte.is_ascii_uppercase())
}

/// Whether it can be the value of a field: without line breaks and other control characters.
fn is_value(value: &[u8]) -> bool {
    let is_forbidden = |byte: u8| (byte < 0x20) & (byte != b'\t') | (byte == 0x7f);
    !value.iter().fold(false, |found, byte| found | is_forbidden(*byte))
}

/// Writes a field as a line of HTTP/1; what is no field there is left out.
fn write_line(name: &[u8], value: &[u8], head: &mut Vec<u8>) {
    if !name.starts_with(b":") {
        [name, b": ", value, b"\r\n"].iter().for_each(|piece| head.extend_from_slice(piece));
    }
}

fn examine(
    name: &[u8],
    value: &[u8],
    expected: Option<&ExpectedHeader>,
    fields: &mut HeaderFields,
) -> Result<(), FailureClass> {
    if name == b":status" {
        if fields.status.is_some() {
            return Err(FailureClass::Protocol);
        }
        fields.status = Some(parse_status(value)?);
    } else if name == b"content-length" {
        let length = Some(parse_length(value)?);
        if fields.body_bytes.is_some() && fields.body_bytes != length {
            return Err(FailureClass::Protocol);
        }
        fields.body_bytes = length;
    }
    if let Some(expected) = expected.filter(|_| !fields.has_expected) {
        let is_value = expected.value.as_ref().is_none_or(|wanted| wanted.as_bytes() == value.trim_ascii());
        fields.has_expected = is_value && expected.name.as_bytes().eq_ignore_ascii_case(name);
    }
    Ok(())
}

fn parse_status(value: &[u8]) -> Result<u16, FailureClass> {
    let [hundreds @ b'1'..=b'5', tens @ b'0'..=b'9', ones @ b'0'..=b'9'] = value else {
        return Err(FailureClass::InvalidStatus);
    };
    Ok([hundreds, tens, ones].iter().fold(0, |status, digit| status * 10 + u16::from(**digit - b'0')))
}

/// A length in decimal digits, and in nothing else (RFC 9110, section 8.6).
fn parse_length(value: &[u8]) -> Result<u64, FailureClass> {
    let digit = |length: u64, byte: &u8| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        length.checked_mul(10)?.checked_add(digit)
    };
    let length = value.iter().try_fold(0, digit).filter(|_| !value.is_empty());
    length.ok_or(FailureClass::Protocol)
}

/// An integer whose first bits are the last `bits` of the first byte (section 5.1).
fn integer(rest: &mut &[u8], bits: u32) -> Result<usize, FailureClass> {
    let (first, mut tail) = rest.split_first().ok_or(FailureClass::Protocol)?;
    let most = (1usize << bits) - 1;
    let mut value = usize::from(*first) & most;
    if value == most {
        // Four more bytes hold more than any length that is let pass.
        let mut is_whole = false;
        for shift in [0, 7, 14, 21] {
            let (byte, after) = tail.split_first().ok_or(FailureClass::Protocol)?;
            tail = after;
            value += usize::from(byte & 0x7f) << shift;
            is_whole = byte & 0x80 == 0;
            if is_whole {
                break;
            }
        }
        if !is_whole {
            return Err(FailureClass::Protocol);
        }
    }
    *rest = tail;
    Ok(value)
}

fn text<'a>(rest: &mut &'a [u8]) -> Result<Text<'a>, FailureClass> {
    let is_huffman = rest.first().ok_or(FailureClass::Protocol)? & 0x80 != 0;
    let length = integer(rest, 7)?;
    let (bytes, after) = rest.split_at_checked(length).ok_or(FailureClass::Protocol)?;
    *rest = after;
    Ok(Text { bytes, is_huffman })
}

fn expand(text: Text<'_>, out: &mut Vec<u8>) -> Result<(), FailureClass> {
    if text.is_huffman {
        return huffman::decode(text.bytes, out).ok_or(FailureClass::Protocol);
    }
    out.extend_from_slice(text.bytes);
    Ok(())
}
