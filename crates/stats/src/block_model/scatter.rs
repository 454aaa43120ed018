//! Whether the cells of a block model scatter as least squares take for granted: without values far off, in one group.
//!
//! Two numbers of the residuals, each put on the scale of its own variant so that variants may scatter differently:
//!
//! - the mean fourth power, which values far off make large (R. Geary, *Biometrika* 34, 1947, found it the best test
//!   against heavy tails);
//! - for each variant, the share of its squares that a cut into two groups of at least two values explains at best, and the
//!   greatest of all variants (L. Engelman and J. Hartigan, *JASA* 64, 1969).
//!
//! Residuals of few cells depend on each other, so both are held against the same numbers of normal noise in the same design,
//! from a seeded simulation. Limits: below [`BLOCKS_MIN`] blocks nothing shows; two of nine runs far off are seen as a
//! second group, one as a tail.

use super::fit::Fit;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Fewest cells of a variant that say something about the shape of its scatter.
const BLOCKS_MIN: usize = 5;
/// Simulated experiments.
const SIMULATIONS: u32 = 999;
/// In so many of them, counting the real one, normal noise may have a shape at least as far from it: p ≤ 0.01. As soon as there
/// are more, nothing can change that (J. Besag and P. Clifford, *Biometrika* 78, 1991).
const SHAPE_COUNT: u32 = 10;
/// Fewest values of a group.
const GROUP_MIN: usize = 2;
/// The median distance of normal values from their center, in standard deviations.
const NORMAL_MEDIAN: f64 = 0.674_489_750_196_081_7;

/// What the cells of a block model scatter like, where that is not one group without values far off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockScatter {
    /// Some values lie far off.
    HeavyTails {
        /// Variant of the one that lies farthest off.
        variant: usize,
        /// Its block.
        block: u32,
        /// How far off it lies, in standard deviations as most values have them.
        deviations: f64,
    },
    /// The values of a variant form two groups.
    TwoGroups {
        /// The variant.
        variant: usize,
        /// Values in the lower and in the upper group.
        counts: [usize; 2],
    },
}

/// The shape of residuals.
struct Shape {
    /// Mean fourth power.
    fourth: f64,
    /// Greatest share of the squares that a cut explains, with the variant's position and the size of its lower group.
    cut: f64,
    place: usize,
    lower_count: usize,
}

/// What the residuals of a fit are like; `cells` are its cells by variant and block. `None`: like normal noise, or too few.
pub(super) fn scatter(fit: &Fit, cells: &[(usize, u32)], seed: u64) -> Option<BlockScatter> {
    let groups = groups(fit, cells);
    let seen = shape(&fit.residuals, &groups)?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let [mut fourth_count, mut cut_count] = [1, 1];
    for _ in 0..SIMULATIONS {
        if fourth_count.min(cut_count) > SHAPE_COUNT {
            return None;
        }
        let noise = fit.design.noise(|| normal(&mut random));
        let [_, residuals] = fit.design.solve(&noise);
        let simulated = shape(&residuals, &groups)?;
        fourth_count += u32::from(simulated.fourth >= seen.fourth);
        cut_count += u32::from(simulated.cut >= seen.cut);
    }
    if fourth_count.min(cut_count) > SHAPE_COUNT {
        return None;
    }
    if cut_count < fourth_count {
        let count = groups.get(seen.place)?.len();
        let variant = *fit.design.variants.get(seen.place)?;
        return Some(BlockScatter::TwoGroups {
            variant,
            counts: [seen.lower_count, count - seen.lower_count],
        });
    }
    let size = |cell: &usize| fit.residuals[*cell].abs();
    let farthest = (0..cells.len()).max_by(|one, other| size(one).total_cmp(&size(other)))?;
    let sizes: Vec<f64> = fit.residuals.iter().map(|rest| rest.abs()).collect();
    let usual = crate::descriptive::median(&sizes)? / NORMAL_MEDIAN;
    let (variant, block) = cells[farthest];
    Some(BlockScatter::HeavyTails {
        variant,
        block,
        deviations: size(&farthest) / usual.max(f64::MIN_POSITIVE),
    })
}

/// The cells of each variant, by its position; none of one with too few.
fn groups(fit: &Fit, cells: &[(usize, u32)]) -> Vec<Vec<usize>> {
    let of = |variant: &usize| {
        let own: Vec<usize> = (0..cells.len()).filter(|cell| cells[*cell].0 == *variant).collect();
        if own.len() >= BLOCKS_MIN { own } else { Vec::new() }
    };
    fit.design.variants.iter().map(of).collect()
}

