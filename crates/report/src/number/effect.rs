//! Effects in words: changes in per cent, factors where a change is that large, differences of shares.

use super::{MISSING, significant, stepped, trimmed};
use sysdyno_record::comparison::EffectBound;
use sysdyno_record::effect::{BoundSide, Effect, EffectScale, FACTOR_MIN, Factor};

/// An effect with its interval: `−2.4 % [−3.0, −1.8]`, `× 193 [169, 220]`, `÷ 12 [10, 14]`; differences are of shares, in
/// percentage points.
///
/// The last digit is worth about a tenth of the interval's half width, and no less than a thousandth.
pub fn effect(effect: &Effect) -> String {
    if let Some(factor) = effect.factor() {
        return written_factor(&factor);
    }
    let values = [effect.point, effect.low, effect.high];
    let (values, unit) = match effect.scale {
        EffectScale::Ratio => (values.map(|value| (value - 1.0) * 100.0), "%"),
        EffectScale::Difference => (values.map(|value| value * 100.0), " pp"),
    };
    let coarsest =
        if effect.scale == EffectScale::Ratio { coarsest_of_change(values[1]) } else { f64::INFINITY };
    let [point, low, high] = in_steps(values, coarsest, signed);
    format!("{point}{unit} [{low}, {high}]")
}

/// What an effect is at least or at most: `at least × 60`, `at least −12%`, `at most +21%`. Rounded to the side on which it stays
/// true.
pub fn effect_bound(bound: &EffectBound) -> String {
    let EffectBound { side, ratio, .. } = *bound;
    let is_least = (side == BoundSide::AtLeast) == (ratio >= 1.0);
    let size = if ratio >= 1.0 { ratio } else { 1.0 / ratio.max(f64::MIN_POSITIVE) };
    let quantity = if is_least { "at least" } else { "at most" };
    if size >= FACTOR_MIN {
        let sign = if ratio >= 1.0 { '×' } else { '÷' };
        return format!("{quantity} {sign} {}", significant(two_digits(size, !is_least), 2));
    }
    let change = two_digits((ratio - 1.0).abs() * 100.0, !is_least);
    let sign = if ratio >= 1.0 { '+' } else { '−' };
    format!("{quantity} {sign}{}%", significant(change, 2))
}

/// A positive number with two digits, up or down.
fn two_digits(value: f64, is_up: bool) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return value;
    }
    let step = 10f64.powf(value.log10().floor() - 1.0);
    let steps = value / step;
    // What is a whole number of steps but for rounding stays one.
    (if is_up { (steps - 1e-9).ceil() } else { (steps + 1e-9).floor() }) * step
}

/// The largest step in which a change that leaves something is not rounded to one that leaves nothing. Unit: per cent.
fn coarsest_of_change(low: f64) -> f64 {
    let left = 100.0 + low;
    if left > 0.0 { 10f64.powf(left.log10().floor()) } else { f64::INFINITY }
}

/// Ends that lie this far apart share no digits: each has two of its own. Unit: ratio.
const FAR_APART: f64 = 10.0;

/// A factor with its interval; an end below 1 says the opposite, with the sign for that: `÷ 12 [× 4.3, ÷ 18,000]`.
fn written_factor(Factor { sign, point, low, high }: &Factor) -> String {
    if *low >= 1.0 && *high <= FAR_APART * low {
        let [point, low, high] = in_steps([*point, *low, *high], f64::INFINITY, stepped);
        return format!("{sign} {point} [{low}, {high}]");
    }
    let opposite = if *sign == '×' { '÷' } else { '×' };
    let end = |value: f64| {
        let (sign, size) = if value < 1.0 { (opposite, 1.0 / value) } else { (*sign, value) };
        if size.is_finite() { format!("{sign} {}", significant(size, 2)) } else { MISSING.to_owned() }
    };
    format!("{sign} {} [{}, {}]", significant(*point, 2), end(*low), end(*high))
}

/// A value and the ends of its interval, with as many digits as the interval supports.
fn in_steps(values: [f64; 3], coarsest: f64, text: fn(f64, f64) -> String) -> [String; 3] {
    let [point, low, high] = values;
    let half = (high - low).abs() / 2.0;
    let width = if half > 0.0 && half.is_finite() { half } else { point.abs() / 10.0 };
    let step =
        if width > 0.0 { 10f64.powf((width / 10.0).log10().round()).min(coarsest).max(1e-3) } else { 0.1 };
    values.map(|value| if value.is_finite() { text(value, step) } else { MISSING.to_owned() })
}

