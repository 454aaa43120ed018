//! Goodness of fit: are the gaps between arrivals exponential, as a Poisson process was planned to have them?
//!
//! Anderson–Darling statistic with estimated mean. Critical values are those of M. Stephens (1974, *JASA* 69) for the
//! modified statistic A²(1 + 0.6/n), as tabulated in `scipy.stats.anderson` 1.17. Limits: gaps must be independent;
//! with very many gaps any departure is found, so callers sample at most [`GAP_COUNT_MAX`] of them.

use crate::descriptive::{is_usable, raw_mean, sorted};
use statrs::function::gamma::checked_gamma_lr;

/// The modified statistic that 15 % of truly exponential samples exceed.
pub const CRITICAL_15_PERCENT: f64 = 0.916;

/// The modified statistic that 10 % of truly exponential samples exceed.
pub const CRITICAL_10_PERCENT: f64 = 1.062;

/// The modified statistic that 5 % of truly exponential samples exceed.
pub const CRITICAL_5_PERCENT: f64 = 1.321;

/// The modified statistic that 2.5 % of truly exponential samples exceed.
pub const CRITICAL_2_5_PERCENT: f64 = 1.591;

/// The modified statistic that 1 % of truly exponential samples exceed.
pub const CRITICAL_1_PERCENT: f64 = 1.959;

/// The statistic that 1 % of samples of a wholly known distribution exceed (G. and J. Marsaglia, "Evaluating the
/// Anderson–Darling distribution", *J. Stat. Software* 9, 2004; 3.857 in the tables of M. Stephens).
pub const CRITICAL_KNOWN_1_PERCENT: f64 = 3.878;

/// Fewest gaps for which the critical values hold.
pub const GAP_COUNT_MIN: usize = 5;

/// Gaps that callers sample at most: enough to see a wrong process, too few to see the clock's grain.
pub const GAP_COUNT_MAX: usize = 1_000;

/// Gaps below this share of the mean, zero among them, are taken as this share: a clock's grain is not an atom.
const LEAST_GAP_RATIO: f64 = 1e-9;

/// How far a sample is from the exponential distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AndersonDarling {
    /// The statistic A².
    pub a_squared: f64,
    /// A²(1 + 0.6/n), which is compared with the critical values.
    pub a_squared_star: f64,
    /// Mean gap, the estimated parameter. Unit: that of the gaps.
    pub mean_gap: f64,
    /// Number of gaps.
    pub count: usize,
}

impl AndersonDarling {
    /// Whether an exponential sample would be this far off in less than 5 % of cases.
    pub fn is_rejected_at_5_percent(&self) -> bool {
        self.a_squared_star > CRITICAL_5_PERCENT
    }

    /// Whether an exponential sample would be this far off in less than 1 % of cases.
    pub fn is_rejected_at_1_percent(&self) -> bool {
        self.a_squared_star > CRITICAL_1_PERCENT
    }
}

/// The Anderson–Darling distance of the gaps from an exponential distribution with their mean.
///
/// `None`: fewer than [`GAP_COUNT_MIN`] gaps, a negative one, one that is not finite, or all zero.
pub fn anderson_darling_exponential(gaps: &[f64]) -> Option<AndersonDarling> {
    if !is_usable(gaps, GAP_COUNT_MIN) || gaps.iter().any(|gap| *gap < 0.0) {
        return None;
    }
    let mean_gap = raw_mean(gaps);
    if mean_gap <= 0.0 || !mean_gap.is_finite() {
        return None;
    }
    let units: Vec<f64> = sorted(gaps).iter().map(|gap| (gap / mean_gap).max(LEAST_GAP_RATIO)).collect();
    let count = units.len() as f64;
    let sum: f64 = units
        .iter()
        .zip(units.iter().rev())
        .enumerate()
        .map(|(index, (low, high))| (2 * index + 1) as f64 * ((-(-low).exp_m1()).ln() - high))
        .sum();
    let a_squared = -count - sum / count;
    Some(AndersonDarling {
        a_squared,
        a_squared_star: a_squared * (1.0 + 0.6 / count),
        mean_gap,
        count: gaps.len(),
    })
}

