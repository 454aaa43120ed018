//! A ratio with its interval in words: `12 % lower (95 % interval −15 to −9.5 %)`, and where it is that large `÷ 193 (95 %
//! interval 169 to 220)`.

use crate::format::{factor, percent, whole};
use sysdyno_record::comparison::EffectBound;
use sysdyno_record::effect::{Better, BoundSide, Effect, FACTOR_MIN};

/// A ratio with its interval, as a change in words or as a factor.
pub(super) fn change(effect: &Effect, better: Better) -> String {
    let [point, low, high] = match effect.factor() {
        Some(found) => factor(&found),
        None => {
            let point = point(effect, better);
            [point, percent_end(effect.low), format!("{}%", percent_end(effect.high))]
        }
    };
    format!("{point} ({} interval {low} to {high})", level(effect.confidence_ratio))
}

/// What a ratio is at least or at most, in words: `at least × 60 (95% confidence)`, `at most 20% less (95% confidence)`. Rounded to
/// the side on which it stays true.
pub(super) fn bound(bound: &EffectBound, better: Better) -> String {
    let EffectBound { side, ratio, .. } = *bound;
    let is_least = (side == BoundSide::AtLeast) == (ratio >= 1.0);
    let (quantity, round) = if is_least { ("at least", false) } else { ("at most", true) };
    let size = if ratio >= 1.0 { ratio } else { 1.0 / ratio.max(f64::MIN_POSITIVE) };
    let change = match size {
        size if size >= FACTOR_MIN => {
            let sign = if ratio >= 1.0 { '×' } else { '÷' };
            format!("{sign} {}", whole(rounded(size, round)))
        }
        _ => format!(
            "{} {}",
            percent(rounded((ratio - 1.0).abs() * 100.0, round) / 100.0),
            word(ratio, better)
        ),
    };
    format!("{quantity} {change} ({} confidence)", level(bound.confidence_ratio))
}

/// A positive number with two digits, up or down.
fn rounded(value: f64, is_up: bool) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return value;
    }
    let step = 10f64.powf(value.log10().floor() - 1.0);
    let steps = value / step;
    // What is a whole number of steps but for rounding stays one.
    let steps = if is_up { (steps - 1e-9).ceil() } else { (steps + 1e-9).floor() };
    steps * step
}

/// The confidence of an interval: `95%`, or of a metric that shares its error rate with others `98.75%`.
fn level(ratio: f64) -> String {
    let digits = format!("{:.2}", ratio * 100.0);
    format!("{}%", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// The same without its interval: `12% lower`, `÷ 193`.
pub(super) fn point(effect: &Effect, better: Better) -> String {
    match effect.factor() {
        Some(found) => factor(&found)[0].clone(),
        None => format!("{} {}", percent((effect.point - 1.0).abs()), word(effect.point, better)),
    }
}

fn word(ratio: f64, better: Better) -> &'static str {
    match (better, ratio >= 1.0) {
        (Better::Higher, true) => "higher",
        (Better::Higher, false) => "lower",
        (Better::Lower, true) => "more",
        (Better::Lower, false) => "less",
    }
}

/// An end of an interval of changes, in per cent, with its sign.
fn percent_end(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    let digits = if percent.abs() < 10.0 { 1 } else { 0 };
    let text = format!("{:.digits$}", percent.abs());
    if text.trim_start_matches(['0', '.']).is_empty() {
        "0".to_owned()
    } else if percent < 0.0 {
        format!("−{text}")
    } else {
        format!("+{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sysdyno_record::effect::EffectScale;

    #[test]
    fn a_ratio_is_a_change_in_per_cent_or_a_factor() {
        let check = |[low, point, high]: [f64; 3], better, text: &str| {
            let (scale, narrow) = (EffectScale::Ratio, None);
            let found = Effect { scale, point, low, high, confidence_ratio: 0.95, narrow, pairs_count: 8 };
            assert_eq!(change(&found, better), text);
        };
        check([0.85, 0.88, 0.905], Better::Higher, "12% lower (95% interval −15 to −9.5%)");
        check([1.0, 1.02, 1.05], Better::Lower, "2.0% more (95% interval 0 to +5.0%)");
        check([1_730.0, 2_954.0, 5_050.0], Better::Higher, "× 2,954 (95% interval 1,730 to 5,050)");
        check([0.5, 20.0, f64::INFINITY], Better::Lower, "× 20 (95% interval 0.5 to –)");
        check([0.01, 0.05, 0.1], Better::Lower, "÷ 20 (95% interval 10 to 100)");
        assert_eq!([0.95, 0.9875, 0.9].map(level), ["95%", "98.75%", "90%"]);
        check([0.0, 0.0, 0.1], Better::Higher, "100% lower (95% interval −100 to −90%)");
    }

    #[test]
    fn a_bound_is_rounded_to_where_it_stays_true() {
        let check = |side, ratio: f64, better, text: &str| {
            let found = EffectBound { side, ratio, confidence_ratio: 0.95, pairs_count: 3 };
            assert_eq!(bound(&found, better), format!("{text} (95% confidence)"));
        };
        check(BoundSide::AtLeast, 60.9, Better::Lower, "at least × 60");
        check(BoundSide::AtLeast, 1.0, Better::Lower, "at least 0% more");
        check(BoundSide::AtLeast, 1.129, Better::Lower, "at least 12% more");
        check(BoundSide::AtLeast, 0.795, Better::Lower, "at most 21% less");
        check(BoundSide::AtLeast, 0.031, Better::Lower, "at most ÷ 33");
        check(BoundSide::AtMost, 1.0 / 60.9, Better::Lower, "at least ÷ 60");
        check(BoundSide::AtMost, 0.871, Better::Lower, "at least 12% less");
        check(BoundSide::AtMost, 1.201, Better::Higher, "at most 21% higher");
    }
}
