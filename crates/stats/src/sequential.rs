//! Looking at a test more than once: bounds that keep the promised error rate.
//!
//! C. Jennison and B. Turnbull, *Group Sequential Methods* (2000), tables 2.1 and 2.3, two-sided 5%, equally spaced
//! looks: S. Pocock's constant bound, and P. O'Brien and T. Fleming's, which is strict early and almost the fixed one
//! at the end. For users who insist on stopping at significance; the normal rule of [`crate::verdict::stop_reason`]
//! looks at the width and needs none of this.

use crate::distribution::normal_cdf;
use crate::integral::{PARTS, simpson};

/// The most looks that bounds are tabulated for.
pub const LOOKS_MAX: usize = 5;

/// How the error is spent over the looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spending {
    /// The same bound at each look.
    Pocock,
    /// Strict early, almost the fixed bound at the last look.
    OBrienFleming,
}

/// Bounds for 2 to [`LOOKS_MAX`] looks.
const POCOCK: [f64; 4] = [2.178, 2.289, 2.361, 2.413];

/// Bounds of the last of 2 to [`LOOKS_MAX`] looks.
const O_BRIEN_FLEMING: [f64; 4] = [1.977, 2.004, 2.024, 2.040];

/// The |z| that each of `looks` equally spaced looks must exceed for an overall two-sided error of 5%.
///
/// `None`: fewer than two looks or more than [`LOOKS_MAX`].
pub fn bounds(spending: Spending, looks: usize) -> Option<Vec<f64>> {
    let row = looks.checked_sub(2)?;
    match spending {
        Spending::Pocock => Some(vec![*POCOCK.get(row)?; looks]),
        Spending::OBrienFleming => {
            let last = O_BRIEN_FLEMING.get(row)?;
            Some((1..=looks).map(|look| last * (looks as f64 / look as f64).sqrt()).collect())
        }
    }
}

/// The two-sided p that goes with a bound: the significance level to test at in that look.
pub fn nominal_p(bound: f64) -> f64 {
    2.0 * normal_cdf(-bound)
}

/// The probability that a test without an effect exceeds one of these bounds at its look.
///
/// The density of the sum of increments that has stayed within all bounds so far is carried from look to look (P.
/// Armitage, C. McPherson, B. Rowe, 1969) on a grid of 129 points; good to about 1e-6. `bounds` are positive.
pub fn overall_alpha(bounds: &[f64]) -> f64 {
    let normal = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let mut kept = 1.0;
    let mut previous: Option<Grid> = None;
    for (look, bound) in bounds.iter().enumerate() {
        let reach = bound * ((look + 1) as f64).sqrt();
        let density = |sum: f64| match &previous {
            None => normal(sum),
            Some(grid) => grid.integrate(|before| normal(sum - before)),
        };
        let grid = Grid::sample(reach, density);
        kept = grid.integrate(|_| 1.0);
        previous = Some(grid);
    }
    1.0 - kept
}

/// A function at evenly spaced points of [−reach, reach].
struct Grid {
    reach: f64,
    values: Vec<f64>,
}

impl Grid {
    fn sample(reach: f64, function: impl Fn(f64) -> f64) -> Grid {
        let step = 2.0 * reach / f64::from(PARTS);
        Grid { reach, values: (0..=PARTS).map(|index| function(f64::from(index) * step - reach)).collect() }
    }

    /// Integral of the sampled function times another; both are evaluated at the points of [`simpson`].
    fn integrate(&self, factor: impl Fn(f64) -> f64) -> f64 {
        let step = 2.0 * self.reach / f64::from(PARTS);
        simpson([-self.reach, self.reach], |x| {
            let index = ((x + self.reach) / step).round() as usize;
            self.values[index.min(self.values.len() - 1)] * factor(x)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_look_has_its_own_error() {
        assert!((overall_alpha(&[1.959_963_985]) - 0.05).abs() < 1e-7);
        assert!(overall_alpha(&[]).abs() < 1e-12);
    }

    #[test]
    fn bounds_are_tabulated_for_two_to_five_looks() {
        for spending in [Spending::Pocock, Spending::OBrienFleming] {
            assert!([0, 1, 6].iter().all(|looks| bounds(spending, *looks).is_none()));
            for looks in 2..=LOOKS_MAX {
                let error = overall_alpha(&bounds(spending, looks).expect("tabulated"));
                assert!((error - 0.05).abs() < 2e-4, "{spending:?} {looks}: {error}");
            }
        }
    }
}
