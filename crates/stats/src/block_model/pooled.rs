//! Differences of variants by least squares, with standard errors from the variance that is pooled over all variants.
//!
//! Variants may scatter differently. Each is tested against all others: leaving it out frees a part of the squares that
//! has an F distribution where variances are equal, with missing cells as well. With k variants and p · k below
//! [`SUSPECT_P`], differences of the variant also have to hold by their own scatter alone (Student's t of the differences
//! within blocks, Bonferroni); below [`ODD_P`] its residuals are not pooled with the others.
//!
//! A variant some of whose values are lower bounds is in no fit but its own: that of all free variants and itself, with the
//! bounds as its values. No weight of its own cells in its level is negative, so this level is no higher than that of the true
//! values would be. The reach of the interval does not depend on them: their residuals are never pooled. So the lower end of the
//! interval holds as often as that of the true values, and there is no upper one. Where only some of its values are bounds, it
//! may be suspected of its own variance, as others.

use super::BlockCell;
use super::fit::{Design, Fit};
use super::weights::{TrialVariance, squared_errors};
use crate::descriptive::{is_usable, raw_mean, raw_variance};
use crate::distribution::{f_p_upper, student_t_p_two_sided, student_t_quantile};
use std::collections::BTreeMap;

/// p · number of variants below which a variant is suspected of its own variance.
const SUSPECT_P: f64 = 0.3;
/// p · number of variants below which it is not pooled with the others.
const ODD_P: f64 = 0.02;

/// The model by least squares.
#[derive(Clone, Debug)]
pub(super) struct Pooled {
    /// All cells, for the correlations of differences.
    design: Design,
    /// `None`: fewer than two variants are free of lower bounds, so that each difference has its own scatter only.
    free: Option<FreeFit>,
    /// The fits of variants with lower bounds.
    bounded: BTreeMap<usize, Fit>,
    /// Variants that are suspected of their own variance.
    suspects: Vec<usize>,
}

/// The fit of the variants without lower bounds, and what they scatter by.
#[derive(Clone, Debug)]
struct FreeFit {
    fit: Fit,
    spread: TrialVariance,
}

/// The difference of two variants, before it has an interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct PooledPair {
    pub(super) difference: f64,
    /// By the pooled variance, with its degrees of freedom; `None`: there is none.
    pub(super) pooled: Option<(f64, f64)>,
    /// Standard error by the pair's own scatter and its degrees of freedom, where that counts.
    own: Option<(f64, f64)>,
    /// Whether the low and the high end of its interval are known.
    is_known: [bool; 2],
}

/// Cells with their squared errors.
#[derive(Clone, Copy)]
struct Measured<'a> {
    cells: &'a [BlockCell],
    errors: &'a [f64],
}

impl Measured<'_> {
    /// What `then` makes of the cells of some variants.
    fn only<T>(
        &self,
        is_in: impl Fn(usize) -> bool,
        then: impl FnOnce(&[BlockCell], &[f64]) -> Option<T>,
    ) -> Option<T> {
        let kept = self.cells.iter().zip(self.errors).filter(|(cell, _)| is_in(cell.variant));
        let (cells, errors): (Vec<BlockCell>, Vec<f64>) = kept.unzip();
        then(&cells, &errors)
    }
}

impl Pooled {
    /// Fits all cells; `None`: as [`super::BlockModel::fit`].
    pub(super) fn new(cells: &[BlockCell]) -> Option<Pooled> {
        let errors = squared_errors(cells);
        let measured = Measured { cells, errors: &errors };
        let plain = Design::new(cells, &errors, |_| 1.0)?;
        let is_bounded = |variant: &usize| cells.iter().any(|cell| cell.is_bound_of(*variant));
        let with_bounds: Vec<usize> = plain.variants.iter().copied().filter(is_bounded).collect();
        let mut suspects = Vec::new();
        let free = match plain.variants.len() - with_bounds.len() {
            0 => return None,
            1 => None,
            _ => Some(FreeFit::new(measured, &with_bounds, &mut suspects)?),
        };
        let weight = |error: f64| free.as_ref().map_or(1.0, |free| free.spread.weight(error));
        let design = Design::new(cells, &errors, weight)?;
        let fit_with = |variant: usize| {
            let is_in = |other: usize| !with_bounds.contains(&other) || other == variant;
            measured.only(is_in, |cells, errors| Fit::new(cells, errors, weight))
        };
        let bounded: BTreeMap<usize, Fit> =
            with_bounds.iter().filter_map(|variant| Some((*variant, fit_with(*variant)?))).collect();
        let count = design.variants.len() as f64;
        let scatters = |(variant, fit): (&usize, &Fit)| {
            // What blocks add to the true values is not in the bounds: if all are bounds, their scatter says nothing.
            let is_partly = cells.iter().any(|cell| cell.variant == *variant && !cell.is_lower_bound);
            let free = free.as_ref().filter(|_| is_partly)?;
            (extra_p(fit, &free.fit)? * count < SUSPECT_P).then_some(*variant)
        };
        suspects.extend(bounded.iter().filter_map(scatters));
        Some(Pooled { design, free, bounded, suspects })
    }

    /// The fit of the variants without lower bounds; `None`: there are fewer than two.
    pub(super) fn free_fit(&self) -> Option<&Fit> {
        self.free.as_ref().map(|free| &free.fit)
    }

    /// The variants, in order.
    pub(super) fn variants(&self) -> &[usize] {
        &self.design.variants
    }

