//! A body that all threads agree on.

use std::sync::atomic::{AtomicU64, Ordering};
use sysdyno_record::load::LearntBody;

/// A body that is set once, by whoever receives the first valid response.
#[derive(Debug, Default)]
pub(super) struct Learnt {
    /// Bit 63: set; bits 32 to 62: length; below: checksum. After it is set, it is only read.
    packed: AtomicU64,
}

const IS_SET: u64 = 1 << 63;

impl Learnt {
    pub(super) fn accepts(&self, body: LearntBody) -> bool {
        let packed = IS_SET | (body.body_bytes & 0x7fff_ffff) << 32 | u64::from(body.crc32);
        let known = self.packed.load(Ordering::Relaxed);
        if known != 0 {
            return known == packed;
        }
        let set = self.packed.compare_exchange(0, packed, Ordering::Relaxed, Ordering::Relaxed);
        set.is_ok_and(|_| true) || set == Err(packed)
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
    fn the_first_body_is_learnt_and_others_are_not_accepted() {
        let learnt = Learnt::default();
        let first = LearntBody { crc32: 7, body_bytes: 0 };
        assert_eq!(learnt.get(), None);
        assert!(learnt.accepts(first));
        assert!(learnt.accepts(first));
        assert!(!learnt.accepts(LearntBody { crc32: 7, body_bytes: 1 }));
        assert_eq!(learnt.get(), Some(first));
    }
}
