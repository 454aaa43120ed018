//! Formats numbers and names for the sentences of an analysis.
//!
//! A sentence is data of the record: it is written once, here, and shown unchanged everywhere. Names that come from the
//! measured host are bounded and stripped of control characters; whoever shows them escapes them.

use sysdyno_record::effect::Factor;

/// Longest name from the host that is put into a sentence. Unit: characters.
const NAME_CHARS_MAX: usize = 64;

/// Greater numbers, which only a broken record holds, are written with an exponent.
const PLAIN_MAX: f64 = 1e15;

/// A whole number with separators: `31,000`.
pub(crate) fn whole(value: f64) -> String {
    if value.is_finite() && value.abs() > PLAIN_MAX {
        return format!("{value:.2e}");
    }
    let digits = format!("{:.0}", if value.is_finite() { value.abs().round() } else { 0.0 });
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    if value <= -0.5 { format!("-{text}") } else { text }
}

/// A rate as three or four digits that mean something: `4,123`, `41.2`, `0.35`.
pub(crate) fn rate(hz: f64) -> String {
    match hz.abs() {
        size if size < 1.0 => format!("{hz:.2}"),
        size if size < 10.0 => format!("{hz:.2}"),
        size if size < 100.0 => format!("{hz:.1}"),
        size if size < 10_000.0 => whole(hz),
        size if size < 100_000.0 => whole((hz / 10.0).round() * 10.0),
        _ => whole((hz / 100.0).round() * 100.0),
    }
}

/// A duration with the unit that fits it: `850 ns`, `41.2 µs`, `12.3 ms`, `1.02 s`.
pub(crate) fn duration(ns: f64) -> String {
    let (value, unit) = match ns {
        ns if ns < 1e3 => return format!("{} ns", whole(ns)),
        ns if ns < 1e6 => (ns / 1e3, "µs"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    match value {
        value if value < 10.0 => format!("{value:.2} {unit}"),
        value if value < 100.0 => format!("{value:.1} {unit}"),
        _ => format!("{} {unit}", whole(value)),
    }
}

/// A size with the unit that fits it: `612 B`, `1.2 MiB`.
pub(crate) fn bytes(count: f64) -> String {
    let (value, unit) = match count {
        count if count < 1024.0 => return format!("{} B", whole(count)),
        count if count < 1024.0 * 1024.0 => (count / 1024.0, "KiB"),
        count if count < 1024.0 * 1024.0 * 1024.0 => (count / 1_048_576.0, "MiB"),
        _ => (count / 1_073_741_824.0, "GiB"),
    };
    if value < 10.0 { format!("{value:.1} {unit}") } else { format!("{} {unit}", whole(value)) }
}

/// A share as a percentage: `98%`, `4.2%`, `0.05%`.
pub(crate) fn percent(ratio: f64) -> String {
    let value = ratio * 100.0;
    match value.abs() {
        size if size == 0.0 || size >= 10.0 => format!("{}%", whole(value)),
        size if size >= 1.0 => format!("{value:.1}%"),
        size if size >= 0.01 => format!("{value:.2}%"),
        _ => "< 0.01%".to_owned(),
    }
}

/// A factor and the ends of its interval: `÷ 193`, `169`, `220`; `–` where it has no end.
pub(crate) fn factor(factor: &Factor) -> [String; 3] {
    let times = |value: f64| match value {
        _ if !value.is_finite() => "–".to_owned(),
        _ if value < 10.0 => format!("{value:.1}"),
        _ => whole(value),
    };
    [format!("{} {}", factor.sign, times(factor.point)), times(factor.low), times(factor.high)]
}

/// A number of CPUs: `0.20`, `1.8`.
pub(crate) fn cpus(count: f64) -> String {
    if count < 1.0 { format!("{count:.2}") } else { format!("{count:.1}") }
}

/// `1 connection`, `3 connections`, `7,200 requests`.
pub fn counted(count: f64, noun: &str) -> String {
    let ending = if count == 1.0 { "" } else { "s" };
    format!("{} {noun}{ending}", whole(count))
}

/// A name that the host or the server chose: bounded, without control characters.
pub(crate) fn name(text: &str) -> String {
    let mut letters = text.chars();
    let kept: String = letters
        .by_ref()
        .take(NAME_CHARS_MAX)
        .map(|letter| if letter.is_control() { '\u{fffd}' } else { letter })
        .collect();
    if letters.next().is_some() { format!("{kept}…") } else { kept }
}

/// `a`, `a and b`, `a, b, and c`.
pub(crate) fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [first @ .., last] => format!("{}, and {last}", first.join(", ")),
    }
}

/// A phrase with a capital letter at its beginning.
pub(crate) fn sentence(phrase: &str) -> String {
    let mut letters = phrase.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_the_digits_that_mean_something() {
        assert_eq!(rate(4123.4), "4,123");
        assert_eq!(rate(31_004.0), "31,000");
        assert_eq!(rate(0.351), "0.35");
        assert_eq!(whole(1_234_567.0), "1,234,567");
        assert_eq!(whole(-1_234.0), "-1,234");
        assert_eq!(whole(f64::NAN), "0");
        assert_eq!(whole(1e300), "1.00e300");
        assert_eq!(duration(12_345_678.0), "12.3 ms");
        assert_eq!(duration(999.0), "999 ns");
        assert_eq!(percent(0.0), "0%");
        assert_eq!(percent(1.0), "100%");
        assert_eq!(percent(0.000_01), "< 0.01%");
        assert_eq!(counted(1.0, "request"), "1 request");
        assert_eq!(counted(1200.0, "request"), "1,200 requests");
    }

    #[test]
    fn a_name_from_the_host_is_bounded_and_printable() {
        assert_eq!(name("nginx\u{1b}[31m"), "nginx\u{fffd}[31m");
        assert_eq!(name(&"x".repeat(100)).chars().count(), NAME_CHARS_MAX + 1);
        assert_eq!(list(&["a".into(), "b".into(), "c".into()]), "a, b, and c");
    }
}
