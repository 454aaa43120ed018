//! Many comparisons at once: p-values adjusted for their number.
//!
//! S. Holm (1979) bounds the probability of any false claim, for a declared family; C. Dunnett (*JASA* 50, 1955) compares
//! several unpaired samples with one control.

use crate::descriptive::{is_usable, raw_mean, sum_of_squares};
use crate::distribution::{normal_cdf, student_t_p_two_sided, student_t_quantile};
use crate::integral::simpson;
use statrs::function::gamma::ln_gamma;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Holm's step-down adjusted p-values, in the order given.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut adjusted = vec![0.0; p.len()];
    let mut floor: f64 = 0.0;
    for (rank, index) in ascending(p).into_iter().enumerate() {
        floor = floor.max((p.len() - rank) as f64 * p[index]).min(1.0);
        adjusted[index] = floor;
    }
    adjusted
}

fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    order
}

/// One sample compared with the control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DunnettTest {
    /// Difference of the means ÷ its standard error, with the variance of all samples pooled.
    pub t: f64,
    /// Two-sided p, adjusted for the number of samples; good to about 1e-6.
    pub p: f64,
}

/// Dunnett's comparison of unpaired samples with one control.
///
/// `None`: no sample, one with fewer than two values or a value that is not finite, or no variance.
pub fn dunnett(control: &[f64], samples: &[&[f64]]) -> Option<Vec<DunnettTest>> {
    if samples.is_empty() || !is_usable(control, 2) || !samples.iter().all(|sample| is_usable(sample, 2)) {
        return None;
    }
    let all = || std::iter::once(&control).chain(samples);
    let freedom = all().map(|sample| sample.len() - 1).sum::<usize>() as f64;
    let variance = all().map(|sample| sum_of_squares(sample)).sum::<f64>() / freedom;
    if variance <= 0.0 {
        return None;
    }
    let control_count = control.len() as f64;
    let shares: Vec<f64> = samples
        .iter()
        .map(|sample| (sample.len() as f64 / (sample.len() as f64 + control_count)).sqrt())
        .collect();
    let test = |sample: &&[f64]| {
        let error = (variance * (1.0 / sample.len() as f64 + 1.0 / control_count)).sqrt();
        let t = (raw_mean(sample) - raw_mean(control)) / error;
        DunnettTest { t, p: (1.0 - all_within(Sidedness::Two, t.abs(), &shares, freedom)).clamp(0.0, 1.0) }
    };
    Some(samples.iter().map(test).collect())
}

/// On which sides a statistic may exceed its bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sidedness {
    One,
    Two,
}

/// The probability that no statistic exceeds `bound`: Dunnett's double integral over the control's mean and the pooled
/// standard deviation, by Simpson's rule. The correlation of two statistics is the product of their `shares`. `bound` is at
/// least 0.
pub(crate) fn all_within(sides: Sidedness, bound: f64, shares: &[f64], freedom: f64) -> f64 {
    if shares.len() == 1 {
        let outside = student_t_p_two_sided(bound, freedom);
        return 1.0 - if sides == Sidedness::One { outside / 2.0 } else { outside };
    }
    let deviation_reach = 8.0 / (2.0 * freedom).sqrt();
    let low = (1.0 - deviation_reach).max(0.0);
    let alike = if shares.windows(2).all(|two| two[0] == two[1]) { shares.len() as i32 } else { 1 };
    let different = if alike > 1 { &shares[..1] } else { shares };
    simpson([low, 1.0 + deviation_reach], |deviation| {
        if deviation <= 0.0 {
            return 0.0;
        }
        chi_density(deviation, freedom)
            * simpson([-8.0, 8.0], |z| {
                let within = |share: &f64| {
                    let rest = (1.0 - share * share).sqrt();
                    let reach = bound * deviation;
                    let below = match sides {
                        Sidedness::One => 0.0,
                        Sidedness::Two => normal_cdf((share * z - reach) / rest),
                    };
                    normal_cdf((share * z + reach) / rest) - below
                };
                let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
                density * different.iter().map(within).product::<f64>().powi(alike)
            })
    })
}

