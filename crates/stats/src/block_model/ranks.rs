//! The difference of two variants by ranks within blocks, which a few values far off cannot move.
//!
//! It is the Hodges–Lehmann estimate of their differences within blocks, and its interval inverts Wilcoxon's signed-rank test
//! ([`crate::signed_rank`]): it holds for noise of any shape that is alike in all variants of a block. [`super::least_p`] makes
//! the intervals of several variants hold together.
//!
//! A value that is a lower bound makes a difference an interval without one end. The interval of all begins where it would
//! with the least possible differences, and ends where it would with the greatest: few bounds among many blocks leave both ends
//! finite.
//!
//! Limits: the most extreme ranks of n blocks have p = 2^(1 − n), so there has to be a number of blocks ([`blocks_min`]);
//! errors that cells bring do not count.

use super::BlockCell;
use crate::descriptive::sorted;
use crate::signed_rank::{COUNT_MAX, hodges_lehmann_point, p_values, rank_of_cut};

/// The fewest blocks with which ranks can tell one of so many differences from none, at this level for all together.
pub fn blocks_min(comparisons: usize, level: f64) -> usize {
    let alone = (1.0 - level) / comparisons.max(1) as f64;
    (1..COUNT_MAX).find(|blocks| 2f64.powi(1 - *blocks as i32) <= alone).unwrap_or(COUNT_MAX)
}

/// The differences of two variants within the blocks in which both are.
#[derive(Clone, Debug)]
pub(super) struct RankPair {
    /// As little as each may be.
    least: Vec<f64>,
    /// As much as each may be.
    most: Vec<f64>,
    /// As measured.
    values: Vec<f64>,
}

impl RankPair {
    pub(super) fn of(cells: &[BlockCell], from: usize, to: usize) -> RankPair {
        let open = |cell: &BlockCell| if cell.is_lower_bound { f64::INFINITY } else { cell.value };
        let by = |from_of: fn(&BlockCell) -> f64, to_of: fn(&BlockCell) -> f64| {
            super::differences(cells, (from, from_of), (to, to_of))
        };
        let plain = |cell: &BlockCell| cell.value;
        RankPair { least: by(open, plain), most: by(plain, open), values: by(plain, plain) }
    }

    pub(super) fn count(&self) -> usize {
        self.values.len()
    }

    /// The typical difference as measured.
    pub(super) fn point(&self) -> Option<f64> {
        hodges_lehmann_point(&self.values)
    }

    /// The ends of the interval at a level for this difference alone; `None`: not known, or too few blocks.
    pub(super) fn ends(&self, level: f64) -> [Option<f64>; 2] {
        let rank = rank_of_cut(self.count(), level).unwrap_or(0);
        if rank == 0 {
            return [None, None];
        }
        let (least, most) = (averages(&self.least), averages(&self.most));
        let finite = |end: f64| Some(end).filter(|end| end.is_finite());
        [finite(least[rank - 1]), finite(most[most.len() - rank])]
    }

    /// Two-sided p of such a difference for this pair alone, as far as bounds let it be told.
    pub(super) fn p(&self) -> Option<f64> {
        let p = p_values(self.count())?;
        let all = (self.count() * (self.count() + 1)) as f64 / 2.0;
        // What speaks for a positive difference are few negative ranks of the least differences, and the other way round.
        let opposing = (all - positive_ranks(&self.least)).min(positive_ranks(&self.most));
        Some(at(&p, opposing))
    }
}

/// All means of two values, each with itself too, in ascending order.
fn averages(values: &[f64]) -> Vec<f64> {
    let from = |(index, one): (usize, &f64)| {
        let one = *one;
        values[index..].iter().map(move |other| (one + other) / 2.0).collect::<Vec<f64>>()
    };
    sorted(&values.iter().enumerate().flat_map(from).collect::<Vec<f64>>())
}

/// The sum of the ranks of the positive values by size; a zero counts half.
pub(super) fn positive_ranks(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(|one, other| one.abs().total_cmp(&other.abs()));
    let share = |value: &f64| match value {
        value if *value > 0.0 => 1.0,
        value if *value < 0.0 => 0.0,
        _ => 0.5,
    };
    values.iter().enumerate().map(|(index, value)| share(value) * (index + 1) as f64).sum()
}

/// The p of a sum of ranks among those of all sums.
pub(super) fn at(p: &[f64], sum: f64) -> f64 {
    p.get(sum.max(0.0).floor() as usize).copied().unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(differences: &[(f64, bool)]) -> Vec<BlockCell> {
        let cell = |(block, (value, is_lower_bound)): (usize, &(f64, bool))| {
            let block = block as u32;
            let level = 10.0 * f64::from(block % 3);
            [
                BlockCell::new(0, block, level),
                BlockCell { is_lower_bound: *is_lower_bound, ..BlockCell::new(1, block, level + value) },
            ]
        };
        differences.iter().enumerate().flat_map(cell).collect()
    }

    #[test]
    fn without_bounds_it_is_the_interval_of_pairs() {
        let differences = [0.3, 0.1, 0.45, 0.2, 0.7, 0.15, 0.33, 0.28];
        let pair = RankPair::of(&cells(&differences.map(|value| (value, false))), 0, 1);
        let expected = crate::signed_rank::hodges_lehmann(&differences, 0.95).expect("enough");
        let [low, high] = pair.ends(0.95).map(|end| end.expect("finite"));
        assert!((low - expected.low).abs() < 1e-12 && (high - expected.high).abs() < 1e-12);
        assert_eq!(pair.p(), Some(2.0 / 256.0));
    }

    #[test]
    fn few_bounds_leave_both_ends_known_and_many_only_one() {
        let with = |count: usize| {
            let value = |index: usize| (0.3 + 0.01 * index as f64, index < count);
            RankPair::of(&cells(&(0..12).map(value).collect::<Vec<_>>()), 0, 1)
        };
        let [low, high] = with(1).ends(0.95);
        assert!(low.is_some_and(|low| low > 0.29) && high.is_some(), "{low:?} {high:?}");
        let [low, high] = with(11).ends(0.95);
        assert!(low.is_some_and(|low| low > 0.29) && high.is_none(), "{low:?} {high:?}");
        assert!(with(11).p().is_some_and(|p| p < 0.01));
        let reversed = RankPair::of(&cells(&[(-0.3, true); 10]), 0, 1);
        assert_eq!(reversed.ends(0.95)[1], None);
        assert!(reversed.p().is_some_and(|p| p > 0.9), "a lower bound is no proof of less");
    }

    #[test]
    fn blocks_that_are_needed_grow_with_comparisons() {
        assert_eq!([1, 3, 8].map(|count| blocks_min(count, 0.95)), [6, 7, 9]);
        assert_eq!(blocks_min(1, 0.99), 8);
    }
}
