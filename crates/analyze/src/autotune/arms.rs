//! What came of the candidates of a step: a model of its blocks, on logarithms of the metric.
//!
//! Unlike a comparison of runs, a run with failed requests counts: the metric counts valid responses only, and to mend failures
//! is an improvement. That failures grow is told apart.

use crate::format::percent;
use crate::run_verdict::is_disturbed;
use crate::tryout::effect_text;
use std::collections::BTreeMap;
use sysdyno_record::analysis::Analysis;
use sysdyno_record::autotune::StepArm;
use sysdyno_record::effect::{Comparison, Effect, EffectScale};
use sysdyno_stats::block_model::{BlockCell, BlockComparison, BlockModel};
use sysdyno_stats::descriptive::{mean, median};
use sysdyno_stats::verdict::{compare_bounded, log_margin};

/// Rate of wrong words about a step.
const ERROR_RATE: f64 = 0.05;

/// Failures may grow by this much. Unit: ratio of requests. House value.
const FAILURES_MARGIN: f64 = 0.005;

/// Seed of the model's permutations: the same runs give the same answer.
const SEED: u64 = 0x7475_6e65;

/// A trial of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmTrial {
    /// Position of its variant; the first is what the others are compared with.
    pub variant: usize,
    /// Its block.
    pub block: u32,
    /// The metric; `None`: it has none, or was disturbed.
    pub value: Option<f64>,
    /// Requests that failed. Unit: ratio of all.
    pub failed_ratio: f64,
}

impl ArmTrial {
    /// A trial by its analysis.
    pub fn of((variant, block): (usize, u32), analysis: &Analysis, is_noisy: bool) -> ArmTrial {
        let counts = &analysis.counts;
        let all = (counts.ok + counts.failed + counts.timed_out) as f64;
        let failed_ratio = if all > 0.0 { (counts.failed + counts.timed_out) as f64 / all } else { 1.0 };
        let value = match &analysis.capacity {
            Some(capacity) => capacity.rate_hz,
            None => Some(analysis.rates.goodput_hz),
        };
        let is_used = !is_disturbed(&analysis.verdict, is_noisy);
        ArmTrial { variant, block, value: value.filter(|value| is_used && *value > 0.0), failed_ratio }
    }
}

/// The median of the first variant, and what came of each of the `count` others.
pub fn arms(trials: &[ArmTrial], count: usize, effect_ratio: f64) -> (Option<f64>, Vec<StepArm>) {
    let of = |variant: usize| trials.iter().filter(move |trial| trial.variant == variant);
    let values: Vec<f64> = of(0).filter_map(|trial| trial.value).collect();
    let cells: Vec<BlockCell> = trials
        .iter()
        .filter_map(|trial| Some(BlockCell::new(trial.variant, trial.block, trial.value?.ln())))
        .collect();
    let compared: BTreeMap<usize, BlockComparison> = BlockModel::fit(&cells, SEED)
        .map(|model| model.compare(0, ERROR_RATE))
        .unwrap_or_default()
        .into_iter()
        .map(|one| (one.variant, one))
        .collect();
    let failures = |variant| mean(&of(variant).map(|trial| trial.failed_ratio).collect::<Vec<_>>());
    let arms = (1..=count).map(|variant| {
        let grown = failures(variant).zip(failures(0)).map(|(with, without)| (with - without, with));
        let worse = grown
            .filter(|(grown, _)| *grown > FAILURES_MARGIN)
            .map(|(_, with)| format!("{} of the requests failed", percent(with)));
        let pairs = of(variant).filter(|trial| trial.value.is_some()).count().min(values.len());
        arm(compared.get(&variant), pairs as u32, worse.into_iter().collect(), effect_ratio)
    });
    (median(&values), arms.collect())
}

