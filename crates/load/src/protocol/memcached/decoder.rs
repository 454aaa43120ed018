//! The decoder of responses: bytes in, in pieces of any size; the outcome of one request out.
//!
//! ```text
//!   Line ──VALUE, VA──► Value(left) ──► ValueEnd ──► Line, or done (one key by meta commands)
//!     └── END, EN, MN, STORED, HD, … ──► done
//! ```

use super::{Keys, MAX_LINE_BYTES, MAX_VALUE_BYTES};
use crate::failure::is_tls_record;
use crate::protocol::{Progress, Response};
use memchr::memchr;
use sysdyno_record::load::{FailureClass, LearntBody};
use sysdyno_record::wire::{CacheCounts, MemcachedDialect, MemcachedPlan};

/// How an answer ends: the objection to it, and whether the connection is still in step.
struct Ending {
    objection: Option<FailureClass>,
    keep_alive: bool,
}

/// Words that answers begin with, in their place or out of it.
const WORDS: [&[u8]; 19] = [
    b"CLIENT_ERROR",
    b"DELETED",
    b"EN",
    b"END",
    b"ERROR",
    b"EX",
    b"EXISTS",
    b"HD",
    b"ME",
    b"MN",
    b"NF",
    b"NOT_FOUND",
    b"NOT_STORED",
    b"NS",
    b"OK",
    b"SERVER_ERROR",
    b"STORED",
    b"VA",
    b"VALUE",
];

/// What closes a value.
const VALUE_END: &[u8] = b"\r\n";

const GOOD: Ending = Ending { objection: None, keep_alive: true };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Line,
    /// In a value: its key, how much of it has come, how much is to come.
    Value {
        number: u64,
        come: usize,
        left: usize,
    },
    /// Behind a value: how many of its two closing bytes have come.
    ValueEnd(usize),
}

/// A decoder of the answers on one connection.
#[derive(Clone, Debug)]
pub struct Decoder {
    dialect: MemcachedDialect,
    is_verified: bool,
    /// Keys of the present request; empty for one that stores.
    asked: Vec<u64>,
    /// How many of them are answered or passed over.
    passed: usize,
    hits: u64,
    has_stored: bool,
    state: State,
    /// The beginning of a line that has not come to its end.
    line: Vec<u8>,
    has_bytes: bool,
    objection: Option<FailureClass>,
}

impl Decoder {
    /// A decoder for a plan.
    pub fn new(plan: &MemcachedPlan) -> Decoder {
        Decoder {
            dialect: plan.dialect,
            is_verified: plan.is_verified,
            asked: Vec::new(),
            passed: 0,
            hits: 0,
            has_stored: false,
            state: State::Line,
            line: Vec::new(),
            has_bytes: false,
            objection: None,
        }
    }

    /// Prepares for the answer to a request for these keys; to one that stores if there are none.
    pub fn expect(&mut self, asked: &[u64]) {
        self.asked.clear();
        self.asked.extend_from_slice(asked);
        (self.passed, self.hits, self.has_stored) = (0, 0, false);
        self.state = State::Line;
        self.line.clear();
        self.has_bytes = false;
        self.objection = None;
    }

    /// Whether a byte of the answer has arrived.
    pub fn has_bytes(&self) -> bool {
        self.has_bytes
    }

    /// What became of the keys, once the answer is complete.
    pub fn counts(&self) -> CacheCounts {
        let asked = self.asked.len() as u64;
        CacheCounts { hits: self.hits, misses: asked - self.hits, stored: self.has_stored.into() }
    }

    /// Reads bytes that arrived.
    pub fn feed(&mut self, data: &[u8], keys: &Keys) -> Progress {
        self.has_bytes |= !data.is_empty();
        match self.read(data, keys) {
            Ok(None) => Progress::More,
            Ok(Some(ending)) => Progress::Done(Response {
                status: 0,
                keep_alive: ending.keep_alive,
                body: LearntBody { crc32: 0, body_bytes: 0 },
                objection: self.objection.or(ending.objection),
            }),
            Err(class) => Progress::Failed(class),
        }
    }

    /// The server closed its side.
    pub fn end(&self) -> Progress {
        let class = if self.has_bytes { FailureClass::BodyTruncated } else { FailureClass::EofBeforeHead };
        Progress::Failed(class)
    }

    fn read(&mut self, mut data: &[u8], keys: &Keys) -> Result<Option<Ending>, FailureClass> {
        while !data.is_empty() {
            let (taken, ending) = match self.state {
                State::Line => self.read_line(data, keys)?,
                State::Value { number, come, left } => {
                    let taken = left.min(data.len());
                    self.compare(keys, number, come, &data[..taken]);
                    self.state = match left - taken {
                        0 => State::ValueEnd(0),
                        left => State::Value { number, come: come + taken, left },
                    };
                    (taken, None)
                }
                State::ValueEnd(come) => self.read_value_end(come, data)?,
            };
            data = &data[taken..];
            if ending.is_some() {
                return if data.is_empty() { Ok(ending) } else { Err(FailureClass::Desync) };
            }
        }
        Ok(None)
    }

