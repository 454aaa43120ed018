//! Simulated experiments: variants in blocks that differ by ten times what cells scatter.

use crate::rate::{Random, Rate};
use sysdyno_stats::block_model::{BlockCell, BlockDifference, BlockModel};
use sysdyno_stats::estimate::BoundedEstimate;
use sysdyno_stats::verdict::{Comparison, compare_bounded};

/// Of the permutations and simulations of a model.
pub const SEED: u64 = 11;

/// Smallest difference that matters.
pub const MARGIN: f64 = 0.05;

/// What cells scatter by, beside their variant and block; the place is variant and block.
pub type Noise = fn(&mut Random, [usize; 2]) -> f64;

pub fn normal(random: &mut Random, _place: [usize; 2]) -> f64 {
    random.normal()
}

/// Mostly normal, now and then far off.
pub fn spiky(random: &mut Random, _place: [usize; 2]) -> f64 {
    random.spiky()
}

/// The cells of complete blocks of variants with these levels.
pub fn cells(random: &mut Random, levels: &[f64], blocks: usize, noise: Noise) -> Vec<BlockCell> {
    let mut cells = Vec::new();
    for block in 0..blocks {
        let of_block = 10.0 * random.normal();
        for (variant, level) in levels.iter().enumerate() {
            let value = of_block + level + noise(random, [variant, block]);
            cells.push(BlockCell::new(variant, block as u32, value));
        }
    }
    cells
}

pub fn model(cells: &[BlockCell]) -> BlockModel {
    BlockModel::fit(cells, SEED).expect("can be fitted")
}

/// A difference from the first variant with its two intervals.
#[derive(Debug)]
pub struct Compared {
    pub variant: usize,
    pub wide: BoundedEstimate,
    narrow: BoundedEstimate,
}

/// What is said of all variants, against the first.
pub fn compared_by(model: &BlockModel) -> Vec<Compared> {
    let both = model.against(0, 0.95).into_iter().zip(model.against(0, 0.9));
    let one = |(wide, narrow): (BlockDifference, BlockDifference)| Compared {
        variant: wide.variant,
        wide: wide.difference,
        narrow: narrow.difference,
    };
    both.map(one).collect()
}

pub fn compared(cells: &[BlockCell]) -> Vec<Compared> {
    compared_by(&model(cells))
}

/// The word on a difference, where more is better.
pub fn word(found: &Compared, margin: f64) -> Comparison {
    compare_bounded(&found.wide, &found.narrow, margin).0
}

/// Whether all intervals hold the differences of these levels.
pub fn is_covered(found: &[Compared], levels: &[f64]) -> bool {
    found.iter().all(|one| one.wide.contains(levels[one.variant] - levels[0]))
}

/// Whether a word is wrong: better or worse without a difference in that direction.
pub fn is_false(found: &[Compared], levels: &[f64]) -> bool {
    found.iter().any(|one| {
        let difference = levels[one.variant] - levels[0];
        match word(one, MARGIN) {
            Comparison::Better => difference <= 0.0,
            Comparison::Worse => difference >= 0.0,
            Comparison::Same => difference.abs() >= MARGIN,
            Comparison::CannotTell => false,
        }
    })
}

/// How often all intervals hold the differences of experiments of these levels.
pub fn coverage(tries: u32, seed: u64, (levels, blocks): (&[f64], usize), noise: Noise) -> Rate {
    Rate::of(tries, seed, |random| is_covered(&compared(&cells(random, levels, blocks, noise)), levels))
}
