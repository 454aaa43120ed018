//! What a sample is worth for a quantile when its values depend on each other, and intervals that allow for that.
//!
//! Latencies of one run come in good and bad seconds. The ranks of [`crate::order_statistics`] take every value for
//! independent and are then far too close together: at 1,000 requests a second, a slow tenth of a second makes a hundred
//! slow values, which are one event.
//!
//! Method: the quantile q at the value x is the mean of the indicator "above x", so that its variance is that of a mean
//! of a dependent series. The series of windows (seconds) is cut into m batches of equal length; with e_i of n_i values
//! of batch i above x, p = Σe/Σn and r_i = e_i − p n_i, the variance of the share is that of a ratio estimate over
//! clusters,
//!
//! ```text
//! V = m/(m−1) Σ r_i² ÷ n²       factor = V ÷ (p(1−p)/n) × (1+φ)/(1−φ),  at least 1
//! ```
//!
//! (R. Woodruff, "Confidence intervals for medians and other position measures", *JASA* 47, 1952: bounds for the share
//! are turned into bounds for the quantile; C. Alexopoulos, D. Goldsman, J. Wilson, "A new perspective on batched quantile
//! estimation", *WSC* 2012: batches for quantiles of simulated systems). Batches are widened until the first
//! autocorrelation of r is within the band of independent ones; what is left of it goes into the correction (1+φ)/(1−φ)
//! of a first-order autoregressive series (A. Tafazzoli, J. Steiger, J. Wilson, "N-Skart", *IEEE Trans. Automatic Control*
//! 56, 2011). With few batches V is itself uncertain: the factor is multiplied by (t_{m−1}/z)². The effective number of
//! values is then n ÷ factor, and the ranks are those of so many independent values.
//!
//! Limits: dependence that is longer than a sixth of the series cannot be seen in it. So fewer than [`BATCHES_MIN`]
//! batches that look independent, fewer than six times the correlation time of the windows, or fewer than ten effective
//! values beyond the quantile give no interval. By simulation (`tests/simulation`: levels that wander as much as
//! single values do, correlated by up to 0.8 from window to window), an interval that is given is a wrong one in at most 8%
//! of runs of 15 windows or more, where that of independent values is wrong in 50% to 90%; with ten windows in 11%.

use crate::descriptive::{is_usable, raw_mean};
use crate::distribution::{normal_quantile, student_t_quantile};
use crate::estimate::is_level;
use crate::histogram::LatencyHistogram;
use crate::order_statistics::{RankInterval, is_quantile_supported, quantile_ranks};

/// Fewest batches that an answer is given of.
pub const BATCHES_MIN: usize = 8;

/// One-sided level of the test that widens batches: one independent series in twenty is widened for nothing.
const BAND_LEVEL: f64 = 0.95;

/// Windows, in units of their correlation time (1+ρ)/(1−ρ), below which nothing is said: what is longer than a sixth of
/// the run is not seen in it.
const INDEPENDENT_WINDOWS_MIN: f64 = 6.0;

/// The greatest correlation that the correction for what is left of it can undo.
const PHI_MAX: f64 = 0.9;

/// How many values of a window lie above the quantile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowCount {
    /// All values of the window.
    pub count: u64,
    /// Those above.
    pub above: u64,
}

/// How much the values of a sample depend on each other, as far as one quantile is concerned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dependence {
    /// Batches that the windows were put into.
    pub batches: usize,
    /// Windows of a batch, at least.
    pub batch_windows: usize,
    /// Autocorrelation from one window to the next.
    pub window_rho: f64,
    /// Autocorrelation from one batch to the next.
    pub batch_rho: f64,
    /// How many times the variance of the share above the quantile is that of independent values; at least 1.
    pub variance_factor: f64,
}

/// Why a sample's dependence is not known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unknown {
    /// There are fewer windows than batches are needed.
    FewWindows,
    /// The least number of batches still depend on each other.
    Correlated {
        /// Autocorrelation from one window to the next.
        window_rho: f64,
    },
}

