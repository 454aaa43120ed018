//! Did the change help? Better, worse, the same, or can't tell; and when enough pairs have been measured.
//!
//! Differences are signed so that positive is an improvement. Δ = ln(1 + MEI), where MEI is the smallest effect that
//! matters, declared before the run. With L and U the ends of the Hodges–Lehmann intervals:
//!
//! ```text
//! the 90 % interval lies inside (−Δ, +Δ)   →  same      (two one-sided tests at 5 %)
//! L95 > 0                                  →  better    (by at least MEI when L95 ≥ Δ)
//! U95 < 0                                  →  worse     (mirror)
//! otherwise                                →  can't tell
//! ```
//!
//! When the 95% interval is narrower than Δ, the verdict is never "can't tell": the 90% interval lies within the 95%
//! interval, and if that contains 0 it lies inside (−Δ, +Δ). Measuring therefore stops by the width of the interval, not
//! by its sign, which keeps the rate of false verdicts as promised; stopping at the first p < 0.05 gives 26%.

use crate::estimate::{BoundedEstimate, Estimate};
use crate::signed_rank::hodges_lehmann;
use crate::t_test::paired_t;
use serde::{Deserialize, Serialize};

/// Fewest pairs that a verdict is given of.
pub const PAIRS_MIN: usize = 8;

/// The answer to whether a change helped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// It helped.
    Better,
    /// It hurt.
    Worse,
    /// Whatever it did is too small to matter.
    Same,
    /// The interval is too wide to say.
    CannotTell,
}

/// What is known besides the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Qualifier {
    /// The whole interval lies beyond the smallest effect that matters.
    ByAtLeastMei,
    /// There is an effect; whether it is large enough to matter is open.
    SizeUncertain,
    /// There is an effect, and it is too small to matter.
    RealButNegligible,
}

/// The 95% and 90% intervals of one effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Intervals {
    /// `None`: too few pairs.
    pub wide: Option<Estimate>,
    /// `None`: too few pairs.
    pub narrow: Option<Estimate>,
}

/// A verdict with the intervals that it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgedComparison {
    /// The answer.
    pub comparison: Comparison,
    /// `None`: there is nothing to add.
    pub qualifier: Option<Qualifier>,
    /// The Hodges–Lehmann intervals.
    pub intervals: Intervals,
    /// Student's t would have given another answer: a few trials decide it, and both are shown.
    pub is_outlier_sensitive: bool,
}

/// The smallest effect that matters as a difference of logarithms: ln(1 + MEI).
///
/// `None`: `mei_ratio` is not positive and finite.
pub fn log_margin(mei_ratio: f64) -> Option<f64> {
    (mei_ratio > 0.0 && mei_ratio.is_finite()).then(|| mei_ratio.ln_1p())
}

/// The verdict on paired differences, for a smallest effect that matters of `mei_ratio` (0.03 for 3%).
///
/// `None`: `mei_ratio` is not positive and finite, or there is no usable difference.
pub fn judge(differences: &[f64], mei_ratio: f64) -> Option<JudgedComparison> {
    let margin = log_margin(mei_ratio)?;
    crate::signed_rank::hodges_lehmann_point(differences)?;
    let intervals =
        Intervals { wide: hodges_lehmann(differences, 0.95), narrow: hodges_lehmann(differences, 0.90) };
    let by_t = Intervals {
        wide: paired_t(differences, 0.95).map(|test| test.mean),
        narrow: paired_t(differences, 0.90).map(|test| test.mean),
    };
    let comparison = compare(&intervals, margin);
    let is_outlier_sensitive = by_t.wide.is_some() && compare(&by_t, margin) != comparison;
    let qualifier = qualify(comparison, &intervals, margin);
    Some(JudgedComparison { comparison, qualifier, intervals, is_outlier_sensitive })
}

/// The rules above, for intervals of any origin; an interval that is missing supports nothing.
pub fn compare(intervals: &Intervals, margin: f64) -> Comparison {
    if intervals.narrow.is_some_and(|narrow| -margin < narrow.low && narrow.high < margin) {
        return Comparison::Same;
    }
    match intervals.wide {
        Some(wide) if wide.low > 0.0 => Comparison::Better,
        Some(wide) if wide.high < 0.0 => Comparison::Worse,
        _ => Comparison::CannotTell,
    }
}

/// What is known besides the answer, for intervals of any origin. `None`: there is nothing to add.
pub fn qualify(comparison: Comparison, intervals: &Intervals, margin: f64) -> Option<Qualifier> {
    let wide = intervals.wide?;
    let by_size = |is_large: bool| if is_large { Qualifier::ByAtLeastMei } else { Qualifier::SizeUncertain };
    match comparison {
        Comparison::Better => Some(by_size(wide.low >= margin)),
        Comparison::Worse => Some(by_size(wide.high <= -margin)),
        Comparison::Same => (!wide.contains(0.0)).then_some(Qualifier::RealButNegligible),
        Comparison::CannotTell => None,
    }
}

