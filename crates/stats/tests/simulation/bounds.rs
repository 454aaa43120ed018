//! Lower bounds among the cells: what is said of them holds for the true values, whatever lies beyond the bound.

use crate::experiment::*;
use crate::rate::{Random, Rate};
use sysdyno_stats::block_model::{BlockCell, BlockModel};
use sysdyno_stats::verdict::Comparison;

/// Cells whose values are not known beyond `limit`, as those of trials that time out.
fn cut_off(cells: &[BlockCell], limit: f64) -> Vec<BlockCell> {
    let cut = |cell: &BlockCell| BlockCell {
        value: cell.value.min(limit),
        is_lower_bound: cell.value > limit,
        ..*cell
    };
    cells.iter().map(cut).collect()
}

/// Cells of blocks that differ by as much as cells scatter, the limit being on the same scale for all.
fn limited(random: &mut Random, levels: &[f64], blocks: usize, limit: f64) -> Vec<BlockCell> {
    let mut all = Vec::new();
    for block in 0..blocks {
        let of_block = random.normal();
        for (variant, level) in levels.iter().enumerate() {
            all.push(BlockCell::new(variant, block as u32, of_block + level + random.normal()));
        }
    }
    cut_off(&all, limit)
}

#[test]
fn what_is_said_of_bounds_holds_for_the_values_behind_them() {
    // The limit cuts nearly all, half, or few of the cells of the last variant, and few of the others.
    for (seed, blocks, limit) in
        [(1, 2, 4.0), (2, 3, 4.0), (3, 3, 6.0), (4, 6, 6.0), (5, 6, 8.0), (6, 10, 5.0)]
    {
        let levels = [0.0, 0.3, -0.5, 6.0];
        let said = |random: &mut Random| {
            let cells = limited(random, &levels, blocks, limit);
            BlockModel::fit(&cells, SEED).map(|model| compared_by(&model))
        };
        Rate::of(200, seed, |random| said(random).is_none_or(|found| is_covered(&found, &levels)))
            .is_at_least(0.95);
        Rate::of(200, seed, |random| said(random).is_some_and(|found| is_false(&found, &levels)))
            .is_at_most(0.05);
    }
}

#[test]
fn a_variant_that_always_times_out_is_worse_after_two_blocks() {
    let levels = [0.0, 0.3, -0.5, 60.0];
    let found = Rate::of(200, 7, |random| {
        let said = compared(&limited(random, &levels, 2, 40.0));
        said.iter().any(|one| one.variant == 3 && word(one, MARGIN) == Comparison::Better)
    });
    found.is_at_least(0.98);
}

#[test]
fn variants_without_a_difference_whose_trials_often_time_out_get_no_word() {
    for (seed, blocks, limit) in [(8, 3, 0.0), (9, 6, 0.0), (10, 6, 1.0)] {
        let is_false_word = |random: &mut Random| {
            let cells = limited(random, &[0.0; 4], blocks, limit);
            let model = BlockModel::fit(&cells, SEED);
            model.is_some_and(|model| is_false(&compared_by(&model), &[0.0; 4]))
        };
        Rate::of(200, seed, is_false_word).is_at_most(0.05);
    }
}