/// The dependence of the values of these windows, which follow each other.
///
/// # Errors
/// Too few windows, or a dependence that is longer than they allow to see.
pub fn dependence(windows: &[WindowCount]) -> Result<Dependence, Unknown> {
    let windows: Vec<WindowCount> = windows.iter().copied().filter(|window| window.count > 0).collect();
    if windows.len() < BATCHES_MIN {
        return Err(Unknown::FewWindows);
    }
    let total = sum(&windows);
    let share = total.above as f64 / total.count as f64;
    let window_rho = unbiased_rho(&residuals(&windows, share));
    let time = (1.0 + window_rho.max(0.0)) / (1.0 - window_rho);
    if (windows.len() as f64) < INDEPENDENT_WINDOWS_MIN * time {
        return Err(Unknown::Correlated { window_rho });
    }
    let widths = 1..=windows.len() / BATCHES_MIN;
    let found = widths.into_iter().find_map(|batch_windows| {
        let batches = joined(&windows, windows.len() / batch_windows);
        let residuals = residuals(&batches, share);
        let batch_rho = unbiased_rho(&residuals);
        is_in_band(batch_rho, batches.len()).then(|| Dependence {
            batches: batches.len(),
            batch_windows,
            window_rho,
            batch_rho,
            variance_factor: variance_factor(&residuals, total, batch_rho),
        })
    });
    found.ok_or(Unknown::Correlated { window_rho })
}

fn sum(windows: &[WindowCount]) -> WindowCount {
    windows.iter().fold(WindowCount::default(), |sum, window| WindowCount {
        count: sum.count.saturating_add(window.count),
        above: sum.above.saturating_add(window.above),
    })
}

/// The windows in `batches` groups of neighbors whose lengths differ by one window at most.
fn joined(windows: &[WindowCount], batches: usize) -> Vec<WindowCount> {
    let edge = |batch: usize| batch * windows.len() / batches;
    (0..batches).map(|batch| sum(&windows[edge(batch)..edge(batch + 1)])).collect()
}

/// What is above in each batch beyond its share.
fn residuals(batches: &[WindowCount], share: f64) -> Vec<f64> {
    batches.iter().map(|batch| batch.above as f64 - share * batch.count as f64).collect()
}

/// The first autocorrelation without the bias of short series, −(1 + 3ρ)/m (F. Marriott and J. Pope, *Biometrika* 41,
/// 1954); 0 for a series that does not vary.
fn unbiased_rho(series: &[f64]) -> f64 {
    let count = series.len() as f64;
    first_rho(series).map_or(0.0, |rho| (rho + (1.0 + 3.0 * rho) / count).clamp(-1.0, PHI_MAX))
}

/// The first autocorrelation, in its biased form: Σ(x_t − m)(x_{t+1} − m) ÷ Σ(x_t − m)².
///
/// `None`: fewer than two values, one that is not finite, or all equal.
fn first_rho(series: &[f64]) -> Option<f64> {
    if !is_usable(series, 2) {
        return None;
    }
    let mean = raw_mean(series);
    let centered: Vec<f64> = series.iter().map(|value| value - mean).collect();
    let square_sum: f64 = centered.iter().map(|value| value * value).sum();
    let product: f64 = centered.windows(2).map(|pair| pair[0] * pair[1]).sum();
    (square_sum > 0.0).then(|| product / square_sum)
}

/// The first autocorrelation of independent values is 0 ± 1/√m.
fn is_in_band(rho: f64, batches: usize) -> bool {
    rho <= normal_quantile(BAND_LEVEL) / (batches as f64).sqrt()
}

fn variance_factor(residuals: &[f64], total: WindowCount, batch_rho: f64) -> f64 {
    let (batches, count) = (residuals.len() as f64, total.count as f64);
    let share = total.above as f64 / count;
    let independent = share * (1.0 - share) * count;
    if independent <= 0.0 {
        return 1.0;
    }
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let phi = batch_rho.clamp(0.0, PHI_MAX);
    let factor = batches / (batches - 1.0) * squares / independent * (1.0 + phi) / (1.0 - phi);
    factor.max(1.0)
}

impl Dependence {
    /// How many independent values `count` of these are worth, the uncertainty of the batches' variance included.
    pub fn effective_count(&self, count: u64, level: f64) -> u64 {
        let probability = 1.0 - (1.0 - level) / 2.0;
        let widening =
            student_t_quantile(probability, self.batches as f64 - 1.0) / normal_quantile(probability);
        (count as f64 / (self.variance_factor * widening * widening)).floor().max(0.0) as u64
    }
}

