//! Least squares for the level of a variant plus that of a block, with weights, and with cells that may be missing.

use super::BlockCell;
use std::collections::{BTreeMap, BTreeSet};

/// What was fitted.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    /// The variants, in order; levels and covariances are those of the same positions.
    pub(super) variants: Vec<usize>,
    /// How much higher each is than the first.
    pub(super) levels: Vec<f64>,
    /// Covariances of the levels, for a variance of 1.
    pub(super) covariances: Vec<Vec<f64>>,
    /// Sum of the weighted squares of the residuals.
    pub(super) squares: f64,
    /// Degrees of freedom of the residuals.
    pub(super) freedom: f64,
}

/// Cells of one block with their weights.
type Block<'a> = Vec<(&'a BlockCell, f64)>;

impl Fit {
    /// Fits cells with these weights, one per cell.
    ///
    /// `None`: fewer than two variants, blocks that do not connect them, or as many levels as cells.
    pub(super) fn new(cells: &[BlockCell], weights: &[f64]) -> Option<Fit> {
        let variants: Vec<usize> =
            cells.iter().map(|cell| cell.variant).collect::<BTreeSet<_>>().into_iter().collect();
        let mut blocks: BTreeMap<u32, Block> = BTreeMap::new();
        for (cell, weight) in cells.iter().zip(weights) {
            blocks.entry(cell.block).or_default().push((cell, *weight));
        }
        let freedom = (cells.len() + 1).checked_sub(variants.len() + blocks.len())?;
        if variants.len() < 2 || freedom == 0 {
            return None;
        }
        let (matrix, sums) = reduced(&variants, &blocks);
        let inverse = inverse(matrix)?;
        let product = |row: &Vec<f64>| row.iter().zip(&sums).map(|(one, sum)| one * sum).sum::<f64>();
        let levels: Vec<f64> = std::iter::once(0.0).chain(inverse.iter().map(product)).collect();
        let squares = blocks.values().map(|block| squares(block, &variants, &levels)).sum();
        let zeros = vec![0.0; variants.len()];
        let rows = inverse.into_iter().map(|row| std::iter::once(0.0).chain(row).collect());
        let covariances = std::iter::once(zeros).chain(rows).collect();
        Some(Fit { variants, levels, covariances, squares, freedom: freedom as f64 })
    }

    /// Variance of the residuals.
    pub(super) fn variance(&self) -> f64 {
        self.squares / self.freedom
    }

    /// Position of a variant.
    pub(super) fn place(&self, variant: usize) -> Option<usize> {
        self.variants.binary_search(&variant).ok()
    }

    /// Covariance of the differences of two variants from a third, for a variance of 1; by positions.
    pub(super) fn covariance(&self, [one, other]: [usize; 2], from: usize) -> f64 {
        let at = |row: usize, column: usize| self.covariances[row][column];
        at(one, other) - at(one, from) - at(from, other) + at(from, from)
    }
}

/// The normal equations of all variants but the first, whose level is 0, without the levels of the blocks.
fn reduced(variants: &[usize], blocks: &BTreeMap<u32, Block>) -> (Vec<Vec<f64>>, Vec<f64>) {
    let count = variants.len() - 1;
    let (mut matrix, mut sums) = (vec![vec![0.0; count]; count], vec![0.0; count]);
    let row = |cell: &BlockCell| variants.binary_search(&cell.variant).ok()?.checked_sub(1);
    for block in blocks.values() {
        let total: f64 = block.iter().map(|(_, weight)| weight).sum();
        let mean = weighted_mean(block.iter().map(|(cell, weight)| (cell.value, *weight)));
        for (cell, weight) in block {
            let Some(at) = row(cell) else { continue };
            matrix[at][at] += weight;
            sums[at] += weight * (cell.value - mean);
            for (other, other_weight) in block {
                if let Some(column) = row(other) {
                    matrix[at][column] -= weight * other_weight / total;
                }
            }
        }
    }
    (matrix, sums)
}

