//! Cells that bring their own errors, as percentiles of few samples do: they weigh less, and intervals stay honest.

use crate::experiment::{MARGIN, compared, is_covered, word};
use crate::rate::{Random, Rate};
use sysdyno_stats::block_model::BlockCell;
use sysdyno_stats::verdict::Comparison;

/// Cells of complete blocks that scatter by 1 and by the error that is drawn for each.
fn cells(random: &mut Random, levels: &[f64], blocks: u32, error: fn(&mut Random) -> f64) -> Vec<BlockCell> {
    let mut cells = Vec::new();
    for block in 0..blocks {
        let of_block = 10.0 * random.normal();
        for (variant, level) in levels.iter().enumerate() {
            let error = error(random);
            let value = of_block + level + random.normal() + error * random.normal();
            cells.push(BlockCell { error, ..BlockCell::new(variant, block, value) });
        }
    }
    cells
}

/// One trial in ten has few samples.
fn few(random: &mut Random) -> f64 {
    if random.uniform() < 0.1 { 5.0 } else { 0.3 }
}

/// Every second one has.
fn half(random: &mut Random) -> f64 {
    if random.uniform() < 0.5 { 3.0 } else { 0.3 }
}

fn alike(random: &mut Random) -> f64 {
    0.5 + random.uniform()
}

/// Intervals of trials whose errors are drawn like this cover what they should.
fn check_coverage(seed: u64, error: fn(&mut Random) -> f64) {
    for blocks in [2, 4] {
        let levels = [0.0, 1.0, -2.0, 0.5];
        let covered =
            |random: &mut Random| is_covered(&compared(&cells(random, &levels, blocks, error)), &levels);
        Rate::of(120, seed, covered).is_at_least(0.94);
    }
}

#[test]
fn intervals_hold_where_few_trials_have_large_errors() {
    check_coverage(1, few);
}

#[test]
fn intervals_hold_where_half_of_the_trials_have_large_errors() {
    check_coverage(2, half);
}

#[test]
fn intervals_hold_where_all_trials_have_like_errors() {
    check_coverage(3, alike);
}

#[test]
fn a_trial_of_few_samples_hides_less_if_its_error_is_known() {
    let (mut known, mut unknown) = (0.0, 0.0);
    let tries = Rate::of(120, 9, |random| {
        let cells = cells(random, &[0.0, 3.5, 0.0, 0.0], 4, few);
        let is_found = |cells: &[BlockCell]| word(&compared(cells)[0], MARGIN) == Comparison::Better;
        known += f64::from(u8::from(is_found(&cells)));
        let without: Vec<BlockCell> = cells.iter().map(|cell| BlockCell { error: 0.0, ..*cell }).collect();
        unknown += f64::from(u8::from(is_found(&without)));
        true
    });
    let [known, unknown] = [known, unknown].map(|hits| hits / f64::from(tries.tries));
    assert!(known > unknown + 0.1, "{known} and {unknown}");
}