/// The values of the histogram that enclose its quantile `ratio` with about confidence `level`, if its values depend on
/// each other like this.
///
/// Unit: nanoseconds.
/// `None`: so many values as these are worth cannot bound the quantile on both sides, or an argument is not strictly
/// between 0 and 1.
pub fn dependent_interval(
    histogram: &LatencyHistogram,
    ratio: f64,
    level: f64,
    dependence: &Dependence,
) -> Option<[u64; 2]> {
    if !is_level(level) {
        return None;
    }
    let count = histogram.count();
    let effective = dependence.effective_count(count, level);
    if !is_quantile_supported(effective, ratio.max(1.0 - ratio)) {
        return None;
    }
    let ranks = stretched(quantile_ranks(effective, ratio, level)?, effective, count);
    let low = histogram.as_hdr().lowest_equivalent(histogram.value_at_rank(ranks.low)?);
    Some([low, histogram.value_at_rank(ranks.high)?])
}

/// Ranks among `effective` values as ranks at the same shares of `count`, rounded outward.
fn stretched(ranks: RankInterval, effective: u64, count: u64) -> RankInterval {
    let share = |rank: u64| rank as f64 / (effective as f64 + 1.0);
    let low = (share(ranks.low) * count as f64).floor() as u64;
    let high = (share(ranks.high) * count as f64).ceil() as u64;
    RankInterval { low: low.max(1), high: high.min(count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(above: impl IntoIterator<Item = u64>) -> Vec<WindowCount> {
        above.into_iter().map(|above| WindowCount { count: 100, above }).collect()
    }

    #[test]
    fn windows_that_are_all_alike_are_worth_every_value() {
        let found = dependence(&windows([10; 20])).expect("enough windows");
        assert_eq!((found.batches, found.batch_windows, found.variance_factor), (20, 1, 1.0));
        // Only the few batches cost something.
        assert!((1500..2000).contains(&found.effective_count(2000, 0.95)), "{found:?}");
    }

    #[test]
    fn slow_windows_cost_most_of_the_values() {
        // One in four windows has all that is above.
        let found = dependence(&windows((0..40).map(|index| if index % 4 == 0 { 40 } else { 0 })));
        let found = found.expect("enough windows");
        assert!(found.variance_factor > 20.0, "{found:?}");
        assert!(found.effective_count(4000, 0.95) < 200, "{found:?}");
    }

    #[test]
    fn batches_are_widened_until_they_look_independent() {
        // Three good windows, three bad ones, and so on, with a shift so that wide batches differ little.
        let found = dependence(&windows((0..96).map(|index| if index / 3 % 2 == 0 { 0 } else { 20 })));
        let found = found.expect("enough windows");
        assert!(found.window_rho > 0.2 && found.batch_windows >= 2, "{found:?}");
    }

    #[test]
    fn a_trend_over_the_whole_run_is_not_known() {
        let trend = dependence(&windows(0..64));
        assert!(matches!(trend, Err(Unknown::Correlated { window_rho }) if window_rho > 0.8), "{trend:?}");
        assert_eq!(dependence(&windows([1; 7])), Err(Unknown::FewWindows));
        assert_eq!(dependence(&[WindowCount::default(); 60]), Err(Unknown::FewWindows));
    }

    #[test]
    fn the_interval_is_wider_the_less_the_values_are_worth() {
        let mut histogram = LatencyHistogram::new();
        (1..=100_000).for_each(|value| histogram.record(value));
        let of = |variance_factor: f64| {
            let dependence = Dependence {
                batches: 60,
                batch_windows: 1,
                window_rho: 0.0,
                batch_rho: 0.0,
                variance_factor,
            };
            dependent_interval(&histogram, 0.99, 0.95, &dependence)
        };
        let naive = crate::order_statistics::quantile_interval(&histogram, 0.99, 0.95).expect("large enough");
        let (narrow, wide) = (of(1.0).expect("large enough"), of(4.0).expect("large enough"));
        assert!(narrow[0] <= naive[0] && naive[1] <= narrow[1], "{narrow:?} {naive:?}");
        assert!(wide[1] - wide[0] > (narrow[1] - narrow[0]) * 3 / 2, "{wide:?} {narrow:?}");
        assert_eq!(of(100.0), None, "a thousand values have no ten beyond p99");
    }
}
