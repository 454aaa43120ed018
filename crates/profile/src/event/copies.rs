//! Copies of stacks at context switches, as far as a budget allows.
//!
//! Each switch has a small record with its call chain by frame pointers, and none of those is given up for a copy: the copies are
//! written by events of their own, to rings of their own. Those rings are emptied only when the others are read, ten times a second,
//! so that their size bounds what is copied. Where that is too little, the next copies are half as long, down to a bound; then some
//! switches have none, and the profile says how many.

use super::attributes::{EventSpec, STACK_MAX, SampleSource};
use super::ring::{EventRing, OpenFailure};

/// Shortest copy: a few functions. Unit: bytes.
const COPY_MIN: u32 = 2 << 10;

/// Events of copies, and how long those are.
pub(super) struct StackCopies {
    pub(super) rings: Vec<EventRing>,
    size: CopySize,
}

impl StackCopies {
    /// Opens and starts them; `None`: that is not possible, or not allowed.
    pub(super) fn open(
        size: CopySize,
        open: impl FnOnce(&EventSpec) -> Result<Vec<EventRing>, OpenFailure>,
    ) -> Option<StackCopies> {
        let source = SampleSource::StackCopies { stack_bytes: size.stack_bytes };
        let spec = EventSpec { source, rate_hz: 0, sees_kernel: true, is_inherited: false };
        let rings = open(&spec).ok()?;
        rings.iter().try_for_each(EventRing::start).ok()?;
        Some(StackCopies { rings, size })
    }

    /// The size of the next copies, if it is another one.
    pub(super) fn smaller(&self, seen: CopiesSeen) -> Option<CopySize> {
        self.size.after(seen).filter(|size| *size != self.size)
    }
}

/// How long a copy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CopySize {
    stack_bytes: u32,
}

impl Default for CopySize {
    fn default() -> CopySize {
        CopySize { stack_bytes: STACK_MAX }
    }
}

/// Copies between two looks at their rings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CopiesSeen {
    pub(crate) copied_count: u64,
    pub(crate) lost_count: u64,
}

impl CopySize {
    /// Half as long if more than a fifth of the copies had no room; `None`: as short as they get.
    fn after(self, seen: CopiesSeen) -> Option<CopySize> {
        let is_too_long = seen.lost_count * 4 > seen.copied_count;
        let stack_bytes = if is_too_long { self.stack_bytes / 2 } else { self.stack_bytes };
        (stack_bytes >= COPY_MIN).then_some(CopySize { stack_bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_get_shorter_while_many_have_no_room_but_never_too_short() {
        let (most, few) = (
            CopiesSeen { copied_count: 100, lost_count: 900 },
            CopiesSeen { copied_count: 100, lost_count: 25 },
        );
        let mut sizes = vec![CopySize::default()];
        while let Some(next) = sizes.last().and_then(|size| size.after(most)) {
            sizes.push(next);
        }
        let bytes: Vec<u32> = sizes.iter().map(|size| size.stack_bytes).collect();
        assert_eq!(bytes, [16 << 10, 8 << 10, 4 << 10, 2 << 10]);
        assert_eq!(CopySize::default().after(few), Some(CopySize::default()));
        assert_eq!(CopySize::default().after(CopiesSeen::default()), Some(CopySize::default()));
    }
}
