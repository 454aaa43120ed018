//! Least squares for the level of a variant plus that of a block, with weights, and with cells that may be missing.

use super::BlockCell;
use std::collections::BTreeSet;

/// Which cells there are, and how much each weighs.
#[derive(Clone, Debug)]
pub(super) struct Design {
    /// The variants, in order; levels and covariances are those of the same positions.
    pub(super) variants: Vec<usize>,
    /// Degrees of freedom of the residuals.
    pub(super) freedom: f64,
    /// Position of the variant of each cell.
    places: Vec<usize>,
    weights: Vec<f64>,
    /// Squared errors of the cells.
    errors: Vec<f64>,
    /// The cells of each block.
    blocks: Vec<Vec<usize>>,
    /// Covariances of the levels, for a variance of 1.
    covariances: Vec<Vec<f64>>,
}

/// What was fitted to the values of a design.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    pub(super) design: Design,
    /// How much higher each variant is than the first.
    levels: Vec<f64>,
    /// Of each cell, times the root of its weight.
    pub(super) residuals: Vec<f64>,
    /// Sum of the squares of the residuals.
    pub(super) squares: f64,
}

impl Design {
    /// The design of cells with these squared errors, by which they weigh.
    ///
    /// `None`: fewer than two variants, blocks that do not connect them, or as many levels as cells.
    pub(super) fn new(cells: &[BlockCell], errors: &[f64], weight: impl Fn(f64) -> f64) -> Option<Design> {
        let variants: Vec<usize> = numbers(cells.iter().map(|cell| cell.variant));
        let numbers: Vec<u32> = numbers(cells.iter().map(|cell| cell.block));
        let freedom = (cells.len() + 1).checked_sub(variants.len() + numbers.len())?;
        if variants.len() < 2 || freedom == 0 {
            return None;
        }
        let mut blocks = vec![Vec::new(); numbers.len()];
        for (index, cell) in cells.iter().enumerate() {
            blocks[numbers.binary_search(&cell.block).ok()?].push(index);
        }
        let place = |cell: &BlockCell| variants.binary_search(&cell.variant).ok();
        let places: Option<Vec<usize>> = cells.iter().map(place).collect();
        let mut design = Design {
            places: places?,
            weights: errors.iter().map(|error| weight(*error)).collect(),
            errors: errors.to_vec(),
            blocks,
            freedom: freedom as f64,
            covariances: Vec::new(),
            variants,
        };
        let rows = inverse(design.reduced())?.into_iter();
        let zeros = vec![0.0; design.variants.len()];
        let rows = rows.map(|row| std::iter::once(0.0).chain(row).collect());
        design.covariances = std::iter::once(zeros).chain(rows).collect();
        Some(design)
    }

    /// The levels that fit the values of the cells best, and the residuals times the roots of the weights.
    pub(super) fn solve(&self, values: &[f64]) -> [Vec<f64>; 2] {
        let mut sums = vec![0.0; self.variants.len()];
        for block in &self.blocks {
            let mean = self.mean(block, |cell| values[cell]);
            for cell in block {
                sums[self.places[*cell]] += self.weights[*cell] * (values[*cell] - mean);
            }
        }
        let product = |row: &Vec<f64>| row.iter().zip(&sums).map(|(one, sum)| one * sum).sum::<f64>();
        let levels: Vec<f64> = self.covariances.iter().map(product).collect();
        let mut residuals: Vec<f64> =
            values.iter().zip(&self.places).map(|(value, place)| value - levels[*place]).collect();
        for block in &self.blocks {
            let mean = self.mean(block, |cell| residuals[cell]);
            block.iter().for_each(|cell| residuals[*cell] -= mean);
        }
        residuals.iter_mut().zip(&self.weights).for_each(|(rest, weight)| *rest *= weight.sqrt());
        [levels, residuals]
    }