    /// Root of the smallest correlation of two differences of these variants from this one.
    pub(super) fn share(&self, from: usize, others: &[usize]) -> f64 {
        let Some(from) = self.design.place(from) else { return 0.0 };
        let places: Vec<usize> = others.iter().filter_map(|variant| self.design.place(*variant)).collect();
        let correlation = |one: usize, other: usize| {
            let of = |pair: [usize; 2]| self.design.covariance(pair, from);
            of([one, other]) / (of([one, one]) * of([other, other])).sqrt()
        };
        let pairs = places.iter().flat_map(|one| places.iter().map(move |other| (*one, *other)));
        let least = pairs.map(|(one, other)| correlation(one, other)).fold(1.0, f64::min);
        // Rounded down, so that designs that differ by rounding only have the same bound.
        (least.clamp(0.0, 0.999).sqrt() * 1e6).floor() / 1e6
    }

    /// How much higher `to` is than `from`; `None`: one is not in the model, or both have lower bounds.
    pub(super) fn pair(&self, cells: &[BlockCell], from: usize, to: usize) -> Option<PooledPair> {
        let of = |variant| self.bounded.get(&variant);
        let fit = match (of(from), of(to), &self.free) {
            (Some(_), Some(_), _) => return None,
            (Some(fit), None, _) | (None, Some(fit), _) => fit,
            (None, None, free) => &free.as_ref()?.fit,
        };
        let (difference, parts) = fit.difference(from, to)?;
        let is_suspect = self.suspects.contains(&from) || self.suspects.contains(&to);
        let pooled = self.free.as_ref().map(|free| {
            let (variance, freedom) = free.spread.of_difference(parts.into_iter());
            (variance.sqrt(), freedom)
        });
        let own = (is_suspect || pooled.is_none()).then(|| own_scatter(cells, from, to));
        let is_known = [of(from).is_none(), of(to).is_none()];
        Some(PooledPair { difference, pooled, own, is_known })
    }
}

impl FreeFit {
    /// Pools the variance of all variants but the oddest and those that are left out, and adds those that are suspected of their
    /// own to `suspects`; `None`: they cannot be fitted, or nothing varies.
    fn new(measured: Measured, left_out: &[usize], suspects: &mut Vec<usize>) -> Option<FreeFit> {
        let without =
            |odd: Option<usize>| move |variant: usize| !left_out.contains(&variant) && Some(variant) != odd;
        let mut spread = measured.only(without(None), TrialVariance::of)?;
        let fit_without = |odd: Option<usize>| {
            measured.only(without(odd), |cells, errors| Fit::new(cells, errors, |error| spread.weight(error)))
        };
        let fit = fit_without(None)?;
        let mut oddest: Option<(f64, usize)> = None;
        for variant in &fit.design.variants {
            let Some(p) = fit_without(Some(*variant)).and_then(|rest| extra_p(&fit, &rest)) else { continue };
            let p = p * fit.design.variants.len() as f64;
            if p < SUSPECT_P {
                suspects.push(*variant);
            }
            if p < ODD_P && oddest.is_none_or(|(least, _)| p < least) {
                oddest = Some((p, *variant));
            }
        }
        if let Some((_, odd)) = oddest {
            spread = measured.only(without(Some(odd)), TrialVariance::of).unwrap_or(spread);
        }
        Some(FreeFit { fit, spread })
    }
}

/// p of the test whether what is in `fit` and not in `rest` scatters more than that; `None`: nothing is left to test.
fn extra_p(fit: &Fit, rest: &Fit) -> Option<f64> {
    let freedom = [fit.design.freedom - rest.design.freedom, rest.design.freedom];
    let part = (fit.squares - rest.squares) / freedom[0];
    let is_there = freedom[0] > 0.0 && part > 0.0;
    is_there.then(|| f_p_upper(part / rest.variance().max(f64::MIN_POSITIVE), freedom))
}

/// Standard error of a difference by the differences within blocks, and its degrees of freedom; infinite with fewer than
/// two of them.
fn own_scatter(cells: &[BlockCell], from: usize, to: usize) -> (f64, f64) {
    let value = |cell: &BlockCell| cell.value;
    let differences = super::differences(cells, (from, value), (to, value));
    match is_usable(&differences, 2) {
        true => {
            let count = differences.len() as f64;
            // Of differences that are all alike only rounding is known.
            let least = raw_mean(&differences).abs().max(1.0) * 1e-12;
            ((raw_variance(&differences) / count).sqrt().max(least), count - 1.0)
        }
        false => (f64::INFINITY, 1.0),
    }
}

impl PooledPair {
    /// How far the interval reaches on each side: as many standard errors as `bound` says for their degrees of freedom, and
    /// as far as the pair's own scatter says where that counts, which leaves out `tail` on each side.
    pub(super) fn reach(&self, bound: impl Fn(f64) -> f64, tail: f64) -> f64 {
        let own = self.own.map_or(0.0, |(error, freedom)| error * student_t_quantile(1.0 - tail, freedom));
        self.pooled.map_or(0.0, |(error, freedom)| bound(freedom) * error).max(own)
    }

    /// The ends of the interval that reaches so far; `None`: not known.
    pub(super) fn ends(&self, reach: f64) -> [Option<f64>; 2] {
        let [is_low, is_high] = self.is_known.map(|is_known| is_known && reach.is_finite());
        [is_low.then_some(self.difference - reach), is_high.then_some(self.difference + reach)]
    }

    /// Probability of such a difference by its own scatter; 0: that does not count.
    pub(super) fn own_p(&self) -> f64 {
        let (error, freedom) = self.own.unwrap_or((0.0, 1.0));
        if error > 0.0 { student_t_p_two_sided(self.difference / error, freedom) } else { 0.0 }
    }

    /// Whether the end that speaks for a difference is known.
    pub(super) fn can_differ(&self) -> bool {
        self.is_known[usize::from(self.difference < 0.0)]
    }
}
