//! Makes intervals by ranks hold together, by the least p of all comparisons.
//!
//! Without a difference, the values of a block may be given to its variants in any order. Under random permutations of the
//! values, aligned by their typical differences, the least p of all comparisons is below the level of a single one with a
//! probability of at most the error rate (R. Miller, *Simultaneous Statistical Inference*, 1981, chapter 4; P. Westfall and S.
//! Young, *Resampling-Based Multiple Testing*, 1993). That level is never below Bonferroni's, which needs no such argument.

use super::BlockCell;
use super::ranks::{RankPair, at, positive_ranks};
use crate::descriptive::sorted;
use crate::signed_rank::p_values;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;

/// Permutations of the values within blocks.
const PERMUTATIONS: usize = 1_999;

/// How small the least p of several differences from one variant is by chance.
#[derive(Clone, Debug)]
pub(super) struct LeastP {
    /// Of permutations, in ascending order.
    least: Vec<f64>,
    comparisons: usize,
}

impl LeastP {
    /// The least p of the differences of `others` from `control` if no variant differs.
    pub(super) fn of(cells: &[BlockCell], control: usize, others: &[usize], seed: u64) -> LeastP {
        let comparisons = others.len().max(1);
        let mut blocks: Vec<Vec<(usize, f64)>> = aligned(cells, control, others);
        let counts = |number: usize| {
            let has = |block: &&Vec<(usize, f64)>| {
                [0, number].iter().all(|one| block.iter().any(|(other, _)| other == one))
            };
            blocks.iter().filter(has).count()
        };
        let tables: Vec<Vec<f64>> =
            (1..=others.len()).map(|number| p_values(counts(number)).unwrap_or_default()).collect();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut permuted = || {
            blocks.iter_mut().for_each(|block| permute(block, &mut random));
            let p = tables.iter().enumerate().map(|(index, p)| p_of(&blocks, index + 1, p));
            p.fold(1.0, f64::min)
        };
        let least: Vec<f64> =
            if comparisons == 1 { Vec::new() } else { (0..PERMUTATIONS).map(|_| permuted()).collect() };
        LeastP { least: sorted(&least), comparisons }
    }

    /// The error rate of a single comparison at which all together have this one.
    pub(super) fn alone(&self, error_rate: f64) -> f64 {
        let allowed = (error_rate * (self.least.len() + 1) as f64).floor() as usize;
        // What was measured counts as one of the permutations; equal ones are on the same side.
        let found = allowed.checked_sub(1).and_then(|count| self.least.get(count)).map(|p| p * (1.0 - 1e-9));
        let least = error_rate / self.comparisons as f64;
        found.unwrap_or(least).clamp(least, error_rate)
    }

    /// The probability that the least p of all is as small as this one.
    pub(super) fn adjusted(&self, p: f64) -> f64 {
        if self.comparisons == 1 {
            return p;
        }
        let count = self.least.partition_point(|least| *least <= p * (1.0 + 1e-9));
        let found = (count + 1) as f64 / (self.least.len() + 1) as f64;
        found.min(p * self.comparisons as f64).min(1.0)
    }
}

/// The values of the control, as number 0, and of the others, from 1, without their typical differences; by block.
fn aligned(cells: &[BlockCell], control: usize, others: &[usize]) -> Vec<Vec<(usize, f64)>> {
    let mut blocks: BTreeMap<u32, Vec<(usize, f64)>> = BTreeMap::new();
    for (number, variant) in std::iter::once(&control).chain(others).enumerate() {
        let level = match number {
            0 => 0.0,
            _ => RankPair::of(cells, control, *variant).point().unwrap_or(0.0),
        };
        for cell in cells.iter().filter(|cell| cell.variant == *variant) {
            blocks.entry(cell.block).or_default().push((number, cell.value - level));
        }
    }
    blocks.into_values().collect()
}

/// Gives the values of a block to its variants anew.
fn permute(block: &mut [(usize, f64)], random: &mut Xoshiro256PlusPlus) {
    let mut values: Vec<f64> = block.iter().map(|(_, value)| *value).collect();
    values.shuffle(random);
    block.iter_mut().zip(values).for_each(|((_, value), other)| *value = other);
}

/// Two-sided p of the differences of a variant from number 0.
fn p_of(blocks: &[Vec<(usize, f64)>], number: usize, p: &[f64]) -> f64 {
    let value = |block: &[(usize, f64)], number: usize| {
        block.iter().find(|(other, _)| *other == number).map(|(_, value)| *value)
    };
    let differences: Vec<f64> =
        blocks.iter().filter_map(|block| Some(value(block, number)? - value(block, 0)?)).collect();
    let all = (differences.len() * (differences.len() + 1)) as f64 / 2.0;
    let positive = positive_ranks(&differences);
    at(p, positive.min(all - positive))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_comparison_needs_no_adjustment_and_several_need_less_than_bonferronis() {
        let noise = |index: usize| f64::from((index as u32).wrapping_mul(2_654_435_761) >> 8) / 1e6;
        let cell = |index: usize| BlockCell::new(index % 5, (index / 5) as u32, noise(index));
        let cells: Vec<BlockCell> = (0..60).map(cell).collect();
        assert_eq!(LeastP::of(&cells, 0, &[1], 1).alone(0.05), 0.05);
        let four = LeastP::of(&cells, 0, &[1, 2, 3, 4], 1);
        let alone = four.alone(0.05);
        assert!((0.0125..0.03).contains(&alone), "{alone}");
        assert!(four.adjusted(0.01) <= 0.04 && four.adjusted(0.01) > 0.01);
    }
}
