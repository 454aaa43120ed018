//! Turns the values of two sides into an effect with its interval, and picks the word for it.
//!
//! On logarithms, so that the effect is a ratio and swapping the sides mirrors it. With runs x of the one side and y of
//! the other:
//!
//! - four or more on each side (or what else gives a finite interval): Hodges–Lehmann shift with the interval of the
//!   Mann–Whitney test, which takes nothing for granted but that runs of a side are alike;
//! - two or more: Welch's interval of the difference of means, which takes runs for normally scattered;
//! - one run on a side: how much runs scatter is not known. The interval within each run counts, and between runs the
//!   deviation of the metric's table is assumed: d ± z·√(Σ (σ² + s²) ÷ n), where s is the error within the run. Small
//!   effects can't be told this way, whatever the counts within the runs are.

use super::metric::{ComparedMetric, MeasuredSide};
use sysdyno_record::comparison::{EffectMethod, MetricEffect, RunValue};
use sysdyno_record::effect::{Better, Comparison, ComparisonVerdict, Effect, EffectScale};
use sysdyno_stats::distribution::{normal_cdf, normal_quantile};
use sysdyno_stats::estimate::Estimate;
use sysdyno_stats::multiplicity::holm;
use sysdyno_stats::rank_sum::{hodges_lehmann_shift, mann_whitney};
use sysdyno_stats::t_test::welch;
use sysdyno_stats::verdict::{Intervals, compare, log_margin, qualify};

/// Level of the interval that is shown.
const WIDE: f64 = 0.95;
/// Level of the interval that decides whether the sides are the same.
const NARROW: f64 = 0.90;
/// Adjusted p from which on sides cannot be told apart.
pub(super) const ALPHA: f64 = 0.05;

/// Why a difference between runs that were not interleaved proves no cause.
pub(super) const NOT_INTERLEAVED: &str =
    "the runs were not interleaved: the difference includes everything else that changed between them";
/// Why a comparison of single runs says little.
pub const SINGLE_RUNS: &str = "one side has a single run: the variation between runs is assumed";

/// A difference of logarithms y − x with all that is said about it.
#[derive(Clone, Debug)]
pub(super) struct Found {
    difference: Option<Difference>,
    verdict: ComparisonVerdict,
    runs_count: u32,
}

/// A difference of logarithms with the intervals that words follow from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Difference {
    pub(super) wide: Estimate,
    pub(super) narrow: Estimate,
    pub(super) p: f64,
    pub(super) method: EffectMethod,
}

impl Found {
    /// Probability of such a difference without an effect; `None`: there is no difference to judge.
    pub(super) fn p(&self) -> Option<f64> {
        self.difference.map(|difference| difference.p)
    }

    /// The effect, as a ratio; `None`: as [`Found::p`].
    pub(super) fn effect(&self) -> Option<Effect> {
        self.difference.map(|Difference { wide, narrow, .. }| Effect {
            scale: EffectScale::Ratio,
            point: wide.point.exp(),
            low: wide.low.exp(),
            high: wide.high.exp(),
            confidence_ratio: wide.level,
            narrow: Some([narrow.low.exp(), narrow.high.exp()]),
            pairs_count: self.runs_count,
        })
    }

    /// A difference with the word that follows from its intervals, for this direction and this smallest effect that matters.
    pub(super) fn judged(
        difference: Difference,
        (better, margin_ratio): (Better, f64),
        runs_count: u32,
    ) -> Found {
        let (word, intervals) = word(&difference, better, margin_ratio);
        let qualifier = log_margin(margin_ratio).and_then(|margin| qualify(word, &intervals, margin));
        let verdict =
            ComparisonVerdict { word, qualifier, is_outlier_sensitive: false, capped_by: Vec::new() };
        Found { difference: Some(difference), verdict, runs_count }
    }

    pub(super) fn verdict(&self) -> ComparisonVerdict {
        self.verdict.clone()
    }

    pub(super) fn of_side(self, side: usize) -> MetricEffect {
        MetricEffect {
            side,
            effect: self.effect(),
            method: self.difference.map(|difference| difference.method),
            p: self.p(),
            verdict: self.verdict,
        }
    }
}