/// Weighted squares of the residuals of a block.
fn squares(block: &Block, variants: &[usize], levels: &[f64]) -> f64 {
    let level = |cell: &BlockCell| variants.binary_search(&cell.variant).map_or(0.0, |place| levels[place]);
    let rest = |cell: &BlockCell| cell.value - level(cell);
    let mean = weighted_mean(block.iter().map(|(cell, weight)| (rest(cell), *weight)));
    block.iter().map(|(cell, weight)| weight * (rest(cell) - mean).powi(2)).sum()
}

fn weighted_mean(values: impl Iterator<Item = (f64, f64)>) -> f64 {
    let [sum, total] =
        values.fold([0.0, 0.0], |[sum, total], (value, weight)| [sum + weight * value, total + weight]);
    sum / total
}

/// The inverse of a symmetric matrix, by elimination; `None`: it has none.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let count = matrix.len();
    let unit = |row: usize| (0..count).map(|column| f64::from(u8::from(row == column))).collect();
    let mut inverse: Vec<Vec<f64>> = (0..count).map(unit).collect();
    let largest = matrix.iter().flatten().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    for at in 0..count {
        let pivot =
            (at..count).max_by(|one, other| matrix[*one][at].abs().total_cmp(&matrix[*other][at].abs()))?;
        matrix.swap(at, pivot);
        inverse.swap(at, pivot);
        let divisor = matrix[at][at];
        if divisor.abs() <= largest * 1e-10 {
            return None;
        }
        for rows in [&mut matrix, &mut inverse] {
            rows[at].iter_mut().for_each(|value| *value /= divisor);
        }
        for row in (0..count).filter(|row| *row != at) {
            let factor = matrix[row][at];
            for rows in [&mut matrix, &mut inverse] {
                let subtracted = rows[at].clone();
                rows[row].iter_mut().zip(subtracted).for_each(|(value, pivot)| *value -= factor * pivot);
            }
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(values: &[(usize, u32, f64)]) -> Vec<BlockCell> {
        values.iter().map(|(variant, block, value)| BlockCell::new(*variant, *block, *value)).collect()
    }

    #[test]
    fn complete_blocks_give_differences_of_means() {
        let cells = cells(&[(0, 0, 1.0), (0, 1, 5.0), (2, 0, 2.0), (2, 1, 6.5), (7, 0, 0.5), (7, 1, 4.0)]);
        let fit = Fit::new(&cells, &[1.0; 6]).expect("connected");
        assert_eq!(fit.variants, [0, 2, 7]);
        let expected = [0.0, 1.25, -0.75];
        assert!(fit.levels.iter().zip(expected).all(|(level, expected)| (level - expected).abs() < 1e-12));
        assert!((fit.covariance([1, 1], 0) - 1.0).abs() < 1e-12, "2 ÷ blocks");
        assert!((fit.covariance([1, 2], 0) - 0.5).abs() < 1e-12, "1 ÷ blocks");
        assert!((fit.freedom - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_missing_cell_takes_what_its_block_says_of_the_others() {
        // The third block is higher by 3: the missing variant must not profit from its absence.
        let known =
            [(0, 0, 1.0), (0, 1, 2.0), (0, 2, 5.0), (1, 0, 2.0), (1, 1, 3.0), (2, 1, 4.0), (2, 2, 7.0)];
        let fit = Fit::new(&cells(&known), &[1.0; 7]).expect("connected");
        assert!(
            fit.levels.iter().zip([0.0, 1.0, 2.0]).all(|(level, expected)| (level - expected).abs() < 1e-9)
        );
        assert!(fit.squares < 1e-18, "the levels explain all");
    }

    #[test]
    fn blocks_that_do_not_connect_variants_are_not_fitted() {
        let apart = [(0, 0, 1.0), (1, 0, 2.0), (2, 1, 3.0), (3, 1, 4.0), (0, 2, 1.0), (1, 2, 2.5)];
        assert!(Fit::new(&cells(&apart), &[1.0; 6]).is_none());
        assert!(Fit::new(&cells(&apart[..2]), &[1.0; 2]).is_none(), "nothing is left for the residuals");
        assert!(Fit::new(&[], &[]).is_none());
    }
}