    /// Values of the cells that are noise only, as each weight says.
    pub(super) fn noise(&self, mut normal: impl FnMut() -> f64) -> Vec<f64> {
        self.weights.iter().map(|weight| normal() / weight.sqrt()).collect()
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

    /// What each cell adds to the difference of two variants, with its squared error.
    fn parts(&self, from: usize, to: usize) -> Vec<(f64, f64)> {
        let of_variant = |place: usize| self.covariances[to][place] - self.covariances[from][place];
        let mut parts = vec![(0.0, 0.0); self.places.len()];
        for block in &self.blocks {
            let of_cell = |cell: usize| of_variant(self.places[cell]);
            let mean = self.mean(block, of_cell);
            for cell in block {
                parts[*cell] = (self.weights[*cell] * (of_cell(*cell) - mean), self.errors[*cell]);
            }
        }
        parts
    }

    /// The sum over all cells of the weight times the share of a value that the fit leaves in its residual.
    pub(super) fn trace(&self) -> f64 {
        let mut trace = 0.0;
        for block in &self.blocks {
            let total: f64 = block.iter().map(|cell| self.weights[*cell]).sum();
            for cell in block {
                let (own, weight) = (&self.covariances[self.places[*cell]], self.weights[*cell]);
                let covariance = |other: usize| own[self.places[other]];
                let with_block = self.mean(block, covariance);
                let within = self.mean(block, |one| {
                    self.mean(block, |other| self.covariances[self.places[one]][self.places[other]])
                });
                let fitted = weight * (covariance(*cell) - 2.0 * with_block + within) + weight / total;
                trace += weight * (1.0 - fitted);
            }
        }
        trace
    }

    /// Weighted mean of the values of a block.
    fn mean(&self, block: &[usize], value: impl Fn(usize) -> f64) -> f64 {
        let [sum, total] = block.iter().fold([0.0, 0.0], |[sum, total], cell| {
            [sum + self.weights[*cell] * value(*cell), total + self.weights[*cell]]
        });
        sum / total
    }

    /// The matrix of the normal equations of all variants but the first, whose level is 0, without the levels of the blocks.
    fn reduced(&self) -> Vec<Vec<f64>> {
        let count = self.variants.len() - 1;
        let mut matrix = vec![vec![0.0; count]; count];
        for block in &self.blocks {
            let total: f64 = block.iter().map(|cell| self.weights[*cell]).sum();
            for one in block {
                let Some(row) = self.places[*one].checked_sub(1) else { continue };
                matrix[row][row] += self.weights[*one];
                for other in block.iter().filter(|other| self.places[**other] > 0) {
                    let column = self.places[*other] - 1;
                    matrix[row][column] -= self.weights[*one] * self.weights[*other] / total;
                }
            }
        }
        matrix
    }
}

impl Fit {
    /// Fits cells; `None`: as [`Design::new`].
    pub(super) fn new(cells: &[BlockCell], errors: &[f64], weight: impl Fn(f64) -> f64) -> Option<Fit> {
        let values: Vec<f64> = cells.iter().map(|cell| cell.value).collect();
        let design = Design::new(cells, errors, weight)?;
        let [levels, residuals] = design.solve(&values);
        let squares = residuals.iter().map(|rest| rest * rest).sum();
        Some(Fit { design, levels, residuals, squares })
    }

    /// Variance of the residuals.
    pub(super) fn variance(&self) -> f64 {
        self.squares / self.design.freedom
    }

