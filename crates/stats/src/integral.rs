//! Numerical integration of smooth functions.

/// Parts of equal width that a range is cut into; even.
pub(crate) const PARTS: u32 = 128;

/// Integral of a smooth function by Simpson's rule on [`PARTS`] parts: the function is called at their ends, in order.
pub(crate) fn simpson([low, high]: [f64; 2], function: impl Fn(f64) -> f64) -> f64 {
    let step = (high - low) / f64::from(PARTS);
    let weight = |index| match index {
        0 | PARTS => 1.0,
        odd if odd % 2 == 1 => 4.0,
        _ => 2.0,
    };
    (0..=PARTS).map(|index| weight(index) * function(low + f64::from(index) * step)).sum::<f64>() * step / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_density_integrates_to_one() {
        let total = simpson([-9.0, 9.0], |x| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt());
        assert!((total - 1.0).abs() < 1e-9, "{total}");
    }

    #[test]
    fn cubic_functions_are_exact() {
        assert!((simpson([0.0, 2.0], |x| x * x * x) - 4.0).abs() < 1e-12);
    }
}