/// Where a sum of `terms` exponential gaps of this mean lies in its distribution, 0 to 1: the gamma distribution.
///
/// `None`: no term, a mean that is not positive, or a gap that is negative or not finite.
pub fn gamma_share(gap: f64, terms: u32, mean_gap: f64) -> Option<f64> {
    let units = gap / mean_gap;
    let is_usable = terms > 0 && mean_gap > 0.0 && units.is_finite() && units >= 0.0;
    if !is_usable {
        return None;
    }
    if units == 0.0 { Some(0.0) } else { checked_gamma_lr(f64::from(terms), units).ok() }
}

/// Shares this near to 0 or 1 are taken as this near: a clock's grain is not an atom.
const LEAST_SHARE: f64 = 1e-9;

/// The Anderson–Darling statistic A² of values that are uniform between 0 and 1 if they are what they should be: no
/// parameter is estimated, and its critical value at 1 % is [`CRITICAL_KNOWN_1_PERCENT`].
///
/// `None`: fewer than [`GAP_COUNT_MIN`] values, or one outside 0 to 1.
pub fn anderson_darling_uniform(shares: &[f64]) -> Option<f64> {
    if !is_usable(shares, GAP_COUNT_MIN) || shares.iter().any(|share| !(0.0..=1.0).contains(share)) {
        return None;
    }
    let clamped: Vec<f64> =
        sorted(shares).iter().map(|share| share.clamp(LEAST_SHARE, 1.0 - LEAST_SHARE)).collect();
    let count = clamped.len() as f64;
    let pairs = clamped.iter().zip(clamped.iter().rev()).enumerate();
    let sum: f64 =
        pairs.map(|(index, (low, high))| (2 * index + 1) as f64 * (low.ln() + (-high).ln_1p())).sum();
    Some(-count - sum / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_gaps_are_not_exponential() {
        let fit = anderson_darling_exponential(&[1.0; 50]).expect("enough gaps");
        assert!(fit.is_rejected_at_1_percent() && fit.is_rejected_at_5_percent());
    }

    #[test]
    fn the_quantiles_of_the_exponential_fit_it() {
        let gaps: Vec<f64> = (0..200).map(|rank| -(1.0 - (f64::from(rank) + 0.5) / 200.0).ln()).collect();
        let fit = anderson_darling_exponential(&gaps).expect("enough gaps");
        assert!(fit.a_squared_star < 0.1, "{fit:?}");
    }

    #[test]
    fn a_gap_of_zero_is_finite_and_unusable_samples_have_no_fit() {
        let fit = anderson_darling_exponential(&[0.0, 0.5, 1.0, 1.5, 2.0]).expect("enough gaps");
        assert!(fit.a_squared.is_finite());
        assert_eq!(anderson_darling_exponential(&[0.0; 9]), None);
        assert_eq!(anderson_darling_exponential(&[1.0, 2.0, -1.0, 3.0, 4.0]), None);
        assert_eq!(anderson_darling_exponential(&[1.0; 4]), None);
    }

    #[test]
    fn known_shares_have_known_statistics() {
        // By hand: n = 5, u = 0.1, 0.3, 0.5, 0.7, 0.9.
        let statistic = anderson_darling_uniform(&[0.5, 0.1, 0.9, 0.3, 0.7]).expect("enough");
        let by_hand = [0.1f64, 0.3, 0.5, 0.7, 0.9];
        let sum: f64 = (0..5).map(|i| (2 * i + 1) as f64 * 2.0 * by_hand[i].ln()).sum();
        assert!((statistic - (-5.0 - sum / 5.0)).abs() < 1e-12, "{statistic}");
        assert!(anderson_darling_uniform(&[0.5; 50]).expect("enough") > CRITICAL_KNOWN_1_PERCENT);
        assert!(anderson_darling_uniform(&[0.0; 50]).expect("enough").is_finite());
        assert_eq!(anderson_darling_uniform(&[0.5, 0.5, 0.5, 0.5, 1.5]), None);
    }

    #[test]
    fn one_gap_is_exponential_and_many_are_nearly_normal() {
        let share = gamma_share(2.0, 1, 1.0).expect("usable");
        assert!((share - (1.0 - (-2f64).exp())).abs() < 1e-12, "{share}");
        let median = gamma_share(9.669, 10, 1.0).expect("usable");
        assert!((median - 0.5).abs() < 1e-3, "{median}");
        assert_eq!(
            (gamma_share(0.0, 3, 1.0), gamma_share(1.0, 0, 1.0), gamma_share(1.0, 1, 0.0)),
            (Some(0.0), None, None)
        );
    }
}
