//! How many pairs an experiment will need, from the noise of its first ones.
//!
//! With s the standard deviation of the paired log ratios and Δ = ln(1 + MEI) (S. Julious, *Sample Sizes for Clinical
//! Trials*, 2010, for paired normal differences):
//!
//! ```text
//! to see a difference   P(|T_{n−1,√n Δ/s}| > t_{1−α/2,n−1}) ≥ power, with the noncentral t distribution
//! to prove "same"       n ≥ (t_{1−α,n−1} + t_{1−β/2,n−1})² s²/Δ²
//! to end definite       2 t_{1−α/2,n−1} s/√n ≤ Δ
//! ```
//!
//! Limits: for planning only; rank intervals need about 5% more pairs, and a pilot's s is itself uncertain.

use crate::distribution::{normal_cdf, student_t_quantile};
use crate::estimate::is_level;

/// More pairs than this are not worth planning.
pub const PAIRS_MAX: u64 = 1_000_000;

/// The error rates that a plan accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorRates {
    /// Probability of a false claim, two-sided.
    pub alpha: f64,
    /// Probability of seeing what is there.
    pub power: f64,
}

/// Pairs needed to see a true effect of Δ with exactly this power, by the noncentral t distribution.
///
/// `noise_margins` is s ÷ Δ.
/// `None`: more than [`PAIRS_MAX`], or an argument outside its domain.
pub fn pairs_to_see_exact(noise_margins: f64, rates: ErrorRates) -> Option<u64> {
    is_plan(noise_margins, rates).then_some(())?;
    least_pairs(|pairs, _| {
        power(pairs as u64, noise_margins, rates.alpha).is_some_and(|found| found >= rates.power)
    })
}

/// Pairs needed to prove "same" when there is no effect.
///
/// `None`: as [`pairs_to_see_exact`].
pub fn pairs_to_prove_same(noise_margins: f64, rates: ErrorRates) -> Option<u64> {
    let ErrorRates { alpha, power } = rates;
    is_plan(noise_margins, rates).then_some(())?;
    least_pairs(|pairs, freedom| {
        let miss = (1.0 - power) / 2.0;
        let quantiles = student_t_quantile(1.0 - alpha, freedom) + student_t_quantile(1.0 - miss, freedom);
        pairs >= (quantiles * noise_margins).powi(2)
    })
}

/// Pairs needed for an interval of level 1 − α that is no wider than Δ, after which the verdict is always definite.
///
/// `None`: as [`pairs_to_see_exact`].
pub fn pairs_to_end(noise_margins: f64, alpha: f64) -> Option<u64> {
    is_plan(noise_margins, ErrorRates { alpha, power: 0.5 }).then_some(())?;
    least_pairs(|pairs, freedom| {
        2.0 * student_t_quantile(1.0 - alpha / 2.0, freedom) * noise_margins <= pairs.sqrt()
    })
}

fn is_plan(noise_margins: f64, rates: ErrorRates) -> bool {
    noise_margins > 0.0 && noise_margins.is_finite() && is_level(rates.alpha) && is_level(rates.power)
}

/// The least number of pairs from 2 on that is enough; what is enough stays enough with more.
fn least_pairs(is_enough: impl Fn(f64, f64) -> bool) -> Option<u64> {
    let is_enough = |pairs: u64| is_enough(pairs as f64, pairs as f64 - 1.0);
    let mut high = 2;
    while !is_enough(high) {
        high *= 2;
        if high > PAIRS_MAX {
            return None;
        }
    }
    let mut low = high / 2;
    while high - low > 1 && high > 2 {
        let middle = low.midpoint(high);
        if is_enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// The probability that a paired t test at `alpha`, two-sided, sees a true effect of Δ when s ÷ Δ is `noise_margins`.
///
/// `None`: fewer than two pairs, or an argument outside its domain.
pub fn power(pairs: u64, noise_margins: f64, alpha: f64) -> Option<f64> {
    if pairs < 2 || !is_plan(noise_margins, ErrorRates { alpha, power: 0.5 }) {
        return None;
    }
    let freedom = (pairs - 1) as f64;
    let critical = student_t_quantile(1.0 - alpha / 2.0, freedom);
    let shift = (pairs as f64).sqrt() / noise_margins;
    // T = (Z + δ)/S: given S, T > c is Z > cS − δ.
    Some(mean_over_chi(freedom, |deviation| {
        normal_cdf(shift - critical * deviation) + normal_cdf(-shift - critical * deviation)
    }))
}

/// Mean of a function of S = √(χ²/ν), by the trapezoidal rule on ln S: the density there, proportional to exp(ν(u −
/// e^{2u}/2)), falls off fast enough on both sides for the rule to converge exponentially.
fn mean_over_chi(freedom: f64, function: impl Fn(f64) -> f64) -> f64 {
    let step = 0.05 / freedom.sqrt();
    let (mut weights, mut sum) = (0.0, 0.0);
    for direction in [-1.0, 1.0] {
        // The middle is summed with the second direction.
        let mut index: f64 = if direction < 0.0 { 1.0 } else { 0.0 };
        loop {
            let at = direction * index * step;
            let weight = (freedom * (at - ((2.0 * at).exp() - 1.0) / 2.0)).exp();
            weights += weight;
            sum += weight * function(at.exp());
            if weight < 1e-18 {
                break;
            }
            index += 1.0;
        }
    }
    sum / weights
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: ErrorRates = ErrorRates { alpha: 0.05, power: 0.8 };

    #[test]
    fn less_noise_needs_fewer_pairs() {
        let needed: Vec<_> = [0.01, 0.5, 1.0, 2.0, 10.0].map(|noise| pairs_to_see_exact(noise, USUAL)).into();
        assert!(needed.is_sorted() && needed[0] == Some(2), "{needed:?}");
        assert_eq!(pairs_to_prove_same(1e6, USUAL), None);
        assert_eq!(pairs_to_end(0.0, 0.05), None);
    }

    #[test]
    fn power_without_an_effect_is_the_false_positive_rate() {
        let found = power(12, 1e9, 0.05).expect("a plan");
        assert!((found - 0.05).abs() < 1e-8, "{found}");
        assert_eq!(power(1, 1.0, 0.05), None);
    }
}
