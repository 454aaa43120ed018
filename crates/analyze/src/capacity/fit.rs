//! The rate at which a latency percentile crosses its limit, from a straight line in suitable coordinates.
//!
//! Straightness is tested against the replicates: the residual sum of squares is split into pure error (within a rate)
//! and lack of fit (rate means against the line); their mean squares have an F distribution if the line is right (N.
//! Draper and H. Smith, *Applied Regression Analysis*, §1.5). The isotonic curve, which assumes only that latency does not
//! fall when load rises, must cross within 5 % of the line.

use super::enclosure::{RateGroup, group_by_rate};
use crate::format::counted;
use crate::outcome::TrialOutcome;
use sysdyno_stats::descriptive::{mean, median};
use sysdyno_stats::distribution::beta_cdf;
use sysdyno_stats::estimate::Estimate;
use sysdyno_stats::isotonic::{crossing as isotonic_crossing_of, non_decreasing};
use sysdyno_stats::regression::{FittedLine, inverse_prediction, ols};

/// Confidence level of capacity's interval.
pub(crate) const LEVEL: f64 = 0.95;
/// Lines and isotonic curves may differ by this much before the curve is called curved. Unit: ratio.
const CURVED: f64 = 0.05;
/// A line is refused if the scatter of its rate means had less chance than this.
const LACK_OF_FIT_P_MIN: f64 = 0.10;
/// A crossing this far outside of the rates that were tried is not believed. Unit: ratio.
const OUTSIDE: f64 = 0.05;
/// Rates of the line around the crossing.
const LOCAL_RATES: usize = 3;
/// Scatter below this is that of arithmetic, not of trials.
const SCATTER_MIN: f64 = 1e-9;

/// A crossing with the way that led to it.
pub(super) struct Crossing {
    pub(super) estimate: Estimate,
    pub(super) method: String,
}

/// Coordinates in which a latency curve may be straight.
struct Scale {
    x: fn(f64) -> f64,
    rate: fn(f64) -> f64,
    /// Of latency ÷ limit.
    y: fn(f64) -> f64,
}

/// Power laws are straight in the logarithms; a queue near its saturation waits for 1/(1 − load), so that the reciprocal of
/// its latency falls evenly with the rate (J. Kingman 1961). Which of the two a server is nearer to, few trials cannot tell: the
/// interval covers both, as far as each is straight.
const SCALES: [Scale; 2] =
    [Scale { x: f64::ln, rate: f64::exp, y: f64::ln }, Scale { x: |rate| rate, rate: |x| x, y: f64::recip }];

/// Where the percentile crosses `limit_ns`. Unit of the estimate: requests per second.
///
/// `None`: no straight line over the nearest rates that rises through the limit among them.
pub(super) fn crossing(grid: &[&TrialOutcome], limit_ns: f64) -> Option<Crossing> {
    let groups = group_by_rate(grid);
    let isotonic = isotonic_crossing(grid, limit_ns);
    let near = isotonic.map_or(groups.as_slice(), |isotonic| nearest(&groups, isotonic));
    let fits: Vec<Estimate> =
        SCALES.iter().filter_map(|scale| line_crossing(near, scale, limit_ns, isotonic)).collect();
    let first = fits.first()?;
    let estimate = Estimate {
        point: fits.iter().map(|fit| fit.point).sum::<f64>() / fits.len() as f64,
        low: fits.iter().map(|fit| fit.low).fold(first.low, f64::min),
        high: fits.iter().map(|fit| fit.high).fold(first.high, f64::max),
        level: LEVEL,
    };
    let trials: usize = near.iter().map(|group| group.outcomes.len()).sum();
    let method = format!(
        "least squares over {} at {}, Fieller interval",
        counted(trials as f64, "trial"),
        counted(near.len() as f64, "rate")
    );
    Some(Crossing { estimate, method })
}

/// Where the isotonic curve through the medians crosses the limit. Unit: requests per second.
pub(super) fn isotonic_crossing(grid: &[&TrialOutcome], limit_ns: f64) -> Option<f64> {
    let groups = group_by_rate(grid);
    let (mut x, mut y, mut weights) = (Vec::new(), Vec::new(), Vec::new());
    for group in &groups {
        let values = logarithms(group);
        if let Some(middle) = median(&values) {
            x.push(group.rate_hz.ln());
            y.push(middle);
            weights.push(values.len() as f64);
        }
    }
    isotonic_crossing_of(&x, &non_decreasing(&y, &weights), limit_ns.ln()).map(f64::exp)
}

