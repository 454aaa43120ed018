//! The effect of a change from paired trials: Wilcoxon's signed-rank test and the Hodges–Lehmann interval that
//! belongs to it.
//!
//! Each pair of neighbouring trials gives one difference, usually d = ln(B/A). Under "no effect" its sign is a coin
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
//! there is no 95 % interval. Exact up to [`EXACT_COUNT_MAX`] pairs, normal approximation above. Time and memory are
//! quadratic.

use crate::descriptive::{is_positive, is_usable, median_of_sorted, sorted};
use crate::distribution::{normal_cdf, normal_quantile};
use crate::estimate::{Estimate, is_level};
use crate::rank::{midranks, tie_counts};

/// Up to this many differences the null distribution is exact.
pub const EXACT_COUNT_MAX: usize = 200;

/// The most differences that are taken; two million Walsh averages.
pub const COUNT_MAX: usize = 2_000;

/// Whether a greater value of a metric is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Such as a rate.
    HigherIsBetter,
    /// Such as a latency or a cost.
    LowerIsBetter,
}

/// The logarithm of B ÷ A of each pair, signed so that positive is an improvement.
///
/// `None`: slices of different length, or a value that is not positive and finite.
pub fn log_ratios(a: &[f64], b: &[f64], direction: Direction) -> Option<Vec<f64>> {
    if a.len() != b.len() || !is_positive(a, 0) || !is_positive(b, 0) {
        return None;
    }
    let sign = match direction {
        Direction::HigherIsBetter => 1.0,
        Direction::LowerIsBetter => -1.0,
    };
    Some(a.iter().zip(b).map(|(a, b)| sign * (b / a).ln()).collect())
}

/// How far the Walsh averages are cut from both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CriticalRank {
    /// Rank k of the lower end, from 1, and of the upper end from above; 0 when no finite interval has the level.
    pub rank: usize,
    /// The confidence that the interval really has: at least the level asked for.
    pub achieved_level: f64,
}

/// The critical rank for `count` differences.
///
/// `None`: no difference, more than [`COUNT_MAX`], or `level` is not strictly between 0 and 1.
pub fn critical_rank(count: usize, level: f64) -> Option<CriticalRank> {
    if count == 0 || count > COUNT_MAX || !is_level(level) {
        return None;
    }
    // Levels such as 0.9 are not exact: one part in 10^12 is theirs.
    let half_alpha = (1.0 - level) / 2.0 * (1.0 + 1e-12);
    if count > EXACT_COUNT_MAX {
        return Some(critical_rank_normal(count, half_alpha));
    }
    let null = NullDistribution::of_ranks(&(1..=count).map(|rank| 2 * rank).collect::<Vec<_>>());
    let mut rank = 0;
    let (mut cumulative, mut below) = (0.0, 0.0);
    for probability in null.probabilities.iter().step_by(2) {
        cumulative += probability;
        if cumulative > half_alpha {
            break;
        }
        below = cumulative;
        rank += 1;
    }
    Some(CriticalRank { rank, achieved_level: 1.0 - 2.0 * below })
}