/// A number with its sign, rounded to a multiple of `step`: `+2.4`, `−0.31`, `0.0`.
fn signed(value: f64, step: f64) -> String {
    let size = stepped(value.abs(), step);
    match size.contains(|digit| matches!(digit, '1'..='9')) {
        false => size,
        true if value < 0.0 => format!("−{size}"),
        true => format!("+{size}"),
    }
}

/// The smallest effect that matters: `3%`, `0.05 pp`.
pub fn margin(ratio: f64, scale: EffectScale) -> String {
    let unit = if scale == EffectScale::Ratio { "%" } else { " pp" };
    format!("{}{unit}", trimmed(&significant(ratio * 100.0, 3)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_has_the_digits_that_its_interval_supports() {
        let check = |scale, [low, point, high]: [f64; 3], text: &str| {
            let narrow = None;
            let found = Effect { scale, point, low, high, confidence_ratio: 0.95, narrow, pairs_count: 8 };
            assert_eq!(effect(&found), text);
        };
        check(EffectScale::Ratio, [0.97, 0.976, 0.982], "−2.4% [−3.0, −1.8]");
        check(EffectScale::Ratio, [0.99, 1.0, 1.02], "0.0% [−1.0, +2.0]");
        check(EffectScale::Ratio, [0.5, 0.5, 0.5], "−50% [−50, −50]");
        check(EffectScale::Ratio, [1.0, 1.0, 1.0], "0.0% [0.0, 0.0]");
        check(EffectScale::Ratio, [0.0, 1.1, f64::INFINITY], "+10.0% [−100.0, –]");
        check(EffectScale::Ratio, [0.36, 1.62, 7.34], "+60% [−60, +630]");
        check(EffectScale::Ratio, [0.03, 1.6, 7.34], "+60% [−97, +634]");
        check(EffectScale::Difference, [-0.0005, 0.001, 0.002], "+0.10 pp [−0.05, +0.20]");
        assert_eq!(margin(0.03, EffectScale::Ratio), "3%");
        assert_eq!(margin(0.0005, EffectScale::Difference), "0.05 pp");
    }

    #[test]
    fn a_bound_is_rounded_to_where_it_stays_true() {
        let check = |side, ratio, text: &str| {
            let found = EffectBound { side, ratio, confidence_ratio: 0.95, pairs_count: 3 };
            assert_eq!(effect_bound(&found), text);
        };
        check(BoundSide::AtLeast, 60.9, "at least × 60");
        check(BoundSide::AtLeast, 1_299.0, "at least × 1,200");
        check(BoundSide::AtLeast, 1.129, "at least +12%");
        check(BoundSide::AtLeast, 0.795, "at most −21%");
        check(BoundSide::AtMost, 1.0 / 60.9, "at least ÷ 60");
        check(BoundSide::AtMost, 0.9, "at least −10%");
        check(BoundSide::AtMost, 1.2, "at most +20%");
        check(BoundSide::AtLeast, 1.0, "at least +0%");
    }

    #[test]
    fn a_large_ratio_is_a_factor() {
        let check = |[low, point, high]: [f64; 3], text: &str| {
            let (scale, narrow) = (EffectScale::Ratio, None);
            let found = Effect { scale, point, low, high, confidence_ratio: 0.95, narrow, pairs_count: 8 };
            assert_eq!(effect(&found), text);
        };
        check([8.0, 9.8, 12.0], "+880% [+700, +1,100]");
        check([10.0, 12.0, 14.0], "× 12.0 [10.0, 14.0]");
        check([1_730.0, 2_954.0, 5_050.0], "× 3,000 [1,700, 5,100]");
        check([0.9, 40.0, f64::INFINITY], "× 40 [÷ 1.1, –]");
        // Ends that lie far apart, and one that says the opposite.
        check([1.0 / 18_000.0, 1.0 / 12.0, 4.3], "÷ 12 [× 4.3, ÷ 18,000]");
        check([1.5, 20.0, 18_000.0], "× 20 [× 1.5, × 18,000]");
        check([1.0 / 220.0, 1.0 / 193.0, 1.0 / 169.0], "÷ 193 [169, 220]");
        check([0.0, 0.05, 0.1], "÷ 20 [÷ 10, –]");
        check([0.0, 0.0, 0.1], "−100% [−100, −90]");
    }
}
