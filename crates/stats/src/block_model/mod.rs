//! Many variants measured in blocks: differences from one of them, and those that may be the best.
//!
//! ```text
//! value = level of the variant + level of the block + residual
//! ```
//!
//! fitted by least squares, so that what a block adds to all its cells cancels out, and a missing cell costs only itself.
//! The variance of the residuals is pooled over all variants: with two or three blocks, one variant's own says next to
//! nothing. Intervals hold for all differences together: C. Dunnett (*JASA* 50, 1955) against a control, and J. Hsu
//! (*Annals of Statistics* 9, 1981) against the best. With missing cells the differences are not equally correlated; the
//! smallest correlation is taken for all, which makes intervals too wide rather than too narrow (Z. Šidák, 1968).
//!
//! A cell may bring its own standard error. Then it weighs 1 ÷ (τ² + error²), with the τ² at which the residuals are as
//! large as they should be (R. Paule and J. Mandel, 1982), and at least 0.
//!
//! Variants may scatter differently. Each is tested against all others: leaving it out frees a part of the squares that
//! has an F distribution where variances are equal, with missing cells as well. With k variants and p · k below
//! [`SUSPECT_P`], differences of the variant also have to hold by their own scatter alone (Student's t of the differences
//! within blocks, Bonferroni); below [`ODD_P`] its residuals are not pooled with the others. In simulations (`tests/
//! simulation.rs`) all intervals hold together in 94 to 98% of experiments if variances are equal, also with heavy tails.
//! Limits: two or three blocks cannot always show that a variant scatters several times as much as the others, which
//! lowers that to 85% at worst; from six blocks on it is 94% and more.

mod fit;

use crate::descriptive::{is_usable, raw_mean, raw_variance};
use crate::distribution::{f_p_upper, student_t_p_two_sided, student_t_quantile};
use crate::estimate::{Estimate, is_level};
use crate::multiplicity::{Sidedness, all_within, critical};
use fit::Fit;
use std::collections::BTreeMap;

/// p · number of variants below which a variant is suspected of its own variance.
const SUSPECT_P: f64 = 0.3;
/// p · number of variants below which it is not pooled with the others.
const ODD_P: f64 = 0.02;
/// Halvings in the search for τ².
const HALVINGS: usize = 60;

/// One measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockCell {
    /// Number of the variant.
    pub variant: usize,
    /// Number of the block.
    pub block: u32,
    /// What was measured.
    pub value: f64,
    /// Standard error of it that has nothing to do with other cells; 0 if it is not known.
    pub error: f64,
}

impl BlockCell {
    /// A measurement whose error is not known.
    pub fn new(variant: usize, block: u32, value: f64) -> BlockCell {
        BlockCell { variant, block, value, error: 0.0 }
    }
}

/// A difference from the control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockDifference {
    /// The variant that is compared.
    pub variant: usize,
    /// How much higher it is, with its simultaneous interval.
    pub difference: Estimate,
}

/// Variants measured in blocks.
#[derive(Clone, Debug)]
pub struct BlockModel {
    cells: Vec<BlockCell>,
    fit: Fit,
    variance: f64,
    freedom: f64,
    /// Whether a variant is suspected of its own variance, by position.
    is_suspect: Vec<bool>,
}

/// The difference of two variants, before it has an interval.
struct Pair {
    difference: f64,
    standard_error: f64,
    /// Standard error by the pair's own scatter and its degrees of freedom, where that counts.
    own: Option<(f64, f64)>,
}

/// How far a difference from the control has to be from 0, about, for its interval not to contain 0: so many variants in so many
/// blocks, whose cells scatter by this. Unit: as `deviation`.
///
/// `None`: fewer than two variants or blocks, a deviation that is not positive and finite, or a level that is not one.
pub fn resolution([variants, blocks]: [usize; 2], deviation: f64, level: f64) -> Option<f64> {
    let is_sound = variants > 1 && blocks > 1 && deviation > 0.0 && deviation.is_finite() && is_level(level);
    is_sound.then(|| {
        let freedom = ((variants - 1) * (blocks - 1)) as f64;
        let bound = critical(Sidedness::Two, (variants - 1, 0.5f64.sqrt()), freedom, level);
        bound * deviation * (2.0 / blocks as f64).sqrt()
    })
}

