//! Has the system warmed up, and did it stay as it was while it was measured?
//!
//! Warm-up: MSER-5 (K. P. White 1997; *marginal standard error rule* on batches of five values): drop the first d
//! batches that minimize the standard error of the rest,
//!
//! ```text
//! MSER(d) = Σ_{j>d} (Y_j − Ȳ_d)² / (k − d)²,   d = 0 … ⌊k/2⌋,   first minimum
//! ```
//!
//! A minimum at ⌊k/2⌋ means that the series had not settled when it ended. Drift is gated by its size, not by a
//! p-value: with many values every drift is significant.

use crate::descriptive::{is_usable, median, raw_mean, sum_of_squares};
use crate::regression::theil_sen_slope;

/// Values in a batch of [`mser5`].
const BATCH_COUNT: usize = 5;

/// What to drop from the beginning of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mser {
    /// Values to drop from the beginning.
    pub cut: usize,
    /// The minimum lies at the last place that was looked at: the series has not settled.
    pub is_boundary: bool,
    /// Mean of the whole batches that are kept. Unit: that of the series.
    pub mean: f64,
}

/// Where the warm-up of a series ends.
///
/// Values after the last whole batch are not looked at. The result does not change when the series is shifted or
/// scaled.
/// Cost: linear.
/// `None`: fewer than two batches, or a value that is not finite.
pub fn mser5(series: &[f64]) -> Option<Mser> {
    if !is_usable(series, 2 * BATCH_COUNT) {
        return None;
    }
    let batches: Vec<f64> = series.chunks_exact(BATCH_COUNT).map(raw_mean).collect();
    let last = batches.len() / 2;
    let scores = mser_scores(&batches);
    let best = (0..=last).reduce(|best, cut| if scores[cut] < scores[best] { cut } else { best })?;
    Some(Mser { cut: best * BATCH_COUNT, is_boundary: best == last, mean: raw_mean(&batches[best..]) })
}

/// The MSER score of each number of dropped batches from 0 to half of them.
fn mser_scores(batches: &[f64]) -> Vec<f64> {
    let score = |kept: &[f64]| sum_of_squares(kept) / (kept.len() as f64).powi(2);
    (0..=batches.len() / 2).filter(|cut| *cut < batches.len()).map(|cut| score(&batches[cut..])).collect()
}

/// The drift of a series from its first to its last value as a share of its median: Theil–Sen slope × (n − 1) ÷ median.
///
/// Positive for a rising series.
/// `None`: as [`theil_sen_slope`], or the median is not positive.
pub fn drift_ratio(series: &[f64]) -> Option<f64> {
    let slope = theil_sen_slope(series)?;
    let median = median(series).filter(|median| *median > 0.0)?;
    Some(slope * (series.len() - 1) as f64 / median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_at_the_start_is_cut_and_a_late_one_is_not_settled() {
        let mut early = vec![1.0; 10];
        early.extend((0..90).map(|index| 10.0 + f64::from(index % 3)));
        let found = mser5(&early).expect("enough values");
        assert_eq!((found.cut, found.is_boundary), (10, false));
        let late: Vec<f64> = (0..100).map(f64::from).collect();
        assert!(mser5(&late).expect("enough values").is_boundary);
        assert_eq!(mser5(&[1.0; 9]), None);
    }

    #[test]
    fn drift_is_relative_to_the_median() {
        assert_eq!(drift_ratio(&[9.0, 10.0, 11.0]), Some(0.2));
        assert_eq!(drift_ratio(&[0.0, 0.0, 0.0]), None);
    }
}
