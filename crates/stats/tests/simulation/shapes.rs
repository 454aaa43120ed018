//! Heavy tails and variants with two speeds: found where they are, and handled by ranks within blocks.

use crate::experiment::*;
use crate::rate::{Random, Rate};
use sysdyno_stats::block_model::{BlockCell, BlockScatter};
use sysdyno_stats::t_test::paired_t;
use sysdyno_stats::verdict::Comparison;

/// The third variant is fast or slow from run to run.
fn two_speeds(random: &mut Random, [variant, _]: [usize; 2]) -> f64 {
    let speed = if random.uniform() < 0.5 { 6.0 } else { -6.0 };
    random.normal() + if variant == 2 { speed } else { 0.0 }
}

#[test]
fn shapes_are_found_where_they_are_and_hardly_ever_where_they_are_not() {
    let found = |seed, blocks, noise: Noise, is_meant: fn(Option<BlockScatter>) -> bool| {
        Rate::of(60, seed, |random| is_meant(model(&cells(random, &[0.0; 4], blocks, noise)).scatter()))
    };
    found(1, 8, normal, |scatter| scatter.is_some()).is_at_most(0.02);
    found(2, 12, spiky, |scatter| scatter.is_some()).is_at_least(0.75);
    let is_third = |scatter| matches!(scatter, Some(BlockScatter::TwoGroups { variant: 2, .. }));
    found(3, 10, two_speeds, is_third).is_at_least(0.75);
}

#[test]
fn intervals_by_ranks_hold_together() {
    coverage(60, 11, (&[0.0, 0.5, -3.0, 2.0], 9), spiky).is_at_least(0.95);
    coverage(60, 12, (&[0.0, 0.5, -3.0], 8), spiky).is_at_least(0.95);
    // The level of the third variant is halfway between its speeds.
    coverage(60, 13, (&[0.0, 0.5, 6.0, 2.0], 10), two_speeds).is_at_least(0.93);
}

/// Whether Student's t of the differences within blocks, with Bonferroni's level for three, finds the second variant higher.
fn is_found_by_t(cells: &[BlockCell]) -> bool {
    let of = |variant: usize| cells.iter().filter(move |cell| cell.variant == variant).map(|cell| cell.value);
    let differences: Vec<f64> = of(0).zip(of(1)).map(|(from, to)| to - from).collect();
    paired_t(&differences, 1.0 - 0.05 / 3.0).is_some_and(|test| test.mean.low > 0.0)
}

#[test]
fn ranks_resolve_what_values_far_off_hide_from_means() {
    let (mut by_model, mut by_t) = (0.0, 0.0);
    let tries = Rate::of(60, 21, |random| {
        let cells = cells(random, &[0.0, 3.0, 0.0, 0.0], 12, spiky);
        by_model += f64::from(u8::from(word(&compared(&cells)[0], MARGIN) == Comparison::Better));
        by_t += f64::from(u8::from(is_found_by_t(&cells)));
        true
    });
    let [by_model, by_t] = [by_model, by_t].map(|hits| hits / f64::from(tries.tries));
    assert!(by_model > by_t + 0.05, "{by_model} and {by_t}");
}
