//! Quantiles of a sample by three definitions, named so that nobody has to guess.
//!
//! [`nearest_rank`] is what HdrHistogram does and what reports print; [`linear`] is type 7 of R. Hyndman and Y. Fan
//! (1996), the default of R and numpy; [`harrell_davis`] (F. Harrell and C. Davis, *Biometrika* 69, 1982) weighs all
//! values and is the smoothest for small samples. Percentiles of parts are never averaged: the parts are merged
//! first.

use crate::descriptive::{is_usable, sorted};
use crate::distribution::beta_cdf;

fn usable_sorted(values: &[f64], ratio: f64) -> Option<Vec<f64>> {
    (is_usable(values, 1) && (0.0..=1.0).contains(&ratio)).then(|| sorted(values))
}

/// The least value that has at least this share of the values at or below it: the one of rank ⌈n·ratio⌉.
///
/// `None`: no value, one that is not finite, or a ratio that is not between 0 and 1.
pub fn nearest_rank(values: &[f64], ratio: f64) -> Option<f64> {
    let sorted = usable_sorted(values, ratio)?;
    // 0.99 · 100 is a little above 99: a rank is not raised by what rounding adds.
    let rank = (sorted.len() as f64 * ratio * (1.0 - 4.0 * f64::EPSILON)).ceil().max(1.0) as usize;
    Some(sorted[rank.min(sorted.len()) - 1])
}

/// Linear interpolation between the values at positions from 0 to n − 1 (type 7).
///
/// `None`: as [`nearest_rank`].
pub fn linear(values: &[f64], ratio: f64) -> Option<f64> {
    Some(linear_of_sorted(&usable_sorted(values, ratio)?, ratio))
}

/// [`linear`] for values in ascending order, of which there is at least one.
pub(crate) fn linear_of_sorted(sorted: &[f64], ratio: f64) -> f64 {
    let position = ratio * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (position - below as f64) * (sorted[above] - sorted[below])
}

/// The mean of all values, weighted by the probability that each has of being the quantile.
///
/// `None`: as [`nearest_rank`], or a ratio of exactly 0 or 1.
pub fn harrell_davis(values: &[f64], ratio: f64) -> Option<f64> {
    let sorted = usable_sorted(values, ratio).filter(|_| ratio > 0.0 && ratio < 1.0)?;
    let count = sorted.len() as f64;
    let shapes = [(count + 1.0) * ratio, (count + 1.0) * (1.0 - ratio)];
    let below: Vec<f64> = (0..=sorted.len()).map(|rank| beta_cdf(rank as f64 / count, shapes)).collect();
    Some(sorted.iter().zip(below.windows(2)).map(|(value, ends)| value * (ends[1] - ends[0])).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_the_least_and_the_greatest() {
        let values = [3.0, 1.0, 2.0];
        assert_eq!([0.0, 1.0].map(|ratio| nearest_rank(&values, ratio)), [Some(1.0), Some(3.0)]);
        assert_eq!([0.0, 1.0].map(|ratio| linear(&values, ratio)), [Some(1.0), Some(3.0)]);
        assert_eq!(
            (nearest_rank(&[], 0.5), linear(&values, 1.1), harrell_davis(&values, 1.0)),
            (None, None, None)
        );
    }

    #[test]
    fn a_whole_rank_is_not_raised_by_rounding() {
        let values: Vec<f64> = (1..=1000).map(f64::from).collect();
        for percent in 1..=100 {
            let ratio = f64::from(percent) / 100.0;
            assert_eq!(nearest_rank(&values, ratio), Some(f64::from(percent * 10)));
        }
    }
}
