//! Quantiles and distribution functions of the reference distributions that intervals and tests are built on.
//!
//! The normal and gamma functions are those of the crate `statrs`; its quantiles are good to about 1e-9 in the middle
//! and wrong far out, and its incomplete beta function ends after 140 terms, so both are our own. Limits: from one
//! degree of freedom; for probabilities between 1e-6 and 1 − 1e-6, where intervals live, the relative error is below
//! 1e-10 up to 1e4 degrees of freedom, and below 1e-5 where the normal distribution takes over at 1e6.
//!
//! An argument outside its domain is a mistake of ours and panics; functions that take levels from outside check them
//! first.

mod binomial;
mod incomplete_beta;

#[cfg(test)]
pub(crate) use binomial::binomial_cdf;
pub use binomial::binomial_quantile;

use incomplete_beta::{Point, Tails, beta_tails};
use statrs::distribution::{Continuous, ContinuousCDF, Normal};
use statrs::function::gamma::ln_gamma;

/// Above this many degrees of freedom the normal distribution takes the place of Student's t.
const FREEDOM_MAX: f64 = 1e6;

/// The value below which a standard normal variable lies with this probability.
///
/// Panics: `probability` is not strictly between 0 and 1.
pub fn normal_quantile(probability: f64) -> f64 {
    quantile(&Normal::standard(), probability)
}

/// The probability that a standard normal variable is at most `value`.
pub fn normal_cdf(value: f64) -> f64 {
    Normal::standard().cdf(value)
}

/// The value below which a Student t variable lies with this probability.
///
/// Panics: `probability` is not strictly between 0 and 1, or `freedom` (degrees of freedom) is not positive.
pub fn student_t_quantile(probability: f64, freedom: f64) -> f64 {
    if freedom > FREEDOM_MAX {
        return normal_quantile(probability);
    }
    quantile(&StudentT::new(freedom), probability)
}

/// The probability that a Student t variable is at most `value`.
///
/// Panics: `freedom` (degrees of freedom) is not positive.
fn student_t_cdf(value: f64, freedom: f64) -> f64 {
    if freedom > FREEDOM_MAX {
        return normal_cdf(value);
    }
    StudentT::new(freedom).tails(value).lower
}

/// The two-sided p of a t statistic: the probability of one at least as far from 0.
///
/// Panics: `freedom` (degrees of freedom) is not positive.
pub fn student_t_p_two_sided(statistic: f64, freedom: f64) -> f64 {
    (2.0 * student_t_cdf(-statistic.abs(), freedom)).min(1.0)
}

/// The probability that a beta variable is at most `value`.
///
/// Panics: a shape is not positive.
pub fn beta_cdf(value: f64, shapes: [f64; 2]) -> f64 {
    assert!(shapes.iter().all(|shape| *shape > 0.0), "shapes are positive");
    beta_tails(Point { x: value, rest: 1.0 - value }, shapes).lower
}

/// The probability that a variable of Fisher's F distribution is above `value`.
///
/// Panics: a number of degrees of freedom is not positive.
pub fn f_p_upper(value: f64, [above, below]: [f64; 2]) -> f64 {
    assert!(above > 0.0 && below > 0.0, "degrees of freedom are positive");
    let scaled = above * value.max(0.0);
    if scaled.is_infinite() {
        return 0.0;
    }
    let point = Point { x: scaled / (scaled + below), rest: below / (scaled + below) };
    beta_tails(point, [above / 2.0, below / 2.0]).upper
}

/// What the search for a quantile needs of a distribution.
trait Distribution {
    fn tails(&self, value: f64) -> Tails;
    fn density(&self, value: f64) -> f64;
    /// The ends of the support.
    fn support(&self) -> [f64; 2];
}

impl Distribution for Normal {
    fn tails(&self, value: f64) -> Tails {
        Tails { lower: self.cdf(value), upper: self.sf(value) }
    }
    fn density(&self, value: f64) -> f64 {
        self.pdf(value)
    }
    fn support(&self) -> [f64; 2] {
        [f64::NEG_INFINITY, f64::INFINITY]
    }
}

struct StudentT {
    freedom: f64,
}

impl StudentT {
    fn new(freedom: f64) -> StudentT {
        assert!(freedom > 0.0, "degrees of freedom are positive");
        StudentT { freedom }
    }
}

