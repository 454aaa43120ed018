//! Where the level of a series changes: the best single split by energy distance.
//!
//! E-divisive (D. Matteson and N. James, *JASA* 109, 2014) with exponent 1. For a left part X of n
//! and a right part Y of m values, which may end before the series does,
//!
//! ```text
//! Q = nm/(n+m) · [ 2/(nm) ΣΣ|x_i − y_j|  −  2/(n(n−1)) Σ_{i<k}|x_i − x_k|  −  2/(m(m−1)) Σ_{i<k}|y_i − y_k| ]
//! ```
//!
//! is maximized over the split and the end. Significance is that of a permutation test, p = (1 + number of
//! permutations with at least the statistic) ÷ (1 + permutations). Limits: values are taken as exchangeable, so a
//! slow drift also shows as a change; the series is at most [`SERIES_COUNT_MAX`] long, since time and memory are
//! quadratic.

use crate::descriptive::is_usable;
use rand::Rng;
use rand::seq::SliceRandom;

/// The longest series that is searched: about a quarter of an hour of one-second values, 8 MiB of distances.
pub const SERIES_COUNT_MAX: usize = 1_024;

/// The split that separates a series best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value of the right part.
    pub index: usize,
    /// Index after the last value of the right part.
    pub end: usize,
    /// The statistic Q. Unit: that of the series.
    pub q: f64,
}

/// The split with the greatest Q whose parts have at least `part_count_min` values (at least two).
///
/// Of equal ones the first; the right part may end before the series does. Cost: quadratic.
/// `None`: fewer values than two parts need, more than [`SERIES_COUNT_MAX`], or one that is not finite.
pub fn best_split(series: &[f64], part_count_min: usize) -> Option<ChangePoint> {
    let part = part_count_min.max(2);
    if !is_usable(series, part.checked_mul(2)?) || series.len() > SERIES_COUNT_MAX {
        return None;
    }
    let distances = PrefixDistances::of(series);
    let mut best: Option<ChangePoint> = None;
    let mut within_left = 0.0;
    for index in 1..=series.len() - part {
        within_left += distances.sum(index - 1, 0, index - 1);
        if index < part {
            continue;
        }
        let found = distances.best_end(index, within_left, part);
        if best.is_none_or(|best| found.q > best.q) {
            best = Some(found);
        }
    }
    best
}

/// Sums of the distances of each value to those before it.
struct PrefixDistances {
    count: usize,
    /// Row k, column i: Σ_{l<i} |x_l − x_k|, for i ≤ k.
    sums: Vec<f64>,
}

impl PrefixDistances {
    fn of(series: &[f64]) -> PrefixDistances {
        let count = series.len();
        let mut sums = vec![0.0; count * count];
        for (row, value) in series.iter().enumerate() {
            for column in 0..row {
                sums[row * count + column + 1] = sums[row * count + column] + (series[column] - value).abs();
            }
        }
        PrefixDistances { count, sums }
    }

    /// Σ |x_l − x_row| over `begin` ≤ l < `end`, where `end` ≤ row.
    fn sum(&self, row: usize, begin: usize, end: usize) -> f64 {
        self.sums[row * self.count + end] - self.sums[row * self.count + begin]
    }

    /// The end that gives the greatest Q for this split.
    fn best_end(&self, index: usize, within_left: f64, part: usize) -> ChangePoint {
        let mut best = ChangePoint { index, end: self.count, q: f64::NEG_INFINITY };
        let (mut within_right, mut across) = (0.0, 0.0);
        for last in index..self.count {
            across += self.sum(last, 0, index);
            within_right += self.sum(last, index, last);
            let end = last + 1;
            if end - index < part {
                continue;
            }
            let (n, m) = (index as f64, (end - index) as f64);
            let left = 2.0 * within_left / (n * (n - 1.0));
            let right = 2.0 * within_right / (m * (m - 1.0));
            let q = n * m / (n + m) * (2.0 * across / (n * m) - left - right);
            if q > best.q {
                best = ChangePoint { index, end, q };
            }
        }
        best
    }
}

/// The probability of a split at least as good in a series without order, from random permutations.
///
/// Cost: `permutations` times that of [`best_split`].
/// `None`: as [`best_split`].
pub fn permutation_p<R: Rng>(
    series: &[f64],
    part_count_min: usize,
    permutations: u32,
    rng: &mut R,
) -> Option<f64> {
    let seen = best_split(series, part_count_min)?;
    let mut shuffled = series.to_vec();
    let mut at_least_count = 0;
    for _ in 0..permutations {
        shuffled.shuffle(rng);
        at_least_count += u32::from(best_split(&shuffled, part_count_min)?.q >= seen.q);
    }
    Some(f64::from(1 + at_least_count) / (1.0 + f64::from(permutations)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn a_step_is_found_where_it_is() {
        let series: Vec<f64> =
            (0..60).map(|index| if index < 37 { 10.0 } else { 12.0 } + f64::from(index % 3) * 0.1).collect();
        let found = best_split(&series, 5).expect("long enough");
        assert_eq!(found.index, 37);
        let p =
            permutation_p(&series, 5, 99, &mut Xoshiro256PlusPlus::seed_from_u64(1)).expect("long enough");
        assert_eq!(p, 0.01);
    }

    #[test]
    fn a_series_without_a_step_has_an_ordinary_split() {
        let series: Vec<f64> =
            (0..40_u32).map(|index| f64::from(index.wrapping_mul(2_654_435_761) >> 16)).collect();
        let p =
            permutation_p(&series, 2, 99, &mut Xoshiro256PlusPlus::seed_from_u64(2)).expect("long enough");
        assert!(p > 0.1, "{p}");
    }

    #[test]
    fn a_series_that_is_too_short_or_too_long_is_refused() {
        assert_eq!(best_split(&[1.0, 2.0, 3.0], 2), None);
        assert_eq!(best_split(&vec![1.0; SERIES_COUNT_MAX + 1], 2), None);
        assert_eq!(best_split(&[1.0; 8], usize::MAX), None);
    }
}
