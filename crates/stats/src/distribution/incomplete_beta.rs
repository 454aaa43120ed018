//! The regularized incomplete beta function, both tails of it, each to its own precision.
//!
//! Continued fraction 8.17.22 of the NIST *Digital Library of Mathematical Functions*, evaluated by Lentz's method on
//! the side of the mean where it converges fast (8.17.4 mirrors it). The number of terms grows with the square root
//! of the greater shape; [`TERMS_MAX`] is enough for shapes up to 1e8.

use statrs::function::gamma::ln_gamma;

/// Terms after which the continued fraction ends.
const TERMS_MAX: u32 = 50_000;

/// The probabilities below and above a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tails {
    pub lower: f64,
    pub upper: f64,
}

impl Tails {
    fn mirrored(self) -> Tails {
        Tails { lower: self.upper, upper: self.lower }
    }
}

/// A point between 0 and 1 with its distance from 1, given apart so that neither end loses digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub x: f64,
    pub rest: f64,
}

/// Both tails of the beta distribution at a point.
pub(super) fn beta_tails(point: Point, [a, b]: [f64; 2]) -> Tails {
    if point.x <= 0.0 {
        return Tails { lower: 0.0, upper: 1.0 };
    }
    if point.rest <= 0.0 {
        return Tails { lower: 1.0, upper: 0.0 };
    }
    if point.x > (a + 1.0) / (a + b + 2.0) {
        return beta_tails_near_zero(Point { x: point.rest, rest: point.x }, [b, a]).mirrored();
    }
    beta_tails_near_zero(point, [a, b])
}

fn beta_tails_near_zero(point: Point, [a, b]: [f64; 2]) -> Tails {
    let lower = (ln_beta_density(point, [a, b]) + point.x.ln() + point.rest.ln() - a.ln()).exp()
        * continued_fraction(point.x, [a, b]);
    let lower = lower.clamp(0.0, 1.0);
    Tails { lower, upper: 1.0 - lower }
}

/// Logarithm of the beta density at a point strictly between 0 and 1.
fn ln_beta_density(point: Point, [a, b]: [f64; 2]) -> f64 {
    (a - 1.0) * point.x.ln() + (b - 1.0) * point.rest.ln() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b)
}

/// 1 ÷ (1 + d₁ ÷ (1 + d₂ ÷ (1 + …))) of DLMF 8.17.22.
fn continued_fraction(x: f64, [a, b]: [f64; 2]) -> f64 {
    let not_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut value, mut ratio, mut inverse) = (1.0, 1.0, 0.0);
    for term in 0..TERMS_MAX {
        let m = f64::from(term / 2);
        let coefficient = match term {
            0 => 1.0,
            odd if odd % 2 == 1 => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
            _ => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
        };
        inverse = 1.0 / not_zero(1.0 + coefficient * inverse);
        ratio = if term == 0 { f64::INFINITY } else { not_zero(1.0 + coefficient / ratio) };
        let factor = if term == 0 { inverse } else { ratio * inverse };
        value *= factor;
        if term > 0 && (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lower(x: f64, shapes: [f64; 2]) -> f64 {
        beta_tails(Point { x, rest: 1.0 - x }, shapes).lower
    }

    #[test]
    fn simple_shapes_have_closed_forms() {
        for x in [1e-9, 0.1, 0.5, 0.77, 1.0 - 1e-9] {
            assert!((lower(x, [1.0, 1.0]) - x).abs() <= 1e-14);
            assert!((lower(x, [3.0, 1.0]) - x.powi(3)).abs() <= 1e-14);
            assert!((lower(x, [1.0, 4.0]) - (1.0 - (1.0 - x).powi(4))).abs() <= 1e-14);
            assert!((lower(x, [2.0, 2.0]) - x * x * (3.0 - 2.0 * x)).abs() <= 1e-14);
        }
    }

    #[test]
    fn half_of_a_symmetric_distribution_lies_below_its_middle() {
        for shape in [0.5, 5.0, 1e3, 1e6] {
            assert!((lower(0.5, [shape, shape]) - 0.5).abs() < 1e-8, "{shape}");
        }
    }
}
