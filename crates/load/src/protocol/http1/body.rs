//! The body of a response as it arrives: counted, checked, and discarded.

use super::rules::Rules;
use crate::protocol::Response;
use memchr::memmem::Finder;
use sysdyno_record::load::{FailureClass, LearntBody};

/// What is known of a body so far.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    bytes: u64,
    checksum: crc32fast::Hasher,
    has_needle: bool,
    /// The last bytes of the body, one fewer than the needle has.
    tail: Vec<u8>,
}

impl Default for Body {
    fn default() -> Body {
        Body { bytes: 0, checksum: crc32fast::Hasher::new(), has_needle: false, tail: Vec::new() }
    }
}

impl Body {
    /// Length so far. Unit: bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Prepares for the next one.
    #[inline]
    pub(crate) fn reset(&mut self) {
        self.bytes = 0;
        self.checksum.reset();
        self.has_needle = false;
        self.tail.clear();
    }

    /// Takes the next piece.
    #[inline]
    pub(crate) fn take(&mut self, data: &[u8], rules: &Rules) -> Result<(), FailureClass> {
        self.bytes += data.len() as u64;
        if self.bytes > rules.max_body_bytes {
            return Err(FailureClass::BodyLimit);
        }
        if rules.validators.same_body {
            self.checksum.update(data);
        }
        if let Some(finder) = rules.finder.as_ref().filter(|_| !self.has_needle) {
            self.search(data, finder);
        }
        Ok(())
    }

    /// Looks for the needle in the data and across the seam with what came before.
    fn search(&mut self, data: &[u8], finder: &Finder<'_>) {
        let overlap = finder.needle().len() - 1;
        self.tail.extend_from_slice(&data[..data.len().min(overlap)]);
        self.has_needle = finder.find(&self.tail).is_some() || finder.find(data).is_some();
        if data.len() >= overlap {
            self.tail.clear();
            self.tail.extend_from_slice(&data[data.len() - overlap..]);
        } else {
            let excess = self.tail.len().saturating_sub(overlap);
            self.tail.drain(..excess);
        }
    }

    /// The response that this was the body of, held against the rules; its connection goes on.
    #[inline]
    pub(crate) fn judge(&self, status: u16, has_expected: bool, rules: &Rules) -> Response {
        let wanted_bytes = rules.validators.body_bytes;
        let objection = if !rules.accepts_status(status) {
            Some(FailureClass::Status)
        } else if !has_expected {
            Some(FailureClass::WrongHeader)
        } else if wanted_bytes.is_some_and(|wanted| wanted != self.bytes) {
            Some(FailureClass::WrongLength)
        } else if rules.finder.is_some() && !self.has_needle {
            Some(FailureClass::WrongBody)
        } else {
            None
        };
        let body = LearntBody { crc32: self.checksum.clone().finalize(), body_bytes: self.bytes };
        Response { status, keep_alive: true, body, objection }
    }
}
