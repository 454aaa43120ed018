//! The rate at which a latency percentile crosses its limit, from a line through the logarithms.
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
use sysdyno_stats::regression::{inverse_prediction, ols};

/// Confidence level of capacity's interval.
pub(crate) const LEVEL: f64 = 0.95;
/// Lines and isotonic curves may differ by this much before the curve is called curved. Unit: ratio.
const CURVED: f64 = 0.05;
/// A line is refused if the scatter of its rate means had less chance than this.
const LACK_OF_FIT_P_MIN: f64 = 0.05;
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

/// Where the percentile crosses `limit_ns`. Unit of the estimate: requests per second.
///
/// `None`: no straight line, over all rates or the nearest three, that rises through the limit among them.
pub(super) fn crossing(grid: &[&TrialOutcome], limit_ns: f64) -> Option<Crossing> {
    let groups = group_by_rate(grid);
    let trials = |groups: &[RateGroup]| {
        let count: usize = groups.iter().map(|group| group.outcomes.len()).sum();
        format!("{} at {}", counted(count as f64, "trial"), counted(groups.len() as f64, "rate"))
    };
    let isotonic = isotonic_crossing(grid, limit_ns);
    if let Some(estimate) = line_crossing(&groups, limit_ns, isotonic) {
        let method =
            format!("least squares of ln percentile on ln rate over {}, Fieller interval", trials(&groups));
        return Some(Crossing { estimate, method });
    }
    let nearest = nearest(&groups, isotonic?);
    let estimate = line_crossing(nearest, limit_ns, isotonic)?;
    let method = format!(
        "the curve bends, so least squares of ln percentile on ln rate over the {} nearest to the crossing, Fieller interval",
        trials(nearest)
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

fn line_crossing(groups: &[RateGroup], limit_ns: f64, isotonic_hz: Option<f64>) -> Option<Estimate> {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for group in groups {
        for value in logarithms(group) {
            x.push(group.rate_hz.ln());
            y.push(value);
        }
    }
    let line = ols(&x, &y).filter(|line| line.slope > 0.0)?;
    let estimate = inverse_prediction(&line, limit_ns.ln(), LEVEL)?;
    if !is_straight(groups, &line, line.residual_sd.powi(2) * line.freedom()) {
        return None;
    }
    let (first, last) = (groups.first()?.rate_hz.ln(), groups.last()?.rate_hz.ln());
    let is_inside = estimate.point >= first - OUTSIDE && estimate.point <= last + OUTSIDE;
    let agrees = isotonic_hz.is_none_or(|isotonic| (estimate.point - isotonic.ln()).abs() <= CURVED);
    let estimate = estimate.map(f64::exp);
    let is_usable = estimate.low > 0.0 && estimate.high.is_finite();
    (is_inside && agrees && is_usable).then_some(estimate)
}

/// Whether the rate means scatter around the line no more than the replicates explain; without replicates nothing
/// speaks against it.
fn is_straight(groups: &[RateGroup], line: &sysdyno_stats::regression::Line, residual_squares: f64) -> bool {
    let mut pure = 0.0;
    let mut count = 0.0;
    for group in groups {
        let values = logarithms(group);
        let centre = mean(&values).unwrap_or(0.0);
        pure += values.iter().map(|value| (value - centre).powi(2)).sum::<f64>();
        count += values.len() as f64;
    }
    let rates = groups.len() as f64;
    let (pure_freedom, fit_freedom) = (count - rates, rates - 2.0);
    if pure_freedom < 1.0 || fit_freedom < 1.0 || line.residual_sd < SCATTER_MIN {
        return true;
    }
    let lack = (residual_squares - pure).max(0.0) / fit_freedom;
    let f = lack / (pure / pure_freedom).max(SCATTER_MIN * SCATTER_MIN);
    let share = fit_freedom * f / (fit_freedom * f + pure_freedom);
    1.0 - beta_cdf(share, [fit_freedom / 2.0, pure_freedom / 2.0]) >= LACK_OF_FIT_P_MIN
}
