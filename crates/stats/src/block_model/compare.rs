//! Intervals of the differences from one variant that hold together, each by least squares or by ranks.

use super::least_p::LeastP;
use super::ranks::RankPair;
use super::{BlockComparison, BlockDifference, BlockModel, rank_blocks_min};
use crate::distribution::student_t_p_two_sided;
use crate::estimate::{BoundedEstimate, is_level};
use crate::multiplicity::{Sidedness, all_within, critical};

/// Error rate by which it is decided whether ranks have enough blocks for the p of a pair.
const ERROR_RATE: f64 = 0.05;

/// Variants that are compared with a control, by method.
struct Split {
    by_ranks: Vec<usize>,
    by_squares: Vec<usize>,
}

impl Split {
    /// The part of an error rate that belongs to this many of all comparisons.
    fn part(&self, error_rate: f64, count: usize) -> f64 {
        error_rate * count as f64 / (self.by_ranks.len() + self.by_squares.len()).max(1) as f64
    }
}

impl BlockModel {
    /// The differences of all other variants from `control`, with intervals that hold together at `level`. A variant of which
    /// nothing is known, because it and the control have only lower bounds, is left out.
    ///
    /// Empty: `control` is not in the model, or `level` is not one.
    pub fn against(&self, control: usize, level: f64) -> Vec<BlockDifference> {
        if !is_level(level) || !self.variants().contains(&control) {
            return Vec::new();
        }
        let split = self.split(control, 1.0 - level);
        let least = self.least_p(control, &split);
        self.differences(control, 1.0 - level, &split, least.as_ref())
    }

    /// All that is known of the differences of other variants from `control`; left out are those of [`BlockModel::against`].
    pub fn compare(&self, control: usize, error_rate: f64) -> Vec<BlockComparison> {
        if !is_level(error_rate) || !self.variants().contains(&control) {
            return Vec::new();
        }
        let split = self.split(control, error_rate);
        let least = self.least_p(control, &split);
        let [wide, narrow] = [error_rate, (2.0 * error_rate).min(0.5)]
            .map(|rate| self.differences(control, rate, &split, least.as_ref()));
        let compared = |wide: &BlockDifference| {
            let variant = wide.variant;
            Some(BlockComparison {
                variant,
                wide: wide.difference,
                narrow: narrow.iter().find(|one| one.variant == variant)?.difference,
                p: self.adjusted_p(control, variant, &split, least.as_ref())?,
                is_by_ranks: split.by_ranks.contains(&variant),
            })
        };
        wide.iter().filter_map(compared).collect()
    }

    /// Probability of such a difference of these two without one, for them alone; `None`: one is not in the model, or both have
    /// only lower bounds.
    pub fn p(&self, one: usize, other: usize) -> Option<f64> {
        if self.is_ranked((one, other), self.variants().len() - 1, ERROR_RATE) {
            return RankPair::of(&self.cells, one, other).p();
        }
        let pair = self.pooled.pair(&self.cells, one, other)?;
        let p = |(error, freedom): (f64, f64)| student_t_p_two_sided(pair.difference / error, freedom);
        Some(if pair.can_differ() { pair.pooled.map_or(0.0, p).max(pair.own_p()) } else { 1.0 })
    }

    /// The variants that may be the best, at `level` for all together: no other one is surely better. `sign` is 1 where
    /// the highest is the best, −1 where the lowest is.
    pub fn perhaps_best(&self, sign: f64, level: f64) -> Vec<usize> {
        let may_be = |one: &usize| {
            let split = self.split(*one, 1.0 - level);
            let tail = (1.0 - level) / (self.variants().len() - 1) as f64;
            let count = split.by_squares.len();
            let share = self.pooled.share(*one, &split.by_squares);
            let part = split.part(1.0 - level, count);
            let bound = |freedom: f64| critical(Sidedness::One, (count, share), freedom, 1.0 - part);
            let by_squares = |other: &usize| {
                let pair = self.pooled.pair(&self.cells, *one, *other)?;
                let ends = pair.ends(pair.reach(bound, tail));
                BoundedEstimate::of(pair.difference, ends, level)
            };
            let by_ranks = |other: &usize| {
                let ends = RankPair::of(&self.cells, *one, *other).ends(1.0 - 2.0 * tail);
                BoundedEstimate::of(0.0, ends, level)
            };
            let found = split.by_squares.iter().filter_map(by_squares);
            let mut found = found.chain(split.by_ranks.iter().filter_map(by_ranks));
            !found.any(
                |difference| if sign > 0.0 { difference.is_above(0.0) } else { difference.is_below(0.0) },
            )
        };
        self.variants().iter().copied().filter(may_be).collect()
    }

