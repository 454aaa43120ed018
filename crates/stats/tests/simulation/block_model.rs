//! Intervals of many variants in blocks: whether they hold together, with equal and unequal scatter and errors, and what they
//! resolve.

use crate::experiment::{MARGIN, SEED, compared, word};
use crate::rate::{Random, Rate};
use sysdyno_stats::block_model::{BlockCell, BlockModel};
use sysdyno_stats::multiplicity::holm;
use sysdyno_stats::t_test::welch;
use sysdyno_stats::verdict::Comparison;

/// A matrix of variants and blocks without any effect: blocks differ by ten times what cells scatter.
struct Matrix<'a> {
    deviations: &'a [f64],
    blocks: u32,
    /// Share of the cells that are missing.
    missing: f64,
    is_spiky: bool,
    /// Whether every second block has ten times the error, and says so.
    has_errors: bool,
}

impl Matrix<'_> {
    fn model(&self, random: &mut Random) -> Option<BlockModel> {
        let mut cells = Vec::new();
        for block in 0..self.blocks {
            let level = 10.0 * random.normal();
            for (variant, deviation) in self.deviations.iter().enumerate() {
                let error = if !self.has_errors {
                    0.0
                } else if (variant + block as usize).is_multiple_of(2) {
                    3.0
                } else {
                    0.3
                };
                let spike = if random.uniform() < 0.15 { 6.0 * random.exponential() - 6.0 } else { 0.0 };
                let scatter = random.normal() + if self.is_spiky { spike } else { 0.0 };
                let value = level + deviation * scatter + error * random.normal();
                if random.uniform() >= self.missing {
                    cells.push(BlockCell { error, ..BlockCell::new(variant, block, value) });
                }
            }
        }
        BlockModel::fit(&cells, SEED)
    }

    /// How often all differences from the first variant are within their intervals.
    fn covered(&self, seed: u64) -> Rate {
        Rate::of(400, seed, |random| {
            let is_within =
                |model: BlockModel| model.against(0, 0.95).iter().all(|found| found.difference.contains(0.0));
            self.model(random).is_none_or(is_within)
        })
    }
}

const PLAIN: Matrix<'static> =
    Matrix { deviations: &[1.0; 4], blocks: 3, missing: 0.0, is_spiky: false, has_errors: false };

#[test]
fn intervals_of_a_block_model_hold_together() {
    for (count, blocks) in [(2, 3), (3, 2), (4, 2), (6, 2), (4, 3), (8, 3), (4, 8)] {
        let covered = Matrix { deviations: &[1.0; 8][..count], blocks, ..PLAIN }.covered(u64::from(blocks));
        covered.is_about(0.95);
    }
}

#[test]
fn intervals_of_a_block_model_hold_with_missing_cells_spikes_and_errors_of_cells() {
    Matrix { missing: 0.2, blocks: 4, ..PLAIN }.covered(1).is_at_least(0.94);
    Matrix { is_spiky: true, ..PLAIN }.covered(2).is_at_least(0.95);
    Matrix { has_errors: true, blocks: 4, ..PLAIN }.covered(3).is_at_least(0.92);
}

#[test]
fn a_variant_that_scatters_ten_times_as_much_does_not_make_intervals_too_narrow() {
    for (seed, deviations) in [[1.0, 1.0, 1.0, 10.0], [10.0, 1.0, 1.0, 1.0]].iter().enumerate() {
        Matrix { deviations, ..PLAIN }.covered(seed as u64).is_at_least(0.92);
        Matrix { deviations, blocks: 6, ..PLAIN }.covered(seed as u64).is_at_least(0.94);
    }
}