    /// How much higher `to` is than `from`, and what each cell adds to that, with its squared error; `None`: one is not in the
    /// fit.
    pub(super) fn difference(&self, from: usize, to: usize) -> Option<(f64, Vec<(f64, f64)>)> {
        let (from, to) = (self.design.place(from)?, self.design.place(to)?);
        Some((self.levels[to] - self.levels[from], self.design.parts(from, to)))
    }
}

/// Each number once, in order.
fn numbers<T: Ord>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.collect::<BTreeSet<T>>().into_iter().collect()
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
        let fit = Fit::new(&cells, &[0.0; 6], |_| 1.0).expect("connected");
        assert_eq!(fit.design.variants, [0, 2, 7]);
        for (variant, expected) in [(0, 0.0), (2, 1.25), (7, -0.75)] {
            let (level, parts) = fit.difference(0, variant).expect("fitted");
            assert!((level - expected).abs() < 1e-12, "{variant}: {level}");
            let sum: f64 = cells.iter().zip(&parts).map(|(cell, (part, _))| part * cell.value).sum();
            assert!((sum - expected).abs() < 1e-12, "{parts:?}");
        }
        assert!((fit.design.covariance([1, 1], 0) - 1.0).abs() < 1e-12, "2 ÷ blocks");
        assert!((fit.design.covariance([1, 2], 0) - 0.5).abs() < 1e-12, "1 ÷ blocks");
        assert!((fit.design.freedom - 2.0).abs() < 1e-12);
    }

    #[test]
    fn the_trace_is_what_the_residuals_have_left_of_each_value() {
        let known = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 1), (2, 2)];
        let cells = cells(&known.map(|(variant, block)| (variant, block, 0.0)));
        let weights = [1.0, 3.0, 0.5, 2.0, 1.0, 4.0, 0.2];
        let design = Design::new(&cells, &weights, |weight| weight).expect("connected");
        let left = |cell: usize| {
            let mut values = vec![0.0; 7];
            values[cell] = 1.0;
            let [_, residuals] = design.solve(&values);
            residuals[cell] * weights[cell].sqrt()
        };
        let expected: f64 = (0..7).map(left).sum();
        assert!((design.trace() - expected).abs() < 1e-9, "{} {expected}", design.trace());
    }

    #[test]
    fn a_missing_cell_takes_what_its_block_says_of_the_others() {
        // The third block is higher by 3: the missing variant must not profit from its absence.
        let known =
            [(0, 0, 1.0), (0, 1, 2.0), (0, 2, 5.0), (1, 0, 2.0), (1, 1, 3.0), (2, 1, 4.0), (2, 2, 7.0)];
        let fit = Fit::new(&cells(&known), &[0.0; 7], |_| 1.0).expect("connected");
        assert!(
            fit.levels.iter().zip([0.0, 1.0, 2.0]).all(|(level, expected)| (level - expected).abs() < 1e-9)
        );
        assert!(fit.squares < 1e-18, "the levels explain all");
    }

    #[test]
    fn a_lower_value_of_a_variant_never_makes_it_higher() {
        let known =
            [(0, 0, 1.0), (0, 1, 2.0), (0, 2, 5.0), (1, 0, 2.0), (1, 1, 3.0), (2, 1, 4.0), (2, 2, 7.0)];
        let of = |values: &[(usize, u32, f64)]| {
            let weights = [1.0, 3.0, 0.5, 2.0, 1.0, 4.0, 0.2];
            Fit::new(&cells(values), &weights, |weight| weight).expect("connected").difference(0, 2)
        };
        let (before, parts) = of(&known).expect("fitted");
        for cell in [5, 6] {
            let mut lower = known;
            lower[cell].2 -= 1.0;
            let (after, _) = of(&lower).expect("fitted");
            assert!(after <= before && (before - after - parts[cell].0).abs() < 1e-9, "cell {cell}");
        }
    }

    #[test]
    fn blocks_that_do_not_connect_variants_are_not_fitted() {
        let apart = [(0, 0, 1.0), (1, 0, 2.0), (2, 1, 3.0), (3, 1, 4.0), (0, 2, 1.0), (1, 2, 2.5)];
        assert!(Fit::new(&cells(&apart), &[0.0; 6], |_| 1.0).is_none());
        assert!(
            Fit::new(&cells(&apart[..2]), &[0.0; 2], |_| 1.0).is_none(),
            "nothing is left for the residuals"
        );
        assert!(Fit::new(&[], &[], |_| 1.0).is_none());
    }
}