    /// Whether a difference comes from ranks, as one of so many at this error rate.
    fn is_ranked(&self, (one, other): (usize, usize), comparisons: usize, error_rate: f64) -> bool {
        let needed = || rank_blocks_min(comparisons, 1.0 - error_rate);
        self.scatter.is_some() && self.shared_blocks_count(one, other) >= needed()
    }

    /// Which of the other variants are compared with `control` by ranks.
    fn split(&self, control: usize, error_rate: f64) -> Split {
        let others = self.variants().iter().copied().filter(|variant| *variant != control);
        let count = self.variants().len() - 1;
        let (by_ranks, by_squares) =
            others.partition(|variant| self.is_ranked((control, *variant), count, error_rate));
        Split { by_ranks, by_squares }
    }

    /// `None`: nothing is compared by ranks.
    fn least_p(&self, control: usize, split: &Split) -> Option<LeastP> {
        let is_any = !split.by_ranks.is_empty();
        is_any.then(|| LeastP::of(&self.cells, control, &split.by_ranks, self.seed))
    }

    /// Differences with intervals that leave out this error rate together.
    fn differences(
        &self,
        control: usize,
        error_rate: f64,
        split: &Split,
        least: Option<&LeastP>,
    ) -> Vec<BlockDifference> {
        let alone = least.map(|least| least.alone(split.part(error_rate, split.by_ranks.len())));
        let by_ranks = |variant: &usize| {
            let pair = RankPair::of(&self.cells, control, *variant);
            BoundedEstimate::of(pair.point()?, pair.ends(1.0 - alone?), 1.0 - error_rate)
        };
        let count = split.by_squares.len();
        let share = self.pooled.share(control, &split.by_squares);
        let level = 1.0 - split.part(error_rate, count);
        let bound = |freedom: f64| critical(Sidedness::Two, (count, share), freedom, level);
        let tail = error_rate / (2 * (self.variants().len() - 1)) as f64;
        let by_squares = |variant: &usize| {
            let pair = self.pooled.pair(&self.cells, control, *variant)?;
            BoundedEstimate::of(pair.difference, pair.ends(pair.reach(bound, tail)), 1.0 - error_rate)
        };
        let others = self.variants().iter().copied().filter(|variant| *variant != control);
        let found = others.filter_map(|variant| {
            let is_ranked = split.by_ranks.contains(&variant);
            let difference = if is_ranked { by_ranks(&variant) } else { by_squares(&variant) }?;
            Some(BlockDifference { variant, difference })
        });
        found.collect()
    }

    /// Probability, if no variant differs from `control`, that one of them seems to as much as this one.
    fn adjusted_p(
        &self,
        control: usize,
        variant: usize,
        split: &Split,
        least: Option<&LeastP>,
    ) -> Option<f64> {
        let all = (split.by_ranks.len() + split.by_squares.len()) as f64;
        if let Some(least) = least.filter(|_| split.by_ranks.contains(&variant)) {
            let p = least.adjusted(RankPair::of(&self.cells, control, variant).p()?);
            return Some((p * all / split.by_ranks.len() as f64).min(1.0));
        }
        let pair = self.pooled.pair(&self.cells, control, variant)?;
        if !pair.can_differ() {
            return Some(1.0);
        }
        let count = split.by_squares.len();
        let shares = vec![self.pooled.share(control, &split.by_squares); count];
        let within = |(error, freedom): (f64, f64)| {
            let t = (pair.difference / error).abs();
            (1.0 - all_within(Sidedness::Two, t, &shares, freedom)) * all / count as f64
        };
        Some(pair.pooled.map_or(0.0, within).max(pair.own_p() * all).clamp(0.0, 1.0))
    }
}
