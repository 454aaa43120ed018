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
//!
//! Where runs of a side are lower bounds, the end of the interval that a greater value would move is not known. Where those of
//! both sides are, nothing is.

use super::metric::{ComparedMetric, MeasuredSide};
use sysdyno_record::comparison::{EffectBound, EffectMethod, MetricEffect, RunValue};
use sysdyno_record::effect::{
    Better, BoundSide, Comparison, ComparisonVerdict, Effect, EffectScale, Qualifier,
};
use sysdyno_stats::distribution::{normal_cdf, normal_quantile};
use sysdyno_stats::estimate::{BoundedEstimate, Estimate, OneSidedBound};
use sysdyno_stats::multiplicity::holm;
use sysdyno_stats::rank_sum::{hodges_lehmann_shift, mann_whitney};
use sysdyno_stats::t_test::welch;
use sysdyno_stats::verdict::{compare_bounded, log_margin};

/// Level of the interval that is shown.
const WIDE: f64 = 0.95;
/// Level of the interval that decides whether the sides are the same.
const NARROW: f64 = 0.90;
/// Adjusted p from which on sides cannot be told apart.
pub(super) const ALPHA: f64 = 0.05;

/// Why a difference between runs that were not interleaved proves no cause.
pub(super) const NOT_INTERLEAVED: &str =
    "the runs were not interleaved: the difference includes everything else that changed between them";
/// Why nothing is known of two sides with lower bounds.
const BOTH_BOUNDED: &str = "only lower bounds of both sides are known";
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
    pub(super) wide: BoundedEstimate,
    pub(super) narrow: BoundedEstimate,
    pub(super) p: f64,
    pub(super) method: EffectMethod,
}

impl Found {
    /// Probability of such a difference without an effect; `None`: there is no difference to judge.
    pub(super) fn p(&self) -> Option<f64> {
        self.difference.map(|difference| difference.p)
    }

    /// The effect, as a ratio; `None`: as [`Found::p`], or only a bound of it is known.
    pub(super) fn effect(&self) -> Option<Effect> {
        let Difference { wide, narrow, .. } = self.difference?;
        let (wide, narrow) = (wide.interval()?, narrow.interval()?);
        Some(Effect {
            scale: EffectScale::Ratio,
            point: wide.point.exp(),
            low: wide.low.exp(),
            high: wide.high.exp(),
            confidence_ratio: wide.level,
            narrow: Some([narrow.low.exp(), narrow.high.exp()]),
            pairs_count: self.runs_count,
        })
    }

    /// What the effect is at least or at most, as a ratio; `None`: more is known, or nothing.
    fn bound(&self) -> Option<EffectBound> {
        let BoundedEstimate::Bound(OneSidedBound { value, side, level }) = self.difference?.wide else {
            return None;
        };
        let ratio = Some(value.exp()).filter(|ratio| ratio.is_finite())?;
        Some(EffectBound { side, ratio, confidence_ratio: level, pairs_count: self.runs_count })
    }

    /// Nothing can be told, and why.
    pub(super) fn nothing(reason: String, runs_count: u32) -> Found {
        Found { difference: None, verdict: ComparisonVerdict::cannot_tell(reason), runs_count }
    }

    /// Of sides that have only lower bounds nothing can be told.
    pub(super) fn both_bounded(runs_count: u32) -> Found {
        Found::nothing(BOTH_BOUNDED.to_owned(), runs_count)
    }

