//! When to keep the beginnings of bodies, to show what a server said: until a body is learned, and from the first wrong one on.
//!
//! A load without failures pays one relaxed read per piece of a body.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Why bodies are kept; shared by all copies of a set of rules.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch(Arc<AtomicU32>);

/// A response was wrong. The bits below count the bodies that are yet to be learnt.
const WRONG: u32 = 1 << 31;

impl Watch {
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }

    /// One more body is to be learnt.
    pub(crate) fn expect_body(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// One of them is learnt.
    pub(crate) fn note_learnt(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// A response was wrong: the next ones are kept, since the text of this one may be lost.
    pub(crate) fn note_wrong(&self) {
        if self.0.load(Ordering::Relaxed) & WRONG == 0 {
            self.0.fetch_or(WRONG, Ordering::Relaxed);
        }
    }
}