/// The bound that none of `count` statistics exceeds with probability `level`, good to about 1e-4; any two have the same
/// correlation, the square of `share`.
///
/// The metrics of an experiment have the same bounds, so they are kept.
pub(crate) fn critical(sides: Sidedness, (count, share): (usize, f64), freedom: f64, level: f64) -> f64 {
    let bits: Bits = [share, freedom, level].map(f64::to_bits);
    let key = (sides, count, bits);
    let known = CRITICAL.with_borrow(|known| known.get(&key).copied());
    known.unwrap_or_else(|| {
        let bound = search(sides, &vec![share; count], freedom, level);
        CRITICAL.with_borrow_mut(|known| {
            if known.len() >= CRITICAL_MAX {
                known.clear();
            }
            known.insert(key, bound);
        });
        bound
    })
}

/// Bounds that are kept, at most.
const CRITICAL_MAX: usize = 1_000;

/// Share, degrees of freedom, and level, bit by bit.
type Bits = [u64; 3];

thread_local! {
    static CRITICAL: RefCell<BTreeMap<(Sidedness, usize, Bits), f64>> = const { RefCell::new(BTreeMap::new()) };
}

fn search(sides: Sidedness, shares: &[f64], freedom: f64, level: f64) -> f64 {
    let tails = if sides == Sidedness::One { 1.0 } else { 2.0 };
    let alone = |alpha: f64| student_t_quantile(1.0 - alpha / tails, freedom);
    // Between that of one statistic and that of as many unrelated ones as the union bound allows.
    let (mut low, mut high) = (alone(1.0 - level), alone((1.0 - level) / shares.len() as f64));
    if shares.len() < 2 {
        return low;
    }
    while high - low > 1e-4 * high {
        let middle = (low + high) / 2.0;
        if all_within(sides, middle, shares, freedom) < level { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// Density of a standard deviation estimated with `freedom` degrees of freedom, relative to the true one.
fn chi_density(deviation: f64, freedom: f64) -> f64 {
    let half = freedom / 2.0;
    (std::f64::consts::LN_2 + half * half.ln() - ln_gamma(half) + (freedom - 1.0) * deviation.ln()
        - half * deviation * deviation)
        .exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_comparison_needs_no_adjustment() {
        assert_eq!(holm(&[0.03]), [0.03]);
        assert!(holm(&[]).is_empty());
        for (control, sample) in
            [([1.0, 2.0].as_slice(), [3.0, 4.5].as_slice()), (&[1.0, 2.0, 3.0, 4.0], &[3.0, 4.0, 5.0, 7.0])]
        {
            let test = dunnett(control, &[sample]).expect("usable")[0];
            let freedom = (control.len() + sample.len() - 2) as f64;
            assert!((test.p - student_t_p_two_sided(test.t, freedom)).abs() < 1e-6, "{test:?}");
        }
    }

    #[test]
    fn critical_values_are_those_of_the_tables() {
        // C. Dunnett, *Biometrics* 20 (1964), tables II and III, and *JASA* 50 (1955), table 1: equal groups, 5%.
        for (sides, count, freedom, expected) in [
            (Sidedness::Two, 2, 10.0, 2.57),
            (Sidedness::Two, 3, 6.0, 3.10),
            (Sidedness::Two, 9, 20.0, 2.95),
            (Sidedness::One, 3, 10.0, 2.34),
            (Sidedness::One, 4, 20.0, 2.30),
        ] {
            let found = critical(sides, (count, 0.5f64.sqrt()), freedom, 0.95);
            assert!((found - expected).abs() < 0.006, "{sides:?} {count} {freedom}: {found}");
        }
    }

    #[test]
    fn adjusted_values_keep_the_order_given() {
        assert_eq!(holm(&[0.5, 0.01, 0.04]), [0.5, 0.03, 0.08]);
    }

    #[test]
    fn samples_without_variance_are_not_compared() {
        assert_eq!(dunnett(&[1.0, 1.0], &[&[2.0, 2.0]]), None);
    }
}
