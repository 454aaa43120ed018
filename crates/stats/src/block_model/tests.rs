//! Small designs whose answers are known.

use super::*;
use crate::estimate::{BoundSide, Estimate};

fn fit(cells: &[BlockCell]) -> Option<BlockModel> {
    BlockModel::fit(cells, 1)
}

fn interval(difference: &BlockDifference) -> Estimate {
    difference.difference.interval().expect("both ends are known")
}

fn cells(blocks: &[&[f64]]) -> Vec<BlockCell> {
    let block = |(block, values): (usize, &&[f64])| {
        let cell = move |(variant, value): (usize, &f64)| BlockCell::new(variant, block as u32, *value);
        values.iter().enumerate().map(cell).collect::<Vec<_>>()
    };
    blocks.iter().enumerate().flat_map(block).collect()
}

#[test]
fn two_variants_are_students_paired_test() {
    let blocks: [&[f64]; 4] = [&[1.0, 1.5], &[3.0, 3.2], &[2.0, 2.9], &[7.0, 7.4]];
    let model = fit(&cells(&blocks)).expect("sound");
    let differences: Vec<f64> = blocks.iter().map(|block| block[1] - block[0]).collect();
    let expected = crate::t_test::paired_t(&differences, 0.95).expect("sound");
    let found = model.compare(0, 0.05)[0];
    let wide = found.wide.interval().expect("both ends are known");
    assert!((wide.low - expected.mean.low).abs() < 1e-6, "{found:?}");
    assert!((found.p - expected.p_two_sided).abs() < 1e-6, "{found:?}");
}

#[test]
fn blocks_may_differ_by_much() {
    let blocks: [&[f64]; 3] = [&[0.0, 1.0, 2.1], &[100.0, 101.1, 102.0], &[-50.0, -48.9, -48.0]];
    let model = fit(&cells(&blocks)).expect("sound");
    let found = model.against(0, 0.95);
    assert!(found.iter().all(|one| one.difference.is_above(0.5)), "{found:?}");
    assert_eq!(model.perhaps_best(1.0, 0.95), [2]);
    assert_eq!(model.perhaps_best(-1.0, 0.95), [0]);
    assert!(model.compare(0, 0.05)[1].p < 0.01);
    assert!(model.p(1, 2).is_some_and(|p| p < 0.01));
    assert_eq!(model.p(1, 9), None);
}

#[test]
fn a_variant_that_scatters_by_itself_does_not_widen_the_intervals_of_others() {
    let calm: [&[f64]; 6] = [
        &[0.00, 0.50, 1.00, 0.1],
        &[0.02, 0.49, 1.02, 9.0],
        &[0.01, 0.51, 0.98, -8.0],
        &[-0.01, 0.50, 1.01, 4.0],
        &[0.00, 0.52, 0.99, -5.0],
        &[-0.02, 0.48, 1.00, 7.0],
    ];
    let model = fit(&cells(&calm)).expect("sound");
    let found = model.against(0, 0.95);
    assert!(found[..2].iter().all(|one| interval(one).width() < 0.1), "{found:?}");
    assert!(interval(&found[2]).width() > 10.0);
    assert_eq!(model.perhaps_best(1.0, 0.95), [2, 3]);
}

#[test]
fn a_cell_with_a_large_error_weighs_less() {
    let mut cells = cells(&[&[0.0, 1.0], &[0.1, 1.0], &[0.0, 1.2], &[0.1, 3.1]]);
    cells.iter_mut().for_each(|cell| cell.error = 0.1);
    let all_alike = interval(&fit(&cells).expect("sound").against(0, 0.95)[0]);
    cells.iter_mut().filter(|cell| cell.value > 3.0).for_each(|cell| cell.error = 3.0);
    let weighted = interval(&fit(&cells).expect("sound").against(0, 0.95)[0]);
    assert!((all_alike.point - 1.525).abs() < 1e-9, "{all_alike:?}");
    assert!(weighted.point < 1.2 && weighted.width() < all_alike.width(), "{weighted:?}");
}

/// Cells of these blocks, of which those of one variant are lower bounds.
fn bounded(blocks: &[&[f64]], variant: usize) -> Vec<BlockCell> {
    let mut cells = cells(blocks);
    cells.iter_mut().for_each(|cell| cell.is_lower_bound = cell.variant == variant);
    cells
}

#[test]
fn a_lower_bound_gives_one_end_by_what_the_others_scatter() {
    let blocks: [&[f64]; 2] = [&[0.0, 0.10, 4.1, 0.3], &[1.0, 1.12, 4.1, 1.33]];
    let model = fit(&bounded(&blocks, 2)).expect("sound");
    let found = model.against(0, 0.95);
    let BoundedEstimate::Bound(bound) = found[1].difference else { panic!("{found:?}") };
    assert_eq!(bound.side, BoundSide::AtLeast);
    assert!((3.0..3.6).contains(&bound.value), "blocks differ by 1, the bounds do not: {bound:?}");
    let without = fit(&cells(&[&[0.0, 0.10, 0.3], &[1.0, 1.12, 1.33]])).expect("sound").against(0, 0.95);
    let points = [&found[0], &found[2]].map(|one| interval(one).point);
    assert!(points.iter().zip(&without).all(|(point, one)| (point - interval(one).point).abs() < 1e-12));
    assert_eq!(model.perhaps_best(1.0, 0.95), [2], "it may only be higher, and is higher than all");
    assert!(!model.perhaps_best(-1.0, 0.95).contains(&2));
    assert!(model.p(0, 2).is_some_and(|p| p < 0.05) && model.compare(0, 0.05)[1].p < 0.05);
}

