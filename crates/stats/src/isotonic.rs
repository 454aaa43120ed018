//! Isotonic regression: the non-decreasing curve nearest to noisy points, and where it crosses a level.
//!
//! The cross-check of the straight line in [`crate::regression`]: it assumes only that latency does not fall when load
//! rises. Pool-adjacent-violators algorithm (M. Ayer et al. 1955): neighbors that are out of order are replaced by
//! their weighted mean until none is.

use crate::descriptive::is_usable;

/// The non-decreasing values with the least weighted sum of squared distances from `y`.
///
/// Both slices have the same length; a missing or not positive weight counts as 1. Cost: linear.
pub fn non_decreasing(y: &[f64], weights: &[f64]) -> Vec<f64> {
    let mut blocks: Vec<Block> = Vec::with_capacity(y.len());
    for (index, value) in y.iter().enumerate() {
        let weight = weights.get(index).copied().filter(|weight| *weight > 0.0).unwrap_or(1.0);
        let mut block = Block { mean: *value, weight, count: 1 };
        while let Some(previous) = blocks.pop_if(|previous| previous.mean > block.mean) {
            block = previous.pooled_with(&block);
        }
        blocks.push(block);
    }
    blocks.iter().flat_map(|block| std::iter::repeat_n(block.mean, block.count)).collect()
}

/// Neighboring points that share one value.
struct Block {
    mean: f64,
    weight: f64,
    count: usize,
}

impl Block {
    fn pooled_with(&self, other: &Block) -> Block {
        let weight = self.weight + other.weight;
        let mean = (self.mean * self.weight + other.mean * other.weight) / weight;
        Block { mean, weight, count: self.count + other.count }
    }
}

/// The x at which a curve through points with ascending x crosses `level` upward for the last time, by a straight line
/// between the last point at or below the level and the first above it. Unit: that of x.
///
/// `None`: the curve lies wholly above the level or wholly at or below it, the slices differ in length, or a value is
/// not finite.
pub fn crossing(x: &[f64], y: &[f64], level: f64) -> Option<f64> {
    if x.len() != y.len() || !is_usable(x, 2) || !is_usable(y, 2) || !is_usable(&[level], 1) {
        return None;
    }
    let below = y.iter().rposition(|value| *value <= level)?;
    let above = below + 1;
    let high = *y.get(above)?;
    Some(x[below] + (x[above] - x[below]) * (level - y[below]) / (high - y[below]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_in_order_stay_and_falling_ones_become_their_mean() {
        assert_eq!(non_decreasing(&[1.0, 2.0, 2.0, 3.0], &[1.0; 4]), [1.0, 2.0, 2.0, 3.0]);
        assert_eq!(non_decreasing(&[3.0, 2.0, 1.0], &[1.0; 3]), [2.0; 3]);
        assert_eq!(non_decreasing(&[4.0, 1.0], &[1.0, 2.0]), [2.0; 2]);
        assert!(non_decreasing(&[], &[]).is_empty());
    }

    #[test]
    fn a_level_that_is_not_reached_is_not_crossed() {
        assert_eq!(crossing(&[1.0, 2.0], &[1.0, 2.0], 3.0), None);
        assert_eq!(crossing(&[1.0, 2.0], &[1.0, 2.0], 0.5), None);
        assert_eq!(crossing(&[1.0, 2.0], &[1.0, 3.0], 2.0), Some(1.5));
    }
}
