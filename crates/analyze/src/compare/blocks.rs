//! The variants of an experiment, compared in one model.
//!
//! Runs of an experiment come in blocks, in each of which every variant ran once. On logarithms, a value is the level of
//! its variant plus that of its block ([`BlockModel`]): whatever a block adds to all its runs cancels out, and all
//! variants tell how much runs scatter. The intervals of a metric hold together for all variants, and the word follows from
//! them alone. Percentiles bring their errors within the run, so that one of few samples weighs less; a run that knows only a
//! lower bound leaves one end of an interval open. Where runs lie far off, ranks within blocks take over.
//!
//! The metric that decides has the whole error rate for itself; all other metrics share another one evenly, because one or
//! the other of many would differ by chance.

use super::effect::{Difference, Found, within_deviation};
use super::metric::{ComparedMetric, MeasuredSide};
use super::{SIDES_MAX, letter};
use crate::format::whole;
use sysdyno_record::comparison::EffectMethod;
use sysdyno_record::effect::Better;
use sysdyno_stats::block_model::{BlockCell, BlockComparison, BlockModel, BlockScatter, rank_blocks_min};

/// Rate of wrong words about a metric that has it for itself.
const ERROR_RATE: f64 = 0.05;

/// Seed of permutations and simulations: the same runs give the same answer.
const SEED: u64 = 0x626c_6f63_6b73;

/// A metric of an experiment.
pub(super) struct Blocks {
    model: BlockModel,
    /// Rate of wrong words about this metric.
    error_rate: f64,
    /// The sides against the first.
    compared: Vec<BlockComparison>,
}

/// The model of the metric that decides.
pub(crate) struct Deciding {
    pub(crate) model: BlockModel,
    pub(crate) metric: &'static ComparedMetric,
}

impl Blocks {
    /// The model alone.
    pub(super) fn into_deciding(self, metric: &'static ComparedMetric) -> Deciding {
        Deciding { model: self.model, metric }
    }

    /// The model of the sides that may be compared, for one of so many metrics that share the error rate; `None`: they are no
    /// runs of blocks, or cannot be fitted.
    pub(super) fn of(measured: &[MeasuredSide], refused: &[bool], metrics_count: usize) -> Option<Blocks> {
        // The model takes the cube of their number in time; only a hostile folder has more.
        if measured.len() > SIDES_MAX {
            return None;
        }
        let is_used = |side: &usize| !refused[*side] && measured[*side].missing.is_none();
        let mut cells = Vec::new();
        for side in (0..measured.len()).filter(is_used) {
            let of_side = &measured[side];
            if of_side.blocks.len() != of_side.runs.len() {
                return None;
            }
            cells.extend(of_side.blocks.iter().zip(&of_side.runs).map(|(block, run)| BlockCell {
                error: within_deviation(run),
                is_lower_bound: run.is_lower_bound,
                ..BlockCell::new(side, *block, run.value.ln())
            }));
        }
        let model = BlockModel::fit(&cells, SEED)?;
        let error_rate = ERROR_RATE / metrics_count.max(1) as f64;
        let compared = model.compare(0, error_rate);
        Some(Blocks { model, error_rate, compared })
    }

    /// The effect on a side against the first; `None`: one of them is not in the model.
    pub(super) fn effect(&self, side: usize, metric: &ComparedMetric, margin_ratio: f64) -> Option<Found> {
        let is_in = |side: usize| self.model.variants().contains(&side);
        let blocks_count = self.model.shared_blocks_count(0, side) as u32;
        let Some(found) = self.compared.iter().find(|one| one.variant == side) else {
            return (is_in(0) && is_in(side)).then(|| self.nothing(side, blocks_count));
        };
        let difference = Difference {
            wide: found.wide,
            narrow: found.narrow,
            p: (found.p * ERROR_RATE / self.error_rate).min(1.0),
            method: if found.is_by_ranks { EffectMethod::BlockRanks } else { EffectMethod::Blocks },
        };
        Some(Found::judged(difference, (metric.better, margin_ratio), blocks_count))
    }

    /// Why nothing is known of a side that is in the model.
    fn nothing(&self, side: usize, blocks_count: u32) -> Found {
        match self.model.is_bounded(0) && self.model.is_bounded(side) {
            true => Found::both_bounded(blocks_count),
            false => Found::nothing("too few blocks have runs of both sides".to_owned(), blocks_count),
        }
    }

    /// Probability of such a difference of two sides without one, for them alone, as if the metric had the whole error rate; `None`:
    /// as [`Blocks::effect`].
    pub(super) fn p(&self, one: usize, other: usize) -> Option<f64> {
        Some((self.model.p(one, other)? * ERROR_RATE / self.error_rate).min(1.0))
    }

    /// Whether the interval of a side's difference from the first leaves out zero; `None`: as [`Blocks::effect`].
    pub(super) fn is_apart(&self, side: usize) -> Option<bool> {
        let one = self.compared.iter().find(|one| one.variant == side)?;
        Some(!one.wide.contains(0.0))
    }

    /// Sides than which one is surely better.
    pub(super) fn beaten(&self, better: Better) -> Vec<usize> {
        let sign = if better == Better::Higher { 1.0 } else { -1.0 };
        let perhaps = self.model.perhaps_best(sign, 1.0 - self.error_rate);
        self.model.variants().iter().copied().filter(|side| !perhaps.contains(side)).collect()
    }

    /// What the runs scatter like, in a sentence with the letters of the sides; `None`: they are one group without any far off.
    pub(super) fn scatter(&self) -> Option<String> {
        let seen = match self.model.scatter()? {
            BlockScatter::HeavyTails { variant, block, deviations } => format!(
                "some runs lie far off, that of {} in block {} by {} standard deviations of most runs",
                letter(variant),
                u64::from(block) + 1,
                whole(deviations)
            ),
            BlockScatter::TwoGroups { variant, counts: [lower, upper] } => {
                format!("the runs of {} form two groups, {lower} lower and {upper} higher", letter(variant))
            }
        };
        let count = self.compared.iter().filter(|one| one.is_by_ranks).count();
        let how = match count {
            0 => {
                let others = self.model.variants().len() - 1;
                let blocks = rank_blocks_min(others, 1.0 - self.error_rate);
                format!("ranks within blocks would limit their effect, but need at least {blocks} blocks")
            }
            count if count == self.compared.len() => "ranks within blocks limit their effect".to_owned(),
            _ => "ranks within blocks limit their effect where there are enough blocks".to_owned(),
        };
        Some(format!("{seen}; {how}"))
    }
}