impl BlockModel {
    /// Fits the model.
    ///
    /// `None`: a value that is not finite, two cells of a variant in one block, fewer than two variants, variants that no
    /// blocks connect, no cell more than levels, or residuals that are all 0.
    pub fn fit(cells: &[BlockCell]) -> Option<BlockModel> {
        let is_sound =
            |cell: &BlockCell| cell.value.is_finite() && cell.error.is_finite() && cell.error >= 0.0;
        let mut places: Vec<(usize, u32)> = cells.iter().map(|cell| (cell.variant, cell.block)).collect();
        places.sort_unstable();
        places.dedup();
        if !cells.iter().all(is_sound) || places.len() != cells.len() {
            return None;
        }
        let weights = weights(cells)?;
        let fit = Fit::new(cells, &weights)?;
        let (mut variance, mut freedom) = (fit.variance(), fit.freedom);
        let scale = cells.iter().map(|cell| cell.value.abs()).fold(1.0, f64::max);
        let weight = weights.iter().fold(0.0, |most: f64, weight| most.max(*weight));
        if variance <= weight * (scale * 1e-12).powi(2) {
            return None;
        }
        let mut is_suspect = vec![false; fit.variants.len()];
        let mut oddest: Option<(f64, Fit)> = None;
        for (place, variant) in fit.variants.iter().enumerate() {
            let Some((p, rest)) = own_variance(&fit, cells, &weights, *variant) else { continue };
            is_suspect[place] = p < SUSPECT_P;
            if p < ODD_P && oddest.as_ref().is_none_or(|(least, _)| p < *least) {
                oddest = Some((p, rest));
            }
        }
        if let Some((_, rest)) = oddest {
            (variance, freedom) = (rest.variance(), rest.freedom);
        }
        Some(BlockModel { cells: cells.to_vec(), fit, variance, freedom, is_suspect })
    }

    /// The variants of the model, in order.
    pub fn variants(&self) -> &[usize] {
        &self.fit.variants
    }

    /// The differences of all other variants from `control`, with intervals that hold together at `level`.
    ///
    /// Empty: `control` is not in the model, or `level` is not one.
    pub fn against(&self, control: usize, level: f64) -> Vec<BlockDifference> {
        let Some(from) = self.fit.place(control).filter(|_| is_level(level)) else { return Vec::new() };
        let count = self.fit.variants.len() - 1;
        let bound = critical(Sidedness::Two, (count, self.share(from)), self.freedom, level);
        let difference = |to: usize| {
            let pair = self.pair(from, to);
            let reach = pair.reach(bound, (1.0 - level) / (2.0 * count as f64));
            let [point, low, high] = [0.0, -reach, reach].map(|by| pair.difference + by);
            BlockDifference {
                variant: self.fit.variants[to],
                difference: Estimate { point, low, high, level },
            }
        };
        (0..self.fit.variants.len()).filter(|to| *to != from).map(difference).collect()
    }

    /// Probability, if no variant differs from `control`, that one of them seems to as much as this one; `None`: one is not in
    /// the model, or they are the same.
    pub fn adjusted_p(&self, control: usize, variant: usize) -> Option<f64> {
        let (from, to) = (self.fit.place(control)?, self.fit.place(variant)?);
        let count = self.fit.variants.len() - 1;
        let pair = self.pair(from, to);
        let t = (pair.difference / pair.standard_error).abs();
        let pooled = 1.0 - all_within(Sidedness::Two, t, &vec![self.share(from); count], self.freedom);
        let own = pair.own_p().map_or(0.0, |p| p * count as f64);
        (from != to).then(|| pooled.max(own).clamp(0.0, 1.0))
    }

    /// Probability of such a difference of these two without one, for them alone; `None`: one is not in the model.
    pub fn p(&self, one: usize, other: usize) -> Option<f64> {
        let pair = self.pair(self.fit.place(one)?, self.fit.place(other)?);
        let pooled = student_t_p_two_sided(pair.difference / pair.standard_error, self.freedom);
        Some(pooled.max(pair.own_p().unwrap_or(0.0)))
    }

    /// The variants that may be the best, at `level` for all together: no other one is surely better. `sign` is 1 where
    /// the highest is the best, −1 where the lowest is.
    pub fn perhaps_best(&self, sign: f64, level: f64) -> Vec<usize> {
        let count = self.fit.variants.len();
        let may_be = |place: &usize| {
            let bound = critical(Sidedness::One, (count - 1, self.share(*place)), self.freedom, level);
            let tail = (1.0 - level) / (count - 1) as f64;
            (0..count).filter(|other| other != place).all(|other| {
                let pair = self.pair(*place, other);
                sign * pair.difference < pair.reach(bound, tail)
            })
        };
        (0..count).filter(may_be).map(|place| self.fit.variants[place]).collect()
    }

    /// In how many blocks both were measured.
    pub fn shared_blocks_count(&self, one: usize, other: usize) -> usize {
        let has = |variant: usize, block: u32| {
            self.cells.iter().any(|cell| cell.variant == variant && cell.block == block)
        };
        self.cells.iter().filter(|cell| cell.variant == one && has(other, cell.block)).count()
    }