fn logarithms(group: &RateGroup) -> Vec<f64> {
    group.outcomes.iter().filter_map(|outcome| outcome.percentile_ns).map(f64::ln).collect()
}

/// The rates nearest to the crossing: as many on both sides as there are, ascending.
fn nearest<'a, 'b>(groups: &'b [RateGroup<'a>], crossing_hz: f64) -> &'b [RateGroup<'a>] {
    let above = groups.iter().position(|group| group.rate_hz >= crossing_hz).unwrap_or(groups.len());
    let is_nearer_below = above >= 2
        && groups
            .get(above)
            .is_some_and(|group| group.rate_hz / crossing_hz > crossing_hz / groups[above - 1].rate_hz);
    let first = above.saturating_sub(if is_nearer_below { LOCAL_RATES - 1 } else { 1 });
    let first = first.min(groups.len().saturating_sub(LOCAL_RATES));
    &groups[first..(first + LOCAL_RATES).min(groups.len())]
}

fn line_crossing(
    groups: &[RateGroup],
    scale: &Scale,
    limit_ns: f64,
    isotonic_hz: Option<f64>,
) -> Option<Estimate> {
    let values: Vec<Vec<f64>> = groups.iter().map(|group| scaled(group, scale, limit_ns)).collect();
    let x = groups
        .iter()
        .zip(&values)
        .flat_map(|(group, y)| std::iter::repeat_n((scale.x)(group.rate_hz), y.len()));
    let line = ols(&x.collect::<Vec<_>>(), &values.concat())?;
    let rises = line.slope * ((scale.y)(2.0) - (scale.y)(1.0)) > 0.0;
    let estimate = inverse_prediction(&line, (scale.y)(1.0), LEVEL).filter(|_| rises)?;
    if !is_straight(&values, &line) {
        return None;
    }
    let estimate = estimate.map(scale.rate);
    let (first, last) = (groups.first()?.rate_hz, groups.last()?.rate_hz);
    let is_inside = estimate.point >= first * (1.0 - OUTSIDE) && estimate.point <= last * (1.0 + OUTSIDE);
    let agrees = isotonic_hz.is_none_or(|isotonic| (estimate.point / isotonic).ln().abs() <= CURVED);
    let is_usable = estimate.low > 0.0 && estimate.high.is_finite();
    (is_inside && agrees && is_usable).then_some(estimate)
}

fn scaled(group: &RateGroup, scale: &Scale, limit_ns: f64) -> Vec<f64> {
    group
        .outcomes
        .iter()
        .filter_map(|outcome| outcome.percentile_ns)
        .map(|ns| (scale.y)(ns / limit_ns))
        .collect()
}

/// Whether the rate means scatter around the line no more than the replicates explain; without replicates nothing
/// speaks against it.
fn is_straight(values: &[Vec<f64>], line: &FittedLine) -> bool {
    let within = |values: &Vec<f64>| {
        let centre = mean(values).unwrap_or(0.0);
        values.iter().map(|value| (value - centre).powi(2)).sum::<f64>()
    };
    let pure: f64 = values.iter().map(within).sum();
    let (count, rates) = (values.iter().map(Vec::len).sum::<usize>() as f64, values.len() as f64);
    let (pure_freedom, fit_freedom) = (count - rates, rates - 2.0);
    if pure_freedom < 1.0 || fit_freedom < 1.0 || line.residual_sd < SCATTER_MIN {
        return true;
    }
    let residual_squares = line.residual_sd.powi(2) * line.freedom();
    let lack = (residual_squares - pure).max(0.0) / fit_freedom;
    let f = lack / (pure / pure_freedom).max(SCATTER_MIN * SCATTER_MIN);
    let share = fit_freedom * f / (fit_freedom * f + pure_freedom);
    1.0 - beta_cdf(share, [fit_freedom / 2.0, pure_freedom / 2.0]) >= LACK_OF_FIT_P_MIN
}