fn arm(
    compared: Option<&BlockComparison>,
    pairs_count: u32,
    worse: Vec<String>,
    effect_ratio: f64,
) -> StepArm {
    let nothing = |sentence: &str| StepArm {
        effect: None,
        word: Comparison::CannotTell,
        p: None,
        sentence: sentence.into(),
        worse: worse.clone(),
    };
    let (Some(one), Some(margin)) = (compared, log_margin(effect_ratio)) else {
        return nothing("too few trials of it could be used");
    };
    let Some(wide) = one.wide.interval() else { return nothing("its interval has no end") };
    let narrow = one.narrow.interval().map(|narrow| [narrow.low.exp(), narrow.high.exp()]);
    let effect = Effect {
        scale: EffectScale::Ratio,
        point: wide.point.exp(),
        low: wide.low.exp(),
        high: wide.high.exp(),
        confidence_ratio: 1.0 - ERROR_RATE,
        narrow,
        pairs_count,
    };
    let (word, _) = compare_bounded(&one.wide, &one.narrow, margin);
    let also = if worse.is_empty() { String::new() } else { format!("; but {}", worse.join(", ")) };
    let sentence = format!("{}{also}", effect_text(&effect));
    StepArm { effect: Some(effect), word, p: Some(one.p), sentence, worse }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(variant: usize, block: u32, value: f64, failed_ratio: f64) -> ArmTrial {
        ArmTrial { variant, block, value: Some(value), failed_ratio }
    }

    /// Blocks whose level drifts by 20%, in which every variant is so many times as fast as the first.
    fn blocks(factors: &[f64], count: u32) -> Vec<ArmTrial> {
        let noise = [1.0, 1.004, 0.997, 1.002, 0.999, 1.003, 0.998, 1.001];
        let value = |variant: usize, block: u32, factor: f64| {
            let drift = 1.0 + 0.2 * f64::from(block) / f64::from(count);
            1000.0 * drift * factor * noise[(variant * 3 + block as usize * 5) % noise.len()]
        };
        let cells = (0..count).flat_map(|block| {
            factors.iter().enumerate().map(move |(variant, factor)| (variant, block, *factor))
        });
        cells
            .map(|(variant, block, factor)| trial(variant, block, value(variant, block, factor), 0.0))
            .collect()
    }

    #[test]
    fn what_helps_hurts_and_does_nothing_is_told_apart_though_the_host_drifts() {
        let (baseline, arms) = arms(&blocks(&[1.0, 1.2, 0.9, 1.0], 6), 3, 0.03);
        let words: Vec<Comparison> = arms.iter().map(|arm| arm.word).collect();
        assert_eq!(words, [Comparison::Better, Comparison::Worse, Comparison::Same]);
        let effect = arms[0].effect.expect("has one");
        assert!((effect.point - 1.2).abs() < 0.01 && effect.low > 1.15, "{effect:?}");
        assert!(arms[0].p.expect("has one") < 0.001);
        assert!(baseline.is_some_and(|value| (1000.0..1200.0).contains(&value)), "{baseline:?}");
    }

    #[test]
    fn a_candidate_that_fails_more_requests_is_worse_in_that() {
        let mut trials = blocks(&[1.0, 1.3], 4);
        trials.iter_mut().filter(|trial| trial.variant == 1).for_each(|trial| trial.failed_ratio = 0.02);
        let (_, arms) = arms(&trials, 1, 0.03);
        assert_eq!(arms[0].word, Comparison::Better);
        assert_eq!(arms[0].worse, ["2.0% of the requests failed"]);
    }

    #[test]
    fn without_trials_nothing_is_told() {
        let (baseline, arms) = arms(&[], 2, 0.03);
        assert_eq!((baseline, arms.len(), arms[0].word), (None, 2, Comparison::CannotTell));
        let (_, arms) = super::arms(&blocks(&[1.0], 4), 1, 0.03);
        assert_eq!((arms[0].word, arms[0].p), (Comparison::CannotTell, None));
    }
}