/// `None`: no variant has enough cells, or none of them scatters.
fn shape(residuals: &[f64], groups: &[Vec<usize>]) -> Option<Shape> {
    let mut shape = Shape { fourth: 0.0, cut: 0.0, place: 0, lower_count: 0 };
    let mut count = 0;
    for (place, group) in groups.iter().enumerate() {
        let mut own: Vec<f64> = group.iter().map(|cell| residuals[*cell]).collect();
        let mean = own.iter().sum::<f64>() / own.len().max(1) as f64;
        own.iter_mut().for_each(|value| *value -= mean);
        let squares = own.iter().map(|value| value * value).sum::<f64>();
        let variance = squares / own.len().max(1) as f64;
        if variance <= 0.0 {
            continue;
        }
        own.sort_by(f64::total_cmp);
        shape.fourth += own.iter().map(|value| (value * value / variance).powi(2)).sum::<f64>();
        count += own.len();
        let (cut, lower_count) = best_cut(&own, squares);
        if cut > shape.cut {
            shape = Shape { cut, place, lower_count, ..shape };
        }
    }
    (count > 0).then(|| Shape { fourth: shape.fourth / count as f64, ..shape })
}

/// The greatest share of the squares of ordered values around 0 that a cut into two groups explains, and the size of the lower.
fn best_cut(values: &[f64], squares: f64) -> (f64, usize) {
    let count = values.len();
    let mut lower = values[..GROUP_MIN - 1].iter().sum::<f64>();
    let mut best = (0.0, 0);
    for at in GROUP_MIN..=count - GROUP_MIN {
        lower += values[at - 1];
        // The upper group's sum is that of the lower with the other sign.
        let share = lower * lower * (1.0 / at as f64 + 1.0 / (count - at) as f64) / squares;
        if share > best.0 {
            best = (share, at);
        }
    }
    best
}

/// A standard normal value (G. Box and M. Muller, 1958).
fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    let [one, other]: [f64; 2] = [random.random(), random.random()];
    (-2.0 * (1.0 - one).ln()).sqrt() * (2.0 * std::f64::consts::PI * other).cos()
}

#[cfg(test)]
mod tests {
    use super::super::BlockCell;
    use super::*;

    /// Noise of four variants in so many blocks, changed by `edit`, which is given a place and the noise there.
    fn found(blocks: usize, edit: impl Fn([usize; 2], f64) -> f64) -> Option<BlockScatter> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let places = (0..blocks).flat_map(|block| (0..4).map(move |variant| [variant, block]));
        let cells: Vec<BlockCell> = places
            .map(|[variant, block]| {
                let value = edit([variant, block], normal(&mut random));
                BlockCell::new(variant, block as u32, value + 5.0 * (block % 3) as f64)
            })
            .collect();
        let fit = Fit::new(&cells, &vec![0.0; cells.len()], |_| 1.0).expect("connected");
        let places: Vec<(usize, u32)> = cells.iter().map(|cell| (cell.variant, cell.block)).collect();
        scatter(&fit, &places, 7)
    }

    #[test]
    fn normal_noise_is_nothing_also_where_variants_scatter_differently() {
        assert_eq!(found(8, |_, noise| noise), None);
        assert_eq!(found(8, |[variant, _], noise| noise * [1.0, 1.0, 10.0, 3.0][variant]), None);
    }

    #[test]
    fn a_run_far_off_is_named() {
        let far = |place: [usize; 2], noise: f64| noise + if place == [2, 5] { 15.0 } else { 0.0 };
        match found(8, far) {
            Some(BlockScatter::HeavyTails { variant: 2, block: 5, deviations }) => assert!(deviations > 5.0),
            other => panic!("{other:?}"),
        }
        assert_eq!(found(4, far), None, "too few blocks");
    }

    #[test]
    fn a_variant_with_two_speeds_is_named() {
        let two = |[variant, block]: [usize; 2], noise: f64| {
            noise + if variant == 1 && block % 3 != 0 { 12.0 } else { 0.0 }
        };
        let expected = BlockScatter::TwoGroups { variant: 1, counts: [4, 6] };
        assert_eq!(found(10, two), Some(expected));
    }
}
