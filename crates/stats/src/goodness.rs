//! Goodness of fit: are the gaps between arrivals those of the Poisson process that was planned?
//!
//! [`gamma_share`] turns gaps into shares that are uniform if the plan was kept, and the Anderson–Darling statistic tells
//! how far they are from it. Limits: gaps must be independent; with very many gaps any departure is found.

use crate::descriptive::{is_usable, sorted};
use statrs::function::gamma::checked_gamma_lr;

/// The statistic that 1% of samples of a wholly known distribution exceed (G. and J. Marsaglia, "Evaluating the
/// Anderson–Darling distribution", *J. Stat. Software* 9, 2004; 3.857 in the tables of M. Stephens).
pub const CRITICAL_KNOWN_1_PERCENT: f64 = 3.878;

/// Fewest gaps for which the critical value holds.
pub const GAP_COUNT_MIN: usize = 5;

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
/// parameter is estimated, and its critical value at 1% is [`CRITICAL_KNOWN_1_PERCENT`].
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
