//! Takes turns through a long list: a fixed number of entries per second, then the next ones.

/// Entries per turn.
const ENTRIES_PER_TURN: usize = 16;

/// Whose turn it is in a list that may grow and shrink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Turn {
    first: usize,
    count: usize,
}

impl Turn {
    /// The first turn of a list of this length.
    pub(crate) fn of(self, count: usize) -> Turn {
        Turn { first: self.first % count.max(1), count }
    }

    /// The turn after this one.
    pub(crate) fn next(self) -> Turn {
        Turn { first: self.first + ENTRIES_PER_TURN.min(self.count), ..self }.of(self.count)
    }

    /// Whether it is this entry's turn.
    pub(crate) fn is_of(self, index: usize) -> bool {
        let distance = (index + self.count).wrapping_sub(self.first) % self.count.max(1);
        distance < ENTRIES_PER_TURN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_has_its_turn() {
        for count in [0usize, 1, 15, 16, 17, 100] {
            let (mut turn, mut had) = (Turn::default(), vec![0; count]);
            for _ in 0..count.div_ceil(ENTRIES_PER_TURN) {
                turn = turn.of(count);
                (0..count).filter(|index| turn.is_of(*index)).for_each(|index| had[index] += 1);
                turn = turn.next();
            }
            assert!(had.iter().all(|times| *times >= 1), "{count}: {had:?}");
        }
    }

    #[test]
    fn a_list_may_shrink() {
        let turn = Turn::default().of(100).next().next().of(20);
        assert_eq!((0..20).filter(|index| turn.is_of(*index)).count(), ENTRIES_PER_TURN);
    }
}
