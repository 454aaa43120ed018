//! A body that all threads agree on, and that is never an error page.

use std::sync::atomic::{AtomicU64, Ordering};
use sysdyno_record::load::LearntBody;

/// A body that is set once, by whoever receives the first valid response.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    /// Bit 63: set; bits 32 to 62: length; below: checksum. After it is set, it is only read.
    packed: AtomicU64,
}

/// What came of a comparison.
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

    pub(super) fn get(&self) -> Option<LearntBody> {
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
}
