//! Ranks of a sample, with ties sharing the mean of their ranks, and Spearman's correlation of ranks.

use crate::descriptive::{is_usable, raw_mean};
use crate::distribution::student_t_p_two_sided;

/// Ranks from 1 in the order of the sample; equal values share the mean of the ranks that they occupy.
///
/// Values that are not numbers rank last.
pub fn midranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for group in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let rank = start as f64 + (group.len() + 1) as f64 / 2.0;
        group.iter().for_each(|index| ranks[*index] = rank);
        start += group.len();
    }
    ranks
}

/// Sizes of the groups of equal values, in ascending order of the values.
pub(crate) fn tie_counts(values: &[f64]) -> Vec<usize> {
    let sorted = crate::descriptive::sorted(values);
    sorted.chunk_by(|a, b| a == b).map(<[f64]>::len).collect()
}

/// A correlation with the probability of one as strong without dependence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correlation {
    /// From −1 to 1.
    pub rho: f64,
    /// Two-sided p by Student's t with n − 2 degrees of freedom.
    pub p_two_sided: f64,
}

/// Spearman's correlation between each value of a series and the next: a check for dependence in time.
///
/// `None`: fewer than four values, one that is not finite, or all equal.
pub fn spearman_lag_one(series: &[f64]) -> Option<Correlation> {
    if !is_usable(series, 4) {
        return None;
    }
    let (earlier, later) = (midranks(&series[..series.len() - 1]), midranks(&series[1..]));
    let (mean_earlier, mean_later) = (raw_mean(&earlier), raw_mean(&later));
    let (mut product, mut square_earlier, mut square_later) = (0.0, 0.0, 0.0);
    for (a, b) in earlier.iter().zip(&later) {
        product += (a - mean_earlier) * (b - mean_later);
        square_earlier += (a - mean_earlier).powi(2);
        square_later += (b - mean_later).powi(2);
    }
    if square_earlier == 0.0 || square_later == 0.0 {
        return None;
    }
    let rho = (product / (square_earlier * square_later).sqrt()).clamp(-1.0, 1.0);
    let freedom = earlier.len() as f64 - 2.0;
    let remainder = 1.0 - rho * rho;
    let p_two_sided = if remainder == 0.0 {
        0.0
    } else {
        student_t_p_two_sided(rho * (freedom / remainder).sqrt(), freedom)
    };
    Some(Correlation { rho, p_two_sided })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_ranks() {
        assert_eq!(midranks(&[3.0, 1.0, 3.0, 2.0]), [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(tie_counts(&[3.0, 1.0, 3.0, 2.0]), [1, 1, 2]);
    }

    #[test]
    fn a_rising_series_follows_itself() {
        assert_eq!(spearman_lag_one(&[1.0, 2.0, 4.0, 8.0, 9.0]).map(|found| found.rho), Some(1.0));
        assert_eq!(spearman_lag_one(&[1.0; 9]), None);
    }
}