fn critical_rank_normal(count: usize, half_alpha: f64) -> CriticalRank {
    let n = count as f64;
    let (mean, deviation) = (n * (n + 1.0) / 4.0, (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt());
    let rank = (mean - 0.5 + normal_quantile(half_alpha) * deviation).floor().max(0.0);
    let below = normal_cdf((rank - 0.5 - mean) / deviation);
    CriticalRank { rank: rank as usize, achieved_level: 1.0 - 2.0 * below }
}

/// The null distribution of the sum of positive ranks, in half ranks so that shared ranks are whole numbers.
struct NullDistribution {
    /// Probability of each sum of doubled ranks.
    probabilities: Vec<f64>,
}

impl NullDistribution {
    /// Each rank is in the sum or not, with equal probability: one convolution per rank.
    fn of_ranks(doubled_ranks: &[usize]) -> NullDistribution {
        let mut probabilities = vec![0.0; doubled_ranks.iter().sum::<usize>() + 1];
        probabilities[0] = 1.0;
        let mut greatest = 0;
        for rank in doubled_ranks {
            greatest += rank;
            for sum in (0..=greatest).rev() {
                let with = if sum >= *rank { probabilities[sum - rank] } else { 0.0 };
                probabilities[sum] = (probabilities[sum] + with) / 2.0;
            }
        }
        NullDistribution { probabilities }
    }

    /// Probability of a sum at least as far from the middle; the distribution is symmetric.
    fn p_two_sided(&self, doubled_sum: usize) -> f64 {
        let nearer_end = doubled_sum.min(self.probabilities.len() - 1 - doubled_sum);
        (2.0 * self.probabilities[..=nearer_end].iter().sum::<f64>()).min(1.0)
    }
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
    let rank = critical_rank(differences.len(), level)?.rank;
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

/// The result of a signed-rank test.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedRank {
    /// Sum of the ranks of the positive differences.
    pub positive_rank_sum: f64,
    /// Probability of a sum at least as far from the middle without an effect.
    pub p_two_sided: f64,
    /// Differences that are not zero; only these are ranked.
    pub nonzero_count: usize,
    /// Ranks of the absolute differences that are not zero, in their order.
    pub ranks: Vec<f64>,
}

/// Wilcoxon's signed-rank test that the differences are symmetric around zero. Zeros are dropped; equal ones share
/// ranks, and the distribution is exact given those ranks.
///
/// `None`: no difference, more than [`COUNT_MAX`], or one that is not finite.
pub fn signed_rank_test(differences: &[f64]) -> Option<SignedRank> {
    if !is_usable(differences, 1) || differences.len() > COUNT_MAX {
        return None;
    }
    let nonzero: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    let sizes: Vec<f64> = nonzero.iter().map(|difference| difference.abs()).collect();
    let ranks = midranks(&sizes);
    let is_positive = nonzero.iter().map(|difference| *difference > 0.0);
    let positive_rank_sum: f64 =
        ranks.iter().zip(is_positive).filter(|(_, is)| *is).map(|(rank, _)| rank).sum();
    let p_two_sided = if nonzero.len() > EXACT_COUNT_MAX {
        p_two_sided_normal(&sizes, positive_rank_sum)
    } else {
        let doubled: Vec<usize> = ranks.iter().map(|rank| (2.0 * rank) as usize).collect();
        NullDistribution::of_ranks(&doubled).p_two_sided((2.0 * positive_rank_sum) as usize)
    };
    Some(SignedRank { positive_rank_sum, p_two_sided, nonzero_count: nonzero.len(), ranks })
}

/// Normal approximation with continuity correction and the variance reduced for ties.
fn p_two_sided_normal(sizes: &[f64], positive_rank_sum: f64) -> f64 {
    let n = sizes.len() as f64;
    let ties: f64 = tie_counts(sizes).into_iter().map(|count| (count as f64).powi(3) - count as f64).sum();
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    let distance = ((positive_rank_sum - n * (n + 1.0) / 4.0).abs() - 0.5).max(0.0);
    (2.0 * normal_cdf(-distance / variance.sqrt())).min(1.0)
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
        let exact = critical_rank(EXACT_COUNT_MAX, 0.95).expect("a level");
        let approximate = critical_rank_normal(EXACT_COUNT_MAX, 0.025);
        assert!(exact.rank.abs_diff(approximate.rank) <= 4, "{exact:?} {approximate:?}");
        assert!((exact.achieved_level - approximate.achieved_level).abs() < 1e-3);
        let shifted: Vec<f64> = (0..200).map(|index| f64::from((index * 37) % 200) - 90.0).collect();
        let test = signed_rank_test(&shifted).expect("finite");
        let sizes: Vec<f64> = shifted.iter().filter(|d| **d != 0.0).map(|d| d.abs()).collect();
        let approximate = p_two_sided_normal(&sizes, test.positive_rank_sum);
        assert!((test.p_two_sided / approximate - 1.0).abs() < 0.01, "{} {approximate}", test.p_two_sided);
    }

    #[test]
    fn only_zeros_say_nothing() {
        let test = signed_rank_test(&[0.0; 9]).expect("finite");
        assert_eq!((test.nonzero_count, test.p_two_sided), (0, 1.0));
    }

    #[test]
    fn ratios_are_signed_by_what_is_better() {
        assert_eq!(log_ratios(&[2.0], &[2.0], Direction::HigherIsBetter), Some(vec![0.0]));
        assert_eq!(log_ratios(&[1.0], &[2.0], Direction::LowerIsBetter), Some(vec![-(2f64.ln())]));
        assert_eq!(log_ratios(&[0.0], &[2.0], Direction::LowerIsBetter), None);
    }
}