/// The rules above for an improvement that may have one known end only, and what is known besides the word.
///
/// `wide` is its 95% interval, `narrow` the 90% interval. An end that is not known lies as far off as it may.
pub fn compare_bounded(
    wide: &BoundedEstimate,
    narrow: &BoundedEstimate,
    margin: f64,
) -> (Comparison, Option<Qualifier>) {
    let by_size = |is_large: bool| if is_large { Qualifier::ByAtLeastMei } else { Qualifier::SizeUncertain };
    let (is_better, is_worse) = (wide.is_above(0.0), wide.is_below(0.0));
    if narrow.interval().is_some_and(|narrow| -margin < narrow.low && narrow.high < margin) {
        return (Comparison::Same, (is_better || is_worse).then_some(Qualifier::RealButNegligible));
    }
    match (is_better, is_worse) {
        (true, _) => (Comparison::Better, Some(by_size(!wide.contains(margin)))),
        (_, true) => (Comparison::Worse, Some(by_size(!wide.contains(-margin)))),
        (false, false) => (Comparison::CannotTell, None),
    }
}

/// Whether a guarded metric did not get worse by its margin or more: the lower end of its 95% interval lies above
/// −margin.
pub fn is_not_inferior(wide: &Estimate, margin: f64) -> bool {
    wide.low > -margin
}

/// Why no more pairs are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The 95% interval is narrower than the smallest effect that matters: the verdict is definite.
    Narrow,
    /// The 99% interval lies wholly beyond the smallest effect that matters, on either side.
    Decided,
}

/// Whether the pairs measured so far are enough.
///
/// To be asked after each super-block, from [`PAIRS_MIN`] pairs on. Budgets of pairs and time are the caller's.
/// `None`: go on measuring.
pub fn stop_reason(differences: &[f64], mei_ratio: f64) -> Option<StopReason> {
    let margin = log_margin(mei_ratio)?;
    if differences.len() < PAIRS_MIN {
        return None;
    }
    if hodges_lehmann(differences, 0.95).is_some_and(|wide| wide.width() < margin) {
        return Some(StopReason::Narrow);
    }
    let strict = hodges_lehmann(differences, 0.99)?;
    (strict.low > margin || strict.high < -margin).then_some(StopReason::Decided)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{BoundSide, OneSidedBound};

    #[test]
    fn noise_around_zero_goes_on_until_it_is_narrow() {
        let wide = [0.10, -0.12, 0.07, -0.05, 0.02, -0.09, 0.11, 0.01];
        assert_eq!(stop_reason(&wide, 0.03), None);
        assert_eq!(judge(&wide, 0.03).map(|found| found.comparison), Some(Comparison::CannotTell));
        let narrow = wide.map(|difference| difference / 20.0);
        assert_eq!(stop_reason(&narrow, 0.03), Some(StopReason::Narrow));
        assert_eq!(judge(&narrow, 0.03).map(|found| found.comparison), Some(Comparison::Same));
        assert_eq!(stop_reason(&narrow[..7], 0.03), None);
    }

    #[test]
    fn a_large_effect_is_decided_early() {
        let large = [0.30, 0.42, 0.37, 0.35, 0.39, 0.29, 0.41, 0.33];
        assert_eq!(stop_reason(&large, 0.03), Some(StopReason::Decided));
        assert_eq!(stop_reason(&large.map(|difference| -difference), 0.03), Some(StopReason::Decided));
    }

    #[test]
    fn a_bound_supports_one_word_at_most() {
        let told = |value, side| {
            let bound = BoundedEstimate::Bound(OneSidedBound { value, side, level: 0.95 });
            compare_bounded(&bound, &bound, 0.1)
        };
        assert_eq!(told(4.0, BoundSide::AtLeast), (Comparison::Better, Some(Qualifier::ByAtLeastMei)));
        assert_eq!(told(-0.05, BoundSide::AtMost), (Comparison::Worse, Some(Qualifier::SizeUncertain)));
        for open in [told(-0.01, BoundSide::AtLeast), told(0.01, BoundSide::AtMost)] {
            assert_eq!(open, (Comparison::CannotTell, None), "it may be the same, or anything beyond");
        }
    }

    #[test]
    fn one_wild_trial_is_called_outlier_sensitive() {
        let mut differences = [0.050, 0.052, 0.047, 0.049, 0.051, 0.053, 0.046, 0.048, 0.050, 2.0];
        assert!(judge(&differences, 0.01).expect("usable").is_outlier_sensitive);
        differences[9] = 0.045;
        assert!(!judge(&differences, 0.01).expect("usable").is_outlier_sensitive);
    }

    #[test]
    fn a_margin_must_be_positive() {
        assert_eq!(judge(&[0.1; 9], 0.0), None);
        assert_eq!(judge(&[], 0.03), None);
        assert_eq!(stop_reason(&[0.1; 9], f64::NAN), None);
    }
}
