//! The effect of a change from paired trials: the Hodges–Lehmann interval that belongs to Wilcoxon's signed-rank test.
//!
//! Each pair of neighboring trials gives one difference, usually d = ln(B/A). Under "no effect" its sign is a coin
//! toss, since the order of the trials was one, so with the ranks of |d| the sum of the positive ones has a known
//! exact distribution, whatever the noise. Inverting the test gives an interval from the sorted Walsh averages W = {
//! (d_i + d_j)/2 : i ≤ j }, M = n(n+1)/2 (J. Hodges and E. Lehmann, *Annals of Mathematical Statistics* 34, 1963; M.
//! Hollander and D. Wolfe, *Nonparametric Statistical Methods*):
//!
//! ```text
//! k = max { k : P(T ≤ k−1) ≤ α/2 },   interval = [ W_(k), W_(M+1−k) ],   estimate = median of W
//! ```
//!
//! Limits: differences must be symmetric around the effect, which pairing of exchangeable trials gives; below 6 pairs
//! there is no 95% interval. Exact up to [`EXACT_COUNT_MAX`] pairs, normal approximation above. Time and memory are
//! quadratic.

use crate::descriptive::{is_usable, median_of_sorted, sorted};
use crate::distribution::{normal_cdf, normal_quantile};
use crate::estimate::{Estimate, critical_rank, half_alpha, is_level};

/// Up to this many differences the null distribution is exact.
pub const EXACT_COUNT_MAX: usize = 200;

/// The most differences that are taken; two million Walsh averages.
pub const COUNT_MAX: usize = 2_000;

/// How far the Walsh averages of `count` differences are cut from both ends: the rank k of the lower end, from 1, and of
/// the upper end from above; 0 when no finite interval has the level.
///
/// `None`: no difference, more than [`COUNT_MAX`], or `level` is not strictly between 0 and 1.
pub(crate) fn rank_of_cut(count: usize, level: f64) -> Option<usize> {
    if count == 0 || count > COUNT_MAX || !is_level(level) {
        return None;
    }
    let half_alpha = half_alpha(level);
    Some(if count > EXACT_COUNT_MAX {
        rank_of_cut_normal(count, half_alpha)
    } else {
        critical_rank(&null_probabilities(count), half_alpha)
    })
}

fn rank_of_cut_normal(count: usize, half_alpha: f64) -> usize {
    let n = count as f64;
    let (mean, deviation) = (n * (n + 1.0) / 4.0, (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt());
    (mean - 0.5 + normal_quantile(half_alpha) * deviation).floor().max(0.0) as usize
}

/// The probability of each two-sided p and less without an effect, as p itself: by the lesser of the sums of positive and of
/// negative ranks, rounded down.
///
/// `None`: no difference, or more than [`COUNT_MAX`].
pub(crate) fn p_values(count: usize) -> Option<Vec<f64>> {
    if count == 0 || count > COUNT_MAX {
        return None;
    }
    if count > EXACT_COUNT_MAX {
        let n = count as f64;
        let (mean, deviation) = (n * (n + 1.0) / 4.0, (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt());
        let p = |sum: usize| (2.0 * normal_cdf((sum as f64 + 0.5 - mean) / deviation)).min(1.0);
        return Some((0..=count * (count + 1) / 4).map(p).collect());
    }
    let probabilities = null_probabilities(count);
    let sums = probabilities[..=count * (count + 1) / 4].iter().scan(0.0, |sum, probability| {
        *sum += 2.0 * probability;
        Some(sum.min(1.0))
    });
    Some(sums.collect())
}

/// Probability of each sum of positive ranks without an effect: each rank is in the sum or not, with equal probability,
/// which is one convolution per rank.
fn null_probabilities(count: usize) -> Vec<f64> {
    let mut probabilities = vec![0.0; count * (count + 1) / 2 + 1];
    probabilities[0] = 1.0;
    let mut greatest = 0;
    for rank in 1..=count {
        greatest += rank;
        for sum in (0..=greatest).rev() {
            let with = if sum >= rank { probabilities[sum - rank] } else { 0.0 };
            probabilities[sum] = (probabilities[sum] + with) / 2.0;
        }
    }
    probabilities
}

/// The typical difference (median of the Walsh averages) without an interval.
///
/// `None`: no difference, more than [`COUNT_MAX`], or one that is not finite.
pub fn hodges_lehmann_point(differences: &[f64]) -> Option<f64> {
    Some(median_of_sorted(&walsh_averages(differences)?))
}

/// The typical difference with its exact interval.
///
/// `None`: too few differences for a finite interval at this level, more than [`COUNT_MAX`], one that is not finite, or
/// `level` is not strictly between 0 and 1.
pub fn hodges_lehmann(differences: &[f64], level: f64) -> Option<Estimate> {
    let averages = walsh_averages(differences)?;
    let rank = rank_of_cut(differences.len(), level)?;
    if rank == 0 {
        return None;
    }
    let (low, high) = (averages[rank - 1], averages[averages.len() - rank]);
    Some(Estimate { point: median_of_sorted(&averages), low, high, level })
}

/// All means of two differences, each with itself too, in ascending order.
fn walsh_averages(differences: &[f64]) -> Option<Vec<f64>> {
    if !is_usable(differences, 1) || differences.len() > COUNT_MAX {
        return None;
    }
    let mut averages = Vec::with_capacity(differences.len() * (differences.len() + 1) / 2);
    for (index, first) in differences.iter().enumerate() {
        averages.extend(differences[index..].iter().map(|second| (first + second) / 2.0));
    }
    Some(sorted(&averages))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_pairs_have_no_interval_at_95_percent_and_six_have() {
        assert_eq!(hodges_lehmann(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95), None);
        let six = hodges_lehmann(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0.95).expect("a finite interval");
        assert_eq!((six.point, six.low, six.high), (3.5, 1.0, 6.0));
        assert_eq!(hodges_lehmann(&[], 0.95), None);
        assert_eq!(hodges_lehmann(&[1.0; 8], 1.0), None);
    }

    #[test]
    fn the_exact_distribution_meets_its_approximation() {
        let exact = rank_of_cut(EXACT_COUNT_MAX, 0.95).expect("a level");
        let approximate = rank_of_cut_normal(EXACT_COUNT_MAX, 0.025);
        assert!(exact.abs_diff(approximate) <= 4, "{exact} {approximate}");
    }
}