    /// Reads up to the end of a line; how many bytes it took, and the end of the answer if it is one.
    fn read_line(&mut self, data: &[u8], keys: &Keys) -> Result<(usize, Option<Ending>), FailureClass> {
        if self.line.is_empty() && !data[0].is_ascii_uppercase() {
            return Err(self.class_of(data));
        }
        let end = memchr(b'\n', data);
        let taken = end.map_or(data.len(), |end| end + 1);
        if self.line.len() + taken > MAX_LINE_BYTES {
            return Err(self.class_of(if self.line.is_empty() { data } else { &self.line }));
        }
        if end.is_none() || !self.line.is_empty() {
            self.line.extend_from_slice(&data[..taken]);
        }
        if end.is_none() {
            return Ok((taken, None));
        }
        let line = std::mem::take(&mut self.line);
        let whole = if line.is_empty() { &data[..taken] } else { &line[..] };
        let text = whole.strip_suffix(b"\r\n").ok_or_else(|| self.class_of(whole))?;
        let ending = self.accept_line(text, keys)?;
        self.line = line;
        self.line.clear();
        Ok((taken, ending))
    }

    fn accept_line(&mut self, line: &[u8], keys: &Keys) -> Result<Option<Ending>, FailureClass> {
        let mut words = line.split(|byte| *byte == b' ');
        let word = words.next().unwrap_or_default();
        let is_set = self.asked.is_empty();
        let is_text = self.dialect == MemcachedDialect::Text;
        let has_one = self.asked.len() == 1;
        let ending = match word {
            b"VALUE" if is_text && !is_set => {
                let number = words.next().and_then(|key| keys.parse(key));
                let length = words.nth(1).and_then(parse_length);
                return self.begin_value(number, length, keys);
            }
            b"VA" if !is_text && !is_set => {
                let length = words.next().and_then(parse_length);
                let named = words.find_map(|word| word.strip_prefix(b"k")).and_then(|key| keys.parse(key));
                let number = named.or_else(|| self.asked.first().copied().filter(|_| has_one));
                return self.begin_value(number, length, keys);
            }
            b"END" if is_text && !is_set => GOOD,
            b"EN" if !is_text && has_one => GOOD,
            b"MN" if !is_text && !is_set && !has_one => GOOD,
            b"STORED" if is_text && is_set => self.store(),
            b"HD" if !is_text && is_set => self.store(),
            b"NOT_STORED" | b"NS" if is_set => {
                Ending { objection: Some(FailureClass::NotStored), keep_alive: true }
            }
            b"SERVER_ERROR" => Ending { objection: Some(FailureClass::ServerError), keep_alive: is_set },
            b"CLIENT_ERROR" | b"ERROR" => {
                Ending { objection: Some(FailureClass::ServerError), keep_alive: false }
            }
            _ => return Err(self.class_of(line)),
        };
        Ok(Some(ending))
    }

    /// The class of a line that is no answer: the first one may be that of another service.
    #[cold]
    fn class_of(&self, line: &[u8]) -> FailureClass {
        let is_first = self.passed == 0;
        if is_first { foreign(line).unwrap_or(FailureClass::Protocol) } else { FailureClass::Protocol }
    }

    fn store(&mut self) -> Ending {
        self.has_stored = true;
        GOOD
    }

    fn begin_value(
        &mut self,
        number: Option<u64>,
        length: Option<usize>,
        keys: &Keys,
    ) -> Result<Option<Ending>, FailureClass> {
        let (Some(number), Some(left)) = (number, length) else { return Err(FailureClass::Protocol) };
        // Values come in the order in which their keys were asked for.
        let place = self.asked[self.passed..].iter().position(|asked| *asked == number);
        let Some(place) = place else { return Err(FailureClass::Protocol) };
        if left > MAX_VALUE_BYTES {
            return Err(FailureClass::BodyLimit);
        }
        self.passed += place + 1;
        self.hits += 1;
        if self.is_verified && left != keys.value(number).len() {
            self.objection = self.objection.or(Some(FailureClass::WrongLength));
        }
        self.state = if left == 0 { State::ValueEnd(0) } else { State::Value { number, come: 0, left } };
        Ok(None)
    }

    fn compare(&mut self, keys: &Keys, number: u64, come: usize, data: &[u8]) {
        if !self.is_verified || self.objection.is_some() {
            return;
        }
        // The length was found right, or there is an objection already.
        if keys.value(number).get(come..come + data.len()) != Some(data) {
            self.objection = Some(FailureClass::WrongBody);
        }
    }

    fn read_value_end(&mut self, come: usize, data: &[u8]) -> Result<(usize, Option<Ending>), FailureClass> {
        let rest = &VALUE_END[come..];
        let taken = rest.len().min(data.len());
        if data[..taken] != rest[..taken] {
            return Err(FailureClass::Protocol);
        }
        if taken < rest.len() {
            self.state = State::ValueEnd(come + taken);
            return Ok((taken, None));
        }
        self.state = State::Line;
        let is_last = self.dialect == MemcachedDialect::Meta && self.asked.len() == 1;
        Ok((taken, is_last.then_some(GOOD)))
    }
}

/// The class of a line that does not begin with a word of memcached; `None`: it does.
pub(crate) fn foreign(line: &[u8]) -> Option<FailureClass> {
    let is_end = |byte: &u8| matches!(byte, b' ' | b'\r' | b'\n');
    let word = line.split(is_end).next().unwrap_or_default();
    if is_tls_record(line) {
        return Some(FailureClass::SpeaksTls);
    }
    (!WORDS.contains(&word)).then_some(FailureClass::NotMemcached)
}

/// A length in decimal digits, at most nine of them.
fn parse_length(word: &[u8]) -> Option<usize> {
    let is_number = (1..=9).contains(&word.len()) && word.iter().all(u8::is_ascii_digit);
    is_number.then(|| word.iter().fold(0, |length, digit| length * 10 + usize::from(digit - b'0')))
}

#[cfg(test)]
#[path = "tests.rs"]
pub(crate) mod tests;
