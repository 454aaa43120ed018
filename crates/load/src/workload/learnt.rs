//! The learned body: all threads agree on it, and it is never an error page.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use sysdyno_record::load::LearntBody;
use sysdyno_record::plan::Validators;

/// What the bodies of a kind of request have to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bodies {
    Any,
    /// No error page, and of about the size of the learnt one: pages with a time, a token, or a count.
    Alike,
    Same,
}

impl Bodies {
    pub(super) fn of(validators: &Validators) -> Bodies {
        match (validators.same_body, validators.may_vary) {
            (false, _) => Bodies::Any,
            (true, true) => Bodies::Alike,
            (true, false) => Bodies::Same,
        }
    }
}

/// So much shorter or longer than half or twice a body, another one is still of its size. House value. Unit: bytes.
const ALIKE_BYTES: u64 = 16;

/// A body that is set once, by the thread that receives the first valid response.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    /// Bit 63: set; bits 32 to 62: length; below: checksum. After it is set, it is only read.
    packed: AtomicU64,
    /// Others were accepted.
    varies: AtomicBool,
}

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likeness {
    Learnt,
    Same,
    Different,
}

const IS_SET: u64 = 1 << 63;

impl Learnt {
    /// Holds a body against the one that was learnt. The first one is learnt, unless it is an error page.
    #[inline]
    pub(super) fn compare(&self, body: LearntBody, is_error_page: impl FnOnce() -> bool) -> Likeness {
        let packed = IS_SET | (body.body_bytes & 0x7fff_ffff) << 32 | u64::from(body.crc32);
        let known = self.packed.load(Ordering::Relaxed);
        let same = |known: u64| if known == packed { Likeness::Same } else { Likeness::Different };
        if known != 0 {
            return same(known);
        }
        if is_error_page() {
            return Likeness::Different;
        }
        match self.packed.compare_exchange(0, packed, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => Likeness::Learnt,
            Err(known) => same(known),
        }
    }

    /// Whether a different body is one more of a page that varies.
    pub(super) fn varies_to(&self, body: LearntBody, is_error_page: impl FnOnce() -> bool) -> bool {
        let reaches = |one: u64, other: u64| one <= other.saturating_mul(2).saturating_add(ALIKE_BYTES);
        let is_of_size = |known: LearntBody| {
            reaches(body.body_bytes, known.body_bytes) && reaches(known.body_bytes, body.body_bytes)
        };
        let is_alike = self.known().is_some_and(is_of_size) && !is_error_page();
        if is_alike && !self.varies.load(Ordering::Relaxed) {
            self.varies.store(true, Ordering::Relaxed);
        }
        is_alike
    }

    /// The body that all valid responses had; `None`: there was none yet, or they varied.
    pub(super) fn get(&self) -> Option<LearntBody> {
        self.known().filter(|_| !self.varies.load(Ordering::Relaxed))
    }

    fn known(&self) -> Option<LearntBody> {
        let packed = self.packed.load(Ordering::Relaxed);
        let body = LearntBody { crc32: packed as u32, body_bytes: (packed & !IS_SET) >> 32 };
        (packed != 0).then_some(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_body_that_is_no_error_page_is_learnt_and_others_are_not_accepted() {
        let learnt = Learnt::default();
        let first = LearntBody { crc32: 7, body_bytes: 0 };
        let error = LearntBody { crc32: 9, body_bytes: 3 };
        assert_eq!(learnt.get(), None);
        assert_eq!(learnt.compare(error, || true), Likeness::Different);
        assert_eq!(learnt.get(), None);
        assert_eq!(learnt.compare(first, || false), Likeness::Learnt);
        assert_eq!(learnt.compare(first, || unreachable!("a body is learnt")), Likeness::Same);
        let other = LearntBody { crc32: 7, body_bytes: 1 };
        assert_eq!(learnt.compare(other, || false), Likeness::Different);
        assert_eq!(learnt.get(), Some(first));
    }

    #[test]
    fn a_page_may_vary_and_an_error_page_or_one_of_another_size_is_another_page() {
        let learnt = Learnt::default();
        let page = |body_bytes: u64| LearntBody { crc32: body_bytes as u32, body_bytes };
        assert!(!learnt.varies_to(page(900), || false), "nothing is learnt");
        assert_eq!(learnt.compare(page(1_000), || false), Likeness::Learnt);
        assert_eq!(learnt.get(), Some(page(1_000)));
        for (body_bytes, is_alike) in [(480, false), (495, true), (2_016, true), (2_017, false)] {
            assert_eq!(learnt.varies_to(page(body_bytes), || false), is_alike, "{body_bytes}");
        }
        assert!(!learnt.varies_to(page(1_001), || true), "an error page");
        assert_eq!(learnt.get(), None, "there is no one body");
    }
}
