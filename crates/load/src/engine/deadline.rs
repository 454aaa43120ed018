//! Deadlines without a heap: lists in which the earliest deadline comes first, because all deadlines of a kind are equally long.
//!
//! A total deadline is a constant after the intended send, a connect deadline a constant after the call, an idle
//! deadline a constant after the last byte. Within a kind, the order in which deadlines are set is therefore the order
//! in which they fall due, and a doubly linked list through the connections is enough: setting, clearing and finding
//! the first are each a few instructions.

use crate::transport::Slot;
use sysdyno_record::units::MonoNs;

/// No neighbor.
const NONE: Slot = Slot::MAX;

/// DeadlineList of one kind, at most one per connection.
#[derive(Debug)]
pub(super) struct DeadlineList {
    links: Vec<Link>,
    first: Slot,
    last: Slot,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    due: MonoNs,
    before: Slot,
    after: Slot,
    is_set: bool,
}

impl DeadlineList {
    /// No deadlines, for connections 0 to `slots − 1`.
    pub(super) fn new(slots: usize) -> DeadlineList {
        let unset = Link { due: MonoNs(0), before: NONE, after: NONE, is_set: false };
        DeadlineList { links: vec![unset; slots], first: NONE, last: NONE }
    }

    /// Sets the deadline of `slot`, which must not be earlier than the last one set; an earlier one is put in order.
    pub(super) fn set(&mut self, slot: Slot, due: MonoNs) {
        self.clear(slot);
        let mut before = self.last;
        // Equal lengths keep the order; this loop runs only when an engine resumes an older arrival.
        while before != NONE && self.links[before as usize].due > due {
            before = self.links[before as usize].before;
        }
        let after = if before == NONE { self.first } else { self.links[before as usize].after };
        self.links[slot as usize] = Link { due, before, after, is_set: true };
        self.join(before, slot);
        self.join(slot, after);
    }

    /// Clears the deadline of `slot`, if it has one.
    pub(super) fn clear(&mut self, slot: Slot) {
        let link = self.links[slot as usize];
        if link.is_set {
            self.links[slot as usize].is_set = false;
            self.join(link.before, link.after);
        }
    }

    /// The connection whose deadline is first and not after `now`.
    pub(super) fn expired(&self, now: MonoNs) -> Option<Slot> {
        (self.first != NONE && self.links[self.first as usize].due <= now).then_some(self.first)
    }

    /// When the first deadline falls due.
    pub(super) fn next_due(&self) -> Option<MonoNs> {
        (self.first != NONE).then(|| self.links[self.first as usize].due)
    }

    fn join(&mut self, before: Slot, after: Slot) {
        match before {
            NONE => self.first = after,
            _ => self.links[before as usize].after = after,
        }
        match after {
            NONE => self.last = before,
            _ => self.links[after as usize].before = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn the_first_due_is_that_of_a_sorted_map(steps in proptest::collection::vec((0u32..8, 0u64..100, any::<bool>()), 0..200)) {
            let mut lists = DeadlineList::new(8);
            let mut model = BTreeMap::new();
            for (slot, due, sets) in steps {
                if sets {
                    lists.set(slot, MonoNs(due));
                    model.insert(slot, due);
                } else {
                    lists.clear(slot);
                    model.remove(&slot);
                }
                prop_assert_eq!(lists.next_due().map(|at| at.0), model.values().min().copied());
                let expired = lists.expired(MonoNs(50));
                prop_assert_eq!(expired.is_some(), model.values().any(|due| *due <= 50));
                prop_assert!(expired.is_none_or(|slot| Some(&model[&slot]) == model.values().min()));
            }
        }
    }
}