/// The effect of `y` against `x`.
pub(super) fn effect(
    x: &MeasuredSide,
    y: &MeasuredSide,
    metric: &ComparedMetric,
    margin_ratio: f64,
) -> Found {
    let runs_count = x.runs.len().min(y.runs.len()) as u32;
    let nothing = |reason: String| Found {
        difference: None,
        verdict: ComparisonVerdict::cannot_tell(reason),
        runs_count,
    };
    if let Some(reason) = x.missing.as_ref().or(y.missing.as_ref()) {
        return nothing(reason.clone());
    }
    let (logs_x, logs_y) = (x.logs(), y.logs());
    let found = if runs_count < 2 {
        assumed(&x.runs, &y.runs, metric.deviation.value)
    } else {
        by_ranks(&logs_x, &logs_y).or_else(|| by_means(&logs_x, &logs_y))
    };
    let Some(difference) = found else {
        return nothing("all runs of a side are identical, so there is no interval".to_owned());
    };
    let mut judged = Found::judged(difference, (metric.better, margin_ratio), runs_count);
    let word_of = |difference: &Difference| word(difference, metric.better, margin_ratio).0;
    let verdict = &mut judged.verdict;
    verdict.is_outlier_sensitive = difference.method == EffectMethod::RankShift
        && by_means(&logs_x, &logs_y).is_some_and(|means| word_of(&means) != verdict.word);
    if matches!(verdict.word, Comparison::Better | Comparison::Worse) {
        verdict.capped_by.push(NOT_INTERLEAVED.to_owned());
    }
    if difference.method == EffectMethod::AssumedDeviation {
        let deviation = crate::format::percent(metric.deviation.value);
        verdict.capped_by.push(format!("{SINGLE_RUNS} ({deviation})"));
    }
    judged
}

/// The word, and the intervals signed so that positive is better.
fn word(difference: &Difference, better: Better, margin_ratio: f64) -> (Comparison, Intervals) {
    let signed = |estimate: Estimate| if better == Better::Higher { estimate } else { estimate.negated() };
    let intervals =
        Intervals { wide: Some(signed(difference.wide)), narrow: Some(signed(difference.narrow)) };
    let word = log_margin(margin_ratio).map_or(Comparison::CannotTell, |margin| compare(&intervals, margin));
    (word, intervals)
}

fn by_ranks(x: &[f64], y: &[f64]) -> Option<Difference> {
    let wide = hodges_lehmann_shift(x, y, WIDE)?;
    let narrow = hodges_lehmann_shift(x, y, NARROW)?;
    let test = mann_whitney(x, y)?;
    Some(Difference {
        wide,
        narrow,
        p: test.p_exact.unwrap_or(test.p_normal),
        method: EffectMethod::RankShift,
    })
}

fn by_means(x: &[f64], y: &[f64]) -> Option<Difference> {
    let (wide, narrow) = (welch(x, y, WIDE)?, welch(x, y, NARROW)?);
    Some(Difference {
        wide: wide.mean,
        narrow: narrow.mean,
        p: wide.p_two_sided,
        method: EffectMethod::Welch,
    })
}

/// The difference where a side has one run, with an assumed deviation between runs.
fn assumed(x: &[RunValue], y: &[RunValue], deviation: f64) -> Option<Difference> {
    let point = mean(y.iter().map(|run| run.value.ln()))? - mean(x.iter().map(|run| run.value.ln()))?;
    let variance = |runs: &[RunValue]| {
        let within = mean(runs.iter().map(|run| within_deviation(run).powi(2)))?;
        Some((deviation.powi(2) + within) / runs.len() as f64)
    };
    let error = (variance(x)? + variance(y)?).sqrt();
    let at = |level: f64| {
        let reach = normal_quantile(0.5 + level / 2.0) * error;
        Estimate { point, low: point - reach, high: point + reach, level }
    };
    let p = (2.0 * normal_cdf(-(point / error).abs())).min(1.0);
    let is_usable = point.is_finite() && error.is_finite() && error > 0.0;
    is_usable.then(|| Difference {
        wide: at(WIDE),
        narrow: at(NARROW),
        p,
        method: EffectMethod::AssumedDeviation,
    })
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let count = values.len() as f64;
    (count > 0.0).then(|| values.sum::<f64>() / count)
}

/// Standard error of the logarithm within the run; 0 where it is not known.
pub(super) fn within_deviation(run: &RunValue) -> f64 {
    run.interval.map_or(0.0, |[low, high]| (high / low).ln() / (2.0 * normal_quantile(0.975)))
}

/// Adjusts a family of comparisons for their number: a word that only one of many supports is none. Those of blocks are
/// adjusted.
pub(super) fn adjust(effects: &mut [&mut MetricEffect]) {
    let is_open = |effect: &MetricEffect| effect.p.is_some() && effect.method != Some(EffectMethod::Blocks);
    let known: Vec<usize> = (0..effects.len()).filter(|index| is_open(effects[*index])).collect();
    let p: Vec<f64> = known.iter().filter_map(|index| effects[*index].p).collect();
    for (index, adjusted) in known.iter().zip(holm(&p)) {
        let effect = &mut *effects[*index];
        effect.p = Some(adjusted);
        let is_claim = matches!(effect.verdict.word, Comparison::Better | Comparison::Worse);
        if p.len() > 1 && is_claim && adjusted >= ALPHA {
            effect.verdict.word = Comparison::CannotTell;
            effect.verdict.qualifier = None;
            effect.verdict.capped_by =
                vec![format!("with {} comparisons, such a difference may be chance", p.len())];
        }
    }
}
