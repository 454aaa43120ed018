//! Descriptions of a sample: center and spread.
//!
//! All functions return `None` for a sample that is too small or that has a value that is not finite or of a magnitude
//! beyond 1e±60, which no measurement has; they never return an infinite value or NaN.

/// Sizes beyond this, or below its inverse, are not measurements; their powers would overflow or vanish.
const SIZE_MAX: f64 = 1e60;

/// Whether the sample has at least `least_count` values, all finite and none of an absurd size.
pub(crate) fn is_usable(values: &[f64], least_count: usize) -> bool {
    let is_measurement = |value: &f64| *value == 0.0 || (1.0 / SIZE_MAX..=SIZE_MAX).contains(&value.abs());
    values.len() >= least_count && values.iter().all(is_measurement)
}

/// The values in ascending order.
pub(crate) fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

/// The median of values in ascending order, of which there is at least one.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { (sorted[middle - 1] + sorted[middle]) / 2.0 }
}

/// Sizes of the groups of equal values, in ascending order of the values.
pub(crate) fn tie_counts(values: &[f64]) -> Vec<usize> {
    sorted(values).chunk_by(|a, b| a == b).map(<[f64]>::len).collect()
}

/// Arithmetic mean, without a look at the values.
pub(crate) fn raw_mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sum of squared distances from the mean.
pub(crate) fn sum_of_squares(values: &[f64]) -> f64 {
    let mean = raw_mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// Sample variance with n − 1, without a look at the values.
pub(crate) fn raw_variance(values: &[f64]) -> f64 {
    sum_of_squares(values) / (values.len() - 1) as f64
}

/// Arithmetic mean.
///
/// `None`: there is no value.
pub fn mean(values: &[f64]) -> Option<f64> {
    is_usable(values, 1).then(|| raw_mean(values))
}

/// Sample standard deviation, with n − 1.
///
/// `None`: there are fewer than two values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    is_usable(values, 2).then(|| raw_variance(values).sqrt())
}

/// The middle value, or the mean of the two middle ones.
///
/// `None`: there is no value.
pub fn median(values: &[f64]) -> Option<f64> {
    is_usable(values, 1).then(|| median_of_sorted(&sorted(values)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusable_samples_have_no_description() {
        assert_eq!((mean(&[]), standard_deviation(&[1.0]), median(&[f64::NAN])), (None, None, None));
    }

    #[test]
    fn ties_are_counted_in_the_order_of_their_values() {
        assert_eq!(tie_counts(&[3.0, 1.0, 3.0, 2.0]), [1, 1, 2]);
    }

    #[test]
    fn the_median_of_an_even_number_is_between_the_middle_ones() {
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
    }
}
