//! Many comparisons at once: p-values adjusted for their number.
//!
//! S. Holm (1979) bounds the probability of any false claim, for a declared family; C. Dunnett (*JASA* 50, 1955) compares
//! several unpaired samples with one control.

use crate::descriptive::{is_usable, raw_mean, sum_of_squares};
use crate::distribution::normal_cdf;
use crate::integral::simpson;
use statrs::function::gamma::ln_gamma;

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
        DunnettTest { t, p: (1.0 - all_within(t.abs(), &shares, freedom)).clamp(0.0, 1.0) }
    };
    Some(samples.iter().map(test).collect())
}

/// The probability that no statistic exceeds `bound`: Dunnett's double integral over the control's mean and the pooled
/// standard deviation, by Simpson's rule.
fn all_within(bound: f64, shares: &[f64], freedom: f64) -> f64 {
    let deviation_reach = 8.0 / (2.0 * freedom).sqrt();
    let low = (1.0 - deviation_reach).max(0.0);
    simpson([low, 1.0 + deviation_reach], |deviation| {
        if deviation <= 0.0 {
            return 0.0;
        }
        chi_density(deviation, freedom)
            * simpson([-8.0, 8.0], |z| {
                let within = |share: &f64| {
                    let rest = (1.0 - share * share).sqrt();
                    let reach = bound * deviation;
                    normal_cdf((share * z + reach) / rest) - normal_cdf((share * z - reach) / rest)
                };
                let density = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
                density * shares.iter().map(within).product::<f64>()
            })
    })
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
    use crate::distribution::student_t_p_two_sided;

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
    fn adjusted_values_keep_the_order_given() {
        assert_eq!(holm(&[0.5, 0.01, 0.04]), [0.5, 0.03, 0.08]);
    }

    #[test]
    fn samples_without_variance_are_not_compared() {
        assert_eq!(dunnett(&[1.0, 1.0], &[&[2.0, 2.0]]), None);
    }
}