    /// The variants of which enough is known, `margin` being the smallest difference that matters and `sign` as of
    /// [`BlockModel::perhaps_best`]: those that are decided against `control` and are surely not the best; all, `control`
    /// included, once all are decided.
    ///
    /// Decided is a difference whose 95% interval is narrower than the margin, or whose 99% interval lies wholly beyond it: by
    /// width rather than by sign, so that it may be looked at after every few blocks ([`crate::verdict`]).
    pub fn settled(&self, control: usize, margin: f64, sign: f64) -> Vec<usize> {
        let (wide, strict) = (self.against(control, 0.95), self.against(control, 0.99));
        let is_decided = |one: &BlockDifference, strict: &BlockDifference| {
            let beyond = strict.difference.low > margin || strict.difference.high < -margin;
            beyond || one.difference.width() < margin
        };
        let pairs = wide.iter().zip(&strict).filter(|(one, strict)| is_decided(one, strict));
        let decided: Vec<usize> = pairs.map(|(one, _)| one.variant).collect();
        if decided.len() + 1 == self.fit.variants.len() {
            return self.fit.variants.clone();
        }
        let perhaps = self.perhaps_best(sign, 0.99);
        decided.into_iter().filter(|variant| !perhaps.contains(variant)).collect()
    }

    /// Root of the smallest correlation of two differences from this variant.
    fn share(&self, from: usize) -> f64 {
        let places: Vec<usize> = (0..self.fit.variants.len()).filter(|place| *place != from).collect();
        let correlation = |one: usize, other: usize| {
            let of = |pair: [usize; 2]| self.fit.covariance(pair, from);
            of([one, other]) / (of([one, one]) * of([other, other])).sqrt()
        };
        let pairs = places.iter().flat_map(|one| places.iter().map(move |other| (*one, *other)));
        let least = pairs.map(|(one, other)| correlation(one, other)).fold(1.0, f64::min);
        // Rounded down, so that designs that differ by rounding only have the same bound.
        (least.clamp(0.0, 0.999).sqrt() * 1e6).floor() / 1e6
    }

    /// How much higher `to` is than `from`; by positions.
    fn pair(&self, from: usize, to: usize) -> Pair {
        let variance = self.fit.covariance([to, to], from) * self.variance;
        let is_suspect = self.is_suspect[from] || self.is_suspect[to];
        Pair {
            difference: self.fit.levels[to] - self.fit.levels[from],
            standard_error: variance.sqrt(),
            own: is_suspect.then(|| self.own_scatter(from, to)),
        }
    }

    /// Standard error of a difference by the differences within blocks, and its degrees of freedom; infinite with fewer than
    /// two of them.
    fn own_scatter(&self, from: usize, to: usize) -> (f64, f64) {
        let of = |place: usize| -> BTreeMap<u32, f64> {
            let variant = self.fit.variants[place];
            let own = self.cells.iter().filter(|cell| cell.variant == variant);
            own.map(|cell| (cell.block, cell.value)).collect()
        };
        let (from, to) = (of(from), of(to));
        let differences: Vec<f64> =
            from.iter().filter_map(|(block, value)| Some(to.get(block)? - value)).collect();
        match is_usable(&differences, 2) {
            true => {
                let count = differences.len() as f64;
                ((raw_variance(&differences) / count).sqrt(), count - 1.0)
            }
            false => (f64::INFINITY, 1.0),
        }
    }
}

impl Pair {
    /// How far the interval reaches on each side: `bound` standard errors, and as far as the pair's own scatter says where
    /// that counts, which leaves out `tail` on each side.
    fn reach(&self, bound: f64, tail: f64) -> f64 {
        let own = self.own.map_or(0.0, |(error, freedom)| error * student_t_quantile(1.0 - tail, freedom));
        (bound * self.standard_error).max(own)
    }

    /// Probability of such a difference by its own scatter; `None`: that does not count.
    fn own_p(&self) -> Option<f64> {
        self.own.map(|(error, freedom)| match error > 0.0 {
            true => student_t_p_two_sided(self.difference / error, freedom),
            false => 0.0,
        })
    }
}

/// p · number of variants of the test whether this one scatters more than the others, and the fit without it; `None`: too
/// little is left without it.
fn own_variance(fit: &Fit, cells: &[BlockCell], weights: &[f64], variant: usize) -> Option<(f64, Fit)> {
    let others = cells.iter().zip(weights).filter(|(cell, _)| cell.variant != variant);
    let (cells, weights): (Vec<BlockCell>, Vec<f64>) = others.unzip();
    let rest = Fit::new(&cells, &weights)?;
    let freedom = fit.freedom - rest.freedom;
    let part = (fit.squares - rest.squares) / freedom;
    if freedom <= 0.0 || part <= 0.0 {
        return None;
    }
    let p = f_p_upper(part / rest.variance().max(f64::MIN_POSITIVE), [freedom, rest.freedom]);
    Some((p * fit.variants.len() as f64, rest))
}

