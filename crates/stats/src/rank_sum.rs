//! Two unpaired samples: the Mann–Whitney test and the Hodges–Lehmann shift.
//!
//! For comparisons with history, where trials could not be interleaved. U counts the pairs (x, y) with y > x, ties as
//! half; without ties its null distribution is exact by counting (H. Mann and D. Whitney, *Annals of Mathematical
//! Statistics* 18, 1947); with ties the normal approximation with corrected variance is used. The shift
//! y − x is the median of all pairwise differences D, with the interval [D_(k), D_(mn+1−k)], k = max { k : P(U ≤ k−1)
//! ≤ α/2 }.
//!
//! Limits: the two samples share no environment, so a difference says that now differs from then, not why.

use crate::descriptive::{is_usable, median_of_sorted, sorted, tie_counts};
use crate::distribution::normal_cdf;
use crate::estimate::{Estimate, critical_rank, half_alpha, is_level};

/// The most values of one sample that are taken: the exact distribution costs their product squared.
pub const COUNT_MAX: usize = 100;

/// The result of a Mann–Whitney test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MannWhitney {
    /// Pairs in which y is greater, ties counted as half.
    pub u_y: f64,
    /// Exact two-sided p; `None` when there are ties.
    pub p_exact: Option<f64>,
    /// Two-sided p by the normal approximation, with continuity correction and corrected for ties.
    pub p_normal: f64,
}

/// Whether y tends to be greater or smaller than x.
///
/// `None`: an empty sample, one with more than [`COUNT_MAX`] values, or a value that is not finite.
pub fn mann_whitney(x: &[f64], y: &[f64]) -> Option<MannWhitney> {
    if !are_usable(x, y) {
        return None;
    }
    let wins = |y: &f64| {
        x.iter().map(|x| f64::from(u8::from(y > x)) + 0.5 * f64::from(u8::from(y == x))).sum::<f64>()
    };
    let u_y: f64 = y.iter().map(wins).sum();
    let pairs = (x.len() * y.len()) as f64;
    let u_far = u_y.max(pairs - u_y);
    let ties = tie_counts(&[x, y].concat());
    let has_ties = ties.iter().any(|count| *count > 1);
    let p_exact = (!has_ties).then(|| {
        let tail: f64 = null_probabilities(x.len(), y.len())[u_far as usize..].iter().sum();
        (2.0 * tail).min(1.0)
    });
    let total = (x.len() + y.len()) as f64;
    let tie_term: f64 = ties.iter().map(|count| (*count as f64).powi(3) - *count as f64).sum();
    let variance = pairs / 12.0 * (total + 1.0 - tie_term / (total * (total - 1.0)));
    let distance = (u_far - pairs / 2.0 - 0.5).max(0.0);
    let p_normal =
        if variance > 0.0 { (2.0 * normal_cdf(-distance / variance.sqrt())).min(1.0) } else { 1.0 };
    Some(MannWhitney { u_y, p_exact, p_normal })
}

fn are_usable(x: &[f64], y: &[f64]) -> bool {
    is_usable(x, 1) && is_usable(y, 1) && x.len() <= COUNT_MAX && y.len() <= COUNT_MAX
}

/// Probability of each U from 0 to mn without an effect and without ties.
///
/// The greatest of all m + n values is a y with probability n ÷ (m + n), and then beats all m of x; otherwise it adds
/// nothing. Only positive terms are added up, so that the tails keep their digits.
fn null_probabilities(x_count: usize, y_count: usize) -> Vec<f64> {
    // One distribution for each number of x, with the number of y so far; without any y, U is 0.
    let mut rows = vec![vec![1.0]; x_count + 1];
    for y in 1..=y_count {
        // Without any x, U is 0 too.
        for x in 1..=x_count {
            let y_share = y as f64 / (x + y) as f64;
            let mut row: Vec<f64> = vec![0.0; x * y + 1];
            rows[x - 1].iter().enumerate().for_each(|(u, p)| row[u] += (1.0 - y_share) * p);
            rows[x].iter().enumerate().for_each(|(u, p)| row[u + x] += y_share * p);
            rows[x] = row;
        }
    }
    rows.swap_remove(x_count)
}

/// The typical difference y − x of two unpaired samples. Unit: that of the samples.
///
/// `None`: as [`mann_whitney`], or too few values for a finite interval at this level.
pub fn hodges_lehmann_shift(x: &[f64], y: &[f64], level: f64) -> Option<Estimate> {
    if !are_usable(x, y) || !is_level(level) {
        return None;
    }
    let rank = critical_rank(&null_probabilities(x.len(), y.len()), half_alpha(level));
    if rank == 0 {
        return None;
    }
    let differences: Vec<f64> = y.iter().flat_map(|y| x.iter().map(move |x| y - x)).collect();
    let differences = sorted(&differences);
    let (low, high) = (differences[rank - 1], differences[differences.len() - rank]);
    Some(Estimate { point: median_of_sorted(&differences), low, high, level })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_null_distribution_counts_all_orders() {
        let probabilities = null_probabilities(2, 2);
        let expected = [1.0, 1.0, 2.0, 1.0, 1.0].map(|ways: f64| ways / 6.0);
        probabilities.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-15));
        let largest = null_probabilities(COUNT_MAX, COUNT_MAX);
        let total: f64 = largest.iter().sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
        assert!(largest.iter().all(|probability| *probability >= 0.0), "probabilities");
        let mut mirrored = largest.iter().zip(largest.iter().rev());
        assert!(mirrored.all(|(a, b)| (a - b).abs() <= 1e-12 * a), "the distribution is symmetric");
    }

    #[test]
    fn equal_samples_do_not_differ() {
        let test = mann_whitney(&[1.0; 5], &[1.0; 6]).expect("values");
        assert_eq!((test.p_exact, test.p_normal, test.u_y), (None, 1.0, 15.0));
        assert_eq!(mann_whitney(&[], &[1.0]), None);
        assert_eq!(hodges_lehmann_shift(&[1.0, 2.0], &[3.0], 0.95), None);
    }
}