impl Distribution for StudentT {
    /// P(|T| > t) is the incomplete beta function of ν/2 and 1/2 at ν ÷ (ν + t²) (DLMF 8.17, Abramowitz and Stegun
    /// 26.7.1).
    fn tails(&self, value: f64) -> Tails {
        let square = value * value;
        let point =
            Point { x: self.freedom / (self.freedom + square), rest: square / (self.freedom + square) };
        let outside = beta_tails(point, [self.freedom / 2.0, 0.5]);
        let (far, near) = (outside.lower / 2.0, 0.5 + outside.upper / 2.0);
        if value < 0.0 { Tails { lower: far, upper: near } } else { Tails { lower: near, upper: far } }
    }
    fn density(&self, value: f64) -> f64 {
        let half = (self.freedom + 1.0) / 2.0;
        let scale =
            ln_gamma(half) - ln_gamma(self.freedom / 2.0) - (self.freedom * std::f64::consts::PI).ln() / 2.0;
        (scale - half * (value * value / self.freedom).ln_1p()).exp()
    }
    fn support(&self) -> [f64; 2] {
        [f64::NEG_INFINITY, f64::INFINITY]
    }
}

/// Steps after which the search for a quantile ends; halving alone needs about 100 for the smallest that is used.
const STEPS_MAX: usize = 200;

/// The quantile of a continuous distribution: Newton steps, kept in a bracket that is halved when a step leaves it.
fn quantile(distribution: &impl Distribution, probability: f64) -> f64 {
    assert!(probability > 0.0 && probability < 1.0, "a probability is strictly between 0 and 1");
    // The smaller tail keeps its digits.
    let excess = |value: f64| {
        let tails = distribution.tails(value);
        if probability < 0.5 { tails.lower - probability } else { (1.0 - probability) - tails.upper }
    };
    let [mut low, mut high] = bracket(distribution.support(), excess);
    let mut value = (low + high) / 2.0;
    for _ in 0..STEPS_MAX {
        let at = excess(value);
        if at > 0.0 {
            high = value;
        } else {
            low = value;
        }
        let mut next = value - at / distribution.density(value);
        if !(next > low && next < high) {
            next = (low + high) / 2.0;
        }
        let step = (next - value).abs();
        if at == 0.0 || step <= 1e-15 * value.abs() {
            break;
        }
        value = next;
    }
    value
}

/// Two values between which the quantile lies.
fn bracket(support: [f64; 2], excess: impl Fn(f64) -> f64) -> [f64; 2] {
    let (mut low, mut high) = (support[0].max(-2.0), support[1].min(2.0));
    while low > support[0] && excess(low) > 0.0 {
        low *= 2.0;
    }
    while high < support[1] && excess(high) < 0.0 {
        high *= 2.0;
    }
    [low, high]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_invert_their_distribution_functions() {
        for probability in [1e-6, 0.001, 0.025, 0.3, 0.5, 0.8, 0.995, 1.0 - 1e-6] {
            for freedom in [1.0, 2.0, 7.0, 40.0, 1000.0, 1e4] {
                let t = student_t_quantile(probability, freedom);
                check(&format!("t {freedom}"), StudentT::new(freedom).tails(t), probability);
            }
            check("normal", Normal::standard().tails(normal_quantile(probability)), probability);
        }
    }

    fn check(what: &str, actual: Tails, probability: f64) {
        let (actual, expected) =
            if probability < 0.5 { (actual.lower, probability) } else { (actual.upper, 1.0 - probability) };
        assert!((actual - expected).abs() <= 1e-10 * expected, "{what}: {actual} instead of {expected}");
    }

    #[test]
    fn the_t_distribution_lies_between_cauchy_and_normal() {
        for value in [-3.0, -1e-7, 0.0, 1e-7, 0.4, 5.0_f64] {
            let cauchy = 0.5 + value.atan() / std::f64::consts::PI;
            assert!((student_t_cdf(value, 1.0) - cauchy).abs() < 1e-14);
            assert!((student_t_cdf(value, 1e8) - normal_cdf(value)).abs() < 1e-7);
        }
        assert_eq!(student_t_quantile(0.5, 4.0), 0.0);
    }

    #[test]
    #[should_panic(expected = "strictly between 0 and 1")]
    fn a_level_of_one_has_no_quantile() {
        normal_quantile(1.0);
    }
}