/// The weights of cells: equal, unless some bring their own errors.
fn weights(cells: &[BlockCell]) -> Option<Vec<f64>> {
    let with = |variance: f64| -> Vec<f64> {
        cells.iter().map(|cell| 1.0 / (variance + cell.error * cell.error)).collect()
    };
    let errors: Vec<f64> = cells.iter().map(|cell| cell.error * cell.error).collect();
    let equal = vec![1.0; cells.len()];
    if !is_usable(&errors, 1) || errors.contains(&0.0) {
        return Some(equal);
    }
    // At the variance of unweighted residuals the weighted ones are too small: the solution lies below.
    let mut high = Fit::new(cells, &equal)?.variance();
    let is_too_small = |variance: f64| Some(Fit::new(cells, &with(variance))?.variance() < 1.0);
    let floor = raw_mean(&errors) * 1e-6;
    if high <= floor || is_too_small(0.0)? {
        return Some(with(0.0));
    }
    let mut low = 0.0;
    while !is_too_small(high)? {
        high *= 2.0;
    }
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if is_too_small(middle)? { high = middle } else { low = middle }
    }
    Some(with((low + high) / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let model = BlockModel::fit(&cells(&blocks)).expect("sound");
        let differences: Vec<f64> = blocks.iter().map(|block| block[1] - block[0]).collect();
        let expected = crate::t_test::paired_t(&differences, 0.95).expect("sound");
        let found = model.against(0, 0.95)[0];
        assert!((found.difference.low - expected.mean.low).abs() < 1e-6, "{found:?}");
        assert!(model.adjusted_p(0, 1).is_some_and(|p| (p - expected.p_two_sided).abs() < 1e-6));
    }

    #[test]
    fn blocks_may_differ_by_much() {
        let blocks: [&[f64]; 3] = [&[0.0, 1.0, 2.1], &[100.0, 101.1, 102.0], &[-50.0, -48.9, -48.0]];
        let model = BlockModel::fit(&cells(&blocks)).expect("sound");
        let found = model.against(0, 0.95);
        assert!(found.iter().all(|one| one.difference.low > 0.5), "{found:?}");
        assert_eq!(model.perhaps_best(1.0, 0.95), [2]);
        assert_eq!(model.perhaps_best(-1.0, 0.95), [0]);
        assert!(model.adjusted_p(0, 2).is_some_and(|p| p < 0.01));
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
        let model = BlockModel::fit(&cells(&calm)).expect("sound");
        let found = model.against(0, 0.95);
        assert!(found[..2].iter().all(|one| one.difference.width() < 0.1), "{found:?}");
        assert!(found[2].difference.width() > 10.0);
        assert_eq!(model.perhaps_best(1.0, 0.95), [2, 3]);
    }

    #[test]
    fn a_cell_with_a_large_error_weighs_less() {
        let mut cells = cells(&[&[0.0, 1.0], &[0.1, 1.0], &[0.0, 1.2], &[0.1, 3.1]]);
        cells.iter_mut().for_each(|cell| cell.error = 0.1);
        let all_alike = BlockModel::fit(&cells).expect("sound").against(0, 0.95)[0].difference;
        cells.iter_mut().filter(|cell| cell.value > 3.0).for_each(|cell| cell.error = 3.0);
        let weighted = BlockModel::fit(&cells).expect("sound").against(0, 0.95)[0].difference;
        assert!((all_alike.point - 1.525).abs() < 1e-9, "{all_alike:?}");
        assert!(weighted.point < 1.1 && weighted.width() < all_alike.width(), "{weighted:?}");
    }

    #[test]
    fn what_is_decided_and_beaten_is_settled_and_all_once_all_are_decided() {
        let blocks: [&[f64]; 4] =
            [&[0.0, -1.0, 1.0, 0.1], &[0.1, -0.9, 1.0, 0.3], &[0.0, -1.1, 1.1, -0.1], &[0.1, -0.8, 1.2, 0.2]];
        let model = BlockModel::fit(&cells(&blocks)).expect("sound");
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
        assert!(BlockModel::fit(&[]).is_none());
        assert!(BlockModel::fit(&cells(&[&[1.0, 2.0]])).is_none(), "one block");
        assert!(BlockModel::fit(&cells(&[&[1.0, 2.0], &[2.0, 3.0]])).is_none(), "nothing varies");
        assert!(BlockModel::fit(&cells(&[&[1.0, f64::NAN], &[2.0, 3.5]])).is_none());
        let twice = [
            BlockCell::new(0, 0, 1.0),
            BlockCell::new(0, 0, 2.0),
            BlockCell::new(1, 0, 2.0),
            BlockCell::new(1, 1, 3.0),
        ];
        assert!(BlockModel::fit(&twice).is_none());
    }
}
