//! The variants of an experiment, compared in one model.
//!
//! Runs of an experiment come in blocks, in each of which every variant ran once. On logarithms, a value is the level of
//! its variant plus that of its block ([`BlockModel`]): whatever a block adds to all its runs cancels out, and all
//! variants tell how much runs scatter. The intervals of a metric hold together for all variants, and the word follows from
//! them alone. Percentiles bring their errors within the run, so that one of few samples weighs less.
//!
//! The metric that decides has the whole error rate for itself; all other metrics share another one evenly, because one or
//! the other of many would differ by chance.

use super::SIDES_MAX;
use super::effect::{Difference, Found, within_deviation};
use super::metric::{ComparedMetric, MeasuredSide};
use sysdyno_record::comparison::EffectMethod;
use sysdyno_record::effect::Better;
use sysdyno_stats::block_model::{BlockCell, BlockDifference, BlockModel};
use sysdyno_stats::estimate::Estimate;

/// Rate of wrong words about a metric that has it for itself.
const ERROR_RATE: f64 = 0.05;

/// A metric of an experiment.
pub(super) struct Blocks {
    model: BlockModel,
    /// Rate of wrong words about this metric.
    error_rate: f64,
    /// Differences from the first side, with intervals that leave out that rate.
    wide: Vec<BlockDifference>,
    /// The same, with intervals that leave out twice as much, for the word "same".
    narrow: Vec<BlockDifference>,
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
                variant: side,
                block: *block,
                value: run.value.ln(),
                error: within_deviation(run),
            }));
        }
        let model = BlockModel::fit(&cells)?;
        let error_rate = ERROR_RATE / metrics_count.max(1) as f64;
        let [wide, narrow] = [error_rate, 2.0 * error_rate].map(|rate| model.against(0, 1.0 - rate));
        Some(Blocks { model, error_rate, wide, narrow })
    }

    /// The effect on a side against the first; `None`: one of them is not in the model.
    pub(super) fn effect(&self, side: usize, metric: &ComparedMetric, margin_ratio: f64) -> Option<Found> {
        let of_side = |all: &[BlockDifference]| -> Option<Estimate> {
            all.iter().find(|one| one.variant == side).map(|one| one.difference)
        };
        let difference = Difference {
            wide: of_side(&self.wide)?,
            narrow: of_side(&self.narrow)?,
            p: (self.model.adjusted_p(0, side)? * ERROR_RATE / self.error_rate).min(1.0),
            method: EffectMethod::Blocks,
        };
        let blocks_count = self.model.shared_blocks_count(0, side) as u32;
        Some(Found::judged(difference, (metric.better, margin_ratio), blocks_count))
    }

    /// Probability of such a difference of two sides without one, for them alone, as if the metric had the whole error rate; `None`:
    /// as [`Blocks::effect`].
    pub(super) fn p(&self, one: usize, other: usize) -> Option<f64> {
        Some((self.model.p(one, other)? * ERROR_RATE / self.error_rate).min(1.0))
    }

    /// Whether the interval of a side's difference from the first leaves out zero; `None`: as [`Blocks::effect`].
    pub(super) fn is_apart(&self, side: usize) -> Option<bool> {
        let one = self.wide.iter().find(|one| one.variant == side)?;
        Some(one.difference.low > 0.0 || one.difference.high < 0.0)
    }

    /// Sides than which one is surely better.
    pub(super) fn beaten(&self, better: Better) -> Vec<usize> {
        let sign = if better == Better::Higher { 1.0 } else { -1.0 };
        let perhaps = self.model.perhaps_best(sign, 1.0 - self.error_rate);
        self.model.variants().iter().copied().filter(|side| !perhaps.contains(side)).collect()
    }
}