    /// A difference with the word that follows from its intervals, for this direction and this smallest effect that matters.
    pub(super) fn judged(
        difference: Difference,
        (better, margin_ratio): (Better, f64),
        runs_count: u32,
    ) -> Found {
        let (word, qualifier) = word(&difference, better, margin_ratio);
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
            bound: self.bound(),
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
    if let Some(reason) = x.missing.as_ref().or(y.missing.as_ref()) {
        return Found::nothing(reason.clone(), runs_count);
    }
    if x.is_bounded() && y.is_bounded() {
        return Found::both_bounded(runs_count);
    }
    let (logs_x, logs_y) = (x.logs(), y.logs());
    let open = |difference: Difference| difference.open([x.is_bounded(), y.is_bounded()]);
    let means = || by_means(&logs_x, &logs_y).map(open);
    let found = if runs_count < 2 {
        assumed(&x.runs, &y.runs, metric.deviation.value).map(open)
    } else {
        by_ranks(&logs_x, &logs_y).map(open).or_else(means)
    };
    let Some(difference) = found else {
        let reason = "all runs of a side are identical, so there is no interval";
        return Found::nothing(reason.to_owned(), runs_count);
    };
    let mut judged = Found::judged(difference, (metric.better, margin_ratio), runs_count);
    let word_of = |difference: &Difference| word(difference, metric.better, margin_ratio).0;
    let verdict = &mut judged.verdict;
    verdict.is_outlier_sensitive = difference.method == EffectMethod::RankShift
        && means().is_some_and(|means| word_of(&means) != verdict.word);
    if matches!(verdict.word, Comparison::Better | Comparison::Worse) {
        verdict.capped_by.push(NOT_INTERLEAVED.to_owned());
    }
    if difference.method == EffectMethod::AssumedDeviation {
        let deviation = crate::format::percent(metric.deviation.value);
        verdict.capped_by.push(format!("{SINGLE_RUNS} ({deviation})"));
    }
    judged
}

impl Difference {
    /// The same where `x` or `y` have lower bounds: greater values of `y` may make it greater, those of `x` less.
    fn open(self, [x, y]: [bool; 2]) -> Difference {
        let known = |estimate: BoundedEstimate| {
            let BoundedEstimate::Interval(Estimate { low, high, level, .. }) = estimate else {
                return estimate;
            };
            let bound = |value, side| BoundedEstimate::Bound(OneSidedBound { value, side, level });
            match (x, y) {
                (false, true) => bound(low, BoundSide::AtLeast),
                (true, _) => bound(high, BoundSide::AtMost),
                (false, false) => estimate,
            }
        };
        let point = self.wide.interval().map_or(0.0, |estimate| estimate.point);
        let is_spoken_for = if point < 0.0 { !y } else { !x };
        let p = if is_spoken_for || !(x || y) { self.p } else { 1.0 };
        Difference { wide: known(self.wide), narrow: known(self.narrow), p, ..self }
    }
}

/// The word that follows from the intervals, signed so that positive is better, and what is known besides.
fn word(difference: &Difference, better: Better, margin_ratio: f64) -> (Comparison, Option<Qualifier>) {
    let signed =
        |estimate: BoundedEstimate| if better == Better::Higher { estimate } else { estimate.negated() };
    let told = |margin| compare_bounded(&signed(difference.wide), &signed(difference.narrow), margin);
    log_margin(margin_ratio).map_or((Comparison::CannotTell, None), told)
}

fn by_ranks(x: &[f64], y: &[f64]) -> Option<Difference> {
    let wide = hodges_lehmann_shift(x, y, WIDE)?;
    let narrow = hodges_lehmann_shift(x, y, NARROW)?;
    let test = mann_whitney(x, y)?;
    Some(Difference {
        wide: BoundedEstimate::Interval(wide),
        narrow: BoundedEstimate::Interval(narrow),
        p: test.p_exact.unwrap_or(test.p_normal),
        method: EffectMethod::RankShift,
    })
}

fn by_means(x: &[f64], y: &[f64]) -> Option<Difference> {
    let (wide, narrow) = (welch(x, y, WIDE)?, welch(x, y, NARROW)?);
    Some(Difference {
        wide: BoundedEstimate::Interval(wide.mean),
        narrow: BoundedEstimate::Interval(narrow.mean),
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
        BoundedEstimate::Interval(Estimate { point, low: point - reach, high: point + reach, level })
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
    let of_blocks = [Some(EffectMethod::Blocks), Some(EffectMethod::BlockRanks)];
    let is_open = |effect: &MetricEffect| effect.p.is_some() && !of_blocks.contains(&effect.method);
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
