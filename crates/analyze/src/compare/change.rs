//! A ratio in words: `12 % lower`, and where it is that large `higher by a factor of 193`.

use crate::format;
use sysdyno_record::effect::{Better, Effect};

/// A ratio of this much or its inverse is said as a factor.
const FACTOR_MIN: f64 = 10.0;

/// A ratio as a change in words.
pub(super) fn change(ratio: f64, better: Better) -> String {
    let (more, less) = match better {
        Better::Higher => ("higher", "lower"),
        Better::Lower => ("more", "less"),
    };
    let word = if ratio >= 1.0 { more } else { less };
    match factor_of(ratio) {
        Some(factor) => format!("{word} by a factor of {}", format::whole(factor)),
        None => format!("{} {word}", format::percent((ratio - 1.0).abs())),
    }
}

/// How many times as much or as little a ratio is, if it is said so.
fn factor_of(ratio: f64) -> Option<f64> {
    let factor = if ratio >= 1.0 { ratio } else { 1.0 / ratio };
    (FACTOR_MIN..f64::INFINITY).contains(&factor).then_some(factor)
}

/// The interval in the words of its point.
pub(super) fn interval(effect: &Effect) -> String {
    let ends = match factor_of(effect.point) {
        Some(_) if effect.point >= 1.0 => format!("{} to {}", times(effect.low), times(effect.high)),
        Some(_) => format!("{} to {}", times(1.0 / effect.high), times(1.0 / effect.low)),
        None => format!("{} to {} %", percent_end(effect.low), percent_end(effect.high)),
    };
    format!("95 % interval {ends}")
}

/// An end of an interval of factors: `0.9`, `169`.
fn times(factor: f64) -> String {
    match factor {
        _ if !factor.is_finite() => "–".to_owned(),
        _ if factor < 10.0 => format!("{factor:.1}"),
        _ => format::whole(factor),
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
            assert_eq!(format!("{} ({})", change(point, better), interval(&found)), text);
        };
        check([0.85, 0.88, 0.905], Better::Higher, "12 % lower (95 % interval −15 to −9.5 %)");
        check([1.0, 1.02, 1.05], Better::Lower, "2.0 % more (95 % interval 0 to +5.0 %)");
        check(
            [1_730.0, 2_954.0, 5_050.0],
            Better::Higher,
            "higher by a factor of 2,954 (95 % interval 1,730 to 5,050)",
        );
        check([0.5, 20.0, f64::INFINITY], Better::Lower, "more by a factor of 20 (95 % interval 0.5 to –)");
        check([0.01, 0.05, 0.1], Better::Lower, "less by a factor of 20 (95 % interval 10 to 100)");
        check([0.0, 0.0, 0.1], Better::Higher, "100 % lower (95 % interval −100 to −90 %)");
    }
}