#[test]
fn a_lower_bound_below_the_others_says_nothing() {
    let blocks: [&[f64]; 3] = [&[0.0, 0.1, -4.0], &[1.0, 1.12, -4.0], &[0.5, 0.61, -4.1]];
    let model = fit(&bounded(&blocks, 2)).expect("sound");
    let found = model.against(0, 0.95)[1].difference;
    assert!(!found.is_above(0.0) && !found.is_below(0.0) && found.interval().is_none(), "{found:?}");
    assert_eq!((model.p(0, 2), model.compare(0, 0.05)[1].p), (Some(1.0), 1.0));
    assert!(model.perhaps_best(-1.0, 0.95).contains(&0), "it is not known to be lower");
}

#[test]
fn a_control_that_is_a_lower_bound_leaves_the_others_lower_by_at_least_so_much() {
    let blocks: [&[f64]; 3] = [&[4.0, 0.1, 0.2], &[4.0, 1.12, 1.2], &[4.0, 0.61, 0.74]];
    let model = fit(&bounded(&blocks, 0)).expect("sound");
    let found = model.against(0, 0.95);
    assert!(found.iter().all(|one| one.difference.is_below(-2.5) && one.difference.interval().is_none()));
    let both = cells(&blocks).into_iter().map(|cell| BlockCell { is_lower_bound: cell.variant < 2, ..cell });
    let both = fit(&both.collect::<Vec<_>>()).expect("one is free").against(0, 0.95);
    assert_eq!(both.iter().map(|one| one.variant).collect::<Vec<_>>(), [2], "nothing is known of 1");
}

#[test]
fn of_two_variants_the_own_scatter_decides() {
    let found = fit(&bounded(&[&[0.0, 4.0], &[0.2, 4.0], &[0.1, 4.1]], 1)).expect("sound").against(0, 0.95);
    let BoundedEstimate::Bound(bound) = found[0].difference else { panic!("{found:?}") };
    let expected = crate::t_test::paired_t(&[4.0, 3.8, 4.0], 0.95).expect("sound").mean.low;
    assert!((bound.value - expected).abs() < 1e-6, "{bound:?} {expected}");
    let all: Vec<BlockCell> = bounded(&[&[0.0, 4.0], &[0.2, 4.0]], 0);
    let all: Vec<BlockCell> =
        all.into_iter().map(|cell| BlockCell { is_lower_bound: true, ..cell }).collect();
    assert!(fit(&all).is_none());
}

#[test]
fn a_value_far_off_brings_in_ranks_where_there_are_blocks_enough() {
    let cells = |blocks: u32| -> Vec<BlockCell> {
        let noise = |at: u32| f64::from(at.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 24) - 0.5;
        let cell = |at: u32| {
            let far = if at == 9 { 40.0 } else { 0.0 };
            BlockCell::new((at % 4) as usize, at / 4, noise(at) + 0.7 * f64::from(at % 4) + far)
        };
        (0..4 * blocks).map(cell).collect()
    };
    let many = fit(&cells(8)).expect("sound");
    assert!(matches!(many.scatter(), Some(BlockScatter::HeavyTails { variant: 1, block: 2, .. })));
    let found = many.compare(0, 0.05);
    assert!(found.iter().all(|one| one.is_by_ranks), "{found:?}");
    let wide = found[0].wide.interval().expect("both ends are known");
    assert!(wide.contains(0.7) && wide.low > 0.0, "{found:?}");
    let few = fit(&cells(6)).expect("sound");
    assert!(few.scatter().is_some() && few.compare(0, 0.05).iter().all(|one| !one.is_by_ranks));
    assert!(interval(&few.against(0, 0.95)[0]).width() > 10.0, "one value widens it");
}

#[test]
fn what_is_decided_and_beaten_is_settled_and_all_once_all_are_decided() {
    let blocks: [&[f64]; 4] =
        [&[0.0, -1.0, 1.0, 0.1], &[0.1, -0.9, 1.0, 0.3], &[0.0, -1.1, 1.1, -0.1], &[0.1, -0.8, 1.2, 0.2]];
    let model = fit(&cells(&blocks)).expect("sound");
    assert_eq!(model.settled(0, 0.05, 1.0), [1], "2 may be the best, 3 is open");
    assert_eq!(model.settled(0, 0.05, -1.0), [2]);
    assert_eq!(model.settled(0, 2.0, 1.0), [0, 1, 2, 3], "all are narrower than that");
}

#[test]
fn more_blocks_and_more_variants_resolve_more() {
    let of = |variants, blocks| resolution([variants, blocks], 0.035, 0.95).expect("sound");
    assert!((of(4, 2) / 0.035 - 4.26).abs() < 0.01, "simulated for three differences and 3 degrees");
    assert!(of(4, 3) < of(4, 2) && of(4, 2) < of(2, 2));
    assert_eq!(resolution([4, 1], 0.035, 0.95), None);
}

#[test]
fn what_cannot_be_modelled_is_refused() {
    assert!(fit(&[]).is_none());
    assert!(fit(&cells(&[&[1.0, 2.0]])).is_none(), "one block");
    assert!(fit(&cells(&[&[1.0, 2.0], &[2.0, 3.0]])).is_none(), "nothing varies");
    assert!(fit(&cells(&[&[1.0, f64::NAN], &[2.0, 3.5]])).is_none());
    let twice = [
        BlockCell::new(0, 0, 1.0),
        BlockCell::new(0, 0, 2.0),
        BlockCell::new(1, 0, 2.0),
        BlockCell::new(1, 1, 3.0),
    ];
    assert!(fit(&twice).is_none());
}