/// Words of an experiment of four variants that is looked at after every second block of at most twelve, and whose variants are
/// left out once they are settled.
fn told_until_decided(levels: [f64; 4], deviation: f64, random: &mut Random) -> Vec<Comparison> {
    let (mut cells, mut settled) = (Vec::new(), Vec::new());
    for block in 0..12 {
        for variant in (0..4).filter(|variant| !settled.contains(variant)) {
            let value = levels[variant] + f64::from(block) + deviation * random.normal();
            cells.push(BlockCell::new(variant, block, value));
        }
        let model = BlockModel::fit(&cells, SEED).filter(|_| block % 2 == 1);
        settled.extend(model.map_or_else(Vec::new, |model| model.settled(0, MARGIN, 1.0)));
        if settled.contains(&0) {
            break;
        }
    }
    compared(&cells).iter().map(|found| word(found, MARGIN)).collect()
}

#[test]
fn an_experiment_that_ends_once_it_is_decided_errs_no_more_often() {
    for (seed, deviation) in [0.02, 0.05, 0.1].into_iter().enumerate() {
        let is_false = |random: &mut Random| {
            let words = told_until_decided([0.0; 4], deviation, random);
            words.iter().any(|word| matches!(word, Comparison::Better | Comparison::Worse))
        };
        Rate::of(300, seed as u64, is_false).is_at_most(0.05);
    }
    let is_right = |random: &mut Random| {
        told_until_decided([0.0, 0.3, -0.3, 0.0], 0.03, random)
            == [Comparison::Better, Comparison::Worse, Comparison::Same]
    };
    Rate::of(200, 9, is_right).is_at_least(0.9);
}

#[test]
fn the_best_of_a_block_model_is_rarely_left_out_and_two_blocks_tell_it_from_others() {
    let best = |effect: f64| {
        move |random: &mut Random| {
            let cells = (0..2).flat_map(|block| (0..4).map(move |variant| (variant, block)));
            let cells: Vec<BlockCell> = cells
                .map(|(variant, block)| {
                    let level = if variant == 2 { effect } else { 0.0 };
                    BlockCell::new(variant, block, level + 10.0 * f64::from(block) + random.normal())
                })
                .collect();
            BlockModel::fit(&cells, SEED).map(|model| model.perhaps_best(1.0, 0.95)).unwrap_or_default()
        }
    };
    let without = best(0.0);
    Rate::of(400, 5, |random| without(random).contains(&2)).is_at_least(0.95);
    let with = best(30.0);
    Rate::of(400, 6, |random| with(random) == [2]).is_at_least(0.95);
}

/// p of each variant against the first by Welch's test of its values, for all together by Holm's method: without blocks.
fn apart_p(cells: &[BlockCell]) -> Vec<f64> {
    let of = |variant: usize| -> Vec<f64> {
        cells.iter().filter(|cell| cell.variant == variant).map(|cell| cell.value).collect()
    };
    let count = 1 + cells.iter().map(|cell| cell.variant).max().unwrap_or(0);
    let p = |variant| welch(&of(0), &of(variant), 0.95).map_or(1.0, |test| test.p_two_sided);
    holm(&(1..count).map(p).collect::<Vec<f64>>())
}

#[test]
fn one_model_of_all_variants_finds_what_tests_of_two_variants_each_do_not() {
    for (blocks, effect) in [(2, 7.0), (3, 4.0), (6, 2.5)] {
        let (mut by_model, mut apart) = (0.0, 0.0);
        let tries = Rate::of(200, 30 + blocks as u64, |random| {
            // Blocks differ as little as cells scatter, which is kind to the other method.
            let mut cells = Vec::new();
            for block in 0..blocks {
                let of_block = random.normal();
                for (variant, level) in [0.0, effect, 0.0, 0.0].into_iter().enumerate() {
                    cells.push(BlockCell::new(variant, block, of_block + level + random.normal()));
                }
            }
            by_model += f64::from(u8::from(word(&compared(&cells)[0], MARGIN) == Comparison::Better));
            apart += f64::from(u8::from(apart_p(&cells)[0] < 0.05));
            true
        });
        let [by_model, apart] = [by_model, apart].map(|hits| hits / f64::from(tries.tries));
        assert!(by_model > 0.7 && by_model > apart + 0.2, "{blocks} blocks: {by_model} and {apart}");
    }
}
